package collect

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/trace"
)

// writeWorld writes the records of a world of three ranks: of rank 1 two threads, of rank 2 two segments.
func writeWorld(t testing.TB, directory string) {
	t.Helper()
	write := func(w *spoolWriter, threads int) {
		w.set(offsetSize, 3)
		w.set(offsetThreads, uint32(threads))
		w.write(t, directory)
	}
	for rank := range int32(3) {
		w := newSpoolWriter(rank, 0)
		for i := range int64(12) {
			w.isend(1000*i+1000, int(i%3), 7000)
			w.call(1000*i+1500, "MPI_Wait", changes{7000, noRequest}, nothing{})
		}
		switch rank {
		case 1:
			second := &spoolWriter{id: w.id, lane: 1}
			second.header(rank)
			second.call(5000, "MPI_Barrier", world)
			write(second, 2)
			write(w, 2)
			continue
		case 2:
			w.set(offsetState, uint32(spool.Continued))
			write(w, 1)
			w.sequence++
			w.header(rank)
			w.call(20000, "MPI_Barrier", world)
		}
		write(w, 1)
	}
}

// A worldCalls is what a spool makes: the calls of each rank, and what is said of what is not there.
type worldCalls struct {
	calls [][]string
	said  string
	trace *trace.Trace
}

func collectWorld(t rapid.TB, directory string) (c worldCalls) {
	t.Helper()
	collector, err := New(directory, Options{Untimed: true, Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	all, s, err := collector.Finish(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	c.said = fmt.Sprintln(s.Problems, s.Unrecorded, s.Ranks)
	if s.Calls == 0 {
		return c
	}
	var file bytes.Buffer
	if err := all.Write(&file); err != nil {
		t.Fatal(err)
	}
	if c.trace, err = trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{}); err != nil {
		t.Fatal(err)
	}
	printer := c.trace.Printer(trace.PrintOptions{})
	c.calls = make([][]string, c.trace.Ranks())
	for _, rank := range c.trace.RankSet().All() {
		r, err := c.trace.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for call, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			c.calls[rank] = append(c.calls[rank], string(printer.AppendCall(nil, call)))
		}
	}
	return c
}

// isMissing reports whether a trace says that calls of a rank are.
func (c *worldCalls) isMissing(rank int) bool {
	if c.trace.Content().Unrecorded.Contains(rank) {
		return true
	}
	for _, m := range c.trace.Run().Origin.Missing {
		if m.Rank == rank {
			return true
		}
	}
	return false
}

// TestDamagedRecords damages the files of a spool: bits and bytes are changed, pages are zero, files are cut,
// deleted, empty, copied over others, under new names as well. Either the trace is the same, or what is not
// there is said by what collects and, for each rank, by the trace. No rank and no world is made up.
func TestDamagedRecords(t *testing.T) {
	whole := t.TempDir()
	writeWorld(t, whole)
	want := collectWorld(t, whole)
	if len(want.calls) != 3 || len(want.calls[1]) != 25 || !strings.HasPrefix(want.said, "<nil>  3") {
		t.Fatalf("%q", want.said)
	}
	paths, err := filepath.Glob(filepath.Join(whole, "*"))
	if err != nil || len(paths) != 5 {
		t.Fatal(paths, err)
	}
	rapid.Check(t, func(t *rapid.T) {
		directory, err := os.MkdirTemp("", "spool")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(directory)
		var files [][]byte
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, data)
		}
		names := make([]string, len(files))
		for i := range names {
			names[i] = filepath.Base(paths[i])
		}
		i := rapid.IntRange(0, len(files)-1).Draw(t, "file")
		at := rapid.IntRange(0, len(files[i])-1).Draw(t, "at")
		switch rapid.IntRange(0, 8).Draw(t, "damage") {
		case 0, 1, 2:
			files[i][at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		case 3:
			files[i][at] = rapid.Byte().Draw(t, "byte")
		case 4:
			clear(files[i][at&^7 : min(at&^7+8*rapid.IntRange(1, 200).Draw(t, "zeros"), len(files[i]))])
		case 5:
			files[i] = files[i][:at]
		case 6:
			files[i] = nil
		case 7:
			names[i] = ""
		case 8:
			other := rapid.IntRange(0, len(files)-1).Draw(t, "other")
			if rapid.Bool().Draw(t, "more") {
				names, files = append(names, "9"+names[i]), append(files, files[other])
			} else {
				files[i] = files[other]
			}
		}
		for i, name := range names {
			if name != "" {
				if err := os.WriteFile(filepath.Join(directory, name), files[i], 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		got := collectWorld(t, directory)
		if len(got.calls) > 3 {
			t.Fatalf("%d ranks of 3: %s", len(got.calls), got.said)
		}
		for rank, calls := range want.calls {
			switch {
			case rank < len(got.calls) && slices.Equal(got.calls[rank], calls):
			case got.said == want.said:
				t.Fatalf("rank %d has other calls, which is not said:\n%s\n%s", rank,
					strings.Join(got.calls[rank], "\n"), strings.Join(calls, "\n"))
			case got.trace != nil && !got.isMissing(rank):
				t.Fatalf("rank %d has other calls, of which the trace says nothing; the collector says %s",
					rank, got.said)
			}
		}
	})
}
