package tracer

import (
	"maps"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

// A Recorder records the calls of one rank. The zero Recorder is empty and
// ready for use. It must not be used by two goroutines at once.
type Recorder struct {
	table   cst.Table
	grammar sequitur.Builder
	groups  map[merge.GroupHandle]merge.Group
	times   times
}

// Declare returns the number of a function for use with [Recorder.Call]. Equal
// functions have one number. It panics if f is not valid; see
// [cst.Function.Validate].
func (r *Recorder) Declare(f cst.Function) int { return r.table.Declare(f) }

// Call records a call of the function that has number fn. It takes amortized
// constant time for each argument, and allocates only when the table or the
// grammar grows: in a steady loop it does not. It does not keep args. It panics,
// and records nothing, if fn is not a number that Declare returned or args are
// not arguments of that function in number and kind, or if the Recorder keeps the
// times of every call.
func (r *Recorder) Call(fn int, args ...cst.Value) {
	if r.times.series != nil {
		panic("tracer: a call without a time where those of all calls are kept")
	}
	r.grammar.Append(r.table.Intern(fn, args...))
}

// SetGroup says what the process is in the group, such as a communicator, that
// handles of a class and a value among the arguments stand for, in all calls. Ranks
// in calls that name the group are ranks in it, and a trace of many processes is
// smaller if that is known.
func (r *Recorder) SetGroup(class string, handle int64, g merge.Group) {
	if r.groups == nil {
		r.groups = make(map[merge.GroupHandle]merge.Group)
	}
	r.groups[merge.GroupHandle{Class: class, Value: handle}] = g
}

// Len returns the number of calls recorded.
func (r *Recorder) Len() uint64 { return r.grammar.Len() }

// Snapshot returns the part of the given rank as Finish would, without ending the
// recording: what a tracer keeps in case the program does not come to its end.
// It takes time and memory in proportion to what is held, not to the calls. It
// encodes the block of times in hand once more.
func (r *Recorder) Snapshot(rank int) merge.Part {
	table, _, _ := cst.Merge(&r.table, new(cst.Table)) // a copy
	return merge.Part{Rank: rank, Table: table, Grammar: r.grammar.Snapshot(), Groups: maps.Clone(r.groups), Times: r.times.snapshot(rank)}
}

// Finish returns the part of the given rank and leaves r empty, without
// functions and groups, and without what [New] was asked for. Recording more does not change the part.
func (r *Recorder) Finish(rank int) merge.Part {
	p := merge.Part{Rank: rank, Grammar: r.grammar.Finish(), Groups: r.groups, Times: r.times.finish(rank)}
	table := r.table
	p.Table = &table
	r.table, r.groups, r.times = cst.Table{}, nil, times{}
	return p
}
