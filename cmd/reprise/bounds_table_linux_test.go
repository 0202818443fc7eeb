package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/programs"
	"github.com/reprise-trace/reprise/internal/test/forged"
	"github.com/reprise-trace/reprise/internal/test/tier"
)

// boundedRows has, for each kind of input, the commands that read such a one, which stands for $. Machine
// files, texts and times have tests of their own besides.
var boundedRows = map[string][]string{
	"trace": {"info $", "info $ --compare", "profile $", "profile $ --by rank", "grammar $",
		"grammar $ --together", "cat $ --count 100000", "cat $ --split o.split --force",
		"messages $", "match $", "matrix $ -o o.svg", "hang $", "waits $", "why $", "efficiency $", "predict $",
		"at $ 1ms", "diff $ $", "codecs $", "proxy $ -o o.proxy", "repair $ -o o.rpz",
		"merge $ -o o.rpz", "report $ -o o.html", "view $", "extrapolate $ $ $ --ranks 9 -o o.rpz",
		"verify $ -", "replay $ --compute none -- true",
		"export $ -o o.prv", "export $ -o o.parquet", "export $ -o o.csv", "export $ -o o.csv --by message",
		"export $ -o o.csv --by signature",
		"export $ -o o.pftrace", "export $ -o o.json", "export $ -o o.ti", "export $ -o o.pprof"},
	"part": {"info $", "profile $", "grammar $", "cat $ --count 100000", "messages $", "match $", "hang $",
		"diff $ $", "repair $ -o o.rpz", "merge $ -o o.rpz", "merge --part $ -o o.part.rpz", "merge $ $ -o o.rpz"},
	"text":    {"compress $ -o o.rpz", "compress --part $ -o o.rpz", "verify long.rpz $", "info $", "codecs $"},
	"list":    {"compress $ -o o.rpz", "compress $ --outside -o o.rpz", "verify long.rpz $"},
	"machine": {"predict long.rpz -m $"},
	"times":   {"codecs $", "codecs $ --column 1"},
	"raw":     {"collect $ -o o.rpz", "verify long.rpz $"},
	"parts":   {"merge $ -o o.rpz", "merge --part $ -o o.part.rpz"},
	"proxy":   {"proxy long.rpz -o $"},
}

// unbounded says of each other command why it has no row.
var unbounded = map[string]string{
	"record":     "runs a program of the user, and reads what its own processes write",
	"calibrate":  "runs a program of its own",
	"slice":      "compiles a program of the user",
	"demo":       "reads what it has itself",
	"version":    "reads nothing",
	"help":       "reads nothing",
	"man":        "reads nothing",
	"completion": "reads nothing",
}

// TestBoundedCommands checks that each command has a row, or a reason why it has none.
func TestBoundedCommands(t *testing.T) {
	has := make(map[string]bool)
	for _, rows := range boundedRows {
		for _, row := range rows {
			has[strings.Fields(row)[0]] = true
		}
	}
	for _, c := range newRoot().Commands() {
		if has[c.Name()] == (unbounded[c.Name()] != "") {
			t.Errorf("reprise %s must have a row of boundedRows, or be in unbounded", c.Name())
		}
	}
}

// strange makes inputs of a kind in the current directory, and returns their names. They are small, or have
// holes.
func strange(t *testing.T, kind string) (names []string) {
	t.Helper()
	file := func(name string, content []byte) {
		t.Helper()
		writeFile(t, name, string(content))
		names = append(names, name)
	}
	hole := func(name, begin string, size int64) {
		t.Helper()
		writeFile(t, name, begin)
		if err := os.Truncate(name, size); err != nil {
			t.Skip("no files with holes: ", err)
		}
	}
	directory := func(name string) {
		t.Helper()
		if err := os.Mkdir(name, 0o777); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	const large = 16 << 30
	switch kind {
	case "trace":
		for name, content := range claims(t) {
			file(name, content)
		}
		hole("hole.rpz", readFile(t, "few.rpz"), large)
		names = append(names, "hole.rpz")
	case "part":
		part, err := forged.PartOfMany(tier.Number(1<<12, 1<<19))
		if err != nil {
			t.Fatal(err)
		}
		file("ranks.part.rpz", part)
	case "text", "times":
		hole("hole.txt", "0 init\n", large)
		names = append(names, "hole.txt")
		hole("number.txt", "1\n2", large)
		names = append(names, "number.txt")
		file("same.txt.zst", bomb(t, "0 barrier\n"))
		file("numbers.txt.zst", bomb(t, "1\n"))
	case "list":
		file("itself", []byte("itself\n"))
		file("zero", []byte("/dev/zero\n"))
		file("names", []byte(strings.Repeat("no-such-file\n", 1<<20)))
		file("one", bytes.Repeat([]byte("a"), 16<<20))
	case "machine":
		hole("hole.toml", "a = 1\n", large)
		names = append(names, "hole.toml")
	case "raw":
		directory("holes")
		for i := range 4 {
			hole(fmt.Sprintf("holes/%d-1.0.0.spool", i+1), "", large)
		}
		hole("holes/origin.json", "{", large)
		directory("empty")
		for i := range tier.Number(100, 20_000) {
			writeFile(t, fmt.Sprintf("empty/%d-1.0.0.spool", i+1), "")
		}
	case "parts":
		directory("parts-of-holes")
		for i := range 4 {
			hole(fmt.Sprintf("parts-of-holes/%d.rpz", i), readFile(t, "long.rpz"), large)
		}
		directory("many")
		for i := range tier.Number(100, 20_000) {
			writeFile(t, fmt.Sprintf("many/%d.rpz", i), "")
		}
	case "proxy":
		directory("list-of-holes")
		hole("list-of-holes/"+programs.ProxyList, "a", large)
		directory("with-holes")
		writeFile(t, "with-holes/"+programs.ProxyList, strings.Repeat("0", 64)+"  main.c\n")
		hole("with-holes/main.c", "int", 1<<30)
	}
	slices.Sort(names)
	return names
}

// bomb returns a text that repeats a line for a long time, in few bytes.
func bomb(t *testing.T, line string) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := zstd.NewWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(w, endlessly("", line), int64(tier.Number(16<<20, 1<<30))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestBounded runs all commands on strange inputs of all kinds that they read, and looks at the memory that
// each takes, and at what it leaves when it is interrupted.
func TestBounded(t *testing.T) {
	few := map[string]string{"trace": "export $ -o o.prv few.rpz", "raw": "collect $ -o o.rpz holes",
		"parts": "merge $ -o o.rpz parts-of-holes", "proxy": "proxy long.rpz -o $ list-of-holes"}
	for kind, rows := range boundedRows {
		if few[kind] == "" && !tier.Nightly {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			t.Chdir(t.TempDir())
			writeInputs(t)
			for _, name := range strange(t, kind) {
				for _, row := range rows {
					if !tier.Nightly && few[kind] != row+" "+name {
						continue
					}
					args := strings.Fields(strings.ReplaceAll(row, "$", name))
					t.Run(strings.Join(args, " "), func(t *testing.T) {
						left := func() []string {
							return slices.DeleteFunc(entries(t), func(n string) bool {
								return !strings.HasPrefix(n, "o.") && !strings.HasPrefix(n, ".")
							})
						}
						bounded(t, strings.NewReader("0 init\n"), args...)
						for _, o := range left() {
							os.RemoveAll(o)
						}
						if !tier.Nightly {
							return
						}
						switch status, after := interruptedAfter(t, 300*time.Millisecond, args...); {
						case after > 10*time.Second:
							t.Errorf("ended %v after the interrupt, with status %d", after, status)
						case status == cli.ExitInterrupted &&
							// others are whole
							slices.ContainsFunc(left(), func(n string) bool { return strings.HasPrefix(n, ".") }):
							t.Errorf("left %q", left())
						case status == cli.ExitInterrupted:
							t.Logf("ended %v after the interrupt", after.Round(time.Millisecond))
						}
						for _, o := range left() {
							os.RemoveAll(o)
						}
					})
				}
			}
		})
	}
}

// entries returns the names in the current directory.
func entries(t *testing.T) (names []string) {
	t.Helper()
	list, err := filepath.Glob("*")
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := filepath.Glob(".*")
	if err != nil {
		t.Fatal(err)
	}
	return append(list, hidden...)
}
