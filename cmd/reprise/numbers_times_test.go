package main

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
)

// A placeTruth is where at says that a rank is.
type placeTruth struct {
	Rank          int
	Source        string
	Calls         uint64
	RelativeError float64  `json:"relative_error"`
	StartError    *float64 `json:"start_error_ns"`
	Position      uint64
	Start         float64 `json:"start_ns"`
	Duration      float64 `json:"duration_ns"`
	Inside        bool
	State         string
	Function      string
}

// span returns from when to when calls of a run are.
func (w truth) span() (begin, end int64) {
	begin = math.MaxInt64
	for _, calls := range w.calls {
		begin, end = min(begin, calls[0].Start), max(end, calls[len(calls)-1].end())
	}
	return begin, end
}

// checkAt compares where at says that ranks are at some times: where they were, if these are exact, and else
// where they may have been as far as starts and durations are off. Estimates have to be called so.
func checkAt(t *testing.T, path string, w truth, exact, series bool) {
	t.Helper()
	_, end := w.span()
	for i := range int64(12) {
		at := end * (2*i + 1) / 22 // the last one is after the end
		var a struct {
			Places []placeTruth `json:"by_rank"`
		}
		decodeJSON(t, &a, "at", "--json", path, fmt.Sprintf("%dns", at))
		if len(a.Places) != len(w.calls) {
			t.Fatalf("at: %d ranks", len(a.Places))
		}
		for rank, p := range a.Places {
			switch {
			case p.Rank != rank || p.Calls != uint64(len(w.calls[rank])) ||
				series != (p.Source == "series") || p.Source == "none":
				t.Errorf("at: rank %d: %+v", rank, p)
			case series && (p.StartError == nil || exact != (*p.StartError == 0) || exact != (p.RelativeError == 0)):
				t.Errorf("at: rank %d: how exact it is: %+v", rank, p)
			case series:
				checkPlace(t, p, w.calls[rank], float64(at))
			}
		}
	}
	if said := strings.Contains(must(t, "at", path, "0.1"), ", estimated from "); said == series {
		t.Errorf("at: estimated: %v", said)
	}
}

// checkPlace compares where a rank is with what it may be.
func checkPlace(t *testing.T, p placeTruth, calls []catCall, at float64) {
	t.Helper()
	off, n := *p.StartError, uint64(len(calls))
	before, state := math.Inf(-1), answer.AfterCalls
	if p.Position > 0 {
		c := calls[p.Position-1]
		before = float64(c.end()) - off - p.RelativeError*float64(c.Duration)
	}
	after, good := math.Inf(1), p.Position == n
	if p.Position < n {
		c := calls[p.Position]
		good = near(p.Start, float64(c.Start), off) && near(p.Duration, float64(c.Duration),
			p.RelativeError*float64(c.Duration)) && p.Function == c.Function
		if p.Inside {
			before, after, state = float64(c.Start)-off,
				float64(c.end())+off+p.RelativeError*float64(c.Duration), answer.InCall
		} else {
			after, state = float64(c.Start)+off, answer.BeforeCall
		}
	}
	if !good || p.State != state || at < before-0.5 || at > after+0.5 {
		t.Errorf("at %.0f, rank %d: %+v, which is from %.0f to %.0f", at, p.Rank, p, before, after)
	}
}

// checkCalls compares the times of calls that cat prints of a trace whose times are not exact.
func checkCalls(t *testing.T, path string, w truth, series bool) {
	t.Helper()
	var a struct {
		Places []placeTruth `json:"by_rank"`
	}
	decodeJSON(t, &a, "at", "--json", path, time.Millisecond.String())
	for _, c := range catCalls(t, path) {
		want := w.calls[c.Rank][c.Position]
		switch p := a.Places[c.Rank]; {
		case c.Function != want.Function || c.called("site") != want.called("site"):
			t.Fatalf("rank %d, position %d: %s, not %s", c.Rank, c.Position, c.Function, want.Function)
		case !series && (c.Start != 0 || c.Duration != 0):
			t.Fatalf("rank %d, position %d has times", c.Rank, c.Position)
		case series && (!near(float64(c.Start), float64(want.Start), *p.StartError) ||
			!near(float64(c.Duration), float64(want.Duration), p.RelativeError*float64(want.Duration))):
			t.Errorf("rank %d, position %d: at %d for %d, not at %d for %d", c.Rank, c.Position, c.Start,
				c.Duration, want.Start, want.Duration)
		}
	}
}

// An activityTruth is what profile tells of a part of a run.
type activityTruth struct {
	Source     string
	Calls      uint64
	Time       float64  `json:"time_ns"`
	Error      float64  `json:"relative_error"`
	StartError *float64 `json:"start_error_ns"`
	Ranks      []struct {
		Rank       int
		First, End uint64
		Calls      uint64
		Time       float64 `json:"time_ns"`
		Outside    float64 `json:"outside_ns"`
	} `json:"by_rank"`
}

// checkWindow compares what profile tells of a part of a run: what calls of the ranks are in it,
// and how long. It says if that is an estimate. A duration is off by a part of all of it, also if
// the call is in the part of the run for a moment only, as where its end may be so early or late.
func checkWindow(t *testing.T, path string, w truth, exact, series bool) {
	t.Helper()
	_, last := w.span()
	from, to := last/3, 2*last/3
	var a activityTruth
	line := []string{"profile", path, "--by", "rank", "--from", fmt.Sprintf("%dns", from), "--to",
		fmt.Sprintf("%dns", to)}
	decodeJSON(t, &a, append(line, "--json")...)
	if said := strings.Contains(must(t, line...), "estimated from "); said == series ||
		series != (a.Source == "series") {
		t.Errorf("profile of a part: %s, estimated: %v", a.Source, said)
	}
	if !series {
		return
	}
	if a.StartError == nil || exact != (*a.StartError+a.Error == 0) {
		t.Fatalf("profile of a part: %+v", a)
	}
	for rank, calls := range w.calls {
		n, inside, whole := uint64(0), int64(0), 0.0
		for _, c := range calls {
			if off := *a.StartError + a.Error*float64(c.Duration); float64(c.end())+off >= float64(from) &&
				float64(c.Start)-off <= float64(to) {
				whole += float64(c.Duration)
			}
			if part := min(c.end(), to) - max(c.Start, from); part > 0 || part == 0 && c.Duration == 0 {
				n, inside = n+1, inside+part
			}
		}
		got, off := a.Ranks[rank], 2**a.StartError+a.Error*whole
		if got.Rank != rank || exact && got.Calls != n || !near(got.Time, float64(inside), off) ||
			!near(got.Outside, float64(to-from-inside), off) {
			t.Errorf("profile from %d to %d: %+v, not %d calls of %d", from, to, got, n, inside)
		}
	}
}
