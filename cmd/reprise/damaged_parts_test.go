package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/merge"
)

// A partDamage is what may be in the place of a part.
type partDamage struct {
	name string
	do   func(t *rapid.T, path string, whole []byte) // to the file at path, which is whole
	says string                                      // of it, as a regular expression
}

// partDamages are of files. An error without details still says where the damage is.
var partDamages = []partDamage{
	{"empty", func(t *rapid.T, path string, _ []byte) { put(t, path, nil) }, "the file is empty"},
	{"cut", func(t *rapid.T, path string, whole []byte) {
		put(t, path, whole[:rapid.IntRange(1, len(whole)-1).Draw(t, "length")])
	}, "ends too soon|unexpected|cut off|damaged|corrupt|EOF|limit"},
	{"bit", func(t *rapid.T, path string, whole []byte) {
		flipped := slices.Clone(whole)
		flipped[rapid.IntRange(0, len(whole)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		put(t, path, flipped)
	}, "this is a trace whose beginning is damaged|corrupt|cut off|EOF|version|limit"},
	{"text", func(t *rapid.T, path string, _ []byte) { put(t, path, []byte("a note: 3 mm\n")) }, "this is a text file"},
	{"SimGrid", func(t *rapid.T, path string, _ []byte) {
		put(t, path, []byte("0 init\n0 finalize\n"))
	}, "this is SimGrid's text of a trace"},
	{"program", func(t *rapid.T, path string, _ []byte) {
		put(t, path, []byte("\x7fELF\x02\x01\x01"))
	}, "this is a program"},
	{"records", func(t *rapid.T, path string, _ []byte) {
		put(t, path, rawSegment(7, 8, 1))
	}, "this is raw records of MPI calls"},
	{"zeros", func(t *rapid.T, path string, whole []byte) {
		put(t, path, make([]byte, len(whole)))
	}, "this is a file of zeros"},
	{"directory", func(t *rapid.T, path string, _ []byte) {
		if os.Remove(path) != nil || os.Mkdir(path, 0o777) != nil {
			t.Fatal(path)
		}
	}, "this is a directory"},
	{"pipe", func(t *rapid.T, path string, _ []byte) {
		if os.Remove(path) != nil || syscall.Mkfifo(path, 0o600) != nil {
			t.Fatal(path)
		}
	}, "is not a regular file"},
	{"dangling", func(t *rapid.T, path string, _ []byte) {
		if os.Remove(path) != nil || os.Symlink("nowhere", path) != nil {
			t.Fatal(path)
		}
	}, "no such file"},
}

func put(t rapid.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
}

// partOfRun returns a part file, or a trace, of a rank of a run.
func partOfRun(t rapid.TB, run string, rank int, trace bool) []byte {
	p := programs.Stencil2D(3, 3, 2)
	described := p.Run()
	described.Origin = format.Origin{Runs: []string{run}, World: 9}
	a := new(merge.Accumulator)
	err := a.Describe(described)
	if err == nil {
		err = a.Add(p.Part(rank))
	}
	var file strings.Builder
	if err == nil && trace {
		err = a.Write(&file)
	} else if err == nil {
		err = a.WritePart(&file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return []byte(file.String())
}

// TestDamagedParts damages some of the parts of a run, each in another way, and checks that merge names each
// of these once, says what it is, names no other, and writes nothing.
func TestDamagedParts(t *testing.T) {
	t.Chdir(t.TempDir())
	test := t
	rapid.Check(t, func(t *rapid.T) {
		directory, err := os.MkdirTemp(".", "parts")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(directory)
		inputs := []string{directory}
		listed := rapid.Bool().Draw(t, "by name")
		if listed {
			inputs = nil
		}
		says, healthy := make(map[string]string), 0 // of damaged files
		whole := make([][]byte, 9)
		path := func(rank int) string { return filepath.Join(directory, fmt.Sprintf("rank%07d.part.rpz", rank)) }
		damaged, others := 0, 0
		for rank := range whole {
			whole[rank] = partOfRun(t, "this", rank, rapid.IntRange(0, 3).Draw(t, "trace") == 0)
			put(t, path(rank), whole[rank])
			if listed {
				inputs = append(inputs, path(rank))
			}
			switch k := rapid.IntRange(-7, len(partDamages)+2).Draw(t, "damage"); {
			case k < 0:
				healthy++
			case k < len(partDamages):
				partDamages[k].do(t, path(rank), whole[rank])
				says[path(rank)] = partDamages[k].says
				damaged++
			case k == len(partDamages) && others < min(3, healthy-1): // of a run that has fewer
				put(t, path(rank), partOfRun(t, "another", rank, false))
				says[path(rank)] = `the files are of 2 runs: .*another in `
				others++
			case k == len(partDamages)+1:
				twin := filepath.Join(directory, fmt.Sprintf("twin%d.rpz", rank))
				put(t, twin, whole[rank])
				if listed {
					inputs = append(inputs, twin)
				}
				says[twin], says[path(rank)] = "is in .* and in ", "is in .* and in "
			case k == len(partDamages)+2 && listed:
				if err := os.Remove(path(rank)); err != nil {
					t.Fatal(err)
				}
				says[path(rank)] = "no such file"
			default:
				healthy++
			}
		}
		if len(says) == 0 {
			return
		}
		before, _ := os.ReadDir(".")
		r := invoke(test, "", append(append([]string{"merge"}, inputs...), "-o", "out.rpz")...)
		if after, _ := os.ReadDir("."); r.status != cli.ExitFailure || len(after) != len(before) {
			t.Fatalf("status %d, %v: %s", r.status, after, r.stderr)
		}
		for name, what := range says {
			lines := linesWith(r.stderr, name)
			if len(lines) != 1 || strings.Count(lines[0], name) != 1 ||
				!regexp.MustCompile(what).MatchString(lines[0]) {
				t.Fatalf("%s is named in %q, want once, with %q:\n%s", name, lines, what, r.stderr)
			}
		}
		for rank := range whole {
			if _, isDamaged := says[path(rank)]; !isDamaged && strings.Contains(r.stderr, path(rank)) {
				t.Fatalf("%s is named:\n%s", path(rank), r.stderr)
			}
		}
	})
}

// linesWith returns the lines of a text that have a word.
func linesWith(text, word string) (lines []string) {
	for line := range strings.Lines(text) {
		// A hint names the first of several files again.
		line, _, _ = strings.Cut(line, "; reprise ")
		if regexp.MustCompile(regexp.QuoteMeta(word) + `([ :,;\n]|$)`).MatchString(line) {
			lines = append(lines, line)
		}
	}
	return lines
}
