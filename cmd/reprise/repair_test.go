package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/compress"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/show"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
)

// A repaired is a trace of which damaged copies are repaired.
type repaired struct {
	name  string
	data  string
	lines []string
	ranks int               // with calls
	seen  map[string]saving // by output of repair
}

// A saving is what is in an output of repair.
type saving struct {
	ranks   int  // of which every call is there
	ordered bool // their lines are in the order of the original
}

func newRepaired(t testing.TB, name string) repaired {
	t.Helper()
	r := repaired{name: name, data: readFile(t, name+".rpz"), seen: make(map[string]saving)}
	r.lines = strings.SplitAfter(readFile(t, name+".txt"), "\n")
	r.lines = r.lines[:len(r.lines)-1]
	r.ranks = len(byRank(r.lines))
	return r
}

// byRank returns the lines of each rank.
func byRank(lines []string) map[string]string {
	text := make(map[string]string)
	for _, line := range lines {
		rank, _, _ := strings.Cut(line, " ")
		text[rank] += line
	}
	return text
}

// check repairs a damaged copy and checks that what repair says is true: nothing
// is written if it fails, and otherwise as many ranks are whole, and nothing is
// there of the others, as it says.
func (r repaired) check(t testing.TB, what, damaged string) {
	t.Helper()
	writeFile(t, "damaged.rpz", damaged)
	run := invoke(t, "", "repair", "--json", "damaged.rpz", "-o", "saved.rpz")
	if run.status == cli.ExitFailure {
		if strings.Contains(fileNames(t), "saved.rpz") || strings.Count(run.stderr, "damaged.rpz") != 1 {
			t.Fatalf("%s: %s: failed with output, or without the path: %s", r.name, what, run.stderr)
		}
		return
	}
	var got compress.RepairResult
	if err := json.Unmarshal([]byte(run.stdout), &got); err != nil || run.status != cli.ExitOK {
		t.Fatalf("%s: %s: status %d, %v: %s", r.name, what, run.status, err, run.stderr)
	}
	file := readFile(t, "saved.rpz")
	s, ok := r.seen[file]
	if !ok {
		s = r.read(t, what)
		r.seen[file] = s
	}
	if s.ranks != got.Readable || r.ranks != got.Ranks || s.ranks == 0 {
		t.Fatalf("%s: %s: %d of %d ranks can be read, repair says %d of %d", r.name, what, s.ranks, r.ranks,
			got.Readable, got.Ranks)
	}
	if s.ordered != (got.Order == compress.Kept) {
		t.Fatalf("%s: %s: the order is %s", r.name, what, got.Order)
	}
	r.checkWhole(t, what, damaged, file, got)
}

// read reads the output of repair. Of every rank, all must be there or nothing,
// and info must say the same.
func (r repaired) read(t testing.TB, what string) saving {
	t.Helper()
	lines := strings.SplitAfter(must(t, "cat", "saved.rpz"), "\n")
	lines = lines[:len(lines)-1]
	saved, original := byRank(lines), byRank(r.lines)
	for rank, text := range saved {
		if text != original[rank] {
			t.Fatalf("%s: %s: rank %s is other than it was", r.name, what, rank)
		}
	}
	var described show.Info
	if err := json.Unmarshal([]byte(must(t, "info", "--json", "saved.rpz")), &described); err != nil {
		t.Fatal(err)
	}
	if described.Active != len(saved) {
		t.Fatalf("%s: %s: info has %d ranks with calls, not %d", r.name, what, described.Active, len(saved))
	}
	left := slices.DeleteFunc(slices.Clone(r.lines), func(line string) bool {
		rank, _, _ := strings.Cut(line, " ")
		return saved[rank] == ""
	})
	s := saving{len(saved), slices.Equal(lines, left)}
	whole := len(saved) == r.ranks && s.ordered
	if noted := strings.Contains(described.Source, "repaired without"); noted == whole {
		t.Fatalf("%s: %s: the source is %q", r.name, what, described.Source)
	}
	return s
}

// checkWhole checks what repair says of the file as a whole.
func (r repaired) checkWhole(t testing.TB, what, damaged, saved string, got compress.RepairResult) {
	t.Helper()
	if (len(got.Lost) == 0) != (damaged == r.data) {
		t.Fatalf("%s: %s: %d losses", r.name, what, len(got.Lost))
	}
	if damaged == r.data && saved != r.data {
		t.Fatalf("%s: %s: nothing is damaged, but the output differs", r.name, what)
	}
	if got.Readable == got.Ranks && got.Order == compress.Kept && saved != r.data {
		t.Fatalf("%s: %s: every call and their order are kept, but the output differs", r.name, what)
	}
}

func removeSaved(t testing.TB) {
	t.Helper()
	if err := os.RemoveAll("saved.rpz"); err != nil {
		t.Fatal(err)
	}
}

// TestRepair cuts traces off and damages them at every byte, or at some.
func TestRepair(t *testing.T) {
	for _, tt := range []struct {
		name string
		step int
	}{{"mixed", slow}, {"sparse", slow}, {"noisy-mixed", 67 * slow}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			writeInputs(t)
			r := newRepaired(t, tt.name)
			r.check(t, "whole", r.data)
			step := tt.step
			if !tier.Nightly {
				step *= 7
			}
			for i := 0; i < len(r.data); i += step {
				for _, f := range []struct{ what, data string }{
					{"cut off at", r.data[:i]},
					{"changed at", r.data[:i] + string([]byte{r.data[i] ^ 0x10}) + r.data[i+1:]},
				} {
					removeSaved(t)
					r.check(t, fmt.Sprint(f.what, " ", i), f.data)
				}
			}
		})
	}
}

// TestRepairOrder checks that the order of the ranks that are left is kept, and
// that a lost order is said to be.
func TestRepairOrder(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	r := newRepaired(t, "noisy-mixed")
	r.check(t, "without the odd ranks", readFile(t, "flipped-mixed.rpz"))
	for file, s := range r.seen {
		if s != (saving{noisyRanks / 2, true}) || file != readFile(t, "lost-mixed.rpz") {
			t.Errorf("without the odd ranks, there is %+v", s)
		}
	}
	clear(r.seen)
	r.check(t, "without the order", flip(t, r.data, layout.KindInterleaving, 0))
	for _, s := range r.seen {
		if s != (saving{noisyRanks, false}) {
			t.Errorf("without the order, there is %+v", s)
		}
	}
}

// TestRepairMissing takes sections away: that something is lost is said, and not that
// nothing was damaged.
func TestRepairMissing(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	for _, tt := range []struct {
		name string
		kind format.Kind
		lost string
	}{
		{"noisy", layout.KindColumns, "ranks 1-599:2"},
		{"mixed", layout.KindInterleaving, "the order of the calls of different ranks: they stand rank by rank"},
	} {
		writeFile(t, "damaged.rpz", withoutKind(t, readFile(t, tt.name+".rpz"), tt.kind))
		if out := must(t, "repair", "damaged.rpz", "-o", "saved.rpz"); !strings.HasPrefix(out,
			"unreadable: "+tt.lost+"\n") || strings.Contains(out, "nothing was damaged") {
			t.Errorf("%s: %s", tt.name, out)
		}
	}
	if out := must(t, "repair", "mixed.rpz", "-o", "saved.rpz"); !strings.HasPrefix(out, "nothing was damaged\n") {
		t.Error(out)
	}
}

// TestRepairPart checks that a part file is saved whole or not at all.
func TestRepairPart(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	data := readFile(t, "odd.part.rpz")
	writeFile(t, "damaged.rpz", data[:len(data)-1])
	must(t, "repair", "damaged.rpz", "-o", "saved.rpz")
	if readFile(t, "saved.rpz") != data {
		t.Error("the part file differs")
	}
	if r := invoke(t, "", "repair", "flipped.part.rpz", "-o", "none.rpz"); r.status != cli.ExitFailure ||
		!strings.Contains(r.stderr, "no call can be saved") {
		t.Errorf("status %d, %s", r.status, r.stderr)
	}
}

// TestRepairDamage puts several kinds of damage into one file.
func TestRepairDamage(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	traces := []repaired{newRepaired(t, "sparse"), newRepaired(t, "mixed")}
	rapid.Check(t, func(rt *rapid.T) {
		r := rapid.SampledFrom(traces).Draw(rt, "trace")
		data := []byte(r.data)
		for range rapid.IntRange(1, 3).Draw(rt, "damages") {
			begin := rapid.IntRange(0, len(data)).Draw(rt, "begin")
			end := min(len(data), begin+rapid.IntRange(0, 40).Draw(rt, "length"))
			data = slices.Replace(data, begin, end, rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(rt, "bytes")...)
		}
		removeSaved(t)
		r.check(t, "damaged", string(data))
	})
}

// TestRepairAbout damages what is said of a run, without which its calls can be read, and texts, without
// which they cannot.
func TestRepairAbout(t *testing.T) {
	t.Chdir(t.TempDir())
	ranks := [][]testtrace.Call{{testtrace.MPICall("MPI_Comm_set_name", "comm", "MPI_COMM_WORLD", "comm_name",
		cst.String("text"))},
		{testtrace.MPICall("MPI_Comm_set_name", "comm", "MPI_COMM_WORLD", "comm_name", cst.String("text"))}}
	run := merge.Run{Origin: format.Origin{Commands: []string{"./app"}}, Worlds: []format.World{{First: 1, Parent: -1}},
		Kept: []format.Kept{{Name: "test", Data: []byte("what it was made of")}}}
	trace := testtrace.Record(t, merge.Run{}, false, ranks)
	file := describedAs(t, trace, run)
	for kind, want := range compress.AboutRun {
		if kind == layout.KindClocks { // the run has none
			continue
		}
		for _, damaged := range []string{flip(t, file, kind, 0), flipHead(t, file, kind, 0)} {
			writeFile(t, "damaged.rpz", damaged)
			if got := must(t, "repair", "damaged.rpz", "-o", "saved.rpz"); !strings.Contains(got,
				"unreadable: "+want+"\n") {
				t.Errorf("%s: %s", want, got)
			}
			if got := must(t, "info", "saved.rpz"); !strings.Contains(got, "repaired without "+want) {
				t.Errorf("%s: %s", want, got)
			}
			if got := must(t, "cat", "saved.rpz"); strings.Count(got, "text") != 2 {
				t.Errorf("%s: %s", want, got)
			}
		}
	}
	writeFile(t, "damaged.rpz", flip(t, file, layout.KindTexts, 0))
	if r := invoke(t, "", "repair", "damaged.rpz", "-o", "none.rpz"); r.status != cli.ExitFailure ||
		!strings.Contains(r.stderr, "no call can be saved") {
		t.Errorf("texts: status %d, %s", r.status, r.stderr)
	}
}

// TestRepairLater checks that a trace of a later version is not taken for a damaged one, and
// that one of which only the version is damaged is.
func TestRepairLater(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	whole := readFile(t, "ring.rpz")
	later := []byte(whole[:7] + "\x03" + whole[8:])
	for i := 8; i < len(later)-8; i++ { // no checksum of this version holds
		later[i]++
	}
	writeFile(t, "next.rpz", string(later))
	want := "reprise: next.rpz: format: file has version 3, supported is version 2; a later reprise wrote it, and repairs it: nothing is saved\n"
	if r := invoke(t, "", "repair", "next.rpz", "-o", "out.rpz"); r.status != cli.ExitFailure ||
		r.stdout != "" || r.stderr != want {
		t.Errorf("status %d, %s%s", r.status, r.stdout, r.stderr)
	}
	if _, err := os.Stat("out.rpz"); err == nil {
		t.Error("there is an output")
	}
	got := must(t, "repair", "later.rpz", "-o", "out.rpz")
	if !strings.HasPrefix(got,
		"damaged: 8 bytes at offset 0: format: header at offset 0: corrupt input: \"\\x8frpz\\r\\n\\n\\x03\" is damaged\n") {
		t.Error(got)
	}
	if readFile(t, "out.rpz") != whole {
		t.Error("the trace is another")
	}
}
