package replay_test

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/replay"
)

// Types of locks, as MPICH has them.
const (
	exclusive = 234
	shared    = 235
)

// An origin is a rank of a test that locks parts of window 0.
type origin struct{ *testtrace.Recording }

func (o origin) lock(kind, target int) {
	o.MPI(1, "MPI_Win_lock", "lock_type", kind, "rank", target, "assert", 0, "win", 0)
}

func (o origin) unlock(target int) { o.MPI(1, "MPI_Win_unlock", "rank", target, "win", 0) }
func (o origin) flush(target int)  { o.MPI(1, "MPI_Win_flush", "rank", target, "win", 0) }
func (o origin) lockAll()          { o.MPI(1, "MPI_Win_lock_all", "assert", 0, "win", 0) }
func (o origin) unlockAll()        { o.MPI(1, "MPI_Win_unlock_all", "win", 0) }

func (o origin) put(target int) {
	o.MPI(1, "MPI_Put", "origin_count", 1, "origin_datatype", "MPI_INT", "target_rank", target, "win", 0)
}

// windows are those of a program, which its ranks lock.
type windows struct {
	list   []window
	shared bool // all locks are
	open   []*held
	closed []*held
	counts map[string]int // of contents of epochs
}

// A window is one of a group.
type window struct {
	handle int
	group  *group
}

// A held lock is one that a rank has, at the end of the call from and until that of the call to.
type held struct {
	origin    *actor
	window    int
	target    int // in the window
	exclusive bool
	from, to  place
	all       bool // until the call to begins, which gives locks back one after the other
}

// newLocks draws a program of so many steps, in which ranks lock windows: two of all ranks, and one of those
// of each parity.
func newLocks(intn func(n int) int, steps int) *program {
	p := emptyProgram(intn, 1)
	p.addWindows(false)
	for range steps {
		p.step()
	}
	p.waitForAll()
	return p
}

func (p *program) addWindows(shared bool) {
	p.windows = &windows{shared: shared, counts: make(map[string]int)}
	groups := p.subs[len(p.subs)-2:]
	p.windows.list = []window{{0, p.subs[0]}, {1, p.subs[0]}, {2, groups[0]}, {2, groups[1]}}
	for _, w := range p.windows.list {
		for _, rank := range w.group.ranks {
			p.actors[rank][0].call("MPI_Win_create", "comm", w.group.handle, "win", w.handle)
		}
	}
}

// epoch adds a lock of a window, accesses and the end of it, which may come later.
func (p *program) epoch() {
	number := p.intn(len(p.windows.list))
	w := p.windows.list[number]
	self := p.intn(len(w.group.ranks))
	a := p.actors[w.group.ranks[self]][0]
	p.unlock(func(h *held) bool { return h.origin == a && h.window == number })
	if p.intn(4) == 0 {
		p.lockAll(a, number, self)
		return
	}
	h := &held{origin: a, window: number, target: p.intn(len(w.group.ranks)), exclusive: !p.windows.shared &&
		p.intn(2) == 0, from: notYet}
	kind := shared
	if h.exclusive {
		kind = exclusive
	}
	if h.target == self {
		h.from = a.place()
	}
	a.call("MPI_Win_lock", "lock_type", kind, "rank", h.target, "assert", 0, "win", w.handle)
	p.windows.open = append(p.windows.open, h)
	for range p.intn(3) {
		p.access(h)
	}
	if h.target != self && p.intn(3) == 0 {
		p.windows.counts["open"]++
		return
	}
	if p.intn(2) == 0 {
		p.complete(h)
		a.call("MPI_Comm_size", "comm", "MPI_COMM_WORLD", "size", p.ranks)
		p.access(h)
	}
	p.unlock(func(open *held) bool { return open == h })
}

var notYet = place{call: -1}

// lockAll adds a lock of all parts of a window, some of which a rank accesses. It has its own from the
// beginning.
func (p *program) lockAll(a *actor, number, self int) {
	w := p.windows.list[number]
	list := []*held{{origin: a, window: number, target: self, from: a.place(), all: true}}
	a.call("MPI_Win_lock_all", "assert", 0, "win", w.handle)
	for range p.intn(4) {
		h := &held{origin: a, window: number, target: p.intn(len(w.group.ranks)), from: notYet, all: true}
		if p.access(h); p.intn(2) == 0 {
			p.complete(h)
			list = append(list, h)
		}
	}
	p.windows.close(a, list)
	a.call("MPI_Win_unlock_all", "win", w.handle)
}

// close says that the next call of a rank ends locks.
func (w *windows) close(a *actor, list []*held) {
	for _, h := range list {
		if h.to = a.place(); h.from == notYet {
			h.from = h.to
			w.counts["lazy"]++
		}
		w.closed = append(w.closed, h)
	}
}

// access adds an access to the target of a lock.
func (p *program) access(h *held) {
	name := p.pick("MPI_Put", "MPI_Get", "MPI_Accumulate")
	h.origin.call(name, "origin_count", 1+1000*p.intn(2), "origin_datatype", "MPI_INT", "target_rank",
		h.target, "win", p.windows.list[h.window].handle)
}

// complete adds a call after which the rank has a lock.
func (p *program) complete(h *held) {
	a, handle := h.origin, p.windows.list[h.window].handle
	name := p.pick("MPI_Win_flush", "MPI_Win_flush_local", "MPI_Win_flush_all", "MPI_Rput")
	args := []any{"win", handle}
	switch name {
	case "MPI_Win_flush", "MPI_Win_flush_local":
		args = append(args, "rank", h.target)
	case "MPI_Rput":
		args = append(args, "origin_count", 1, "origin_datatype", "MPI_INT", "target_rank", h.target, "request", 2000)
		a.call(name, args...)
		name, args = "MPI_Wait", []any{"request", 2000}
	}
	if h.from == notYet {
		h.from = a.place()
	}
	a.call(name, args...)
}

// unlock ends locks that are open.
func (p *program) unlock(these func(h *held) bool) {
	p.windows.open = slices.DeleteFunc(p.windows.open, func(h *held) bool {
		if these(h) {
			p.windows.close(h.origin, []*held{h})
			h.origin.call("MPI_Win_unlock", "rank", h.target, "win", p.windows.list[h.window].handle)
			return true
		}
		return false
	})
}

func (p *program) unlockAll() {
	if p.windows != nil {
		p.unlock(func(*held) bool { return true })
	}
}

// times returns from when on and until when a rank has a lock.
func (h *held) times(o *observer) [2]replay.Time {
	if h.all {
		return [2]replay.Time{o.times[h.from][1], o.times[h.to][0]}
	}
	return [2]replay.Time{o.times[h.from][1], o.times[h.to][1]}
}

// check checks that no two ranks have a lock of which one is exclusive. That of a rank whose call waited for
// it, and ended it, is taken for the end of that call.
func (w *windows) check(o *observer) {
	for i, a := range w.closed {
		for _, b := range w.closed[:i] {
			if a.window != b.window || a.target != b.target || !a.exclusive && !b.exclusive || a.origin == b.origin {
				continue
			}
			x, y := a.times(o), b.times(o)
			if x[0] < y[1] && y[0] < x[1] {
				o.t.Fatalf("%T: rank %d has the lock of %d in window %d from %d to %d, rank %d from %d to %d",
					o.machine, a.origin.rank, a.target, a.window, x[0], x[1], b.origin.rank, y[0], y[1])
			}
		}
	}
}

// TestLockPrograms replays random programs that lock windows: they come to their end, and locks exclude each
// other.
func TestLockPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		intn := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
		testProgram(t, newLocks(intn, rapid.IntRange(1, 60).Draw(t, "steps")))
	})
}

// TestLockForms replays programs that are the same every time, in which locks are used in every way.
func TestLockForms(t *testing.T) {
	counts := make(map[string]int)
	for seed := range uint64(10) {
		p := newLocks(seeded(seed), 80)
		testProgram(t, p)
		trace, _ := p.trace(t)
		testPath(t, open(t, trace), uneven{})
		for _, of := range []map[string]int{p.windows.counts, p.forms} {
			for name, n := range of {
				counts[name] += n
			}
		}
	}
	for _, name := range []string{"open", "lazy", "MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Rput",
		"MPI_Win_flush", "MPI_Win_flush_local", "MPI_Win_flush_all"} {
		if counts[name] < 10 {
			t.Errorf("%s: %d times", name, counts[name])
		}
	}
}

// TestSkipLocks checks that loops are skipped if all locks are shared, and that results are those of a replay
// that does not skip any.
func TestSkipLocks(t *testing.T) {
	defer replay.SetRound(8)()
	for _, kind := range []int{shared, exclusive} {
		model := modelOf(t, 3, func(rank int, r *testtrace.Recording) {
			o := origin{r}
			r.MPI(1, "MPI_Win_create", "comm", world, "win", 0)
			for range 300 {
				o.lock(kind, (rank+1)%3)
				o.put((rank + 1) % 3)
				o.unlock((rank + 1) % 3)
				o.lockAll()
				o.put((rank + 2) % 3)
				o.flush((rank + 2) % 3)
				o.unlockAll()
			}
		})
		for _, m := range []replay.Machine{mixed{seed: 1}, mixed{seed: 2}} {
			if calls, executed := compareSkipped(t, model, m); executed < calls/4 != (kind == shared) {
				t.Errorf("locks of type %d: %d of %d calls are executed", kind, executed, calls)
			}
		}
	}
	for seed := range uint64(20) {
		intn := seeded(seed)
		p := emptyProgram(intn, 1)
		p.addWindows(seed%4 > 0)
		p.loop(1)
		p.epoch()
		p.waitForAll()
		trace, _ := p.trace(t)
		compareSkipped(t, open(t, trace), mixed{seed: seed})
	}
}

// TestRecordedLocks checks that the ranks of a recorded run have a lock one after the other.
func TestRecordedLocks(t *testing.T) {
	trace := testtrace.Recorded(t, "locks.exact")
	machine, err := replay.NewRecorded(trace)
	if err != nil {
		t.Fatal(err)
	}
	type span struct{ from, to replay.Time }
	var spans []span // from the flush of a rank to its unlocking
	from := make(map[int]replay.Time)
	_, err = replay.RunWith(ctx, open(t, trace), machine,
		replay.Options{Ended: func(c *replay.Call, _, end replay.Time) {
			rank := c.Rank.Number()
			switch c.Rank.Call(c.Terminal).Function.Name {
			case "MPI_Win_flush":
				from[rank] = end
			case "MPI_Win_unlock":
				if begin, ok := from[rank]; ok {
					spans = append(spans, span{begin, end})
				}
				delete(from, rank)
			}
		}})
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(spans); i++ {
		if spans[i].from < spans[i-1].to {
			t.Errorf("%v begins before the end of %v", spans[i], spans[i-1])
		}
	}
	if err != nil || len(spans) != 60 {
		t.Errorf("%d spans, %v", len(spans), err)
	}
}
