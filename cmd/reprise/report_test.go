package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	for _, want := range []string{"<title>lu.rpz</title>", "940,044 calls by 16 ranks", `"ranks":[{"rank":1,`, "allreduce(count=5, flops=0"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page has no %q", want)
		}
	}
}
