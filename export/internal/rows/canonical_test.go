package rows_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/exporttest"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/trace"
)

// checkCanonical checks that a signature has one text in all rows, so that there are no more
// texts than signatures. It returns how many there are of each.
func checkCanonical(t rapid.TB, tr *trace.Trace) (texts, signatures int) {
	t.Helper()
	calls, all := make(map[string]string), make(map[string]bool)
	for _, by := range []export.By{export.Calls, export.Signatures} {
		_, got := exporttest.Read(t,
			newTable(t, tr, export.TableOptions{By: by, Columns: []string{"rank", "call", "signature"}}))
		for _, row := range got {
			n, call := row["signature"], row["call"]
			if other, ok := calls[n]; ok && other != call {
				t.Fatalf("signature %s is %s, and %s on rank %s", n, other, call, row["rank"])
			}
			calls[n], all[call] = call, true
		}
	}
	if len(all) > len(calls) || len(calls) > tr.Signatures() {
		t.Fatalf("%d texts of %d signatures, of which the trace has %d", len(all), len(calls), tr.Signatures())
	}
	return len(all), len(calls)
}

// TestCanonical checks that calls have as many texts as there are signatures, in recorded
// runs.
func TestCanonical(t *testing.T) {
	for name, tr := range map[string]*trace.Trace{
		"Stencil": testtrace.Stencil(t, "exact"), "Messages": testtrace.Recorded(t, "messages.exact"),
		"Startall": testtrace.Recorded(t, "startall.exact"), "Wildcard": testtrace.Recorded(t, "wildcard.exact"),
		"CG": shipped(t, "cg.S.16"), "IS": shipped(t, "is.S.16"),
	} {
		t.Run(name, func(t *testing.T) {
			if texts, signatures := checkCanonical(t, tr); name == "Stencil" && (texts != 15 || signatures != 15) {
				t.Errorf("%d texts of %d signatures, want 15 of 15", texts, signatures)
			}
		})
	}
}

// shipped returns a trace of a benchmark in the repository.
func shipped(t *testing.T, name string) *trace.Trace {
	t.Helper()
	in, err := simgrid.Open([]string{"../../../bench/testdata/ti/" + name + ".ti.zst"}, simgrid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	run, parts, err := simgrid.Record(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	return testtrace.Write(t, run, parts)
}

// TestCanonicalOfAny checks traces of any calls, on ranks of several shapes.
func TestCanonicalOfAny(t *testing.T) {
	f := testtrace.Function("f", testtrace.Param("to", cst.KindRank), testtrace.Param("n", cst.KindInt),
		cst.Param{Name: "request", Type: cst.HandleOf("request"), Direction: cst.Out})
	g := testtrace.Function("g", cst.Param{Name: "request", Type: cst.HandleOf("request"),
		Direction: cst.Out}, testtrace.Param("s", cst.KindString))
	wait := testtrace.Function("wait", cst.Param{Name: "requests", Type: cst.ArrayOf(cst.HandleOf("request"))})
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(1, 6).Draw(t, "ranks")
		shapes := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 5), 1, 8), 1, 3).Draw(t, "shapes")
		var all [][]testtrace.Call
		for rank := range ranks {
			var calls []testtrace.Call
			for _, kind := range shapes[rank%len(shapes)] {
				to := []int{rank + 1, (rank + 1) % ranks, rank ^ 1, 3}[kind%4]
				request := cst.Handle(int64(8 * rapid.IntRange(0, 3).Draw(t, "pool")))
				switch kind {
				case 4:
					calls = append(calls, testtrace.Call{Function: g,
						Args: []cst.Value{request, cst.String(fmt.Sprint("s", rank/2))}})
				case 5:
					calls = append(calls, testtrace.Call{Function: wait,
						Args: []cst.Value{cst.Array(cst.Handle(0), request)}})
				default:
					calls = append(calls, testtrace.Call{Function: f,
						Args: []cst.Value{cst.Rank(int64(to)), cst.Int(rapid.Int64Range(0, 2).Draw(t, "n")), request}})
				}
			}
			all = append(all, calls)
		}
		checkCanonical(t, testtrace.Record(t, merge.Run{Source: "test"}, false, all))
	})
}
