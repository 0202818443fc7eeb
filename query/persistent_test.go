package query

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/requestid"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
)

// TestPersistentOrder checks that persistent collective operations match in whatever order members start
// them, and do not if one member starts one less.
func TestPersistentOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 5).Draw(t, "kinds")
		rounds := rapid.IntRange(1, 4).Draw(t, "rounds")
		const ranks = 3
		lacking := rapid.IntRange(-1, ranks-1).Draw(t, "lacking")
		var parts []merge.Part
		for rank := range ranks {
			var r testtrace.Recording
			var requests []int
			for i, kind := range kinds {
				id := int(requestid.Join(int64(i), 0))
				requests = append(requests, id)
				switch kind {
				case 0:
					r.MPI(1, "MPI_Barrier_init", "comm", "MPI_COMM_WORLD", "request", id)
				case 1:
					r.MPI(1, "MPI_Allreduce_init", "count", 1, "datatype", "MPI_INT", "op", "MPI_SUM", "comm",
						"MPI_COMM_WORLD", "request", id)
				default: // roots 0 and 1
					r.MPI(1, "MPI_Bcast_init", "count", 1, "datatype", "MPI_INT", "root", kind-2, "comm",
						"MPI_COMM_WORLD", "request", id)
				}
			}
			for round := range rounds {
				for i, id := range rapid.Permutation(slices.Clone(requests)).Draw(t, "order") {
					if rank != lacking || round > 0 || i > 0 {
						r.MPI(1, "MPI_Start", "request", id)
					}
				}
				for _, id := range requests {
					r.MPI(1, "MPI_Wait", "request", id)
				}
				r.MPI(1, "MPI_Barrier", "comm", "MPI_COMM_WORLD")
			}
			parts = append(parts, r.Finish(rank))
		}
		m := openMatch(t, openParts(t, merge.Run{Ranks: ranks, Source: "MPI"}, parts))
		different, count := 0, uint64(0)
		for _, n := range m.Instances {
			different += len(n.Different) + n.Absent.Len()
			count += n.Count
		}
		if want := uint64(rounds * (len(kinds) + 1)); (different > 0) != (lacking >= 0) ||
			lacking < 0 && count != want || m.UnknownCollectives > 0 {
			t.Fatalf("%d operations, want %d; %d ranks differ, rank %d starts one less; %d unknown", count,
				want, different, lacking, m.UnknownCollectives)
		}
	})
}
