//go:build unix

package group

import (
	"os"
	"os/exec"
	"syscall"
)

// together has a command run in a group of its own, which is ended in its place, and can remove its temporary files.
func together(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.WaitDelay = patience
	c.Cancel = func() error {
		if err := syscall.Kill(-c.Process.Pid, syscall.SIGTERM); err != syscall.ESRCH {
			return err
		}
		return os.ErrProcessDone
	}
}
