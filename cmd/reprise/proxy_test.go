package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestProxyFiles checks that what is there already is kept, and that nothing else is written then.
func TestProxyFiles(t *testing.T) {
	heat := readFile(t, heatTrace)
	t.Chdir(t.TempDir())
	writeFile(t, "heat.rpz", heat)
	if err := os.Mkdir("own", 0o777); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join("own", "main.c")
	writeFile(t, own, "mine")
	r := invoke(t, "", "proxy", "heat.rpz", "-o", "own")
	if want := own + ": is there already: take a new directory, or remove it"; r.status != exitFailure || !strings.Contains(r.stderr, want) {
		t.Errorf("%+v", r)
	}
	if got, err := os.ReadDir("own"); err != nil || len(got) != 1 || readFile(t, own) != "mine" {
		t.Errorf("%v %v", got, err)
	}
	must(t, "proxy", "heat.rpz", "-o", filepath.Join("new", "proxy"))
}
