package tracer

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
)

// Config configures [Open].
type Config struct {
	Rank   int    // of the process in the run
	Ranks  int    // of the run; zero means that it is not known
	Source string // the name of the tracer

	// Path is the part file that Checkpoint and Close write.
	Path string

	// Checkpoint is how often the part file is written while the process runs, if
	// there are new calls. Zero means never.
	Checkpoint time.Duration

	// Threads asks for the number of the thread as the first argument of every
	// call, a parameter of kind int named thread.
	Threads bool

	// Options say what is kept of times besides statistics.
	Options

	// Clock returns the time in nanoseconds. It is called by several goroutines at
	// once. Nil means the time since 1970, which does not jump while the process
	// runs.
	Clock func() int64
}

// A Process records the calls that the goroutines of one process make, with their
// times, and writes them to a part file: what a tracer embeds. Its methods may be
// called by several goroutines at once.
//
// A call that is recorded in a steady loop allocates nothing. The goroutines of a
// process take turns for some 50 nanoseconds a call.
type Process struct {
	config Config
	clock  func() int64
	on     atomic.Bool
	stop   chan struct{} // of the goroutine that makes checkpoints, nil without one
	ended  sync.WaitGroup

	mu       sync.Mutex // of what follows
	recorder *Recorder
	closed   bool
	args     []cst.Value // scratch
	threads  []bool      // the numbers that are taken

	writing sync.Mutex // of the file
	saved   uint64     // calls in it
}

// A Function is the number of a function in a [Process].
type Function int

// Open returns a Process that is recording. Somebody must [Process.Close] it.
func Open(c Config) (*Process, error) {
	if c.Path == "" || c.Rank < 0 {
		return nil, fmt.Errorf("tracer: rank %d, path %q: a process has a rank and a part file", c.Rank, c.Path)
	}
	r, err := New(c.Options)
	if err != nil {
		return nil, err
	}
	p := &Process{config: c, clock: c.Clock, recorder: r}
	if p.clock == nil {
		begin := time.Now()
		p.clock = func() int64 { return begin.UnixNano() + int64(time.Since(begin)) }
	}
	p.on.Store(true)
	if c.Checkpoint > 0 {
		p.stop = make(chan struct{})
		p.ended.Add(1)
		go p.checkpoints()
	}
	return p, nil
}

// Declare returns the number of a function. Equal functions have one number. It
// panics if f is not valid; see [cst.Function.Validate].
func (p *Process) Declare(f cst.Function) Function {
	if p.config.Threads {
		f.Params = append([]cst.Param{{Name: "thread", Type: cst.Type{Kind: cst.KindInt}}}, f.Params...)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return Function(p.recorder.Declare(f))
}

// SetGroup is [Recorder.SetGroup].
func (p *Process) SetGroup(class string, handle int64, g merge.Group) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recorder.SetGroup(class, handle, g)
}

// Record switches recording on or off. Calls that begin while it is off are left
// out.
func (p *Process) Record(on bool) { p.on.Store(on) }

// A Thread is what makes one call after the other: a goroutine, or whatever takes
// its place. It must not be used by two goroutines at once.
type Thread struct {
	process *Process
	number  int64
}

// Thread returns a Thread with the lowest number that no other one has.
func (p *Process) Thread() *Thread {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := slices.Index(p.threads, false)
	if n < 0 {
		n = len(p.threads)
		p.threads = append(p.threads, false)
	}
	p.threads[n] = true
	return &Thread{p, int64(n)}
}

// Release gives the number of t back. It must not be used after that.
func (t *Thread) Release() {
	t.process.mu.Lock()
	defer t.process.mu.Unlock()
	t.process.threads[t.number] = false
}

// A Moment is when a call began.
type Moment int64

// unrecorded is the Moment of calls that are left out.
const unrecorded Moment = math.MinInt64

// Begin returns the time, for [Thread.End].
func (t *Thread) Begin() Moment {
	if !t.process.on.Load() {
		return unrecorded
	}
	return Moment(t.process.clock())
}

// End records a call that began at a moment and ends now. It does not keep args.
// Calls stand in the order in which they end. It panics as [Recorder.Call] does.
func (t *Thread) End(fn Function, begun Moment, args ...cst.Value) {
	if begun == unrecorded {
		return
	}
	t.process.call(t.number, fn, int64(begun), t.process.clock()-int64(begun), args)
}

// Call records a call of which the time is known, in nanoseconds, unless recording
// is off.
func (t *Thread) Call(fn Function, start, duration int64, args ...cst.Value) {
	if t.process.on.Load() {
		t.process.call(t.number, fn, start, duration, args)
	}
}

func (p *Process) call(thread int64, fn Function, start, duration int64, args []cst.Value) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if p.config.Threads {
		p.args = append(append(p.args[:0], cst.Int(thread)), args...)
		args = p.args
	}
	p.recorder.CallAt(int(fn), start, duration, args...)
}

// Len returns the number of calls that were recorded.
func (p *Process) Len() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.recorder.Len()
}

// Checkpoint writes what was recorded so far to the part file, in place of what is
// there. Recording waits while it is copied, not while it is written.
func (p *Process) Checkpoint() error {
	p.writing.Lock()
	defer p.writing.Unlock()
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return errors.New("tracer: the process is closed")
	}
	part, calls := p.recorder.Snapshot(p.config.Rank), p.recorder.Len()
	p.mu.Unlock()
	if err := p.write(part); err != nil {
		return err
	}
	p.saved = calls
	return nil
}

// checkpoints writes the part file from time to time. If that fails, Close, which
// writes it for the last time, tells.
func (p *Process) checkpoints() {
	defer p.ended.Done()
	tick := time.NewTicker(p.config.Checkpoint)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-tick.C:
			p.writing.Lock()
			saved := p.saved
			p.writing.Unlock()
			if p.Len() != saved {
				_ = p.Checkpoint()
			}
		}
	}
}

// Close ends the recording and writes the part file. Calls that end later are left
// out.
func (p *Process) Close() error {
	p.on.Store(false)
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return errors.New("tracer: the process is closed")
	}
	p.closed = true
	part := p.recorder.Finish(p.config.Rank)
	p.mu.Unlock()
	if p.stop != nil {
		close(p.stop)
		p.ended.Wait()
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	return p.write(part)
}

// write writes the part file, which is complete or as it was before.
func (p *Process) write(part merge.Part) (err error) {
	var a merge.Accumulator
	if err := a.Describe(merge.Run{Ranks: max(p.config.Ranks, p.config.Rank+1), Source: p.config.Source}); err != nil {
		return err
	}
	if err := a.Add(part); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(p.config.Path), "."+filepath.Base(p.config.Path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriter(f)
	if err := a.WritePart(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), p.config.Path)
}
