package query

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// testSkew compares skews with those of operations one by one, and checks that of many
// operations some are looked at.
func testSkew(t *rapid.T) {
	ranks := rapid.IntRange(2, 5).Draw(t, "ranks")
	rounds := rapid.SampledFrom([]int{1, 7, 100, 600}).Draw(t, "rounds")
	late := rapid.SliceOfN(rapid.Int64Range(0, 500), ranks, ranks).Draw(t, "late")
	barriers := rapid.IntRange(1, 3).Draw(t, "barriers")
	var parts []merge.Part
	for rank := range ranks {
		r, err := tracer.New(tracer.Options{Series: exactSeries(), BlockLen: 50})
		if err != nil {
			t.Fatal(err)
		}
		barrier, bcast := r.Declare(mpiFunctions[5]), r.Declare(mpiFunctions[6])
		for round := range rounds {
			at := int64(round) * 1e6
			for b := range barriers {
				r.CallAt(barrier, at+int64(b)*1e4+late[rank]*int64(round%3), 10, cst.Handle(-3))
			}
			r.CallAt(bcast, at+5e5+int64(rank)*7, 10, cst.Int(1), cst.Rank(0), cst.Handle(-3))
		}
		parts = append(parts, r.Finish(rank))
	}
	tr := openParts(t, merge.Run{Ranks: ranks}, parts)
	times, err := OpenTimes(tr)
	if err != nil {
		t.Fatal(err)
	}
	m := openMatch(t, tr)
	m.maxStarts = 600 * ranks
	list, err := m.Skew(t.Context(), times, Options{})
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	const maxSamples = 600
	all := rounds * (barriers + 1)
	sampled := 0
	for _, s := range list {
		checkMaxStraggler(t, tr, s)
		if sampled += s.Sampled; s.StartError == nil || *s.StartError != 0 {
			t.Fatalf("%+v, by exact times", s)
		}
		if s.Function == "MPI_Bcast" {
			if s.Instances != uint64(rounds) || s.Mean != Nanoseconds(7*(ranks-1)) || s.Median != s.Mean ||
				s.Max != int64(s.Mean) || s.Apart != 0 ||
				s.Straggler != ranks-1 || math.Abs(s.StragglerShare-1) > 1e-9 || s.Root != 0 {
				t.Fatalf("%+v", s)
			}
			continue
		}
		spread := slices.Max(late) - slices.Min(late)
		if s.Instances != uint64(rounds*barriers) || s.Root != -1 ||
			all <= maxSamples && rounds > 2 && s.Max != 2*spread || s.Max > 2*spread || s.Mean > Nanoseconds(s.Max) {
			t.Fatalf("%+v, but members differ by %d", s, spread)
		}
		if uint64(s.Sampled) == s.Instances {
			sum, early, apart := 0.0, uint64(0), int64(0)
			for round := range rounds {
				if by := spread*int64(round%3) - 10; by > 0 { // the first ends before the last begins
					early, apart = early+uint64(barriers), max(apart, by)
				}
				sum += float64(spread * int64(round%3))
			}
			if mean := sum / float64(rounds); float64(s.Mean) < 0.999999*mean || float64(s.Mean) > 1.000001*mean {
				t.Fatalf("mean %v, want %v", s.Mean, mean)
			}
			if !ClocksDiffer(early, s.Instances) {
				apart = 0
			}
			if s.Apart != Nanoseconds(apart) {
				t.Fatalf("clocks differ by %v, not %v: %d of %d are early", s.Apart, apart, early, s.Instances)
			}
		}
	}
	if want := min(all, maxSamples); sampled != want {
		t.Fatalf("%d operations looked at, want %d", sampled, want)
	}
}

func TestSkew(t *testing.T) { rapid.Check(t, testSkew) }

// checkMaxStraggler checks that the call is at its place with which the last member begins the
// operation of the largest skew.
func checkMaxStraggler(t tester, tr *trace.Trace, s Skew) {
	t.Helper()
	times, err := OpenTimes(tr)
	if err != nil {
		t.Fatal(err)
	}
	begin, err := times.Begin()
	if err != nil {
		t.Fatal(err)
	}
	least, number := int64(math.MaxInt64), uint64(0)
	for rank := range tr.Ranks() {
		n := uint64(0)
		for c, err := range readRank(t, tr, rank).Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			position := c.Position
			if n++; n != s.MaxInstance+1 {
				continue
			}
			if least = min(least, c.Start); rank == s.MaxStraggler {
				number = position
				if c.Start-begin != s.MaxStart {
					t.Fatalf("%+v, but it begins at %d", s, c.Start)
				}
			}
		}
	}
	if number != s.MaxPosition || begin+s.MaxStart-least != s.Max {
		t.Fatalf("%+v, but it is call %d, and the first begins at %d", s, number, least)
	}
}

// TestSkewError checks how far skews are off if times are kept within an error.
func TestSkewError(t *testing.T) {
	entropy, err := timing.NewEntropy(0.1)
	if err != nil {
		t.Fatal(err)
	}
	var parts []merge.Part
	for rank := range 3 {
		r, err := tracer.New(tracer.Options{Series: must.Get(timing.NewSeriesCodec(entropy, entropy, timing.Gaps))})
		if err != nil {
			t.Fatal(err)
		}
		barrier := r.Declare(mpiFunctions[5])
		for round := range 500 {
			r.CallAt(barrier, int64(round)*1e5+int64(round*round%977+rank*(round%7)*500), 10+int64(rank),
				cst.Handle(-3))
		}
		parts = append(parts, r.Finish(rank))
	}
	tr := openParts(t, merge.Run{Ranks: 3}, parts)
	times, err := OpenTimes(tr)
	if err != nil {
		t.Fatal(err)
	}
	list, err := openMatch(t, tr).Skew(t.Context(), times, Options{})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	const most, mean = 2 * 6 * 500, 2 * 500 * (71*21 + 1 + 2) / 500.0
	if s := list[0]; *s.StartError <= 0 || *s.StartError > 2e4 ||
		math.Abs(float64(s.Max-most)) > 2*float64(*s.StartError) ||
		math.Abs(float64(s.Mean)-mean) > 2*float64(*s.StartError) {
		t.Errorf("%+v, want a skew of %d at most and %v on average", s, int(most), mean)
	}
}
