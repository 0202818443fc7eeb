package main

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/programs"
	"github.com/reprise-trace/reprise/merge"
)

// TestDamageOrder checks that ranks that were found in any order are named in theirs.
func TestDamageOrder(t *testing.T) {
	d := damage{path: "a.rpz"}
	if err := d.tell(io.Discard); err != nil {
		t.Errorf("without a rank: %v", err)
	}
	for _, rank := range []int{9, 4, 5, 3} {
		d.add("", rank, errors.New("gone"))
	}
	if got, want := d.tell(io.Discard).Error(), "a.rpz: ranks 3-5, 9 cannot be read; reprise repair may save the rest"; got != want {
		t.Errorf("error is %q, want %q", got, want)
	}
}

// TestRankReader checks that the ranks of a shape are tried until one is lost.
func TestRankReader(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	trace, err := openTrace("flipped.rpz")
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	tries := 0
	r := newRankReader(trace)
	for rank := range trace.Active() {
		err := r.attempt(rank, func() error {
			tries++
			_, err := trace.Rank(rank)
			return err
		})
		if (err != nil) != (rank%2 == 1) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if want := noisyRanks/2 + 1; tries != want {
		t.Errorf("%d ranks were tried, want %d", tries, want)
	}
}

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
	if n := strings.Count(r.stderr, "reprise: warning: "+lost+" cannot be read: columns"); r.status != exitFailure || r.stdout != even.String() || n != 1 {
		t.Errorf("cat: status %d, %d bytes, %s", r.status, len(r.stdout), r.stderr)
	}
	if got := must(t, "cat", "lost.rpz"); got != even.String() {
		t.Errorf("cat lost.rpz: %d bytes", len(got))
	}
	if got := must(t, "info", "--compare", "lost.rpz"); !strings.Contains(got, "from SimGrid TI, repaired without "+lost+"\n") || !strings.Contains(got, "gzip") {
		t.Errorf("info lost.rpz: %s", got)
	}
	r = invoke(t, "", "cat", "flipped-mixed.rpz", "--split", "dir")
	if r.status != exitFailure || !strings.HasSuffix(r.stderr, lost+" cannot be read; reprise repair may save the rest\n") {
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
	if testing.Short() || slow > 1 {
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
	trace, err := openTrace("damaged.rpz")
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	r := newRankReader(trace)
	tries := 0
	for _, rank := range []int{32_768, 40_000, 65_535, 32_767, 0} {
		err := r.attempt(rank, func() error {
			tries++
			_, err := r.trace.Part(rank)
			return err
		})
		if (err != nil) != (rank >= 32_768) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	if tries != 5 {
		t.Errorf("%d ranks were tried, want 5", tries)
	}
}
