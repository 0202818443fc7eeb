package tracer

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/must"
	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// openPart reads the part file of a process.
func openPart(t testing.TB, path string) *trace.Trace {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := format.NewReader(bytes.NewReader(data), int64(len(data)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tr, err := trace.OpenContainer(file, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
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
	p := openProcess(t, Config{Rank: 3, Ranks: 8, Source: "test", Clock: counting(),
		Options: Options{Series: exactSeries()}})
	fn := Func(send)
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
	if n := p.len(); n != threads*calls {
		t.Fatalf("%d calls", n)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	tr := openPart(t, p.config.Path)
	if run := tr.Run(); run.Ranks != 8 || run.Source != "test" {
		t.Errorf("%+v", run)
	}
	part, err := tr.Part(3)
	if err != nil {
		t.Fatal(err)
	}
	next := make(map[int64]int64) // call of each thread
	times, err := tr.Series(3)
	if err != nil || times == nil || times.Len() != threads*calls {
		t.Fatalf("series %v, %v", times, err)
	}
	last, thread := int64(0), int64(-1)
	var terminals []uint32
	for _, s := range part.Grammar.All() {
		terminals = append(terminals, s)
	}
	for position, s := range terminals {
		fn, args := part.Table.Signature(s)
		at := int64(0)
		if f := part.Table.Functions()[fn]; f.Params[0].Name == "thread" {
			at, args = args[0].Int(), args[1:]
		}
		i := next[at] % calls // numbers are taken again
		if at < thread || at >= threads || args[0].Int() != i%3 || args[1].Index(0).Int() != i%2 {
			t.Fatalf("call %d of thread %d, after one of %d, is %v", i, at, thread, args)
		}
		next[at]++
		when, err := times.At(uint64(position), func(dst []uint32, first uint64) { copy(dst, terminals[first:]) })
		if err != nil || at == thread && when.Start <= last || when.Duration < 10 {
			t.Fatalf("call %d of thread %d is at %v, the one before at %d: %v", i, at, when, last, err)
		}
		last, thread = when.Start, at
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
	fn, thread := Func(barrier), p.Thread()
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
	fn, thread := Func(barrier), p.Thread()
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
	tr := openPart(t, p.config.Path)
	if s, err := tr.Series(0); err != nil || s.Len() != 101 {
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
	if _, err := Open(Config{Rank: 3, Ranks: 2, Path: filepath.Join(t.TempDir(), "x.rpz")}); err == nil {
		t.Error("rank 3 of 2")
	}
	if _, err := Open(Config{Path: filepath.Join(t.TempDir(), "none", "x.rpz")}); err == nil {
		t.Error("a file in no directory")
	}
	if _, err := Open(Config{Path: t.TempDir()}); err == nil {
		t.Error("a directory")
	}
}

// TestMisuse checks that what is recorded wrongly is left out and counted.
func TestMisuse(t *testing.T) {
	p := openProcess(t, Config{Clock: counting()})
	thread, other := p.Thread(), p.Thread()
	var none Function1[int]
	big, threaded := Func1[uint64]("big", "n"), Func2[string, int]("f", "name", "out thread")
	for i, call := range []func(){
		func() { thread.End(Func(send), thread.Begin(), cst.Rank(1)) },
		func() { thread.End(Func(send), thread.Begin(), cst.Rank(1), cst.Int(1)) },
		func() { other.End(Func(send), thread.Begin(), cst.Rank(1), cst.Array(cst.Int(1), cst.Tag(1))) },
		func() { thread.End(nil, thread.Begin()) },
		func() { thread.Call(Func(cst.Function{Params: make([]cst.Param, 1)}), 1, 1, cst.Int(1)) },
		func() { none.End(thread, thread.Begin(), 1) },
		func() { big.End(thread, thread.Begin(), 1<<63) },
		func() { threaded.End(thread, thread.Begin(), "", 1) },
		func() { p.Release("file", 3) },
		func() { other.Release(); other.Release() },
	} {
		call()
		if p.len() != 0 {
			t.Fatalf("%d: %d calls", i, p.len())
		}
		if err := p.misused(); err == nil || !strings.Contains(err.Error(), fmt.Sprint(i+1, " calls")) {
			t.Errorf("%d: %v", i, err)
		}
	}
	big.End(thread, thread.Begin(), 1<<63-1)
	if err := p.Close(); err == nil {
		t.Error("nothing was told")
	}
	if part, err := openPart(t, p.config.Path).Part(0); err != nil || part.Grammar.Len() != 1 {
		t.Errorf("%d calls, %v", part.Grammar.Len(), err)
	}
	big.End(thread, 0, 1)
	p.Thread().End(Func(barrier), 0)
	if err := p.Close(); err == nil || !strings.Contains(err.Error(), "12 calls") {
		t.Error(err)
	}
}

// TestObjects checks that the lowest free id is taken, of each class.
func TestObjects(t *testing.T) {
	p := openProcess(t, Config{})
	a, b, c := p.Object("file"), p.Object("file"), p.Object("socket")
	p.Release("file", a)
	if d := p.Object("file"); a != 0 || b != 1 || c != 0 || d != 0 {
		t.Errorf("ids %d, %d, %d, %d", a, b, c, d)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestThreadsInLoops checks that goroutines in equal loops give a grammar that does not
// grow with their calls, nor with how they interleave.
func TestThreadsInLoops(t *testing.T) {
	p := openProcess(t, Config{})
	const threads = 3
	get, put := Func1[int]("get", "key"), Func2[int, string]("put", "key", "out value")
	var all sync.WaitGroup
	for range threads {
		thread := p.Thread()
		all.Go(func() {
			for range 10_000 {
				for key := range 3 {
					get.End(thread, thread.Begin(), key)
				}
				put.End(thread, thread.Begin(), 3, "x")
			}
		})
	}
	all.Wait()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	part, err := openPart(t, p.config.Path).Part(0)
	if err != nil {
		t.Fatal(err)
	}
	if n := part.Grammar.Symbols(); part.Grammar.Len() != threads*40_000 || n > 5*threads {
		t.Errorf("%d calls in %d symbols:\n%v", part.Grammar.Len(), n, part.Grammar)
	}
}

// TestNoProcess checks that a program goes on whose process could not be opened.
func TestNoProcess(t *testing.T) {
	p, err := Open(Config{})
	if err == nil || p != nil {
		t.Fatalf("%v, %v", p, err)
	}
	p.Record(true)
	p.SetGroup("comm", 0, merge.Group{})
	thread := p.Thread()
	typed := Func1[int]("f", "n")
	typed.End(thread, thread.Begin(), 1)
	thread.End(Func(barrier), 0)
	thread.Call(Func(barrier), 1, 1)
	thread.Release()
	p.Release("file", p.Object("file"))
	if err := errors.Join(p.Checkpoint(), p.Close()); err != nil {
		t.Error(err)
	}
}

// TestHostile calls everything in any order, with any arguments and any times, from several
// goroutines. Nothing panics. Close counts what it left out, and writes the rest.
func TestHostile(t *testing.T) {
	functions := []*Function{Func(send), Func(barrier), nil, {}, Func(cst.Function{Name: "a b"}),
		Func(cst.Function{Name: "x", Params: make([]cst.Param, 3)})}
	values := []cst.Value{
		cst.Rank(1), cst.Rank(math.MinInt64), cst.Array(cst.Int(3)), cst.Array(cst.Tag(3)), cst.Array(),
		cst.Array(cst.Array(cst.Int(1))), cst.String("\xff\x00"), cst.Float(math.NaN()), {},
	}
	entropy, err := timing.NewEntropy(0.1)
	if err != nil {
		t.Fatal(err)
	}
	codecs := []*timing.SeriesCodec{nil, exactSeries(), must.Get(timing.NewSeriesCodec(entropy, entropy, timing.Gaps))}
	rapid.Check(t, func(rt *rapid.T) {
		c := Config{Rank: 1, Clock: counting()}
		c.Series, c.BlockLen = rapid.SampledFrom(codecs).Draw(rt, "series"), rapid.IntRange(0, 50).Draw(rt, "block")
		if rapid.Bool().Draw(rt, "histograms") {
			c.Histograms = &timing.HistogramOptions{}
		}
		p := openProcess(t, c)
		number := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.SampledFrom(
			[]int64{math.MinInt64, math.MaxInt64, 1 << 62}))
		shared := p.Thread()
		work := func(rt *rapid.T) func() {
			var steps []func(*Thread)
			for range rapid.IntRange(1, 30).Draw(rt, "steps") {
				fn := rapid.SampledFrom(functions).Draw(rt, "function")
				args := rapid.SliceOfN(rapid.SampledFrom(values), 0, 3).Draw(rt, "arguments")
				a, b := number.Draw(rt, "a"), number.Draw(rt, "b")
				step := rapid.SampledFrom([]func(*Thread){
					func(t *Thread) { t.End(fn, t.Begin(), args...) },
					func(t *Thread) { t.End(fn, Moment(a), args...) },
					func(t *Thread) { t.Call(fn, a, b, args...) },
					func(*Thread) { shared.Call(fn, a, b, args...) },
					func(t *Thread) { t.Release() },
					func(*Thread) { p.Record(a > 0) },
					func(*Thread) { p.Release("file", a) },
					func(*Thread) { p.Object("file") },
					func(*Thread) { p.SetGroup("comm", a, merge.Group{Rank: int(b), Size: int(a)}) },
					func(*Thread) { _ = p.Checkpoint() },
				}).Draw(rt, "step")
				steps = append(steps, step)
			}
			return func() {
				thread := p.Thread()
				for _, step := range steps {
					step(thread)
				}
			}
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(work(rt))
		}
		all.Wait()
		p.Record(true)
		p.Thread().Call(functions[1], 5, 5)
		n := p.len()
		misused := p.misused()
		err := p.Close()
		if fmt.Sprint(err) != fmt.Sprint(misused) {
			rt.Fatalf("Close: %v, want %v", err, misused)
		}
		part, err := openPart(t, p.config.Path).Part(1)
		if err != nil || part.Grammar.Len() != n {
			rt.Fatalf("%d calls, want %d: %v", part.Grammar.Len(), n, err)
		}
	})
}

// BenchmarkProcess records a steady loop of calls with six arguments and their
// times, as a tracer does that embeds a Process: of the first thread, of another, and
// with five arguments that the compiler checks. To read the clock twice is a part of each.
func BenchmarkProcess(b *testing.B) {
	dynamic := Func(cst.Function{Name: "MPI_Send", Params: []cst.Param{
		{Name: "buffer", Type: cst.Type{Kind: cst.KindPointer}},
		{Name: "count", Type: cst.Type{Kind: cst.KindInt}},
		{Name: "datatype", Type: cst.HandleOf("datatype")},
		{Name: "peer", Type: cst.Type{Kind: cst.KindRank}},
		{Name: "tag", Type: cst.Type{Kind: cst.KindTag}},
		{Name: "comm", Type: cst.HandleOf("comm")},
	}})
	type comm struct{}
	read := int64(0)
	typed := Func5[cst.Pointer, int, Rank, Tag, Handle[comm]]("MPI_Send", "buffer", "count", "peer", "tag", "comm")
	for _, of := range []struct {
		name   string
		thread int64
		call   func(t *Thread, i int64)
	}{
		{"threads=false", 0, func(t *Thread, i int64) {
			begun := t.Begin()
			buffer := cst.PointerTo(cst.Pointer{Segment: 1, Displacement: 4096 * (i & 7)})
			t.End(dynamic, begun, buffer, cst.Int(1024), cst.Handle(2), cst.Rank(i&7), cst.Tag(99), cst.Handle(0))
		}},
		{"threads=true", 1, func(t *Thread, i int64) {
			begun := t.Begin()
			buffer := cst.PointerTo(cst.Pointer{Segment: 1, Displacement: 4096 * (i & 7)})
			t.End(dynamic, begun, buffer, cst.Int(1024), cst.Handle(2), cst.Rank(i&7), cst.Tag(99), cst.Handle(0))
		}},
		{"typed", 0, func(t *Thread, i int64) {
			typed.End(t, t.Begin(), cst.Pointer{Segment: 1, Displacement: 4096 * (i & 7)}, 1024, Rank(i&7), 99, 0)
		}},
		{"clock", 0, func(t *Thread, _ int64) {
			begun := t.process.clock()
			read += t.process.clock() - begun
		}},
	} {
		b.Run(of.name, func(b *testing.B) {
			p := openProcess(b, Config{})
			thread := p.Thread()
			for thread.number < of.thread {
				thread = p.Thread()
			}
			i := int64(0)
			for ; i < 1000; i++ {
				of.call(thread, i)
			}
			b.ReportAllocs()
			for b.Loop() {
				of.call(thread, i)
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/event")
			b.ReportMetric(0, "ns/op")
			if err := p.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// TestOrigin checks that part files of equal runs differ in their origin only, which they
// have unless they are anonymous.
func TestOrigin(t *testing.T) {
	record := func(c Config) (file []byte, o format.Origin) {
		c.Clock = counting()
		p := openProcess(t, c)
		thread := p.Thread()
		thread.End(Func(barrier), thread.Begin())
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(p.config.Path)
		if err != nil {
			t.Fatal(err)
		}
		return file, openPart(t, p.config.Path).Run().Origin
	}
	a, _ := record(Config{Anonymous: true})
	b, o := record(Config{Anonymous: true, Run: "7"})
	if !bytes.Equal(a, b) || !layout.NoOrigin(&o) {
		t.Errorf("anonymous: %d and %d bytes, %+v", len(a), len(b), o)
	}
	before := time.Now()
	_, o = record(Config{Run: "7"})
	if len(o.Runs) != 1 || o.Runs[0] != "7" || len(o.Commands) != 1 || len(o.Hosts) != 1 ||
		len(o.Versions) == 0 || o.Began.Before(before) {
		t.Errorf("%+v", o)
	}
}

// TestManyThreads records calls of 64 goroutines while the part file is written: each one that is read has
// the first calls of each.
func TestManyThreads(t *testing.T) {
	const threads, calls = 64, 50
	p := openProcess(t, Config{Clock: counting(), Options: Options{Series: exactSeries()}})
	fn := Func(send)
	var list []*Thread // before any is released, whose number another one would take
	for range threads {
		list = append(list, p.Thread())
	}
	var recording sync.WaitGroup
	for _, thread := range list {
		recording.Go(func() {
			defer thread.Release()
			for i := range int64(calls) {
				thread.End(fn, thread.Begin(), cst.Rank(i), cst.Array(cst.Int(i%2)))
			}
		})
	}
	done := make(chan struct{})
	go func() {
		recording.Wait()
		close(done)
	}()
	check := func() (all int64) {
		rank, err := openPart(t, p.config.Path).Rank(0)
		if err != nil {
			t.Fatal(err)
		}
		next := make(map[int64]int64) // call of each thread
		for c, err := range rank.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			thread, args := int64(0), c.Args
			if c.Function.Params[0].Name == threadParam {
				thread, args = args[0].Int(), args[1:]
			}
			if args[0].Int() != next[thread] {
				t.Fatalf("call %d of thread %d has %v", next[thread], thread, args)
			}
			next[thread]++
			all++
		}
		return all
	}
	before := int64(0)
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if err := p.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		now := check()
		if now < before {
			t.Fatalf("%d calls in the file, and %d before", now, before)
		}
		before = now
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if all := check(); all != threads*calls {
		t.Errorf("%d calls", all)
	}
}
