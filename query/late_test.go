package query

import (
	"math"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// lateRun returns a run of three ranks in which rank 1 receives, in each round, from rank 0,
// which sends 300 ns late, and from rank 2, which sends 700 ns late in odd rounds, where
// the receive lasts 400 ns, and early in others. A receive that does not block is not late.
func lateRun(t *testing.T, rounds int) *trace.Trace {
	t.Helper()
	var parts []merge.Part
	for rank := range 3 {
		r, err := tracer.New(tracer.Options{Series: exactSeries(), BlockLen: 50})
		if err != nil {
			t.Fatal(err)
		}
		of := func(peer, tag int64, more ...cst.Value) []cst.Value {
			return append([]cst.Value{cst.Int(1), cst.Handle(-33), cst.Rank(peer), cst.Tag(tag),
				cst.Handle(-3)}, more...)
		}
		send, receive, start, wait := r.Declare(mpiFunctions[0]), r.Declare(mpiFunctions[1]),
			r.Declare(mpiFunctions[2]), r.Declare(mpiFunctions[3])
		got := cst.StatusOf(cst.Status{Source: -9, Tag: -9})
		for round := range rounds {
			at := int64(round) * 1e6
			switch rank {
			case 0:
				r.CallAt(send, at+300, 10, of(1, 0)...)
			case 1:
				r.CallAt(receive, at, 310, of(0, 0, got)...)
				r.CallAt(receive, at+5000, 400, of(2, 0, got)...)
				r.CallAt(start, at+10_000, 10, of(0, 1, cst.Handle(0))...)
				r.CallAt(wait, at+20_000, 5000, cst.Handle(0), got)
			case 2:
				r.CallAt(send, at+4900+int64(round%2)*800, 10, of(1, 0)...)
			}
			if rank == 0 {
				r.CallAt(send, at+24_000, 10, of(1, 1)...)
			}
		}
		parts = append(parts, r.Finish(rank))
	}
	return openParts(t, merge.Run{Ranks: 3}, parts)
}

// TestLateSenders compares how long receives wait with what was recorded: of few messages
// that of all, and of many about as long.
func TestLateSenders(t *testing.T) {
	const maxSamples = 256
	for _, rounds := range []int{1, 6, maxSamples, 20 * maxSamples} {
		tr := lateRun(t, rounds)
		times, err := OpenTimes(tr)
		if err != nil {
			t.Fatal(err)
		}
		m := openMatch(t, tr)
		m.maxReceives = 2 * maxSamples
		list, err := m.LateSenders(t.Context(), times, Options{})
		if err != nil || len(list) != 2 {
			t.Fatalf("%d rounds: %+v, %v", rounds, list, err)
		}
		odd := float64(rounds / 2)
		for i, want := range []LateSender{{Late: rounds, Wait: Nanoseconds(300 * float64(rounds)), Sender: 0},
			{Late: rounds / 2, Wait: Nanoseconds(400 * odd), Sender: 2}} {
			got := list[i]
			if rounds == 1 && i == 1 {
				want.Sender = -1
			}
			sampled := min(rounds, maxSamples)
			if got.Receives != uint64(rounds) || got.Sampled != sampled || got.Sender != want.Sender ||
				(got.SenderShare != 1) != (want.Sender < 0) {
				t.Errorf("%d rounds: %+v, want %+v", rounds, got, want)
			}
			if rounds == sampled && (got.Late != want.Late || got.Wait != want.Wait) ||
				math.Abs(float64(got.Wait-want.Wait)) > 0.2*float64(want.Wait) {
				t.Errorf("%d rounds: %+v, want %+v", rounds, got, want)
			}
		}
	}
}
