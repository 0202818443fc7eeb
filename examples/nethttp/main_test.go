package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/trace"
)

// TestMain makes the test program the example where it is started as one of its
// processes.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-rank") {
		flag.CommandLine = flag.NewFlagSet(os.Args[0], flag.ExitOnError)
		main()
		return
	}
	os.Exit(m.Run())
}

// TestRun runs all processes, and looks at what is in the trace.
func TestRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "web.rpz")
	if err := run(path); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Open(path, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	statuses := make(map[string]int)
	for _, rank := range tr.RankSet().All() {
		r, err := tr.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			status, _ := c.Arg("status")
			statuses[c.Function.Name+" "+status.String()]++
		}
	}
	for name, want := range map[string]int{"http.request 200": 891, "http.request 404": 9,
		"http.serve 200": 891, "http.serve 404": 9} {
		if statuses[name] != want {
			t.Errorf("%d calls of %s, want %d: %v", statuses[name], name, want, statuses)
		}
	}
}
