package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
)

// TestEverySection flips a bit in each section of several traces, and runs each command:
// it exits 1, says what is damaged, and prints lines of the answer about the whole trace,
// or says in its answer what that is about.
func TestEverySection(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	p := programs.Stencil2D(4, 4, 10).Timed()
	run := p.Run()
	run.Origin = format.Origin{Commands: []string{"./stencil"}, Began: time.Unix(1, 0)}
	var stencil bytes.Buffer
	if err := merge.Write(&stencil, run, p.Parts()); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "stencil.rpz", stencil.String())
	kinds := make(map[string]bool)
	onMachines(t, "codecs.rpz", "machines.rpz")
	for _, name := range []string{"stencil.rpz", "timed.rpz", "noisy.rpz", "mixed.rpz", "codecs.rpz", "machines.rpz"} {
		data := readFile(t, name)
		whole, err := trace.Open(name, trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range whole.Sections() {
			if name == "machines.rpz" && s.Kind != layout.KindClocks {
				continue // they are those of another
			}
			if !tier.Nightly && kinds[layout.KindName(s.Kind)] {
				continue
			}
			kinds[layout.KindName(s.Kind)] = true
			writeFile(t, "damaged.rpz", flip(t, data, s.Kind, s.Key))
			checkDamaged(t, name, fmt.Sprintf("%s, %s number %d", name, layout.KindName(s.Kind), s.Key))
		}
		whole.Close()
	}
	for _, kind := range []string{"columns", "grammars", "time summaries", "time series", "names", "origin",
		"clocks", "signatures", "run", "interleaving"} {
		if !kinds[kind] {
			t.Errorf("no section of %s was damaged", kind)
		}
	}
}

// checkDamaged runs commands about damaged.rpz, and about the trace that it was.
func checkDamaged(t *testing.T, name, what string) {
	t.Helper()
	for _, args := range [][]string{
		{"info"}, {"profile"}, {"profile", "--by", "rank"}, {"profile", "--from", "0"},
		{"grammar", "--ranks", "all"}, {"cat", "--format", "text"},
		{"cat", "--json", "--ranks", "0-1"}, {"messages"}, {"match"}, {"waits"}, {"why"}, {"efficiency"},
		{"predict"}, {"at", "0"}, {"report", "-o", "-"}, {"codecs"},
		{"export", "-o", "-", "--format", "csv"}, {"export", "-o", "-", "--format", "pprof"},
		{"export", "-o", "-", "--format", "chrome"},
		{"diff", name},
	} {
		args = slices.Insert(slices.Clone(args), 1, "damaged.rpz")
		r := invoke(t, "", args...)
		if r.status != cli.ExitFailure || !strings.Contains(r.stderr, "damaged.rpz: ") ||
			!strings.Contains(r.stderr, "reprise repair") {
			t.Errorf("%s: %v: status %d, %s", what, args, r.status, r.stderr)
		}
		if args[0] == "cat" {
			args[1] = name
			checkLines(t, what, r.stdout, invoke(t, "", args...).stdout)
		}
	}
}

// checkLines checks that some calls are among all of them, whatever their positions, and
// as they are there or without times.
func checkLines(t *testing.T, what, some, all string) {
	t.Helper()
	known := make(map[string]int)
	for line := range strings.Lines(all) {
		known[callOf(line)]++
	}
	for line := range strings.Lines(some) {
		if known[callOf(line)]--; known[callOf(line)] < 0 {
			t.Fatalf("%s: a call that is not in the trace: %s", what, line)
		}
	}
}

// callOf returns the rank and the call of a line of cat.
func callOf(line string) string {
	if fields := strings.Split(line, "\t"); len(fields) > 2 {
		return fields[0] + " " + fields[len(fields)-1]
	}
	_, function, _ := strings.Cut(line, `"function"`)
	rank, _, _ := strings.Cut(line, `"position"`)
	return rank + function
}
