package merge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/sequitur"
)

// A Part is what one rank hands to the merge.
type Part struct {
	Rank    int               // ≥ 0
	Table   *cst.Table        // the rank's signatures
	Grammar *sequitur.Grammar // the rank's calls, as terminals of Table

	// Streams are the values of arguments that advance from call to call, nil if none do.
	Streams *Streams

	// Groups says what the process is in the groups, such as communicators, that
	// handles among the arguments stand for. Ranks in the arguments of a call
	// whose first such handle is of a group are then fitted as expressions of the
	// rank in that group and its size, too, not of those in the run alone.
	Groups map[GroupHandle]Group

	// Times are what was recorded of the times of the calls; nil if nothing was.
	// What [Trace.Part] returns has none: see [Trace.Series] and [Trace.Summaries].
	Times *Times

	// Bounded says what is not as it was recorded; nil means that all is.
	Bounded *format.Bounded

	// ThreadsUnordered is set if the rank has several threads and it is not known in which order they made
	// their calls, which then stand thread by thread.
	ThreadsUnordered bool

	// CallGroups are the groups that calls name, by terminal, as far as a trace has them
	// from which the part was read. They count for more than Groups.
	CallGroups map[uint32]Group
}

// Streams are the values of arguments that advance from call to call, by a constant most of the time, such as
// the address of a row: calls that differ in nothing else have one terminal. A [tracer.Recorder] makes them.
type Streams struct {
	// Slots says which slots of a terminal have the number of a stream in place of their values, if any do:
	// bit k stands for the k-th number among its arguments that is in no array; a pointer is three, its
	// segment, displacement and device.
	Slots map[uint32]uint64

	// Runs are the runs of values of each stream, from number 0 on, as calls of functions that the Table
	// has for them.
	Runs *sequitur.Grammar
}

// A GroupHandle is a handle of a group of processes.
type GroupHandle struct {
	Class string // of the handle, as in the type of the parameter
	Value int64
}

// A Group is what a process is in a group of processes: of a communicator, its rank
// and the number of ranks. In an intercommunicator, where ranks are those of the
// remote group, Size is the number of these, and Rank that of the process in its
// own group.
type Group struct{ Rank, Size int }

// A Run describes a run as a whole.
type Run struct {
	// Ranks is the number of ranks, at most 2³¹−1. Those without a part made no
	// calls.
	Ranks int

	// Source says where the calls come from: the name of a tracer, or of the
	// format of another trace.
	Source string

	// Interleaving is the order of the calls of all ranks as a grammar over
	// ranks: for each call the rank that made it. Nil means rank by rank, and
	// is what a trace has for an interleaving that says the same.
	Interleaving *sequitur.Grammar

	// Kept is what a front end keeps. A trace has it in ascending order of names: of two of one name, the
	// lesser in the order of bytes counts. A [trace.Trace] gives it by Kept only. What has a slash in its name is
	// about single calls: it is left out with their times.
	Kept []format.Kept

	// Names are what numbers among the arguments are called. A trace has them in
	// ascending order of kinds, classes and values, one for each. Several call sites
	// of one name are told apart by a number behind it, such as " #2".
	Names []format.Name

	// Origin says who made the trace.
	Origin format.Origin

	// Bounded says what of the trace is not what was recorded, of the functions of the
	// trace; nil means that all is. Where parts are merged, theirs counts.
	Bounded *format.Bounded

	// ThreadsUnordered is set if there are ranks of which it is not known in which order their threads made
	// their calls, see [Part]. Where parts are merged, those of all count.
	ThreadsUnordered bool

	// Worlds are those of a run that has several, in ascending order; nil means that
	// all ranks are of one. Where parts are merged, those of all count.
	Worlds []format.World

	// Clocks are those of the machines that the times of ranks come from, in the order of their first ranks.
	// A trace has them if there are several, and it has times of every call. Where parts are merged, clocks
	// of one machine are one.
	Clocks []format.Clock
}

// WorldOf returns which of the worlds a rank is of, the rank in the run of its rank 0, and its
// size.
func (r Run) WorldOf(rank int) (world, first, size int) {
	if len(r.Worlds) == 0 {
		return 0, 0, r.Ranks
	}
	end := r.Ranks
	for world = len(r.Worlds) - 1; world > 0 && r.Worlds[world].First > rank; world-- {
		end = r.Worlds[world].First
	}
	if first = r.Worlds[world].First; world == 0 {
		first = 0
	}
	return world, first, end - first
}

// ClockOf returns which of the clocks the times of a rank are of, −1 if it is not known. It is fast if ranks
// are given to machines one machine after the other.
func (r Run) ClockOf(rank int) int {
	clock, _ := slices.BinarySearchFunc(r.Clocks, rank+1, func(c format.Clock, rank int) int {
		return cmp.Compare(c.Ranks.At(0), rank)
	})
	for clock--; clock >= 0 && !r.Clocks[clock].Ranks.Contains(rank); clock-- {
	}
	return clock
}

// Aligned returns how many of the clocks are aligned, the first among them, and the greatest of their errors.
func (r Run) Aligned() (clocks int, off int64) {
	for _, c := range r.Clocks {
		if c.Error >= 0 {
			clocks, off = clocks+1, max(off, c.Error)
		}
	}
	return clocks, off
}

// isRankByRank reports whether an interleaving has the calls of each rank in one
// run, in ascending order of the ranks. It takes time in proportion to the
// number of ranks in it.
func isRankByRank(g *sequitur.Grammar) bool {
	last := int64(-1)
	for _, run := range g.Runs() {
		if int64(run.Symbol) <= last {
			return false
		}
		last = int64(run.Symbol)
	}
	return true
}

// A Peer is a rank that an argument of a call names.
type Peer struct {
	Rank     int64 // that is named, which may be none of the run
	Caller   int
	Function string
}

// HighestPeer returns the highest rank that calls name, with the lowest caller
// that names it, and whether they name any: if it is not below the number of ranks
// of the run, ranks are missing. It takes time in proportion to the memory of a.
func (a *Accumulator) HighestPeer() (highest Peer, ok bool) {
	functions := a.functions.Functions()
	var r columnReader
	for _, s := range a.shapes {
		k := 0
		for _, f := range s.forms {
			for _, slot := range f.layout(functions) {
				if slot&^layout.Element == layout.Rank {
					peer := r.column(s, k).highest(s.ranks)
					peer.Function = functions[f.function].Name
					if !ok || peer.compare(highest) > 0 {
						highest, ok = peer, true
					}
				}
				k++
			}
		}
	}
	return highest, ok
}

// highest returns the highest value of c, which has values for these ranks, and
// the lowest rank that has it.
func (c *column) highest(ranks spans) Peer {
	var highest Peer
	for r, end := range c.runs(ranks.len()) {
		peer := Peer{Rank: r.first, Caller: int(r.rank)}
		if r.step > 0 {
			peer.Caller = ranks.at(end - 1)
			peer.Rank = r.at(peer.Caller)
		}
		if r.position == 0 || peer.compare(highest) > 0 {
			highest = peer
		}
	}
	return highest
}

// compare orders peers by rank; of equal ones, a lower caller counts for more.
func (p Peer) compare(q Peer) int {
	return cmp.Or(cmp.Compare(p.Rank, q.Rank), cmp.Compare(q.Caller, p.Caller), strings.Compare(q.Function, p.Function))
}
