package record

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A sentinel is a process that does nothing and blocks the signals that are handed on: so those that were
// sent to the whole group that it is in, as by timeout, or to every process, as by a batch system, stay
// pending there.
type sentinel struct {
	cmd   *exec.Cmd
	stdin io.Closer
}

// Sentinels are scripts of a shell that wait until record closes their standard input, or has ended.
const (
	watching = "read -r _"
	guarding = "read -r _; kill -KILL 0" // ends its group if record was killed
)

// settling is how long it may take until a signal that record has got was sent to the rest of its group.
const settling = 100 * time.Millisecond

// startSentinel starts one in a group of processes, 0 for that of record. It returns nil if that cannot be.
func startSentinel(script string, group int) *sentinel {
	path, err := exec.LookPath("sh")
	if err != nil {
		return nil
	}
	s := &sentinel{cmd: exec.Command(path, "-c", script)}
	s.cmd.Env = []string{}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: group != 0, Pgid: group}
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil
	}
	runtime.LockOSThread() // whose mask the process inherits
	defer runtime.UnlockOSThread()
	restore, ok := blockForwarded()
	if !ok {
		return nil
	}
	err = s.cmd.Start()
	restore()
	if err != nil {
		return nil
	}
	return s
}

// had reports whether the group has been sent a signal since the sentinel was started.
func (s *sentinel) had(which os.Signal) bool {
	return s.pending()>>(uint(which.(syscall.Signal))-1)&1 != 0
}

// pending returns the signals that it has had, as bits.
func (s *sentinel) pending() uint64 {
	if s == nil {
		return 0
	}
	status, err := os.ReadFile("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if hex, ok := strings.CutPrefix(string(line), "ShdPnd:"); ok {
			pending, _ := strconv.ParseUint(strings.TrimSpace(hex), 16, 64)
			return pending
		}
	}
	return 0
}

// end ends the sentinel.
func (s *sentinel) end() {
	if s != nil {
		_ = s.cmd.Process.Kill() // before it could take the end of its input for that of record
		s.stdin.Close()
		_ = s.cmd.Wait()
	}
}

// A relay hands signals on to a command, each as often as it would have had it without record.
type relay struct {
	to    *os.Process
	apart bool // it is in a group of its own

	here, there *sentinel // in the group of record, and in that of the command if it is apart
}

// apart reports whether a command is to have a group of its own, so that it gets signals that come to the
// group of record from record alone: once, as a launcher may take a second one for the wish to end at once,
// and timeout sends two. It stays in the group of record if there is a terminal, to read from it and to be
// stopped with record, and if a launcher has started record, which ends the group.
func apart() bool {
	terminal, err := os.Open("/dev/tty")
	if err == nil {
		terminal.Close()
	}
	return err != nil && !underLauncher()
}

// NewRelay returns a relay to a command that has started.
func NewRelay(to *os.Process) *relay {
	r := &relay{to: to, apart: !sameGroup(to.Pid), here: startSentinel(watching, 0)}
	if r.apart {
		r.guard()
	}
	return r
}

// guard starts a sentinel in the group of the command, in place of the one that was there. While it is being
// started, it is in that of record: what it has had then does not count.
func (r *relay) guard() {
	for range 3 {
		r.there.end()
		if r.there = startSentinel(guarding, r.to.Pid); r.there.pending() == 0 {
			return
		}
	}
}

// end ends the sentinels of the relay.
func (r *relay) end() {
	r.here.end()
	r.there.end()
}

// HandOn hands the signals on that come on a channel until it is told to end.
func (r *relay) HandOn(signals <-chan os.Signal, end <-chan struct{}) {
	type arrival struct {
		signal os.Signal
		due    time.Time
	}
	var waiting []arrival
	for {
		var due <-chan time.Time
		if len(waiting) > 0 {
			due = time.After(time.Until(waiting[0].due))
		}
		select {
		case <-end:
			return
		case which := <-signals:
			waiting = append(waiting, arrival{which, time.Now().Add(settling)})
		case <-due:
			which := waiting[0].signal
			waiting = waiting[1:]
			if r.pass(which) {
				// All of these that have come are the one of the group, or were sent besides, as timeout
				// does.
				waiting = slices.DeleteFunc(waiting, func(a arrival) bool { return a.signal == which })
			}
		}
	}
}

// pass passes a signal on to whom it was for, unless it has come there, and reports whether the whole group
// has had it.
func (r *relay) pass(which os.Signal) (group bool) {
	here, there := r.here.had(which), r.there.had(which)
	if here { // a new one waits for the next, which may come as soon as this is passed on
		r.here.end()
		r.here = startSentinel(watching, 0)
	}
	switch {
	case there:
	case here && r.apart && unix.Kill(-r.to.Pid, which.(syscall.Signal)) == nil:
		there = true
	case here && !r.apart && sameGroup(r.to.Pid):
	default:
		_ = r.to.Signal(which)
	}
	if there {
		r.guard()
	}
	return here || there
}

// sameGroup reports whether a process is of the group of this one.
func sameGroup(pid int) bool {
	group, err := unix.Getpgid(pid)
	return err == nil && group == unix.Getpgrp()
}

// Notify has the signals sent to a channel that are handed on, but for those that are ignored, as by nohup,
// and, of a command in the group of record, that which stops the group.
func Notify(signals chan<- os.Signal, apart bool) {
	for _, s := range forwarded {
		if !signal.Ignored(s) && (apart || s != syscall.SIGTSTP) {
			signal.Notify(signals, s)
		}
	}
}
