//go:build unix

package group

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// together has a command run in a group of its own, which is ended in its place, and can remove its
// temporary files.
func together(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error {
		err := syscall.Kill(-c.Process.Pid, syscall.SIGTERM)
		if err == syscall.ESRCH {
			return os.ErrProcessDone
		}
		time.AfterFunc(patience, func() { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
		return err
	}
}
