package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestRankRanges(t *testing.T) {
	for _, tt := range []struct {
		ranks []int
		want  string
	}{
		{nil, "ranks"},
		{[]int{7}, "rank 7"},
		{[]int{0, 1}, "ranks 0-1"},
		{[]int{3, 4, 5, 9}, "ranks 3-5, 9"},
		{[]int{1, 3, 5, 6}, "ranks 1, 3, 5-6"},
	} {
		if got := rankRanges(tt.ranks); got != tt.want {
			t.Errorf("rankRanges(%v) = %q, want %q", tt.ranks, got, tt.want)
		}
	}
}

// TestLostRanksOrder checks that ranks that were found in any order are named in
// theirs.
func TestLostRanksOrder(t *testing.T) {
	l := lostRanks{path: "a.rpz"}
	if err := l.err(); err != nil {
		t.Errorf("without a rank: %v", err)
	}
	for _, rank := range []int{9, 4, 5, 3} {
		l.add(rank, errors.New("gone"))
	}
	if got, want := l.err().Error(), "a.rpz: ranks 3-5, 9 cannot be read"; got != want {
		t.Errorf("error is %q, want %q", got, want)
	}
}

// TestLostRanks checks that everything but the ranks that are lost comes back.
func TestLostRanks(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	lines := strings.SplitAfter(readFile(t, "ring.txt"), "\n")
	rank := func(r int) string { return strings.Join(lines[212*r:212*(r+1)], "") }
	for _, tt := range []struct {
		trace string
		want  string
		lost  int
	}{
		{"lost.rpz", rank(0) + rank(2) + rank(3), 1},
		{"flipped.rpz", rank(0) + rank(2) + rank(3), 1},
		{"worse.rpz", rank(2), 3},
	} {
		r := invoke(t, "", "cat", tt.trace)
		if n := strings.Count(r.stderr, "reprise: warning: rank "); r.status != exitFailure || r.stdout != tt.want || n != tt.lost {
			t.Errorf("%s: status %d, %d bytes, %d warnings, want %d, %d, %d", tt.trace, r.status, len(r.stdout), n,
				exitFailure, len(tt.want), tt.lost)
		}
	}
	for _, trace := range []string{"lost", "mixed-flipped"} {
		if r := invoke(t, "", "cat", trace+".rpz", "--split", trace); r.status != exitFailure || !strings.HasSuffix(r.stderr, "rank 1 cannot be read\n") {
			t.Errorf("cat %s --split: status %d, %s", trace, r.status, r.stderr)
		}
		for i, want := range []string{rank(0), "", rank(2), rank(3)} {
			if got := readFile(t, filepath.Join(trace, trace+"_rank-"+string(rune('1'+i))+".txt")); got != want {
				t.Errorf("%s: the file of rank %d has %d bytes, want %d", trace, i, len(got), len(want))
			}
		}
	}
}
