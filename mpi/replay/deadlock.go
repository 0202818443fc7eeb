package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/rankenc"
)

// A DeadlockError says that a replay cannot go on: all ranks that are not at their end are in
// calls that wait. Either the program was in a deadlock, or a part of the run is missing.
type DeadlockError struct {
	At      Time // when the last of them began to wait
	Waiting []Waiting
}

// Waiting is a call that waits, of a rank or a thread of it.
type Waiting struct {
	Call  Call
	Since Time
	Waits []Wait // for all of them, or for any if Any is set
	Any   bool
}

// A Wait is what a call waits for.
type Wait struct {
	For   Reason
	Ranks rankenc.Set // each of them
	Any   bool        // any of them is enough

	Communicator *semantics.Communicator
	Tag          int64  // of a message, [semantics.AnyTag] if any will do; [semantics.NoTag] of what is none
	Instance     uint64 // of a collective operation, its number on the communicator, from 0 on
	Target       int    // of a lock, whose part of the window it is of; Communicator is that of the window

	// Others are the ranks that have made another call than that of the collective operation
	// in its place.
	Others rankenc.Set

	// Sent are messages that these ranks have sent to the rank that waits for one, and that it
	// does not receive: with another tag or on another communicator, perhaps by mistake.
	Sent []Message
}

// A Reason is what a call waits for.
type Reason uint8

// The reasons.
const (
	ForMessage  Reason = iota // that ranks send
	ForReceiver               // who receives what the call sends
	ForMembers                // that make the call of a collective operation
	ForPost                   // of a window that the call has accessed
	ForComplete               // of the accesses to a window of the call's rank
	ForLock                   // of a window, which these ranks have
)

// maxNamed is how many calls the text of an error names.
const maxNamed = 8

// Error names the calls, the first few of them, and what they wait for.
func (e *DeadlockError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "replay: deadlock, %d calls can never go on", len(e.Waiting))
	if len(e.Waiting) == 1 {
		b.Reset()
		b.WriteString("replay: deadlock, 1 call can never go on")
	}
	for i, w := range e.Waiting {
		if i == maxNamed {
			fmt.Fprintf(&b, "; and %d more", len(e.Waiting)-i)
			break
		}
		separator := "; "
		if i == 0 {
			separator = ": "
		}
		fmt.Fprintf(&b, "%s%s", separator, w)
	}
	return b.String()
}

// String returns the call and what it waits for in words.
func (w Waiting) String() string {
	need.That(w.Call.Rank != nil, "replay: waiting in no call")
	var b strings.Builder
	fmt.Fprintf(&b, "rank %d", w.Call.Rank.Number())
	if w.Call.Thread > 0 {
		fmt.Fprintf(&b, " (thread %d)", w.Call.Thread)
	}
	fmt.Fprintf(&b, " in %s, its call %d, waits for ", w.Call.Rank.Call(w.Call.Terminal).Function.Name, w.Call.Position)
	word := ", and "
	if w.Any {
		word = ", or "
	}
	for i, wait := range w.Waits {
		if i > 0 {
			b.WriteString(word)
		}
		b.WriteString(wait.String())
	}
	if len(w.Waits) == 0 {
		b.WriteString("an unknown event")
	}
	return b.String()
}

// String returns what a call waits for in words.
func (w Wait) String() string {
	ranks := ranksText(w.Ranks)
	if w.Any && w.Ranks.Len() > 1 {
		ranks = "any of " + ranks
	}
	var b strings.Builder
	switch w.For {
	case ForPost:
		return ranks + " to call MPI_Win_post"
	case ForComplete:
		return ranks + " to call MPI_Win_complete"
	case ForLock:
		need.That(w.Communicator != nil, "replay: a lock of no window")
		return fmt.Sprintf("the lock of rank %d in window %s, which %s %s", w.Target, w.Communicator.Name,
			ranks, have(w.Ranks))
	case ForMessage:
		b.WriteString("a message from " + ranks)
	case ForReceiver:
		b.WriteString(ranks + " to receive")
	case ForMembers:
		b.WriteString(ranks + " to make the call")
		if w.Others.Len() > 0 {
			b.WriteString(", in whose place " + ranksText(w.Others) + " made another")
		}
	}
	if w.For != ForMembers && w.Tag >= 0 {
		fmt.Fprintf(&b, ", tag %d", w.Tag)
	}
	if w.Communicator != nil && w.Communicator.Name != "world" {
		b.WriteString(", on " + w.Communicator.Name)
	}
	for i, m := range w.Sent {
		if i == maxNamed {
			break
		}
		fmt.Fprintf(&b, " (rank %d sent one with tag %d", m.From, m.Tag)
		if m.Communicator != w.Communicator && m.Communicator != nil {
			b.WriteString(" on " + m.Communicator.Name)
		}
		b.WriteString(", which it does not receive)")
	}
	return b.String()
}

func have(s rankenc.Set) string {
	if s.Len() == 1 {
		return "has"
	}
	return "have"
}

func ranksText(s rankenc.Set) string {
	if s.Len() == 1 {
		return "rank " + s.String()
	}
	return "ranks " + s.String()
}

// deadlock returns what the strands wait for that cannot go on.
func (e *engine) deadlock() error {
	if e.unordered {
		return ErrThreadsUnordered
	}
	waits := make(map[*strand][]Wait)
	e.waitsForMessages(waits)
	e.waitsForMembers(waits)
	e.waitsForLocks(waits)
	d := new(DeadlockError)
	for _, s := range e.strands {
		if s.state != blocked {
			continue
		}
		list := waits[s]
		slices.SortFunc(list, compareWaits)
		list = slices.CompactFunc(list, func(a, b Wait) bool { return compareWaits(a, b) == 0 })
		for i := range list {
			list[i].Sent = s.rank.sentBy(&list[i])
		}
		d.At = max(d.At, s.busy)
		d.Waiting = append(d.Waiting, Waiting{Call: s.at, Since: s.start, Waits: list, Any: s.op.any})
	}
	return d
}

// sentBy returns the first message of each channel from ranks that a wait is for a message from.
func (r *rank) sentBy(w *Wait) (list []Message) {
	for _, c := range r.inbound {
		if w.For == ForMessage && c.tag >= semantics.NoTag && c.sends.len() > 0 && w.Ranks.Contains(c.from) {
			list = append(list, c.sends.first().message.Message)
		}
	}
	slices.SortFunc(list, func(a, b Message) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Tag, b.Tag),
			cmp.Compare(a.Communicator.Name, b.Communicator.Name))
	})
	return list
}

// compareWaits orders what one call waits for. Equal ones are the same: of a collective operation
// all members wait for all others.
func compareWaits(a, b Wait) int {
	return cmp.Or(cmp.Compare(a.For, b.For), slices.Compare(firstOf(a.Ranks), firstOf(b.Ranks)),
		cmp.Compare(a.Tag, b.Tag),
		cmp.Compare(a.Communicator.Name, b.Communicator.Name), cmp.Compare(a.Instance, b.Instance),
		cmp.Compare(a.Target, b.Target),
		cmp.Compare(a.Ranks.Len(), b.Ranks.Len()), cmp.Compare(anyOf(a), anyOf(b)))
}

// anyOf returns 1 for a wait that any of some ranks ends, else 0.
func anyOf(w Wait) int {
	if w.Any {
		return 1
	}
	return 0
}

// firstOf returns the first rank of a set, nothing if it is empty.
func firstOf(s rankenc.Set) []int {
	for _, rank := range s.All() {
		return []int{rank}
	}
	return nil
}

// waitsForMessages finds calls that wait for messages, or for others to receive theirs.
func (e *engine) waitsForMessages(waits map[*strand][]Wait) {
	add := func(s *strand, w Wait) {
		if s != nil {
			waits[s] = append(waits[s], w)
		}
	}
	for k, c := range e.channels {
		w := Wait{For: ForMessage, Ranks: rankenc.SetOf(k.from), Communicator: k.communicator, Tag: k.tag}
		switch k.tag {
		case postTag:
			w.For, w.Tag = ForPost, semantics.NoTag
		case completeTag:
			w.For, w.Tag = ForComplete, semantics.NoTag
		}
		for _, end := range c.receives.list[c.receives.head:] {
			add(end.request.waiter, w)
		}
		for _, s := range c.probers {
			add(s, w)
		}
		w.For, w.Ranks = ForReceiver, rankenc.SetOf(k.to)
		for _, end := range c.sends.list[c.sends.head:] {
			if end.request != nil {
				add(end.request.waiter, w)
			}
		}
	}
	for _, r := range e.ranks {
		for i := range r.posted {
			add(r.posted[i].request.waiter, r.soughtBy(r.posted[i].message))
		}
		for _, s := range r.lookers {
			add(s, r.soughtBy(s.op.probed))
		}
	}
}

// soughtBy returns what a receive waits for that may take messages of several ranks.
func (r *rank) soughtBy(m *message) Wait {
	w := Wait{For: ForMessage, Communicator: m.Communicator, Tag: m.Tag}
	if m.From >= 0 {
		w.Ranks = rankenc.SetOf(m.From)
		return w
	}
	w.Any = true
	if w.Ranks = m.Communicator.RankSet(); w.Ranks.Len() > 1 {
		w.Ranks = w.Ranks.Difference(rankenc.SetOf(r.number))
	}
	return w
}

// waitsForMembers finds calls that wait for others to enter a collective operation.
func (e *engine) waitsForMembers(waits map[*strand][]Wait) {
	for _, c := range e.comms {
		for k, n := range c.open {
			for i := range n.arrivals {
				a := &n.arrivals[i]
				if a.left || a.request.waiter == nil {
					continue
				}
				var same, other []int
				for j := range n.arrivals {
					if b := &n.arrivals[j]; alike(a.collective, b.collective) {
						same = append(same, b.rank.number)
					} else {
						other = append(other, b.rank.number)
					}
				}
				w := Wait{For: ForMembers, Communicator: c.of, Tag: semantics.NoTag,
					Instance: c.begun + uint64(k), Others: rankenc.SetOf(other...)}
				w.Ranks = c.of.RankSet().Difference(rankenc.SetOf(same...))
				switch root := n.rootOf(a); needOn(c.of.IsInter(), a.role, a.root == a.member) {
				case needsRoot:
					if root >= 0 && w.Ranks.Contains(root) {
						w.Ranks = rankenc.SetOf(root)
					}
				case needsOthers:
					own, _ := c.of.Groups(a.rank.number)
					w.Ranks = w.Ranks.Difference(rankenc.SetOf(own...))
				}
				waits[a.request.waiter] = append(waits[a.request.waiter], w)
			}
		}
	}
}

// waitsForLocks finds calls that wait for locks of windows, or for accesses that do.
func (e *engine) waitsForLocks(waits map[*strand][]Wait) {
	for _, l := range e.locks {
		var had []int
		for _, c := range l.had {
			had = append(had, c.rank.number)
		}
		w := Wait{For: ForLock, Ranks: rankenc.SetOf(had...), Communicator: l.window, Tag: semantics.NoTag,
			Target: l.target}
		for _, c := range l.waiting {
			for _, s := range c.callers {
				waits[s] = append(waits[s], w)
			}
			for _, q := range c.requests {
				if s := q.request.waiter; s != nil {
					waits[s] = append(waits[s], w)
				}
			}
		}
	}
}

// rootOf returns the rank that is the root of the operation of a member, −1 if there is none.
func (n *instance) rootOf(a *arrival) int {
	if a.root < 0 {
		return -1
	}
	for rank, member := range a.comm.member {
		if member == a.root {
			return rank
		}
	}
	if a.comm.world {
		return int(a.root)
	}
	return -1
}
