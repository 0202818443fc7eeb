package main

import (
	"encoding/csv"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/tier"
)

// A movedBytes is what a run moves, as numbers by their names.
type movedBytes map[string]int

// TestTruth records programs of phases that are drawn, each of which writes down by hand what it moves, and
// compares that with what the commands say of it.
func TestTruth(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		for seed := range uint64(tier.Number(2, 100)) {
			checkTruth(t, m, 2+int(seed)%3, drawPhases(seed))
		}
	})
}

// drawPhases draws phases of truth.c.
func drawPhases(seed uint64) []string {
	random := rand.New(rand.NewPCG(seed, 43))
	var phases []string
	for range 40 {
		const letters = "pppprrsstxccccaaaannnnfffmmmmmd"
		phases = append(phases, fmt.Sprintf("%c%d", letters[random.IntN(len(letters))], random.IntN(1_000_000)))
	}
	return phases
}

func checkTruth(t *testing.T, m *mpitest.MPI, ranks int, phases []string) {
	t.Helper()
	dir := t.TempDir()
	run := filepath.Join(dir, "run.rpz")
	line := append(append(m.Launch(ranks, m.Build(t, "truth.c")), dir), phases...)
	if got := outcome(t, recorder(t, m, []string{"-o", run}, line...)); got.status != 0 {
		t.Fatalf("%q: %+v", line, got)
	}
	want, got := writtenDown(t, dir, ranks), movedBy(t, dir, run)
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok && got[name] != 0 {
			want[name] = 0
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s: %d, want %d, of %s on %d ranks: %s", name, got[name], want[name], m.Name, ranks,
				strings.Join(phases, " "))
		}
	}
}

// writtenDown returns what the ranks have written down.
func writtenDown(t *testing.T, dir string, ranks int) movedBytes {
	t.Helper()
	sums := make(movedBytes)
	for rank := range ranks {
		for line := range strings.Lines(readFile(t, filepath.Join(dir, fmt.Sprint("truth.", rank)))) {
			var what string
			var from, to, tag, bytes int
			if _, err := fmt.Sscan(line, &what, &from, &to, &tag, &bytes); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			pair := fmt.Sprintf("%d to %d: ", from, to)
			switch what {
			case "message":
				sums[pair+"messages"]++
				sums[pair+"bytes"] += bytes
				sums[fmt.Sprintf("message of %d bytes from %d to %d, tag %d", bytes, from, to, tag)]++
			case "block":
				sums[pair+"blocks"]++
				sums[pair+"exchanged_bytes"] += bytes
			default:
				sums[fmt.Sprintf("rank %d %s", from, what)] += bytes
			}
		}
	}
	return sums
}

// movedBy returns what the commands say of a run.
func movedBy(t *testing.T, dir, run string) movedBytes {
	t.Helper()
	sums := make(movedBytes)
	for row := range rowsOf(t, filepath.Join(dir, "matrix.csv"), "matrix", run) {
		for _, name := range []string{"messages", "bytes", "messages_of_unknown_size", "blocks",
			"exchanged_bytes", "blocks_of_unknown_size"} {
			sums[row["from"]+" to "+row["to"]+": "+name] = integer(t, row[name])
		}
	}
	for row := range rowsOf(t, filepath.Join(dir, "calls.csv"), "export", run) {
		for name, column := range map[string]string{"gives": "collective_sent_bytes",
			"gets": "collective_received_bytes", "writes": "file_written_bytes", "reads": "file_read_bytes"} {
			sums["rank "+row["rank"]+" "+name] += integer(t, row[column])
		}
	}
	for row := range rowsOf(t, filepath.Join(dir, "messages.csv"), "export", run, "--by", "message") {
		sums[fmt.Sprintf("message of %s bytes from %s to %s, tag %s", row["bytes"], row["send_rank"],
			row["recv_rank"], row["tag"])]++
	}
	return sums
}

func integer(t *testing.T, text string) int {
	t.Helper()
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// rowsOf returns the rows of a table that a command writes to a file, by the names of columns.
func rowsOf(t *testing.T, path string, command ...string) func(func(map[string]string) bool) {
	t.Helper()
	must(t, append(command, "-o", path)...)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(map[string]string) bool) {
		for _, row := range rows[1:] {
			named := make(map[string]string)
			for i, name := range rows[0] {
				named[name] = row[i]
			}
			if !yield(named) {
				return
			}
		}
	}
}
