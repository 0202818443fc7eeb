// Package group runs commands, such as compilers, that start others and leave nothing running when
// they are interrupted.
package group

import (
	"context"
	"os/exec"
	"time"
)

// patience is how long a command and what it has started may take to end. Then all of it is killed.
const patience = 100 * time.Millisecond

// Command is [exec.CommandContext] of a command that is ended with all that it has started, where
// systems have groups of processes.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	together(c)
	return c
}
