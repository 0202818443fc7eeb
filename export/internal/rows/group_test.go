package rows_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/exporttest"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// TestLargeCalls checks that groups end early where calls are large, between ranks, too.
func TestLargeCalls(t *testing.T) {
	const ranks, size = 100, 1 << 20
	var parts []merge.Part
	for rank := range ranks {
		var r tracer.Recorder
		f := r.Declare(cst.Function{Name: "f", Params: []cst.Param{{Name: "s", Type: cst.Type{Kind: cst.KindString}}}})
		r.Call(f, cst.String(strings.Repeat("x", size)))
		parts = append(parts, r.Finish(rank))
	}
	table := newTable(t, testtrace.Write(t, merge.Run{Ranks: ranks, Source: "test"}, parts), export.TableOptions{})
	total := 0
	for g, err := range table.Groups(t.Context()) {
		if err != nil || g.Len() > 40 {
			t.Fatalf("a group of %d rows, %v", g.Len(), err)
		}
		total += g.Len()
		g.Release()
	}
	if total != ranks {
		t.Errorf("%d rows", total)
	}
}

// TestManyRanks checks that groups end early where ranks have few rows each, as they hold
// the ranks.
func TestManyRanks(t *testing.T) {
	p := programs.Stencil2D(64, 64, 1)
	for _, by := range []export.By{export.Calls, export.Signatures} {
		table := newTable(t, testtrace.Write(t, p.Run(), p.Parts()), export.TableOptions{By: by})
		ranks := make(map[int]bool)
		for g, err := range table.Groups(t.Context()) {
			if err != nil || len(g.Segments) > 3000 {
				t.Fatalf("a group of %d ranks, %v", len(g.Segments), err)
			}
			for _, s := range g.Segments {
				ranks[s.Rank] = true
			}
			g.Release()
		}
		if len(ranks) != p.Ranks {
			t.Errorf("%d ranks", len(ranks))
		}
	}
}

// datatypes returns a trace of MPI in which equal calls send different types: rounds
// times, a type of n ints is made and freed again, for n from 1 on.
func datatypes(t *testing.T, rounds int) *trace.Trace {
	t.Helper()
	var ids = make(map[string]int64) // of constants
	next := make(map[string]int64)
	for _, c := range spec.Constants() {
		next[c.Class]--
		ids[c.Name] = next[c.Class]
	}
	var r tracer.Recorder
	call := func(name string, args map[string]cst.Value) {
		n, ok := spec.Lookup(name)
		if !ok {
			t.Fatal(name)
		}
		f := cst.Function{Name: name}
		var values []cst.Value
		for _, p := range spec.Functions()[n].Params {
			if v, ok := args[p.Name]; ok {
				f.Params, values = append(f.Params, cst.Param{Name: p.Name, Type: p.Type,
					Direction: p.Direction}), append(values, v)
			}
		}
		r.Call(r.Declare(f), values...)
	}
	for n := range rounds {
		call("MPI_Type_contiguous", map[string]cst.Value{"count": cst.Int(int64(n + 1)),
			"oldtype": cst.Handle(ids["MPI_INT"]), "newtype": cst.Handle(0)})
		for range 2 {
			call("MPI_Send", map[string]cst.Value{"count": cst.Int(3), "datatype": cst.Handle(0),
				"dest": cst.Rank(0), "tag": cst.Tag(5), "comm": cst.Handle(ids["MPI_COMM_WORLD"])})
		}
		call("MPI_Type_free", map[string]cst.Value{"datatype": cst.Handle(0)})
	}
	return testtrace.Write(t, merge.Run{Ranks: 1, Source: "MPI"}, []merge.Part{r.Finish(0)})
}

// TestMeaningsChange checks calls that are equal, but do not mean the same.
func TestMeaningsChange(t *testing.T) {
	tr := datatypes(t, 5)
	_, got := exporttest.Read(t, newTable(t, tr, export.TableOptions{}))
	sends := 0
	for i, row := range got {
		if row["function"] != "MPI_Send" {
			continue
		}
		sends++
		if want := strconv.Itoa(3 * 4 * (i/4 + 1)); row["send_bytes"] != want {
			t.Errorf("row %d: %s bytes, want %s", i, row["send_bytes"], want)
		}
	}
	if sends != 10 {
		t.Errorf("%d sends", sends)
	}
	_, got = exporttest.Read(t, newTable(t, tr, export.TableOptions{By: export.Signatures}))
	for _, row := range got {
		if class, ok := row["class"]; row["function"] == "MPI_Send" && (ok || row["calls"] != "10") {
			t.Errorf("%s calls of class %q", row["calls"], class)
		}
	}
}
