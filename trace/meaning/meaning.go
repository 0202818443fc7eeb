// Package meaning is what a tracer of a Go program says of its own functions: which of their calls send,
// receive, complete what others began, or compute. A trace has arguments, and does not know what they are
// for. With an implementation of [Semantics], a trace is replayed, its messages are counted and matched, and
// it is found who waits for whom, as for programs of MPI:
//
//	model, err := semantics.OpenWith(trace, pool{})
//	…
//	result, err := replay.Run(ctx, model, machine)
//	traffic, err := query.OpenMessages(ctx, model, 0, query.Options{})
//	match, err := query.OpenMatch(ctx, model, query.Options{})
//
// These are packages [github.com/reprise-trace/reprise/mpi/semantics], mpi/replay and query. MPI's functions
// and SimGrid's have semantics there, which a trace of them gets without being asked.
//
// # What a call can mean
//
// All is between ranks of the run: a trace whose goroutines are to wait for each other has a rank for each.
// Sends and receives match by group, ranks and tag, in the order in which each rank makes them, so that a
// channel of Go is a tag. Who receives a message has to be known where it is sent. Where several goroutines
// receive from one channel, have the calls record which of them it was, or let each say that it is idle and
// give it what it asked for by a channel of its own. Who sent a message need not be known, see [AnyRank].
//
// Equal calls of a rank mean the same, wherever they stand: what they mean is asked once for each signature,
// and not for each call, of which there may be billions. So a request does not stand for one call, but for
// what calls with one signature begin: those that complete it complete them in their order.
package meaning

import (
	"time"

	"github.com/reprise-trace/reprise/trace"
)

// Semantics say what the calls of a trace mean to other ranks.
type Semantics interface {
	// Groups returns the groups that calls name. It is asked once.
	Groups() []Group

	// Of returns what the calls of a rank mean that are equal to one, whose Position is not set: the
	// zero Operation if it is nothing to other ranks. It may be asked in several goroutines at once, and
	// again.
	Of(rank int, call *trace.Call) Operation
}

// A Group is some ranks of the run under a name, such as "readers". The group of all ranks has no name and
// need not be given.
type Group struct {
	Name  string
	Ranks []int // each once, in any order
}

// An Operation is what a call means to other ranks. Calls without any of its fields compute, for as long as
// they took in the run.
type Operation struct {
	Sends, Receives []Message
	Collective      *Collective // nil for none

	// More are further collective operations of the call, after the Collective.
	More []*Collective

	// Puts and Gets are accesses to the memory of a Peer, which are written there, or read, without it. They have
	// neither Tag nor Request.
	Puts, Gets []Message

	// Completes are requests of messages and collective operations that calls of the rank have begun: the
	// call returns when they are complete, of each the one that was begun first.
	Completes []int64

	// Posts are requests of receives, whose messages a later call tells, which completes them.
	Posts []int64

	// Computes is how long the call computes, before its messages, if the program has said that: then it
	// counts in place of how long the call took. Zero means that it is not said.
	Computes time.Duration
}

// Numbers of a [Message] that stand for no rank, tag or number of bytes.
const (
	AnyRank = -1 // of a receive: the message may come from any rank
	AnyTag  = -1 // of a receive: the message may have any tag
	Unknown = -2 // of peers, tags and bytes: the trace does not say it
)

// A Message is one that a call sends or receives.
type Message struct {
	Peer  int    // the rank that it goes to or comes from
	Tag   int64  // only messages of one tag match: 0 or more, as the number of a channel
	Group string // the same; empty for all ranks
	Bytes int64

	// Request is what a later call completes the message by, with [Operation.Completes]; 0 if the call
	// returns when the message is sent, or received. Others are positive.
	Request int64

	// Posted is the request of a receive that an earlier call has in [Operation.Posts]: the message could come
	// from then on. 0 if there is none.
	Posted int64

	// Waits is set if a send is complete when it is received, as on a channel without a buffer. Else it
	// may be so before.
	Waits bool
}

// A Collective is an operation that all ranks of a group call, in one order.
type Collective struct {
	Group string // empty for all ranks
	Kind  Kind
	Root  int   // rank in the run; only for FromRoot and ToRoot
	Bytes int64 // that the root, or each rank, gives to each other that gets something

	Request int64 // as that of a Message

	// Totals are all bytes of the call, where Bytes does not say it; nil for none.
	Totals *Totals
}

// Totals are the bytes that a rank gives to all others in a [Collective], and those that it gets from them.
type Totals struct{ Sent, Received int64 }

// A Kind says who waits for whom in a [Collective].
type Kind uint8

// The kinds.
const (
	Together Kind = iota // each gives to each other, and waits for all: as a barrier, if there are no bytes
	FromRoot             // the root gives to the others, which wait for it
	ToRoot               // the others give to the root, which waits for them
)
