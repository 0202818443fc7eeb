package reprise_test

import (
	"os"
	"strings"
	"testing"
)

// between returns what stands between two lines of text, without them.
func between(t *testing.T, text, begin, end string) string {
	t.Helper()
	_, after, ok := strings.Cut(text, begin+"\n")
	found, _, closed := strings.Cut(after, "\n"+end+"\n")
	if !ok || !closed {
		t.Fatalf("README.md has no %q … %q", begin, end)
	}
	return found
}

// TestReadme checks that the example of the README is one that is compiled and
// run, and that its sizes are those of the report.
func TestReadme(t *testing.T) {
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	readme := read("README.md")
	var example strings.Builder
	for line := range strings.Lines(read("example_test.go")) {
		example.WriteString(strings.TrimPrefix(line, "\t"))
	}
	blocks := strings.Split(readme, "```go\n")[1:]
	if len(blocks) < 2 {
		t.Errorf("%d pieces of code in the README", len(blocks))
	}
	for _, block := range blocks {
		if code, _, _ := strings.Cut(block, "```"); !strings.Contains(example.String(), code) {
			t.Errorf("no example in example_test.go has the code of the README:\n%s", code)
		}
	}
	results := read("bench/RESULTS.md")
	for _, name := range []string{"sizes", "times"} {
		for line := range strings.Lines(between(t, readme, "<!-- "+name+" -->", "<!-- /"+name+" -->")) {
			if !hasRow(results, line) {
				t.Errorf("bench/RESULTS.md has no row with what is in %s", line)
			}
		}
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
