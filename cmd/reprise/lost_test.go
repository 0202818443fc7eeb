package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/merge"
)

// TestLostRanks checks that everything but the ranks that are lost comes back.
func TestLostRanks(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	rank := func(r int) string { return strings.Join(noisy(noisyRanks)[4*r:4*(r+1)], "") }
	var even strings.Builder
	for r := 0; r < noisyRanks; r += 2 {
		even.WriteString(rank(r))
	}
	const lost = "ranks 1-599:2"
	r := invoke(t, "", "cat", "flipped.rpz")
	if n := strings.Count(r.stderr, "reprise: warning: flipped.rpz: arguments of calls of "+lost+
		" cannot be read: columns"); r.status != cli.ExitFailure || r.stdout != even.String() || n != 1 {
		t.Errorf("cat: status %d, %d bytes, %s", r.status, len(r.stdout), r.stderr)
	}
	if got := must(t, "cat", "lost.rpz"); got != even.String() {
		t.Errorf("cat lost.rpz: %d bytes", len(got))
	}
	if got := must(t, "info", "--compare", "lost.rpz"); !strings.Contains(got,
		"from SimGrid TI, repaired without "+lost+"\n") || !strings.Contains(got, "gzip") {
		t.Errorf("info lost.rpz: %s", got)
	}
	r = invoke(t, "", "cat", "flipped-mixed.rpz", "--split", "dir")
	if r.status != cli.ExitFailure ||
		!strings.HasSuffix(r.stderr, lost+" cannot be read; reprise repair may save the rest\n") {
		t.Errorf("cat --split: status %d, %s", r.status, r.stderr)
	}
	for i, want := range []string{rank(0), "", rank(2), ""} {
		if got := readFile(t, filepath.Join("dir", "flipped-mixed_rank-"+string(rune('1'+i))+".txt")); got != want {
			t.Errorf("the file of rank %d has %d bytes, want %d", i, len(got), len(want))
		}
	}
}

// TestRepairSlice checks that damage to a slice of a long column costs the ranks whose
// values it has, and no other, although all ranks are of one shape.
func TestRepairSlice(t *testing.T) {
	if !tier.Nightly || slow > 1 {
		t.Skip("makes a trace of many ranks")
	}
	t.Chdir(t.TempDir())
	p := programs.PermutationSend(1<<16, 10, 1)
	var file strings.Builder
	if err := merge.Write(&file, p.Run(), p.Parts()); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "damaged.rpz", flip(t, file.String(), layout.KindColumns, 1))
	const lost = "ranks 32768-65535"
	if got := must(t, "repair", "damaged.rpz", "-o", "saved.rpz"); !strings.Contains(got, lost) {
		t.Errorf("repair: %s", got)
	}
	if got := must(t, "info", "saved.rpz"); !strings.Contains(got, "repaired without "+lost+"\n") {
		t.Errorf("info: %s", got)
	}
}
