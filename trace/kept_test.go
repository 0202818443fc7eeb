package trace_test

import (
	"bytes"
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// TestKept writes what front ends keep to traces and part files, merges them in any order, and reads it again.
func TestKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := make(map[string][]byte)
		var parts []*merge.Accumulator
		for rank := range rapid.IntRange(1, 3).Draw(t, "ranks") {
			var r tracer.Recorder
			r.Call(r.Declare(cst.Function{Name: "f"}))
			a := new(merge.Accumulator)
			if err := a.Add(r.Finish(rank)); err != nil {
				t.Fatal(err)
			}
			for range rapid.IntRange(0, 3).Draw(t, "kept") {
				name := rapid.SampledFrom([]string{"", "otf2", "otf2/1", "x"}).Draw(t, "name")
				data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
				if old, ok := want[name]; !ok || bytes.Compare(data, old) < 0 {
					want[name] = data
				}
				if err := a.Describe(merge.Run{Kept: []format.Kept{{Name: name, Data: data}}}); err != nil {
					t.Fatal(err)
				}
			}
			if rapid.Bool().Draw(t, "through a file") {
				a = keptThroughPart(t, a)
			}
			parts = append(parts, a)
		}
		all := new(merge.Accumulator)
		for _, p := range rapid.Permutation(parts).Draw(t, "order") {
			if err := all.Merge(p); err != nil {
				t.Fatal(err)
			}
		}
		checkKept(t, reopened(t, all), want)
		var again merge.Accumulator
		if err := reopened(t, all).AddTo(context.Background(), &again); err != nil {
			t.Fatal(err)
		}
		checkKept(t, reopened(t, &again), want)
	})
}

// keptThroughPart returns what is read of a part file.
func keptThroughPart(t *rapid.T, a *merge.Accumulator) *merge.Accumulator {
	var b bytes.Buffer
	if err := a.WritePart(&b); err != nil {
		t.Fatal(err)
	}
	file, err := format.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), format.Options{})
	if err == nil {
		a, err = merge.ReadPart(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func reopened(t *rapid.T, a *merge.Accumulator) *trace.Trace {
	var b bytes.Buffer
	if err := a.Write(&b); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.OpenReader(bytes.NewReader(b.Bytes()), int64(b.Len()), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func checkKept(t *rapid.T, tr *trace.Trace, want map[string][]byte) {
	for _, name := range []string{"", "otf2", "otf2/1", "otf2/2", "x"} {
		data, ok, err := tr.Kept(name)
		if have, is := want[name]; err != nil || ok != is || !bytes.Equal(data, have) {
			t.Fatalf("%q is %x, %v, %v, not %x, %v", name, data, ok, err, have, is)
		}
	}
}
