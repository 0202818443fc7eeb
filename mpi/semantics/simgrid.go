package semantics

import (
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
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
		_, ok := simgrid.Lookup(f)
		return !ok
	})
}

// A tiDialect says what the actions of SimGrid mean: what the functions of MPI do that they are
// named after.
type tiDialect struct {
	model     *Model
	roles     []*spec.Role   // by function; nil if it means nothing
	functions []cst.Function // with the names that parameters have in MPI
}

// tiNames are names of fields of actions, as MPI calls such parameters.
var tiNames = map[string]string{
	"destination": "dest", "target": "target_rank", "type": "datatype",
	"send_count": "sendcount", "send_counts": "sendcounts", "send_type": "sendtype",
	"receive_count": "recvcount", "receive_counts": "recvcounts", "receive_type": "recvtype",
}

func newTI(m *Model, functions []cst.Function) *tiDialect {
	d := &tiDialect{model: m, roles: make([]*spec.Role, len(functions)),
		functions: make([]cst.Function, len(functions))}
	for i, f := range functions {
		params := slices.Clone(f.Params)
		for k := range params {
			if name, ok := tiNames[params[k].Name]; ok {
				params[k].Name = name
			}
		}
		d.functions[i] = cst.Function{Name: f.Name, Params: params}
		if f.Name == "Startall" { // it does not say what it starts
			continue
		}
		if r := spec.RoleOf("MPI_" + tiFunction(f.Name)); r.Class != spec.Local {
			d.roles[i] = r
		}
	}
	return d
}

// tiFunction returns the function of MPI that an action is named after, without MPI_.
func tiFunction(action string) string {
	if name, ok := strings.CutPrefix(action, "IO - "); ok {
		return "File_" + name
	}
	name := strings.ToLower(action)
	switch name {
	case "reducescatter":
		return "Reduce_scatter"
	case "ireducescatter":
		return "Ireduce_scatter"
	case "alltoallw": // with one datatype
		return "Alltoallv"
	case "ialltoallw":
		return "Ialltoallv"
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// An Amount is how much a call computes, where a trace says that instead of how long: SimGrid's compute
// and sleep actions.
type Amount struct {
	Flops   float64 // floating-point operations
	Seconds float64 // for which it sleeps
}

// HasAmount reports whether a function is an action of SimGrid that says an [Amount].
func HasAmount(f cst.Function) bool {
	_, ok := simgrid.Lookup(f)
	return ok && (f.Name == "compute" || f.Name == "sleep")
}

// AmountOf returns how much a call computes, nothing if its function has no amount.
func AmountOf(call *trace.Call) Amount {
	need.That(call != nil && call.Function != nil, "semantics: no call")
	if !HasAmount(*call.Function) {
		return Amount{}
	}
	var amount float64
	if v := call.Args[0]; v.Kind() == cst.KindInt {
		amount = float64(v.Int())
	} else {
		amount = v.Float()
	}
	if call.Function.Name == "sleep" {
		return Amount{Seconds: amount}
	}
	return Amount{Flops: amount}
}

// A tiRank says what the actions of a rank mean.
type tiRank struct {
	*tiDialect
	read   *trace.Rank
	number int
	known  memo
}

func (d *tiDialect) counts(int, int) bool { return true }

func (d *tiDialect) rank(read *trace.Rank, number int) (meanings, error) {
	return &tiRank{d, read, number, make(memo, read.Terminals())}, nil
}

func (r *tiRank) at(_ uint64, terminal uint32) *Operation {
	o, ok := r.known.get(terminal)
	if !ok {
		o = r.known.put(terminal, r.operation(terminal))
	}
	return o
}

func (r *tiRank) same(terminal uint32) (*Operation, bool) { return r.at(0, terminal), true }

func (r *tiRank) all(terminal uint32, count uint64, yield func(Occurrence) bool) bool {
	o := r.at(0, terminal)
	return o == nil || yield(Occurrence{terminal, o, count})
}

// arguments returns those of a terminal.
func (r *tiRank) arguments(terminal uint32) arguments {
	return arguments{&r.functions[r.read.Function(terminal)], r.read.Call(terminal).Args}
}

func (r *tiRank) operation(terminal uint32) *Operation {
	p := r.roles[r.read.Function(terminal)]
	if p == nil {
		return nil
	}
	args := r.arguments(terminal)
	o := newOperation(p)
	switch {
	case p.Class == spec.Access:
		r.access(o, p, args)
	case p.Data != "":
		r.collective(o, p, args)
		o.data = &dataCall{terminal: terminal, fixed: true}
	case p.Accesses != nil:
		q := spec.Transfer{Peer: p.Accesses.Peer, Count: "count", Type: "datatype"}
		r.message(o, Message{Direction: accessDirection(p)}, &q, args)
	case p.Requests == spec.Starts:
		o.Communicator = r.model.world
		r.start(o, args)
	case p.Class == spec.PointToPoint:
		o.Communicator = r.model.world
		m := Message{Blocking: !p.Nonblocking && !p.Persistent, Communicator: r.model.world}
		if m.Direction = Send; p.Sends != nil {
			m.Mode = p.Mode
			r.message(o, m, p.Sends, args)
		}
		if m.Direction, m.Mode = Receive, ""; p.Receives != nil {
			r.message(o, m, p.Receives, args)
		}
	}
	return o
}

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

// message adds a message to an operation, if there is one, whose parameters are q.
func (r *tiRank) message(o *Operation, m Message, q *spec.Transfer, args arguments) {
	peer, ok := r.peer(args.number(q.Peer, cst.KindRank), m.Direction)
	if !ok {
		return
	}
	count := args.number(q.Count, cst.KindInt)
	m.Peer, m.Elements = peer, max(count, Unknown)
	m.Bytes = product(count, tiSize(args.number(q.Type, cst.KindHandle)))
	if q.Tag != "" {
		m.Tag = tiTag(args.number(q.Tag, cst.KindTag))
	}
	o.Messages = append(o.Messages, m)
}

// start adds the message of Start, which names the receiver, and the number of bytes.
func (r *tiRank) start(o *Operation, args arguments) {
	peer, ok := r.peer(args.number("dest", cst.KindRank), Send)
	if !ok {
		return
	}
	tag := args.number("tag", cst.KindTag)
	m := Message{
		Direction: Send, Peer: peer, Tag: tiTag(tag),
		Elements: Unknown, Bytes: max(args.number("bytes", cst.KindInt), Unknown), Communicator: r.model.world,
	}
	if size := tiSize(args.number("datatype", cst.KindHandle)); size > 0 && m.Bytes >= 0 && m.Bytes%size == 0 {
		m.Elements = m.Bytes / size
	}
	if peer == r.number {
		m.Direction, m.Peer = Receive, r.startSource(tag)
	}
	o.Messages = []Message{m}
}

// startSource returns the only source that waits for receives with a tag name and that is
// no source of an irecv with that tag, AnySource if there is not exactly one.
func (r *tiRank) startSource(tag int64) int {
	waits, others := make(map[int64]bool), make(map[int64]bool)
	for terminal := range uint32(r.read.Terminals()) {
		args := r.arguments(terminal)
		if args.number("tag", cst.KindTag) != tag {
			continue
		}
		source := args.number("source", cst.KindRank)
		switch name := args.function.Name; {
		case name == "irecv":
			others[source] = true
		case (name == "wait" || name == "test") && args.number("dest", cst.KindRank) == int64(r.number):
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

// access says what is read from a file, or written to it.
func (r *tiRank) access(o *Operation, p *spec.Role, args arguments) {
	bytes := int64(Unknown)
	if v, ok := args.find("bytes", cst.KindFloat); ok && v.Float() >= 0 && v.Float() < 1<<62 {
		bytes = int64(v.Float())
	}
	if p.Writes {
		o.Sent = bytes
	} else {
		o.Received = bytes
	}
}

// collective says what a collective action gives and gets, as if it were of all ranks. If it
// has counts of another number of them, its communicator is another one.
func (r *tiRank) collective(o *Operation, p *spec.Role, args arguments) {
	c, fits := r.collect(args)
	if fits {
		o.Communicator, o.Root = r.model.world, c.root
	}
	o.Sent, o.Received = c.bytes(p)
}

// collect takes a collective action apart, and reports whether its counts are those of all
// ranks.
func (r *tiRank) collect(args arguments) (c collect, fits bool) {
	world := r.model.world
	fits = true
	for _, p := range args.function.Params {
		if _, n := args.sum(p.Name); p.Type.Kind == cst.KindArray && n != world.Size() {
			fits = false
		}
	}
	root := args.number("root", cst.KindRank)
	c = collect{arguments: args, scope: scope{communicator: world, self: r.number}, size: tiSize, root: -1,
		isRoot: root == int64(r.number)}
	if root >= 0 && root < int64(world.Size()) {
		c.root = int(root)
	}
	return c, fits
}

func (r *tiRank) exchange(d *dataCall) Exchange {
	c, fits := r.collect(r.arguments(d.terminal))
	if !fits {
		c.scope.communicator, c.isRoot = nil, false
	}
	return c.exchange(r.roles[r.read.Function(d.terminal)])
}
