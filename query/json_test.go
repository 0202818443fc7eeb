package query

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/tracer"
)

// TestJSON checks that results are their JSON: numbers stay numbers, and what is not known
// is null.
func TestJSON(t *testing.T) {
	calls := []timedCall{{0, 0, 0, 5}, {1, 1, 10, 7}, {0, 0, 20, 9}}
	trace := record(t, func(int) tracer.Options { return tracer.Options{} }, [][]timedCall{calls, calls, calls})
	times, err := OpenTimes(trace)
	if err != nil {
		t.Fatal(err)
	}
	activity, err := times.Activity(t.Context(), 0, math.MaxInt64, Options{})
	if err != nil {
		t.Fatal(err)
	}
	sites, err := times.Imbalance()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := OpenProfile(t.Context(), trace, Options{})
	if err != nil {
		t.Fatal(err)
	}
	places, err := times.At(t.Context(), 10, Options{})
	if err != nil {
		t.Fatal(err)
	}
	model := openModel(t, openProgram(t, programs.Stencil2D(2, 2, 5)))
	messages, err := OpenMessages(t.Context(), model, 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	match, err := OpenMatch(t.Context(), model, Options{})
	if err != nil {
		t.Fatal(err)
	}
	match.Unmatched = []Unmatched{{Channel: Channel{match.Instances[0].Communicator, -1, 2, -2}, Direction: 1,
		Rank: 2, Count: 3}}
	for _, tt := range []struct {
		result any
		want   []string
	}{
		{activity, []string{`"to_ns":null`, `"source":"statistics"`, `"outside_ns":null`,
			`"by_rank":[{"rank":0,"first":0,"end":3`, `"functions":[{"function":`}},
		{sites, []string{`"wait_ns":`, `"time_ns":`, `"rank_of_max":`, `"exact":false`}},
		{profile, []string{`"ranks":3,"calls":`, `"time":{"time_ns":`, `"rank_set":"0-2"`}},
		{places, []string{`"rank":0,"source":"statistics"`, `"position":1,"inside":false,"start_ns":12`}},
		{messages.Traffic, []string{`"run_ranks":4`, `"pairs":[{"from":0,"to":1,"messages":`}},
		{messages.Sizes, []string{`"sizes":[{"message_bytes":`}},
		{messages.Communicators, []string{`"communicator":"world","members":4,"ranks":4`, `"collectives":{"calls":`}},
		{match, []string{`"communicator":"world","from":-1,"to":2,"tag":-2,"direction":"send","rank":2,"count":3`, `"member_set":"0-3","absent_set":"","instances":`}},
	} {
		text, err := json.Marshal(tt.result)
		if err != nil {
			t.Errorf("%T: %v", tt.result, err)
		}
		for _, want := range tt.want {
			if !strings.Contains(string(text), want) {
				t.Errorf("%T: no %s in %s", tt.result, want, text)
			}
		}
	}
}
