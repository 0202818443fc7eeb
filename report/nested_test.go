package report_test

import (
	"math/rand/v2"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/report"
)

// A nester makes calls at random that contain others.
type nester struct {
	*rand.Rand
	thread int64
	now    int64
	calls  []testtrace.Call
}

// call makes a call, and at most so many levels of calls in it.
func (n *nester) call(levels int) {
	start := n.now
	for range n.IntN(4) * min(levels, 1) {
		n.now += n.Int64N(3) * 100
		n.call(levels - 1)
	}
	n.now += n.Int64N(1000)
	f := cst.Function{Name: string(rune('a' + levels)), Params: []cst.Param{testtrace.Param("thread", cst.KindInt)}}
	n.calls = append(n.calls, testtrace.Call{Function: f, Args: []cst.Value{cst.Int(n.thread)}, Start: start,
		Duration: n.now - start})
}

// interleaved returns the calls of several threads in the order in which they returned.
func interleaved(threads ...[]testtrace.Call) (all []testtrace.Call) {
	end := func(c testtrace.Call) int64 { return c.Start + c.Duration }
	for {
		next := -1
		for i, calls := range threads {
			if len(calls) > 0 && (next < 0 || end(calls[0]) < end(threads[next][0])) {
				next = i
			}
		}
		if next < 0 {
			return all
		}
		all, threads[next] = append(all, threads[next][0]), threads[next][1:]
	}
}

// TestTimelineNested compares the times of calls that are in others, of one thread and of
// several, with those recorded.
func TestTimelineNested(t *testing.T) {
	const begin = 1_795_000_000_000_000_000
	threads := make([][]testtrace.Call, 3)
	for i := range threads {
		n := nester{Rand: rand.New(rand.NewPCG(1, uint64(i))), thread: int64(i), now: begin}
		for range 60 {
			n.now += n.Int64N(2000)
			n.call(3)
		}
		threads[i] = n.calls
	}
	for name, rows := range map[string][][]testtrace.Call{"one": threads[:1], "three": threads} {
		t.Run(name, func(t *testing.T) {
			all := interleaved(append([][]testtrace.Call(nil), rows...)...)
			html := render(t, testtrace.Record(t, merge.Run{Ranks: 1}, true, [][]testtrace.Call{all}), report.Options{})
			first := all[0].Start
			for _, c := range all {
				first = min(first, c.Start)
			}
			b := open(t, write(t, html), desktop)
			b.show("timeline")
			for row, calls := range rows {
				checkRow(b, row, calls, first)
			}
		})
	}
}

// checkRow compares the calls of a row with those recorded, and which is there at the
// middle of each.
func checkRow(b *tab, row int, calls []testtrace.Call, first int64) {
	type call struct {
		I, Position     int
		Start, Duration float64
		Middle          *call
	}
	got := eval[[]call](b, `(t => {
		const { track } = t.rows[%d];
		return Array.from({ length: track.length }, (_, i) => {
			const c = track.call(i);
			return { ...c, i, middle: t.callAt(%d, c.start + c.duration / 2) };
		});
	})(report.figures.get('timeline'))`, row, row)
	if len(got) != len(calls) {
		b.Fatalf("row %d: %d calls, not %d", row, len(got), len(calls))
	}
	for i, c := range calls {
		start := float64(c.Start - first)
		g := got[i]
		if g.I != i || g.Start != start || g.Duration != float64(c.Duration) {
			b.Fatalf("row %d, call %d: %+v, not from %g on for %d", row, i, g, start, c.Duration)
		}
		middle, innermost, close := c.Start+c.Duration/2, i, false
		for j, in := range calls {
			close = close || abs(in.Start-middle) < 5 || abs(in.Start+in.Duration-middle) < 5
			if in.Start < middle && in.Start+in.Duration > middle && in.Duration < calls[innermost].Duration {
				innermost = j
			}
		}
		if !close && (g.Middle == nil || g.Middle.Position != got[innermost].Position) {
			b.Fatalf("row %d: in the middle of call %d is %+v, not %d", row, i, g.Middle, innermost)
		}
	}
}

func abs(v int64) int64 { return max(v, -v) }
