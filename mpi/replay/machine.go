package replay

import (
	"math"
	"time"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A Time is a time or a duration in picoseconds. Times count from the start of the run, and end
// after some 106 days: a replay that would go beyond ends with [ErrTooLong].
type Time int64

// Durations.
const (
	Nanosecond  Time = 1000
	Microsecond      = 1000 * Nanosecond
	Millisecond      = 1000 * Microsecond
	Second           = 1000 * Millisecond
)

// String returns the time in whole nanoseconds, as a [time.Duration] is written.
func (t Time) String() string { return time.Duration(t / Nanosecond).String() }

const endOfTime Time = math.MaxInt64

// add returns the time d after t. A negative d counts as 0; endOfTime stays.
func add(t, d Time) Time {
	switch {
	case d <= 0:
		return t
	case d > endOfTime-t:
		return endOfTime
	}
	return t + d
}

// A Machine says what a run costs. Its methods are called from one goroutine, once for each
// call, message and collective operation. What they are given is valid until they return.
// Negative times count as none. Embed [Instant] to say only a part of it.
type Machine interface {
	// Compute returns how long the thread of a call computes between the end of its call before
	// and the start of this one, and how long it is busy within the call, besides its messages.
	Compute(c *Call) (before, within Time)

	// Message returns what a message costs.
	Message(m *Message) Cost

	// Collective sets c.Leave of the members in c.Leaving. It is called for each as soon as all
	// have entered that it needs, as [Collective.Earliest] says, so several times for one operation.
	Collective(c *Collective)
}

// A SteadyMachine is a Machine whose costs may be always the same. If Steady reports it, [Run] need not
// execute all iterations of a loop: see the section about cost. Then
//
//   - what Compute returns depends on the rank, the thread and the terminal of a call, and on its position only
//     in that the first call of a rank may be another, and those up to one that is in [Options].EndedAt may be others than those behind it,
//   - what Message returns depends on the message,
//   - Collective sets Leave to the latest of some of the times of Enter, those that [Collective.Earliest] needs, plus times that depend
//     on the operation.
//
// [Instant] is so, and [Recorded] if it has means, see [Recorded.Means]. A machine in which they are embedded
// has to say it itself.
type SteadyMachine interface {
	Machine
	Steady() bool
}

// A Call is a call that is executed.
type Call struct {
	Rank     *semantics.Rank // whose Number is that of the rank, and whose Call has the arguments
	Thread   int
	Position uint64 // among the calls of the rank
	Terminal uint32
	Local    bool // it does nothing to other ranks, and waits for none
}

// A Message is one that is sent, or an access to the memory of another rank.
type Message struct {
	Direction    semantics.Direction // Send, or that of a one-sided operation, from its origin
	From, To     int                 // ranks in the run
	Tag          int64
	Bytes        int64 // [semantics.Unknown] if the trace does not say it
	Communicator *semantics.Communicator
}

// A Cost is what a message costs. The sender is busy for Send from its call on. The last byte
// is at the receiver Transfer after that, and the receiver is busy with it for Receive, from
// then or from its call on, whichever is later.
//
// With Rendezvous, the transfer begins when both ends have been called, and the send is complete
// when it ends; else when the sender is no longer busy. Synchronous sends are always so, and
// buffered ones never.
type Cost struct {
	Send, Transfer, Receive Time
	Rendezvous              bool
}

// A Collective is a collective operation. Slices but Leaving are by member, in the order of the
// members' ranks in the communicator; of an intercommunicator, those of its second group follow
// those of the first.
type Collective struct {
	Communicator *semantics.Communicator
	Role         *spec.Role
	Root         int // the member that is the root, −1 for none

	// Sent and Received are the bytes that members give and get, each of which may be
	// [semantics.Unknown], and Enter is when they entered, −1 for those that have not.
	Sent, Received []int64
	Enter          []Time

	// Leave is when members leave. It counts as the time that [Collective.Earliest] sets, if
	// it is before that. Leaving are the members that it is to be set for.
	Leave   []Time
	Leaving []int

	last [2]Time // the last of Enter, in each group
}

// Earliest sets Leave to when members have what they get, if nothing takes any time: of a
// broadcast when the root and the member have entered, of a reduction to the root, a scan or
// an exchange with neighbours when the member has, but the root when all have, and otherwise when all have.
//
// On an intercommunicator, data are those of the other group: members that need all need only those of the
// other group. Others of the root's group than it take no part in an operation with a root. They leave at
// once, and are never in Leaving.
func (c *Collective) Earliest() {
	need.That(c != nil && c.Role != nil, "replay: no collective operation")
	for _, i := range c.Leaving {
		need.Index(i, min(len(c.Enter), len(c.Leave)), "replay: member")
		c.Leave[i] = c.earliest(i)
	}
}

func (c *Collective) earliest(member int) Time {
	switch c.needOf(member) {
	case needsAll:
		return max(c.last[0], c.last[1])
	case needsOthers:
		return max(c.Enter[member], c.last[1-c.group(member)])
	case needsRoot:
		if c.Root >= 0 {
			need.Index(c.Root, len(c.Enter), "replay: root")
			return max(c.Enter[member], c.Enter[c.Root])
		}
	}
	return c.Enter[member]
}

func (c *Collective) isInter() bool { return c.Communicator != nil && c.Communicator.IsInter() }

// group returns the group of a member: 0 or, of an intercommunicator, 1.
func (c *Collective) group(member int) int {
	if c.isInter() && member >= len(c.Communicator.Members(0)) {
		return 1
	}
	return 0
}

// size returns how many members a group has.
func (c *Collective) size(group int) int {
	if c.isInter() {
		return len(c.Communicator.Members(group))
	}
	return len(c.Enter) * (1 - group)
}

// A quorum says which members must have made the call of a collective operation before it can
// end for a member.
type quorum uint8

const (
	needsAll    quorum = iota
	needsOthers        // all of the other group of an intercommunicator
	needsRoot
	needsNone // that is sure: the member gives data to the root, or to some others
)

func (c *Collective) needOf(member int) quorum { return needOn(c.isInter(), c.Role, c.Root == member) }

// needOn returns what a member needs, perhaps on an intercommunicator.
func needOn(inter bool, p *spec.Role, isRoot bool) quorum {
	need := needOf(p, isRoot)
	if need == needsAll && inter && p.Data != "" {
		return needsOthers
	}
	return need
}

// isRooted reports whether an operation has a root.
func isRooted(p *spec.Role) bool { return p.Gives.Of == "root" || p.Gets.Of == "root" }

func needOf(p *spec.Role, isRoot bool) quorum {
	switch {
	case p.Gives.Of == "root" && !isRoot:
		return needsRoot
	case p.Gives.Of == "root", p.Gets.Of == "root" && !isRoot, p.Frees && p.On == "comm":
		return needsNone
	case p.Data == "Scan" || p.Data == "Exscan" || len(p.Data) > 9 && p.Data[:9] == "Neighbor_":
		return needsNone
	}
	return needsAll
}

// Instant is a Machine on which nothing takes time: what is left is the order in which calls
// need each other.
type Instant struct {
	// Synchronous has every send wait for its receive, except buffered ones, as if MPI stored
	// no messages: a program that needs it to store some is in a deadlock.
	Synchronous bool
}

// Compute returns no time.
func (Instant) Compute(*Call) (before, within Time) { return 0, 0 }

// Message returns no cost.
func (m Instant) Message(*Message) Cost { return Cost{Rendezvous: m.Synchronous} }

// Collective has members leave as [Collective.Earliest] says.
func (Instant) Collective(c *Collective) { c.Earliest() }
