package query

import (
	"bytes"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	sections "github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// TestDiffDamaged compares a trace with a copy whose grammars are damaged.
func TestDiffDamaged(t *testing.T) {
	p := programs.Stencil2D(3, 3, 9)
	damaged := testtrace.Records(t, testtrace.File(t, p.Run(), p.Parts()))
	for _, s := range testtrace.Open(t, bytes.Clone(damaged)).Sections() {
		if s.Kind == sections.KindGrammars {
			damaged[s.Offset+s.Size/2] ^= 1
		}
	}
	other := testtrace.Open(t, damaged)
	for _, o := range []DiffOptions{{}, {Options: Options{Ranks: of(rankenc.World(2))}}} {
		if _, err := OpenDiff(t.Context(), openProgram(t, p), other, o); err == nil {
			t.Error("the damage is no error")
		}
	}
}

// TestDiffManyCommunicators compares runs that make more communicators than are resolved:
// the first difference is known, whatever is of the messages.
func TestDiffManyCommunicators(t *testing.T) {
	open := func(rounds uint64) *trace.Trace {
		comm := cst.HandleOf("comm")
		r := new(tracer.Recorder)
		dup := r.Declare(cst.Function{Name: "MPI_Comm_dup",
			Params: []cst.Param{{Name: "comm", Type: comm}, {Name: "newcomm", Type: comm, Direction: cst.Out}}})
		free := r.Declare(cst.Function{Name: "MPI_Comm_free",
			Params: []cst.Param{{Name: "comm", Type: comm, Direction: cst.InOut}}})
		r.Call(dup, cst.Handle(-3), cst.Handle(0))
		r.Call(free, cst.Handle(0))
		r.Call(r.Declare(cst.Function{Name: "MPI_Finalize"}))
		part := r.Finish(0)
		var b sequitur.Builder
		b.AppendLoop([]sequitur.Run{{Symbol: 0, Count: 1}, {Symbol: 1, Count: 1}}, rounds)
		b.Append(2)
		part.Grammar, part.Times = b.Finish(), nil
		return openParts(t, merge.Run{Ranks: 1}, []merge.Part{part})
	}
	const rounds = 1e9
	d, err := OpenDiff(t.Context(), open(rounds), open(rounds+1), DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if f := d.First; f == nil || f.Position != 2*rounds || f.A != "MPI_Finalize()" ||
		!strings.HasPrefix(f.B, "MPI_Comm_dup(") {
		t.Errorf("the first difference is %+v", f)
	}
	if d.B.Calls-d.A.Calls != 2 || len(d.Functions) != 2 || len(d.Calls) != 2 {
		t.Errorf("%+v", d)
	}
	if (d.Messages == nil) != (d.Uncounted[0] != nil && d.Uncounted[1] != nil) {
		t.Errorf("messages %+v, lost %v", d.Messages, d.Uncounted)
	}
}

// TestDiffLost compares runs that send on a communicator which the trace does not tell.
func TestDiffLost(t *testing.T) {
	open := func(sends int) *trace.Trace {
		integer := cst.Type{Kind: cst.KindInt}
		r := new(tracer.Recorder)
		send := r.Declare(cst.Function{Name: "MPI_Send", Params: []cst.Param{
			{Name: "count", Type: integer}, {Name: "datatype", Type: cst.HandleOf("datatype")},
			{Name: "dest", Type: cst.Type{Kind: cst.KindRank}},
			{Name: "tag", Type: cst.Type{Kind: cst.KindTag}}, {Name: "comm", Type: cst.HandleOf("comm")},
		}})
		for range sends {
			r.Call(send, cst.Int(1), cst.Handle(5), cst.Rank(0), cst.Tag(0), cst.Handle(7))
		}
		r.Call(r.Declare(cst.Function{Name: "MPI_Finalize"}))
		return openParts(t, merge.Run{Ranks: 2}, []merge.Part{r.Finish(0)})
	}
	d, err := OpenDiff(t.Context(), open(2), open(5), DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if m := d.Messages; m == nil || m.UnplacedA.Messages != 2 || m.UnplacedB.Messages != 5 ||
		m.A.Messages != 2 || m.B.Messages != 5 || len(m.Pairs) != 0 {
		t.Errorf("messages %+v", m)
	}
}
