package replay_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/replay/loggps"
	"github.com/reprise-trace/reprise/rankenc"
)

// linkGen draws links of all kinds.
var linkGen = rapid.Custom(func(t *rapid.T) loggps.Link {
	time := func(most int, name string) replay.Time {
		return replay.Time(rapid.IntRange(0, most).Draw(t, name)) * replay.Nanosecond
	}
	bandwidth := func() int64 { return rapid.SampledFrom([]int64{0, 1e6, 1e9, 3e11}).Draw(t, "bandwidth") }
	l := loggps.Link{
		Latency: time(5000, "latency"), Overhead: time(500, "overhead"), Gap: time(1000, "gap"), Bandwidth: bandwidth(),
		EagerLimit: rapid.SampledFrom([]int64{-1, 0, 6, 100, 10000}).Draw(t, "eager limit"),
		Copied:     rapid.Bool().Draw(t, "copied"),
	}
	for _, than := range []int64{0, 5, 4096} {
		if rapid.IntRange(0, 2).Draw(t, "larger") == 0 {
			l.Larger = append(l.Larger, loggps.Larger{Than: than, Latency: time(9000, "latency"),
				Bandwidth: bandwidth()})
		}
	}
	return l
})

// algorithmsOf are some that operations of the random programs may have.
var algorithmsOf = map[string][]loggps.Algorithm{
	"barrier": {"dissemination", "recursive-doubling", "linear"},
	"bcast":   {"binomial", "linear", "scatter-recursive-doubling", "scatter-ring"},
	"scatter": {"binomial", "linear"}, "gather": {"binomial", "linear"},
	"reduce":    {"binomial", "rabenseifner", "linear"},
	"allreduce": {"recursive-doubling", "rabenseifner", "ring"},
	"allgather": {"recursive-doubling", "bruck", "ring"}, "alltoall": {"bruck", "pairwise", "linear"},
}

// clusterGen draws the parameters of machines, with all that they may have.
var clusterGen = rapid.Custom(func(t *rapid.T) loggps.Parameters {
	factor := func() loggps.Factor {
		f, err := loggps.ParseFactor(rapid.SampledFrom([]string{"0", "0.3", "1", "1.7", "20"}).Draw(t, "factor"))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	p := loggps.Parameters{
		Between: linkGen.Draw(t, "between"), Within: linkGen.Draw(t, "within"),
		RanksPerNode: rapid.IntRange(0, 4).Draw(t, "ranks per node"), Cyclic: rapid.Bool().Draw(t, "cyclic"),
		Compute: factor(), OfRanks: []loggps.RankFactor{{Ranks: rankenc.SetOf(1, 3), Factor: factor()}},
		OfFunction:  map[string]loggps.Factor{"MPI_Wait": factor()},
		Collectives: make(map[string]loggps.Algorithm), Besides: make(map[string]loggps.Besides),
	}
	for _, operation := range []string{"barrier", "bcast", "scatter", "gather", "reduce", "allreduce",
		"allgather", "alltoall"} {
		if rapid.Bool().Draw(t, "other algorithm") {
			p.Collectives[operation] = rapid.SampledFrom(algorithmsOf[operation]).Draw(t, operation)
		}
		if needsAll := operation == "barrier" || strings.HasPrefix(operation, "all"); needsAll &&
			rapid.Bool().Draw(t, "besides") {
			p.Besides[operation] = loggps.Besides{{Bytes: 4, Time: 300 * replay.Nanosecond},
				{Bytes: 5000, Time: replay.Time(rapid.IntRange(0, 9000).Draw(t, "time")) * replay.Nanosecond}}
		}
	}
	return p
})

func drawnCluster(t *rapid.T, ranks int, seed uint64) *loggps.Machine {
	m, err := loggps.New(clusterGen.Draw(t, "cluster"), ranks, mixed{seed: seed})
	if err != nil || !m.Steady() {
		t.Fatal(err)
	}
	return m
}

// TestSkipCluster checks that a replay that skips loops comes to the same, to the picosecond, as one that
// executes every call, on any cluster.
func TestSkipCluster(t *testing.T) {
	defer replay.SetRound(8)()
	rapid.Check(t, func(t *rapid.T) {
		intn := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
		trace, _ := newLoops(intn).trace(t)
		compareSkipped(t, open(t, trace), drawnCluster(t, trace.Ranks(), rapid.Uint64().Draw(t, "seed")))
	})
}

// TestCluster checks that on any cluster, programs come to their end, messages meet as the program means it,
// clocks never go back, and nothing ends before what it needs.
func TestCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		intn := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
		p := newProgram(intn, rapid.IntRange(1, 40).Draw(t, "steps"))
		trace, places := p.trace(t)
		testOn(t, p, open(t, trace), drawnCluster(t, trace.Ranks(), rapid.Uint64().Draw(t, "seed")), places)
	})
}
