package trace_test

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/advancing"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
)

// TestAdvancingThreads compares the calls of threads, which do not say of which thread they are, with those of
// the trace: all those of one thread after those of another, or in an order of some of them.
func TestAdvancingThreads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		threads, ranks := rapid.IntRange(2, 3).Draw(t, "threads"), rapid.IntRange(1, 3).Draw(t, "ranks")
		programs := make([]*advancing.Program, threads)
		for i := range programs {
			programs[i] = advancing.Draw(t)
		}
		if rapid.Bool().Draw(t, "same") {
			programs[1] = programs[0]
		}
		var all merge.Accumulator
		describe(t, &all, ranks)
		want := make([][]string, ranks)
		for rank := range want {
			parts := make([]merge.Part, threads)
			lengths := make([]int, threads)
			for i, p := range programs {
				calls := p.Calls(rank+5*i, 300)
				parts[i], lengths[i] = advancingPart(t, 0, calls, false), len(calls)
				for _, c := range calls {
					want[rank] = append(want[rank], string(
						cst.AppendCall(nil, advancing.Functions[c.Function], c.Args)))
				}
			}
			p, err := merge.Join(rank, drawOrder(t, lengths), parts...)
			if err != nil {
				t.Fatal(err)
			}
			add(t, &all, p)
		}
		throughFile(t, &all)
		compareSorted(t, written(t, &all), want)
	})
}

// drawOrder draws an order of threads with so many calls.
func drawOrder(t *rapid.T, calls []int) *merge.ThreadOrder {
	order, at, now := new(merge.ThreadOrder), make([]int, len(calls)), 0
	for range rapid.SampledFrom([]int{0, 0, 12}).Draw(t, "changes") {
		at[now] = min(calls[now], at[now]+rapid.IntRange(0, 40).Draw(t, "calls"))
		to := (now + rapid.IntRange(1, len(calls)-1).Draw(t, "to")) % len(calls)
		if at[to] < calls[to] {
			order.After(to, uint64(at[to]), now, uint64(at[now]))
			at[to]++
			now = to
		}
	}
	return order
}

// compareSorted compares the texts of calls of ranks with those of their trace, in whatever order.
func compareSorted(t *rapid.T, file []byte, want [][]string) {
	tr, err := trace.OpenReader(bytes.NewReader(file), int64(len(file)), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for rank := range want {
		r, err := tr.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for c, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, c.String())
		}
		slices.Sort(got)
		slices.Sort(want[rank])
		if !slices.Equal(got, want[rank]) {
			t.Fatalf("other calls of rank %d", rank)
		}
	}
}
