//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/record"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/show"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
)

// recorder returns the command record as a process of its own. The spool is to be
// gone when the test ends, and so is everything else that is not the trace.
func recorder(t *testing.T, m *mpitest.MPI, flags []string, line ...string) *exec.Cmd {
	t.Helper()
	spool := t.TempDir()
	t.Cleanup(func() {
		if left, err := os.ReadDir(spool); err != nil || len(left) > 0 {
			t.Errorf("left in the directory of the spool: %v, %v", left, err)
		}
	})
	args := append([]string{"record"}, flags...)
	if !strings.Contains(strings.Join(flags, " "), "--keep-raw") {
		args = append(args, "--spool", spool)
	}
	cmd := process(t, append(append(args, "--"), line...)...)
	cmd.Env = append(mpitest.Environment(t), runMain+"=1", "MPICC="+m.CC)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// outcome runs a process to its end. If its launcher says that a rank ended without MPI_Finalize, which need not be
// so, it runs it once more.
func outcome(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	again := *cmd
	first := outcomeOnce(t, cmd)
	if again.Stdin == nil && mpitest.Improper(first.stderr) {
		if second := outcomeOnce(t, &again); second.status == cli.ExitOK {
			return second
		}
	}
	return first
}

func outcomeOnce(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// TestImproper runs what fails at first, or always, as a launcher does that lost sight of a rank.
func TestImproper(t *testing.T) {
	const line = `[ "$1" -a -e "$0" ] && exit; echo "$0" >>"$0"; echo rank 1 exiting improperly >&2; exit 1`
	for _, test := range []struct {
		passes string
		status int
	}{{"later", cli.ExitOK}, {"", 1}} {
		ran := filepath.Join(t.TempDir(), "ran")
		got := outcome(t, exec.Command("sh", "-c", line, ran, test.passes))
		if text, err := os.ReadFile(ran); got.status != test.status || err != nil ||
			strings.Count(string(text), "\n") != 1+test.status {
			t.Errorf("%+v; %q, %v", got, text, err)
		}
	}
}

// theMPI returns one of those that are installed.
func theMPI(t *testing.T) *mpitest.MPI {
	t.Helper()
	mpitest.SkipUnderRace(t)
	return mpitest.Installed(t)[0]
}

// TestRecord records a filter: what it reads and writes passes through, and so does
// its exit status. The trace is that of its calls, and raw records that say otherwise
// are found out.
func TestRecord(t *testing.T) {
	for _, m := range mpitest.Installed(t) { // under the race detector as well
		t.Run(m.Name, func(t *testing.T) {
			m.Parallel(t)
			directory := t.TempDir()
			tr, raw := filepath.Join(directory, "run.rpz"), filepath.Join(directory, "raw")
			if err := os.Mkdir(raw, 0o755); err != nil {
				t.Fatal(err)
			}
			input := strings.Repeat("comes in and goes out\n", 1000) // launchers lose more
			line := append([]string{"sh", "-c", `"$@" && exit 3`, "sh"}, m.Launch(2, m.Build(t, "filter.c"), "busy")...)
			cmd := recorder(t, m, []string{"-o", tr, "--keep-raw", raw}, line...)
			cmd.Stdin = strings.NewReader(input)
			got := outcome(t, cmd)
			if got.stdout != input || got.status != 3 {
				t.Errorf("status %d, %d bytes come out of %d", got.status, len(got.stdout), len(input))
			}
			if s, err := os.Stat(raw); err != nil || s.Mode().Perm() != 0o700 {
				t.Errorf("%v, %v", s.Mode(), err)
			}
			info := infoOf(t, tr)
			for _, pattern := range []string{
				fmt.Sprintf(`(?m)^2 ranks know of %d bytes$`, 2*len(input)),
				fmt.Sprintf(`(?m)^reprise: %s: %s calls of 2 ranks in %d bytes \(.* raw\)$`, tr,
					text.Count(info.Calls), info.Bytes),
				`(?m)^reprise: cost: \d.*% of the time, .* s of collecting, .* s at the end$`,
				`(?m)^reprise: the command ended with status 3$`,
			} {
				if !regexp.MustCompile(pattern).MatchString(got.stderr) {
					t.Errorf("standard error has no %s:\n%s", pattern, got.stderr)
				}
			}
			if strings.Contains(got.stderr, "warning") || strings.Contains(got.stderr, "ends early") {
				t.Error(got.stderr)
			}
			if info.Source != "MPI" || info.Size != 2 || callsOf(info, "MPI_Finalize") != 2 ||
				callsOf(info, "MPI_Bcast") < 6 || info.Calls < 40000 {
				t.Errorf("%+v", info)
			}
			if listed, want := must(t, "cat", tr, "--format", "text"),
				"MPI_Bcast(buffer=stack, count=1, datatype=MPI_INT, root=0, comm=MPI_COMM_WORLD, site=\"filter.c:23 main\")\n"; !strings.Contains(listed, want) {
				t.Errorf("no %s in\n%s", want, listed)
			}
			if got, want := must(t, "verify", tr, raw),
				fmt.Sprintf("equal: %s of 2 ranks\n", text.Plural(info.Calls, "call")); got != want {
				t.Errorf("verify says %q, want %q", got, want)
			}
			parts := filepath.Join(directory, "a", "parts")
			must(t, "collect", raw, "--parts", parts, "-q")
			if i := infoOf(t, filepath.Join(parts, "rank0000000.part.rpz")); i.Calls != info.Calls {
				t.Errorf("the part that is collected has %d calls of %d", i.Calls, info.Calls)
			}
			changeMark(t, raw)
			if got := invoke(t, "", "verify", tr, raw); got.status != cli.ExitFailure ||
				strings.Count(got.stderr, "the check is another, so that the file was changed or damaged") != 2 {
				t.Errorf("verify of what was changed: %+v", got)
			}
		})
	}
}

// infoOf returns what info says of a trace.
func infoOf(t *testing.T, tr string) (i show.Info) {
	t.Helper()
	if err := json.Unmarshal([]byte(must(t, "info", tr, "--json")), &i); err != nil {
		t.Fatal(err)
	}
	return i
}

func callsOf(i show.Info, function string) uint64 {
	for _, f := range i.Functions {
		if f.Name == function {
			return f.Calls
		}
	}
	return 0
}

// changeMark changes a number that the program filter has for an argument in the raw
// records.
func changeMark(t *testing.T, raw string) {
	t.Helper()
	mark := binary.LittleEndian.AppendUint64(nil, 123456789)
	paths, err := filepath.Glob(filepath.Join(raw, "*"))
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for _, path := range paths {
		data := []byte(readFile(t, path))
		if at := bytes.Index(data, mark); at >= 0 {
			data[at]++
			changed++
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if changed != 2 {
		t.Fatalf("the number is in %d of %v", changed, paths)
	}
}

// TestRecordMuch records a program that was started without a launcher and copies
// megabytes.
func TestRecordMuch(t *testing.T) {
	m := theMPI(t)
	text := strings.Repeat("comes in and goes out\n", 300000)
	// Libraries that are loaded anyway stay so.
	const preloaded = `case $LD_PRELOAD in *:libm.so.6) exec "$0";; esac; exit 1`
	cmd := recorder(t, m, []string{"-q", "-o", filepath.Join(t.TempDir(), "run.rpz")}, "sh", "-c", preloaded,
		m.Build(t, "filter.c"))
	cmd.Env = append(cmd.Env, "LD_PRELOAD=libm.so.6")
	cmd.Stdin = strings.NewReader(text)
	got := outcome(t, cmd)
	if got.stdout != text || got.status != 0 || got.stderr != fmt.Sprintf("1 ranks know of %d bytes\n", len(text)) {
		t.Errorf("status %d, %d bytes come out of %d, %q", got.status, len(got.stdout), len(text), got.stderr)
	}
}

// TestRecordTimes records a loop with each choice of what is kept of times.
func TestRecordTimes(t *testing.T) {
	m := theMPI(t)
	program := m.Build(t, "loop.c")
	directory := t.TempDir()
	record := func(times, name string) (string, record.Summary) {
		tr := filepath.Join(directory, name)
		got := outcome(t, recorder(t, m, []string{"--anonymous", "--times", times, "--json", "-o", tr}, program, "20"))
		var s record.Summary
		if err := json.Unmarshal([]byte(got.stderr), &s); err != nil || got.status != 0 {
			t.Fatalf("%v: status %d\n%s", err, got.status, got.stderr)
		}
		return tr, s
	}
	for _, test := range []struct {
		times              string
		timed, hists, each bool
	}{
		{"none", false, false, false},
		{"statistics", true, false, false},
		{"histograms", true, true, false},
		{"all", true, false, true},
		{"exact", true, false, true},
	} {
		tr, s := record(test.times, test.times+".rpz")
		i := infoOf(t, tr)
		timed := i.Times != nil
		hists := timed && i.Times.Histograms != nil && i.Times.Histograms.Durations > 0
		each := timed && i.Times.Ranks.String() == "0"
		if timed != test.timed || hists != test.hists || each != test.each {
			t.Errorf("--times %s: %t, %t, %t: %+v", test.times, timed, hists, each, i.Times)
		}
		if timed && numberOf(t, string(i.Times.Functions[0].Sum)) <= 0 {
			t.Errorf("--times %s: calls take no time: %+v", test.times, i.Times.Functions)
		}
		if s.Output != tr || s.Ranks != 1 || s.Calls != i.Calls || s.Bytes != i.Bytes || *s.Raw <= 0 ||
			s.Command <= 0 ||
			*s.Overhead <= 0 || *s.Overhead >= 1 || *s.Collector <= 0 || s.Unfinished.Len() > 0 ||
			s.Problems == nil || len(s.Problems) > 0 || s.Status != 0 {
			t.Errorf("--times %s: %+v", test.times, s)
		}
	}
	again, _ := record("none", "again.rpz")
	if readFile(t, again) != readFile(t, filepath.Join(directory, "none.rpz")) {
		t.Error("a second run makes other bytes")
	}
}

// TestRecordBegin compares how long it is from MPI_Init to the next call with what the program sees of it: what the
// recorder does when a process begins is in MPI_Init, as else it would be computing of the program. Where a process
// loses its processor between the two clocks, that is in one of them alone, so the rank counts that is the nearest.
func TestRecordBegin(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		t.Chdir(t.TempDir())
		got := outcome(t, recorder(t, m, []string{"--times", "exact", "-q", "-o", "begin.rpz"},
			m.Launch(4, m.Build(t, "begin.c"))...))
		if got.status != 0 {
			t.Fatalf("%+v", got)
		}
		tr, least := opened(t, "begin.rpz"), int64(math.MaxInt64)
		for _, line := range strings.Split(got.stdout, "\n") {
			var rank int
			var seen int64
			if n, _ := fmt.Sscanf(line, "rank %d %d", &rank, &seen); n < 2 {
				continue
			}
			r, err := tr.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			end := int64(-1)
			for call, err := range r.Calls(0) {
				if err != nil {
					t.Fatal(err)
				}
				if end >= 0 {
					least = min(least, call.Start-end-seen)
					break
				}
				end = call.Start + call.Duration
			}
		}
		const publishing = 100_000
		if least > publishing {
			t.Errorf("from MPI_Init to the next call it is %d ns longer than for the program", least)
		}
	})
}

// TestRecordParts starts a recorder for each process, and merges what they leave.
func TestRecordParts(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		program, directory := m.Build(t, "comms.c"), t.TempDir()
		one, parts, joined := filepath.Join(directory, "one.rpz"), filepath.Join(directory, "parts"),
			filepath.Join(directory, "joined.rpz")
		ranks := m.Ranks(4)
		if got := outcome(t, recorder(t, m, []string{"--times", "none", "-o", one},
			m.Launch(ranks, program)...)); got.status != 0 {
			t.Fatal(got.stderr)
		}
		// The launcher starts recorders.
		cmd := recorder(t, m, []string{"--times", "none", "-q", "--parts", parts}, program)
		line := m.Launch(ranks, cmd.Path, cmd.Args[1:]...)
		each := exec.CommandContext(t.Context(), line[0], line[1:]...)
		each.Env = cmd.Env
		if got := outcome(t, each); got.status != 0 {
			t.Fatal(got.stderr)
		}
		if got := invoke(t, "", "merge", parts, "-o", joined); got.status != 0 {
			t.Fatal(got.stderr)
		}
		if a, b := must(t, "cat", one), must(t, "cat", joined); a != b || infoOf(t, joined).Size != ranks {
			t.Errorf("%d ranks with %d bytes of calls, recorded together %d", infoOf(t, joined).Size, len(b), len(a))
		}
		again := exec.CommandContext(t.Context(), line[0], line[1:]...)
		again.Env = cmd.Env
		// The launcher may end the job before all recorders have said it.
		if got := outcome(t, again); got.status == 0 ||
			!regexp.MustCompile(`rank000000\d\.part\.rpz: is there already: `).MatchString(got.stderr) ||
			strings.Contains(got.stderr, "the trace is in") {
			t.Errorf("a second run with these parts: %+v", got)
		}
		checkRunsApart(t, m, parts, program)
	})
}

// checkRunsApart checks that a part of another run is refused among the parts of a run, by the ids of both,
// and that a rank without a part is named.
func checkRunsApart(t *testing.T, m *mpitest.MPI, parts, program string) {
	t.Helper()
	others := filepath.Join(t.TempDir(), "others")
	cmd := recorder(t, m, []string{"--times", "none", "--anonymous", "-q", "--parts", others}, program)
	line := m.Launch(m.Ranks(4), cmd.Path, cmd.Args[1:]...)
	again := exec.CommandContext(t.Context(), line[0], line[1:]...)
	again.Env = cmd.Env
	if got := outcome(t, again); got.status != 0 {
		t.Fatal(got.stderr)
	}
	last := fmt.Sprintf("rank%07d.part.rpz", m.Ranks(4)-1)
	if err := os.Remove(filepath.Join(parts, last)); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.rpz")
	if got := invoke(t, "", "merge", parts, "-o", out); got.status != 0 ||
		!strings.Contains(got.stderr, fmt.Sprintf("in no part: rank %d\n", m.Ranks(4)-1)) {
		t.Errorf("without the last rank: %+v", got)
	}
	if err := os.Rename(filepath.Join(others, last), filepath.Join(parts, last)); err != nil {
		t.Fatal(err)
	}
	two := regexp.MustCompile(
		`the files are of 2 runs: merge those of one at a time: [0-9a-f]{16} \(began [^)]*\) in the other \d+ files; [0-9a-f]{16} in \S+` + last)
	if got := invoke(t, "", "merge", parts, "-o", out); got.status != 1 || !two.MatchString(got.stderr) {
		t.Errorf("with a rank of another run: %+v", got)
	}
	if _, err := os.Stat(filepath.Join(others, "rank0000000.part.rpz")); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(parts, last)); err != nil {
		t.Fatal(err)
	}
}

// TestCollectParts collects a part twice: the second does not replace the first. Functions with
// an error of their own that were not called are named.
func TestCollectParts(t *testing.T) {
	m := theMPI(t)
	directory := t.TempDir()
	raw, parts := filepath.Join(directory, "raw"), filepath.Join(directory, "parts")
	cmd := recorder(t, m, []string{"-q", "-o", filepath.Join(directory, "run.rpz"), "--keep-raw", raw},
		m.Build(t, "loop.c"), "20")
	if got := outcome(t, cmd); got.status != 0 {
		t.Fatal(got.stderr)
	}
	part := filepath.Join(parts, "rank0000000.part.rpz")
	got := invoke(t, "", "collect", raw, "--parts", parts, "-q", "--times", "all", "--error", "MPI_Foo=1%",
		"--error", "MPI_Init=1%", "--error", "Bar=0")
	if want := "reprise: warning: --error of functions that were not called: Bar, MPI_Foo\n"; got.status != cli.ExitOK || got.stderr != want {
		t.Errorf("%+v, want %s", got, want)
	}
	first := readFile(t, part)
	got = invoke(t, "", "collect", raw, "--parts", parts, "-q", "--times", "all", "--error", "MPI_Foo=1%",
		"--error", "MPI_Init=1%", "--error", "Bar=0")
	if got.status != cli.ExitOK || readFile(t, part) != first {
		t.Errorf("what is there is what would be written: %+v", got)
	}
	live := partOfSynchronised(t, first, 2)
	writeFile(t, part, live)
	got = invoke(t, "", "collect", raw, "--parts", parts, "-q", "--times", "all", "--error", "MPI_Foo=1%",
		"--error", "MPI_Init=1%", "--error", "Bar=0")
	if got.status != cli.ExitOK || readFile(t, part) != live {
		t.Errorf("what is there has readings of the clock, too: %+v", got)
	}
	t.Setenv("TMPDIR", directory)
	got = invoke(t, "", "collect", raw, "--parts", parts, "-q")
	name, elsewhere, _ := strings.Cut(strings.TrimSpace(got.stderr),
		": is there already: take a new directory, or remove it; the trace is in ")
	if got.status != cli.ExitFailure || name != "reprise: "+part ||
		infoOf(t, elsewhere).Calls != infoOf(t, part).Calls || readFile(t, part) != live {
		t.Errorf("%+v", got)
	}
}

// partOfSynchronised returns a part with as many readings of its clock, as what collects while a program runs
// takes where the clock is synchronised.
func partOfSynchronised(t *testing.T, part string, readings int) string {
	t.Helper()
	r, err := format.NewReader(strings.NewReader(part), int64(len(part)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := merge.ReadPart(r)
	if err != nil {
		t.Fatal(err)
	}
	clocks := a.Clocks()
	if len(clocks) != 1 || len(clocks[0].Readings) != 0 {
		t.Fatalf("%+v", clocks)
	}
	for i := range readings {
		clocks[0].Readings = append(clocks[0].Readings,
			format.ClockReading{Time: int64(i+1) << 60, Offset: -5, Error: 3})
	}
	if err := a.Describe(merge.Run{Clocks: clocks}); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := a.WritePart(&b); err != nil {
		t.Fatal(err)
	}
	if b.String() == part {
		t.Fatal("no readings were added")
	}
	return b.String()
}

// TestRecordDying records programs of which a rank dies: what it called before is in
// the trace, which says that there is no more.
func TestRecordDying(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		program := m.Build(t, "kill.c")
		for _, how := range []string{"kill", "abort", "exit"} {
			t.Run(how, func(t *testing.T) {
				m.Parallel(t)
				directory, counts := t.TempDir(), t.TempDir()
				tr, status := filepath.Join(directory, "run.rpz"), filepath.Join(directory, "status")
				const (
					tell  = `"$@"; status=$?; echo $status >"$0"; exit $status`
					count = `LD_PRELOAD="$0:$LD_PRELOAD" exec "$@"`
				)
				line := m.Launch(2, "sh", "-c", count, m.Counter(t), program, "25", how)
				cmd := recorder(t, m, []string{"-o", tr}, append([]string{"sh", "-c", tell, status}, line...)...)
				cmd.Env = append(cmd.Env, mpitest.CountIn(counts))
				got := outcome(t, cmd)
				if want := strings.TrimSpace(readFile(t, status)); fmt.Sprint(got.status) != want || want == "0" {
					t.Errorf("status %d, that of the command is %s", got.status, want)
				}
				if !regexp.MustCompile(
					`(?m)^reprise: the trace ends early: ranks? \S+ did not reach MPI_Finalize\nreprise: .* calls of `).MatchString(got.stderr) || strings.Contains(got.stderr, "slowest rank") {
					t.Errorf("the summary says %s", got.stderr)
				}
				if i := infoOf(t, tr); i.Unfinished.String() != "0-1" {
					t.Errorf("info says that %q did not end", i.Unfinished)
				}
				compareWithCounts(t, tr, counts)
			})
		}
	})
}

// compareWithCounts compares the calls of a trace with those that were counted when
// they began. Each rank may have died in one, or in the one that one is made of.
func compareWithCounts(t *testing.T, tr, counts string) {
	t.Helper()
	counted, err := mpitest.ReadCounts(counts)
	if err != nil {
		t.Fatal(err)
	}
	file, err := trace.Open(tr, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for rank := range 2 {
		r, err := file.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		recorded := make(map[string]uint64)
		for c, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			recorded[c.Function.Name]++
		}
		missing := 0
		for name, n := range counted[rank] {
			missing += int(n - recorded[name])
			if recorded[name] > n {
				t.Errorf("rank %d: %d calls of %s, not %d", rank, recorded[name], name, n)
			}
		}
		if missing > 1 || counted[rank]["MPI_Waitall"] < 25 {
			t.Errorf("rank %d: recorded are %v of %v", rank, recorded, counted[rank])
		}
	}
}

// A noticing writer says when a text was written to it.
type noticing struct {
	buffer  *bytes.Buffer
	text    string
	noticed chan<- bool
}

func (n *noticing) Write(p []byte) (int, error) {
	n.buffer.Write(p)
	if n.text != "" && strings.Contains(n.buffer.String(), n.text) {
		n.text = ""
		n.noticed <- true
	}
	return len(p), nil
}

// waitAtMost reports whether a channel was closed within some seconds.
func waitAtMost(ended <-chan struct{}, seconds float64) bool {
	select {
	case <-ended:
		return true
	case <-time.After(time.Duration(seconds * float64(time.Second))):
		return false
	}
}

// TestRecordPartsOfCrash records each process by itself in a program of which one
// dies, whereupon the launcher kills the others: all leave their parts.
func TestRecordPartsOfCrash(t *testing.T) {
	m := theMPI(t)
	parts := filepath.Join(t.TempDir(), "parts")
	spool := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	line := m.Launch(2, self, "record", "--parts", parts, "--spool", spool, "--", m.Build(t, "kill.c"), "25", "kill")
	cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
	cmd.Env = append(mpitest.Environment(t), runMain+"=1", "MPICC="+m.CC)
	cmd.WaitDelay = 20 * time.Second
	got := outcome(t, cmd)
	if got.status == 0 {
		t.Errorf("status 0\n%s", got.stderr)
	}
	for range 100 { // the launcher need not wait for what writes the parts
		if files, err := os.ReadDir(parts); err == nil && len(files) == 2 && files[0].Name()[0] != '.' {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	tr := filepath.Join(t.TempDir(), "run.rpz")
	must(t, "merge", parts, "-o", tr)
	if i := infoOf(t, tr); i.Active != 2 || i.Unfinished.Len() == 0 {
		t.Errorf("%d ranks, %q without MPI_Finalize", i.Active, i.Unfinished)
	}
}

// TestRecordOrigin records who runs what, with the job of a scheduler, and anonymously:
// then nothing is told, and the calls are the same.
func TestRecordOrigin(t *testing.T) {
	m := theMPI(t)
	t.Chdir(t.TempDir())
	t.Setenv("SLURM_JOB_ID", "77")
	line := m.Launch(2, m.Build(t, "filter.c"))
	for _, flags := range [][]string{{"-o", "told.rpz"}, {"-o", "anonymous.rpz", "--anonymous"}} {
		if got := outcome(t, recorder(t, m, append(flags, "-q"), line...)); got.status != 0 {
			t.Fatalf("%+v", got)
		}
	}
	var told, anonymous show.Info
	for name, answer := range map[string]*show.Info{"told.rpz": &told, "anonymous.rpz": &anonymous} {
		if err := json.Unmarshal([]byte(must(t, "info", "--json", name)), answer); err != nil {
			t.Fatal(err)
		}
	}
	if anonymous.MadeBy != nil {
		t.Errorf("anonymous: %+v", anonymous.MadeBy)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	o := told.MadeBy
	if o == nil || len(o.Runs) != 1 || len(o.Versions) != 2 || o.World != 2 || o.Began.IsZero() ||
		fmt.Sprint(o.Jobs, o.Commands, o.Hosts) != fmt.Sprint([]string{"Slurm 77"},
			[]string{strings.Join(line, " ")}, []string{host}) {
		t.Errorf("%+v", o)
	}
	if got := must(t, "diff", "told.rpz", "anonymous.rpz"); !strings.HasPrefix(got, "equal") {
		t.Error(got)
	}
}

// TestRecordSites records where calls are made, which profile counts by and the export to pprof
// has frames of; a trace without sites says how to get them.
func TestRecordSites(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		directory := t.TempDir()
		tr, plain := filepath.Join(directory, "run.rpz"), filepath.Join(directory, "plain.rpz")
		program := m.Build(t, "traffic.c")
		if got := outcome(t, recorder(t, m, []string{"-o", tr}, m.Launch(2, program)...)); got.status != cli.ExitOK {
			t.Fatalf("%+v", got)
		}
		if got := outcome(t, recorder(t, m, []string{"-o", plain, "--sites", "none"},
			m.Launch(2, program)...)); got.status != cli.ExitOK {
			t.Fatalf("%+v", got)
		}
		var p struct {
			Calls uint64 `json:"calls"`
			Sites []struct {
				Site     string `json:"site"`
				Function string `json:"function"`
				Calls    uint64 `json:"calls"`
			} `json:"by_site"`
		}
		if err := json.Unmarshal([]byte(must(t, "profile", "--by", "site", "--json", tr)), &p); err != nil {
			t.Fatal(err)
		}
		calls, lines := uint64(0), 0
		for _, s := range p.Sites {
			if calls += s.Calls; regexp.MustCompile(`^traffic\.c:[0-9]+ [a-z_]+`).MatchString(s.Site) {
				lines++
			}
			if s.Site == "" || !strings.HasPrefix(s.Function, "MPI_") {
				t.Errorf("%+v", s)
			}
		}
		if calls != p.Calls || calls != infoOf(t, plain).Calls || lines < 3 {
			t.Errorf("%d of %d calls have sites, %d sites are lines of the program: %+v", calls, p.Calls,
				lines, p.Sites)
		}
		profile := filepath.Join(directory, "run.pprof")
		must(t, "export", tr, "-o", profile)
		if got := invoke(t, "", "profile", "--by", "site", plain); got.status != cli.ExitFailure ||
			!strings.Contains(got.stderr, "record --sites caller records them") {
			t.Errorf("%+v", got)
		}
	})
}

// TestRecordAllocations records what becomes of the memory that calls use, with each MPI, and
// compares it with the raw records.
func TestRecordAllocations(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		tr, raw := filepath.Join(t.TempDir(), "run.rpz"), filepath.Join(t.TempDir(), "raw")
		line := m.Launch(2, m.Build(t, "memory.c"))
		got := outcome(t,
			recorder(t, m, []string{"-o", tr, "--allocations", "--sites", "none", "--keep-raw", raw}, line...))
		if got.status != 0 {
			t.Fatalf("%+v", got)
		}
		listed := must(t, "cat", tr, "--ranks", "0", "--format", "text")
		for _, pattern := range []string{
			`malloc\(size=400\) = heap#0\+0\n.*malloc\(size=400\) = heap#1\+0\n.*MPI_Sendrecv\(sendbuf=heap#0\+0, .* recvbuf=heap#1\+0,`,
			`realloc\(ptr=heap#5\+0, size=1638400\)\n.*MPI_Sendrecv\(sendbuf=heap#5\+1638000,`,
			`free\(ptr=heap#0\+0\)\n.*free\(ptr=heap#1\+0\)\n`,
			`malloc\(size=16384\) = heap#0\+0\n.*MPI_Sendrecv\(sendbuf=heap#0\+0, .* recvbuf=heap#0\+8192, .*\n.*realloc\(ptr=heap#0\+0, size=4096\)\n`,
			`realloc\(ptr=heap#1\+0, size=262144\)\n.*MPI_Sendrecv\(sendbuf=heap#0\+0, .* recvbuf=heap#1\+163840,`,
			`MPI_Alloc_mem\(size=400, info=MPI_INFO_NULL, baseptr=heap#0\+0`,
		} {
			if !regexp.MustCompile(pattern).MatchString(listed) {
				t.Errorf("no %s in\n%s", pattern, listed)
			}
		}
		contains(t, must(t, "verify", tr, raw), "equal: ")
		plain := filepath.Join(t.TempDir(), "plain.rpz")
		must(t, "collect", raw, "-q", "-o", plain, "--allocations=false")
		if with, without := infoOf(t, tr), infoOf(t, plain); callsOf(with, "malloc") == 0 ||
			callsOf(with, "malloc")+callsOf(with, "realloc")+callsOf(with, "free") != with.Calls-without.Calls {
			t.Errorf("%d calls with allocations, %d without", with.Calls, without.Calls)
		}
		must(t, "collect", raw, "-q", "-o", plain) // as record was asked to
		contains(t, must(t, "verify", plain, raw), "equal: ")
	})
}

// TestRecordPolls records a program that polls with one MPI, without the polls that find nothing, and checks
// that info has their number, and that a trace of the raw records is equal.
func TestRecordPolls(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		directory := t.TempDir()
		tr, raw, whole, part := filepath.Join(directory, "run.rpz"), filepath.Join(directory, "raw"),
			filepath.Join(directory, "whole.rpz"), filepath.Join(directory, "parts")
		line := m.Launch(3, m.Build(t, "polling.c"))
		if got := outcome(t, recorder(t, m, []string{"-o", tr, "--polls", "drop", "--keep-raw", raw},
			line...)); got.status != 0 {
			t.Fatalf("%+v", got)
		}
		contains(t, must(t, "verify", tr, raw), "equal: ")
		contains(t, must(t, "info", tr), "of MPI_Test that found nothing at ")
		must(t, "collect", raw, "-q", "-o", whole, "--polls", "keep")
		contains(t, must(t, "verify", whole, raw), "equal: ")
		must(t, "collect", raw, "-q", "--parts", part) // as record was asked to
		must(t, "merge", part, "-o", tr+".again")
		all := func(path string) (sum uint64) {
			for _, p := range infoOf(t, path).MadeBy.Polls {
				sum += p.Calls
			}
			return sum
		}
		if with, without := infoOf(t, whole), infoOf(t, tr); all(tr) == 0 ||
			with.Calls-without.Calls != all(tr) || all(tr+".again") != all(tr) || all(whole) > 0 {
			t.Errorf("%d calls with polls, %d without, %d left out, and %d when merged", with.Calls,
				without.Calls, all(tr), all(tr+".again"))
		}
	})
}

// TestRecordBounded records a program into a trace that fits a size, and makes such a trace of the raw
// records of another run, of which the whole does not fit, with each MPI. If no trace fits, the whole
// is saved.
func TestRecordBounded(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		directory := t.TempDir()
		whole, tr, again, raw := filepath.Join(directory, "whole.rpz"), filepath.Join(directory, "run.rpz"),
			filepath.Join(directory, "again.rpz"), filepath.Join(directory, "raw")
		line := m.Launch(2, m.Build(t, "memory.c"))
		if got := outcome(t, recorder(t, m, []string{"-o", whole, "--anonymous", "--keep-raw", raw},
			line...)); got.status != 0 {
			t.Fatalf("%+v", got)
		}
		must(t, "collect", raw, "-q", "-o", whole)
		size := infoOf(t, whole).Bytes * 8 / 10 // another run may take less than this one
		bound := fmt.Sprint(size)
		if got := outcome(t, recorder(t, m, []string{"-o", tr, "--anonymous", "--bounded", bound},
			line...)); got.status != 0 {
			t.Fatalf("%+v", got)
		}
		must(t, "collect", raw, "-q", "-o", again, "--bounded", bound)
		for _, path := range []string{tr, again} {
			if got, want := infoOf(t, path), infoOf(t, whole); got.Bytes > size || got.Calls != want.Calls ||
				got.Bounded == nil {
				t.Errorf("%d calls in %d bytes, not %d in %d: %+v", got.Calls, got.Bytes, want.Calls, size, got.Bounded)
			}
		}
		got := invoke(t, "", "collect", raw, "-q", "-o", filepath.Join(directory, "none.rpz"), "--bounded", "10")
		_, saved, ok := strings.Cut(strings.TrimSpace(got.stderr), "; the trace is in ")
		if got.status != cli.ExitFailure || !ok {
			t.Fatalf("%+v", got)
		}
		defer os.Remove(saved)
		if got := infoOf(t, saved); got.Bounded != nil {
			t.Errorf("what does not fit is saved without %+v", got.Bounded)
		}
	})
}
