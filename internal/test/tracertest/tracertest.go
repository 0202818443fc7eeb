// Package tracertest checks what tracers record by means of a process.
package tracertest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// A Process is one for tests, which keeps the time of every call.
type Process struct {
	*tracer.Process
	config tracer.Config
	opened time.Time
}

// Open opens a process that is to be closed by Calls or Check, whose part file is in a directory of the test.
func Open(t testing.TB, c tracer.Config) *Process {
	t.Helper()
	c.Path = filepath.Join(t.TempDir(), "part.rpz")
	exact := must.Get(timing.NewLossless(timing.Zstd))
	c.Series = must.Get(timing.NewSeriesCodec(exact, exact, timing.Gaps))
	opened := time.Now()
	p, err := tracer.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return &Process{p, c, opened}
}

// Calls closes the process, and returns its calls as text, those of each thread after those of the one
// before. It checks that a trace made of the part has the same calls, threads and times, that a thread ends
// its calls one after the other, and, if the process has the usual clock, that all were made since Open.
func (p *Process) Calls(t testing.TB) (texts []string) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	merged := filepath.Join(t.TempDir(), "merged.rpz")
	if err := merge.Files(merged, 0, p.config.Path); err != nil {
		t.Fatal(err)
	}
	part, whole := calls(t, p.config.Path, p.config.Rank), calls(t, merged, p.config.Rank)
	if !slices.Equal(part, whole) {
		t.Errorf("the part has %+v, the merged trace %+v", part, whole)
	}
	const jump = time.Second // of the clock of the machine, which those of processes do not follow
	from, to := p.opened.Add(-jump).UnixNano(), time.Now().Add(jump).UnixNano()
	ended := make(map[int]int64) // by thread: when its last call did
	for _, c := range part {
		end := c.start + c.duration
		if c.duration < 0 || end < ended[c.thread] || p.config.Clock == nil && (c.start < from || end > to) {
			t.Errorf("%s takes %d ns from %d on, after a call of thread %d that ended at %d", c.text,
				c.duration, c.start, c.thread, ended[c.thread])
		}
		ended[c.thread] = end
		texts = append(texts, c.text)
	}
	return texts
}

// Check fails unless these are the calls that Calls returns.
func (p *Process) Check(t testing.TB, want ...string) {
	t.Helper()
	if got := p.Calls(t); !slices.Equal(got, want) {
		t.Errorf("recorded\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A call is one as a file has it.
type call struct {
	text            string
	thread          int
	start, duration int64
}

// calls returns the calls of a rank of a file.
func calls(t testing.TB, path string, number int) (list []call) {
	t.Helper()
	tr, err := trace.Open(path, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	rank, err := tr.Rank(number)
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range rank.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, call{c.String(), c.Thread(), c.Start, c.Duration})
	}
	return list
}
