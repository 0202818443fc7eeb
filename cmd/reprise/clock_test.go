//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/show"
)

// decodeJSON runs a command and decodes what it prints.
func decodeJSON(t *testing.T, into any, args ...string) {
	t.Helper()
	r := invoke(t, "", args...)
	if err := json.Unmarshal([]byte(r.stdout), into); err != nil || r.status != cli.ExitOK {
		t.Fatalf("%v: %v, status %d, %s", args, err, r.status, r.stderr)
	}
}

// TestAtRecorded records a program with all kinds of times, and compares what is told of
// a time with the calls one by one.
func TestAtRecorded(t *testing.T) {
	m := theMPI(t)
	m.Parallel(t)
	program := m.Build(t, "loop.c")
	for _, times := range []string{"statistics", "histograms", "all", "exact"} {
		path := filepath.Join(t.TempDir(), times+".rpz")
		if got := outcome(t, recorder(t, m, []string{"--times", times, "-q", "-o", path},
			m.Launch(2, program, "100")...)); got.status != cli.ExitOK {
			t.Fatal(got.stderr)
		}
		var at answer.At
		decodeJSON(t, &at, "at", "--json", path, "0")
		if len(at.Places) != 2 || !strings.HasPrefix(at.Places[0].Function, "MPI_Init") &&
			!strings.HasPrefix(at.Places[1].Function, "MPI_Init") {
			t.Fatalf("%s: at the beginning: %+v", times, at)
		}
		if times == "all" || times == "exact" {
			compareAt(t, path)
		} else if at.Places[0].Source.String() != times {
			t.Errorf("%s: times by %v", times, at.Places[0].Source)
		}
		var profile answer.Profile
		var activity answer.Activity
		decodeJSON(t, &profile, "profile", "--json", path)
		decodeJSON(t, &activity, "profile", "--json", "--from", "0", path)
		if activity.Calls != profile.Calls || len(activity.Functions) != len(profile.Functions) {
			t.Errorf("%s: %d calls of %d in the whole run", times, activity.Calls, profile.Calls)
		}
		total := 0.0
		for _, f := range profile.Functions {
			total += numberOf(t, string(f.Time.Sum))
		}
		if math.Abs(total-float64(activity.Time)) > 0.15*total {
			t.Errorf("%s: %v ns in calls, not %g", times, activity.Time, total)
		}
	}
}

// compareAt compares where ranks are in the middle of a run with the calls that cat shows.
func compareAt(t *testing.T, path string) {
	t.Helper()
	var calls [2][]show.JSONCall
	r := invoke(t, "", "cat", "--json", path)
	begin := int64(math.MaxInt64)
	for line := range strings.Lines(r.stdout) {
		var c show.JSONCall
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		begin = min(begin, *c.Start)
		calls[c.Rank] = append(calls[c.Rank], c)
	}
	for _, rank := range []int{0, 1} {
		for _, position := range []int{1, len(calls[rank]) / 2, len(calls[rank]) - 1} {
			c := calls[rank][position]
			if *c.Duration == 0 {
				continue // it ends when it begins
			}
			var at answer.At
			decodeJSON(t, &at, "at", "--json", "--ranks", fmt.Sprint(rank), path, fmt.Sprintf("%dns", *c.Start-begin))
			if len(at.Places) != 1 || begin != 0 {
				t.Fatalf("%+v and %+v, of a run that began at %d", at, c, begin)
			}
			p := at.Places[0]
			// What was rounded may end later than the next call begins.
			if diff := int(p.Position) - position; diff > 0 || diff < -2 || p.State != answer.InCall ||
				p.Start != *calls[rank][p.Position].Start {
				t.Errorf("%s: rank %d is at %+v, want call %d: %+v", path, rank, p, position, c)
			}
		}
	}
}

// numberOf returns a whole number of JSON.
func numberOf(t *testing.T, w string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(w, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
