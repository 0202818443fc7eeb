package proxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
)

// TestAddresses writes the addresses of a segment of memory: also where they are far from its beginning, or
// from each other.
func TestAddresses(t *testing.T) {
	const far = 1 << 31
	for _, tt := range []struct {
		displacements []int64
		want          string // the number of the buffer, and how far from it each address is
	}{
		{[]int64{0, 8000}, "[0+0 0+8000]"},
		{[]int64{-8, 1<<30 - 8}, "[0-8 0+1073741816]"},
		{[]int64{far + 8000, far}, "[0+8000 0+0]"},
		{[]int64{far - 8, far + 4}, "[0+4088 0+4100]"},
		{[]int64{-far - 8, -far}, "[0+4088 0+4096]"},
		{[]int64{far, 0, far + 8000, 8}, "[1+0 0+0 1+8000 0+8]"},
		{[]int64{1<<63 - 1, -1 << 63}, "[1+4095 0+0]"},
		{[]int64{far, 0, far / 2}, ""},
	} {
		var all buffers
		var calls []testtrace.Call
		for _, d := range tt.displacements {
			all.add(cst.Pointer{Segment: 7, Displacement: d})
			calls = append(calls, sendFrom(d))
		}
		var got []string
		for _, d := range tt.displacements {
			p := cst.Pointer{Segment: 7, Displacement: d}
			if far, ok := all.displacement(p); ok {
				got = append(got, fmt.Sprintf("%d%+d", all.place(p), far))
			}
		}
		if text := fmt.Sprint(got); text != tt.want && (tt.want != "" || got != nil) {
			t.Errorf("%d: %s, want %s", tt.displacements, text, tt.want)
		}
		if _, err := programOf(t, calls); errors.Is(err, errApart) != (tt.want == "") {
			t.Errorf("%d: %v", tt.displacements, err)
		}
	}
	p, err := programOf(t, []testtrace.Call{sendFrom(far + 8000), sendFrom(far)})
	if err != nil || !strings.Contains(p.Files[0].Text, "MPI_Send(buffer[0] + 8000,") ||
		!strings.Contains(p.Files[0].Text, "MPI_Send(buffer[0],") {
		t.Errorf("%v: %+v", err, p)
	}
}

// sendFrom returns a call with a buffer.
func sendFrom(displacement int64) testtrace.Call {
	c := testtrace.MPICall("MPI_Send", "buf", 7, "count", 1, "datatype", "MPI_BYTE", "dest", "MPI_PROC_NULL",
		"tag", 0, "comm", "MPI_COMM_WORLD")
	c.Args[0] = cst.PointerTo(cst.Pointer{Segment: 7, Displacement: displacement})
	return c
}

func programOf(t *testing.T, calls []testtrace.Call) (*Program, error) {
	calls = append([]testtrace.Call{{Function: cst.Function{Name: "MPI_Init"}}}, calls...)
	return Generate(context.Background(), testtrace.Record(t, merge.Run{Ranks: 1}, false,
		[][]testtrace.Call{calls}), Options{})
}

// TestBuffers checks of random addresses that those of a segment that are no further than farthest from the
// next are in one buffer, as far from each other as they were, and others in another, whatever the order in
// which they were added.
func TestBuffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) cst.Pointer {
			return cst.Pointer{
				Segment: rapid.Int64Range(0, 2).Draw(t, "segment"),
				Displacement: farthest/2*rapid.Int64Range(-9, 9).Draw(t, "halves") +
					rapid.Int64Range(-5000, 5000).Draw(t, "rest"),
			}
		}), 1, 12).Draw(t, "addresses")
		var all, other buffers
		for _, p := range list {
			all.add(p)
		}
		for _, p := range rapid.Permutation(list).Draw(t, "order") {
			other.add(p)
		}
		if !slices.Equal(all, other) {
			t.Fatalf("%v, and in another order %v", all, other)
		}
		slices.SortFunc(list, func(a, b cst.Pointer) int {
			return compareBuffer(buffer{segment: a.Segment, first: a.Displacement}, b)
		})
		for i, p := range list {
			d, ok := all.displacement(p)
			if i == 0 {
				continue
			}
			before := list[i-1]
			e, alsoOK := all.displacement(before)
			together := p.Segment == before.Segment && p.Displacement-before.Displacement <= farthest
			if (all.place(p) == all.place(before)) != together ||
				together && (ok != alsoOK || ok && d-e != p.Displacement-before.Displacement) {
				t.Fatalf("%v: %v is %d from buffer %d, %v is %d from %d", all, before, e, all.place(before),
					p, d, all.place(p))
			}
			if ok && (d < -farthest || d > farthest) {
				t.Fatalf("%v: %v is %d from its buffer", all, p, d)
			}
		}
	})
}
