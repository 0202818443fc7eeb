//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/record"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// TestRecordSignals interrupts a recorder, in some cases more than once: the program
// decides what becomes of it, and what was recorded is written.
func TestRecordSignals(t *testing.T) {
	m := theMPI(t)
	program := m.Build(t, "filter.c")
	const patient = `trap 'n=x$n' INT TERM; "$@" & while [ "$n" != xxx ] && kill -0 $!; do wait; done; kill -KILL $!; wait $!; exit 9`
	for _, test := range []struct {
		name   string
		line   []string
		signal syscall.Signal
		times  int
		status int // 0 if it depends on the launcher
	}{
		{"Launcher", m.Launch(2, program, "wait"), syscall.SIGTERM, 1, 0},
		{"LauncherINT", m.Launch(2, program, "wait"), syscall.SIGINT, 1, 0},
		{"Killed", []string{program, "wait"}, syscall.SIGTERM, 1, 128 + int(syscall.SIGTERM)},
		{"Caught", []string{"sh", "-c", patient, "sh", program, "wait"}, syscall.SIGINT, 3, 9},
	} {
		t.Run(test.name, func(t *testing.T) {
			directory := t.TempDir()
			trace := filepath.Join(directory, "run.rpz")
			cmd := recorder(t, m, []string{"-o", trace}, test.line...)
			var stdout, stderr bytes.Buffer
			began := make(chan bool, 1)
			cmd.Stdout, cmd.Stderr = &stdout, &noticing{buffer: &stderr, text: "ranks know", noticed: began}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				cmd.Wait()
				close(ended)
			}()
			select {
			case <-began:
			case <-ended:
				t.Fatalf("ended with %v\n%s", cmd.ProcessState, stderr.String())
			}
			for range test.times {
				cmd.Process.Signal(test.signal)
				waitAtMost(ended, 0.1)
			}
			if !waitAtMost(ended, 20) {
				cmd.Process.Kill()
				t.Fatal("it goes on")
			}
			status := cmd.ProcessState.ExitCode()
			if test.status != 0 && status != test.status {
				t.Errorf("status %d, want %d\n%s", status, test.status, stderr.String())
			}
			if !strings.Contains(stderr.String(), "the trace ends early") {
				t.Errorf("the summary says %s", stderr.String())
			}
			if i := infoOf(t, trace); callsOf(i, "MPI_Reduce") != uint64(i.Size) || callsOf(i, "MPI_Finalize") != 0 {
				t.Errorf("%+v", i)
			}
		})
	}
}

// TestRecordFailures records what cannot be recorded, or only in part.
func TestRecordFailures(t *testing.T) {
	m := theMPI(t)
	directory := t.TempDir()
	program := m.Build(t, "loop.c")
	none, output := filepath.Join(directory, "none"), filepath.Join(directory, "run.rpz")
	if err := os.Mkdir(none, 0o777); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(directory, "file"), "")
	lost := filepath.Join(directory, "lost")
	tests := []struct {
		name   string
		env    []string
		flags  []string
		line   []string
		status int
		stderr string // a regular expression
	}{
		{"NoCommand", nil, []string{"-o", output}, []string{"/no/such/command"}, 127,
			`^reprise: /no/such/command: no such file or directory\n$`},
		{"NotFound", nil, []string{"-o", output}, []string{"no-such-command"}, 127,
			`^reprise: no-such-command: executable file not found in \$PATH\n$`},
		{"NotFoundBeforeCompiler", nil, []string{"--mpicc", "no-such-mpicc", "-o", output},
			[]string{"no-such-command"}, 127,
			`^reprise: no-such-command: executable file not found in \$PATH\n$`},
		{"NoMPI", nil, []string{"-o", output}, []string{"true"}, cli.ExitFailure, // there is no trace
			`reprise: no call of MPI was recorded: no program of "true" is linked with MPI, and none has loaded it\n`},
		{"NoMPIFails", nil, []string{"-o", output}, []string{"sh", "-c", "exit 7"}, 7,
			`reprise: no call of MPI was recorded: the command failed with status 7 before any process called MPI\n`},
		{"NotLoaded", nil, []string{"-o", output}, []string{"env", "-i", program, "20"}, cli.ExitFailure,
			`reprise: no call of MPI was recorded: /.*/loop did not come to call MPI where the recorder is loaded: `},
		{"Preloads", nil, []string{"-o", output}, []string{"env", "LD_PRELOAD=", program, "20"}, cli.ExitFailure,
			`reprise: no call of MPI was recorded: the command sets LD_PRELOAD itself \(LD_PRELOAD=\), in place of the recorder's: `},
		{"PreloadsInScript", nil, []string{"-o", output},
			[]string{"sh", "-c", "unset LD_PRELOAD; exec " + program + " 20"}, cli.ExitFailure,
			`reprise: no call of MPI was recorded: the command sets LD_PRELOAD itself \(unset LD_PRELOAD;?\), `},
		{"NoCompiler", []string{"MPICC=", "PATH=" + none}, []string{"-o", output}, []string{program}, cli.ExitFailure,
			`^reprise: there is no mpicc: .* in lib(openmpi|mpich)-dev; .*; name it with --mpicc\n$`},
		{"NoSuchCompiler", nil, []string{"--mpicc", "no-such-mpicc", "-o", output}, []string{program}, cli.ExitFailure,
			`^reprise: .*"no-such-mpicc": executable file not found`},
		{"CompilerWithoutMPI", nil, []string{"--mpicc", "cc", "-o", output}, []string{program}, cli.ExitFailure,
			`^reprise: (.|\n)*mpi\.h`},
		{"NoDirectory", nil, []string{"-o", filepath.Join(directory, "no", "run.rpz")}, []string{program},
			cli.ExitFailure,
			`^reprise: /.*/no/run.rpz: no such file or directory\n$`},
		{"IsDirectory", nil, []string{"-o", directory}, []string{program}, cli.ExitFailure,
			`^reprise: /.*: is a directory\n$`},
		{"PartsInFile", nil, []string{"--parts", filepath.Join(directory, "file")}, []string{program}, cli.ExitFailure,
			`^reprise: .*/file: not a directory\n$`},
		{"RawNotEmpty", nil, []string{"--keep-raw", directory, "-o", output}, []string{program}, cli.ExitFailure,
			`^reprise: /.*: is not empty\n$`},
		{"Vanished", []string{"TMPDIR=" + none}, []string{"-o", filepath.Join(lost, "run.rpz")},
			[]string{"sh", "-c", `rmdir "$0" && exec "$@"`, lost, program, "20"}, cli.ExitFailure,
			`reprise: /.*/lost/run.rpz: no such file or directory; the trace is in /.*/none/reprise-.*\.rpz\n`},
	}
	if other := otherMPI(t, m); other != nil {
		script := filepath.Join(directory, "script")
		writeFile(t, script, "#!/bin/sh\nexec "+program+" 20\n")
		if err := os.Chmod(script, 0o700); err != nil {
			t.Fatal(err)
		}
		tests = append(tests, tests[0], tests[0], tests[0])
		test := &tests[len(tests)-3]
		test.name, test.flags, test.line = "OtherMPI", []string{"--mpicc", other.CC, "-o", output}, []string{script}
		test.status, test.stderr = cli.ExitFailure,
			`^reprise: /.*/loop is linked with libmpi\S+, and what .*mpicc\S* builds with libmpi\S+: take .*\n$`
		test = &tests[len(tests)-2]
		test.name, test.flags, test.line = "OtherCompiler", []string{"--mpicc", other.CC, "-o", output},
			[]string{program, "20"}
		test.status, test.stderr = cli.ExitFailure,
			`^reprise: /.*/loop is linked with libmpi\S+, and what .*mpicc\S* builds with libmpi\S+: take .*\n$`
		test = &tests[len(tests)-1]
		test.name, test.flags, test.line = "OtherLauncher", []string{"-o", output},
			append([]string{"env"}, other.Launch(2, program, "20")...)
		test.status, test.stderr = cli.ExitFailure,
			`^reprise: /.*/loop is linked with (Open MPI|MPICH) .*: each process would be alone in a run of its own\. Start it with mpi.*\n$`
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.name == "Vanished" {
				if err := os.Mkdir(lost, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			cmd := recorder(t, m, test.flags, test.line...)
			cmd.Env = append(cmd.Env, test.env...)
			got := outcome(t, cmd)
			if got.status != test.status || !regexp.MustCompile(test.stderr).MatchString(got.stderr) {
				t.Errorf("status %d, want %d; want %s:\n%s", got.status, test.status, test.stderr, got.stderr)
			}
			if _, err := os.Stat(output); err == nil {
				t.Error("there is an output")
			}
		})
	}
	if other := otherMPI(t, m); other != nil {
		checkAlone(t, m, other, filepath.Join(directory, "script"), filepath.Join(directory, "alone.rpz"))
		checkPartsAlone(t, m, other, filepath.Join(directory, "script"), filepath.Join(directory, "parts"))
	}
	saved, err := filepath.Glob(filepath.Join(none, "reprise-*.rpz"))
	if err != nil || len(saved) != 1 || callsOf(infoOf(t, saved[0]), "MPI_Finalize") != 1 {
		t.Errorf("saved is %v, %v", saved, err)
	}
}

// checkAlone starts a script with the launcher of another MPI than that of the program in it:
// each process is alone, and the summary says so.
func checkAlone(t *testing.T, m, other *mpitest.MPI, script, trace string) {
	t.Helper()
	got := outcome(t, recorder(t, m, []string{"-o", trace}, other.Launch(2, script)...))
	if got.status != 0 ||
		!strings.Contains(got.stderr, "2 processes of one launcher were each alone in MPI_COMM_WORLD") {
		t.Errorf("%+v", got)
	}
	if o := infoOf(t, trace).MadeBy; o == nil || o.World != 1 {
		t.Errorf("made by %+v", o)
	}
}

// checkPartsAlone starts a recorder for each process of a script with the launcher of another MPI than that
// of the program in it: one part is written, and all say why there are not two.
func checkPartsAlone(t *testing.T, m, other *mpitest.MPI, script, parts string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	line := other.Launch(2, self, "record", "-q", "--parts", parts, "--", script)
	cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
	cmd.Env = append(mpitest.Environment(t), runMain+"=1", "MPICC="+m.CC)
	got := outcome(t, cmd)
	const want = "the launcher has started 2 processes, and each is alone in MPI_COMM_WORLD, as rank 0"
	if n := strings.Count(got.stderr, want); n != 2 || strings.Contains(got.stderr, "is there already") {
		t.Errorf("%d times: %+v", n, got)
	}
	if list, err := os.ReadDir(parts); err != nil || len(list) != 1 {
		t.Errorf("parts %v, %v", list, err)
	}
}

// otherMPI returns another than m, or nil.
func otherMPI(t *testing.T, m *mpitest.MPI) *mpitest.MPI {
	for _, other := range mpitest.Installed(t) {
		if other != m {
			return other
		}
	}
	return nil
}

// TestRecordFind leaves it to the recorder to find the MPI of a program.
func TestRecordFind(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		trace := filepath.Join(t.TempDir(), "run.rpz")
		cmd := recorder(t, m, []string{"-q", "-o", trace}, m.Launch(1, m.Build(t, "loop.c"), "10")...)
		cmd.Env = append(cmd.Env, "MPICC=")
		if got := outcome(t, cmd); got.status != 0 || got.stderr != "" ||
			callsOf(infoOf(t, trace), "MPI_Waitall") != 10 {
			t.Errorf("%+v", got)
		}
	})
}

// TestRecordOff records a program from where it switches the recording on.
func TestRecordOff(t *testing.T) {
	m := theMPI(t)
	trace, counts := filepath.Join(t.TempDir(), "run.rpz"), t.TempDir()
	const count = `LD_PRELOAD="$0:$LD_PRELOAD" exec "$@"`
	cmd := recorder(t, m, []string{"--off", "-o", trace},
		m.Launch(2, "sh", "-c", count, m.Counter(t), m.Build(t, "switch.c"))...)
	cmd.Env = append(cmd.Env, mpitest.CountIn(counts))
	if got := outcome(t, cmd); got.status != 0 {
		t.Fatal(got.stderr)
	}
	counted, err := mpitest.ReadCounts(counts)
	if err != nil {
		t.Fatal(err)
	}
	want := uint64(0)
	for _, functions := range counted {
		for _, n := range functions {
			want += n
		}
	}
	i := infoOf(t, trace)
	if i.Calls != want || callsOf(i, "MPI_Init") != 2 || callsOf(i, "MPI_Finalize") != 2 ||
		callsOf(i, "MPI_Sendrecv") != 2*(7+2) {
		t.Errorf("%d calls, counted %d: %+v", i.Calls, want, i.Functions)
	}
	const off = "recording was off for a part of the run, on ranks 0-1"
	if got := must(t, "why", trace); !strings.Contains(strings.ReplaceAll(got, "\n  ", " "), off) {
		t.Errorf("why says %q", got)
	}
	if got := invoke(t, "", "profile", trace); !strings.Contains(got.stderr, off) {
		t.Errorf("profile warns %q", got.stderr)
	}
}

// TestRecordAlwaysOff records a program that never switches the recording on: the trace has what later calls
// would need.
func TestRecordAlwaysOff(t *testing.T) {
	m := theMPI(t)
	trace := filepath.Join(t.TempDir(), "run.rpz")
	if got := outcome(t, recorder(t, m, []string{"-q", "--off", "-o", trace},
		m.Launch(1, m.Build(t, "loop.c"), "20")...)); got.status != 0 {
		t.Fatal(got.stderr)
	}
	if i := infoOf(t, trace); i.Calls != 2 || callsOf(i, "MPI_Init") != 1 || callsOf(i, "MPI_Finalize") != 1 {
		t.Errorf("%+v", i.Functions)
	}
}

// TestRecordCollectedAgain kills the process that collects: what is said of the command is the same.
func TestRecordCollectedAgain(t *testing.T) {
	m := theMPI(t)
	program := m.Build(t, "loop.c")
	const script = `"$@"; for p in $(cat /proc/$PPID/task/*/children); do [ $p = $$ ] || kill -KILL $p; done; exit 3`
	trace := filepath.Join(t.TempDir(), "run.rpz")
	got := outcome(t, recorder(t, m, []string{"--json", "-o", trace}, "sh", "-c", script, "sh", program, "20"))
	begin := strings.IndexByte(got.stderr, '{')
	if begin < 0 || !strings.Contains(got.stderr[:begin], "the records are collected again") {
		t.Fatal(got.stderr)
	}
	var s record.Summary
	if err := json.Unmarshal([]byte(got.stderr[begin:]), &s); err != nil || got.status != 3 ||
		s.Status != 3 || s.Command <= 0 || s.Calls == 0 {
		t.Errorf("status %d, %v: %s", got.status, err, got.stderr)
	}
}

// TestRecordKilledRemoving kills the process that collects while it removes the spool of a trace that is
// written: record says so, and the next one, or record itself, removes what is left.
func TestRecordKilledRemoving(t *testing.T) {
	m := theMPI(t)
	program := m.Build(t, "loop.c")
	line := m.Launch(2, program, "20")
	for _, tt := range []struct {
		name   string
		script string // of the shell that starts the command
		args   []string
	}{
		{"Collector", `exec "$@"`, []string{"-o", "run.rpz"}},
		{"Both", `"$@"; kill -KILL $PPID`, []string{"-o", "run.rpz"}},
		{"Parts", `exec "$@"`, []string{"--parts", "parts"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			directory, spool := t.TempDir(), t.TempDir()
			t.Chdir(directory)
			args := slices.Concat([]string{"record", "--json", "--spool", spool}, tt.args,
				[]string{"--", "sh", "-c", tt.script, "sh"}, line)
			cmd := process(t, args...)
			cmd.Env = append(mpitest.Environment(t), runMain+"=1", "MPICC="+m.CC)
			cmd.Env = append(cmd.Env, killAt+"=discard")
			got := outcome(t, cmd)
			spools := func() []string { return namesIn(t, spool) }
			if tt.name == "Both" { // what collects goes on, and is killed later
				waitFor(t, func() bool { s := spools(); return len(s) == 1 && cli.IsLeftover(s[0]) })
				left := filepath.Join(spool, spools()[0])
				if r := invoke(t, "", "collect", left, "-o", "again.rpz"); r.status != cli.ExitFailure ||
					!strings.Contains(r.stderr, "this is a leftover of raw records that are in a trace already") {
					t.Errorf("%+v", r)
				}
			} else if got.status != 0 || len(spools()) > 0 ||
				!strings.Contains(got.stderr, "signal: killed, when the trace was written") ||
				strings.Contains(got.stderr, "again") {
				t.Errorf("%+v", got)
			}
			trace := "run.rpz"
			if tt.name == "Parts" {
				trace = filepath.Join("parts", "rank0000000.part.rpz")
			}
			const calls = 20
			if n := callsOf(infoOf(t, trace), "MPI_Waitall"); n != 2*calls {
				t.Errorf("%d calls", n)
			}
			must(t, "info", trace)
			next := process(t, append([]string{"record", "-q", "--spool", spool, "-o", "next.rpz", "--"}, line...)...)
			next.Env = append(mpitest.Environment(t), runMain+"=1", "MPICC="+m.CC)
			if got := outcome(t, next); got.status != 0 || len(spools()) > 0 {
				t.Errorf("%+v, left %v", got, spools())
			}
		})
	}
}
