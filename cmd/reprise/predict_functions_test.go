package main

import (
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/test/programs"
)

// TestMachineFunctions checks what is said of functions with factors that there are not, or that the trace
// does not call.
func TestMachineFunctions(t *testing.T) {
	heat := readFile(t, heatTrace)
	t.Chdir(t.TempDir())
	writeFile(t, "heat.rpz", heat)
	for _, tt := range []struct {
		file, want string
		status     int
	}{
		{"[compute.functions]\nMPI_Allreduce = 0.5\n", "", cli.ExitOK},
		{"[compute.functions]\nMPI_Alltoallw = 0.5 # not called\n",
			"reprise: warning: m.toml:2: compute.functions: the trace has no calls of MPI_Alltoallw\n", cli.ExitOK},
		{"# MPI_Alreduce\n[compute]\nfunctions = { MPI_Allreduce = 1, MPI_Alreduce = 0.5 }\n",
			"reprise: m.toml:3: compute.functions: no function is called MPI_Alreduce: did you mean MPI_Allreduce?\n", cli.ExitFailure},
		{"[compute.functions]\nmpi_send = 2\n",
			"reprise: m.toml:2: compute.functions: no function is called mpi_send: did you mean *?\n", cli.ExitFailure},
		{"[compute.ranks]\n3 = 2\n\"0-7\" = 2\n", "", cli.ExitOK},
		{"[compute]\nranks = { 1 = 2, \"4-7\" = 2 }\n",
			"reprise: warning: m.toml:2: compute.ranks: the trace has none of ranks 4-7: it has 4 ranks\n", cli.ExitOK},
		{"[compute.functions]\nsolve = 2\n",
			"reprise: m.toml:2: compute.functions: no function is called solve\n", cli.ExitFailure},
	} {
		writeFile(t, "m.toml", tt.file)
		r := invoke(t, "", "predict", "heat.rpz", "-m", "m.toml", "-o", "out.rpz")
		if r.status != tt.status || !matches(r.stderr, tt.want) {
			t.Errorf("%q: status %d, %q, want %q", tt.file, r.status, r.stderr, tt.want)
		}
	}
}

// TestHours checks that a replay that takes hours is said to take so.
func TestHours(t *testing.T) {
	t.Chdir(t.TempDir())
	p := programs.Stencil2D(2, 2, 20_000).Timed()
	writeTrace(t, "long.rpz", p.Run(), p.Parts()...)
	defer func(after, from time.Duration) { cli.JudgedAfter, cli.SaidFrom = after, from }(cli.JudgedAfter, cli.SaidFrom)
	cli.JudgedAfter, cli.SaidFrom = 0, 0
	const want = ": if none of the rest can be skipped, all take some "
	for _, command := range [][]string{{"predict", "--critical-path"}, {"predict", "-o", "out.rpz"}, {"efficiency"}} {
		r := invoke(t, "", append(command, "long.rpz")...)
		if r.status != cli.ExitOK || strings.Count(r.stderr, want) > 1 ||
			!strings.Contains(r.stderr, want) && command[0] == "predict" {
			t.Errorf("%s: %+v", command, r)
		}
	}
	cli.SaidFrom = time.Hour
	must(t, "predict", "--critical-path", "long.rpz")
}
