//go:build linux

package proxy_test

import (
	"testing"

	"github.com/reprise-trace/reprise/mpi/internal/groups"
	"github.com/reprise-trace/reprise/mpi/proxy"
	"github.com/reprise-trace/reprise/trace"
)

// TestSessions checks the proxies of programs with sessions, without MPI_Init, and with it before or after
// the first of them.
func TestSessions(t *testing.T) {
	for _, how := range []string{"alone", "before", "after"} {
		t.Run(how, func(t *testing.T) { testProxyOf(t, "sessions.c", 4, how) })
	}
}

// checkWhole checks that a proxy makes all calls of a trace, and that all communicators of this are known.
func checkWhole(t *testing.T, tr *trace.Trace) {
	t.Helper()
	p, err := proxy.Generate(t.Context(), tr, proxy.Options{Name: "run.rpz"})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range p.LeftOut {
		t.Errorf("left out: %d calls of %s, which %s", l.Calls, l.Function, l.Reason)
	}
	if _, err := groups.Resolve(t.Context(), tr, groups.Options{}); err != nil {
		t.Error(err)
	}
}
