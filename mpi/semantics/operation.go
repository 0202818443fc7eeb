package semantics

import (
	"strconv"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// An Operation is what a call means to other processes. It is shared, and must not be
// changed.
type Operation struct {
	Class spec.Class

	// Messages are what the call sends and receives itself, or starts to: none, one,
	// two as with MPI_Sendrecv, or more as with MPI_Startall. Messages to and from
	// MPI_PROC_NULL do not exist. Collective operations have none.
	Messages []Message

	// Communicator is that of the call; nil if it has none or the trace does not say
	// which. Of a window or a file it is the one that it was created on.
	Communicator *Communicator

	// Root is the rank in the run of the root of a collective operation; −1 if it has
	// none or the trace does not say which.
	Root int

	// Sent and Received are how many bytes a rank contributes to a collective operation and how
	// many it gets, in its buffers, what goes from it to itself included; or writes to a file and
	// reads. What is read in the background, or split, counts with the call that completes it. It
	// is [Unknown] if the size of a datatype is, or MPI does not say how much was read, and 0 for
	// other operations.
	Sent, Received int64

	// More are further collective operations that the call starts, as MPI_Startall may.
	More []*Operation

	// Completes are the ids of the requests that the call completes: flag, index and outcount
	// are applied, and requests that are pending after an error are left out. Frees are those
	// that it frees. See [Rank.Begun].
	Completes, Frees []int64

	// Begins are the ids of the requests of which the call begins the operation: those that
	// it makes, or, of persistent requests, starts.
	Begins []int64

	// Posts are the ids of requests of receives whose messages are those of the calls that complete them.
	Posts []int64

	// Role is what the function does that the call names or, of a persistent request, that made
	// the request; of a call that starts several, that of the first collective one, else its own.
	Role *spec.Role

	// Probed is the message that the call looked for and found, as a receive of it would say;
	// nil if it found none. Found is the id under which MPI_Mprobe and MPI_Improbe give it to a
	// receive, and Takes that of the message that MPI_Mrecv and MPI_Imrecv receive; −1 for others.
	Probed       *Message
	Found, Takes int64

	// Group are the ranks in the run that MPI_Win_post and MPI_Win_start name, in the order of the
	// group; nil if the trace does not say which, and for other calls.
	Group []int

	completion int64     // the request of a collective operation that a call has started, or −1
	data       *dataCall // the call whose data it exchanges; nil for none
	requests   []int64   // of Messages, if another call completes them
	taken      *taken    // what Messages is, if it depends on the position which probe found that
}

// Request returns the id of the request by which a message of Messages is completed; false
// if it has none.
func (o *Operation) Request(message int) (id int64, ok bool) {
	need.That(message >= 0, "semantics: a message before the first")
	if message >= len(o.requests) || o.requests[message] == noRequest {
		return 0, false
	}
	return o.requests[message], true
}

// noRequest stands for the request of a message that has none.
const noRequest = -1 << 63

// Completion returns the id of the request by which a collective operation is completed, of
// Operation or of one in More; false if it has none.
func (o *Operation) Completion() (id int64, ok bool) { return o.completion, o.completion >= 0 }

// IsCollective reports whether all members of a communicator make the call: it is of
// class [spec.Collective], or of class [spec.Access] and collective.
func (o *Operation) IsCollective() bool {
	return o.Class == spec.Collective || o.Class == spec.Access && o.Communicator != nil
}

// A Direction says where the bytes of a message go.
type Direction uint8

// The directions.
const (
	Send       Direction = iota + 1 // to the peer, which receives them
	Receive                         // from the peer, which sends them
	Put                             // to the memory of the peer
	Get                             // from the memory of the peer
	Accumulate                      // to the memory of the peer, combined with what is there
	Fetch                           // Accumulate, and what was there comes back: as many bytes
)

var directionNames = [...]string{
	Send: "send", Receive: "receive", Put: "put", Get: "get", Accumulate: "accumulate", Fetch: "fetch",
}

// String returns the name of the direction, such as send.
// MarshalText returns what String does.
func (d Direction) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d Direction) String() string {
	if d > 0 && int(d) < len(directionNames) {
		return directionNames[d]
	}
	return "direction " + strconv.Itoa(int(d))
}

// Values that stand for what is no rank, tag or number of bytes.
const (
	AnySource = -1 // of a receive that no status resolves
	AnyTag    = -1 // the same
	NoPeer    = -2 // the trace does not say which rank of the run it is
	NoTag     = -2 // the trace does not say which tag it is
	Unknown   = -1 // bytes or elements that the trace does not tell
)

// A Message is what one call sends or receives.
type Message struct {
	Direction Direction
	Blocking  bool   // the call returns when the buffer can be used again
	Mode      string // of sending: "buffered", "synchronous" or "ready", empty for the standard one

	// Partitioned is set if the message is in partitions: only such ones match each other.
	Partitioned bool

	Peer int   // rank in the run, [AnySource] or [NoPeer]
	Tag  int64 // [AnyTag] or [NoTag] if negative; 0 for one-sided operations

	// Elements and Bytes are how many there are; of a receive, how many there is room
	// for: those that came are what the sender says. Each may be [Unknown].
	Elements, Bytes int64

	// Cancelled is set if the program tried to cancel the receive. Whether there was a
	// message all the same is not known, unless the peer is.
	Cancelled bool

	// Posted is the id of a receive that is among Posts of an earlier call, 0 if there is none.
	Posted int64

	Communicator *Communicator // nil if the trace does not say which
}
