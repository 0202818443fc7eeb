package query

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
)

// TestExchangedOfHuge counts what goes between the ranks of a run of as many as there can be, two of which
// make calls: memory follows these.
func TestExchangedOfHuge(t *testing.T) {
	const ranks = math.MaxInt32
	reduce := []any{"sendbuf", 1, "recvbuf", 2, "count", 2, "datatype", "MPI_INT", "op", "MPI_SUM", "comm",
		"MPI_COMM_WORLD"}
	calls := []testtrace.Call{testtrace.MPICall("MPI_Init"), testtrace.MPICall("MPI_Allreduce", reduce...),
		testtrace.MPICall("MPI_Scan", reduce...)}
	m := openModel(t, testtrace.Record(t, merge.Run{Ranks: ranks}, false, [][]testtrace.Call{calls, calls}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	all, err := OpenMessages(t.Context(), m, 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const blocks = 2*(ranks-1) + (ranks - 1) + (ranks - 2)
	if want := (Blocks{Blocks: blocks, Bytes: 8 * blocks}); all.Traffic.Exchanged != want {
		t.Errorf("%+v, want %+v", all.Traffic.Exchanged, want)
	}
	for _, bins := range []int{1, 3, 64} {
		binned, err := OpenMessages(t.Context(), m, bins, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var sum Blocks
		for i := range bins * bins {
			sum.plus(binned.Matrix.At(i/bins, i%bins).Exchanged)
		}
		if binned.Matrix.Exchanged != all.Traffic.Exchanged || sum != all.Traffic.Exchanged {
			t.Errorf("%d bins: %+v, %+v in the cells, want %+v", bins, binned.Matrix.Exchanged, sum,
				all.Traffic.Exchanged)
		}
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 64<<20 {
		t.Errorf("%d bytes were allocated", after.TotalAlloc-before.TotalAlloc)
	}
}

// TestHigherInOrder compares pairs of ranks and higher ones, of a world that is not listed, with those of a
// list.
func TestHigherInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(1, 40).Draw(t, "ranks")
		members := make([]int, rapid.IntRange(1, ranks).Draw(t, "members"))
		for i := range members {
			members[i] = i
		}
		from := rankenc.SetOf(rapid.SliceOf(rapid.SampledFrom(members)).Draw(t, "from")...)
		whole := UniformPairs{From: from, To: rankenc.World(len(members)), Higher: true, Blocks: Blocks{Blocks: 1}}
		listed := whole
		listed.members = members
		if whole.All() != listed.All() || whole.Ascending() != listed.Ascending() {
			t.Fatalf("%+v, want %+v", whole.All(), listed.All())
		}
		bins := rapid.IntRange(1, ranks).Draw(t, "bins")
		var matrices [2]*Matrix
		var pairs [2][][2]int
		for i, u := range []UniformPairs{whole, listed} {
			var err error
			if matrices[i], err = newMatrix(ranks, bins); err != nil {
				t.Fatal(err)
			}
			matrices[i].addUniform([]UniformPairs{u})
			least, most := ranks/5, ranks-ranks/7
			for _, rank := range from.All() {
				u.eachOf(rank, least, most, func(to int) { pairs[i] = append(pairs[i], [2]int{rank, to}) })
			}
		}
		if !slices.Equal(pairs[0], pairs[1]) {
			t.Fatalf("%v, want %v", pairs[0], pairs[1])
		}
		for i := range bins * bins {
			if got, want := matrices[0].At(i/bins, i%bins), matrices[1].At(i/bins, i%bins); got != want {
				t.Fatalf("%d bins, cell %d: %+v, want %+v", bins, i, got, want)
			}
		}
	})
}
