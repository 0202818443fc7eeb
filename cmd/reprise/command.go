package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reprise-trace/reprise/mpi/collect"
)

// forwarded are the signals that go on to the command.
var forwarded = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1,
	syscall.SIGUSR2, syscall.SIGCONT, syscall.SIGWINCH}

// runCommand runs a command, hands signals on to it, and returns its exit status.
func runCommand(ctx context.Context, args, env []string) (int, error) {
	c := exec.Command(args[0], args[1:]...)
	c.Env = env
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	running.Store(true)
	defer running.Store(false)
	signals := make(chan os.Signal, 16)
	for _, s := range forwarded {
		if !signal.Ignored(s) { // as nohup has it
			signal.Notify(signals, s)
		}
	}
	defer signal.Stop(signals)
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := c.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		select {
		case err := <-ended:
			return statusOf(c, err)
		case s := <-signals:
			if !typed(s) {
				_ = c.Process.Signal(s)
			}
		}
	}
}

// typed reports whether a signal may come from the keyboard of a terminal, which
// sends it to the command as well.
func typed(s os.Signal) bool {
	if s != os.Interrupt && s != syscall.SIGQUIT && s != syscall.SIGWINCH {
		return false
	}
	foreground, err := unix.IoctlGetInt(int(os.Stdin.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground == unix.Getpgrp()
}

// How long the collector waits before it looks for more.
const (
	idle = 50 * time.Millisecond
	busy = 2 * time.Millisecond
)

// collectUntil collects until a channel is closed. An error need not last.
func collectUntil(stop <-chan struct{}, collector *collect.Collector, stderr io.Writer) {
	complained := false
	for wait := idle; ; {
		select {
		case <-stop:
			return
		case <-time.After(wait):
		}
		some, err := collector.Poll()
		if err != nil && !complained {
			fmt.Fprintf(stderr, "reprise: warning: %v\n", err)
			complained = true
		}
		if wait = idle; some {
			wait = busy
		}
	}
}

// statusOf returns the exit status of a command as a shell would tell it.
func statusOf(c *exec.Cmd, err error) (int, error) {
	if c.ProcessState == nil {
		return 0, err
	}
	if w, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal()), nil
	}
	return c.ProcessState.ExitCode(), nil
}

// processorTime returns the time that this program took of processors.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
