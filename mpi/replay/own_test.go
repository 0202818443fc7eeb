package replay_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/trace/meaning"
	"github.com/reprise-trace/reprise/tracer"
)

// A second is what each call computes.
type second struct{}

func (second) Groups() []meaning.Group { return nil }

func (second) Of(int, *trace.Call) meaning.Operation {
	return meaning.Operation{Computes: time.Second}
}

// TestComputes checks that what a call computes counts in place of its time, whether that is a mean, drawn,
// or an amount of computing that hosts of some speed do.
func TestComputes(t *testing.T) {
	const calls = 200
	r, err := tracer.New(tracer.Options{Histograms: &timing.HistogramOptions{Bins: 8}})
	if err != nil {
		t.Fatal(err)
	}
	f := r.Declare(testtrace.Function("compute", testtrace.Param("flops", cst.KindFloat)))
	for i := range int64(calls) {
		r.CallAt(f, i*1000, 100+i%7, cst.Float(1e9))
	}
	var b bytes.Buffer
	if err := merge.Write(&b, merge.Run{Ranks: 1}, []merge.Part{r.Finish(0)}); err != nil {
		t.Fatal(err)
	}
	for name, set := range map[string]func(*replay.Recorded){
		"means":  func(*replay.Recorded) {},
		"drawn":  func(r *replay.Recorded) { r.Draw(1) },
		"amount": func(r *replay.Recorded) { r.Speed(1e10) },
	} {
		tr, err := trace.OpenReader(bytes.NewReader(b.Bytes()), int64(b.Len()), trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		model, err := semantics.OpenWith(tr, second{})
		if err != nil {
			t.Fatal(err)
		}
		recorded, err := replay.NewRecorded(tr)
		if err != nil {
			t.Fatal(err)
		}
		set(recorded)
		result, err := replay.Run(context.Background(), model, recorded)
		if err != nil {
			t.Fatal(err)
		}
		if err := recorded.Err(); err != nil {
			t.Fatal(err)
		}
		if got := result.End; got < calls*replay.Second || got > calls*replay.Second+replay.Second/1000 {
			t.Errorf("%s: %v, want %d s", name, got, calls)
		}
	}
}
