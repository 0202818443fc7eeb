package trace_test

import (
	"bytes"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// TestSumErrors merges traces, whose sums are rounded, again: directly and by way of part
// files, which gives the same trace, whose sums are off by no more than it says.
func TestSumErrors(t *testing.T) {
	const ranks = 6
	sum := int64(0)
	var direct, byParts merge.Accumulator
	for rank := range ranks {
		var r tracer.Recorder
		put := r.Declare(cst.Function{Name: "put"})
		for i := range int64(1000) {
			d := i*i*i*int64(rank+3)%1_000_003 + 7
			r.CallAt(put, 2_000_000*i, d)
			sum += d
		}
		var b bytes.Buffer
		if err := merge.Write(&b, merge.Run{Ranks: ranks}, []merge.Part{r.Finish(rank)}); err != nil {
			t.Fatal(err)
		}
		tr, err := trace.OpenReader(bytes.NewReader(b.Bytes()), int64(b.Len()), trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var one merge.Accumulator
		for _, a := range []*merge.Accumulator{&direct, &one} {
			if err := tr.AddTo(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
		if err := byParts.Merge(throughPart(t, &one)); err != nil {
			t.Fatal(err)
		}
	}
	var first, second bytes.Buffer
	if err := direct.Write(&first); err != nil {
		t.Fatal(err)
	}
	if err := byParts.Write(&second); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("part files give another trace")
	}
	tr, err := trace.OpenReader(bytes.NewReader(first.Bytes()), int64(first.Len()), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	durations, _, err := tr.Summaries()
	if err != nil {
		t.Fatal(err)
	}
	s := durations.Statistics[0]
	if off := s.Integer().Int64() - sum; off == 0 || uint64(max(off, -off)) > s.SumError() ||
		s.SumError() > uint64(sum/200) {
		t.Errorf("the sum %v is off by %d, with an error of %d", s.Integer(), off, s.SumError())
	}
}

// throughPart writes a part file and reads it.
func throughPart(t *testing.T, a *merge.Accumulator) *merge.Accumulator {
	t.Helper()
	var b bytes.Buffer
	if err := a.WritePart(&b); err != nil {
		t.Fatal(err)
	}
	file, err := format.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	read, err := merge.ReadPart(file)
	if err != nil {
		t.Fatal(err)
	}
	return read
}
