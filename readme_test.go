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
	if code := between(t, readme, "```go", "```"); !strings.Contains(example.String(), code) {
		t.Errorf("no example in example_test.go has the code of the README:\n%s", code)
	}
	results := read("bench/RESULTS.md")
	for line := range strings.Lines(between(t, readme, "<!-- sizes -->", "<!-- /sizes -->")) {
		if line = strings.TrimSpace(line); !strings.Contains(results, line) {
			t.Errorf("bench/RESULTS.md has no line %s", line)
		}
	}
}
