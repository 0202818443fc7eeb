//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHandOn sends signals to this process alone, to a group, and to both, as timeout does: a command in the group gets each once, and one in
// another group those that are for it.
func TestHandOn(t *testing.T) {
	if path := os.Getenv("HAND_ON"); path != "" {
		handOnHere(t, path)
		return
	}
	for _, tt := range []struct {
		name, command string
		alone, group  int
		want          int
	}{
		{"Alone", "", 1, 0, 1},
		{"Group", "", 0, 1, 1},
		{"Both", "", 1, 1, 1},
		{"OtherGroup", "other", 0, 1, 1},
		{"Twice", "", 2, 0, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "got")
			self := process(t).Path
			c := exec.CommandContext(t.Context(), self, "-test.run=^TestHandOn$")
			c.Env = append(os.Environ(), "HAND_ON="+path, "HAND_ON_GROUP="+tt.command)
			c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			waitForFile(t, path+".ready")
			for range tt.alone {
				_ = c.Process.Signal(syscall.SIGUSR1)
				if tt.alone > 1 {
					time.Sleep(4 * settling)
				}
			}
			for range tt.group {
				_ = syscall.Kill(-c.Process.Pid, syscall.SIGUSR1)
			}
			time.Sleep(6 * settling)
			got, _ := os.ReadFile(path)
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
			_ = c.Wait()
			if n := strings.Count(string(got), "x"); n != tt.want {
				t.Errorf("the command has had %d signals, want %d", n, tt.want)
			}
		})
	}
}

// handOnHere is the process that hands signals on to a shell, which writes an x for each.
func handOnHere(t *testing.T, path string) {
	script := fmt.Sprintf(`trap 'printf x >>%s' USR1; : >%s.ready; n=0; while [ $n -lt 400 ]; do sleep 0.05; n=$((n+1)); done`, path, path)
	signals := make(chan os.Signal, 16)
	notify(signals)
	defer signal.Stop(signals)
	c := exec.Command("sh", "-c", script)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: os.Getenv("HAND_ON_GROUP") != ""}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	end := make(chan struct{})
	go func() {
		_ = c.Wait()
		close(end)
	}()
	handOn(signals, c.Process, end)
}

// waitForFile waits until a file is there.
func waitForFile(t *testing.T, path string) {
	t.Helper()
	for !exists(path) {
		if t.Context().Err() != nil {
			t.Fatal(path, "is not there")
		}
		time.Sleep(5 * time.Millisecond)
	}
}
