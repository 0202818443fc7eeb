//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/launching"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/merging"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/record"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/interpose"
	"github.com/reprise-trace/reprise/sequitur"
)

// writeParts writes the parts of n ranks that send around a ring to directories, one after the other, as
// record names them.
func writeParts(t *testing.T, n int, directories ...string) {
	t.Helper()
	for rank := range n {
		directory := directories[rank%len(directories)]
		if err := os.MkdirAll(directory, 0o777); err != nil {
			t.Fatal(err)
		}
		next, before := (rank+1)%n, (rank+n-1)%n
		ring := fmt.Sprintf(
			"%[1]d isend %[2]d 0 1000 0\n%[1]d recv %[3]d 0 1000 0\n%[1]d wait %[1]d %[2]d 0\n", rank, next, before)
		if rank%3 == 0 {
			ring += fmt.Sprintf("%d compute %d\n", rank, rank*rank*7919)
		}
		writeFile(t, "one.txt", fmt.Sprintf("%d init\n", rank)+strings.Repeat(ring, 20+rank%4)+
			fmt.Sprintf("%d finalize\n", rank))
		must(t, "compress", "--part", "--size", fmt.Sprint(n), "one.txt", "-o", merging.PartName(directory, rank))
	}
}

// mergeTree returns the command that merges a directory with the processes of a launcher.
func mergeTree(t *testing.T, m *mpitest.MPI, ranks int, flags ...string) *exec.Cmd {
	t.Helper()
	launch := m.Launch(ranks, "")
	cmd := process(t, append(append(append([]string{"merge"}, flags...), "--"), launch[:len(launch)-1]...)...)
	cmd.Env = append(mpitest.Environment(t), runMain+"=1", "MPICC="+m.CC)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// TestMergeTree checks that processes of MPI merge parts to the same bytes as merge alone does, in trees of
// different radix and of more and fewer processes than parts.
func TestMergeTree(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		t.Chdir(t.TempDir())
		writeParts(t, 13, "parts")
		must(t, "merge", "parts", "-o", "alone.rpz")
		for _, tree := range tier.Some([]struct{ ranks, radix int }{{1, 2}, {4, 2}, {6, 3}, {9, 4}, {11, 8},
			{16, 2}}, 2) {
			got := outcome(t, mergeTree(t, m, tree.ranks, "parts", "-o", "out.rpz", "--radix", fmt.Sprint(tree.radix)))
			want := strings.ReplaceAll(must(t, "merge", "parts", "-o", "alone.rpz"), "alone", "out") +
				"the parts are still in parts of the nodes: --remove removes them once the trace is written\n"
			if got.status != 0 || got.stderr != "" || got.stdout != want {
				t.Errorf("%+v: %+v", tree, got)
			}
			if readFile(t, "out.rpz") != readFile(t, "alone.rpz") {
				t.Errorf("%+v: another trace", tree)
			}
		}
		if names, err := filepath.Glob("*"); err != nil || len(names) != 4 {
			t.Errorf("%v: %v", names, err)
		}
	})
}

// TestMergeTreeEffort checks that processes of MPI search with the given effort, and find what merge alone finds with it.
func TestMergeTreeEffort(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		t.Chdir(t.TempDir())
		if err := os.Mkdir("parts", 0o777); err != nil {
			t.Fatal(err)
		}
		const calls = 80_000 // of two ranks, which take more to mix than one merge spends
		random := rand.New(rand.NewPCG(1, 2))
		for rank := range 2 {
			var lines strings.Builder
			fmt.Fprintf(&lines, "%d init\n", rank)
			for range calls {
				fmt.Fprintf(&lines, "%d send %d %d %d 1\n", rank, 1-rank, random.IntN(4),
					int(200*random.ExpFloat64()))
			}
			fmt.Fprintf(&lines, "%d finalize\n", rank)
			writeFile(t, "one.txt", lines.String())
			must(t, "compress", "--part", "--size", "2", "one.txt", "-o", merging.PartName("parts", rank))
		}
		must(t, "merge", "parts", "-o", "least.rpz")
		must(t, "merge", "parts", "-o", "alone.rpz", "--effort", "3")
		got := outcome(t, mergeTree(t, m, 2, "parts", "-o", "out.rpz", "--effort", "3"))
		if got.status != 0 || got.stderr != "" || readFile(t, "out.rpz") != readFile(t, "alone.rpz") {
			t.Errorf("another trace: %+v", got)
		}
		master, terminal := openTerminal(t)
		cmd := mergeTree(t, m, 2, "parts", "-o", "out.rpz", "--effort", "3")
		cmd.Stderr = terminal
		err := cmd.Run()
		terminal.Close()
		said, _ := io.ReadAll(master) // its end is an error
		master.Close()
		if err != nil || !strings.Contains(string(said), "  step ") || strings.Contains(string(said), "reprise-") {
			t.Errorf("%v, %q on the terminal", err, said)
		}
		if len(readFile(t, "alone.rpz")) >= len(readFile(t, "least.rpz")) {
			t.Error("more effort finds nothing smaller")
		}
	})
}

// TestMergeTreeLate checks that launchers are ended that take too long, before and after the trace is there,
// also those that do not end when they are told to, with what they have started.
func TestMergeTreeLate(t *testing.T) {
	defer func(m, e, p time.Duration) {
		merging.MergeTime, merging.EndTime, launching.Patience = m, e, p
	}(merging.MergeTime, merging.EndTime, launching.Patience)
	const hangs, stays = "exec sleep 1000", "trap '' TERM; sleep 1000 & wait; sleep 1000"
	said := "echo '[1] " + merging.MergedParts + "3'; "
	for _, tt := range []struct {
		name, script string
		end          time.Duration // the other time is long
		late         bool
		parts        int
	}{
		{"Ends", said, time.Hour, false, 3},
		{"NoTrace", hangs, 0, true, -1},
		{"NoTraceStays", stays, 0, true, -1},
		{"Trace", said + hangs, time.Millisecond, true, 3},
		{"TraceStays", said + stays, time.Millisecond, true, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			merging.MergeTime, merging.EndTime, launching.Patience = time.Hour, tt.end, 20*time.Millisecond
			if tt.end == 0 {
				merging.MergeTime = time.Millisecond
			}
			cmd := cli.NewCommand("merge")
			cmd.SetContext(t.Context())
			s := merging.Summary{Parts: -1}
			err := s.Launch(cmd, []string{"sh", "-c", tt.script})
			if late := errors.As(err, new(merging.LateError)); late != tt.late || !late && err != nil ||
				s.Parts != tt.parts {
				t.Errorf("%v, %d parts", err, s.Parts)
			}
		})
	}
}

// TestMergeTreeHangs merges with a launcher that hangs when the trace is there, as in MPI_Finalize.
func TestMergeTreeHangs(t *testing.T) {
	defer func(e time.Duration) { merging.EndTime = e }(merging.EndTime)
	merging.EndTime = time.Millisecond
	m := theMPI(t)
	t.Setenv("MPICC", m.CC)
	t.Chdir(t.TempDir())
	writeParts(t, 3, "parts")
	must(t, "merge", "parts", "-o", "alone.rpz")
	self := process(t)
	t.Setenv(runMain, "1")
	launch := m.Launch(2, "")
	script := text.ShellLine(launch[:len(launch)-1]) + ` "$@"; exec sleep 1000`
	var stderr bytes.Buffer
	cmd := cli.NewCommand("merge")
	cmd.SetContext(t.Context())
	cmd.SetErr(&stderr)
	s := merging.Summary{Input: []string{"parts"}, Output: "out.rpz"}
	for _, e := range mpitest.LaunchEnvironment(t) {
		name, value, _ := strings.Cut(e, "=")
		t.Setenv(name, value)
	}
	err := merging.WithMPI(cmd, []string{"sh", "-c", script, self.Path}, &s,
		&merging.TreeOptions{Radix: 2, Mpicc: m.CC})
	if err != nil || readFile(t, "out.rpz") != readFile(t, "alone.rpz") ||
		!strings.Contains(stderr.String(),
			"sh had not ended after 1ms, and was ended; the trace is complete, and parts may be left in parts of the nodes: rm -r parts") {
		t.Errorf("%v: %s", err, &stderr)
	}
}

// TestMergeTreeNodes merges parts of two nodes: what MPICH takes for such, with one directory for both and
// with one for each.
func TestMergeTreeNodes(t *testing.T) {
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		if m.Name != "mpich" {
			t.Skip("only MPICH can take the processes of one machine for those of two")
		}
		t.Chdir(t.TempDir())
		writeParts(t, 7, "shared")
		writeParts(t, 7, "node0/own", "node1/own")
		must(t, "merge", "shared", "-o", "alone.rpz")
		output, err := filepath.Abs("out.rpz")
		if err != nil {
			t.Fatal(err)
		}
		program, err := interpose.BuildReducer(t.Context(), m.CC, mpitest.Cache(), nil)
		if err != nil {
			t.Fatal(err)
		}
		handed, err := launching.Hand(program.Path, program.MPI, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct{ nodes, directory, wrapper string }{
			{"MPIR_CVAR_ODD_EVEN_CLIQUES=1", "shared", `exec "$@"`},
			{"MPIR_CVAR_NOLOCAL=1", "shared", `exec "$@"`},
			{"MPIR_CVAR_ODD_EVEN_CLIQUES=1", "own", `cd node$((PMI_RANK % 2)) && exec "$@"`},
		} {
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			line := m.Launch(5, "sh", "-c", tt.wrapper, "sh", self, "merge", "--member", "--remove",
				"--program", handed.String(), "-o", output, tt.directory)
			cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
			cmd.Env = append(mpitest.Environment(t), runMain+"=1", tt.nodes)
			got := outcome(t, cmd)
			said := slices.DeleteFunc(strings.SplitAfter(got.stdout, "\n"), new(cli.Progress).Hear) // if it takes long
			if got.status != 0 || strings.Join(said, "") != "reprise-merged\t7\n" || got.stderr != "" {
				t.Errorf("%+v: %+v", tt, got)
			}
			if readFile(t, "out.rpz") != readFile(t, "alone.rpz") {
				t.Errorf("%+v: another trace", tt)
			}
			for _, directory := range []string{"shared", "node0/own", "node1/own"} {
				if _, err := os.Stat(directory); filepath.Base(directory) == tt.directory && err == nil {
					t.Errorf("%+v: %s is still there", tt, directory)
				}
			}
			writeParts(t, 7, "shared")
		}
	})
}

// TestMergeTreeMissing merges what is left where a part is damaged and one is missing, and refuses parts of
// two runs.
func TestMergeTreeMissing(t *testing.T) {
	m := theMPI(t)
	t.Chdir(t.TempDir())
	writeParts(t, 9, "parts")
	damaged := readFile(t, "parts/rank0000003.part.rpz")
	if err := os.Remove("parts/rank0000003.part.rpz"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove("parts/rank0000007.part.rpz"); err != nil {
		t.Fatal(err)
	}
	must(t, "merge", "parts", "-o", "alone.rpz", "--json")
	writeFile(t, "parts/rank0000003.part.rpz", damaged[:len(damaged)/2])
	writeFile(t, "parts/rank16777216.part.rpz", damaged)
	got := outcome(t, mergeTree(t, m, 4, "parts", "-o", "out.rpz", "--remove")) // not if a part was left out
	want := regexp.MustCompile(
		`^reprise: warning: left out: parts/rank16777216\.part\.rpz: processes merge parts of ranks below 16777216\nreprise: warning: \S+: left out: parts/rank0000003\.part\.rpz: .*\nreprise: warning: in no part: ranks 3-7:4\n$`)
	if got.status != 0 || !want.MatchString(got.stderr) || readFile(t, "out.rpz") != readFile(t, "alone.rpz") {
		t.Errorf("%+v", got)
	}
	if names, err := filepath.Glob("parts/rank*"); err != nil || len(names) != 9 {
		t.Errorf("%v: %v", names, err)
	}
	writeFile(t, "parts/rank0000003.part.rpz", readFile(t, "parts/rank0000002.part.rpz"))
	got = outcome(t, mergeTree(t, m, 4, "parts", "-o", "out.rpz"))
	if got.status != cli.ExitFailure ||
		!strings.Contains(got.stderr,
			"rank 2 is in parts/rank0000002.part.rpz and in parts/rank0000003.part.rpz\n") ||
		strings.Contains(got.stderr, "merges them") {
		t.Errorf("a rank twice: %+v", got)
	}
	writeRuns(t, "runs")
	got = outcome(t, mergeTree(t, m, 2, "runs", "-o", "out.rpz"))
	if got.status != cli.ExitFailure ||
		!strings.Contains(got.stderr, "x in runs/rank0000000.part.rpz; y in runs/rank0000001.part.rpz\n") ||
		strings.Contains(got.stderr, "merges them") {
		t.Errorf("two runs: %+v", got)
	}
	if readFile(t, "out.rpz") != readFile(t, "alone.rpz") {
		t.Error("the output was changed")
	}
	for _, output := range []string{"out.rpz", "fresh.rpz"} { // of before, and none
		cmd := process(t, "merge", "parts", "-o", output, "--mpicc", m.CC, "--", "true")
		if got := outcome(t, cmd); got.status != cli.ExitFailure ||
			!strings.Contains(got.stderr, "true has ended, and there is no trace") {
			t.Errorf("a launcher that starts nothing: %+v", got)
		}
	}
	if names, err := filepath.Glob("*"); err != nil || len(names) != 5 {
		t.Errorf("%v: %v", names, err)
	}
}

// writeRuns writes parts of the runs x and y to a directory.
func writeRuns(t *testing.T, directory string) {
	t.Helper()
	if err := os.Mkdir(directory, 0o777); err != nil {
		t.Fatal(err)
	}
	for rank, run := range []string{"x", "y"} {
		var table cst.Table
		var grammar sequitur.Builder
		grammar.Append(table.Intern(table.Declare(cst.Function{Name: "MPI_Init"})))
		var a merge.Accumulator
		if err := a.Add(merge.Part{Rank: rank, Table: &table, Grammar: grammar.Finish()}); err != nil {
			t.Fatal(err)
		}
		if err := a.Describe(merge.Run{Origin: format.Origin{Runs: []string{run}}}); err != nil {
			t.Fatal(err)
		}
		var part bytes.Buffer
		if err := a.WritePart(&part); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(directory, fmt.Sprintf("rank%07d.part.rpz", rank)), part.String())
	}
}

// TestMergeTreeAwaits checks that a recorder that still writes its part is waited for.
func TestMergeTreeAwaits(t *testing.T) {
	m := theMPI(t)
	t.Chdir(t.TempDir())
	writeParts(t, 4, "parts")
	must(t, "merge", "parts", "-o", "alone.rpz")
	late := "parts/rank0000001.part.rpz"
	part := readFile(t, late)
	if err := os.Remove(late); err != nil {
		t.Fatal(err)
	}
	lock, err := record.LockParts("parts")
	if err != nil {
		t.Fatal(err)
	}
	cmd := mergeTree(t, m, 2, "parts", "-o", "out.rpz")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second) // it makes no difference if the processes start later
	writeFile(t, late, part)
	lock.Close()
	if err := cmd.Wait(); err != nil || readFile(t, "out.rpz") != readFile(t, "alone.rpz") {
		t.Errorf("another trace: %v", err)
	}
}

// TestMergeTreeCancelled ends a merge that waits for a recorder: nothing is left, and the parts are.
func TestMergeTreeCancelled(t *testing.T) {
	m := theMPI(t)
	t.Chdir(t.TempDir())
	writeParts(t, 3, "parts")
	lock, err := record.LockParts("parts")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	cmd := mergeTree(t, m, 3, "parts", "-o", "out.rpz")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	cmd.Process.Signal(syscall.SIGTERM)
	err = cmd.Wait()
	if err == nil || !strings.Contains(stderr.String(), "reprise merge parts -o out.rpz -- ") {
		t.Errorf("%v: %s", err, stderr.String())
	}
	if names, err := filepath.Glob("*"); err != nil || len(names) != 2 {
		t.Errorf("%v: %v", names, err)
	}
	if names, err := filepath.Glob("parts/rank*"); err != nil || len(names) != 3 {
		t.Errorf("%v: %v", names, err)
	}
}

// TestRecordMerge checks that a run whose processes merge their parts has the trace that one recorder makes
// of it, and that it has all ranks if one dies.
func TestRecordMerge(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		t.Chdir(t.TempDir())
		line := m.Launch(4, m.Build(t, "ring.c"), "file")
		flags := []string{"--times", "none", "--anonymous", "-o"}
		for name, more := range map[string][]string{"one.rpz": nil, "merged.rpz": {"--merge", "mpi"},
			"finalized.rpz": {"--merge", "finalize"}} {
			cmd := recorder(t, m, append(append(flags, name), more...), line...)
			// windows of two communicators of one number clash in shared memory
			cmd.Env = append(cmd.Env, "OMPI_MCA_osc=pt2pt")
			got := outcome(t, cmd)
			if got.status != 0 || !strings.Contains(got.stderr, "reprise: "+name+": ") {
				t.Errorf("%+v", got)
			}
			if more != nil && !strings.Contains(got.stderr, "merged of 4 parts in ") ||
				strings.Contains(got.stderr, "MPI_Finalize\n") != (name == "finalized.rpz") {
				t.Errorf("%+v", got)
			}
		}
		if got := must(t, "diff", "one.rpz", "merged.rpz"); !strings.HasPrefix(got, "equal") {
			t.Error(got)
		}
		if readFile(t, "one.rpz") != readFile(t, "merged.rpz") {
			t.Error("another trace")
		}
		if got := invoke(t, "", "diff", "one.rpz", "finalized.rpz"); !strings.Contains(got.stdout,
			"returned=0") || strings.Contains(got.stdout, "other than in MPI_Init and MPI_Finalize") {
			t.Errorf("%+v", got)
		}
		for _, way := range []string{"mpi", "finalize"} {
			got := outcome(t, recorder(t, m, []string{"--merge", way, "-o", way + ".rpz"},
				m.Launch(3, m.Build(t, "kill.c"))...))
			if got.status == 0 || !strings.Contains(got.stderr, "merged of 3 parts in ") ||
				!strings.Contains(got.stderr, "the trace ends early") {
				t.Errorf("%s: %+v", way, got)
			}
		}
	})
}

// TestRecordMergeLines checks that calls of one line that different ranks make are told apart as one recorder
// of all tells them.
func TestRecordMergeLines(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		t.Chdir(t.TempDir())
		line := m.Launch(3, m.Build(t, "oneline.c"))
		sites := make(map[string]string) // of all calls
		for name, more := range map[string][]string{"one.rpz": nil, "merged.rpz": {"--merge", "mpi"},
			"finalized.rpz": {"--merge", "finalize"}} {
			if got := outcome(t,
				recorder(t, m, append([]string{"--times", "none", "-q", "-o", name}, more...),
					line...)); got.status != 0 {
				t.Fatalf("%+v", got)
			}
			site := regexp.MustCompile(`(MPI_\w+)\(.*site=(".*?"|[^,)]+)`)
			for _, call := range site.FindAllStringSubmatch(must(t, "cat", name, "--format", "text"), -1) {
				sites[name] += call[1] + " " + call[2] + "\n"
			}
		}
		for name, list := range sites {
			if list != sites["one.rpz"] {
				t.Errorf("%s:\n%swant\n%s", name, list, sites["one.rpz"])
			}
		}
		names := regexp.MustCompile(
			`MPI_(?:Send|Recv|Barrier) "oneline\.c:8 turn(.*)"`).FindAllStringSubmatch(sites["one.rpz"], -1)
		ordinals := make(map[string]bool)
		for _, name := range names {
			ordinals[name[1]] = true
		}
		if want := map[string]bool{"": true, " #2": true, " #3": true}; !maps.Equal(ordinals, want) ||
			len(names) != len(want) {
			t.Errorf("%v of\n%s", ordinals, sites["one.rpz"])
		}
	})
}

// finalizeLine returns the command line of ranks that record to a directory of parts and are to merge them in
// MPI_Finalize: those for which a condition of the shell holds have no recorder to merge with.
func finalizeLine(t *testing.T, m *mpitest.MPI, ranks int, parts, output, without, program string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	wanted := record.Finalizing{Output: output}
	const script = `self=$1 parts=$2 wanted=$3 mpicc=$4 rank=${PMI_RANK-$OMPI_COMM_WORLD_RANK}
shift 4
if WITHOUT; then
	REPRISE_MERGE="77 1 4" exec "$self" record -q --times none --anonymous --mpicc "$mpicc" --parts "$parts" -- "$@"
fi
exec "$self" record -q --times none --anonymous --mpicc "$mpicc" --parts "$parts" --finalize "$wanted" -- "$@"`
	return m.Launch(ranks, "sh", "-c", strings.Replace(script, "WITHOUT", without, 1), "sh", self, parts,
		wanted.String(), m.CC, program)
}

// TestFinalize checks that processes merge their parts in MPI_Finalize to the bytes that merge makes of them,
// that what the program calls there is recorded, and that there is no trace if one has nothing to merge with,
// but all parts.
func TestFinalize(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		t.Chdir(t.TempDir())
		output, err := filepath.Abs("out.rpz")
		if err != nil {
			t.Fatal(err)
		}
		program := m.Build(t, "attributes.c")
		for _, ranks := range tier.Some([]int{1, 4, 6}, 2) {
			parts := fmt.Sprintf("parts%d", ranks)
			line := finalizeLine(t, m, ranks, parts, output, "false", program)
			cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
			cmd.Env = append(mpitest.Environment(t), runMain+"=1")
			if got := outcome(t, cmd); got.status != 0 || got.stderr != "" {
				t.Fatalf("%d ranks: %+v", ranks, got)
			}
			must(t, "merge", parts, "-o", "alone.rpz")
			if readFile(t, "out.rpz") != readFile(t, "alone.rpz") {
				t.Errorf("%d ranks: another trace", ranks)
			}
			got := must(t, "cat", "--ranks", "0", "out.rpz")
			if lines := strings.Split(strings.TrimSpace(got), "\n"); !strings.Contains(lines[len(lines)-1],
				"MPI_Finalize(") || !strings.Contains(lines[len(lines)-1], "returned=0") {
				t.Errorf("%d ranks: the last call is %s", ranks, lines[len(lines)-1])
			}
			if got := must(t, "info", "out.rpz"); !strings.Contains(got,
				"\nin MPI_Finalize, as where the trace is made in it: rank") ||
				strings.Contains(got, "did not return") {
				t.Errorf("%d ranks: %s", ranks, got)
			}
			os.Remove("out.rpz")
		}
		line := finalizeLine(t, m, 5, "few", output, "[ $rank = 3 ]", program)
		cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
		cmd.Env = append(mpitest.Environment(t), runMain+"=1")
		if got := outcome(t, cmd); got.status != 0 ||
			!strings.Contains(got.stderr, "merging in MPI_Finalize: what merges for a process has ended") {
			t.Errorf("%+v", got)
		}
		if names, err := filepath.Glob("few/rank*"); err != nil || len(names) != 5 {
			t.Errorf("%v: %v", names, err)
		}
		if _, err := os.Stat("out.rpz"); err == nil {
			t.Error("there is a trace")
		}
	})
}

// TestRecordMergeBroken checks what becomes of a run where MPI fails while its processes merge: an error that
// says so, and the trace, by a launcher that is started again after MPI_Finalize, or a way to it.
func TestRecordMergeBroken(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		t.Chdir(t.TempDir())
		library, program := m.Build(t, "broken.c", "-shared", "-fPIC", "-Wno-parentheses"), m.Build(t, "loop.c")
		for _, tt := range []struct{ way, broken, want string }{
			{"mpi", "", `(?s)MPI_Iprobe: .*\n.*reprise merge .*reprise-parts-.* -o out.rpz -- `},
			{"finalize", "", `(?s)MPI_Iprobe: .*\n.*reprise merge .*reprise-parts-.* -o out.rpz -- `},
			{"finalize", filepath.Base(program), `(?s)MPI_Iprobe: .*\n.*merged of 2 parts in [0-9.]* s\n`},
		} {
			const preload = `LD_PRELOAD="$LD_PRELOAD:$0" exec "$@"`
			spool := t.TempDir()
			line := m.Launch(2, "sh", "-c", preload, library, program, "10")
			cmd := process(t,
				append([]string{"record", "--merge", tt.way, "--spool", spool, "-o", "out.rpz", "--"}, line...)...)
			cmd.Env = append(mpitest.Environment(t), runMain+"=1", "MPICC="+m.CC, "BROKEN="+tt.broken)
			got := outcome(t, cmd)
			if got.status == 0 || !regexp.MustCompile(tt.want).MatchString(got.stderr) {
				t.Errorf("%+v: %+v", tt, got)
			}
			if _, err := os.Stat("out.rpz"); (err == nil) != (tt.broken != "") {
				t.Errorf("%+v: %v", tt, err)
			}
			if left, err := filepath.Glob(filepath.Join(spool, "reprise-parts-*", "rank*")); err != nil ||
				len(left) != map[bool]int{true: 2, false: 0}[tt.broken == ""] {
				t.Errorf("%+v: parts %q, %v", tt, left, err)
			}
		}
	})
}

// TestFinalizeSockets checks that sockets of a program are not taken for that which leads to its recorder,
// and that the trace is there.
func TestFinalizeSockets(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		t.Chdir(t.TempDir())
		got := outcome(t, recorder(t, m, []string{"--merge", "finalize", "-o", "out.rpz"},
			m.Launch(2, m.Build(t, "sockets.c"))...))
		if got.status != 0 || !strings.Contains(got.stderr, "6 calls of 2 ranks") ||
			!strings.Contains(got.stderr, "merged of 2 parts in ") {
			t.Errorf("%+v", got)
		}
	})
}

// TestRecordUnderLauncher checks that a launcher is refused in front of recorders that would all write one
// file.
func TestRecordUnderLauncher(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		t.Chdir(t.TempDir())
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		line := m.Launch(2, self, "record", "-o", "out.rpz", "--mpicc", m.CC, "--", m.Build(t, "ring.c"))
		cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
		cmd.Env = append(mpitest.Environment(t), runMain+"=1")
		if got := outcome(t, cmd); got.status == 0 ||
			!strings.Contains(got.stderr, "a launcher has started 2 recorders, which would all write out.rpz") {
			t.Errorf("%+v", got)
		}
		if _, err := os.Stat("out.rpz"); err == nil {
			t.Error("there is a trace")
		}
	})
}

// TestRecordMergeRefused checks what --merge does not take.
func TestRecordMergeRefused(t *testing.T) {
	m := theMPI(t)
	t.Chdir(t.TempDir())
	program := m.Build(t, "ring.c")
	two := append(m.Launch(1, program), ":", "-n", "1", program)
	for _, tt := range []struct {
		flags, line []string
		want        string
	}{
		{nil, m.Launch(2, "sh", "-c", program), "not a script"},
		{nil, m.Launch(2, "true"), "not a script"},
		{nil, two, "one program, not several"},
		{[]string{"--timeout", "5s"}, two, "not with --parts, --timeout or --keep-raw"},
	} {
		got := outcome(t, recorder(t, m, append(tt.flags, "--merge", "mpi", "-o", "out.rpz"), tt.line...))
		if got.status == 0 || !strings.Contains(got.stderr, tt.want) {
			t.Errorf("%v: %+v", tt.line, got)
		}
	}
}
