package query

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/tracer"
)

// testImbalance compares sites with the calls that were recorded, one by one.
func testImbalance(t *rapid.T) {
	var ranks [][]timedCall
	all := drawCalls(t, false)
	for range rapid.IntRange(1, 4).Draw(t, "ranks") {
		own := slices.Clone(all) // one shape, so that the signatures are those of all ranks
		for i := range own {
			own[i].duration = rapid.Int64Range(0, 100).Draw(t, "own")
			own[i].start += 1000 * int64(i)
		}
		ranks = append(ranks, own)
	}
	o, source := drawOptions(t)
	trace := record(t, func(int) tracer.Options { return o }, ranks)
	times, err := OpenTimes(trace)
	if err != nil {
		t.Fatal(err)
	}
	if source == Series {
		if times, err = times.ReadSeries(context.Background(), Options{}); err != nil {
			t.Fatal(err)
		}
	}
	sites, err := times.Imbalance()
	if err != nil {
		t.Fatal(err)
	}
	last, calls := math.Inf(1), uint64(0)
	for _, s := range sites {
		if float64(s.Wait) > last {
			t.Fatalf("%g after %g", s.Wait, last)
		}
		if s.Ranks == 1 && s.Exact && s.Wait != 0 {
			t.Fatalf("one rank alone waits for %g", s.Wait)
		}
		last, calls = float64(s.Wait), calls+s.Calls
		checkSite(t, s, ranks, func(i int) bool {
			return uint32(s.Signature) == uint32(firstUse(ranks[0], i))
		}, source == Series)
		grouped := uint64(0)
		for _, g := range s.Groups {
			grouped += g.Calls
		}
		if (source == Statistics) != (grouped == 0) || grouped != 0 && grouped != s.Calls {
			t.Fatalf("groups of %d of %d calls by %v", grouped, s.Calls, source)
		}
	}
	if calls != uint64(len(all)*len(ranks)) {
		t.Fatalf("%d calls, want %d", calls, len(all)*len(ranks))
	}
}

func TestImbalance(t *testing.T) { rapid.Check(t, testImbalance) }

// firstUse returns the number of the call at i, by first use.
func firstUse(calls []timedCall, i int) int {
	var seen []int64
	for _, c := range calls[:i+1] {
		if !slices.Contains(seen, c.argument) {
			seen = append(seen, c.argument)
		}
	}
	return slices.Index(seen, calls[i].argument)
}

// checkSite compares a site with the calls that are at it.
func checkSite(t *rapid.T, s Site, ranks [][]timedCall, at func(i int) bool, exact bool) {
	t.Helper()
	var sum float64
	var means []float64
	n, least, most := 0, int64(math.MaxInt64), int64(-1)
	leastRank, mostRank := 0, 0
	for rank, calls := range ranks {
		own, of := 0.0, 0
		for i, c := range calls {
			if !at(i) {
				continue
			}
			own, of = own+float64(c.duration), of+1
			if c.duration < least {
				least, leastRank = c.duration, rank
			}
			if c.duration > most {
				most, mostRank = c.duration, rank
			}
		}
		sum, n, means = sum+own, n+of, append(means, own/float64(of))
	}
	fast, slow := slices.Min(means), slices.Max(means)
	lost := sum - float64(n)*fast
	if !exact {
		lost = sum - float64(n)*float64(least)
		if len(ranks) == 1 {
			lost = 0
		}
	}
	rounded := float64(n) * float64(most-least) / 4096 // as statistics are
	if s.Calls != uint64(n) || s.Ranks != len(ranks) || s.Min != least || s.Max != most ||
		s.MinRank != leastRank || s.MaxRank != mostRank ||
		s.Exact != exact || math.Abs(float64(s.Total)-sum) > rounded+1e-6 ||
		math.Abs(float64(s.Wait)-lost) > rounded+1e-6 {
		t.Fatalf("%+v, want %d calls of %d ranks, %d on %d to %d on %d, %g of %g lost", s, n, len(ranks),
			least, leastRank, most, mostRank, lost, sum)
	}
	if exact && (s.Fast.Rank != slices.Index(means, fast) || s.Slow.Rank != slices.Index(means, slow) ||
		!near(float64(s.Fast.Mean), fast) || !near(float64(s.Slow.Mean), slow)) {
		t.Fatalf("%+v, want %v", s, means)
	}
}
