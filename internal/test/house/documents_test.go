package house

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documents returns the texts that people read, by their paths.
func documents(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("docs/*.md")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d documents, %v", len(paths), err)
	}
	texts := make(map[string]string)
	for _, path := range append(paths, "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/testdata/README.md") {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(data)
	}
	return texts
}

// TestSnippets checks that the Go code in documents is compiled and run as part of an
// example.
func TestSnippets(t *testing.T) {
	inRoot(t)
	var code strings.Builder
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "example_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		for line := range strings.Lines(string(data)) {
			code.WriteString(strings.TrimPrefix(line, "\t"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	snippets := 0
	for path, text := range documents(t) {
		for _, block := range strings.Split(text, "```go\n")[1:] {
			snippets++
			if snippet, _, _ := strings.Cut(block, "```"); !strings.Contains(code.String(), snippet) {
				t.Errorf("%s: no example has the code\n%s", path, snippet)
			}
		}
	}
	if snippets < 3 {
		t.Errorf("%d pieces of Go code in the documents", snippets)
	}
}

// TestDiffs checks that the lines of C that documents change are those of an example.
func TestDiffs(t *testing.T) {
	inRoot(t)
	examples, err := filepath.Glob("examples/*/*.c")
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for _, path := range examples {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(data)
	}
	found := 0
	for path, text := range documents(t) {
		for _, block := range strings.Split(text, "```diff\n")[1:] {
			change, _, _ := strings.Cut(block, "```")
			for line := range strings.Lines(change) {
				found++
				if !strings.Contains(code.String(), "\n"+line[1:]) {
					t.Errorf("%s: no example has the line %q", path, line[1:])
				}
			}
		}
	}
	if found == 0 {
		t.Error("no document changes a line")
	}
}

// TestFigures checks that the tables between marks have the figures of the report.
func TestFigures(t *testing.T) {
	inRoot(t)
	results, err := os.ReadFile("bench/RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for path, text := range documents(t) {
		for _, name := range []string{"sizes", "times", "scale", "gather", "growth"} {
			_, table, ok := strings.Cut(text, "<!-- "+name+" -->\n")
			if !ok {
				continue
			}
			found++
			table, _, ok = strings.Cut(table, "<!-- /"+name+" -->\n")
			if !ok {
				t.Errorf("%s: %s has no end", path, name)
			}
			for line := range strings.Lines(table) {
				if !hasRow(string(results), line) {
					t.Errorf("%s: bench/RESULTS.md has no row with what is in %s", path, line)
				}
			}
		}
	}
	if found != 5 {
		t.Errorf("%d tables of figures, want 5", found)
	}
}

// hasRow reports whether a row of a table in text has all cells of a row in order,
// and perhaps others.
func hasRow(text, row string) bool {
	want := strings.Split(strings.Trim(row, "|\n"), "|")
	for line := range strings.Lines(text) {
		left := want
		for _, cell := range strings.Split(strings.Trim(line, "|\n"), "|") {
			if cell == left[0] {
				if left = left[1:]; len(left) == 0 {
					return true
				}
			}
		}
	}
	return false
}

var (
	mdLink    = regexp.MustCompile(`\]\(([^)\s]*)\)`)
	mdHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	mdOther   = regexp.MustCompile(`[^\pL\pN _-]`)
)

// TestLinks checks that what documents link to is in the repository, headings included.
func TestLinks(t *testing.T) {
	inRoot(t)
	headings := func(path string) (anchors []string) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		for _, m := range mdHeading.FindAllStringSubmatch(string(data), -1) {
			name := mdOther.ReplaceAllString(strings.ToLower(m[1]), "")
			anchors = append(anchors, strings.ReplaceAll(name, " ", "-"))
		}
		return anchors
	}
	for path, text := range documents(t) {
		for _, m := range mdLink.FindAllStringSubmatch(text, -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") {
				continue
			}
			target := path
			if to != "" {
				target = filepath.Join(filepath.Dir(path), to)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", path, m[1], err)
			} else if anchor != "" && !slices.Contains(headings(target), anchor) {
				t.Errorf("%s links to %s, which has no such heading", path, m[1])
			}
		}
	}
}

// TestReadme checks that the README is short, and that it and .ci/run test by the same
// command.
func TestReadme(t *testing.T) {
	inRoot(t)
	readme := documents(t)["README.md"]
	if n := strings.Count(readme, "\n"); n > 200 {
		t.Errorf("README.md has %d lines", n)
	}
	ci, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	const test = "\ngo test work\n"
	if !strings.Contains(readme, test) || !strings.Contains(string(ci), test) {
		t.Errorf("README.md and .ci/run do not both have %q", test)
	}
}

// parsers finds the packages that errors about bytes name.
var parsers = regexp.MustCompile(`(?:wire\.NewDecoder\(|const pkg = |ParseError\{Package: )"(\w+)"`)

// documentedAs are other names of sections. Package primed reads only bytes that are part of it.
var documentedAs = map[string]string{"spool": "mpi", "primed": "format"}

// TestParsers checks that each package that an error about bytes names has a section of docs/format.md, which
// has the fields.
func TestParsers(t *testing.T) {
	inRoot(t)
	format := documents(t)["docs/format.md"]
	found := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		for _, match := range parsers.FindAllStringSubmatch(string(data), -1) {
			found++
			name := cmp.Or(documentedAs[match[1]], match[1])
			if !strings.Contains(format, "\n## "+name+": ") {
				t.Errorf("%s: docs/format.md has no section of %s", path, name)
			}
		}
		return err
	})
	if err != nil || found < 30 {
		t.Errorf("%d packages, %v", found, err)
	}
}
