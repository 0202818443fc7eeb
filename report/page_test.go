package report_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// trace returns a trace of parts.
func opened(t testing.TB, run merge.Run, parts []merge.Part) *trace.Trace {
	t.Helper()
	return testtrace.Write(t, run, parts)
}

func program(t testing.TB, p programs.Program) *trace.Trace {
	t.Helper()
	return opened(t, p.Run(), p.Parts())
}

// timed returns a trace of ranks that call three functions in loops, and whose calls take
// times drawn at random, some much longer than others.
func timed(t testing.TB, ranks, rounds int, o tracer.Options) *trace.Trace {
	t.Helper()
	var parts []merge.Part
	for rank := range ranks {
		r, err := tracer.New(o)
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, uint64(rank)))
		for _, name := range []string{"compute", "exchange", "reduce"} {
			r.Declare(cst.Function{Name: name, Params: []cst.Param{{Name: "n", Type: cst.Type{Kind: cst.KindInt}}}})
		}
		now := 1_700_000_000_000_000_000 + 1_000_000*int64(rank) // which a float64 is too short for
		call := func(f int, n, most int64) {
			took := random.Int64N(most)
			if random.IntN(1000) == 0 {
				took *= 100
			}
			now += random.Int64N(500)
			r.CallAt(f, now, took, cst.Int(n))
			now += took
		}
		for i := range rounds {
			for n := range int64(4) {
				call(0, n, 2_000*(n+1))
				call(1, n, 5_000)
			}
			if i%10 == 9 {
				call(2, 8, 50_000)
			}
		}
		parts = append(parts, r.Finish(rank))
	}
	return opened(t, merge.Run{Ranks: ranks, Source: "test"}, parts)
}

func exact() tracer.Options {
	lossless := func() timing.Codec { return must.Get(timing.NewLossless(timing.LZ4)) }
	return tracer.Options{Series: must.Get(timing.NewSeriesCodec(lossless(), lossless(), timing.Gaps))}
}

// render returns the page of a trace.
func render(t testing.TB, tr *trace.Trace, o report.Options) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := report.Write(context.Background(), &out, tr, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// file writes the page of a trace to a file.
func file(t testing.TB, tr *trace.Trace, o report.Options) string {
	t.Helper()
	return write(t, render(t, tr, o))
}

// TestWriteSame compares two pages of a trace.
func TestWriteSame(t *testing.T) {
	for name, tr := range map[string]*trace.Trace{
		"program": program(t, programs.Stencil2D(6, 6, 50)),
		"times":   timed(t, 5, 100, tracer.Options{}),
		"series":  timed(t, 3, 100, exact()),
	} {
		first := render(t, tr, report.Options{})
		for range 3 {
			if !bytes.Equal(render(t, tr, report.Options{}), first) {
				t.Errorf("%s: two pages differ", name)
			}
		}
	}
}

// TestWriteCancelled stops at once.
func TestWriteCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := fmt.Errorf("enough")
	cancel(cause)
	var out bytes.Buffer
	if err := report.Write(ctx, &out, program(t, programs.Stencil2D(3, 3, 5)),
		report.Options{}); err != cause || out.Len() > 0 {
		t.Errorf("error %v, %d bytes", err, out.Len())
	}
}

// TestProcessors checks that a page is the same on 1 to 5 processors, which open ranks, pack times and find messages
// at once.
func TestProcessors(t *testing.T) {
	tr := testtrace.Recorded(t, "messages.exact")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := render(t, tr, report.Options{})
	if !bytes.Contains(want, []byte(`"arrows":"`)) {
		t.Error("the page has no messages")
	}
	for n := 2; n <= 5; n++ {
		runtime.GOMAXPROCS(n)
		if !bytes.Equal(render(t, testtrace.Recorded(t, "messages.exact"), report.Options{}), want) {
			t.Errorf("another page on %d processors", n)
		}
	}
}

// write writes a page to a file.
func write(t testing.TB, html []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, html, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestWriteLarge bounds the page of a run that does not repeat itself.
func TestWriteLarge(t *testing.T) {
	tier.Long(t, "measures a large page")
	html := render(t, program(t, programs.RandomPartners(16, 4000, 1)), report.Options{})
	t.Logf("%d bytes", len(html))
	if len(html) > 5_000_000 {
		t.Errorf("%d bytes", len(html))
	}
	if !bytes.Contains(html, []byte("Left out, because their calls do not repeat enough")) {
		t.Error("the page does not say that it leaves out ranks")
	}
}

// TestMatchingSilent names the members that make no collective calls.
func TestMatchingSilent(t *testing.T) {
	page := render(t, testtrace.TI(t, "0 init\n0 barrier\n1 init\n1 barrier\n2 init\n3 init\n"), report.Options{})
	if want := "1 collective operation on 1 communicator. There are none of ranks 2-3 of world."; !bytes.Contains(page, []byte(want)) {
		t.Errorf("the page has no %q", want)
	}
}

// TestCutShort names the ranks of a recorded run that did not come to MPI_Finalize, and says
// that what does not match may be for that.
func TestCutShort(t *testing.T) {
	barrier := cst.Function{Name: "MPI_Barrier", Params: []cst.Param{{Name: "comm", Type: cst.HandleOf("comm")}}}
	for source, want := range map[string]bool{collect.Source: true, "test": false} {
		var parts []merge.Part
		for rank := range 3 {
			var r tracer.Recorder
			for range 3 - rank {
				r.Call(r.Declare(barrier), cst.Handle(-3))
			}
			if rank == 0 {
				r.Call(r.Declare(cst.Function{Name: "MPI_Finalize"}))
			}
			parts = append(parts, r.Finish(rank))
		}
		page := render(t, opened(t, merge.Run{Ranks: 3, Source: source}, parts), report.Options{})
		for _, text := range []string{"The run did not reach its end: ranks 1-2 did not reach MPI_Finalize, or it was not recorded.", "Unmatched calls may belong to calls"} {
			if bytes.Contains(page, []byte(text)) != want {
				t.Errorf("of a run from %q, %q is on the page, or not", source, text)
			}
		}
	}
}

// TestEfficiencyLarge checks that a run of 10⁷ calls has efficiencies if its times are statistics, as loops
// are skipped, and that one without times has none.
func TestEfficiencyLarge(t *testing.T) {
	p := programs.Stencil2D(3, 3, 200_000)
	if page := render(t, program(t, p.Timed()), report.Options{}); !bytes.Contains(page,
		[]byte("200,000 × MPI_")) || !bytes.Contains(page, []byte("Limits of scaling")) {
		t.Error("there is no efficiency of the run, or not of its phase")
	}
	if page := render(t, program(t, p), report.Options{}); bytes.Contains(page, []byte("Limits of scaling")) {
		t.Error("there is an efficiency of a run without times")
	}
}
