//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/mpitest"
)

// callTexts returns the calls of a rank without what a proxy does not have: addresses, call sites,
// the arguments of the program, and what is asked of a status, as the trace does not tell of which.
func callTexts(t *testing.T, path string, rank int) []string {
	t.Helper()
	trace, err := reprise.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	r, err := trace.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for call, err := range r.Calls() {
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		b.WriteString(call.Function.Name)
		for i, p := range call.Function.Params {
			if p.Name == "argc" || p.Name == "argv" || p.Type.Kind == cst.KindPointer || p.Type.Class == "site" ||
				call.Function.Name == "MPI_Get_count" && p.Name == "count" {
				continue
			}
			fmt.Fprintf(&b, " %s=%v", p.Name, call.Args[i])
		}
		texts = append(texts, b.String())
	}
	return texts
}

// proxyOf records the proxy of a trace, and returns its trace.
func proxyOf(t *testing.T, m *mpitest.MPI, trace string, ranks int, flags ...string) string {
	t.Helper()
	directory := filepath.Join(t.TempDir(), "proxy")
	must(t, "proxy", trace, "-o", directory)
	source := func(name string) string { return filepath.Join(directory, name) }
	line := append([]string{"-std=c11", "-O1", "-Wall", "-Wextra", "-Werror"}, flags...)
	build := exec.Command(m.CC, append(line, "-o", source("proxy"), source("main.c"), source("proxy.c"))...)
	build.Env = mpitest.Environment(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	again := filepath.Join(t.TempDir(), "proxy.rpz")
	cmd := recorder(t, m, []string{"-o", again, "--sites", "none"}, m.Launch(ranks, source("proxy"))...)
	if got := outcome(t, cmd); got.status != 0 {
		t.Fatalf("status %d: %s%s", got.status, got.stdout, got.stderr)
	}
	return again
}

// proxied are programs whose proxies make the same calls.
var proxied = []mpitest.Program{
	{Source: "loop.c", Ranks: 2, Arguments: []string{"100"}},
	{Source: "p2p.c", Ranks: 3},
	{Source: "collectives.c", Ranks: 3},
}

// TestProxy records programs and their proxies: the calls are the same. PROXY_PROGRAMS names others
// of the programs, with the numbers of ranks, to be tried by hand: "comms.c:4,types.c:2".
func TestProxy(t *testing.T) {
	programs := proxied
	if text := os.Getenv("PROXY_PROGRAMS"); text != "" {
		programs = nil
		for item := range strings.SplitSeq(text, ",") {
			p := mpitest.Program{Ranks: 2}
			p.Source, item, _ = strings.Cut(item, ":")
			fmt.Sscan(item, &p.Ranks)
			programs = append(programs, p)
		}
	}
	var flags []string
	if text := os.Getenv("PROXY_FLAGS"); text != "" {
		flags = strings.Fields(text)
	}
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		mpitest.SkipUnderRace(t)
		for _, p := range programs {
			t.Run(p.Source, func(t *testing.T) {
				m.Parallel(t)
				ranks := m.Ranks(p.Ranks)
				trace := filepath.Join(t.TempDir(), "run.rpz")
				cmd := recorder(t, m, []string{"-o", trace}, m.Launch(ranks, m.Build(t, p.Source, p.Flags...), p.Arguments...)...)
				if got := outcome(t, cmd); got.status != 0 {
					t.Fatalf("status %d: %s", got.status, got.stderr)
				}
				again := proxyOf(t, m, trace, ranks, flags...)
				for rank := range ranks {
					want, got := callTexts(t, trace, rank), callTexts(t, again, rank)
					for i := range min(len(want), len(got)) {
						if want[i] != got[i] {
							t.Fatalf("rank %d, call %d:\n%s\nnot\n%s", rank, i, got[i], want[i])
						}
					}
					if len(want) != len(got) {
						t.Fatalf("rank %d makes %d calls, not %d", rank, len(got), len(want))
					}
				}
			})
		}
	})
}

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
