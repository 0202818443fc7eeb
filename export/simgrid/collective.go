package simgrid

import (
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A collective is how an operation on data is written.
type collective struct {
	rooted bool
	write  func(x *collectiveCall, name string) error
}

// collectives are the operations by the names of functions.
var collectives = map[string]collective{
	"barrier":              {false, (*collectiveCall).barrier},
	"bcast":                {true, (*collectiveCall).bcast},
	"reduce":               {true, (*collectiveCall).reduce},
	"allreduce":            {false, (*collectiveCall).reduce},
	"scan":                 {false, (*collectiveCall).reduce},
	"exscan":               {false, (*collectiveCall).reduce},
	"gather":               {true, (*collectiveCall).gather},
	"scatter":              {true, (*collectiveCall).scatter},
	"allgather":            {false, (*collectiveCall).allgather},
	"alltoall":             {false, (*collectiveCall).alltoall},
	"gatherv":              {true, (*collectiveCall).gatherv},
	"scatterv":             {true, (*collectiveCall).scatterv},
	"allgatherv":           {false, (*collectiveCall).gatherv},
	"alltoallv":            {false, (*collectiveCall).alltoallv},
	"reduce_scatter":       {false, (*collectiveCall).reduceScatter},
	"reduce_scatter_block": {false, (*collectiveCall).reduceScatter},
}

// persistentCollective is why a call is refused.
const persistentCollective = "SimGrid has no persistent collective operations"

// A collectiveCall is a collective operation that is being written.
type collectiveCall struct {
	*translator
	event events.Event
	call  *call
	o     *semantics.Operation
	root  int64
	size  int64 // number of ranks
}

// collective translates a collective operation.
func (s *translator) collective(e events.Event, c *call, o *semantics.Operation) error {
	name := c.data
	kind, ok := collectives[name]
	switch {
	case c.role.Requests == spec.Starts:
		return s.unsupported(e, c, persistentCollective)
	case strings.HasPrefix(name, "neighbor_") || name == "alltoallw":
		return s.unsupported(e, c, "SimGrid replays no such operation")
	case !ok:
		return nil // it has no data
	case o.Communicator == nil:
		return s.unsupported(e, c, "the trace does not say of which communicator it is")
	case o.Communicator.Size() == 1:
		return nil
	case o.Communicator.IsInter() || o.Communicator.Size() != s.model.World().Size():
		return s.unsupported(e, c,
			"SimGrid replays collective operations of all processes only, and this is of the communicator "+
				events.Readable(o.Communicator.Name))
	case kind.rooted && o.Root < 0:
		return s.unsupported(e, c, "the trace does not say which rank of the run is the root")
	case o.Sent == semantics.Unknown || o.Received == semantics.Unknown:
		return s.unsupported(e, c, "the trace does not say how many bytes it has")
	}
	x := &s.collecting
	*x = collectiveCall{s, e, c, o, int64(o.Root), int64(s.model.World().Size())}
	return kind.write(x, name)
}

func (x *collectiveCall) barrier(name string) error { return x.action(name) }

func (x *collectiveCall) bcast(name string) error {
	bytes := max(x.o.Sent, x.o.Received)
	datatype, size := unitOf(bytes)
	return x.action(name, divide(bytes, size), x.root, datatype)
}

func (x *collectiveCall) reduce(name string) error {
	datatype, size := unitOf(x.o.Sent)
	if name == "reduce" {
		return x.action(name, divide(x.o.Sent, size), 0, x.root, datatype)
	}
	return x.action(name, divide(x.o.Sent, size), 0, datatype)
}

// pair writes an operation with a send and a receive count.
func (x *collectiveCall) pair(name string, sent, received int64, more ...int64) error {
	sendType, sendSize := unitOf(sent)
	receiveType, receiveSize := unitOf(received)
	fields := append([]int64{divide(sent, sendSize), divide(received, receiveSize)}, more...)
	return x.action(name, append(fields, sendType, receiveType)...)
}

// gather gives the others what the root counts: they are of no use to it, but SimGrid
// wants some.
func (x *collectiveCall) gather(name string) error { return x.pair(name, x.o.Sent, x.o.Sent, x.root) }
func (x *collectiveCall) scatter(name string) error {
	return x.pair(name, x.o.Received, x.o.Received, x.root)
}
func (x *collectiveCall) allgather(name string) error {
	return x.pair(name, x.o.Sent, x.o.Received/x.size)
}
func (x *collectiveCall) alltoall(name string) error {
	return x.pair(name, x.o.Sent/x.size, x.o.Received/x.size)
}

// counts returns the bytes that the elements of an argument stand for, all together total,
// by ranks of the run; zeros if the call has no such argument.
func (x *collectiveCall) counts(name string, total int64) ([]int64, error) {
	list := make([]int64, x.size)
	v, ok := x.call.Arg(name)
	if !ok || v.Kind() != cst.KindArray || v.Len() != len(list) {
		if total == 0 {
			return list, nil
		}
		return nil, x.unsupported(x.event, x.call, "it lacks the argument "+name)
	}
	sum := int64(0)
	for i := range list {
		sum += v.Index(i).Int()
	}
	if sum == 0 {
		return list, nil
	}
	for i := range list {
		list[x.o.Communicator.Member(i)] = v.Index(i).Int() * (total / sum)
	}
	return list, nil
}

// elements returns bytes as elements of a datatype that suits all of them.
func elements(bytes []int64) (counts []int64, datatype, sum int64) {
	datatype, size := unitOf(slices.Max(bytes))
	counts = make([]int64, len(bytes))
	for i, b := range bytes {
		counts[i] = divide(b, size)
		sum += counts[i]
	}
	return counts, datatype, sum
}

func (x *collectiveCall) gatherv(name string) error {
	bytes, err := x.counts("recvcounts", x.o.Received)
	if err != nil {
		return err
	}
	counts, receiveType, _ := elements(bytes)
	sendType, size := unitOf(x.o.Sent)
	fields := append([]int64{divide(x.o.Sent, size)}, counts...)
	if name == "gatherv" {
		fields = append(fields, x.root)
	}
	return x.action(name, append(fields, sendType, receiveType)...)
}

func (x *collectiveCall) scatterv(name string) error {
	bytes, err := x.counts("sendcounts", x.o.Sent)
	if err != nil {
		return err
	}
	counts, sendType, _ := elements(bytes)
	receiveType, size := unitOf(x.o.Received)
	return x.action(name, append(counts, divide(x.o.Received, size), x.root, sendType, receiveType)...)
}

func (x *collectiveCall) alltoallv(name string) error {
	received, err := x.counts("recvcounts", x.o.Received)
	if err != nil {
		return err
	}
	sent, err := x.counts("sendcounts", x.o.Sent)
	if err != nil {
		sent = received // in place
	}
	receiveCounts, receiveType, receiveSum := elements(received)
	sendCounts, sendType, sendSum := elements(sent)
	fields := append(append([]int64{sendSum}, sendCounts...), receiveSum)
	return x.action(name, append(append(fields, receiveCounts...), sendType, receiveType)...)
}

func (x *collectiveCall) reduceScatter(string) error {
	bytes := slices.Repeat([]int64{x.o.Received}, int(x.size))
	if v, ok := x.call.Arg("recvcounts"); ok && v.Kind() == cst.KindArray {
		var err error
		if bytes, err = x.counts("recvcounts", x.o.Sent); err != nil {
			return err
		}
	}
	counts, datatype, _ := elements(bytes)
	return x.action("reducescatter", append(counts, 0, datatype)...)
}
