package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/programs"
	"github.com/reprise-trace/reprise/query"
)

// TestTogetherRefinement checks that an adaptive mesh, in which each rank has other neighbours, is
// one loop with optional messages.
func TestTogetherRefinement(t *testing.T) {
	t.Chdir(t.TempDir())
	p := programs.Refinement(64, 1, 100, 1)
	writeTrace(t, "mesh.rpz", p.Run(), p.Parts()...)
	out := must(t, "grammar", "mesh.rpz")
	first, _, _ := strings.Cut(out, "\n\nshape")
	title, _, _ := strings.Cut(first, "\n")
	if !strings.Contains(title, "one program with differences") {
		t.Error(title)
	}
	count := make(map[string]int)
	for line := range strings.Lines(first) {
		for _, what := range []string{"100 × loop", "] MPI_Irecv", "] MPI_Isend", "    MPI_Waitall", "    MPI_Allreduce"} {
			if strings.Contains(line, what) {
				count[what]++
			}
		}
	}
	if count["100 × loop"] != 1 || count["    MPI_Waitall"] != 1 || count["    MPI_Allreduce"] != 1 ||
		count["] MPI_Irecv"] == 0 || count["] MPI_Isend"] == 0 || strings.Count(first, "\n") > 40 {
		t.Errorf("%v in\n%s", count, first)
	}
}

// TestTogetherTimes checks that what has no times says where they are, if there are any.
func TestTogetherTimes(t *testing.T) {
	t.Chdir(t.TempDir())
	p := programs.Stencil2D(3, 3, 10)
	for name, p := range map[string]programs.Program{"without.rpz": p, "with.rpz": p.Timed()} {
		writeTrace(t, name, p.Run(), p.Parts()...)
		out := must(t, "grammar", name)
		if says := strings.Contains(out, "\nTimes are in the loops of a shape or of ranks, as with --shape 0 and --ranks 0.\n"); says != (name == "with.rpz") {
			t.Errorf("%s:\n%s", name, out)
		}
	}
}

// TestTogetherCounts checks that programs with differences have as many calls as all ranks make.
func TestTogetherCounts(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, p := range programs.All(16) {
		writeTrace(t, "in.rpz", p.Run(), p.Parts()...)
		want := make(map[string]uint64)
		var info struct{ Functions []query.FunctionCount }
		decodeJSON(t, &info, "info", "--json", "in.rpz")
		for _, f := range info.Functions {
			want[f.Name] = f.Calls
		}
		var a struct {
			Programs []struct{ Body []json.RawMessage }
		}
		decodeJSON(t, &a, "grammar", "--together", "--json", "in.rpz")
		got := make(map[string]uint64)
		for _, one := range a.Programs {
			addCalls(t, one.Body, got)
		}
		if len(got) == 0 || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", p.Name, got, want)
		}
	}
}

// addCalls adds the calls of parts by function.
func addCalls(t *testing.T, body []json.RawMessage, calls map[string]uint64) {
	for _, raw := range body {
		var p struct {
			Call  string
			Calls uint64
			Body  []json.RawMessage
		}
		if err := json.Unmarshal(raw, &p); err != nil {
			t.Fatal(err)
		}
		if f, _, ok := strings.Cut(p.Call, "("); ok {
			calls[f] += p.Calls
		}
		addCalls(t, p.Body, calls)
	}
}

// TestTogetherTooLong checks what grammar says of shapes that are too long to be compared.
func TestTogetherTooLong(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	most := maxTogether
	defer func() { maxTogether = most }()
	maxTogether = 5
	r := invoke(t, "", "grammar", "noisy.rpz")
	if r.status != exitOK || !strings.HasPrefix(r.stdout, "rank 0 of 600: 4 calls") || !strings.Contains(r.stderr, "too long to be shown as one program; --ranks and --shape choose") {
		t.Errorf("%d: %s%s", r.status, r.stdout, r.stderr)
	}
	if r := invoke(t, "", "grammar", "--together", "noisy.rpz"); r.status != exitFailure || !strings.Contains(r.stderr, "too long") {
		t.Errorf("--together: %d: %s%s", r.status, r.stdout, r.stderr)
	}
}
