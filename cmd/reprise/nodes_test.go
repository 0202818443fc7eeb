package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/merging"
	"github.com/reprise-trace/reprise/internal/test/tier"
)

// writeNodes writes the files of the ranks of the demonstration's trace into the
// directories a and b, the lower half into a, each with the list of all.
func writeNodes(t *testing.T) {
	t.Helper()
	if err := os.WriteFile("lu.ti.zst", demoTrace, 0o666); err != nil {
		t.Fatal(err)
	}
	must(t, "compress", "lu.ti.zst", "-o", "lu.rpz")
	must(t, "cat", "lu.rpz", "--split", "a")
	must(t, "compress", "a", "-o", "all.rpz")
	if err := os.Mkdir("b", 0o777); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "b/lu.txt", readFile(t, "a/lu.txt"))
	for rank := 8; rank < 16; rank++ {
		name := fmt.Sprintf("lu_rank-%d.txt", rank+1)
		if err := os.Rename(filepath.Join("a", name), filepath.Join("b", name)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNodes checks that the files of several nodes make the trace that they make
// in one place, however they are named: by directories, by files in the order in
// which a shell lists them, and by parts.
func TestNodes(t *testing.T) {
	t.Chdir(t.TempDir())
	writeNodes(t)
	whole := readFile(t, "all.rpz")
	glob := func(pattern string) []string {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) != 8 {
			t.Fatal(paths, err)
		}
		return paths
	}
	orders := [][]string{append(glob("b/*_rank-*"), "a"), {"a", "b"}, {"b", "a"},
		append(glob("a/*_rank-*"), glob("b/*_rank-*")...)}
	if !tier.Nightly {
		orders = orders[:1]
	}
	for _, paths := range orders {
		must(t, append([]string{"compress", "-o", "out.rpz"}, paths...)...)
		if readFile(t, "out.rpz") != whole {
			t.Errorf("%v make another trace", paths)
		}
		must(t, append([]string{"verify", "out.rpz"}, paths...)...)
	}
	must(t, "compress", "--part", "a", "-o", "a.part.rpz")
	must(t, append([]string{"compress", "--part", "-o", "b.part.rpz"}, glob("b/*_rank-*")...)...)
	list := append(glob("a/*_rank-*"), "a/lu.txt")
	r := invoke(t, "", append([]string{"compress", "-o", "half.rpz"}, list...)...)
	if want := "reprise: warning: ranks 8 to 15: no lines\n"; r.status != cli.ExitOK || r.stderr != want {
		t.Errorf("with the list: status %d, %q, want %q", r.status, r.stderr, want)
	}
	r = invoke(t, "", "compress", "a", "b", "-o", "b/lu_rank-9.txt")
	if !strings.HasPrefix(r.stderr, "reprise: b/lu_rank-9.txt is an input: the output would replace it\n") ||
		r.status != cli.ExitUsage {
		t.Errorf("an output that is an input: status %d, %q", r.status, r.stderr)
	}
	must(t, "merge", "b.part.rpz", "a.part.rpz", "-o", "out.rpz")
	if readFile(t, "out.rpz") != whole {
		t.Error("the parts make another trace")
	}
	file := readFile(t, "b/lu_rank-12.txt")
	writeFile(t, "b/lu_rank-12.txt", strings.TrimSuffix(file, "11 finalize\n")+"11 barrier\n")
	r = invoke(t, "", "verify", "out.rpz", "a", "b")
	if want := fmt.Sprintf(" at b/lu_rank-12.txt:%d\n",
		strings.Count(file, "\n")); r.status != cli.ExitFailure ||
		!strings.HasSuffix(filepath.ToSlash(r.stderr), want) {
		t.Errorf("a changed line: status %d, %q, want %q", r.status, r.stderr, want)
	}
	writeFile(t, "b/lu_rank-12.txt", file)
	writeFile(t, "a/lu_rank-12.txt", file)
	r = invoke(t, "", "compress", "a", "b", "-o", "twice.rpz")
	if want := "reprise: both a/lu_rank-12.txt and b/lu_rank-12.txt are of number 12, which is one rank\n"; r.status != cli.ExitFailure || filepath.ToSlash(r.stderr) != want {
		t.Errorf("a rank in two directories: status %d, %q, want %q", r.status, r.stderr, want)
	}
	if err := os.Remove("a/lu_rank-12.txt"); err != nil {
		t.Fatal(err)
	}
	if got := must(t, "verify", "out.rpz", "b", "a"); got != "equal: 940,044 calls of 16 ranks\n" {
		t.Error(got)
	}
}

// TestMissingRanks checks what is said of ranks at the end of which nothing is
// there, with and without their number.
func TestMissingRanks(t *testing.T) {
	tier.SlowRace(t)
	t.Chdir(t.TempDir())
	writeNodes(t)
	const (
		absent  = "reprise: warning: ranks 8 to 15: no lines\n"
		inNone  = "reprise: warning: in no part: ranks 8-15\n"
		names   = "reprise: warning: rank 7 names rank 11 in a call of irecv, which is not one of the 8 ranks"
		howMany = "; --size says how many there are\n"
	)
	files, err := filepath.Glob("a/*_rank-*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files { // who is named shows in the first calls
		lines := strings.SplitAfter(readFile(t, name), "\n")
		writeFile(t, name, strings.Join(append(lines[:2000:2000], lines[len(lines)-2:]...), ""))
	}
	for _, tt := range []struct {
		command string
		files   []string
		want    string // of standard error
	}{
		{"compress -o out.rpz", []string{"a"}, absent},
		{"compress -o out.rpz", files, names + howMany},
		{"compress -o out.rpz --size 16", files, absent},
		{"compress -o out.rpz --size 8", files, names + "\n"},
		{"compress -o known.part.rpz --part", []string{"a"}, ""},
		{"compress -o given.part.rpz --part --size 16", files, ""},
		{"compress -o unknown.part.rpz --part", files, ""},
		{"merge -o out.rpz", []string{"known.part.rpz"}, inNone},
		{"merge -o out.rpz", []string{"given.part.rpz"}, inNone},
		{"merge -o out.rpz", []string{"unknown.part.rpz"}, names + howMany},
		{"merge -o out.rpz --size 16", []string{"unknown.part.rpz"}, inNone},
		{"merge -o both.part.rpz --part --size 16", []string{"unknown.part.rpz"}, ""},
		{"merge -o out.rpz", []string{"both.part.rpz"}, inNone},
	} {
		r := invoke(t, "", append(strings.Fields(tt.command), tt.files...)...)
		if r.status != cli.ExitOK || r.stderr != tt.want {
			t.Errorf("%s %v: status %d, %q, want %q", tt.command, tt.files, r.status, r.stderr, tt.want)
		}
	}
}

// TestNotRead checks that other files of a directory are named, and directories in it.
func TestNotRead(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"d/t_rank-1.txt", "d/t_rank-2.txt.bak", "d/old/t_rank-2.txt", "d/1", "d/2",
		"d/3", "d/4", "d/5"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		writeFile(t, name, "0 init\n0 finalize\n")
	}
	r := invoke(t, "", "compress", "d", "-o", "out.rpz")
	want := "reprise: warning: not read, because their names are not …_rank-1.txt and so on: d/1, d/2, d/3, d/4, d/5 and 1 more\n" +
		"reprise: warning: not read, because subdirectories are not searched: d/old/\n"
	if r.status != cli.ExitOK || filepath.ToSlash(r.stderr) != want {
		t.Errorf("status %d, %q, want %q", r.status, r.stderr, want)
	}
}

// TestProblems checks that a merge says all that is wrong before it begins.
func TestProblems(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	r := invoke(t, "", "merge", "-o", "out.rpz", "--size", "3", "ring.txt", "even.part.rpz", "missing.rpz",
		"flipped.part.rpz", "ring.rpz", "orderless.rpz")
	want := `reprise: 6 problems:
  ring.txt: this is SimGrid's text of a trace; reprise compress ring.txt -o OUT.rpz makes a trace of it
  missing.rpz: no such file or directory
  flipped.part.rpz: shape, number 0, section at offset *
  ring.rpz: is of a run of at least 4 ranks, not 3
  orderless.rpz: the order of the calls of different ranks is damaged; reprise repair may save the rest
  ranks 0-2:2 are in even.part.rpz and in ring.rpz
`
	if r.status != cli.ExitFailure || !matches(r.stderr, want) {
		t.Errorf("status %d, %s", r.status, r.stderr)
	}
	var many []string
	whole := readFile(t, "ring.rpz")
	for i := range 25 {
		many = append(many, fmt.Sprint(i, ".rpz"))
		writeFile(t, many[i], whole[:7]+string(rune(i+3))+whole[8:]) // of a later version
	}
	r = invoke(t, "", append([]string{"merge", "-o", "out.rpz"}, many...)...)
	if lines := strings.Split(r.stderr, "\n"); len(lines) != 27 || lines[0] != "reprise: 25 problems:" ||
		!strings.HasPrefix(lines[25], "  24.rpz: ") {
		t.Errorf("%d lines: %s", len(lines), r.stderr)
	}
	if lines := strings.Split(make(merging.Problems, merging.MostNamed+5).Error(),
		"\n"); len(lines) != merging.MostNamed+2 || lines[merging.MostNamed+1] != "and 5 more" {
		t.Errorf("%d lines: %s", len(lines), lines[len(lines)-1])
	}
}

// TestEqualProblems checks that what is wrong with many parts takes one line.
func TestEqualProblems(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	for rank := range 8 {
		writeFile(t, "one.txt", fmt.Sprintf("%d init\n%d finalize\n", rank, rank))
		must(t, "compress", "--part", "one.txt", "-o", fmt.Sprint(rank, ".part.rpz"))
	}
	parts, err := filepath.Glob("?.part.rpz")
	if err != nil || len(parts) != 8 {
		t.Fatal(parts, err)
	}
	must(t, append([]string{"merge", "--part", "-o", "all.rpz"}, parts...)...)
	merge := []string{"merge", "-o", "out.rpz", "0", "1", "2"}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{merge, "reprise: 0, 1, 2: no such file or directory\n"},
		{append(append(merge, "3", "4", "5", "6"), parts...),
			"reprise: 0, 1, 2, 3, 4, 5, 6: no such file or directory\n"},
		{append(append(append(merge, "all.rpz", "ring.txt"), parts...), "list.txt"), `reprise: 3 problems:
  0, 1, 2: no such file or directory
  ring.txt, list.txt: this is SimGrid's text of a trace; reprise compress ring.txt -o OUT.rpz makes a trace of it
  ranks 0-7 are in all.rpz and in 0.part.rpz, 1.part.rpz, 2.part.rpz, 3.part.rpz, 4.part.rpz, 5.part.rpz, 6.part.rpz, 7.part.rpz
`},
	} {
		if r := invoke(t, "", tt.args...); r.status != cli.ExitFailure || r.stderr != tt.want {
			t.Errorf("%v: status %d, %s, want %s", tt.args, r.status, r.stderr, tt.want)
		}
	}
}

// TestOutputAmongParts checks that what a directory of parts has is not replaced, and
// that a name that is not one of a part is no problem there.
func TestOutputAmongParts(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	if err := os.Mkdir("parts", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"even.part.rpz", "odd.part.rpz"} {
		writeFile(t, filepath.Join("parts", name), readFile(t, name))
	}
	for _, output := range []string{"parts/all.rpz", "parts/odd.part.rpz"} {
		r := invoke(t, "", "merge", "parts", "-o", output)
		want := "reprise: " + output +
			" is in parts, of which all *.rpz files are merged: the output needs another directory\n"
		if r.status != cli.ExitUsage || !strings.HasPrefix(r.stderr, want) {
			t.Errorf("status %d, %q, want %q", r.status, r.stderr, want)
		}
	}
	must(t, "merge", "parts", "-o", "all.rpz")
	must(t, "merge", "parts", "-o", "parts/all")
	if readFile(t, "parts/all") != readFile(t, "all.rpz") ||
		readFile(t, "parts/odd.part.rpz") != readFile(t, "odd.part.rpz") {
		t.Error("the outputs differ, or a part was replaced")
	}
}
