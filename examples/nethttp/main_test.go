package main

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/tracer"
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
	trace, err := reprise.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	statuses := make(map[string]int)
	for rank := range trace.Active() {
		r, err := trace.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Calls() {
			statuses[c.Function.Name+" "+c.Args[4].String()]++
		}
	}
	for name, want := range map[string]int{"http.request 200": 891, "http.request 404": 9, "http.serve 200": 891, "http.serve 404": 9} {
		if statuses[name] != want {
			t.Errorf("%d calls of %s, want %d: %v", statuses[name], name, want, statuses)
		}
	}
}

// TestPanic checks that a request whose handler panics is recorded.
func TestPanic(t *testing.T) {
	p, err := tracer.Open(tracer.Config{Path: filepath.Join(t.TempDir(), "part.rpz"), Threads: true})
	if err != nil {
		t.Fatal(err)
	}
	h := NewHandler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("lost") }), p)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", strings.NewReader("")))
	}()
	if p.Len() != 1 {
		t.Errorf("%d calls", p.Len())
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}
