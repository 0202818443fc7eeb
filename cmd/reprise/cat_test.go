package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/test/programs"
)

// filtered returns the lines that are of some functions, which function finds in a line.
func filtered(lines string, functions []string, function func(line string) string) string {
	var kept strings.Builder
	for line := range strings.Lines(lines) {
		if slices.Contains(functions, function(line)) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// functionOf returns the function of a call in a format.
func functionOf(t *testing.T, format string) func(line string) string {
	return func(line string) string {
		switch format {
		case "json":
			var c struct{ Function string }
			if err := json.Unmarshal([]byte(line), &c); err != nil {
				t.Fatal(err)
			}
			return c.Function
		case "ti":
			return strings.Fields(line)[1]
		}
		fields := strings.Split(line, "\t")
		name, _, _ := strings.Cut(fields[len(fields)-1], "(")
		return name
	}
}

// TestCatFunction compares calls of some functions with those of all output, in every
// format, of traces in the order of their ranks and of their lines, with and without times.
func TestCatFunction(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	writeTimed(t)
	p := programs.Refinement(9, 5, 20, 1)
	writeTrace(t, "refined.rpz", p.Run(), p.Parts()...)
	for _, tt := range []struct {
		trace     string
		functions string
		formats   []string
		options   []string
	}{
		{"ring.rpz", "allreduce", []string{"ti", "text", "json"},
			[]string{"", "--ranks 1-2", "--ranks all --first 30", "--first 300"}},
		{"mixed.rpz", "send,finalize", []string{"ti", "text", "json"}, []string{"", "--ranks 1-2", "--first 100"}},
		{"noisy.rpz", "compute", []string{"ti", "text", "json"}, []string{"", "--ranks 3-5"}},
		{"timed.rpz", "wait", []string{"text", "json"},
			[]string{"", "--ranks 1", "--from 1ms --to 2ms", "--clock", "--ranks 0 --first 3 --to 3ms"}},
		{"untimed.rpz", "send", []string{"text", "json"}, []string{"", "--ranks 0-1"}},
		{"refined.rpz", "MPI_Allreduce,MPI_Waitall", []string{"text", "json"}, []string{"", "--ranks 8", "--absolute"}},
	} {
		for _, format := range tt.formats {
			for _, options := range tt.options {
				if strings.Contains(options, "--absolute") && format == "json" {
					continue
				}
				args := append([]string{"cat", tt.trace, "--format", format}, strings.Fields(options)...)
				all := invoke(t, "", args...)
				want := filtered(all.stdout, strings.Split(tt.functions, ","), functionOf(t, format))
				got := invoke(t, "", append(args, "--function", tt.functions)...)
				if got.stdout != want || got.status != all.status || want == "" || want == all.stdout {
					t.Errorf("%q: status %d, %d bytes, want %d of %d", args, got.status, len(got.stdout),
						len(want), len(all.stdout))
				}
				lines := strings.SplitAfter(want, "\n")
				first := strings.Join(lines[:min(2, len(lines)-1)], "")
				if got := invoke(t, "", append(args, "--function", tt.functions, "--count",
					"2")...); !strings.HasPrefix(got.stdout, first) {
					t.Errorf("%q --count 2: %q, want %q", args, got.stdout, first)
				}
			}
		}
	}
}

// TestCatFunctionSplit compares the files of ranks with those of all calls.
func TestCatFunctionSplit(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	must(t, "cat", "mixed.rpz", "--split", "all")
	must(t, "cat", "mixed.rpz", "--split", "some", "--function", "recv,init")
	names, err := filepath.Glob(filepath.Join("all", "*"))
	if err != nil || len(names) < 5 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		want := readFile(t, name)
		if strings.Contains(want, " init\n") {
			want = filtered(want, []string{"recv", "init"}, functionOf(t, "ti"))
		}
		if got := readFile(t, filepath.Join("some", filepath.Base(name))); got != want {
			t.Errorf("%s: %d bytes, want %d", name, len(got), len(want))
		}
	}
}

// TestCatFunctionCost asks for few calls of 10¹⁹.
func TestCatFunctionCost(t *testing.T) {
	t.Chdir(t.TempDir())
	p := programs.Stencil2D(3, 3, 4e17)
	writeTrace(t, "many.rpz", p.Run(), p.Parts()...)
	begin := time.Now()
	got := must(t, "cat", "many.rpz", "--function", "MPI_Init,MPI_Finalize")
	if n := strings.Count(got, "\n"); n != 18 || !strings.Contains(got, "8\t") || time.Since(begin) > 10*time.Second {
		t.Errorf("%d lines in %v:\n%s", n, time.Since(begin), got)
	}
}

// TestCatFunctionErrors asks for functions that are not there.
func TestCatFunctionErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	r := invoke(t, "", "cat", "ring.rpz", "--function", "send,MPI_Send")
	if want := "reprise: ring.rpz: no call of MPI_Send: the trace has calls of allreduce, finalize, init, recv, send\n"; r.status != cli.ExitFailure || r.stderr != want {
		t.Errorf("status %d, %q, want %q", r.status, r.stderr, want)
	}
	if r := invoke(t, "", "cat", "ring.rpz", "--split", "dir", "--function", "MPI_Send"); r.status != cli.ExitFailure {
		t.Errorf("status %d, %q", r.status, r.stderr)
	}
	if _, err := os.Stat("dir"); err == nil {
		t.Error("a directory was made")
	}
	if r := invoke(t, "", "cat", "ring.rpz", "--function", ""); r.status != cli.ExitUsage ||
		!strings.HasPrefix(r.stderr, "reprise: --function needs the names of functions\n") {
		t.Errorf("status %d, %q", r.status, r.stderr)
	}
}

// TestCatEstimated chooses calls by times that are estimates: those that at finds there.
func TestCatEstimated(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	writeTimed(t)
	r := invoke(t, "", "cat", "summed.rpz", "--from", "1ms", "--to", "1050us", "--ranks", "2")
	const warning = "reprise: warning: summed.rpz does not have the times of every call: --from and --to choose by times that are estimated from statistics\n"
	if r.status != cli.ExitOK || r.stderr != warning || strings.Count(r.stdout, "\n") > 3 {
		t.Errorf("%+v", r)
	}
	var at struct {
		Places []struct{ Position uint64 } `json:"by_rank"`
	}
	if err := json.Unmarshal([]byte(must(t, "at", "summed.rpz", "1ms", "--ranks", "2", "--json")), &at); err != nil {
		t.Fatal(err)
	}
	var first struct{ Position uint64 }
	line, _, _ := strings.Cut(invoke(t, "", "cat", "summed.rpz", "--from", "1ms", "--to", "1050us", "--ranks",
		"2", "--json").stdout, "\n")
	if err := json.Unmarshal([]byte(line), &first); err != nil || first.Position != at.Places[0].Position {
		t.Errorf("%v: the first call is %d, at has %d", err, first.Position, at.Places[0].Position)
	}
	if r := invoke(t, "", "cat", "ring.rpz", "--from", "1ms"); r.status != cli.ExitFailure ||
		r.stderr != "reprise: ring.rpz: the trace has no times: reprise predict -o writes one with those of a machine\n" {
		t.Errorf("without times: %+v", r)
	}
}
