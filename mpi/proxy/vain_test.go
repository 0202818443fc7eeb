//go:build linux

package proxy_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/mpitest/recorded"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/trace"
)

// TestVain checks that the proxy of a program that asks in vain makes its other calls each time,
// and asks where it can find nothing.
func TestVain(t *testing.T) {
	source, err := filepath.Abs("testdata/vain.c")
	if err != nil {
		t.Fatal(err)
	}
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		program := filepath.Join(t.TempDir(), "vain")
		if out, err := exec.Command(m.CC, "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		trace := recorded.Trace(t, m, func(o mpitest.Options) {
			o.Ranks, o.Limit = 3, limit
			if output := m.Run(t, o, program); output.Status != 0 {
				t.Fatalf("status %d: %s", output.Status, output.Rest)
			}
		})
		for range 3 {
			checkProxy(t, m, trace)
		}
	})
}

// TestProbes checks the proxies of programs with drawn probes, for messages that come later, never,
// or that nobody receives: they make all calls, and find what the programs found, each time. Only
// the tags of probes that found nothing may be others.
func TestProbes(t *testing.T) {
	source, err := filepath.Abs("testdata/probes.c")
	if err != nil {
		t.Fatal(err)
	}
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		m.Parallel(t)
		program := filepath.Join(t.TempDir(), "probes")
		if out, err := exec.Command(m.CC, "-o", program, source).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		run := func(program string, arguments ...string) *trace.Trace {
			return recorded.Trace(t, m, func(o mpitest.Options) {
				o.Ranks, o.Limit = 3, limit
				if output := m.Run(t, o, program, arguments...); output.Status != 0 {
					t.Fatalf("status %d: %s", output.Status, output.Rest)
				}
			})
		}
		for seed := range tier.Number(1, 6) {
			recorded := run(program, strconv.Itoa(seed))
			again, p := build(t, m, recorded)
			if len(p.LeftOut) > 0 {
				t.Errorf("seed %d: left out: %v", seed, p.LeftOut)
			}
			for range tier.Number(2, 8) {
				got := run(again)
				for rank := range recorded.Ranks() {
					compareSequences(t, seed, rank, withoutVainTags(callTexts(t, recorded, rank)),
						withoutVainTags(callTexts(t, got, rank)))
				}
			}
		}
	})
}

// compareSequences checks that the calls of a rank are equal to those of the proxy.
func compareSequences(t *testing.T, seed, rank int, want, got []string) {
	t.Helper()
	i := 0
	for i < min(len(want), len(got)) && (want[i] == got[i] || namingSender(want[i]) == got[i]) {
		i++
	}
	if i < len(want) || i < len(got) {
		t.Fatalf("seed %d, rank %d: %d calls, not %d; they differ from call %d on:\n%q\nnot\n%q", seed, rank,
			len(got), len(want), i,
			got[i:min(i+3, len(got))], want[i:min(i+3, len(want))])
	}
}

var fromAny = regexp.MustCompile(`source=-1( .*status=\{source=)(\d+)`)

// namingSender returns a call that took a message from any source as it is where another one came
// first in the proxy: the source is the sender, and that of the status is the one that was asked
// for.
func namingSender(call string) string { return fromAny.ReplaceAllString(call, "source=$2$1-9") }

var vainTag = regexp.MustCompile(`^(MPI_Im?probe .*)tag=\S+(.* flag=0\b)`)

// withoutVainTags returns calls without the tags of probes that found nothing.
func withoutVainTags(calls []string) []string {
	for i := range calls {
		calls[i] = vainTag.ReplaceAllString(calls[i], "$1$2")
	}
	return calls
}
