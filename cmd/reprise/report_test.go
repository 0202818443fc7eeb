package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
)

func TestReport(t *testing.T) {
	dir := t.TempDir()
	rpz, html := filepath.Join(dir, "lu.rpz"), filepath.Join(dir, "lu.html")
	must(t, "compress", "testdata/lu.W.16.ti.zst", "-o", rpz)
	must(t, "report", rpz, "-o", html, "--ranks", "1,3")
	page, err := os.ReadFile(html)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>lu.rpz</title>", "940,044 calls by 16 ranks", `"ranks":[{"rank":1,`,
		"allreduce(count=5, flops=0"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

// TestReportDamaged writes a page about the ranks that can be read.
func TestReportDamaged(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	r := invoke(t, "", "report", "flipped.rpz", "-o", "flipped.html")
	if r.status != cli.ExitFailure || !strings.Contains(r.stderr, "cannot be read") {
		t.Errorf("status %d: %s", r.status, r.stderr)
	}
	if page := readFile(t, "flipped.html"); !strings.Contains(page, "Unreadable, and left out: ranks") {
		t.Error("the page does not say what it leaves out")
	}
	writeFile(t, "program.c", "int main;\n")
	for _, args := range [][]string{{"report", "noisy.rpz", "-o", "program.c"}, {"report", "noisy.rpz"},
		{"report", "-o", "x.html"}, {"report", "noisy.rpz", "-o", "x.html", "--ranks", "x"}} {
		if r := invoke(t, "", args...); r.status != cli.ExitUsage {
			t.Errorf("%v: status %d: %s", args, r.status, r.stderr)
		}
	}
	if source := readFile(t, "program.c"); source != "int main;\n" {
		t.Errorf("the source is now %q", source)
	}
}
