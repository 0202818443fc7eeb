package collect

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
)

// roomy is a file system of which half is free, whatever the one of the test has.
func roomy(string) (free, all uint64) { return 32 << 30, 64 << 30 }

// writeSegments writes the spool of a process whose thread makes so many calls, in segments of
// so many, and calls a function after each step that the thread does on the way.
func writeSegments(t *testing.T, directory string, calls, each int, step func()) {
	w := newSpoolWriter(0, 0)
	for i := range calls {
		at := int64(1000*i + 1000)
		if i%each == each-1 {
			w.begin(at, flagOutermost, "MPI_Recv", 4096, 1, integers, 3, i%5, world, nothing{})
			w.write(t, directory)
			step()
			w.set(offsetState, uint32(spool.Continued))
			w.write(t, directory)
			w.sequence++
			w.header(0)
			w.end(at+500, flagOutermost, "MPI_Recv", 4096, 1, integers, 3, i%5, world, outcome{3, int64(i % 5)})
			continue
		}
		w.call(at, "MPI_Send", 4096, i%7, integers, 3, i%5, world)
	}
	w.write(t, directory)
	step()
}

// collected returns the trace of a spool, which stays, and what was lost of it.
func collected(t *testing.T, directory string) ([]byte, Summary) {
	t.Helper()
	c, err := New(directory, Options{Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	a, s, err := c.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := a.Write(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), s
}

// TestRecoverable has collectors that end without a word after any number of steps: what they
// have left of a spool is as good as the spool.
func TestRecoverable(t *testing.T) {
	const calls, each = 4000, 500
	whole := t.TempDir()
	writeSegments(t, whole, calls, each, func() {})
	want, s := collected(t, whole)
	if s.Calls != calls || s.Problems != nil {
		t.Fatalf("%+v", s)
	}
	for run := 0; run <= 4*calls/each; run += tier.Number(5, 1) {
		small := run > 2*calls/each
		killed := run % (2*calls/each + 1)
		directory := t.TempDir()
		c, err := New(directory, Options{Recoverable: true, free: roomy})
		if err != nil {
			t.Fatal(err)
		}
		if small { // windows, so that there are several in a segment
			c.threads = 1 << 20
		}
		steps := 0
		writeSegments(t, directory, calls, each, func() {
			if steps++; steps > killed/2 {
				return
			}
			for range 1 + killed%2 { // the thread has written something, or gone on
				if _, err := c.Poll(); err != nil {
					t.Fatal(err)
				}
			}
		})
		got, s := collected(t, directory)
		if !bytes.Equal(got, want) || s.Problems != nil {
			t.Errorf("killed after %d steps: another trace: %+v", killed, s)
		}
	}
}

// TestRecoveredInPart has a file of what was kept that ends too soon, or is damaged: what is before that is
// in the trace, and it is told that there was more, unless the segment is still there.
func TestRecoveredInPart(t *testing.T) {
	const calls, each = 2000, 500
	directory := t.TempDir()
	c, err := New(directory, Options{Recoverable: true, free: roomy})
	if err != nil {
		t.Fatal(err)
	}
	var segments [][]byte // the latest
	writeSegments(t, directory, calls, each, func() {
		if _, err := c.Poll(); err != nil {
			t.Fatal(err)
		}
		paths := pathsOf(t, directory, "*.spool")
		segments = append(segments, readFile(t, paths[len(paths)-1]))
	})
	kept := pathsOf(t, directory, "*.kept")
	if len(kept) != 1 {
		t.Fatal(kept)
	}
	file := readFile(t, kept[0])
	chunks := chunkEnds(file)
	if len(chunks) != calls/each {
		t.Fatalf("chunks that end at %d", chunks)
	}
	third := spool.Thread{Process: c.ranked()[0].id}.Segment(directory, 2)
	damaged := bytes.Clone(file)
	damaged[chunks[1]+20] ^= 1
	for _, tt := range []struct {
		name  string
		kept  []byte
		third bool // the third segment is there
		calls uint64
		says  string
	}{
		{"Whole", file, false, calls, ""},
		{"Ends", file[:chunks[1]], false, 2 * each, "calls of rank 0 are lost: " + third +
			" is missing, as a recorder that was killed had read and removed it"},
		{"EndsInChunk", file[:chunks[2]-1], false, 2 * each, third + " is missing"},
		{"EndsInChunkThatIsThere", file[:chunks[2]-1], true, 3 * each, ".3.spool is missing"},
		{"Damaged", damaged, false, 2*each - 1, "the checksum is another"},
		{"Empty", nil, false, 0, ".0.spool is missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			writeFile(t, kept[0], tt.kept)
			if tt.third {
				(&spoolWriter{data: segments[2]}).set(offsetState, uint32(spool.Continued))
				writeFile(t, third, segments[2])
				defer os.Remove(third)
			}
			_, s := collected(t, directory)
			if s.Calls != tt.calls || tt.says == "" != (s.Problems == nil) ||
				tt.says != "" && !strings.Contains(s.Problems.Error(), tt.says) {
				t.Errorf("%+v", s)
			}
		})
	}
}

func chunkEnds(file []byte) (ends []int) {
	for at := 0; at < len(file); {
		at += 16 + int(binary.LittleEndian.Uint32(file[at:]))
		ends = append(ends, at)
	}
	return ends
}

// TestKeptFull has no space left for what is kept of a process: what is kept before that stays.
func TestKeptFull(t *testing.T) {
	const calls, each = 2000, 500
	directory := t.TempDir()
	c, err := New(directory, Options{Recoverable: true, free: roomy})
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	writeSegments(t, directory, calls, each, func() {
		if steps++; steps == 3 {
			for _, p := range c.processes {
				p.space.taken = maxKept
			}
		}
		if _, err := c.Poll(); err != nil {
			t.Fatal(err)
		}
	})
	if n := c.Calls(); n != calls {
		t.Errorf("%d calls were collected", n)
	}
	if _, s := collected(t, directory); s.Calls != 2*each || s.Problems == nil ||
		!strings.Contains(s.Problems.Error(), ".2.spool is missing") {
		t.Errorf("%+v", s)
	}
}

// TestKeptCrowded has a file system that others need: as much as a quarter of it, or 4 GiB, stays free.
func TestKeptCrowded(t *testing.T) {
	for _, c := range []struct {
		name      string
		free, all uint64
		kept      int
	}{
		{"a large one", 4 << 30, 64 << 30, 1},
		{"a large one that is nearly full", 4<<30 - 1, 64 << 30, 0},
		{"a small one", 1 << 30, 4 << 30, 1},
		{"a small one that is nearly full", 1<<30 - 1, 4 << 30, 0},
		{"one that nothing is known of", 0, 0, 1},
	} {
		directory := t.TempDir()
		free := func(string) (free, all uint64) { return c.free, c.all }
		collector, err := New(directory, Options{Recoverable: true, free: free})
		if err != nil {
			t.Fatal(err)
		}
		writeSegments(t, directory, 1000, 500, func() {
			if _, err := collector.Poll(); err != nil {
				t.Fatal(err)
			}
		})
		if kept, _ := filepath.Glob(filepath.Join(directory, "*.kept")); len(kept) != c.kept {
			t.Errorf("%s: %q is kept", c.name, kept)
		}
	}
}

// TestKeptWithoutFiles reads what was kept where now and then no file can be opened.
func TestKeptWithoutFiles(t *testing.T) {
	const calls, each = 2000, 1000
	directory := t.TempDir()
	c, err := New(directory, Options{Recoverable: true, free: roomy})
	if err != nil {
		t.Fatal(err)
	}
	c.threads = 1 << 20 // windows are small, so that there are several in a segment
	steps := 0
	writeSegments(t, directory, calls, each, func() {
		if steps++; steps < calls/each {
			return // so that the thread has left the segment when it is read
		}
		for read := int64(1); read > 0; {
			if read, err = c.Poll(); err != nil {
				t.Fatal(err)
			}
		}
	})
	threads, err := spool.List(directory)
	if err != nil || len(threads) != 1 ||
		len(chunkEnds(readFile(t, pathsOf(t, directory, "*.kept")[0]))) < 2*calls/each {
		t.Fatal(threads, err)
	}
	again, err := New(directory, Options{Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.add(threads[0]); err != nil {
		t.Fatal(err)
	}
	thread := again.processes[threads[0].Process].threads[0]
	thread.window, thread.left = window, 1<<30
	records := 0
	for more := true; more; {
		if withoutFiles(t, func() { more, err = thread.more() }); more || err != nil {
			t.Fatal(more, err)
		}
		if more, err = thread.more(); err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := thread.decoder.Next(); err != nil {
				break
			}
			records++
		}
	}
	if records < calls {
		t.Errorf("%d records of %d calls", records, calls)
	}
}

// withoutFiles calls a function when no file can be opened.
func withoutFiles(t *testing.T, f func()) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := limit
	none.Cur = 0
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	f()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
}

func pathsOf(t *testing.T, directory, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(directory, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
