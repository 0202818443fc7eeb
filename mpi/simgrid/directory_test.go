package simgrid

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/merge"
)

// nodes writes the files of 24 ranks into the directories a and b, every second
// one into each, and goes there.
func nodes(t *testing.T, more map[string]string) {
	t.Helper()
	contents := make(map[string]string)
	for n := range 24 {
		name := fmt.Sprintf("%c/t_rank-%d.txt", "ab"[n%2], n+1)
		contents[name] = fmt.Sprintf("%d init\n%d finalize\n", n, n)
	}
	for name, content := range more {
		contents[name] = content
	}
	t.Chdir(files(t, contents))
}

// TestOrderOfFiles checks in which order files and directories are read.
func TestOrderOfFiles(t *testing.T) {
	nodes(t, map[string]string{"x": "30 init\n", "c/u_rank-1.txt": "40 init\n", "c/u_rank-2.txt": "41 init\n"})
	globs := func(patterns ...string) []string {
		var paths []string
		for _, p := range patterns {
			matches, err := filepath.Glob(p)
			if err != nil {
				t.Fatal(err)
			}
			paths = append(paths, matches...)
		}
		return paths
	}
	for _, tt := range []struct {
		name  string
		paths []string
		first string // ranks of the calls, 0 being in the middle
		last  string
	}{
		{"Directories", []string{"a", "b"}, "0 0 1 1 2", "22 23 23"},
		{"DirectoriesReversed", []string{"b", "a"}, "0 0 1 1 2", "22 23 23"},
		{"Files", globs("a/*", "b/*"), "0 0 1 1 2", "22 23 23"},
		{"Both", append(globs("b/*"), "a"), "0 0 1 1 2", "22 23 23"},
		{"OtherFirst", []string{"x", "b", "a"}, "30 0 0 1 1", "22 23 23"},
		{"OtherLast", []string{"b", "a", "x"}, "0 0 1 1 2", "23 23 30"},
		{"SameNumbers", []string{"b", "a", "c"}, "1 1 3 3 5", "22 40 41"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Open(tt.paths, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var ranks []string
			for _, c := range readAll(t, r) {
				ranks = append(ranks, fmt.Sprint(c.Rank))
			}
			first, last := strings.Join(ranks[:5], " "), strings.Join(ranks[len(ranks)-3:], " ")
			if first != tt.first || last != tt.last {
				t.Errorf("ranks %s … %s, want %s … %s", first, last, tt.first, tt.last)
			}
		})
	}
	for _, paths := range [][]string{{"a", "a"}, {"a", "a/t_rank-3.txt"}, {"a", "b", "a/../a"}} {
		if _, err := Open(paths, Options{}); err == nil || !strings.Contains(err.Error(), "is given twice") {
			t.Errorf("%v: %v", paths, err)
		}
	}
}

// TestSameRank checks that files of one rank are an error that names both, wherever
// they are and however they are given.
func TestSameRank(t *testing.T) {
	nodes(t, map[string]string{"c/t_rank-3.txt.gz": "", "d/deep/t_rank-1.txt": "", "d/x": "", "e/x": ""})
	for _, tt := range []struct {
		paths []string
		want  string
	}{
		{[]string{"a", "c"}, "simgrid: both a/t_rank-3.txt and c/t_rank-3.txt.gz are of number 3, which is one rank"},
		{[]string{"c", "b", "a"},
			"simgrid: both c/t_rank-3.txt.gz and a/t_rank-3.txt are of number 3, which is one rank"},
		{[]string{"c/t_rank-3.txt.gz", "a/t_rank-3.txt"},
			"simgrid: both c/t_rank-3.txt.gz and a/t_rank-3.txt are of number 3, which is one rank"},
		{[]string{"d"}, "simgrid: d: no files named …_rank-1.txt and so on; directories in it are not searched"},
		{[]string{"e"}, "simgrid: e: no files named …_rank-1.txt and so on"},
	} {
		if _, err := Open(tt.paths, Options{}); err == nil || filepath.ToSlash(err.Error()) != tt.want {
			t.Errorf("%v: %v, want %s", tt.paths, err, tt.want)
		}
	}
}

// TestRanksOfRun checks where the number of ranks of a run comes from, what is
// said of those that have no lines, and what is said of other files.
func TestRanksOfRun(t *testing.T) {
	var list strings.Builder
	for n := range 30 {
		fmt.Fprintf(&list, "t_files/t_rank-%d.txt\n", n+1)
	}
	nodes(t, map[string]string{
		"a/t.txt": "# ranks\n" + list.String(), "a/notes": "?\n", "b/all.txt": "0 init\n", "b/.hidden": "",
		"b/other.txt": "v_rank-1.txt\nv_rank-99.txt\n", "b/old/t_rank-90.txt": "", "b/binary": "\x00\n",
	})
	for _, tt := range []struct {
		paths   []string
		ranks   int // given
		known   int
		run     int
		missing string
		ignored string
	}{
		{[]string{"a", "b"}, 0, 30, 30, "[ranks 24 to 29: no lines]",
			"[a/notes b/all.txt b/binary b/old/ b/other.txt]"},
		{[]string{"b", "a"}, 30, 30, 30, "[ranks 24 to 29: no lines]",
			"[b/all.txt b/binary b/old/ b/other.txt a/notes]"},
		{[]string{"b/t_rank-2.txt"}, 3, 3, 3, "[rank 0: no lines rank 2: no lines]", "[]"},
		{[]string{"b/t_rank-2.txt"}, 0, 0, 2, "[rank 0: no lines]", "[]"},
	} {
		r, err := Open(tt.paths, Options{Ranks: tt.ranks})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		run, _, err := Record(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		report := r.Report(true)
		missing, ignored := fmt.Sprint(report.Incomplete), filepath.ToSlash(fmt.Sprint(report.Ignored))
		if r.Ranks() != tt.known || run.Ranks != tt.run || missing != tt.missing || ignored != tt.ignored {
			t.Errorf("%v: %d known, %d ranks, %s, ignored %s", tt.paths, r.Ranks(), run.Ranks, missing, ignored)
		}
	}
	r, err := Open([]string{"a/t.txt", "b/t_rank-4.txt", "b/t_rank-2.txt"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if files := filepath.ToSlash(fmt.Sprint(r.Files())); r.Ranks() != 30 || files != "[b/t_rank-2.txt b/t_rank-4.txt]" {
		t.Errorf("with the list: %d ranks, %s", r.Ranks(), files)
	}
	for _, paths := range [][]string{{"b/other.txt", "b/t_rank-2.txt"}, {"a/t.txt", "b/all.txt"}} {
		r, err := Open(paths, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if r.Ranks() != 0 || len(r.Files()) != 2 {
			t.Errorf("%v: %d ranks, %v", paths, r.Ranks(), r.Files())
		}
	}
	r, err = Open([]string{"a", "b"}, Options{Ranks: 23})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, _, err := Record(r, nil); err == nil ||
		!strings.Contains(err.Error(), "t_rank-24.txt:1:1: input exceeds limit: rank is not less than 23") {
		t.Errorf("rank 23 of 23: %v", err)
	}
}

// TestListedRanks checks that listed ranks at the end count, if they have no lines.
func TestListedRanks(t *testing.T) {
	t.Chdir(files(t, map[string]string{"list": "0\n1\n2\n", "0": "0 init\n", "1": "", "2": ""}))
	r, err := Open([]string{"list"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	run, parts, err := Record(r, nil)
	if err != nil || run.Ranks != 3 || len(parts) != 1 {
		t.Errorf("%d ranks, %d parts, %v", run.Ranks, len(parts), err)
	}
	var a merge.Accumulator
	if err := a.Add(parts[0]); err != nil {
		t.Error(err)
	}
	if _, ok := a.HighestPeer(); ok {
		t.Error("init names a rank")
	}
	if ignored := r.Report(false).Ignored; len(ignored) > 0 {
		t.Error(ignored)
	}
}
