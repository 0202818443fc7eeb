//go:build unix

package group

import (
	"bufio"
	"context"
	"io"
	"os"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/e2e"
)

// TestCommand interrupts a command that has started another one: both end, also where the other one
// ignores the first signal.
func TestCommand(t *testing.T) {
	e2e.Programs(t)
	for _, script := range []string{"(echo; exec sleep 1000); true",
		"(trap '' TERM; echo; while :; do sleep 1000; done); true", "trap '' TERM; echo; sleep 1000; sleep 1000"} {
		t.Run(script, func(t *testing.T) { testCommand(t, script) })
	}
}

// TestOutlived checks that a command may end well before what it has started.
func TestOutlived(t *testing.T) {
	e2e.Programs(t)
	out, err := Command(t.Context(), "sh", "-c", "sleep 1 & echo done").Output()
	if err != nil || string(out) != "done\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func testCommand(t *testing.T, script string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	output, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	c := Command(ctx, "sh", "-c", script)
	c.Stdout = theirs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	said := bufio.NewReader(output)
	if _, err := said.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	if c.Wait() == nil {
		t.Error("it has ended well")
	}
	if _, err := io.Copy(io.Discard, said); err != nil { // until nobody has the output
		t.Error(err)
	}
}
