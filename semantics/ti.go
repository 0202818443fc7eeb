package semantics

import (
	"slices"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/ti"
)

// Numbers of SimGrid that stand for several.
const (
	tiAnySource = -333 // or no process
	tiAnyTag    = -444
)

// tiSizes are the sizes of SimGrid's datatypes in bytes, by their numbers. A derived
// datatype is −1.
var tiSizes = [...]int8{
	0: 8, 1: 4, 2: 1, 3: 2, 4: 8, 5: 4, 6: 1, // double, int, char, short, long, float, byte
	7: 8, 8: 1, 9: 1, 10: 2, 11: 4, 12: 8, 13: 8, // long long, signed and unsigned char, unsigned short … long long
	14: 16, 15: 4, 16: 1, // long double, wchar, bool
	17: 1, 18: 2, 19: 4, 20: 8, 21: 1, 22: 2, 23: 4, 24: 8, // int8 … int64, uint8 … uint64
	25: 8, 26: 16, 27: 32, 28: 8, 29: 8, // complex of float, double, long double; aint, offset
	30: 8, 31: 16, 32: 16, 33: 8, 34: 8, // of MINLOC: float, long, double, short and int with int
	35: 8, 36: 16, 37: 16, // pairs of float, double, long
	38: 4, 39: 4, 40: 8, 41: 16, // real, real4, real8, real16
	42: 8, 43: 16, 44: 16, // complex8, complex16, complex32
	45: 4, 46: 2, 47: 4, 48: 8, 49: 16, // integer1, which SimGrid gives 4 bytes, … integer16
	50: 32, 57: 1, 59: 8, // long double and int, packed, count
}

// tiSize returns the size of a datatype of SimGrid in bytes, or Unknown.
func tiSize(datatype int64) int64 {
	if datatype < 0 || datatype >= int64(len(tiSizes)) || tiSizes[datatype] == 0 {
		return Unknown
	}
	return int64(tiSizes[datatype])
}

// isTI reports whether functions are actions of SimGrid.
func isTI(functions []cst.Function) bool {
	return len(functions) > 0 && !slices.ContainsFunc(functions, func(f cst.Function) bool {
		_, ok := ti.Lookup(f)
		return !ok
	})
}

// A tiDialect says what the actions of SimGrid mean.
type tiDialect struct {
	model   *Model
	actions []*tiAction // by function; nil if it means nothing
}

// A tiAction says what an action means.
type tiAction struct {
	class     spec.Class
	direction Direction // of the message of a PointToPoint or OneSided
	mode      string    // of [Message]
	blocking  bool
	write     bool // of an Access
	operation func(d *tiRank, a *tiAction, args arguments) *Operation
}

func newTI(m *Model, functions []cst.Function) *tiDialect {
	d := &tiDialect{model: m, actions: make([]*tiAction, len(functions))}
	for i, f := range functions {
		d.actions[i] = tiActions[f.Name]
	}
	return d
}

// A tiRank says what the actions of a rank mean.
type tiRank struct {
	*tiDialect
	read   *reprise.Rank
	number int
}

func (d *tiDialect) rank(read *reprise.Rank, number int) (meanings, error) {
	r := &tiRank{d, read, number}
	return newMemo(read, r.operation), nil
}

func (r *tiRank) operation(terminal uint32) *Operation {
	a := r.actions[r.read.Function(terminal)]
	if a == nil {
		return nil
	}
	c := r.read.Call(terminal)
	return a.operation(r, a, arguments{c.Function, c.Args})
}

// tiActions are the actions that mean something, by their names.
var tiActions = map[string]*tiAction{
	"send":     {class: spec.PointToPoint, direction: Send, blocking: true, operation: (*tiRank).message},
	"isend":    {class: spec.PointToPoint, direction: Send, operation: (*tiRank).message},
	"bsend":    {class: spec.PointToPoint, direction: Send, mode: "buffered", blocking: true, operation: (*tiRank).message},
	"ibsend":   {class: spec.PointToPoint, direction: Send, mode: "buffered", operation: (*tiRank).message},
	"Ssend":    {class: spec.PointToPoint, direction: Send, mode: "synchronous", blocking: true, operation: (*tiRank).message},
	"ISsend":   {class: spec.PointToPoint, direction: Send, mode: "synchronous", operation: (*tiRank).message},
	"recv":     {class: spec.PointToPoint, direction: Receive, blocking: true, operation: (*tiRank).message},
	"irecv":    {class: spec.PointToPoint, direction: Receive, operation: (*tiRank).message},
	"sendRecv": {class: spec.PointToPoint, blocking: true, operation: (*tiRank).sendRecv},
	"Start":    {class: spec.PointToPoint, operation: (*tiRank).start},

	"wait":     {class: spec.Completion, operation: (*tiRank).plain},
	"waitall":  {class: spec.Completion, operation: (*tiRank).plain},
	"waitAny":  {class: spec.Completion, operation: (*tiRank).plain},
	"test":     {class: spec.Completion, operation: (*tiRank).plain},
	"testall":  {class: spec.Completion, operation: (*tiRank).plain},
	"testany":  {class: spec.Completion, operation: (*tiRank).plain},
	"testsome": {class: spec.Completion, operation: (*tiRank).plain},

	"Put":              {class: spec.OneSided, direction: Put, operation: (*tiRank).message},
	"Rput":             {class: spec.OneSided, direction: Put, operation: (*tiRank).message},
	"Get":              {class: spec.OneSided, direction: Get, operation: (*tiRank).message},
	"Rget":             {class: spec.OneSided, direction: Get, operation: (*tiRank).message},
	"Accumulate":       {class: spec.OneSided, direction: Accumulate, operation: (*tiRank).message},
	"Raccumulate":      {class: spec.OneSided, direction: Accumulate, operation: (*tiRank).message},
	"Get_accumulate":   {class: spec.OneSided, direction: Fetch, operation: (*tiRank).message},
	"Rget_accumulate":  {class: spec.OneSided, direction: Fetch, operation: (*tiRank).message},
	"Compare_and_swap": {class: spec.OneSided, direction: Fetch, operation: (*tiRank).message},

	"Win_fence":           {class: spec.Collective, operation: (*tiRank).plain},
	"Win_post":            {class: spec.Synchronization, operation: (*tiRank).plain},
	"Win_start":           {class: spec.Synchronization, operation: (*tiRank).plain},
	"Win_complete":        {class: spec.Synchronization, operation: (*tiRank).plain},
	"Win_wait":            {class: spec.Synchronization, operation: (*tiRank).plain},
	"Win_lock":            {class: spec.Synchronization, operation: (*tiRank).plain},
	"Win_unlock":          {class: spec.Synchronization, operation: (*tiRank).plain},
	"Win_lock_all":        {class: spec.Synchronization, operation: (*tiRank).plain},
	"Win_unlock_all":      {class: spec.Synchronization, operation: (*tiRank).plain},
	"Win_flush":           {class: spec.Synchronization, operation: (*tiRank).plain},
	"Win_flush_local":     {class: spec.Synchronization, operation: (*tiRank).plain},
	"Win_flush_all":       {class: spec.Synchronization, operation: (*tiRank).plain},
	"Win_flush_local_all": {class: spec.Synchronization, operation: (*tiRank).plain},

	"comm_split": {class: spec.Collective, operation: (*tiRank).plain},
	"comm_dup":   {class: spec.Collective, operation: (*tiRank).plain},

	"IO - read":          {class: spec.Access, operation: (*tiRank).access},
	"IO - read_shared":   {class: spec.Access, operation: (*tiRank).access},
	"IO - read_all":      {class: spec.Access, operation: (*tiRank).access},
	"IO - read_ordered":  {class: spec.Access, operation: (*tiRank).access},
	"IO - read_at_all":   {class: spec.Access, operation: (*tiRank).access},
	"IO - write":         {class: spec.Access, write: true, operation: (*tiRank).access},
	"IO - write_shared":  {class: spec.Access, write: true, operation: (*tiRank).access},
	"IO - write_all":     {class: spec.Access, write: true, operation: (*tiRank).access},
	"IO - write_ordered": {class: spec.Access, write: true, operation: (*tiRank).access},
	"IO - write_at_all":  {class: spec.Access, write: true, operation: (*tiRank).access},

	"barrier": tiCollective, "ibarrier": tiCollective, "bcast": tiCollective, "ibcast": tiCollective,
	"reduce": tiCollective, "ireduce": tiCollective, "allreduce": tiCollective, "iallreduce": tiCollective,
	"scan": tiCollective, "iscan": tiCollective, "exscan": tiCollective, "iexscan": tiCollective,
	"gather": tiCollective, "igather": tiCollective, "scatter": tiCollective, "iscatter": tiCollective,
	"allgather": tiCollective, "iallgather": tiCollective, "alltoall": tiCollective, "ialltoall": tiCollective,
	"gatherv": tiCollective, "igatherv": tiCollective, "scatterv": tiCollective, "iscatterv": tiCollective,
	"allgatherv": tiCollective, "iallgatherv": tiCollective, "alltoallv": tiCollective, "ialltoallv": tiCollective,
	"alltoallw": tiCollective, "ialltoallw": tiCollective, "reducescatter": tiCollective, "ireducescatter": tiCollective,
}

var tiCollective = &tiAction{class: spec.Collective, operation: (*tiRank).collective}

// plain returns the operation of an action of which no more is known than its class.
func (r *tiRank) plain(a *tiAction, _ arguments) *Operation {
	return &Operation{Class: a.class, Root: -1}
}

// tiSize returns the size of a datatype that is an argument.
func (a arguments) tiSize(name string) int64 { return tiSize(a.number(name, cst.KindHandle)) }

// tiTag returns a tag.
func tiTag(v int64) int64 {
	switch {
	case v == tiAnyTag:
		return AnyTag
	case v < 0:
		return NoTag
	}
	return v
}

// peer returns the rank in the run that a number stands for, and whether there is one.
func (r *tiRank) peer(v int64, d Direction) (int, bool) {
	switch {
	case v >= 0 && v < int64(r.model.world.Size()):
		return int(v), true
	case v == tiAnySource && d == Receive:
		return AnySource, true
	case v == tiAnySource:
		return 0, false
	}
	return NoPeer, true
}

// message returns the operation of an action that has one message.
func (r *tiRank) message(a *tiAction, args arguments) *Operation {
	name := "destination"
	switch {
	case a.class == spec.OneSided:
		name = "target"
	case a.direction == Receive:
		name = "source"
	}
	o := &Operation{Class: a.class, Communicator: r.model.world, Root: -1}
	peer, ok := r.peer(args.number(name, cst.KindRank), a.direction)
	if !ok {
		return o
	}
	count := args.number("count", cst.KindInt)
	o.Messages = []Message{{
		Direction: a.direction, Blocking: a.blocking, Mode: a.mode, Peer: peer, Tag: tiTag(args.number("tag", cst.KindTag)),
		Elements: max(count, Unknown), Bytes: product(count, args.tiSize("type")), Communicator: r.model.world,
	}}
	if a.class == spec.OneSided {
		o.Messages[0].Tag = 0
		o.Communicator, o.Messages[0].Communicator = nil, nil
	}
	return o
}

func (r *tiRank) sendRecv(a *tiAction, args arguments) *Operation {
	o := &Operation{Class: a.class, Communicator: r.model.world, Root: -1}
	add := func(d Direction, peer, count, datatype string) {
		if peer, ok := r.peer(args.number(peer, cst.KindRank), d); ok {
			n := args.number(count, cst.KindInt)
			o.Messages = append(o.Messages, Message{
				Direction: d, Blocking: true, Peer: peer, Tag: NoTag,
				Elements: max(n, Unknown), Bytes: product(n, args.tiSize(datatype)), Communicator: r.model.world,
			})
		}
	}
	add(Send, "destination", "send_count", "send_type")
	add(Receive, "source", "receive_count", "receive_type")
	return o
}

// start returns the operation of Start, which names the receiver, and the number of bytes.
func (r *tiRank) start(a *tiAction, args arguments) *Operation {
	o := &Operation{Class: a.class, Communicator: r.model.world, Root: -1}
	peer, ok := r.peer(args.number("destination", cst.KindRank), Send)
	if !ok {
		return o
	}
	m := Message{
		Direction: Send, Peer: peer, Tag: tiTag(args.number("tag", cst.KindTag)),
		Elements: Unknown, Bytes: max(args.number("bytes", cst.KindInt), Unknown), Communicator: r.model.world,
	}
	if size := args.tiSize("type"); size > 0 && m.Bytes >= 0 && m.Bytes%size == 0 {
		m.Elements = m.Bytes / size
	}
	if peer == r.number {
		m.Direction, m.Peer = Receive, r.startSource(args.number("tag", cst.KindTag))
	}
	o.Messages = []Message{m}
	return o
}

// startSource returns the only source that waits for receives with a tag name and that is
// no source of an irecv with that tag, AnySource if there is not exactly one.
func (r *tiRank) startSource(tag int64) int {
	waits, others := make(map[int64]bool), make(map[int64]bool)
	for terminal := range uint32(r.read.Terminals()) {
		c := r.read.Call(terminal)
		args := arguments{c.Function, c.Args}
		if args.number("tag", cst.KindTag) != tag {
			continue
		}
		source := args.number("source", cst.KindRank)
		switch name := args.function.Name; {
		case name == "irecv":
			others[source] = true
		case (name == "wait" || name == "test") && args.number("destination", cst.KindRank) == int64(r.number):
			waits[source] = true
		}
	}
	found := AnySource
	for source := range waits {
		if others[source] || source == tiAnySource {
			continue
		}
		if peer, ok := r.peer(source, Receive); !ok || found != AnySource || peer < 0 {
			return AnySource
		} else {
			found = peer
		}
	}
	return found
}

// access returns the operation of reading or writing a file.
func (r *tiRank) access(a *tiAction, args arguments) *Operation {
	o := &Operation{Class: a.class, Root: -1}
	bytes := int64(Unknown)
	if v, ok := args.find("bytes", cst.KindFloat); ok && v.Float() >= 0 && v.Float() < 1<<62 {
		bytes = int64(v.Float())
	}
	if a.write {
		o.Sent = bytes
	} else {
		o.Received = bytes
	}
	return o
}
