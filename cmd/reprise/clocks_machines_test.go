//go:build linux

package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/mpitest"
)

// A shifted is a machine as machines.c has it: how many nanoseconds its clocks are ahead when recording begins, by how many parts in a thousand million they are fast,
// and what is added to both from a second time on.
type shifted struct{ ahead, fast, laterAhead, laterFast int64 }

// A shift is the machines of the ranks of clocks.c, and the times that they depend on.
type shift struct {
	of            [4]int // the machine of each rank
	machines      []shifted
	begin, second int64 // second is zero if there is none
	real          int64 // by how much real time is ahead of the monotonic clock
}

// environment returns what tells the library of the machines.
func (s *shift) environment(library, file string) []string {
	text := fmt.Sprint(s.begin)
	for _, k := range s.of {
		m := s.machines[k]
		text += fmt.Sprint(" ", k+1, m.ahead, m.fast, m.laterAhead, m.laterFast)
	}
	return []string{"LD_PRELOAD=" + library, "MACHINES=" + text, "MACHINES_FILE=" + file}
}

// at returns what the clock of a machine says at a time of the real clock.
func (s *shift) at(k int, time int64) int64 {
	m := s.machines[k]
	time -= s.real
	shift := m.ahead + int64(float64(time-s.begin)*float64(m.fast)/1e9)
	if s.second > 0 && time >= s.second {
		shift += m.laterAhead + int64(float64(time-s.second)*float64(m.laterFast)/1e9)
	}
	return time + shift + s.real
}

// truth returns the time of the real clock when the clock of a machine says so.
func (s *shift) truth(k int, time int64) int64 {
	m, base, rate := s.machines[k], s.begin+s.real, float64(s.machines[k].fast)
	if second := s.second + s.real; s.second > 0 && time >= s.at(k, second) {
		base, rate = second, rate+float64(m.laterFast)
	}
	return base + int64(float64(time-s.at(k, base))/(1+rate/1e9))
}

// now returns the monotonic clock, and by how much real time is ahead of it.
func now(t *testing.T) (monotonic, ahead int64) {
	t.Helper()
	least := int64(-1)
	for range 16 {
		var before, real, after unix.Timespec
		for _, clock := range []struct {
			id int32
			to *unix.Timespec
		}{{unix.CLOCK_MONOTONIC, &before}, {unix.CLOCK_REALTIME, &real}, {unix.CLOCK_MONOTONIC, &after}} {
			if err := unix.ClockGettime(clock.id, clock.to); err != nil {
				t.Fatal(err)
			}
		}
		if took := after.Nano() - before.Nano(); least < 0 || took < least {
			least = took
			monotonic, ahead = before.Nano(), real.Nano()-before.Nano()-took/2
		}
	}
	return monotonic, ahead
}

// TestMachines records programs whose ranks are on machines with clocks of their own, each with a recorder, and compares the times of the
// trace that is merged with what the clock of the first machine said: they are the same within the error that is told and a microsecond, which reading clocks takes.
func TestMachines(t *testing.T) {
	for _, tt := range []struct {
		name    string
		shift   shift
		counter bool // times are those of the counter of the processor
	}{
		{"Even", shift{of: [4]int{0, 0, 1, 1}, machines: []shifted{{}, {ahead: 3e9, fast: 100_000}}}, false},
		{"Counter", shift{of: [4]int{0, 0, 1, 2}, machines: []shifted{{ahead: 1e9, fast: -50_000}, {ahead: 3e9, fast: 100_000}, {ahead: -2e9, fast: -100_000}}}, true},
		{"Stepped", shift{of: [4]int{0, 0, 1, 2}, machines: []shifted{{}, {ahead: 3e9, fast: 100_000, laterAhead: 1e9}, {ahead: -2e9, fast: -100_000}}}, false},
		{"Drifting", shift{of: [4]int{0, 0, 1, 2}, machines: []shifted{{}, {ahead: 3e9, fast: 100_000, laterFast: 500_000}, {ahead: -2e9, fast: -100_000}}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
				t.Chdir(t.TempDir())
				s := tt.shift
				recordShifted(t, m, &s, tt.counter)
				checkShifted(t, &s)
			})
		})
	}
}

// recordShifted records clocks.c on machines into the directory parts, and merges these to run.rpz and each alone to 0.rpz and so on.
func recordShifted(t *testing.T, m *mpitest.MPI, s *shift, counter bool) {
	t.Helper()
	library := m.Build(t, "machines.c", "-shared", "-fPIC", "-Wno-parentheses", "-Wl,--as-needed")
	program := []string{m.Build(t, "clocks.c"), "200"}
	writeFile(t, "second", strings.Repeat("\x00", 8))
	if last := s.machines[1]; last.laterAhead != 0 || last.laterFast != 0 {
		program = append(program, "second")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.begin, s.real = now(t)
	line := append([]string{self, "record", "--times", "exact", "-q", "--parts", "parts", "--spool", t.TempDir(), "--"}, program...)
	line = m.Launch(4, line[0], line[1:]...)
	cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
	path, err := filepath.Abs("second")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(append(mpitest.Environment(t), runMain+"=1", "MPICC="+m.CC), s.environment(library, path)...)
	if counter {
		cmd.Env = append(cmd.Env, "MACHINES_COUNTER=1")
	}
	if got := outcome(t, cmd); got.status != 0 || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	if _, ahead := now(t); max(ahead-s.real, s.real-ahead) > 500 {
		t.Skipf("real time was set, by %d ns", ahead-s.real)
	}
	s.second = int64(binary.LittleEndian.Uint64([]byte(readFile(t, "second"))))
	t.Log(must(t, "merge", "parts", "-o", "run.rpz"))
	for rank := range 4 {
		invoke(t, "", "merge", fmt.Sprintf("parts/rank%07d.part.rpz", rank), "-o", fmt.Sprint(rank, ".rpz"))
	}
}

// checkShifted checks the times of run.rpz.
func checkShifted(t *testing.T, s *shift) {
	t.Helper()
	var info infoAnswer
	if err := json.Unmarshal([]byte(must(t, "info", "--json", "run.rpz")), &info); err != nil {
		t.Fatal(err)
	}
	if len(info.Clocks) != len(s.machines) {
		t.Fatalf("clocks %+v", info.Clocks)
	}
	run := opened(t, "run.rpz")
	for rank, k := range s.of {
		raw, _ := timesOf(t, opened(t, fmt.Sprint(rank, ".rpz")), rank)
		got, _ := timesOf(t, run, rank)
		worst, some := int64(0), 0
		for i, at := range raw {
			want := s.at(0, s.truth(k, at.Start))
			off := max(got[i].Start-want, want-got[i].Start)
			if off > info.Clocks[k].Error+1000 {
				some++
			} else {
				worst = max(worst, off)
			}
		}
		t.Logf("rank %d: off by %d ns at most, %d told, but for %d of %d", rank, worst, info.Clocks[k].Error, some, len(raw))
	}
}

func opened(t *testing.T, name string) *reprise.Trace {
	t.Helper()
	trace, err := openTrace(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { trace.Close() })
	return trace
}
