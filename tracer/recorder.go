package tracer

import (
	"errors"
	"fmt"
	"maps"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/running"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

// A Recorder records the calls of one rank. The zero Recorder is empty and
// ready for use. It must not be used by two goroutines at once.
//
// It never panics. Calls that cannot be recorded are left out and counted:
// [Recorder.Err] tells.
type Recorder struct {
	table   running.Table
	grammar sequitur.Builder
	groups  map[merge.GroupHandle]merge.Group
	times   times
	bound   bound
	misuse  misuse
}

// Declare returns the number of a function for use with [Recorder.Call]. Equal
// functions have one number. An invalid function, see [cst.Function.Validate], and one whose name begins
// with +, has the number −1, and its calls are left out.
func (r *Recorder) Declare(f cst.Function) int {
	err := f.Validate()
	if err == nil && layout.StreamRoleOf(&f) != layout.NoStream {
		err = fmt.Errorf("function %q: names that begin with + are those of streams", f.Name)
	}
	if err != nil {
		r.misuse.add(err)
		return -1
	}
	return r.table.Declare(f)
}

// Call records a call of the function that has number fn. It takes amortized
// constant time for each argument, and allocates only when the table or the
// grammar grows: in a steady loop it does not. It does not keep args. The call is left
// out if fn is not a number that Declare returned, if args are not arguments of that
// function in number and kind, or if the Recorder keeps the times of every call.
func (r *Recorder) Call(fn int, args ...cst.Value) {
	if r.times.series != nil {
		r.misuse.add(errUntimed)
		return
	}
	terminal, err := r.table.Intern(fn, args...)
	if err != nil {
		r.misuse.add(err)
		return
	}
	r.grammar.Append(terminal)
	if r.bound.size > 0 {
		r.fit()
	}
}

// SetGroup says what the process is in the group, such as a communicator, that
// handles of a class and a value among the arguments stand for, in all calls. Ranks
// in calls that name the group are ranks in it, and a trace of many processes is
// smaller if that is known. A group with numbers that no group has is left out.
func (r *Recorder) SetGroup(class string, handle int64, g merge.Group) {
	if err := checkGroup(class, handle, g); err != nil {
		r.misuse.add(err)
		return
	}
	if r.groups == nil {
		r.groups = make(map[merge.GroupHandle]merge.Group)
	}
	r.groups[merge.GroupHandle{Class: class, Value: handle}] = g
}

// checkGroup returns an error if a part cannot have a group.
func checkGroup(class string, handle int64, g merge.Group) error {
	if g.Rank < 0 || g.Size < 0 || g.Rank > layout.MaxRanks || g.Size > layout.MaxRanks {
		return fmt.Errorf("rank %d of %d in group %d, of class %q", g.Rank, g.Size, handle, class)
	}
	return nil
}

// Len returns the number of calls recorded.
func (r *Recorder) Len() uint64 {
	n := r.grammar.Len()
	for _, p := range r.bound.condensed {
		n += p.Grammar.Len()
	}
	return n
}

// Held returns about how many bytes what was recorded takes, with what the garbage collector leaves of it:
// all but times.
func (r *Recorder) Held() uint64 {
	const least, signature, symbol = 4 << 10, 96, 64
	return least + uint64(2*r.table.Size()+signature*r.table.Len()+symbol*r.grammar.Symbols())
}

// Err returns an error if calls were left out, or functions refused, since the Recorder
// was made: how many, and why the first was. It is nil if there were none. Finish does
// not clear it.
func (r *Recorder) Err() error { return r.misuse.err() }

// Snapshot returns the part of the given rank as Finish would, without ending the
// recording: what a tracer keeps in case the program does not come to its end.
// It takes time and memory in proportion to what is held, not to the calls. It
// encodes the block of times in hand once more.
func (r *Recorder) Snapshot(rank int) merge.Part {
	c := r.table.Take(r.grammar.Snapshot())
	c.Table, _, _ = cst.Merge(c.Table, new(cst.Table)) // a copy
	p := r.take(rank, c, r.times.snapshot(rank))
	p.Groups = maps.Clone(r.groups)
	return p
}

// Finish returns the part of the given rank and leaves r empty, without
// functions and groups, and without what [New] was asked for. Recording more does not
// change the part.
func (r *Recorder) Finish(rank int) merge.Part {
	kept := r.times.finish(rank) // first, as it leaves memory for the rest
	p := r.take(rank, r.table.Take(r.grammar.Finish()), kept)
	r.table, r.groups, r.times, r.bound = running.Table{}, nil, times{}, bound{}
	return p
}

// Misuse counts what could not be recorded.
type misuse struct {
	count uint64
	first error
}

var (
	errUntimed    = errors.New("a call without a time where those of all calls are kept")
	errClosed     = errors.New("a call after Close")
	errNoFunction = errors.New("a call of no function: it was not made by Func or Func1 to Func5")
)

func (m *misuse) add(err error) {
	if m.count == 0 {
		m.first = err
	}
	m.count++
}

func (m *misuse) merge(o misuse) {
	if m.count == 0 {
		m.first = o.first
	}
	m.count += o.count
}

func (m *misuse) err() error {
	if m.count == 0 {
		return nil
	}
	return fmt.Errorf("tracer: %d calls or declarations left out, the first: %w", m.count, m.first)
}
