package otf2

import (
	"slices"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A pending is what a request stands for: what is written when a call completes it.
type pending struct {
	id     uint64
	event  event     // of no kind if nothing can be said
	made   event     // which comes before it
	access *access   // of a window
	file   *transfer // of a file
}

// newID returns a number for a request, or what else OTF2 matches by a number.
func (p *process) newID() uint64 {
	p.lastID++
	return p.lastID
}

// pend adds what a request stands for.
func (p *process) pend(request int64, of pending) {
	list := p.active[request]
	if n := len(p.done) - 1; list == nil && n >= 0 {
		list, p.done = p.done[n], p.done[:n]
	}
	p.active[request] = append(list, of)
}

// drop forgets what a request stands for.
func (p *process) drop(request int64) {
	if list := p.active[request]; list != nil {
		clear(list)
		p.done = append(p.done, list[:0])
		delete(p.active, request)
	}
}

// meaning adds to a call what it does to other processes.
func (p *process) meaning(n *entry) error {
	if p.numbers == nil {
		return nil
	}
	o, numbers := p.numbers.At(n.Position, n.Terminal)
	if o == nil {
		p.local(n)
		return nil
	}
	switch o.Class {
	case spec.OneSided:
		p.accessWindow(n, o)
	case spec.Synchronization:
		p.synchronize(n, o)
	case spec.Access:
		p.accessFile(n, o)
	case spec.Collective:
		p.collective(n, o)
	default:
		if err := p.messages(n, o, numbers); err != nil {
			return err
		}
	}
	for _, more := range o.More {
		p.collective(n, more)
	}
	if n.call.role.Requests == spec.Tests {
		p.tests(n, o)
	}
	for i, id := range o.Completes {
		p.complete(n, o, i, id)
	}
	for _, id := range o.Frees {
		p.drop(id)
	}
	return nil
}

// local takes note of what a call does to objects that means nothing to other processes.
func (p *process) local(n *entry) {
	if spec.OutcomeOf(n.call.trace.function) != spec.Succeeded {
		return
	}
	switch n.call.base {
	case "File_delete":
		p.deleteFile(n)
	case "Comm_set_name":
		if c := p.means.Object(n.Position, n.Terminal, "comm"); c != nil && (c.Parent() != nil || c.IsInter()) {
			p.communicator(c).given = n.call.trace.text("comm_name")
		}
	case "Win_set_name":
		if c := p.means.Object(n.Position, n.Terminal, "win"); c != nil {
			if name := n.call.trace.text("win_name"); name != "" {
				p.window(c).name = name
			}
		}
	}
}

// messages adds those that a call sends and receives.
func (p *process) messages(n *entry, o *semantics.Operation, numbers []uint64) error {
	for i := range o.Messages {
		m := &o.Messages[i]
		request, ok := o.Request(i)
		if ok = ok && !m.Blocking; ok {
			if before, same := o.Request(max(i-1, 0)); i == 0 || !same || before != request {
				p.drop(request) // what is used again is gone
			}
		}
		if m.Direction == semantics.Send {
			p.send(n, m, request, ok)
			continue
		}
		length := m.Bytes // as far as the trace tells
		if numbers != nil && numbers[i] > 0 {
			sent, err := p.numbers.SentBytes(n.Position, o, i)
			if err != nil {
				return err
			}
			length = sent
		}
		p.receive(n, m, length, request, ok)
	}
	return nil
}

// send adds a message that a call sends.
func (p *process) send(n *entry, m *semantics.Message, request int64, requested bool) {
	p.summary.Messages++
	values, ok := p.message(m, m.Bytes)
	switch {
	case !ok:
		p.summary.Omitted++
	case requested:
		values[4] = p.newID()
		n.begin = append(n.begin, event{kinds.isend, values})
		p.pend(request, pending{id: values[4], event: eventOf(kinds.isendDone, values[4])})
	default:
		n.begin = append(n.begin, event{kinds.send, values})
	}
}

// receive adds a message that a call receives, or begins to.
func (p *process) receive(n *entry, m *semantics.Message, length int64, request int64, requested bool) {
	if requested && m.Peer == semantics.AnySource { // it never was complete, or nothing says what came
		id := p.newID()
		n.begin = append(n.begin, eventOf(kinds.irecv, id))
		of := pending{id: id}
		if m.Cancelled {
			of.event = eventOf(kinds.cancelled, id)
		}
		p.pend(request, of)
		return
	}
	values, ok := p.message(m, length)
	switch {
	case !ok:
	case requested:
		id := p.newID()
		values[4] = id
		n.begin = append(n.begin, eventOf(kinds.irecv, id))
		done := event{kinds.irecvDone, values}
		if m.Cancelled {
			done = eventOf(kinds.cancelled, id)
		}
		p.pend(request, pending{id: id, event: done})
	default:
		n.end = append(n.end, event{kinds.receive, values})
	}
}

// message returns what OTF2 says of a message: the rank of its other end in the communicator, that, the tag, and how
// many bytes it has; false if that is not known, or was not chosen.
func (p *process) message(m *semantics.Message, length int64) (values [6]uint64, ok bool) {
	if m.Communicator == nil || m.Peer < 0 {
		return values, false
	}
	c := p.communicator(m.Communicator)
	peer, ok := p.peerOf(c, p.rank.Number, m.Peer)
	tag := uint64(unknown32)
	if m.Tag >= 0 {
		tag = uint64(m.Tag)
	}
	return [6]uint64{peer, c.id, tag, p.size(length)}, ok
}

// size returns a number of bytes, 0 if it is not known.
func (p *process) size(bytes int64) uint64 {
	if bytes < 0 {
		p.summary.Unsized++
		return 0
	}
	return uint64(bytes)
}

// tests adds the requests that a call has found not to be complete.
func (p *process) tests(n *entry, o *semantics.Operation) {
	of := n.call.trace.numbers("array_of_requests")
	if id, ok := n.call.trace.number("request"); ok {
		of = []int64{id}
	}
	for _, id := range of {
		if slices.Contains(o.Completes, id) {
			continue
		}
		for i := range p.active[id] {
			n.end = append(n.end, eventOf(kinds.tested, p.active[id][i].id))
		}
	}
}

// complete adds what ends with a call, by the i-th request that it completes.
func (p *process) complete(n *entry, o *semantics.Operation, i int, request int64) {
	for _, of := range p.active[request] {
		switch {
		case of.access != nil:
			n.end = of.access.complete(n.end, false)
		case of.file != nil:
			p.completeTransfer(n, of.file, o, i)
		default:
			if of.made.kind != nil {
				n.end = append(n.end, of.made)
			}
			if of.event.kind != nil {
				n.end = append(n.end, of.event)
			}
		}
	}
	p.drop(request)
}

// collective adds a collective operation that a call begins.
func (p *process) collective(n *entry, o *semantics.Operation) {
	switch made := p.makes(n); {
	case o.Role.Data != "":
		p.exchange(n, o)
	case o.Class != spec.Collective:
	case made == "win" || o.Role.On == "win":
		p.collectiveOnWindow(n, o, made)
	case made == "file" || o.Role.On == "fh":
		p.collectiveOnFile(n, o, made)
	case made == "comm" || o.Role.Frees:
		p.collectiveOnComm(n, o)
	}
}

// makes returns the class of the object that a call makes, empty if it makes none.
func (p *process) makes(n *entry) string {
	if n.call.role.Makes == 0 {
		return ""
	}
	return n.call.class
}

// exchange adds a collective operation on data.
func (p *process) exchange(n *entry, o *semantics.Operation) {
	op, ok := opOf(o.Role.Data)
	if !ok || o.Communicator == nil {
		return
	}
	c := p.communicator(o.Communicator)
	values := [6]uint64{op, c.id, p.rootOf(c, o), p.size(o.Sent), p.size(o.Received)}
	request, nonblocking := o.Completion()
	if !nonblocking {
		n.begin = append(n.begin, eventOf(kinds.collectiveBegin))
		n.end = append(n.end, event{kinds.collectiveEnd, values})
		return
	}
	p.begins(n, request, event{kinds.icollectiveDone, values}, event{})
}

// begins adds a collective operation that a request completes, with what comes before its end.
func (p *process) begins(n *entry, request int64, done, made event) {
	id := p.newID()
	done.values[5] = id
	n.begin = append(n.begin, eventOf(kinds.icollective, id))
	p.drop(request)
	p.pend(request, pending{id: id, event: done, made: made})
}

// rootOf returns the root of a collective operation, as a rank in its communicator.
func (p *process) rootOf(c *communicator, o *semantics.Operation) uint64 {
	switch self := p.rank.Number; {
	case !hasRoot(o.Role.Data):
		return unknown32
	case c.IsInter() && o.Root == self:
		return constants.rootSelf
	case c.IsInter() && o.Root < 0:
		return constants.rootThisGroup
	default:
		if root, ok := p.peerOf(c, self, o.Root); ok {
			return root
		}
	}
	return unknown32
}

// collectiveOnComm adds a call that makes a communicator, or frees one.
func (p *process) collectiveOnComm(n *entry, o *semantics.Operation) {
	var done, made event
	on, op := o.Communicator, constants.makes
	if o.Role.Frees {
		if on == nil {
			return
		}
		c := p.communicator(on)
		c.flags, op = constants.commEvents, constants.frees
		made = eventOf(kinds.commFreed, c.id)
	} else if object := p.means.Object(n.Position, n.Terminal, n.call.makes); object != nil && !isSelf(object) {
		c := p.communicator(object)
		c.flags = constants.commEvents
		made = eventOf(kinds.commMade, c.id)
		if n.call.base == "Cart_create" {
			c.grid = &grid{n.call.trace.numbers("dims"), n.call.trace.numbers("periods")}
		}
		if on == nil {
			on = object
		}
	}
	if on == nil {
		return
	}
	done = eventOf(kinds.collectiveEnd, op, p.communicator(on).id, unknown32, 0, 0)
	if request, ok := o.Completion(); ok {
		done.kind = kinds.icollectiveDone
		p.begins(n, request, done, made)
		return
	}
	n.begin = append(n.begin, eventOf(kinds.collectiveBegin))
	if made.kind != nil {
		n.end = append(n.end, made)
	}
	n.end = append(n.end, done)
}
