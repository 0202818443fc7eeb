// Package recorded records runs of MPI programs for tests.
package recorded

import (
	"bytes"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/mpi/interpose"
	"github.com/reprise-trace/reprise/trace"
)

// Trace returns the trace of what run runs with the interposer.
func Trace(t *testing.T, m *mpitest.MPI, run func(o mpitest.Options)) *trace.Trace {
	t.Helper()
	interposer, err := interpose.Build(t.Context(), m.CC, mpitest.Cache(), nil)
	if err != nil {
		t.Fatal(err)
	}
	spool := t.TempDir()
	run(mpitest.Options{Preload: []string{interposer.Path}, Env: []string{"REPRISE_SPOOL=" + spool}})
	c, err := collect.New(spool, collect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, _, err := c.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := a.Write(&file); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}
