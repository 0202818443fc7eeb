package efficiency_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/efficiency"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// timesOf returns each kind of times that can be recorded and is not exact, by name.
func timesOf(epsilon float64, starts int64) map[string]tracer.Options {
	kinds := map[string]tracer.Options{"statistics": statistics,
		"histograms": {Histograms: &timing.HistogramOptions{}},
		"paths":      {Histograms: &timing.HistogramOptions{PathSensitive: true}}}
	for _, codec := range timing.Codecs() {
		c := must.Get(codec.New(epsilon))
		for _, form := range []timing.Form{timing.Gaps, timing.Intervals} {
			series := must.Get(timing.NewSeriesCodec(c, c, form))
			if !codec.Exact {
				series.Starts = starts
			}
			kinds[codec.Word+" "+form.String()] = tracer.Options{Series: series}
		}
	}
	return kinds
}

// TestStatedErrors checks that numbers by times that are not exact are no further from those by exact ones than is
// said.
func TestStatedErrors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		program, initialize := drawProgram(t)
		machine := costs{uint64(rapid.IntRange(0, 1000).Draw(t, "seed")), rapid.Uint64Range(1, 3000).Draw(t, "scale"),
			rapid.Uint64Range(0, 10).Draw(t, "startup")}
		run(t, program, machine, initialize)
		want := open(t, record(t, program, exact))
		checkStated(t, "exact", want, want)
		if p := &want.Part; p.TimeError+p.IdealError+p.TotalError+p.MeanError+p.MaxError != 0 {
			t.Fatalf("errors of exact times: %+v", p)
		}
		epsilon := rapid.Float64Range(0.001, 0.3).Draw(t, "epsilon")
		starts := rapid.Int64Range(0, 20_000).Draw(t, "starts")
		for kind, o := range timesOf(epsilon, starts) {
			checkStated(t, kind, open(t, record(t, program, o)), want)
		}
	})
}

// checkStated checks that the numbers of a run and its phases are off by their errors at most.
func checkStated(t tester, kind string, got, want *efficiency.Run) {
	t.Helper()
	if len(got.Phases) != len(want.Phases) {
		t.Fatalf("%s: %d phases, not %d", kind, len(got.Phases), len(want.Phases))
	}
	checkStatedPart(t, kind+", the run", &got.Part, &want.Part)
	for i := range got.Phases {
		checkStatedPart(t, kind+", a phase", &got.Phases[i].Part, &want.Phases[i].Part)
	}
}

func checkStatedPart(t tester, of string, got, want *efficiency.Part) {
	t.Helper()
	check := func(what string, got, off, want float64) {
		if !(math.Abs(got-want) <= off*(1+1e-9)+1e-9*math.Abs(want)) {
			t.Fatalf("%s: %s is %v ± %v, not %v", of, what, got, off, want)
		}
	}
	check("time", float64(got.Time), float64(got.TimeError), float64(want.Time))
	check("ideal time", float64(got.Ideal), float64(got.IdealError), float64(want.Ideal))
	check("computing", float64(got.Total), float64(got.TotalError), float64(want.Total))
	check("mean computing", float64(got.Mean), float64(got.MeanError), float64(want.Mean))
	check("max computing", float64(got.Max), float64(got.MaxError), float64(want.Max))
	if got.MaxKnown && want.MaxKnown && got.MaxRank != want.MaxRank && got.MaxError < got.Max && want.Max > 0 {
		t.Fatalf("%s: rank %d computes longest, not %d", of, got.MaxRank, want.MaxRank)
	}
	f, e, w := got.Factors, got.Errors, want.Factors
	if f == nil || e == nil || w == nil {
		return
	}
	check("parallel efficiency", f.Parallel, e.Parallel, w.Parallel)
	check("load balance", f.LoadBalance, e.LoadBalance, w.LoadBalance)
	check("communication efficiency", f.Communication, e.Communication, w.Communication)
	check("serialization", *f.Serialization, *e.Serialization, *w.Serialization)
	check("transfer", *f.Transfer, *e.Transfer, *w.Transfer)
}

// TestStatedErrorsOfStartup checks the errors of a rank that computes while another is still in MPI_Init, for how long
// is only known as exactly as the codec has that.
func TestStatedErrorsOfStartup(t *testing.T) {
	bins := must.Get(timing.NewExponential(0.1))
	coded := tracer.Options{Series: must.Get(timing.NewSeriesCodec(bins, bins, timing.Gaps))}
	for startup := int64(400); startup < 600; startup += 7 {
		late := []*process{{}, {}}
		late[0].call(0, 10, "MPI_Init")
		for range 100 {
			late[0].call(7, 0, "MPI_Comm_rank", "comm", world, "rank", 0)
		}
		late[1].call(0, startup, "MPI_Init")
		late[1].call(500, 0, "MPI_Comm_rank", "comm", world, "rank", 1)
		var program [][]testtrace.Call
		for _, p := range late {
			p.call(0, 7, "MPI_Finalize")
			program = append(program, p.calls)
		}
		want := open(t, record(t, program, exact))
		checkStated(t, "exponential", open(t, record(t, program, coded)), want)
		checkStated(t, "statistics", open(t, record(t, program, statistics)), want)
	}
}

// TestStatedErrorsOfShortRun checks a run that is shorter than the error of when it begins, so that by the times it
// ends before.
func TestStatedErrorsOfShortRun(t *testing.T) {
	program := make([][]testtrace.Call, 4)
	for rank := range program {
		program[rank] = []testtrace.Call{testtrace.MPICall("MPI_Init"), testtrace.MPICall("MPI_Finalize")}
	}
	run(t, program, costs{674, 0xb75, 7}, true)
	want := open(t, record(t, program, exact))
	for kind, o := range timesOf(0.15312728300341405, 11_629) {
		checkStated(t, kind, open(t, record(t, program, o)), want)
	}
}

// TestErrorsOfSums checks that the sums that a trace keeps of each rank bound the time of the run and the computing, and
// the end of the run if a long gap makes the error of starts larger.
func TestErrorsOfSums(t *testing.T) {
	bins := must.Get(timing.NewExponential(0.1))
	codec := must.Get(timing.NewSeriesCodec(bins, bins, timing.Gaps))
	for _, tt := range []struct {
		name string
		long int64             // gap
		part query.Nanoseconds // of the time in calls, at least, that is larger than its error
	}{
		{"Short", 20, 500},
		{"Long", 90_000, 100},
	} {
		var program [][]testtrace.Call
		for rank := range 2 {
			var p process
			p.call(0, 300_000, "MPI_Init")
			for i := range int64(1000) {
				p.call(20+i*i%97, 30, "MPI_Comm_rank", "comm", world, "rank", rank)
			}
			p.call(tt.long, 30, "MPI_Comm_size", "comm", world, "size", 2)
			p.call(0, 7, "MPI_Finalize")
			program = append(program, p.calls)
		}
		tr := record(t, program, tracer.Options{Series: codec})
		got := open(t, tr)
		checkStated(t, tt.name, got, open(t, record(t, program, exact)))
		if got.TimeError > got.Time/50 || got.MeanError > got.Mean/50 || got.MaxError > got.Max/50 {
			t.Errorf("%s: %+v", tt.name, got.Part)
		}
		times := must.Get(query.OpenTimes(tr))
		profile := must.Get(query.OpenProfile(t.Context(), tr, query.Options{}))
		for _, r := range must.Get(times.ByRank(t.Context(), profile, false, query.Options{})).Ranks {
			if r.Error > r.Time/tt.part {
				t.Errorf("%s: %+v", tt.name, r)
			}
		}
	}
}
