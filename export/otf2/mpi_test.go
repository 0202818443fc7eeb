package otf2

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/internal/test/e2e"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/mpitest/recorded"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	archive "github.com/reprise-trace/reprise/mpi/otf2"
	"github.com/reprise-trace/reprise/trace"
)

func TestMain(m *testing.M) { os.Exit(mpitest.Main(m)) }

// bridge returns options for tests, which skip where OTF2's library is missing.
func bridge(t testing.TB) archive.Options {
	t.Helper()
	e2e.Programs(t)
	o := archive.Options{CacheDir: mpitest.Cache()}
	w, err := archive.NewWriter(t.Context(), filepath.Join(t.TempDir(), "none.otf2"), o)
	if errors.Is(err, archive.ErrNoLibrary) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	w.Close()
	return o
}

// write writes an archive, and returns its anchor.
func write(t *testing.T, tr *trace.Trace, o export.Options) (anchor string, said Summary) {
	t.Helper()
	directory := filepath.Join(t.TempDir(), "run.otf2")
	said, err := Write(t.Context(), directory, tr, Options{Options: o, Bridge: bridge(t)})
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(directory, "traces.otf2"), said
}

// readBack returns the records of an archive.
func readBack(t *testing.T, anchor string) []archive.Record {
	t.Helper()
	r, err := archive.Open(t.Context(), anchor, bridge(t))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var c collector
	for {
		k, err := r.Read()
		if errors.Is(err, io.EOF) {
			return c
		}
		if err != nil {
			t.Fatal(err)
		}
		c.Write(k)
	}
}

// validate has otf2-print read an archive, for which any warning is an error.
func validate(t *testing.T, anchor string) {
	t.Helper()
	print, err := exec.LookPath("otf2-print")
	if err != nil {
		t.Log("not validated: ", err)
		return
	}
	for _, arguments := range [][]string{{"--silent"}, {"-G"}, {}} {
		if out, err := exec.Command(print, append(append(arguments, "-Werror"),
			anchor)...).CombinedOutput(); err != nil {
			t.Errorf("otf2-print %v: %v\n%s", arguments, err, out[max(0, len(out)-2000):])
		}
	}
}

// A python is what OTF2's own reader in Python counts.
type python struct {
	Calls     map[string]map[string]uint64 `json:"calls"` // by number of the location group, and region
	Sent      uint64                       `json:"sent"`
	Bytes     uint64                       `json:"bytes"`
	Unmatched []string                     `json:"unmatched"`
}

// count has Python count an archive; false if it cannot.
func count(t *testing.T, anchor string) (p python, ok bool) {
	t.Helper()
	const interpreter = "/usr/bin/python3" // where Debian's package is
	if exec.Command(interpreter, "-c", "import otf2").Run() != nil {
		t.Log("not counted: no python3-otf2")
		return p, false
	}
	out, err := exec.Command(interpreter, "testdata/count.py", anchor).Output()
	if err != nil {
		t.Fatal(err, string(err.(*exec.ExitError).Stderr))
	}
	if err := json.Unmarshal(out, &p); err != nil {
		t.Fatal(err)
	}
	return p, true
}

// checkArchive writes an archive of a trace, and has others read it.
func checkArchive(t *testing.T, tr *trace.Trace, messages, matched bool) *reading {
	t.Helper()
	anchor, said := write(t, tr, export.Options{})
	validate(t, anchor)
	r := read(t, readBack(t, anchor), messages && matched)
	r.checkCalls(tr, export.Options{})
	if messages {
		r.checkMessages(tr, matched)
		r.checkCollectives()
	}
	t.Logf("%+v, %v", said, r.kinds)
	if len(r.inter) > 0 {
		t.Log("not counted by Python: python3-otf2 3.0 does not read definitions of intercommunicators")
	} else if p, ok := count(t, anchor); ok {
		if matched && len(p.Unmatched) > 0 {
			t.Errorf("of %d messages, not matched are %q", p.Sent, p.Unmatched)
		}
		if p.Sent != said.Messages-said.Omitted {
			t.Errorf("%d messages are sent, and %+v was said", p.Sent, said)
		}
		for g, counts := range r.calls {
			for region, n := range counts {
				if got := p.Calls[text(g)][region]; got != n {
					t.Errorf("rank %d enters %s %d times, and %d by Python", g, region, n, got)
				}
			}
		}
	}
	return r
}

func text(n uint64) string { b, _ := json.Marshal(n); return string(b) }

// TestStencil checks the archive of a recorded program, whose times are as they were recorded.
func TestStencil(t *testing.T) {
	tr := testtrace.Stencil(t, "exact")
	checkArchive(t, tr, true, true)
}

// TestPrograms checks archives of programs that use all parts of MPI.
func TestPrograms(t *testing.T) {
	bridge(t)
	unmatched := []string{"kill.c", "waits.c", "polling.c", "mpi4.c", "signals.c", "threads.c", "switch.c", "errors.c"}
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		for _, p := range mpitest.Programs() {
			if !m.Turn(p.Name()) || filepath.Ext(p.Source) != ".c" &&
				(m.Fortran == "" || p.Source == "usempif08.f90" && m.Name == "mpich") {
				continue
			}
			t.Run(p.Name(), func(t *testing.T) {
				m.Parallel(t)
				tr := recorded.Trace(t, m, func(o mpitest.Options) { m.RunProgram(t, p, o) })
				checkArchive(t, tr, true, !slices.Contains(unmatched, p.Source))
			})
		}
	})
}

// TestNothingLeft checks that nothing is left after an error.
func TestNothingLeft(t *testing.T) {
	tr := testtrace.Stencil(t, "exact")
	ctx, cancel := context.WithCancel(t.Context())
	stop := errors.New("stop")
	for _, tt := range []struct {
		name string
		o    Options
		want error
	}{
		{"cancelled", Options{Bridge: bridge(t), Options: export.Options{Progress: func(uint64) error {
			cancel()
			return nil
		}}},
			context.Canceled},
		{"stopped", Options{Bridge: bridge(t), Options: export.Options{Progress: func(uint64) error {
			return stop
		}}}, stop},
		{"no compiler", Options{Bridge: archive.Options{Compiler: "no-such-compiler"}}, archive.ErrNoLibrary},
	} {
		directory := filepath.Join(t.TempDir(), "run.otf2")
		if _, err := Write(ctx, directory, tr, tt.o); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		if _, err := os.Stat(directory); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the directory is there: %v", tt.name, err)
		}
		ctx = t.Context()
	}
}
