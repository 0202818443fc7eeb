package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/show"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/tracer"
)

// TestTogetherRefinement checks that an adaptive mesh, in which each rank has other neighbours, is
// one loop in which there are more or fewer messages.
func TestTogetherRefinement(t *testing.T) {
	t.Chdir(t.TempDir())
	p := programs.Refinement(tier.Number(16, 64), 4, 100, 1)
	writeTrace(t, "mesh.rpz", p.Run(), p.Parts()...)
	got := loopsOf(must(t, "grammar", "mesh.rpz", "--wide"))
	const want = "400 × loop\nMPI_Irecv\nMPI_Isend\nMPI_Waitall\nMPI_Allreduce\n"
	if _, after, _ := strings.Cut(got, "MPI_Comm_rank\n"); after != want+"MPI_Finalize\n" {
		t.Errorf("%s, want %s", got, want)
	}
}

// loopsOf returns loops and functions line by line, without their arguments and how often calls
// come.
func loopsOf(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if before, _, ok := strings.Cut(line, "("); ok && strings.Contains(before, "MPI_") {
			b.WriteString(before[strings.LastIndex(before, " ")+1:] + "\n")
		} else if before, _, ok := strings.Cut(line, " of "); ok && strings.HasSuffix(before, "loop") {
			b.WriteString(before + "\n")
		}
	}
	return b.String()
}

// TestTogetherPrograms checks that shapes that have little in common are several programs, and that
// those of one are written once however many they are.
func TestTogetherPrograms(t *testing.T) {
	t.Chdir(t.TempDir())
	trips, gather := programs.TripCounts(100, 50), programs.Gather(programs.Binomial, 16, 10)
	writeTrace(t, "trips.rpz", trips.Run(), trips.Parts()...)
	if out := must(t, "grammar", "trips.rpz"); !strings.HasPrefix(out,
		"program of shapes 0-99, ranks 0-99: ") || !strings.Contains(out, "\n  50+rank × loop of 3 calls:\n") ||
		strings.Count(out, "MPI_Isend") != 1 {
		t.Error(out)
	}
	writeTrace(t, "gather.rpz", gather.Run(), gather.Parts()...)
	out := must(t, "grammar", "gather.rpz")
	if first, second, ok := strings.Cut(out, "\n\nprogram of "); !ok ||
		!strings.HasPrefix(first, "program of shape 0, rank 0: ") ||
		!strings.HasPrefix(second, "shapes 1-4, ranks 1-15: ") {
		t.Error(out)
	}
}

// TestTogetherPolls checks that tests that fail until one succeeds are one line, whatever their
// number, also where it is so long that calls are told apart by their functions.
func TestTogetherPolls(t *testing.T) {
	t.Chdir(t.TempDir())
	const ranks, iterations = 8, 60
	for _, tags := range []int64{1, 150} { // different messages
		var parts []merge.Part
		random, failed, most := rand.New(rand.NewPCG(1, 2)), 0, 0
		for rank := range ranks {
			var r tracer.Recorder
			send := r.Declare(cst.Function{Name: "MPI_Isend",
				Params: []cst.Param{{Name: "tag", Type: cst.Type{Kind: cst.KindTag}}}})
			test := r.Declare(cst.Function{Name: "MPI_Test",
				Params: []cst.Param{{Name: "flag", Type: cst.Type{Kind: cst.KindInt}}}})
			for i := range int64(iterations) {
				r.Call(send, cst.Tag((i*i+int64(rank))%tags))
				k := random.IntN(10)
				for range k {
					r.Call(test, cst.Int(0))
				}
				r.Call(test, cst.Int(1))
				failed, most = failed+k, max(most, k)
			}
			parts = append(parts, r.Finish(rank))
		}
		writeTrace(t, "polls.rpz", merge.Run{Ranks: ranks}, parts...)
		out := must(t, "grammar", "polls.rpz", "--wide")
		want := fmt.Sprintf("    0…%d × failing MPI_Test(flag=0), %.2f on average\n    MPI_Test(flag=1)\n",
			most, float64(failed)/(ranks*iterations))
		if !strings.Contains(out, "\n  60 × loop of") || !strings.HasSuffix(out, want) ||
			strings.Count(out, "\n") != 6 {
			t.Errorf("%d tags:\n%s, want %s", tags, out, want)
		}
	}
}

// TestTogetherTimes checks that what has no times says where they are, if there are any.
func TestTogetherTimes(t *testing.T) {
	t.Chdir(t.TempDir())
	p := programs.Stencil2D(3, 3, 10)
	for name, p := range map[string]programs.Program{"without.rpz": p, "with.rpz": p.Timed()} {
		writeTrace(t, name, p.Run(), p.Parts()...)
		out := must(t, "grammar", name)
		if says := strings.Contains(out,
			"\nTimes are in the loops of a shape or of ranks, as with --shape 0 and --ranks 0.\n"); says != (name == "with.rpz") {
			t.Errorf("%s:\n%s", name, out)
		}
	}
}

// TestTogetherCounts checks that programs with differences have as many calls as all ranks make.
func TestTogetherCounts(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, p := range tier.Some(programs.All(16), 4) {
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
	most := show.MaxTogether
	defer func() { show.MaxTogether = most }()
	show.MaxTogether = 3
	r := invoke(t, "", "grammar", "noisy.rpz")
	if r.status != cli.ExitOK || !strings.HasPrefix(r.stdout, "rank 0 of 600: 4 calls") ||
		!strings.Contains(r.stderr, "too long to be shown as one program; --ranks and --shape choose") {
		t.Errorf("%d: %s%s", r.status, r.stdout, r.stderr)
	}
	if r := invoke(t, "", "grammar", "--together", "noisy.rpz"); r.status != cli.ExitFailure ||
		!strings.Contains(r.stderr, "too long") {
		t.Errorf("--together: %d: %s%s", r.status, r.stdout, r.stderr)
	}
}
