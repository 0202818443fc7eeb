//go:build linux

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/record"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/trace"
)

var kills = flag.Int("kills", tier.Number(1, 2), "how often TestKilledAnywhere kills in each of its ways")

// A role is what a process does in a recording.
type role uint8

const (
	recording role = 1 << iota
	collecting
	calling // MPI, or starts what does
)

// TestKilledAnywhere kills processes of record at random instants, with and without the one that collects,
// and that before the program: each call that had returned is in the trace, and nothing is left but what the
// documentation says.
func TestKilledAnywhere(t *testing.T) {
	m := theMPI(t)
	program := m.Build(t, "counted.c")
	for _, way := range []killing{
		{"AllButCollector", false, []role{recording | calling}},
		{"CollectorFirst", false, []role{collecting, calling}},
		{"All", false, []role{recording | collecting | calling}},
		{"AllKeepRaw", true, []role{recording | collecting | calling}},
	} {
		t.Run(way.name, func(t *testing.T) {
			begun := 0
			for range *kills {
				if way.check(t, m, program, 300*time.Millisecond+rand.N(2*time.Second)) {
					begun++
				}
			}
			t.Logf("killed %d times, %d of them while the program called MPI", *kills, begun)
		})
	}
}

// A killing is a way to kill processes of record.
type killing struct {
	name  string
	raw   bool   // with --keep-raw
	roles []role // that are killed, one after another
}

// check records a program, kills processes after some time, and reports whether the program had called MPI by
// then.
func (way *killing) check(t *testing.T, m *mpitest.MPI, program string, after time.Duration) bool {
	t.Helper()
	const ranks = 2
	directory, returned, spool := t.TempDir(), t.TempDir(), t.TempDir()
	raw, tr := filepath.Join(directory, "raw"), filepath.Join(directory, "run.rpz")
	flags := []string{"record", "-q", "--sites", "none", "-o", tr, "--spool", spool, "--"}
	if way.raw {
		flags = []string{"record", "-q", "--sites", "none", "-o", tr, "--keep-raw", raw, "--"}
	}
	mark := fmt.Sprintf("REPRISE_TEST_KILL=%d.%d", os.Getpid(), time.Now().UnixNano())
	cmd := process(t, append(flags, m.Launch(ranks, program, returned)...)...)
	cmd.Env = append(mpitest.Environment(t), runMain+"=1", "MPICC="+m.CC, "TMPDIR="+t.TempDir(), mark)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var spared []int
	killed := role(0)
	for _, roles := range way.roles {
		time.Sleep(after / time.Duration(len(way.roles)))
		spared = killMarked(mark, roles)
		killed |= roles
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	for !waitAtMost(ended, 0.1) { // record may not have started the program before
		spared = killMarked(mark, way.roles[len(way.roles)-1])
	}
	for _, pid := range spared {
		waitFor(t, func() bool { return syscall.Kill(pid, 0) != nil || zombie(pid) })
	}
	if names := strings.Join(namesIn(t, directory), " "); killed&collecting != 0 && killed&recording != 0 &&
		names != "" && names != "raw" {
		t.Errorf("killed after %v, left %s", after, names)
	}
	left, err := filepath.Glob(filepath.Join(spool, "*"))
	if err != nil || len(left) > 1 || len(left) == 1 &&
		(!strings.HasPrefix(filepath.Base(left[0]), "reprise-spool-") || len(spared) > 0 || killed&recording == 0) {
		t.Errorf("killed after %v, left in the spool's directory: %s, %v", after, left, err)
	}
	if way.raw {
		left = []string{raw}
	} else if len(left) == 1 && cli.IsLeftover(left[0]) {
		left = nil // the trace is there
	}
	var want [ranks]uint64
	all := uint64(0)
	for rank := range want {
		if b, err := os.ReadFile(filepath.Join(returned, strconv.Itoa(rank))); err == nil && len(b) == 8 {
			want[rank] = binary.LittleEndian.Uint64(b)
			all += want[rank]
		}
	}
	if all == 0 {
		return false
	}
	for _, raw := range left {
		if r := invoke(t, "", "collect", raw, "-o", tr); r.status != cli.ExitOK {
			t.Fatalf("killed after %v: %s", after, r.stderr)
		}
	}
	if made := opened(t, tr).Run().Origin; len(made.Commands) != 1 ||
		!strings.Contains(made.Commands[0], program) || len(made.Hosts) != 1 {
		t.Errorf("killed after %v: made by %+v", after, made)
	}
	for rank, n := range want {
		// and MPI_Init, MPI_Comm_rank, MPI_Comm_size, and one that had not returned, or just
		got := countOfRank(t, tr, rank)
		if got < n+3 || got > n+3+2 {
			t.Errorf("killed after %v: %d calls of rank %d in the trace, and %d had returned\n%s", after, got,
				rank, n, &output)
		}
	}
	return true
}

// TestLockedUntilTheEnd checks that nobody merges parts while those of a helper that was killed are collected
// again.
func TestLockedUntilTheEnd(t *testing.T) {
	t.Setenv(runMain, "1")
	parts, spool := t.TempDir(), t.TempDir()
	o := &record.Options{Lock: true, OnTimeout: &cli.Choice{}}
	o.Output.Parts = parts
	h, err := record.StartHelper(spool, o, format.Origin{})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return zombie(h.Cmd.Process.Pid) })
	f, err := os.OpenFile(filepath.Join(parts, ".recording"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	free := func() bool { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil }
	if free() {
		t.Error("the parts are free while the helper is gone and nothing is collected yet")
	}
	if err := h.Finish(record.Ending{}); !errors.Is(err, record.ErrNothing) {
		t.Error(err)
	}
	if !free() {
		t.Error("the parts are not free at the end")
	}
}

// killMarked kills all processes in some roles that have an entry in their environment, until there are none.
// It returns those that collect and live.
func killMarked(mark string, roles role) (spared []int) {
	for {
		spared = nil
		killed := 0
		paths, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, path := range paths {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			environment, err2 := os.ReadFile(path)
			if err != nil || err2 != nil || !bytes.Contains(environment, []byte(mark)) || zombie(pid) {
				continue
			}
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			is := calling
			if _, arguments, _ := bytes.Cut(line, []byte{0}); bytes.HasPrefix(arguments, []byte("record\x00")) {
				is = recording
			} else if bytes.HasPrefix(arguments, []byte("collect\x00")) {
				is = collecting
			}
			switch {
			case roles&is != 0:
				_ = syscall.Kill(pid, syscall.SIGKILL)
				killed++
			case is == collecting:
				spared = append(spared, pid)
			}
		}
		if killed == 0 {
			return spared
		}
	}
}

// zombie reports whether a process has ended.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	i := bytes.LastIndexByte(stat, ')')
	return err != nil || i < 0 || bytes.HasPrefix(stat[i:], []byte(") Z"))
}

func namesIn(t *testing.T, directory string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// countOfRank returns how many calls of a rank are in a trace, none if there is no such trace.
func countOfRank(t *testing.T, path string, number int) uint64 {
	t.Helper()
	tr, err := trace.Open(path, trace.Options{})
	if err != nil {
		t.Error(err)
		return 0
	}
	defer tr.Close()
	rank, err := tr.Rank(number)
	if err != nil {
		t.Error(err)
		return 0
	}
	return rank.Len()
}
