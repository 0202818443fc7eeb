package semantics

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/requestid"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// implied is the source or the tag of a status that is what was asked for, or not known.
const implied = -9

// operation returns what a call with a terminal means.
func (e *evaluation) operation(terminal uint32) *Operation {
	p := e.role(terminal)
	if p == nil {
		return nil
	}
	args := e.arguments(terminal)
	switch {
	case p.Requests == spec.Starts:
		return e.started(p, args)
	case p.Persistent:
		return nil // it begins when it is started
	}
	return e.begun(terminal, p, args)
}

// newOperation returns one of a role that has nothing else yet.
func newOperation(p *spec.Role) *Operation {
	return &Operation{Class: p.Class, Role: p, Root: -1, Found: -1, Takes: -1, completion: -1}
}

// found says which message a probe has found.
func (e *evaluation) found(o *Operation, args arguments, s scope) {
	if flag, ok := args.find("flag", cst.KindInt); ok && flag.Int() == 0 {
		return
	}
	var as Operation
	if e.message(&as, spec.RoleOf("MPI_Recv"), Receive, args, s); len(as.Messages) == 0 {
		return
	}
	o.Probed = &as.Messages[0]
	if v, ok := args.find("message", cst.KindHandle); ok {
		o.Found = max(v.Int(), -1)
	}
}

// scopeOf returns what the communicator, window or file of a call means.
func (e *evaluation) scopeOf(p *spec.Role, args arguments) scope {
	switch {
	case takes(p):
		return e.probed(args)
	case p.Class == spec.Access && !p.Collective:
		// Not all members take part.
	case p.Makes == spec.CreateGroup, p.Makes != 0 && p.On == "": // of the members of what it makes
		for _, name := range []string{"newcomm", "newintercomm"} {
			if v, ok := args.find(name, cst.KindHandle); ok && v.Int() >= 0 {
				return e.scope(args.class(name), v.Int())
			}
		}
	case p.On != "":
		if v, ok := args.find(p.On, cst.KindHandle); ok {
			return e.scope(args.class(p.On), v.Int())
		}
	}
	return scope{}
}

// begun returns what begins when an operation of a role does.
func (e *evaluation) begun(terminal uint32, p *spec.Role, args arguments) *Operation {
	o := newOperation(p)
	s := e.scopeOf(p, args)
	o.Communicator = s.communicator
	switch {
	case p.Requests == spec.Waits || p.Requests == spec.Tests:
		o.Completes = e.completed(p, args)
		o.Received = readBytes(args)
	case p.Requests == spec.Releases:
		o.Frees = requestsOf(args)
	case p.Data != "":
		e.collective(o, p, args, s)
		o.data = &dataCall{e.position, terminal, e.extent == everywhere, 0}
	case p.Class == spec.Access && p.Reads && (p.Nonblocking || p.Split):
		// What completes it tells how much it has read.
	case p.Class == spec.Access && p.Reads:
		if o.Received = args.number("bytes", cst.KindInt); o.Received < 0 { // the file did not end before
			o.Received = product(args.number("count", cst.KindInt), e.sizeOf(args, "datatype"))
		}
	case p.Class == spec.Access && p.Writes:
		o.Sent = product(args.number("count", cst.KindInt), e.sizeOf(args, "datatype"))
	case p.Class == spec.OneSided:
		e.oneSided(o, p, args, s)
	case p.Class == spec.Probe:
		e.found(o, args, s)
	case p.Class == spec.Synchronization:
		o.Group = e.exposure(args)
	default:
		if p.Sends != nil {
			e.message(o, p, Send, args, s)
		}
		if p.Receives != nil {
			e.message(o, p, Receive, args, s)
		}
	}
	if p.Nonblocking {
		o.Begins = activeOf(requestsOf(args))
		if len(o.Begins) == 1 && o.IsCollective() {
			o.completion = o.Begins[0]
		}
	}
	return o
}

// readBytes returns how many bytes the reads of files have got that a call completes.
func readBytes(args arguments) (sum int64) {
	if v, ok := args.find(spec.SizeParam("request"), cst.KindInt); ok {
		return max(v.Int(), Unknown)
	}
	list, _ := args.numbers(spec.SizeParam("array_of_requests"))
	for _, n := range list {
		if n != -1 { // of something else
			sum = plus(sum, n)
		}
	}
	return sum
}

// activeOf returns those of some requests that are no null requests.
func activeOf(ids []int64) []int64 {
	return slices.DeleteFunc(ids, func(id int64) bool { return id < 0 })
}

// takes reports whether a function receives the message that a probe found.
func takes(p *spec.Role) bool { return p.Receives != nil && p.Receives.Peer == "" }

// sizeOf returns the size of a datatype that is an argument.
func (e *evaluation) sizeOf(args arguments, name string) int64 {
	if size, ok := args.toldSize(name, 0); ok {
		return size
	}
	v, ok := args.find(name, cst.KindHandle)
	if !ok {
		return Unknown
	}
	return e.size(v.Int())
}

// message adds a message to an operation, if there is one.
func (e *evaluation) message(o *Operation, p *spec.Role, d Direction, args arguments, s scope) {
	m := Message{Direction: d, Blocking: !p.Nonblocking &&
		!p.Persistent, Peer: NoPeer, Tag: NoTag, Communicator: s.communicator}
	var status source
	q := p.Sends
	if d == Receive {
		q, status = p.Receives, statusOf(args)
		m.Peer, m.Tag = AnySource, AnyTag
	} else {
		m.Mode = p.Mode
	}
	if v, ok := args.find(q.Peer, cst.KindRank); ok {
		switch rank := v.Int(); {
		case rank == e.constants.procNull || s.null:
			return
		case rank == e.constants.anySource && d == Receive:
			m.Peer = AnySource
		default:
			m.Peer = s.world(rank)
		}
	} else if v, ok := args.find("message", cst.KindHandle); ok && takes(p) {
		if v.Int() == e.constants.noMessage {
			return
		}
		o.Takes = max(v.Int(), -1)
		status = e.take(o, v.Int(), status)
	}
	if v, ok := args.find(q.Tag, cst.KindTag); ok {
		switch tag := v.Int(); {
		case tag == e.constants.anyTag && d == Receive:
			m.Tag = AnyTag
		case tag >= 0:
			m.Tag = tag
		default:
			m.Tag = NoTag
		}
	}
	if m.Peer == AnySource && d == Receive && status.rank != implied {
		if status.rank == e.constants.procNull {
			return
		}
		m.Peer = s.world(status.rank)
	}
	if m.Tag == AnyTag && status.tag >= 0 {
		m.Tag = status.tag
	}
	_, m.Partitioned = args.find("partitions", cst.KindInt)
	m.Elements = e.elements(args, q.Count)
	m.Bytes = product(m.Elements, e.sizeOf(args, q.Type))
	o.Messages = append(o.Messages, m)
	if v, ok := args.find("request", cst.KindHandle); ok {
		o.requests = append(o.requests, v.Int())
	}
}

// elements returns how many elements a message has: those of all partitions, if it has some.
func (e *evaluation) elements(args arguments, name string) int64 {
	n := max(args.number(name, cst.KindInt), Unknown)
	if v, ok := args.find("partitions", cst.KindInt); ok {
		n = product(v.Int(), n)
	}
	return n
}

// oneSided adds what a one-sided operation accesses.
func (e *evaluation) oneSided(o *Operation, p *spec.Role, args arguments, s scope) {
	q := p.Accesses
	rank := args.number(q.Peer, cst.KindRank)
	if rank == e.constants.procNull {
		return
	}
	m := Message{Direction: accessDirection(p), Peer: s.world(rank), Elements: 1, Communicator: s.communicator}
	count, datatype := q.Count, q.Type
	if op, ok := args.find("op", cst.KindHandle); ok && m.Direction == Fetch && op.Int() == e.constants.noOp {
		m.Direction = Get
		if count != "" {
			count, datatype = "result_count", "result_datatype"
		}
	}
	if count != "" {
		m.Elements = max(args.number(count, cst.KindInt), Unknown)
	}
	m.Bytes = product(m.Elements, e.sizeOf(args, datatype))
	o.Messages = []Message{m}
}

// accessDirection returns where the bytes of a one-sided operation go.
func accessDirection(p *spec.Role) Direction {
	switch {
	case p.Reads && p.Writes:
		return Fetch
	case p.Reads:
		return Get
	case p.Combines:
		return Accumulate
	}
	return Put
}

// probed returns the scope of a message that a probe found, if all probes that give such a
// message are on one communicator.
func (e *evaluation) probed(args arguments) scope {
	if v, ok := args.find("message", cst.KindHandle); ok {
		if comm, ok := e.probes().comms[v.Int()]; ok {
			return e.scope(commClass, comm)
		}
	}
	return scope{}
}

// take returns where a message of a probe came from that an operation receives, whose own
// status says less or the same. Where that depends on the position, the operation says so.
func (e *evaluation) take(o *Operation, message int64, status source) source {
	p := e.probes()
	f, ok := p.fixed[message]
	if !ok {
		if len(p.makers[message]) > 0 {
			o.taken = &taken{message, status}
		}
		return status
	}
	if f.source.rank != implied {
		status.rank = f.source.rank
	}
	if f.source.tag != implied {
		status.tag = f.source.tag
	}
	return status
}

// started returns what the persistent requests that a call starts are.
func (e *evaluation) started(p *spec.Role, args arguments) *Operation {
	o := newOperation(p)
	for i, id := range requestsOf(args) {
		begun := e.requestBegun(id)
		if begun != nil && begun.IsCollective() {
			begun.completion = id
		}
		switch {
		case begun == nil:
		case begun.Class != spec.Collective:
			if len(o.Messages) == 0 && o.Class != spec.Collective {
				o.Communicator = begun.Communicator
			}
			o.Messages = append(o.Messages, begun.Messages...)
			o.requests = append(o.requests, begun.requests...)
		case i == 0 || o.Class != spec.Collective && len(o.Messages) == 0:
			o = begun
		default:
			o.More = append(o.More, begun)
		}
	}
	o.Begins = activeOf(requestsOf(args))
	return o
}

// requestsOf returns the requests that a call is given.
func requestsOf(args arguments) []int64 {
	if v, ok := args.find("request", cst.KindHandle); ok {
		return []int64{v.Int()}
	}
	list, _ := args.numbers("array_of_requests")
	return list
}

// requestBegun returns what the persistent request is that has an id at the position, nil if
// that is not known.
func (e *evaluation) requestBegun(id int64) *Operation {
	if pool, _ := requestid.Split(id); pool < 0 || e.blind {
		return nil
	}
	makers := e.requests().persistent[id]
	if len(makers) == 0 {
		return nil
	}
	if len(makers) == 1 {
		made := evaluation{mpiRank: e.mpiRank, position: e.position, extent: everywhere}
		if o := made.persistent(makers[0]); made.extent == everywhere {
			return o
		}
	}
	position, terminal, from, until, ok := e.requests().made(object{requestClass, id}, e.position)
	e.within(from, until)
	if !ok {
		return nil
	}
	made := evaluation{mpiRank: e.mpiRank, position: position, extent: everywhere}
	return made.persistent(terminal)
}

// persistent returns what a persistent request is that a call makes.
func (e *evaluation) persistent(terminal uint32) *Operation {
	args := e.arguments(terminal)
	o := e.begun(terminal, e.role(terminal), args)
	if o.Class == spec.Collective && o.Communicator != nil {
		o.Communicator = e.kindOf(o, args.function.Name)
	}
	return o
}
