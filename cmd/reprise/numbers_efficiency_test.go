package main

import (
	"fmt"
	"math"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/query/efficiency"
)

// computing returns how long ranks compute, and how long the run takes, from MPI_Init to MPI_Finalize, in ns.
func (w truth) computing() (ranks []float64, time float64) {
	_, begin, end := w.run()
	for _, calls := range w.calls {
		outside, last := 0.0, int64(math.MinInt64)
		for _, c := range calls {
			if last != math.MinInt64 {
				outside += float64(max(0, c.Start-max(begin, last)))
			}
			last = c.Start + c.Duration
		}
		ranks = append(ranks, outside)
	}
	return ranks, float64(end - begin)
}

// run returns when the first call began, when the last rank returned from MPI_Init, and when the last called
// MPI_Finalize.
func (w truth) run() (first, begin, end int64) {
	first, begin, end = math.MaxInt64, math.MinInt64, math.MinInt64
	for _, calls := range w.calls {
		for _, c := range calls {
			switch first = min(first, c.Start); c.Function {
			case "MPI_Init", "MPI_Init_thread":
				begin = max(begin, c.end())
			case "MPI_Finalize":
				end = max(end, c.Start)
			}
		}
	}
	return first, begin, end
}

// inRun returns how long a rank is in calls of the run, in ns: in MPI_Finalize until the last rank calls it.
func (w truth) inRun(rank int) (time int64) {
	_, _, end := w.run()
	for _, c := range w.calls[rank] {
		switch c.Function {
		case "MPI_Init", "MPI_Init_thread":
		case "MPI_Finalize":
			time += end - c.Start
		default:
			time += c.Duration
		}
	}
	return time
}

// checkEfficiency compares the computing and the time that efficiency tells with the calls, and the page with
// efficiency.
func checkEfficiency(t *testing.T, page, path string, w truth, exact, series bool) {
	t.Helper()
	var a answer.Efficiency
	decodeJSON(t, &a, "efficiency", path, "--json")
	r := a.Traces[0].Run
	total, most := 0.0, 0.0
	ranks, time := w.computing()
	for _, of := range ranks {
		total, most = total+of, max(most, of)
	}
	mean := total / float64(len(ranks))
	if r.Errors == nil {
		t.Fatalf("efficiency: how far %+v may be off is not known", r.Factors)
	}
	for _, of := range []struct {
		what             string
		value, off, want float64
	}{
		{"computing", float64(r.Total), float64(r.TotalError) + 1, total},
		{"mean computing", float64(r.Mean), float64(r.MeanError) + 1, mean},
		{"max computing", float64(r.Max), float64(r.MaxError) + 1, most},
		{"time", float64(r.Time), float64(r.TimeError) + 1, time},
		{"parallel efficiency", r.Factors.Parallel, r.Errors.Parallel + 1e-6, mean / time},
		{"load balance", r.Factors.LoadBalance, r.Errors.LoadBalance + 1e-6, mean / most},
		{"communication efficiency", r.Factors.Communication, r.Errors.Communication + 1e-6, most / time},
	} {
		if math.Abs(of.value-of.want) > of.off || exact && of.off > 1 {
			t.Errorf("efficiency: %s is %v ± %v, not %v", of.what, of.value, of.off, of.want)
		}
	}
	if exact && (r.Longer || float64(r.Ideal) < most) {
		t.Errorf("efficiency: ideal time %v, not between %v and %v", r.Ideal, most, time)
	}
	want := []*efficiency.Part{&r.Part}
	for i := range r.Phases {
		if r.Phases[i].Time >= answers.MinorPhase*r.Time {
			want = append(want, &r.Phases[i].Part)
		}
	}
	rows := pageRows(t, page, "efficiency", "Serialization")
	if len(rows) != len(want) {
		t.Fatalf("the page has %d rows of efficiencies, not %d", len(rows), len(want))
	}
	for i, row := range rows {
		f := want[i].Factors
		if f == nil {
			t.Errorf("the page has %+v, not %+v", row, want[i])
			continue
		}
		got := fmt.Sprint(row.value["Parallel"], row.value["Load balance"], row.value["Communication"],
			row.value["Serialization"], row.value["Transfer"])
		if got != fmt.Sprint(f.Parallel, f.LoadBalance, f.Communication, *f.Serialization, *f.Transfer) ||
			!near(row.value["Time"], float64(want[i].Time), 0.5) {
			t.Errorf("the page has %+v, not %+v with %+v", row, want[i], f)
		}
	}
}
