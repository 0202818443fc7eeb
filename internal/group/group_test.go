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

// TestCommand interrupts a command that has started another one: both end.
func TestCommand(t *testing.T) {
	e2e.Programs(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	output, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	c := Command(ctx, "sh", "-c", "(echo; exec sleep 1000); true")
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
