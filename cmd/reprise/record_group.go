package main

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
	"unsafe"

	"golang.org/x/sys/unix"
)

// A sentinel is a process of the group of record that does nothing and blocks the signals that are handed on: so those that were sent to
// the whole group, as by a terminal, timeout or a batch system, stay pending there. The command has had them as well.
type sentinel struct {
	cmd   *exec.Cmd
	stdin io.Closer // it ends when this is closed, also by the end of record
}

// settling is how long it may take until a signal that record has got was sent to the rest of its group.
const settling = 100 * time.Millisecond

// startSentinel starts one, nil if that cannot be.
func startSentinel() *sentinel {
	path, err := exec.LookPath("cat")
	if err != nil {
		return nil
	}
	s := &sentinel{cmd: exec.Command(path)}
	s.cmd.Env = []string{}
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		return nil
	}
	runtime.LockOSThread() // whose mask the process inherits
	defer runtime.UnlockOSThread()
	var blocked, before unix.Sigset_t
	for _, f := range forwarded {
		n := uint(f.(syscall.Signal)) - 1
		blocked.Val[n/64] |= 1 << (n % 64)
	}
	if !setMask(unix.SIG_BLOCK, &blocked, &before) {
		return nil
	}
	err = s.cmd.Start()
	setMask(unix.SIG_SETMASK, &before, nil)
	if err != nil {
		return nil
	}
	return s
}

func setMask(how int, set, old *unix.Sigset_t) bool {
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, uintptr(how), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), 8, 0, 0)
	return errno == 0
}

// had reports whether the group has been sent a signal since the sentinel was started.
func (s *sentinel) had(which os.Signal) bool {
	if s == nil {
		return false
	}
	status, err := os.ReadFile("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/status")
	if err != nil {
		return false
	}
	for line := range bytes.Lines(status) {
		if hex, ok := strings.CutPrefix(string(line), "ShdPnd:"); ok {
			pending, err := strconv.ParseUint(strings.TrimSpace(hex), 16, 64)
			return err == nil && pending>>(uint(which.(syscall.Signal))-1)&1 != 0
		}
	}
	return false
}

// end ends the sentinel.
func (s *sentinel) end() {
	if s != nil {
		s.stdin.Close()
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
}

// handOn hands the signals on to a process that come on a channel, but for those that its group has had with that of record, until it
// is told to end.
func handOn(signals <-chan os.Signal, to *os.Process, end <-chan struct{}) {
	s := startSentinel()
	defer func() { s.end() }()
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
			if !s.had(which) || !sameGroup(to.Pid) {
				_ = to.Signal(which)
				continue
			}
			// All of these that have come are the one of the group, or were sent besides, as timeout does.
			waiting = slices.DeleteFunc(waiting, func(a arrival) bool { return a.signal == which })
			s.end()
			s = startSentinel()
		}
	}
}

// sameGroup reports whether a process is of the group of this one.
func sameGroup(pid int) bool {
	group, err := unix.Getpgid(pid)
	return err == nil && group == unix.Getpgrp()
}

// notify has the signals sent to a channel that are handed on, but for those that are ignored, as by nohup.
func notify(signals chan<- os.Signal) {
	for _, s := range forwarded {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
}
