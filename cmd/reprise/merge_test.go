package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/merging"
	"github.com/reprise-trace/reprise/internal/test/tier"
)

// group writes the lines of some ranks, rank by rank as they stand in lines, and
// compresses them to a part file.
func group(t testing.TB, lines []string, ranks []int, path string) {
	t.Helper()
	var text strings.Builder
	byRank := byRank(lines)
	for _, rank := range ranks {
		text.WriteString(byRank[fmt.Sprint(rank)])
	}
	writeFile(t, "group.txt", text.String())
	must(t, "compress", "--part", "group.txt", "-o", path)
}

// TestMerge checks that a trace that is merged of parts, in any groups, in any
// order and over any number of steps, is to the byte what compress makes at once.
func TestMerge(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	writeFile(t, "few.txt", strings.Join(noisy(20), ""))
	must(t, "compress", "few.txt", "-o", "few.rpz")
	for seed := range uint64(tier.Number(16, 64) / min(slow, 4)) {
		r := rand.New(rand.NewPCG(seed, 1))
		name := []string{"ring", "few"}[seed%2]
		lines := strings.SplitAfter(readFile(t, name+".txt"), "\n")
		groups := make([][]int, 1+r.IntN(4))
		for _, rank := range slices.Sorted(maps.Keys(byRank(lines[:len(lines)-1]))) { // that a seed gives one split
			g := r.IntN(len(groups))
			n, _ := strconv.Atoi(rank)
			groups[g] = append(groups[g], n)
		}
		var parts []string
		for i, ranks := range groups {
			if len(ranks) > 0 {
				parts = append(parts, fmt.Sprint(i, ".part.rpz"))
				slices.Sort(ranks)
				group(t, lines, ranks, parts[len(parts)-1])
			}
		}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		if len(parts) > 2 && r.IntN(2) == 0 {
			must(t, "merge", "--part", parts[0], parts[1], "-o", "both.part.rpz")
			parts = append(parts[2:], "both.part.rpz")
		}
		must(t, append([]string{"merge", "-o", "out.rpz"}, parts...)...)
		if readFile(t, "out.rpz") != readFile(t, name+".rpz") {
			t.Fatalf("seed %d: %v of %s makes another trace", seed, groups, name)
		}
	}
}

// TestMergeDemo merges the parts of the ranks of a real trace.
func TestMergeDemo(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("lu.ti.zst", demoTrace, 0o666); err != nil {
		t.Fatal(err)
	}
	must(t, "compress", "lu.ti.zst", "-o", "lu.rpz")
	must(t, "cat", "lu.rpz", "--split", "dir")
	must(t, "compress", "dir", "-o", "lu.rpz") // rank by rank
	if err := os.Mkdir("parts", 0o777); err != nil {
		t.Fatal(err)
	}
	for rank := range 16 {
		must(t, "compress", "--part", fmt.Sprintf("dir/lu_rank-%d.txt", rank+1), "-o",
			fmt.Sprintf("parts/%d.part.rpz", rank))
	}
	must(t, "merge", "parts", "-o", "merged.rpz")
	if readFile(t, "merged.rpz") != readFile(t, "lu.rpz") {
		t.Error("the parts of the ranks make another trace")
	}
	// A trace is a part, too.
	r := invoke(t, "", "merge", "parts/3.part.rpz", "parts/5.part.rpz", "-o", "two.rpz")
	if want := "reprise: warning: in no part: ranks 0-2, 4\n" +
		"reprise: warning: rank 5 names rank 9 in a call of irecv, which is not one of the 6 ranks; --size says how many there are\n"; r.status != cli.ExitOK || r.stderr != want {
		t.Fatalf("status %d, %q, want %q", r.status, r.stderr, want)
	}
	os.Remove("parts/3.part.rpz")
	os.Remove("parts/5.part.rpz")
	must(t, "merge", "two.rpz", "parts", "-o", "merged.rpz")
	if readFile(t, "merged.rpz") != readFile(t, "lu.rpz") {
		t.Error("with a trace among the parts, they make another trace")
	}
}

// TestMergeInterleaved checks that the lines of ranks in one part stay in order.
func TestMergeInterleaved(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	mixed := strings.SplitAfter(readFile(t, "mixed.txt"), "\n")
	var low, high strings.Builder
	for _, line := range mixed {
		if strings.HasPrefix(line, "0") || strings.HasPrefix(line, "1") {
			low.WriteString(line)
		} else {
			high.WriteString(line)
		}
	}
	writeFile(t, "low.txt", low.String())
	writeFile(t, "high.txt", high.String())
	must(t, "compress", "low.txt", "high.txt", "-o", "both.rpz")
	must(t, "compress", "--part", "high.txt", "-o", "high.part.rpz")
	must(t, "compress", "--part", "low.txt", "-o", "low.part.rpz")
	must(t, "merge", "high.part.rpz", "low.part.rpz", "-o", "out.rpz")
	if got := must(t, "cat", "out.rpz"); got != low.String()+high.String() {
		t.Error("the lines are in another order")
	}
	if readFile(t, "out.rpz") != readFile(t, "both.rpz") {
		t.Error("the parts make another trace")
	}
}

// TestMergeSources checks that a source that several parts have is named once.
func TestMergeSources(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	writeFile(t, "one.txt", "1 init\n1 finalize\n")
	must(t, "compress", "--part", "one.txt", "-o", "1.part.rpz")
	r := invoke(t, "", "merge", "1.part.rpz", "lost.rpz", "-o", "out.rpz")
	if want := "reprise: warning: in no part: ranks 3-599:2\n"; r.status != cli.ExitOK || r.stderr != want {
		t.Errorf("status %d, %q, want %q", r.status, r.stderr, want)
	}
	got, _, _ := strings.Cut(must(t, "info", "out.rpz"), "\n")
	if want := "out.rpz: 600 ranks (301 with calls), 1,202 calls, from SimGrid TI, repaired without ranks 1-599:2"; got != want {
		t.Errorf("info says %q, want %q", got, want)
	}
}

// TestPartFile checks that a part file is read like a trace.
func TestPartFile(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	if got := must(t, "cat", "odd.part.rpz"); got != readFile(t, "odd.txt") {
		t.Errorf("cat: %d bytes", len(got))
	}
	must(t, "verify", "odd.part.rpz", "odd.txt")
	must(t, "info", "odd.part.rpz")
	must(t, "grammar", "odd.part.rpz", "--shape", "0")
}

// TestPartFiles checks which files of a directory are merged, and in which order.
func TestPartFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("parts/nested.rpz", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"parts/10.part.rpz", "parts/9.part.rpz", "parts/.hidden.rpz", "parts/note.txt"} {
		writeFile(t, name, "")
	}
	got, wrong := merging.PartFiles([]string{"b", "parts", "a"})
	if want := []string{"b", "parts/9.part.rpz", "parts/10.part.rpz", "a"}; len(wrong) > 0 || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, wrong, want)
	}
}
