package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/query/efficiency"
)

// computing returns how long ranks compute, and how long the run takes, from MPI_Init to MPI_Finalize, and
// before, in ns.
func (w truth) computing() (ranks []float64, time, before float64) {
	first, begin, end := w.run()
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
	return ranks, float64(end - begin), float64(begin - first)
}

// startsQuietly reports whether no rank was held up between MPI_Init and the calls of communicators that follow: its
// gaps there are less than a fortieth of what one rank computes at most. The run begins when the last rank returns
// from MPI_Init. Which part of these gaps is before that, is estimated from their mean on all ranks, stretched at most
// twice: no sum of a rank tells it.
func (w truth) startsQuietly() bool {
	ranks, _, _ := w.computing()
	for _, calls := range w.calls {
		gaps := int64(0)
		for i := 1; i < len(calls) && strings.HasPrefix(calls[i].Function, "MPI_Comm_"); i++ {
			gaps += calls[i].Start - calls[i-1].end()
		}
		if float64(gaps) > slices.Max(ranks)/40 {
			return false
		}
	}
	return true
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
	off := 0.0 // relative
	switch {
	case exact:
	case series:
		off = 0.1
	default:
		off = 0.05
	}
	total, most := 0.0, 0.0
	ranks, time, before := w.computing()
	for _, of := range ranks {
		total, most = total+of, max(most, of)
	}
	// The time is from the end of MPI_Init on one rank to a call on another: each is off by a part of all
	// before it.
	if !near(float64(r.Total), total, off*total) || !near(float64(r.Max), most, off*most) ||
		!near(float64(r.Time), time, off*(time+2*before)) {
		t.Errorf("efficiency: computing %v, at most %v, in %v, not %v, at most %v, in %v", r.Total, r.Max,
			r.Time, total, most, time)
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
