package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/test/programs"
)

// TestSaturated asks for sums that exceed 64 bits: they are marked, and nothing is
// divided by them.
func TestSaturated(t *testing.T) {
	t.Chdir(t.TempDir())
	p := programs.Stencil2D(3, 3, 4e17).Timed()
	writeTrace(t, "many.rpz", p.Run(), p.Parts()...)
	q := programs.Stencil2D(3, 3, 4e17-1)
	writeTrace(t, "fewer.rpz", q.Run(), q.Parts()...)
	const most = "≥ 18,446,744,073,709,551,615"
	for _, tt := range []struct {
		args string
		want []string
		not  string
	}{
		{"info many.rpz", []string{"many.rpz: 9 ranks, " + most + " calls",
			"MPI_Irecv      ≥ 9,223,372,036,854,775,807  "}, "52.0 %"},
		{"profile many.rpz", []string{"many.rpz: 9 ranks, " + most + " calls\n"}, "%"},
		{"profile many.rpz --by rank", []string{"many.rpz: 9 ranks, " + most + " calls\n"}, "%"},
		{"profile many.rpz --by signature", []string{"many.rpz: 9 ranks, " + most + " calls\n"}, "19.5 %"},
		{"messages many.rpz", []string{"many.rpz: 9,600,000,000,000,000,000 messages, ≥ 18.4 EB\n",
			"400,000,000,000,000,000  4.2 %  ≥ 18.4 EB\n"}, "100.0 %"},
		{"messages many.rpz --by size", []string{"50.0 %  ≥ 18.4 EB\n"}, "100.0 %"},
		{"messages many.rpz --by communicator", []string{most + " ", " ≥ 18.4 EB  "}, "%"},
		{"matrix many.rpz -o - --format svg",
			[]string{"messages, ≥ 18.4 EB; collective ≥ 18,446,744,073,709,551,615 blocks, ≥ 18.4 EB<",
				"to another, the darkest: ≥ 18.4 EB<"}, "≥ ≥"},
		{"matrix many.rpz -o - --format csv",
			[]string{",18446744073709551615,0,400000000000000000,3200000000000000000,0\n"}, "≥"},
		{"matrix many.rpz -o - --format svg --of messages", []string{"from one rank to another<"}, "darkest"},
	} {
		got := must(t, strings.Fields(tt.args)...)
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: there is no %q in:\n%s", tt.args, want, got)
			}
		}
		if strings.Contains(got, tt.not) {
			t.Errorf("%s: there is %q in:\n%s", tt.args, tt.not, got)
		}
	}
	var i struct {
		Calls     uint64
		Functions []struct {
			Calls uint64
			Time  struct {
				Total *float64 `json:"time_ns"`
				Mean  *float64 `json:"mean_ns"`
				Max   int64    `json:"max_ns"`
			}
		}
	}
	if err := json.Unmarshal([]byte(must(t, "profile", "many.rpz", "--json")), &i); err != nil ||
		i.Calls != math.MaxUint64 {
		t.Fatalf("%d calls, %v", i.Calls, err)
	}
	for _, f := range i.Functions {
		if (f.Time.Total != nil) != (f.Calls < math.MaxInt64) ||
			(f.Time.Mean != nil) != (f.Time.Total != nil) || f.Time.Max == 0 {
			t.Errorf("%+v, %+v", f, f.Time)
		}
	}
	r := invoke(t, "", "diff", "many.rpz", "fewer.rpz")
	if r.status != cli.ExitFailure || !strings.Contains(r.stdout, "≥ 18.4 EB in A") ||
		strings.Contains(r.stdout, "messages are the same") {
		t.Errorf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}
}
