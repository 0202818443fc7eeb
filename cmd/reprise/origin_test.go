package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/tracer"
)

// TestOrigin checks that info shows who made a trace, that merge keeps it, and that diff
// leaves it out.
func TestOrigin(t *testing.T) {
	t.Chdir(t.TempDir())
	ping := tracer.Func1[tracer.Rank]("ping", "dest")
	for run, begin := range map[string]int64{"first": 1000, "second": 5000} {
		var parts []string
		for rank := range 2 {
			parts = append(parts, filepath.Join(".", run+string(rune('0'+rank))+".part.rpz"))
			p, err := tracer.Open(tracer.Config{Rank: rank, Ranks: 2, Path: parts[rank], Run: run,
				Clock: func() int64 { return begin }})
			if err != nil {
				t.Fatal(err)
			}
			thread := p.Thread()
			ping.End(thread, thread.Begin(), tracer.Rank(1-rank))
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := merge.Files(run+".rpz", 0, parts...); err != nil {
			t.Fatal(err)
		}
	}
	info := must(t, "info", "second.rpz")
	for _, want := range []string{"run: second\n", "command: ", "hosts: ", "versions: ",
		"began: " + time.Now().UTC().Format("2006-")} {
		if !strings.Contains(info, "\n"+want) {
			t.Errorf("info has no %q:\n%s", want, info)
		}
	}
	if json := must(t, "info", "--json", "first.rpz"); !strings.Contains(json, `"runs": [`) {
		t.Error(json)
	}
	if out := must(t, "diff", "first.rpz", "second.rpz"); !strings.Contains(out, "equal") {
		t.Error(out)
	}
	r := invoke(t, "", "merge", "first0.part.rpz", "second1.part.rpz", "-o", "both.rpz")
	if r.status != cli.ExitFailure || !strings.Contains(r.stderr, "first0.part.rpz") ||
		!strings.Contains(r.stderr, "second1.part.rpz") {
		t.Errorf("parts of two runs: status %d: %s", r.status, r.stderr)
	}
}
