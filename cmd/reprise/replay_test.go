//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/programs"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// TestReplay replays a run, and checks the numbers of calls, the trace that it keeps, and what is said of a
// launcher that starts other numbers of ranks.
func TestReplay(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		mpitest.SkipUnderRace(t)
		directory := t.TempDir()
		trace, again := filepath.Join(directory, "run.rpz"), filepath.Join(directory, "again.rpz")
		cmd := recorder(t, m, []string{"-o", trace, "--times", "all"}, m.Launch(2, m.Build(t, "loop.c"), "100")...)
		if got := outcome(t, cmd); got.status != cli.ExitOK {
			t.Fatalf("status %d: %s", got.status, got.stderr)
		}
		of := trace
		replay := func(ranks int, args ...string) result {
			args = append(append([]string{"replay", of}, args...), "--")
			cmd := process(t, append(args, launcher(m, ranks)...)...)
			cmd.Env = append(mpitest.Environment(t), runMain+"=1", "MPICC="+m.CC)
			return outcome(t, cmd)
		}
		r := replay(2, "--json", "-o", again, "--scale", "0.5x")
		if r.status != cli.ExitOK {
			t.Fatalf("status %d: %s", r.status, r.stderr)
		}
		c := jsonChecker{t, jsonTypes(t), make(map[string]bool)}
		c.object("replay", r.stdout)
		var a programs.Replay
		if err := json.Unmarshal([]byte(r.stdout), &a); err != nil {
			t.Fatal(err)
		}
		if a.Recorded == nil || a.Replayed == nil || a.Recorded.Run <= 0 || a.Replayed.Run <= 0 ||
			a.Ranks != 2 || a.Output != again || len(a.LeftOut) > 0 {
			t.Errorf("%+v", a)
		}
		for _, f := range a.Functions {
			if f.Calls != f.ReplayedCalls || f.Time == nil || f.ReplayedTime == nil {
				t.Errorf("%+v", f)
			}
		}
		if info := must(t, "info", again); !strings.Contains(info, "2 ranks") {
			t.Errorf("%s", info)
		}
		if r := replay(2, "--compute", "sleep", "--gaps", "every"); r.status != cli.ExitOK ||
			!strings.Contains(r.stdout, "the run") || strings.Contains(r.stdout, "→") {
			t.Errorf("status %d: %s%s", r.status, r.stdout, r.stderr)
		}
		of = again // a replay of a replay
		if r := replay(2, "--compute", "none"); r.status != cli.ExitOK || strings.Contains(r.stdout, "→") {
			t.Errorf("status %d: %s%s", r.status, r.stdout, r.stderr)
		}
		of = trace
		failing := filepath.Join(directory, "launcher")
		writeFile(t, failing, "#!/bin/sh\necho no such queue >&2; exit 3\n")
		if err := os.Chmod(failing, 0o700); err != nil {
			t.Fatal(err)
		}
		line := launcher(m, 2)
		cmd = process(t, append([]string{"replay", trace, "--mpicc", m.CC, "--", failing}, line[1:]...)...)
		cmd.Env = append(mpitest.Environment(t), runMain+"=1")
		if r := outcome(t, cmd); r.status != 3 || !strings.Contains(r.stderr, "failed with status 3") ||
			strings.Contains(r.stderr, "as many ranks") {
			t.Errorf("status %d: %s%s", r.status, r.stdout, r.stderr)
		}
		if r := replay(1); r.status == cli.ExitOK ||
			!strings.Contains(r.stderr, "run by 1 processes, not the recorded 2") ||
			!strings.Contains(r.stderr, "such as: reprise replay "+trace+" -- mpirun -n 2") {
			t.Errorf("status %d: %s%s", r.status, r.stdout, r.stderr)
		}
	})
}

// TestReplayErrors checks what is said of a command line that is not complete.
func TestReplayErrors(t *testing.T) {
	heat, err := filepath.Abs(heatTrace)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args   []string
		status int
		want   string
	}{
		{nil, cli.ExitUsage, "replay takes a trace and, after --, the MPI launcher"},
		{[]string{heat}, cli.ExitUsage, "replay takes a trace and"},
		{[]string{heat, "--"}, cli.ExitUsage, "replay takes a trace and"},
		{[]string{"--", "mpirun"}, cli.ExitUsage, "replay takes a trace and"},
		{[]string{heat, heat, "--", "mpirun"}, cli.ExitUsage, "replay takes a trace and"},
		{[]string{heat, "-o", "-", "--", "mpirun"}, cli.ExitUsage, "-o takes a file"},
		{[]string{heat, "--scale", "0", "--", "mpirun"}, cli.ExitUsage, "--scale is a factor above 0"},
		{[]string{heat, "--scale", "NaN", "--", "mpirun"}, cli.ExitUsage, "--scale is a factor above 0"},
		{[]string{heat, "--times", "some", "--", "mpirun"}, cli.ExitUsage, "some"},
		{[]string{heat, "--", "no-such-launcher", "-n", "4"}, 127, "no-such-launcher: "},
	} {
		if r := invoke(t, "", append([]string{"replay"}, tt.args...)...); r.status != tt.status ||
			!strings.Contains(r.stderr, tt.want) {
			t.Errorf("%q: status %d, %q, want %q", tt.args, r.status, r.stderr, tt.want)
		}
	}
}
