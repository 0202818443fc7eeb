package events

import (
	"slices"

	"github.com/reprise-trace/reprise/query"
)

// Regions follows the calls of a rank that begin and end regions to which the program gives names, as
// MPI_Pcontrol with a name, and annotations of Caliper and NVTX, do. A region is from the end of the call that
// begins it to the start of the one that ends it.
type Regions struct {
	marks []regionMark       // by terminal
	open  map[int32][]string // by thread, the outermost first
}

// A regionMark says what calls of a terminal do.
type regionMark struct {
	name       string
	begins, is bool // is: they begin or end a region
}

// A RegionEdge is where a region begins or ends, of a thread.
type RegionEdge struct {
	Name   string
	Thread int32
	At     int64 // in nanoseconds since the run began
	Begins bool
}

// Regions returns what follows the regions of r from its first call on; nil if it has none.
func (r *Rank) Regions() *Regions {
	g := &Regions{marks: make([]regionMark, r.Terminals()), open: make(map[int32][]string)}
	some := false
	for terminal := range g.marks {
		c := r.Call(uint32(terminal))
		m := &g.marks[terminal]
		m.name, m.begins, m.is = query.MarkerOf(&c)
		some = some || m.is
	}
	if !some {
		return nil
	}
	return g
}

// Call yields the edges that a call has, which must be in the order of time of its thread. Where a region ends
// before others that began in it, these end and begin again: so the edges of a thread nest. One that did not
// begin does not end. Nothing is yielded if g is nil.
func (g *Regions) Call(e Event, yield func(RegionEdge)) {
	if g == nil || !g.marks[e.Terminal].is {
		return
	}
	m, open := &g.marks[e.Terminal], g.open[e.Thread]
	if m.begins {
		g.open[e.Thread] = append(open, m.name)
		yield(RegionEdge{m.name, e.Thread, e.End, true})
		return
	}
	at := len(open) - 1
	for at >= 0 && open[at] != m.name {
		at--
	}
	if at < 0 {
		return
	}
	for i := len(open) - 1; i >= at; i-- {
		yield(RegionEdge{open[i], e.Thread, e.Start, false})
	}
	open = slices.Delete(open, at, at+1)
	for _, name := range open[at:] {
		yield(RegionEdge{name, e.Thread, e.Start, true})
	}
	g.open[e.Thread] = open
}

// End ends regions that go on when a thread has made its last call, which ended at a time.
func (g *Regions) End(thread int32, at int64, yield func(RegionEdge)) {
	if g == nil {
		return
	}
	for _, name := range slices.Backward(g.open[thread]) {
		yield(RegionEdge{name, thread, at, false})
	}
	delete(g.open, thread)
}
