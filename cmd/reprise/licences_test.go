package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLicences compares the modules in SECURITY.md with those that the command is built of.
func TestLicences(t *testing.T) {
	const ours = "github.com/reprise-trace/"
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(strings.Fields(string(out)), func(path string) bool {
		return strings.HasPrefix(path, ours)
	})
	slices.Sort(want)
	want = slices.Compact(want)
	var got []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [A-Z].* \\|$").FindAllStringSubmatch(
		readFile(t, filepath.Join("..", "..", "SECURITY.md")), -1) {
		got = append(got, row[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("SECURITY.md has %q, the command is built of %q", got, want)
	}
}
