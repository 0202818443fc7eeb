package semantics

import (
	"encoding/binary"
	"slices"
	"sort"
	"sync"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/sequitur"
)

// A source is where the message came from that a receive from any source or with any tag
// got, as the status says of the call that completed it. Its rank is in the communicator.
type source struct {
	rank, tag int64 // implied if the status does not tell
	cancelled bool  // there was an attempt to cancel it
}

// unresolved is the source of a receive of which no status tells.
var unresolved = source{rank: implied, tag: implied}

// wildcards says where the messages came from that a rank received without naming the
// source or the tag, by the ids of their requests.
type wildcards struct {
	rank   *mpiRank
	fixed  map[int64]source      // the same for all receives with a request
	varied map[int64][]completed // otherwise, in the order of positions

	mutex sync.Mutex
	made  map[resolved]*Operation
}

// A completed is a receive that began at a position.
type completed struct {
	position uint64
	source   source
	done     bool
}

// A resolved is an operation with the sources of its receives.
type resolved struct {
	base    *Operation
	sources string
}

// hasWildcards reports whether later calls may say more of the messages of o.
func (r *mpiRank) hasWildcards(o *Operation) bool {
	if slices.ContainsFunc(o.Messages, isWildcard) {
		return true
	}
	if !r.cancels || len(o.requests) == 0 {
		return false
	}
	cancelled := r.cancelled()
	return slices.ContainsFunc(o.requests, func(id int64) bool { return cancelled[id] })
}

// findCancelled returns the requests that calls name that cancel some.
func (r *mpiRank) findCancelled() map[int64]bool {
	found := make(map[int64]bool)
	for terminal := range uint32(r.read.Terminals()) {
		if p := r.role(terminal); p != nil && p.Requests == spec.Cancels {
			for _, id := range requestsOf(r.arguments(terminal)) {
				found[id] = true
			}
		}
	}
	return found
}

func isWildcard(m Message) bool {
	return m.Direction == Receive && !m.Blocking && (m.Peer == AnySource || m.Tag == AnyTag)
}

func newWildcards(r *mpiRank) *wildcards {
	w := &wildcards{rank: r, fixed: make(map[int64]source), varied: make(map[int64][]completed),
		made: make(map[resolved]*Operation)}
	wanted := w.requests()
	if len(wanted) == 0 || len(layout.StretchesOf(r.model.trace.Run().Bounded, r.read.Number())) > 0 { // which call completed which receive depends on the order
		return w
	}
	acts := make(map[sequitur.Symbol][]act)
	for terminal := range uint32(r.read.Terminals()) {
		for _, a := range r.acts(terminal) {
			if _, ok := wanted[a.request]; ok {
				acts[terminal] = append(acts[terminal], a)
			}
		}
	}
	w.fix(wanted, acts)
	for s, list := range acts {
		list = slices.DeleteFunc(list, func(a act) bool { _, ok := w.fixed[a.request]; return ok })
		if acts[s] = list; len(list) == 0 {
			delete(acts, s)
		}
	}
	if keep := func(s sequitur.Symbol) bool {
		return acts[s] != nil
	}; len(acts) > 0 && r.count(keep) <= maxRequestCalls {
		w.walk(acts, keep)
	}
	return w
}

// requests returns the ids of the requests of which later calls may say more: true of those
// of receives from any source or with any tag, false of others, which a call cancels.
func (w *wildcards) requests() map[int64]bool {
	r, wanted := w.rank, make(map[int64]bool)
	for id, makers := range r.makers(requestClass) {
		for _, terminal := range makers {
			p := r.role(terminal)
			if p == nil || p.Class != spec.PointToPoint {
				continue
			}
			e := evaluation{mpiRank: r, extent: everywhere}
			if o := e.begun(terminal, p, r.arguments(terminal)); r.hasWildcards(o) {
				wanted[id] = wanted[id] || slices.ContainsFunc(o.Messages, isWildcard)
			}
		}
	}
	return wanted
}

// fix finds the requests of which all receives got the same, or that are all cancelled and
// name the source and the tag.
func (w *wildcards) fix(wanted map[int64]bool, acts map[sequitur.Symbol][]act) {
	type tally struct {
		begun, cancelled, completed uint64
		sources                     map[source]bool
	}
	tallies := make(map[int64]*tally, len(wanted))
	for id := range wanted {
		tallies[id] = &tally{sources: make(map[source]bool)}
	}
	for s, n := range w.rank.read.Occurrences() {
		for _, a := range acts[s] {
			switch t := tallies[a.request]; a.kind {
			case begins:
				t.begun += n
			case completes:
				t.completed += n
				t.sources[a.source] = true
			case cancels:
				t.cancelled += n
			}
		}
	}
	for id, t := range tallies {
		switch {
		case !wanted[id] && t.cancelled == t.begun:
			w.fixed[id] = source{rank: implied, tag: implied, cancelled: true}
		case len(t.sources) == 1 && t.cancelled == 0 && t.begun == t.completed:
			for s := range t.sources {
				w.fixed[id] = s
			}
		}
	}
}

// walk goes through the calls that do something to the requests that are left.
func (w *wildcards) walk(acts map[sequitur.Symbol][]act, keep func(s sequitur.Symbol) bool) {
	for position, s := range w.rank.read.Find(0, keep) {
		for _, a := range acts[s] {
			list := w.varied[a.request]
			if a.kind == begins {
				w.varied[a.request] = append(list, completed{position: position, source: unresolved})
				continue
			}
			if len(list) == 0 || list[len(list)-1].done {
				continue
			}
			switch last := &list[len(list)-1]; a.kind {
			case cancels:
				last.source.cancelled = true
			case completes, frees:
				last.source.rank, last.source.tag, last.done = a.source.rank, a.source.tag, true
			}
		}
	}
}

// of returns where a receive came from that began at a position, with a request.
func (w *wildcards) of(request int64, position uint64) source {
	if s, ok := w.fixed[request]; ok {
		return s
	}
	list := w.varied[request]
	i := sort.Search(len(list), func(i int) bool { return list[i].position >= position })
	if i == len(list) || list[i].position != position {
		return unresolved
	}
	return list[i].source
}

// resolve returns an operation with what is known of its receives, which began at a position.
func (w *wildcards) resolve(o *Operation, position uint64) *Operation {
	var key []byte
	sources := make([]source, len(o.Messages))
	known := false
	for i, m := range o.Messages {
		sources[i] = unresolved
		if m.Direction == Receive && i < len(o.requests) {
			sources[i] = w.of(o.requests[i], position)
		}
		if !isWildcard(m) { // the status says nothing new
			sources[i].rank, sources[i].tag = implied, implied
		}
		known = known || sources[i] != unresolved
		key = binary.AppendVarint(binary.AppendVarint(key, sources[i].rank), sources[i].tag)
		if sources[i].cancelled {
			key = append(key, 1)
		} else {
			key = append(key, 0)
		}
	}
	if !known {
		return o
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	k := resolved{o, string(key)}
	made := w.made[k]
	if made == nil {
		made = w.with(o, sources)
		w.made[k] = made
	}
	return made
}

// with returns an operation with the sources of its messages.
func (w *wildcards) with(o *Operation, sources []source) *Operation {
	made := *o
	made.Messages, made.requests = nil, nil
	for i, m := range o.Messages {
		s := sources[i]
		if m.Peer == AnySource && s.rank != implied {
			if s.rank == w.rank.constants.procNull && !s.cancelled {
				continue
			}
			m.Peer = w.rank.peerOf(m.Communicator, s.rank)
		}
		if m.Tag == AnyTag && s.tag >= 0 {
			m.Tag = s.tag
		}
		m.Cancelled = s.cancelled
		made.Messages = append(made.Messages, m)
		if i < len(o.requests) {
			made.requests = append(made.requests, o.requests[i])
		}
	}
	return &made
}

// peerOf returns the rank in the run of what is a rank in the arguments of a call on a
// communicator.
func (r *mpiRank) peerOf(c *Communicator, rank int64) int {
	if c == nil {
		return NoPeer
	}
	peers := c.members
	if c.remote != nil {
		if _, remote := c.Groups(r.number); remote != nil {
			peers = remote
		}
	}
	return scope{communicator: c, peers: peers}.world(rank)
}
