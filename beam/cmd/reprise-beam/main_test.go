package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/merge"
)

const asCommand = "REPRISE_BEAM_TEST"

// TestMain is the command if a test runs it as that.
func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// command returns the command with arguments.
func command(args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	cmd = exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

// writePart writes a part file with calls of ranks of p.
func writePart(t *testing.T, path string, p programs.Program, origin format.Origin, ranks ...int) {
	t.Helper()
	run := p.Run()
	run.Origin = origin
	writeRun(t, path, p, run, ranks...)
}

// writeRun writes a part file with calls of ranks of p, and this description of the run.
func writeRun(t *testing.T, path string, p programs.Program, run merge.Run, ranks ...int) {
	t.Helper()
	a := new(merge.Accumulator)
	err := a.Describe(run)
	for _, rank := range ranks {
		if err == nil {
			err = a.Add(p.Part(rank))
		}
	}
	var file bytes.Buffer
	if err == nil {
		err = a.WritePart(&file)
	}
	if err == nil {
		err = os.WriteFile(path, file.Bytes(), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestMerge merges a directory: the file is that of merge.Files, and the summary is in words or JSON.
func TestMerge(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("parts", 0o777); err != nil {
		t.Fatal(err)
	}
	p := programs.Stencil2D(4, 4, 100)
	for rank := range 15 {
		writePart(t, fmt.Sprintf("parts/rank%d.rpz", rank), p, format.Origin{}, rank)
	}
	if err := merge.Files("want.rpz", 0, "parts"); err != nil {
		t.Fatal(err)
	}
	cmd, stdout, stderr := command("--query", "profile", "-o", "run.json", "parts")
	if err := cmd.Run(); err != nil || stdout.String() != "15 parts -> run.json: profile\n" ||
		!bytes.Contains(readFile(t, "run.json"), []byte(`"functions":[`)) {
		t.Fatal(err, stdout, stderr)
	}
	if cmd, _, stderr := command("--query", "other", "-o", "run.json", "parts"); cmd.Run() == nil ||
		!strings.Contains(stderr.String(), "profile or traffic") {
		t.Error(stderr)
	}
	cmd, stdout, stderr = command("-o", "run.rpz", "parts")
	if err := cmd.Run(); err != nil {
		t.Fatal(err, stderr)
	}
	if !bytes.Equal(readFile(t, "run.rpz"), readFile(t, "want.rpz")) {
		t.Error("other bytes than those of merge.Files")
	}
	if got := stdout.String(); !strings.HasPrefix(got, "15 parts: 15 ranks, ") || strings.Count(got, "\n") != 1 {
		t.Errorf("stdout %q", got)
	}
	if got, want := stderr.String(), "reprise-beam: warning: in no part: rank 15\n"; got != want {
		t.Errorf("stderr %q, want %q", got, want)
	}
	cmd, stdout, stderr = command("--json", "--runner=prism", "-o", "run.rpz", "parts")
	if err := cmd.Run(); err != nil {
		t.Fatal(err, stderr)
	}
	var s summary
	if err := json.Unmarshal(stdout.Bytes(), &struct {
		*summary
		Missing any `json:"missing_rank_set"`
	}{summary: &s}); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	if s.Parts != 15 || s.Ranks != 16 || s.Active != 15 || s.Bytes != int64(len(readFile(t, "want.rpz"))) ||
		s.Output != "run.rpz" {
		t.Errorf("summary %s", stdout)
	}
}

// TestSize merges parts that do not say how many ranks the run has: there is a warning that calls name
// others, unless it is said.
func TestSize(t *testing.T) {
	t.Chdir(t.TempDir())
	writeRun(t, "a.rpz", programs.Stencil2D(2, 2, 10), merge.Run{}, 0, 1)
	for _, tt := range []struct {
		args         []string
		status       int
		stderr, json string
	}{
		{nil, 0, "reprise-beam: warning: rank 1 names rank 3 in a call of ", `"rank": 3,`},
		{[]string{"--size", "3"}, 0,
			"reprise-beam: warning: in no part: rank 2\nreprise-beam: warning: rank 1 names rank 3 in a call of ", `"run_ranks": 3,`},
		{[]string{"--size=4"}, 0, "reprise-beam: warning: in no part: ranks 2-3\n", `"beyond": null`},
		{[]string{"--size=4", "--query=profile"}, 0, "", ""},
		{[]string{"--size=1"}, 1, "reprise-beam: a part is of rank 1, in a run of 1 rank\n", ""},
		{[]string{"--size=-1"}, 2, "reprise-beam: --size is a number of ranks, not -1\n", ""},
	} {
		for _, more := range []string{"", "--json"} {
			if more != "" && tt.json == "" {
				continue
			}
			args := append(append([]string{}, tt.args...), "-o", "run.rpz")
			if more != "" {
				args = append(args, more)
			}
			cmd, stdout, stderr := command(append(args, "a.rpz")...)
			_ = cmd.Run()
			if cmd.ProcessState.ExitCode() != tt.status ||
				more == "" && (!strings.HasPrefix(stderr.String(), tt.stderr) ||
					tt.stderr == "" && stderr.Len() > 0) || more != "" && !strings.Contains(stdout.String(), tt.json) {
				t.Errorf("%v: %v\n%s%s", args, cmd.ProcessState, stdout, stderr)
			}
			if got := strings.Contains(stderr.String(), "--size says"); got != (tt.args == nil && more == "") {
				t.Errorf("%v: %s", args, stderr)
			}
		}
	}
}

// TestEndpoint checks that a job server that is not there is an error.
func TestEndpoint(t *testing.T) {
	t.Chdir(t.TempDir())
	writePart(t, "a.rpz", programs.Stencil2D(2, 2, 10), format.Origin{}, 0)
	unused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	unused.Close()
	for _, tt := range []struct {
		endpoint string
		status   int
		want     string
	}{
		{unused.Addr().String(), exitFailure, "reprise-beam: no job server at --endpoint=" +
			unused.Addr().String() + ": "},
		{"", exitUsage, "reprise-beam: --runner=flink needs the --endpoint of a job server"},
		{"localhost", exitUsage, "reprise-beam: --endpoint=localhost is not HOST:PORT, such as localhost:8099"},
		{"localhost:", exitUsage, "reprise-beam: --endpoint=localhost: is not HOST:PORT"},
		{"::1", exitUsage, "reprise-beam: --endpoint=::1 is not HOST:PORT"},
	} {
		cmd, _, stderr := command("--runner=flink", "--endpoint="+tt.endpoint, "-o", "run.rpz", "a.rpz")
		_ = cmd.Run()
		if cmd.ProcessState.ExitCode() != tt.status || !strings.HasPrefix(stderr.String(), tt.want) ||
			strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%q: %v, %s", tt.endpoint, cmd.ProcessState, stderr)
		}
	}
}

// TestRefused merges what is to be refused: the error is a line that names the file, and the output is what
// it was.
func TestRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	p := programs.Stencil2D(2, 2, 10)
	writePart(t, "a", p, format.Origin{Runs: []string{"x"}}, 0)
	writePart(t, "b", p, format.Origin{Runs: []string{"y"}}, 1)
	writePart(t, "c", p, format.Origin{}, 1, 2)
	writePart(t, "d", p, format.Origin{}, 2)
	damaged := readFile(t, "a")
	damaged[len(damaged)/2] ^= 1
	for name, content := range map[string][]byte{"damaged": damaged, "out": []byte("before"),
		"note": []byte("a note\n")} {
		if err := os.WriteFile(name, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"-o", "out", "a", "b"}, 1, "a is of run x, b of run y"},
		{[]string{"-o", "out", "c", "d"}, 1, "rank 2 is in c and in d"},
		{[]string{"-o", "out", "c", "damaged"}, 1, "reprise-beam: damaged: "},
		{[]string{"-o", "out", "note"}, 1, "reprise-beam: note: this is a text file; "},
		{[]string{"-o", "out", "none"}, 1, "reprise-beam: none: no such file"},
		{[]string{"-o", "none/out", "a"}, 1, "none"},
		{[]string{"-o", "a", "a"}, 1, "a is an input"},
		{[]string{"-o", "out"}, 2, "no parts"},
		{[]string{"a"}, 2, "no -o"},
	} {
		cmd, stdout, stderr := command(tt.args...)
		err := cmd.Run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != tt.status {
			t.Errorf("%v: %v, want exit status %d", tt.args, err, tt.status)
		}
		said := stderr.String()
		if !strings.HasPrefix(said, "reprise-beam: ") || !strings.Contains(said, tt.want) ||
			stdout.Len() > 0 || tt.status == 1 && strings.Count(said, "\n") != 1 {
			t.Errorf("%v: stdout %q, stderr %q, want %q", tt.args, stdout, said, tt.want)
		}
		if got := readFile(t, "out"); string(got) != "before" {
			t.Errorf("%v: out is %q", tt.args, got)
		}
	}
}

// damageInside damages a part where only who merges it looks.
func damageInside(t *testing.T, name string) {
	t.Helper()
	whole := readFile(t, name)
	for at := range whole {
		damaged := slices.Clone(whole)
		damaged[at] ^= 1
		if err := os.WriteFile(name, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := merge.PartFiles("out", 0, name); err == nil && unreadable(t.Context(), []string{name}) != nil {
			return
		}
	}
	t.Fatal("no bit of the part is looked at later")
}

// TestNamesAll merges several inputs that are damaged inside or are no parts: each is named in a
// line, with what it is.
func TestNamesAll(t *testing.T) {
	t.Chdir(t.TempDir())
	p := programs.Stencil2D(2, 3, 10)
	parts := []string{"a", "b", "c", "d"}
	for rank, name := range parts {
		writePart(t, name, p, format.Origin{}, rank)
	}
	for _, name := range []string{"b", "d"} {
		damageInside(t, name)
	}
	records := []byte("reprisp\x03 and what a process recorded")
	name := filepath.Join("spool", "7-a.0.0.spool")
	if err := errors.Join(os.Mkdir("spool", 0o777), os.Mkdir("nothing", 0o777),
		os.WriteFile(name, records, 0o666), os.WriteFile("empty", nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	damaged := map[string]string{"b": "", "d": ""}
	for _, more := range []map[string]string{
		nil,
		{"empty": "the file is empty", name: "this is raw records of MPI calls; reprise collect DIR"},
		{"spool": "this is a directory of raw records; reprise collect spool -o OUT.rpz",
			"nothing": "no part files, whose names end in .rpz"},
	} {
		want := maps.Clone(damaged)
		maps.Copy(want, more)
		cmd, _, stderr := command(slices.Concat([]string{"-o", "out"}, parts, slices.Sorted(maps.Keys(more)))...)
		if err := cmd.Run(); err == nil {
			t.Errorf("%v: no error", more)
		}
		lines := slices.Collect(strings.Lines(stderr.String()))
		for name, says := range want {
			if !slices.ContainsFunc(lines, func(l string) bool {
				return strings.HasPrefix(l, "reprise-beam: "+name+": "+says)
			}) {
				t.Errorf("%s is not named with %q", name, says)
			}
		}
		if len(lines) != len(want) {
			t.Errorf("%d lines, want %d:\n%s", len(lines), len(want), stderr)
		}
	}
}

// TestInterrupt cancels a merge that waits for a part, which is a pipe that nobody writes to.
func TestInterrupt(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := exec.Command("mkfifo", "pipe.rpz").Run(); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	*output = "run.trace"
	defer func() { *output = "" }()
	var stderr bytes.Buffer
	if n := run(ctx, []string{"pipe.rpz"}, io.Discard, &stderr); n != exitInterrupted {
		t.Errorf("exit status %d: %s", n, &stderr)
	}
	if names, _ := filepath.Glob("*"); len(names) != 1 {
		t.Errorf("left: %q", names)
	}
}
