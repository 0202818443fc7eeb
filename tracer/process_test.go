package tracer

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
)

// openPart reads the part file of a process.
func openPart(t testing.TB, path string) *merge.Trace {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := format.NewReader(bytes.NewReader(data), int64(len(data)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	trace, err := merge.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// counting returns a clock that goes on by ten nanoseconds whenever it is read.
func counting() func() int64 {
	var now atomic.Int64
	return func() int64 { return now.Add(10) }
}

func openProcess(t testing.TB, c Config) *Process {
	t.Helper()
	c.Path = filepath.Join(t.TempDir(), "part.rpz")
	p, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestProcess records calls of several goroutines, and reads them back.
func TestProcess(t *testing.T) {
	p := openProcess(t, Config{Rank: 3, Ranks: 8, Source: "test", Threads: true, Clock: counting(), Options: Options{Series: exactSeries()}})
	fn := p.Declare(send)
	const threads, calls = 4, 500
	var all sync.WaitGroup
	for range threads {
		all.Add(1)
		go func() {
			defer all.Done()
			thread := p.Thread()
			defer thread.Release()
			for i := range int64(calls) {
				begun := thread.Begin()
				thread.End(fn, begun, cst.Rank(i%3), cst.Array(cst.Int(i%2)))
			}
		}()
	}
	all.Wait()
	if n := p.Len(); n != threads*calls {
		t.Fatalf("%d calls", n)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	trace := openPart(t, p.config.Path)
	if run := trace.Run(); run.Ranks != 8 || run.Source != "test" {
		t.Errorf("%+v", run)
	}
	part, err := trace.Part(3)
	if err != nil {
		t.Fatal(err)
	}
	next := make(map[int64]int64) // call of each thread
	for _, s := range part.Grammar.All() {
		fn, args := part.Table.Signature(s)
		thread := args[0].Int()
		i := next[thread] % calls // numbers are taken again
		if thread < 0 || thread >= threads || args[1].Int() != i%3 || args[2].Index(0).Int() != i%2 || part.Table.Functions()[fn].Params[0].Name != "thread" {
			t.Fatalf("call %d of thread %d is %v", i, thread, args)
		}
		next[thread]++
	}
	if s, err := trace.Series(3); err != nil || s == nil || s.Len() != threads*calls {
		t.Errorf("series %v, %v", s, err)
	}
}

// TestThreadNumbers checks that the lowest free number is taken.
func TestThreadNumbers(t *testing.T) {
	p := openProcess(t, Config{})
	a, b, c := p.Thread(), p.Thread(), p.Thread()
	b.Release()
	if d, e := p.Thread(), p.Thread(); a.number != 0 || c.number != 2 || d.number != 1 || e.number != 3 {
		t.Errorf("threads %d, %d, %d, %d", a.number, c.number, d.number, e.number)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRecordOff checks that calls which begin while recording is off, or end after
// Close, are left out.
func TestRecordOff(t *testing.T) {
	p := openProcess(t, Config{Clock: counting()})
	fn, thread := p.Declare(barrier), p.Thread()
	thread.End(fn, thread.Begin())
	within := thread.Begin()
	p.Record(false)
	thread.End(fn, within) // began before
	thread.End(fn, thread.Begin())
	thread.Call(fn, 0, 1)
	off := thread.Begin()
	p.Record(true)
	thread.End(fn, off)
	thread.Call(fn, 1000, 1)
	late := thread.Begin()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	thread.End(fn, late)
	if part, err := openPart(t, p.config.Path).Part(0); err != nil || part.Grammar.Len() != 3 {
		t.Errorf("%d calls, %v; want 3", part.Grammar.Len(), err)
	}
	if err := p.Close(); err == nil {
		t.Error("closed twice")
	}
	if err := p.Checkpoint(); err == nil {
		t.Error("a checkpoint after Close")
	}
}

// TestCheckpoint checks that the part file has, while the process runs, what was
// recorded up to some moment, and that nothing else is left in its directory.
func TestCheckpoint(t *testing.T) {
	p := openProcess(t, Config{Checkpoint: time.Millisecond, Options: Options{Series: exactSeries()}})
	fn, thread := p.Declare(barrier), p.Thread()
	for range 100 {
		thread.End(fn, thread.Begin())
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(p.config.Path); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no checkpoint")
		}
	}
	thread.End(fn, thread.Begin())
	if err := p.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	trace := openPart(t, p.config.Path)
	if s, err := trace.Series(0); err != nil || s.Len() != 101 {
		t.Errorf("series %v, %v", s, err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(p.config.Path))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestProcessErrors checks what there is to be said of a process that cannot be
// recorded, or whose file cannot be written.
func TestProcessErrors(t *testing.T) {
	if _, err := Open(Config{Rank: -1, Path: "x"}); err == nil {
		t.Error("rank −1")
	}
	if _, err := Open(Config{}); err == nil {
		t.Error("no path")
	}
	p, err := Open(Config{Path: filepath.Join(t.TempDir(), "none", "x.rpz")})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err == nil {
		t.Error("a file in no directory")
	}
}

// BenchmarkProcess records a steady loop of calls with six arguments and their
// times, as a tracer does that embeds a Process.
func BenchmarkProcess(b *testing.B) {
	for _, threads := range []bool{false, true} {
		b.Run(fmt.Sprintf("threads=%v", threads), func(b *testing.B) {
			p := openProcess(b, Config{Threads: threads})
			f := cst.Function{Name: "MPI_Send", Params: []cst.Param{
				{Name: "buffer", Type: cst.Type{Kind: cst.KindPointer}},
				{Name: "count", Type: cst.Type{Kind: cst.KindInt}},
				{Name: "datatype", Type: cst.HandleOf("datatype")},
				{Name: "peer", Type: cst.Type{Kind: cst.KindRank}},
				{Name: "tag", Type: cst.Type{Kind: cst.KindTag}},
				{Name: "comm", Type: cst.HandleOf("comm")},
			}}
			fn, thread := p.Declare(f), p.Thread()
			i := int64(0)
			call := func() {
				begun := thread.Begin()
				buffer := cst.PointerTo(cst.Pointer{Segment: 1, Displacement: 4096 * (i & 7)})
				thread.End(fn, begun, buffer, cst.Int(1024), cst.Handle(2), cst.Rank(i&7), cst.Tag(99), cst.Handle(0))
				i++
			}
			for range 1000 {
				call()
			}
			b.ReportAllocs()
			for b.Loop() {
				call()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/event")
			b.ReportMetric(0, "ns/op")
			if err := p.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
