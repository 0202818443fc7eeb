package replay

import (
	"strings"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A tiKey is what a trace of SimGrid names a request by: source, destination and tag. Several
// requests may have the same; then the one that was begun first is meant.
type tiKey struct{ source, destination, tag int64 }

// tiRequests are the requests of a rank of SimGrid, which its calls do not name as MPI's do.
type tiRequests struct {
	rank       *rank
	collective int32   // the slot of nonblocking collective operations
	slots      []int32 // this, and the others in the order in which calls were first seen
}

// A tiWait is what an action does to requests that it does not name.
type tiWait uint8

const (
	tiNothing tiWait = iota
	tiAll            // waits for all
	tiAny            // takes one that is complete
	tiTested         // takes those that are complete
)

func newTIRequests(r *rank) *tiRequests {
	slot := r.slot(slotKey{kind: tiCollectiveSlot})
	return &tiRequests{rank: r, collective: slot, slots: []int32{slot}}
}

func (t *tiRequests) slot(k tiKey) int32 {
	n := len(t.rank.slots)
	slot := t.rank.slot(slotKey{kind: tiSlot, ti: k})
	if int(slot) == n {
		t.slots = append(t.slots, slot)
	}
	return slot
}

// compile adds to an op what an action does to requests.
func (t *tiRequests) compile(o *op, meaning *semantics.Operation, terminal uint32) {
	call := t.rank.calls.Call(terminal)
	number := func(name string) int64 {
		if v, ok := call.Arg(name); ok {
			return v.Int()
		}
		return 0
	}
	switch name := strings.ToLower(call.Function.Name); name {
	case "wait":
		if tag := number("tag"); tag < 0 && tag != anyTagTI {
			o.completes = []int32{t.collective}
			return
		}
		o.completes = []int32{t.slot(tiKey{number("source"), number("destination"), number("tag")})}
	case "waitall":
		o.waits = tiAll
	case "waitany", "waitsome":
		o.waits = tiAny
	case "test", "testall", "testany", "testsome":
		o.waits = tiTested
	default:
		if len(o.collectives) > 0 && meaning.Role.Nonblocking {
			o.begins = []int32{t.collective}
			o.collectives[0].slot = t.collective
		}
		for i := range meaning.Messages {
			t.begin(o, i, meaning, number)
		}
	}
}

// anyTagTI is any tag.
const anyTagTI = -444

// begin adds the request of a message that does not block.
func (t *tiRequests) begin(o *op, i int, meaning *semantics.Operation, number func(name string) int64) {
	m := &meaning.Messages[i]
	if m.Blocking || m.Direction != semantics.Send && m.Direction != semantics.Receive {
		return
	}
	self := int64(t.rank.number)
	k := tiKey{self, number("destination"), number("tag")}
	if m.Direction == semantics.Receive {
		k.source, k.destination = number("source"), self
		if meaning.Role.Requests == spec.Starts && number("destination") == self && m.Peer >= 0 { // Start
			k.source = int64(m.Peer)
		}
	}
	slot := t.slot(k)
	o.begins = append(o.begins, slot)
	if i < len(o.messages) {
		o.messages[i].slot = slot
	}
}

// special does what an action does to requests that it does not name.
func (t *tiRequests) special(s *strand, o *op) {
	if o.waits == tiNothing {
		return
	}
	for _, number := range t.slots {
		slot := &t.rank.slots[number]
		for {
			first := slot.last
			if slot.older.len() > 0 {
				first = *slot.older.first()
			}
			if first == nil || o.waits != tiAll && (first.left > 0 || first.done > s.busy) {
				break
			}
			r, _ := t.rank.take(number)
			if s.waitFor(r); o.waits == tiAny {
				return
			}
		}
	}
}

// tiTests are the actions of which it depends on the time which requests they complete.
var tiTests = map[string]bool{"waitany": true, "waitsome": true, "test": true, "testall": true,
	"testany": true, "testsome": true}
