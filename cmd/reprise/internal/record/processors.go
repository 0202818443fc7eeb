package record

import (
	"errors"
	"os/exec"
	"runtime"
	"strings"

	"github.com/reprise-trace/reprise/rankenc"
)

// Processors are the value of a flag: those that a process may run on, any if it is not given.
type processors struct{ set rankenc.Set }

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
	restore, err := runOn(p.set)
	if err == nil {
		err = c.Start()
		if !restore() {
			return err // with this thread locked: no other work may get it
		}
	}
	runtime.UnlockOSThread()
	return err
}
