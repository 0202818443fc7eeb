package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A repaired is a trace of which damaged copies are repaired.
type repaired struct {
	name string
	data string
	rank map[string]string // the text of each rank
	seen map[string]int    // by output of repair, how many ranks can be read from it
}

func newRepaired(t testing.TB, name string) repaired {
	t.Helper()
	r := repaired{name: name, data: readFile(t, name+".rpz"), rank: make(map[string]string), seen: make(map[string]int)}
	for _, line := range strings.SplitAfter(readFile(t, name+".txt"), "\n") {
		if rank, _, ok := strings.Cut(line, " "); ok {
			r.rank[rank] += line
		}
	}
	return r
}

// check repairs a damaged copy and checks that what repair says is true: nothing
// is written if it fails, and otherwise as many ranks are whole, and the others
// are errors, as it says.
func (r repaired) check(t testing.TB, what, damaged string) {
	t.Helper()
	writeFile(t, "damaged.rpz", damaged)
	run := invoke(t, "", "repair", "--json", "damaged.rpz", "-o", "saved.rpz")
	if run.status == exitFailure {
		if strings.Contains(fileNames(t), "saved.rpz") || strings.Count(run.stderr, "damaged.rpz") != 1 {
			t.Fatalf("%s: %s: failed with output, or without the path: %s", r.name, what, run.stderr)
		}
		return
	}
	var got repairResult
	if err := json.Unmarshal([]byte(run.stdout), &got); err != nil || run.status != exitOK {
		t.Fatalf("%s: %s: status %d, %v: %s", r.name, what, run.status, err, run.stderr)
	}
	saved := readFile(t, "saved.rpz")
	readable, ok := r.seen[saved]
	if !ok {
		readable = r.countReadable(t, what)
		r.seen[saved] = readable
	}
	if readable != got.Readable || len(r.rank) != got.Ranks || readable == 0 {
		t.Fatalf("%s: %s: %d of %d ranks can be read, repair says %d of %d", r.name, what, readable, len(r.rank), got.Readable, got.Ranks)
	}
	r.checkWhole(t, what, damaged, saved, got)
}

// countReadable returns how many ranks of the output can be read. They must be
// what they were, and the others errors; info must count the same.
func (r repaired) countReadable(t testing.TB, what string) int {
	t.Helper()
	readable := 0
	for rank, text := range r.rank {
		cat := invoke(t, "", "cat", "saved.rpz", "--rank", rank)
		switch {
		case cat.status == exitOK && cat.stdout == text:
			readable++
		case cat.status != exitFailure || cat.stdout != "" || strings.Count(cat.stderr, "saved.rpz") != 1:
			t.Fatalf("%s: %s: rank %s is other than it was: %s", r.name, what, rank, cat.stderr)
		}
	}
	info := invoke(t, "", "info", "--json", "--quick", "saved.rpz")
	var described struct {
		Unreadable []int `json:"unreadable_ranks"`
	}
	if err := json.Unmarshal([]byte(info.stdout), &described); err != nil {
		t.Fatal(err)
	}
	if lost := len(r.rank) - readable; (info.status == exitOK) != (lost == 0) || len(described.Unreadable) != lost {
		t.Fatalf("%s: %s: info has status %d, %v, not %d ranks", r.name, what, info.status, described.Unreadable, lost)
	}
	return readable
}

// checkWhole checks what repair says of the file as a whole.
func (r repaired) checkWhole(t testing.TB, what, damaged, saved string, got repairResult) {
	t.Helper()
	if (len(got.Lost) == 0) != (damaged == r.data) {
		t.Fatalf("%s: %s: %d losses", r.name, what, len(got.Lost))
	}
	if damaged == r.data && saved != r.data {
		t.Fatalf("%s: %s: nothing is damaged, but the output differs", r.name, what)
	}
	if got.Readable == got.Ranks && got.Order == kept && saved != r.data {
		t.Fatalf("%s: %s: every call and their order are kept, but the output differs", r.name, what)
	}
}

func removeSaved(t testing.TB) {
	t.Helper()
	if err := os.RemoveAll("saved.rpz"); err != nil {
		t.Fatal(err)
	}
}

// TestRepair cuts small traces off at every length and damages every byte.
func TestRepair(t *testing.T) {
	for _, name := range []string{"mixed", "sparse"} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			writeInputs(t)
			r := newRepaired(t, name)
			r.check(t, "whole", r.data)
			for i := 0; i < len(r.data); i += slow {
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

// TestRepairDamage puts several kinds of damage into one file.
func TestRepairDamage(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	traces := []repaired{newRepaired(t, "ring"), newRepaired(t, "mixed")}
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
