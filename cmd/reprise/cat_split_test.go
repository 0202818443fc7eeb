package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/show"
	"github.com/reprise-trace/reprise/merge"
)

// TestSplitMany splits a trace of so many ranks that it wants to be forced.
func TestSplitMany(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	var b bytes.Buffer
	if err := merge.Write(&b, merge.Run{Ranks: show.MostFiles + 1, Source: "SimGrid TI"}, nil); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "wide.rpz", b.String())
	if r := invoke(t, "", "cat", "wide.rpz", "--split", "ranks"); r.status != cli.ExitUsage ||
		!strings.Contains(r.stderr, "10,001 files") || !strings.Contains(r.stderr, "--force") {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat("ranks"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory: %v", err)
	}
	must(t, "compress", "ring.txt", "-o", "ring.rpz")
	must(t, "cat", "ring.rpz", "--split", "ranks", "--force")
	if r := invoke(t, "", "cat", "wide.rpz", "--force"); r.status != cli.ExitUsage {
		t.Errorf("--force alone: %+v", r)
	}
}
