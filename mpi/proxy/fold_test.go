package proxy

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
)

// TestFold checks that calls whose arguments differ become one without a loss: the calls that the program
// makes, in the order of the folded grammar and with the rows of their tables, are those of the trace.
func TestFold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ranks := make([][]testtrace.Call, rapid.IntRange(1, 3).Draw(rt, "ranks"))
		rounds, repeats := rapid.IntRange(1, 12).Draw(rt, "rounds"), rapid.IntRange(1, 3).Draw(rt, "repeats")
		kinds := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 5).Draw(rt, "kinds")
		few := rapid.IntRange(1, 40).Draw(rt, "few")
		for rank := range ranks {
			draw := rapid.IntRange(0, few)
			var calls []testtrace.Call
			for range rounds {
				for _, kind := range kinds {
					n := draw.Draw(rt, "n")
					switch kind {
					case 0:
						calls = append(calls, testtrace.MPICall("MPI_Send", "count", n, "dest", 0, "tag", 3))
					case 1:
						calls = append(calls, testtrace.MPICall("MPI_Scatterv", "sendcounts",
							[]any{n, n % 3, 2}, "displs", []any{0, n, 2 * n}, "root", n%2, "comm", "MPI_COMM_WORLD"))
					case 2:
						calls = append(calls, testtrace.MPICall("MPI_Isend", "count", n, "dest", rank, "request", n%4))
					case 3:
						calls = append(calls, testtrace.MPICall("MPI_Test", "request", n%4, "flag", n%2))
					default:
						calls = append(calls, testtrace.MPICall("MPI_Barrier", "comm", "MPI_COMM_WORLD"))
					}
				}
			}
			for range repeats {
				ranks[rank] = append(ranks[rank], calls...)
			}
		}
		folded(rt, ranks)
	})
	var calls []testtrace.Call
	for n := range 12 {
		calls = append(calls, testtrace.MPICall("MPI_Send", "count", n*n%11, "dest", 0, "tag", 3))
	}
	if folded(t, [][]testtrace.Call{calls, calls}) == 0 {
		t.Error("no calls became one")
	}
}

// folded checks the calls of each shape against those of the ranks, and returns how many became one with
// others.
func folded(t rapid.TB, ranks [][]testtrace.Call) int {
	t.Helper()
	trace := testtrace.Record(t, merge.Run{}, false, ranks)
	g := &generator{ctx: context.Background(), trace: trace, options: Options{Compute: None, Scale: 1},
		size: len(ranks)}
	if err := g.read(); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for number, calls := range g.calls {
		if g.trace.ShapeRanks(number).Len() == 0 {
			continue
		}
		for _, c := range calls {
			seen += len(c.members)
		}
		checkFolded(t, g, number, ranks)
	}
	return seen
}

func checkFolded(t rapid.TB, g *generator, number int, want [][]testtrace.Call) {
	k := 0
	for _, rank := range g.trace.ShapeRanks(number).All() {
		at := make(map[uint32]int)
		i := 0
		for _, n := range g.grammars[number].All() {
			c := g.calls[number][n]
			var got []string
			for _, v := range c.args {
				x := v.of[k][0]
				if v.varies {
					x = v.of[k][at[n]]
				}
				got = append(got, fmt.Sprint(x))
			}
			at[n]++
			for i < len(want[rank]) && foundNone(want[rank][i]) && fmt.Sprint(got) != fmt.Sprint(want[rank][i].Args) {
				i++ // it is left out
			}
			if i == len(want[rank]) || c.signature.Function.Name != want[rank][i].Function.Name ||
				fmt.Sprint(got) != fmt.Sprint(want[rank][i].Args) {
				t.Fatalf("rank %d, call %d: %s%v", rank, i, c.signature.Function.Name, got)
			}
			i++
		}
		for i < len(want[rank]) && foundNone(want[rank][i]) {
			i++
		}
		if i != len(want[rank]) {
			t.Fatalf("rank %d makes %d calls", rank, i)
		}
		k++
	}
}

// foundNone reports whether a call is a test that completed nothing.
func foundNone(c testtrace.Call) bool {
	return c.Function.Name == "MPI_Test" && c.Args[1].Int() == 0
}
