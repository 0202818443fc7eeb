package tracer

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/atomicfile"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/symbolic"
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

	// Run is the id of the run, the same in all its processes: the file says it, the
	// command line, the host, the time, and the versions of Go, of the program and of this
	// module, unless Anonymous is set. These make no other difference.
	Run       string
	Anonymous bool

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
// Each [Thread] records its calls by itself, so that the loops of each are found
// however threads interleave, and threads do not wait for each other. In the part, the
// calls of one thread stand after those of the other. The order of calls of different
// threads is that of their times, where the times of every call are kept; otherwise it is
// not kept. Calls of the first thread are as they were declared, those of others have the
// number of the thread as their first argument.
//
// Nothing that is recorded wrongly panics: it is left out and counted, and Close returns
// an error. A nil Process records nothing, so that a program may go on if Open fails. A call
// that is recorded in a steady loop allocates nothing.
type Process struct {
	config Config
	origin format.Origin
	clock  func() int64
	on     atomic.Bool
	stop   chan struct{} // of the goroutine that makes checkpoints, nil without one
	ended  sync.WaitGroup

	mu      sync.Mutex // of what follows
	threads []*Thread
	taken   symbolic.Pool             // numbers of threads
	objects map[string]*symbolic.Pool // by class
	groups  map[merge.GroupHandle]merge.Group
	misuse  misuse
	closed  bool

	writing sync.Mutex // of the file
	saved   uint64     // calls in it
}

// Open returns a Process that is recording. Somebody must [Process.Close] it. It returns
// an error if the rank is none of the run, or if there can be no file at the path.
func Open(c Config) (*Process, error) {
	if c.Rank < 0 || c.Rank >= math.MaxInt32 || c.Ranks > math.MaxInt32 || c.Ranks != 0 && c.Rank >= c.Ranks {
		return nil, fmt.Errorf("tracer: rank %d of %d ranks", c.Rank, c.Ranks)
	}
	if err := atomicfile.Check(c.Path); err != nil {
		return nil, fmt.Errorf("tracer: the part file: %w", err)
	}
	if _, err := New(c.Options); err != nil {
		return nil, err
	}
	p := &Process{config: c, origin: originOf(c), clock: c.Clock}
	if p.clock == nil {
		begin := time.Now()
		at := begin.UnixNano()
		p.clock = func() int64 { return at + int64(time.Since(begin)) }
	}
	p.on.Store(true)
	if c.Checkpoint > 0 {
		p.stop = make(chan struct{})
		p.ended.Add(1)
		go p.checkpoints()
	}
	return p, nil
}

// originOf returns what the file says about who made it.
func originOf(c Config) (o format.Origin) {
	if c.Anonymous {
		return o
	}
	o = format.Origin{Runs: []string{c.Run}, Commands: []string{strings.Join(os.Args, " ")}, Began: time.Now()}
	if host, err := os.Hostname(); err == nil {
		o.Hosts = []string{host}
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		o.Versions = []string{info.GoVersion}
		for _, m := range append(info.Deps, &info.Main) {
			if m.Version != "" && (m == &info.Main || m.Path == "github.com/reprise-trace/reprise") {
				o.Versions = append(o.Versions, m.Path+" "+m.Version)
			}
		}
	}
	return o
}

// SetGroup is [Recorder.SetGroup].
func (p *Process) SetGroup(class string, handle int64, g merge.Group) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := checkGroup(class, handle, g); err != nil {
		p.misuse.add(err)
		return
	}
	if p.groups == nil {
		p.groups = make(map[merge.GroupHandle]merge.Group)
	}
	p.groups[merge.GroupHandle{Class: class, Value: handle}] = g
}

// Object returns the id of a new object of a class, for arguments that are handles: the
// lowest that no object of the class has. A program that opens and closes a file in a loop
// has the same id in every round, and its loop is found.
func (p *Process) Object(class string) int64 {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.objects == nil {
		p.objects = make(map[string]*symbolic.Pool)
	}
	if p.objects[class] == nil {
		p.objects[class] = new(symbolic.Pool)
	}
	return p.objects[class].Take()
}

// Release gives the id of an object back.
func (p *Process) Release(class string, id int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if ids := p.objects[class]; ids != nil && ids.Taken(id) {
		ids.Release(id)
		return
	}
	p.misuse.add(fmt.Errorf("release of %s %d, which is no object", class, id))
}

// Record switches recording on or off. Calls that begin while it is off are left
// out.
func (p *Process) Record(on bool) {
	if p != nil {
		p.on.Store(on)
	}
}

// A Thread is what makes one call after the other: a goroutine, or whatever takes
// its place. A nil Thread records nothing.
type Thread struct {
	process *Process
	number  int64

	mu       sync.Mutex // of what follows
	recorder *Recorder
	numbers  []int32     // by id of functions: 1 more than in the Recorder, 0 if it has none
	args     []cst.Value // scratch
	closed   bool
	taken    bool
}

// Thread returns a Thread with the lowest number that no other one has. A goroutine that ends gives it back
// by [Thread.Release]. A Thread that was released goes on where it ended. That of a nil Process is nil.
func (p *Process) Thread() *Thread {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.taken.Take()
	if n == int64(len(p.threads)) {
		r, _ := New(p.config.Options) // which Open checked
		p.threads = append(p.threads, &Thread{process: p, number: n, recorder: r, closed: p.closed})
	}
	t := p.threads[n]
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken = true
	return t
}

// Release gives the number of t back. It must not be used after that.
func (t *Thread) Release() {
	if t == nil {
		return
	}
	t.mu.Lock()
	taken := t.taken
	t.taken = false
	t.mu.Unlock()
	t.process.mu.Lock()
	defer t.process.mu.Unlock()
	if !taken {
		t.process.misuse.add(fmt.Errorf("thread %d was released twice", t.number))
		return
	}
	t.process.taken.Release(t.number)
}

// A Moment is when a call began.
type Moment int64

// unrecorded is the Moment of calls that are left out.
const unrecorded Moment = math.MinInt64

// Begin returns the time, for [Thread.End].
func (t *Thread) Begin() Moment {
	if t == nil || !t.process.on.Load() {
		return unrecorded
	}
	return Moment(t.process.clock())
}

// End records a call that began at a moment and ends now. It does not keep args.
// Calls of a thread stand in the order in which they end.
func (t *Thread) End(fn *Function, begun Moment, args ...cst.Value) {
	if t == nil || begun == unrecorded {
		return
	}
	t.call(fn, int64(begun), t.process.clock()-int64(begun), args)
}

// Call records a call of which the time is known, in nanoseconds, unless recording
// is off.
func (t *Thread) Call(fn *Function, start, duration int64, args ...cst.Value) {
	if t != nil && t.process.on.Load() {
		t.call(fn, start, duration, args)
	}
}

func (t *Thread) call(fn *Function, start, duration int64, args []cst.Value) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		t.recorder.misuse.add(errClosed)
		return
	}
	if fn == nil || int(fn.id) >= len(t.numbers) || t.numbers[fn.id] == 0 {
		if err := t.declare(fn); err != nil {
			t.recorder.misuse.add(err)
			return
		}
	}
	if t.number > 0 {
		t.args = append(append(t.args[:0], cst.Int(t.number)), args...)
		args = t.args
	}
	t.recorder.CallAt(int(t.numbers[fn.id])-1, start, duration, args...)
}

// declare gives fn a number in the Recorder.
func (t *Thread) declare(fn *Function) error {
	if fn == nil {
		return errNoFunction
	}
	if fn.err != nil {
		return fn.err
	}
	for int(fn.id) >= len(t.numbers) {
		t.numbers = append(t.numbers, 0)
	}
	f := fn.function
	if t.number > 0 {
		f = fn.threaded
	}
	t.numbers[fn.id] = int32(t.recorder.Declare(f) + 1)
	return nil
}

// len returns the number of calls that were recorded.
func (p *Process) len() uint64 {
	p.mu.Lock()
	threads := slices.Clone(p.threads)
	p.mu.Unlock()
	var n uint64
	for _, t := range threads {
		t.mu.Lock()
		n += t.recorder.Len()
		t.mu.Unlock()
	}
	return n
}

// part returns what all threads have recorded, or what take returns of their Recorders.
func (p *Process) part(take func(*Thread) merge.Part) (merge.Part, error) {
	p.mu.Lock()
	threads := slices.Clone(p.threads)
	groups := make(map[merge.GroupHandle]merge.Group, len(p.groups))
	for h, g := range p.groups {
		groups[h] = g
	}
	p.mu.Unlock()
	var parts []merge.Part
	for _, t := range threads {
		t.mu.Lock()
		parts = append(parts, take(t))
		t.mu.Unlock()
	}
	part, err := merge.Join(p.config.Rank, nil, parts...)
	part.Groups = groups
	return part, err
}

// Checkpoint writes what was recorded so far to the part file, in place of what is
// there. A thread waits while its calls are copied, and none while they are written.
func (p *Process) Checkpoint() error {
	if p == nil {
		return nil
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return errors.New("tracer: the process is closed")
	}
	part, err := p.part(func(t *Thread) merge.Part { return t.recorder.Snapshot(p.config.Rank) })
	if err != nil {
		return err
	}
	if err := p.write(part); err != nil {
		return err
	}
	p.saved = part.Grammar.Len()
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
			if p.len() != saved {
				_ = p.Checkpoint()
			}
		}
	}
}

// Close ends the recording and writes the part file. Its error says why the file could
// not be written, and how many calls were left out because they were recorded wrongly. If it wraps a
// *format.MemoryError, the file is there, but reading it takes more memory than readers take by default.
// Calls that end after Close are left out, too: the error of another Close counts them.
func (p *Process) Close() error {
	if p == nil {
		return nil
	}
	p.on.Store(false)
	p.mu.Lock()
	again := p.closed
	p.closed = true
	p.mu.Unlock()
	if again {
		return errors.Join(errors.New("tracer: the process is closed"), p.misused())
	}
	if p.stop != nil {
		close(p.stop)
		p.ended.Wait()
	}
	part, err := p.part(func(t *Thread) merge.Part {
		t.closed = true
		return t.recorder.Finish(p.config.Rank)
	})
	p.writing.Lock()
	defer p.writing.Unlock()
	if err == nil {
		err = p.write(part)
	}
	return errors.Join(err, p.misused())
}

// misused returns an error if something was recorded wrongly.
func (p *Process) misused() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.misuse
	for _, t := range p.threads {
		t.mu.Lock()
		all.merge(t.recorder.misuse)
		t.mu.Unlock()
	}
	return all.err()
}

// write writes the part file, which is complete or as it was before. Its error wraps a
// *format.MemoryError if it is complete, but readers refuse it that are not given more memory.
func (p *Process) write(part merge.Part) error {
	var a merge.Accumulator
	if err := a.Describe(merge.Run{Ranks: max(p.config.Ranks, p.config.Rank+1), Source: p.config.Source,
		Origin: p.origin}); err != nil {
		return err
	}
	if err := a.Add(part); err != nil {
		return err
	}
	var unread error
	err := atomicfile.Write(p.config.Path, func(w io.Writer) (err error) {
		unread, err = layout.Unread(a.WritePart(w))
		return err
	})
	if err == nil && unread != nil {
		err = fmt.Errorf("%s: %w", p.config.Path, unread)
	}
	return err
}
