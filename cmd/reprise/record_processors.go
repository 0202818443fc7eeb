package main

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/reprise-trace/reprise/rankenc"
)

// Processors are the value of a flag: those that a process may run on, any if it is not given.
type processors struct{ set rankenc.Set }

// mostProcessors is how many Linux has at most.
const mostProcessors = len(unix.CPUSet{}) * 64

func (p *processors) String() string {
	if p.set.Len() == 0 {
		return ""
	}
	return p.set.String()
}

func (p *processors) Type() string { return "set" }

func (p *processors) Set(value string) error {
	set, err := rankenc.SetOfText(value, mostProcessors)
	if err == nil && set.Len() == 0 {
		err = errors.New("it names none")
	}
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "rankenc: ranks "))
	}
	p.set = set
	return nil
}

// start starts a command on the processors: it inherits them from the thread that starts it.
func (p *processors) start(c *exec.Cmd) error {
	if p.set.Len() == 0 {
		return c.Start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, wanted unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("--cpu: %w", err)
	}
	for _, n := range p.set.All() {
		wanted.Set(n)
	}
	if err := unix.SchedSetaffinity(0, &wanted); err != nil {
		return fmt.Errorf("--cpu %s: there is none of these that processes of this job may use: %w", p.set, err)
	}
	defer func() { _ = unix.SchedSetaffinity(0, &before) }()
	return c.Start()
}
