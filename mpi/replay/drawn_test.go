package replay_test

import (
	"math"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// TestDraw draws times of calls from histograms: those of a rank are the same whichever rank is asked for
// first, extremes are on the ranks that had them, and the sums are about what they were.
func TestDraw(t *testing.T) {
	for _, times := range []testtrace.Times{testtrace.Histograms, testtrace.Paths} {
		trace := testtrace.Timed(t, 3, 2000, times)
		model, err := semantics.Open(ctx, trace)
		if err != nil {
			t.Fatal(err)
		}
		draw := func(seed uint64, ranks ...int) [3][2][]replay.Time {
			r, err := replay.NewRecorded(trace)
			if err != nil {
				t.Fatal(err)
			}
			r.Draw(seed)
			var drawn [3][2][]replay.Time
			for _, number := range ranks {
				rank, err := model.Rank(number)
				if err != nil {
					t.Fatal(err)
				}
				for position, terminal := range rank.Find(0, func(uint32) bool { return true }) {
					before, within := r.Compute(&replay.Call{Rank: rank, Position: position,
						Terminal: terminal, Local: true})
					drawn[number][0], drawn[number][1] = append(drawn[number][0], before),
						append(drawn[number][1], within)
				}
			}
			if err := r.Err(); err != nil {
				t.Fatal(err)
			}
			return drawn
		}
		a, b := draw(1, 0, 1, 2), draw(1, 2, 0, 1)
		other, same := draw(2, 0, 1, 2), 0
		for number := range a {
			for i := range a[number] {
				if !slices.Equal(a[number][i], b[number][i]) {
					t.Fatalf("%s: rank %d has other times if another rank is first", times, number)
				}
				if slices.Equal(a[number][i], other[number][i]) {
					same++
				}
			}
		}
		if same > 0 {
			t.Errorf("%s: %d columns are the same with another seed", times, same)
		}
		durations, gaps, err := trace.Summaries()
		if err != nil {
			t.Fatal(err)
		}
		var sums [2]float64
		for s := range durations.Statistics {
			sums[0] += gaps.Statistics[s].Sum()
			sums[1] += durations.Statistics[s].Sum()
		}
		for i, want := range sums {
			sum := 0.0
			for number := range a {
				for _, v := range a[number][i] {
					sum += float64(v / replay.Nanosecond)
				}
			}
			if math.Abs(sum-want) > want/50 {
				t.Errorf("%s: sum %v, want about %v", times, sum, want)
			}
		}
		for s := range durations.Statistics {
			of := &durations.Statistics[s]
			max := replay.Time(of.Max) * replay.Nanosecond
			if number := int(of.MaxRank); !slices.Contains(a[number][1], max) {
				t.Errorf("%s: signature %d has no call of %v on rank %d", times, s, max, number)
			}
		}
	}
}
