//go:build linux

package proxy_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/mpitest/recorded"
	"github.com/reprise-trace/reprise/mpi/proxy"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
)

func TestMain(m *testing.M) { os.Exit(mpitest.Main(m)) }

var all = flag.Bool("all", false, "try the proxies of all programs, which takes minutes")

// callTexts returns the calls of a rank without what a proxy does not have: addresses that are no constants,
// call sites and the arguments of the program.
func callTexts(t *testing.T, tr *trace.Trace, rank int) []string {
	t.Helper()
	r, err := tr.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for call, err := range r.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		b.WriteString(call.Function.Name)
		for i, p := range call.Function.Params {
			constant := p.Type.Kind == cst.KindPointer && slices.Contains(addresses, call.Args[i].Pointer().Segment)
			if p.Name == "argc" || p.Name == "argv" || isAddress(p.Type) && !constant ||
				p.Name == "filename" || p.Type.Class == "site" {
				continue
			}
			fmt.Fprintf(&b, " %s=%v", p.Name, call.Args[i])
		}
		texts = append(texts, b.String())
	}
	return texts
}

// addresses are the segments of those that are constants.
var addresses = []int64{spec.ID("MPI_BOTTOM"), spec.ID("MPI_IN_PLACE")}

// isAddress reports whether arguments of a type are addresses.
func isAddress(t cst.Type) bool {
	return t.Kind == cst.KindPointer || t.Elem != nil && isAddress(*t.Elem)
}

// sanitizers are the flags of the compiler for checks of addresses and undefined behaviour.
var sanitizers = []string{"-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}

// build builds the proxy of a trace.
func build(t *testing.T, m *mpitest.MPI, tr *trace.Trace, flags ...string) (string, *proxy.Program) {
	t.Helper()
	p, err := proxy.Generate(t.Context(), tr, proxy.Options{Name: "run.rpz"})
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	for _, f := range p.Files {
		if err := os.WriteFile(filepath.Join(directory, f.Name), []byte(f.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range p.LeftOut {
		t.Logf("left out: %d calls of %s, which %s", l.Calls, l.Function, l.Reason)
	}
	c := exec.Command(m.CC, append(flags, "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", "proxy", "main.c",
		"proxy.c")...)
	c.Dir = directory
	if output, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return filepath.Join(directory, "proxy"), p
}

// checkSanitized checks that the proxy of a trace runs to its end with checks.
func checkSanitized(t *testing.T, m *mpitest.MPI, tr *trace.Trace) {
	t.Helper()
	program, _ := build(t, m, tr, sanitizers...)
	// MPI does not free all.
	o := mpitest.Options{Ranks: tr.Ranks(), Env: []string{"ASAN_OPTIONS=detect_leaks=0"}, Limit: limit}
	if output := m.Run(t, o, program); output.Status != 0 {
		t.Errorf("status %d: %s", output.Status, output.Rest)
	}
}

// limit is the longest that a proxy of a program of the tests may take.
const limit = 20 * time.Second

// checkProxy checks that the proxy of a trace makes its calls.
func checkProxy(t *testing.T, m *mpitest.MPI, tr *trace.Trace) {
	t.Helper()
	program, p := build(t, m, tr)
	again := recorded.Trace(t, m, func(o mpitest.Options) {
		o.Ranks, o.Limit = tr.Ranks(), limit
		if output := m.Run(t, o, program); output.Status != 0 {
			t.Errorf("status %d: %s", output.Status, output.Rest)
		}
	})
	left := make(map[string]uint64)
	for _, l := range p.LeftOut {
		left[l.Function] += l.Calls
	}
	for rank := range tr.Ranks() {
		compareCalls(t, rank, callTexts(t, tr, rank), callTexts(t, again, rank), left)
	}
}

// compareCalls compares the calls of a rank with those of the proxy. It may leave out those that
// it says it does; how often a program asks for something that is not there yet is up to MPI.
func compareCalls(t *testing.T, rank int, want, got []string, left map[string]uint64) {
	t.Helper()
	i := 0
	inVain := func(text string) bool {
		name, arguments, _ := strings.Cut(text, " ")
		return polls.MatchString(name) && nothing.MatchString(arguments)
	}
	for _, w := range want {
		for i < len(got) && got[i] != w && inVain(got[i]) {
			i++
		}
		if i < len(got) && got[i] == w {
			i++
			continue
		}
		name, _, _ := strings.Cut(w, " ")
		switch {
		case left[name] > 0:
			left[name]--
		case inVain(w):
		case i < len(got):
			t.Fatalf("rank %d, call %d:\n%s\nnot\n%s", rank, i, got[i], w)
		default:
			t.Fatalf("rank %d does not call %s", rank, w)
		}
	}
	if i < len(got) {
		t.Fatalf("rank %d calls %s", rank, got[i])
	}
}

// polls are the functions that ask MPI whether something has happened, and nothing how they say no.
var (
	polls = regexp.MustCompile(
		`^MPI_(Test|Testany|Testall|Testsome|Request_get_status(_all|_any|_some)?|Iprobe|Improbe|Parrived|Win_test)$`)
	nothing = regexp.MustCompile(`\b(flag|outcount)=0`)
)

// always are the programs whose proxies are tried in each run of the tests.
var always = []string{"loop.c", "p2p.c", "collectives.c"}

// What programs have that proxies do not, as docs/proxy.md says.
const (
	refused = "several threads of a rank call MPI"
	varies  = "which of several messages comes first is not forced"
	hangs   = "calls that were made while recording was off are not there"
	asks    = "it asks for the class of an error of a call that is left out"
)

var exceptions = map[string]map[string]string{
	"mpich": {"threads": refused, "waits": refused, "many": refused, "polling": varies, "switch": hangs},
	"openmpi": {"threads": refused, "waits": refused, "many": refused, "polling": varies, "switch": hangs,
		"errors": asks, "hpcc": varies},
}

// TestProxy records programs and their proxies: the calls are the same, but for those of exceptions. -all
// tries more.
func TestProxy(t *testing.T) {
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		for _, p := range mpitest.Programs() {
			name := strings.TrimSuffix(p.Source, filepath.Ext(p.Source))
			if !*all && (!strings.Contains(strings.Join(always, " "), p.Source) || !m.Turn(p.Source)) || p.Dies {
				continue
			}
			t.Run(name, func(t *testing.T) {
				m.Parallel(t)
				exception := exceptions[m.Name][name]
				if exception == hangs {
					t.Skip(exception)
				}
				tr := recorded.Trace(t, m, func(o mpitest.Options) { m.RunProgram(t, p, o) })
				if exception == refused {
					if _, err := proxy.Generate(t.Context(), tr,
						proxy.Options{Name: "run.rpz"}); err == nil || !strings.Contains(err.Error(), refused) {
						t.Errorf("error %v", err)
					}
					return
				}
				if *all || p.Source == "collectives.c" {
					checkSanitized(t, m, tr)
				}
				if exception == "" {
					checkProxy(t, m, tr)
				}
			})
		}
	})
}

// TestImprobe runs the proxy of a program that polls: messages that come between asking for them and
// MPI_Improbe are not lost.
func TestImprobe(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		i := slices.IndexFunc(mpitest.Programs(), func(p mpitest.Program) bool { return p.Source == "polling.c" })
		tr := recorded.Trace(t, m, func(o mpitest.Options) { m.RunProgram(t, mpitest.Programs()[i], o) })
		program, _ := build(t, m, tr)
		for range 5 {
			if output := m.Run(t, mpitest.Options{Ranks: tr.Ranks(), Limit: limit}, program); output.Status != 0 {
				t.Fatalf("status %d: %s", output.Status, output.Rest)
			}
		}
	})
}
