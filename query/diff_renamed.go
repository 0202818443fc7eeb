package query

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// Where addresses, or which messages and requests come first, do not count, the numbers of requests do not
// either: calls of two traces name the same request if it was made by calls that stand for each other.

// renames reports whether the numbers of requests do not count.
func (g *Ignored) renames() bool { return g.Addresses || g.Completions }

// isRenamed reports whether a parameter is a request or a message, or several.
func isRenamed(p cst.Param) bool {
	t := p.Type
	for t.Kind == cst.KindArray {
		t = *t.Elem
	}
	return t.Kind == cst.KindHandle && (t.Class == "request" || t.Class == "message")
}

// A handleUse is a request or a message in a call.
type handleUse struct {
	id   int64
	made bool // by the call
}

// A place is where a message comes from, or goes to.
type messagePlace struct{ comm, peer, tag int64 }

// A renamedCall is what of a call its id does not say.
type renamedCall struct {
	uses     []handleUse
	finds    bool // a probe, which found the message from there
	receives bool // one from there
	takes    bool // one that a probe gave
	sends    bool // one to there
	polls    bool // for messages or operations
	tests    bool // operations, which are complete
	asks     bool // for what MPI knows, and changes nothing
	place    messagePlace
}

// A renamedSide is the calls of a rank in one of the traces, as they are gone through.
type renamedSide struct {
	walker *sequitur.Walker
	ids    []uint32
	calls  []renamedCall
	run    sequitur.Run
	at     uint64
	found  map[messagePlace]bool // by probes, and not received yet
	source *messagePlace         // of the message that was received last, if nothing came since but questions
	free   map[int64]bool        // handles that calls made whose order does not count
	passed *uint64               // the first of these calls
}

// renamedCalls returns a rank of the side.
func (s *diffSide) renamedCalls(r *comparedCalls, ids []uint32) *renamedSide {
	x := &renamedSide{walker: r.Walk(0), ids: ids, calls: make([]renamedCall, r.Terminals()),
		found: make(map[messagePlace]bool), free: make(map[int64]bool)}
	for terminal := range x.calls {
		call := r.Call(uint32(terminal))
		c := &x.calls[terminal]
		for i, p := range call.Function.Params {
			if isRenamed(p) {
				c.uses = appendUses(c.uses, call.Args[i], p.Direction == cst.Out)
			}
		}
		if s.ignore.Completions {
			c.completes(&call)
		}
	}
	x.next()
	return x
}

// appendUses appends those of a handle or an array of them that are not null.
func appendUses(list []handleUse, v cst.Value, made bool) []handleUse {
	if v.Kind() == cst.KindArray {
		for i := range v.Len() {
			list = appendUses(list, v.Index(i), made)
		}
	} else if v.Int() >= 0 {
		list = append(list, handleUse{v.Int(), made})
	}
	return list
}

// completes sets what a call has to do with messages that probes find, and with what is complete.
func (c *renamedCall) completes(call *trace.Call) {
	role := spec.RoleOf(call.Function.Name)
	peer, tag := "source", "tag"
	c.asks = isQuestion(call.Function)
	switch {
	case role.Class == spec.Completion:
		c.polls = role.Requests == spec.Tests
		c.tests = c.polls && !foundNothing(call)
		return
	case role.Class == spec.Probe:
		c.polls, c.finds = true, !foundNothing(call)
	case role.Persistent || role.Sends != nil && role.Receives != nil:
		return
	case role.Receives != nil:
		peer, tag = role.Receives.Peer, role.Receives.Tag
		c.receives, c.takes = peer != "", peer == ""
	case role.Sends != nil:
		peer, tag = role.Sends.Peer, ""
		c.sends = true
	}
	status := cst.Status{Source: -1, Tag: -1}
	for i, p := range call.Function.Params {
		switch v := call.Args[i]; {
		case p.Name == "comm" && p.Type.Kind == cst.KindHandle:
			c.place.comm = v.Int()
		case p.Name == peer && p.Type.Kind == cst.KindRank:
			c.place.peer = v.Int()
		case p.Name == tag && p.Type.Kind == cst.KindTag:
			c.place.tag = v.Int()
		case p.Type.Kind == cst.KindStatus:
			status = v.Status()
		}
	}
	if c.finds && c.place.peer < 0 {
		c.place.peer = status.Source
	}
	if c.finds && c.place.tag < 0 {
		c.place.tag = status.Tag
	}
}

// next goes to the next call that counts, in its order.
func (x *renamedSide) next() {
	for x.run.Count > 0 || x.fetch() {
		c := &x.calls[x.run.Symbol]
		switch {
		case x.ids[x.run.Symbol] == ignoredCall:
			if c.polls {
				x.source = nil
			}
			if c.finds {
				x.found[c.place] = true
			}
			x.at += x.run.Count
			x.run.Count = 0
		case c.takes || c.receives && x.found[c.place]:
			delete(x.found, c.place)
			x.source = &messagePlace{comm: c.place.comm, peer: c.place.peer}
			x.pass()
		default:
			return
		}
	}
}

func (x *renamedSide) fetch() bool {
	x.run = x.walker.Next()
	return x.run.Count > 0
}

// pass goes past a call whose order does not count.
func (x *renamedSide) pass() {
	if x.passed == nil {
		at := x.at
		x.passed = &at
	}
	for _, u := range x.calls[x.run.Symbol].uses {
		if u.made {
			x.free[u.id] = true
		}
	}
	x.at++
	x.run.Count--
}

// passes goes past the next call if its order does not count: it sends something back to the source of
// the message that was received last, or it is a test that finds operations complete, or a question.
func (x *renamedSide) passes() bool {
	if x.run.Count == 0 {
		return false
	}
	c := &x.calls[x.run.Symbol]
	answers := c.sends && x.source != nil && (messagePlace{comm: c.place.comm, peer: c.place.peer}) == *x.source
	if !answers && !c.tests && !c.asks {
		return false
	}
	if c.tests {
		x.source = nil
	}
	x.pass()
	x.next()
	return true
}

// take goes past as many calls that stand for those of the other trace.
func (x *renamedSide) take(n uint64) {
	if !x.calls[x.run.Symbol].asks {
		x.source = nil
	}
	x.at += n
	if x.run.Count -= n; x.run.Count == 0 {
		x.next()
	}
}

// renamedPrefix returns after how many calls two ranks first differ, by the ids of calls and by which
// requests they name.
func (d *differ) renamedPrefix(x, y *comparedCalls, ofX, ofY []uint32) positions {
	a, b := d.a.renamedCalls(x, ofX), d.b.renamedCalls(y, ofY)
	toB, toA := make(map[int64]int64), make(map[int64]int64)
	same := func(u, v handleUse) bool {
		switch {
		case u.made:
			if before, ok := toB[u.id]; ok {
				delete(toA, before)
			}
			if before, ok := toA[v.id]; ok {
				delete(toB, before)
			}
			delete(a.free, u.id)
			delete(b.free, v.id)
		case a.free[u.id] || b.free[v.id]:
			return a.free[u.id] && b.free[v.id]
		default:
			ofU, known := toB[u.id]
			ofV, also := toA[v.id]
			if known || also {
				return known && also && ofU == v.id && ofV == u.id
			}
		}
		toB[u.id], toA[v.id] = v.id, u.id
		return true
	}
	for a.run.Count > 0 || b.run.Count > 0 {
		if a.run.Count == 0 || b.run.Count == 0 || ofX[a.run.Symbol] != ofY[b.run.Symbol] {
			if a.passes() || b.passes() {
				continue
			}
			return positions{a.at, b.at}
		}
		if !slices.EqualFunc(a.calls[a.run.Symbol].uses, b.calls[b.run.Symbol].uses, same) {
			if a.calls[a.run.Symbol].tests && a.passes() {
				continue
			}
			return positions{a.at, b.at}
		}
		n := min(a.run.Count, b.run.Count)
		a.take(n)
		b.take(n)
	}
	if (a.passed != nil || b.passed != nil) && !sameCounts(x, y, ofX, ofY) {
		return positions{passedAt(a), passedAt(b)}
	}
	return positions{a.at, b.at}
}

// passedAt returns where the first call is whose order does not count.
func passedAt(x *renamedSide) uint64 {
	if x.passed == nil {
		return x.at
	}
	return *x.passed
}

// sameCounts reports whether two ranks make the calls of each id equally often.
func sameCounts(x, y *comparedCalls, ofX, ofY []uint32) bool {
	counts := make(map[uint32]int64)
	for s, n := range x.Occurrences() {
		counts[ofX[s]] += int64(n)
	}
	for s, n := range y.Occurrences() {
		counts[ofY[s]] -= int64(n)
	}
	delete(counts, ignoredCall)
	for _, n := range counts {
		if n != 0 {
			return false
		}
	}
	return true
}
