package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/record"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/trace"
)

// recordDamages are of files of raw records: those of parts, and what is said otherwise of these.
func recordDamages() []partDamage {
	says := map[string]string{
		"cut":      "at offset .*: unexpected EOF|the file was made with .* bytes",
		"bit":      "at offset .*: corrupt input|the file was made with .* bytes|the file is a copy, or has the name of another",
		"records":  "these are the records of process 107, .*: the file is a copy, or has the name of another",
		"pipe":     "it is no regular file",
		"dangling": "it was there, and cannot be opened: a link may lead nowhere",
	}
	list := slices.Clone(partDamages)
	for i, d := range list {
		if said, ok := says[d.name]; ok {
			list[i].says = said
		}
	}
	return append(list,
		partDamage{"deleted", func(t *rapid.T, path string, _ []byte) {
			if os.Remove(path) != nil {
				t.Fatal(path)
			}
		}, ""},
		partDamage{"trace", func(t *rapid.T, path string, _ []byte) {
			put(t, path, partOfRun(t, "this", 0, true))
		}, "this is a trace already"},
	)
}

// TestDamagedSpool damages the raw records of some ranks of a run, each in another way, and checks
// that collect names each of these files once and says what it is, that ranks of which nothing is
// left are named, and that all others come back.
func TestDamagedSpool(t *testing.T) {
	t.Chdir(t.TempDir())
	damages, test := recordDamages(), t
	rapid.Check(t, func(t *rapid.T) {
		directory, err := os.MkdirTemp(".", "raw")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(directory)
		defer os.Remove("out.rpz")
		const ranks = 7
		damaged := make([]*partDamage, ranks)
		path := func(rank int) string { return filepath.Join(directory, rawName(rank)) }
		for rank := range ranks {
			whole := rawSegment(rank, ranks, 1+rank)
			put(t, path(rank), whole)
			if k := rapid.IntRange(-len(damages)/2, len(damages)-1).Draw(t, "damage"); k >= 0 {
				damaged[rank] = &damages[k]
				damages[k].do(t, path(rank), whole)
			}
		}
		if copied := rapid.IntRange(-3, ranks-1).Draw(t, "copied"); copied >= 0 { // under another name, whole
			put(t, filepath.Join(directory, "9"+rawName(copied)), rawSegment(copied, ranks, 1+copied))
		}
		said := invoke(test, "", "collect", directory, "-o", "out.rpz", "--quiet")
		checkNamed(t, said.stderr, damaged, path)
		if said.status != cli.ExitOK {
			if !strings.Contains(said.stderr, record.ErrNothing.Error()) || slices.Contains(damaged, nil) {
				t.Fatalf("%+v", said)
			}
			return
		}
		tr, err := trace.Open("out.rpz", trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		unrecorded := tr.Content().Unrecorded
		if lost := "nothing was recorded of " + text.Ranks(unrecorded) + ":"; tr.Ranks() != ranks ||
			strings.Contains(said.stderr, lost) != (unrecorded.Len() > 0) {
			t.Fatalf("%d ranks, no record of %v:\n%s", tr.Ranks(), unrecorded, said.stderr)
		}
		for rank, d := range damaged {
			r, err := tr.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			whole := r.Len() == uint64(2+rank)
			missing := unrecorded.Contains(rank) ||
				slices.ContainsFunc(tr.Run().Origin.Missing, func(m format.Missing) bool { return m.Rank == rank })
			// all records, where nothing tells that there were no more
			behind := d != nil && (d.name == "cut" || d.name == "bit")
			if !whole && (!missing || d == nil) || whole && missing && !behind {
				t.Fatalf("rank %d: %+v; %d calls, missing %t:\n%s", rank, d, r.Len(), missing, said.stderr)
			}
		}
	})
}

// checkNamed checks what collect says of the files of ranks, some of which are damaged.
func checkNamed(t *rapid.T, stderr string, damaged []*partDamage, path func(rank int) string) {
	for rank, d := range damaged {
		lines := linesWith(stderr, path(rank))
		switch {
		case d == nil || d.says == "":
			if len(lines) > 0 {
				t.Fatalf("%s is named:\n%s", path(rank), stderr)
			}
		case d.name == "bit" && len(lines) == 0: // behind the records; else calls are missing
		case len(lines) != 1 || strings.Count(lines[0], path(rank)) != 1 ||
			!regexp.MustCompile(d.says).MatchString(lines[0]):
			t.Fatalf("%s: %s is named in %q, want once, with %q:\n%s", d.name, path(rank), lines, d.says, stderr)
		}
	}
}
