//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/record"
)

// handingOn names the environment variable that makes TestHandOn the process that hands signals on, and
// handedOn the one that makes it the command.
const handingOn, handedOn = "REPRISE_TEST_HANDING_ON", "REPRISE_TEST_HANDED_ON"

// TestHandOn sends signals to a process that hands them on, to its group, to both, as timeout does, and to
// every process, as batch systems do: a command in the group gets those that it would have had without
// record, and one in a group of its own each once.
func TestHandOn(t *testing.T) {
	switch {
	case os.Getenv(handedOn) != "":
		sayWhatComes(t)
		return
	case os.Getenv(handingOn) != "":
		handOnHere(t)
		return
	}
	for _, tt := range []struct {
		name   string
		apart  bool
		to     string // a letter for each signal: a for record alone, g for its group, e for every process, . waits until one has come
		signal syscall.Signal
		want   int
	}{
		{"Alone", false, "a", syscall.SIGUSR1, 1},
		{"Group", false, "g", syscall.SIGTERM, 1},
		{"Both", false, "ag", syscall.SIGHUP, 1},
		{"Twice", false, "a.a", syscall.SIGINT, 2},
		{"GroupTwice", false, "g.g", syscall.SIGUSR1, 2},
		{"ApartAlone", true, "a", syscall.SIGTERM, 1},
		{"ApartGroup", true, "g", syscall.SIGXCPU, 1},
		{"ApartStops", true, "g", syscall.SIGTSTP, 1},
		{"ApartBoth", true, "gag", syscall.SIGTERM, 1},
		{"ApartTwice", true, "g.g.a", syscall.SIGUSR1, 3},
		{"ApartEvery", true, "e", syscall.SIGTERM, 1},
		{"Every", false, "e", syscall.SIGTERM, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if signal.Ignored(tt.signal) {
				t.Skip("ignored here, as by nohup, and so by the command")
			}
			h := startHandingOn(t, tt.apart)
			for _, to := range tt.to {
				switch to {
				case '.':
					h.await(t, tt.signal)
				case 'a':
					h.send(t, h.pid, tt.signal)
				case 'g':
					h.send(t, -h.pid, tt.signal)
				case 'e':
					for _, pid := range append(childrenOf(t, h.pid), h.pid) {
						h.send(t, pid, tt.signal)
					}
				}
			}
			for h.had[tt.signal] < tt.want {
				h.await(t, tt.signal)
			}
			h.send(t, h.pid, syscall.SIGWINCH) // comes after what else is handed on
			h.await(t, syscall.SIGWINCH)
			if n := h.had[tt.signal]; n != tt.want {
				t.Errorf("the command has had %d signals, want %d", n, tt.want)
			}
		})
	}
	t.Run("ApartKilled", func(t *testing.T) {
		t.Parallel()
		h := startHandingOn(t, true)
		h.send(t, h.pid, syscall.SIGKILL)
		if _, err := io.Copy(io.Discard, h.says); err != nil { // until the command has ended
			t.Error(err)
		}
	})
}

// A passing is a process that hands signals on to a command, which says what it gets.
type passing struct {
	pid  int
	says *bufio.Reader
	had  map[syscall.Signal]int
}

func startHandingOn(t *testing.T, apart bool) *passing {
	c := exec.CommandContext(t.Context(), process(t).Path, "-test.run=^TestHandOn$")
	c.Env = append(os.Environ(), handingOn+"="+strconv.FormatBool(apart))
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	says, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout = theirs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	h := &passing{c.Process.Pid, bufio.NewReader(says), make(map[syscall.Signal]int)}
	t.Cleanup(func() {
		for _, pid := range append(childrenOf(t, h.pid), -h.pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		_ = c.Wait()
		says.Close()
	})
	h.await(t, 0) // until it is there
	return h
}

func (h *passing) send(t *testing.T, pid int, which syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, which); err != nil {
		t.Error(err)
	}
}

// await waits until the command has had a signal.
func (h *passing) await(t *testing.T, which syscall.Signal) {
	t.Helper()
	for {
		line, err := h.says.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			continue
		}
		h.had[syscall.Signal(n)]++
		if syscall.Signal(n) == which {
			return
		}
	}
}

// handOnHere is the process that hands signals on.
func handOnHere(t *testing.T) {
	apart := os.Getenv(handingOn) == "true"
	signals := make(chan os.Signal, 16)
	record.Notify(signals, apart)
	defer signal.Stop(signals)
	c := exec.Command(process(t).Path, "-test.run=^TestHandOn$")
	c.Env = append(os.Environ(), handedOn+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: apart}
	c.Stdout = os.Stdout
	ready, mine, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.ExtraFiles = []*os.File{mine}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	mine.Close()
	if _, err := io.Copy(io.Discard, ready); err != nil { // until it takes signals
		t.Fatal(err)
	}
	r := record.NewRelay(c.Process)
	fmt.Println(0)
	r.HandOn(signals, nil)
}

// sayWhatComes is the command: it prints the number of each signal that it gets.
func sayWhatComes(t *testing.T) {
	signals := make(chan os.Signal, 16)
	record.Notify(signals, true)
	os.NewFile(record.FirstExtra, "ready").Close()
	for s := range signals {
		fmt.Println(int(s.(syscall.Signal)))
	}
}

// childrenOf returns the processes that a process has started.
func childrenOf(t *testing.T, pid int) (children []int) {
	t.Helper()
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil // it has ended
	}
	for _, thread := range threads {
		list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, thread.Name()))
		for child := range strings.FieldsSeq(string(list)) {
			if n, err := strconv.Atoi(child); err == nil {
				children = append(children, n)
			}
		}
	}
	return children
}
