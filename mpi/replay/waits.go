package replay

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// A Recording says when the calls of a trace started and ended, for [Waits]. Its methods are called from one
// goroutine.
type Recording interface {
	// Times returns when a call started and ended, and when it may have ended at the latest if times are not
	// exact: start ≤ end ≤ latest. It is called for each call of a thread, in their order.
	Times(c *Call) (start, end, latest Time)

	// Site returns a number ≥ 0 that tells where in the program a call is, and of which function: the same for
	// calls that differ in other arguments alone.
	Site(c *Call) int

	// Waited is called with each call that waits. The Waited is valid until it returns. What it returns is
	// given to WrongOrder if it turns out that the message was waited for in the wrong order.
	Waited(w *Waited) any
	WrongOrder(kept any)
}

// A WaitKind says how a call waits for another.
type WaitKind uint8

// The kinds.
const (
	noWait         WaitKind = iota
	LateSender              // for a message that is not sent yet
	LateReceiver            // for the receive of a message that it sends
	WaitAtBarrier           // for the last to come to a barrier
	WaitAtNxN               // for the last to come to an operation in which each gets data of all
	LateRoot                // for the root, who gives data to all
	EarlyRoot               // a root who gets data of all, for the last of them
	EarlyScan               // for those of lower rank in a prefix reduction
	WaitAtFence             // for the last to come to the fence of a window, or to free one
	LatePost                // for others to expose their part of a window
	LateComplete            // for others to complete their accesses
	LateNeighbor            // for the last of its neighbours in a topology to come to an operation
	LockContention          // for others to unlock a part of a window
)

var waitKinds = []string{"none", "late sender", "late receiver", "wait at barrier", "wait at NxN", "late root",
	"early root", "early scan", "wait at fence", "late post", "late complete",
	"late neighbor", "lock contention"}

// String returns the kind in words, such as late sender.
func (k WaitKind) String() string {
	if int(k) < len(waitKinds) {
		return waitKinds[k]
	}
	return "wait " + strconv.Itoa(int(k))
}

// A Waited is a call that waits for another rank.
type Waited struct {
	Call *Call
	Kind WaitKind

	// Start is when the call started, Latest when it may have ended at the latest, and Since when the call started
	// that it waits for: Start < Since. If that is after Latest, the call did not need it, or clocks differ.
	Start, Latest, Since Time

	Rank int // that it waits for

	strand *strand
}

// A Delay is a part of what caused a wait: computing of a rank, or one of its calls.
type Delay struct {
	Rank int

	// Before is the site of the call that was made after the computing, and After that of the call before it, −1
	// if there is none. InCall says that it is the time in calls of the site Before, and After is the same.
	After, Before int
	InCall        bool

	// Share is its share of the wait. The shares of a wait add up to 1.
	Share float64
}

// Delays returns what caused the wait, in no order. It goes back from the call that waits and from the one
// that it waits for to where both have come from: on each rank and, where a call waited, on that which it
// waited for. So a delay that others pass on is that of the rank that made it. What took longer on the way to
// the call that is waited for than on the way to the one that waits is the delay, and shares are in proportion
// to how much longer: of computing between the same two places, and of calls in the same place, for each time
// that they are on the way. The result is valid until the next call. Without shares it is not known.
func (w *Waited) Delays() []Delay {
	need.That(w != nil && w.strand != nil, "replay: no wait")
	s := w.strand
	return s.rank.engine.trails.delays(s.cause.path, s.pathTo().path)
}

// A WaitsResult is what [Waits] could not tell.
type WaitsResult struct {
	// Unknown are messages and operations of which the trace does not say who takes part, Outside those of which
	// others are not in the trace, and Unmatched calls that wait for what never comes: for none of these is a
	// wait told. Unreceived are messages that are sent and not received, and Messages those that are.
	Unknown, Outside, Unmatched, Unreceived, Messages uint64

	// Switched says that ranks switch recording off or on.
	Switched bool

	// Path is what is on the critical path of the run, and All what all ranks compute and call, without waits.
	// Shares of both are of the Time of the path: those of All may add up to more than 1.
	Path, All []Delay
	Time      Time
}

// maxUnmatched is how many calls may wait for what never comes: then the trace has too little of the run.
const maxUnmatched = 1 << 12

// errUnmatched means that too many calls wait for what is not in the trace.
var errUnmatched = errors.New("replay: too many calls wait for messages or operations that are not in the trace")

// Waits finds the calls of a trace that wait for other ranks, by when calls started and ended. It executes the
// calls as [Run] does, each when it was made, and tells o of each that began before the call that it waits for.
// No time goes by for messages and collective operations: a receive waits until the send starts, and a
// member of a collective operation until the last of those starts that it needs.
// A send may wait for its receive, if it is not buffered: it does if that starts before the send ends, or the
// call ends that completes it.
//
// Calls whose other end is not in the trace do not wait, and are counted.
// It takes some microseconds for each call, and memory as a replay in the order of time does; for what is
// on the way to where ranks are, memory in proportion to the ranks.
func Waits(ctx context.Context, model *semantics.Model, o Recording,
	progress func(calls uint64)) (*WaitsResult, error) {
	need.That(model != nil && o != nil, "replay: no model or no recording")
	e, err := newEngine(ctx, model, Instant{}, o)
	if err != nil {
		return nil, err
	}
	if e.drawn || e.unordered {
		return nil, ErrThreadsUnordered
	}
	e.paths, e.ordered, e.progress, e.trails = true, true, progress, newTrails(e)
	err = e.run(nil)
	res := &WaitsResult{Unknown: e.unknown, Outside: e.outside, Unmatched: e.unmatched, Unreceived: e.unreceived(),
		Messages: e.messages}
	res.Switched = slices.ContainsFunc(e.ranks, func(r *rank) bool { return r.calls.SwitchesRecording() })
	e.lastPath(res)
	return res, err
}

// lastPath sets the path to the end of the last strand.
func (e *engine) lastPath(res *WaitsResult) {
	var last *pathEnd
	for _, s := range e.strands {
		if s.path != nil && (last == nil || s.path.at > last.at) {
			last = s.path
		}
	}
	if last != nil {
		res.Path, res.Time = slices.Clone(e.trails.delays(last, nil)), last.at
		res.All = e.trails.all(last.at)
	}
}

// A softSend is a message that is sent, and may wait for its receive.
type softSend struct {
	next  *softSend // of the same request
	met   bool
	at    Time // when its receive was posted
	cause cause
}

// soften has a message that is sent wait for its receive, if the recorded times say so.
func (s *strand) soften(m *message, r *request) *softSend {
	if s.rank.engine.recording == nil || m.mode != standard || m.token || m.channel.to == nil ||
		m.channel.to == s.rank || m.slot < 0 && s.recordedEnd == s.busy {
		return nil
	}
	soft := &softSend{next: r.soft}
	r.soft = soft
	return soft
}

// meetRecorded takes note of when a message was sent, and when it was received, and returns how its receiver and
// its sender wait.
func (e *engine) meetRecorded(send *sendEnd, receive *receiveEnd) (receiver, sender WaitKind) {
	c := send.message.channel
	switch {
	case c.broken || c.to.broken:
		e.unknown++
		return noWait, noWait
	case c.tag == postTag:
		return LatePost, noWait
	case c.tag == completeTag:
		return LateComplete, noWait
	}
	if f := send.soft; f != nil {
		f.met, f.at, f.cause = true, receive.at, cause{receive.cause.path, LateReceiver}
	}
	if r := receive.request; r.sent == 0 || send.at < r.sent {
		r.sent = send.at
	}
	return LateSender, LateReceiver
}

// completes takes note of a request that the call completes.
func (s *strand) completes(r *request) {
	if r.soft != nil {
		last := r.soft
		for last.next != nil {
			last = last.next
		}
		last.next, s.soft, r.soft = s.soft, r.soft, nil
	}
	if r.sent > 0 {
		if s.receives++; s.firstSent == 0 || r.sent < s.firstSent {
			s.firstSent = r.sent
		}
		r.sent = 0
	}
}

// prepareRecorded finds out when the call starts and ends that next has returned.
func (s *strand) prepareRecorded() {
	e := s.rank.engine
	s.calls++
	e.calls++
	s.start, s.recordedEnd, s.latest = e.recording.Times(&s.at)
	s.busy = s.start
	if s.at.Local {
		s.busy = s.recordedEnd
	}
	e.trails.come(s)
	s.soft, s.firstSent, s.receives, s.own.soft, s.own.sent = nil, 0, 0, nil, 0
}

// MayWait reports whether a call of a rank may wait for others in a blocking collective operation, as [Waits]
// has it: a root that gives data to others waits for none of them, for example. It is true if that is not known.
func MayWait(o *semantics.Operation, rank int) bool {
	need.That(o != nil, "replay: no operation")
	p := o.Role
	switch {
	case p == nil || !p.Collective || p.Nonblocking || p.Persistent || p.On != "comm" && p.On != "win":
		return false
	case o.Communicator != nil && o.Communicator.Size() == 1 && !o.Communicator.IsInter():
		return false
	case p.Data == "Scan" || p.Data == "Exscan" || isOfNeighbours(p) || isRooted(p) && o.Root < 0:
		return true
	}
	return needOf(p, o.Root == rank) != needsNone
}

// kindOf returns how members wait in a collective operation.
func (n *instance) kindOf(a *arrival) WaitKind {
	p := n.Role
	switch {
	case a.comm.broken || p.On == "fh":
		return noWait
	case p.Data == "Barrier":
		return WaitAtBarrier
	case p.Data == "Scan" || p.Data == "Exscan":
		return EarlyScan
	case isOfNeighbours(p):
		return LateNeighbor
	case p.On == "win":
		return WaitAtFence
	case n.needOf(int(a.member)) == needsRoot:
		return LateRoot
	case p.Gets.Of == "root":
		return EarlyRoot
	}
	return WaitAtNxN
}

// A scan is a prefix reduction, as far as members have entered it, one after the other.
type scan struct {
	entered []cause // by member
	count   int     // of the members from the first on that have entered
	last    Time    // of these
	by      cause
	needed  []cause // by member: the last of those of lower rank
	done    []Time  // the same
}

// enterScan takes note of a member of a prefix reduction, for which those of higher rank wait.
func (n *instance) enterScan(member int, at cause) {
	if n.scan == nil {
		n.scan = new(scan)
	}
	c := n.scan
	if len(n.arrivals) == 1 {
		*c = scan{entered: make([]cause, len(n.Enter)), needed: make([]cause, len(n.Enter)),
			done: make([]Time, len(n.Enter))}
	}
	c.entered[member] = at
	for c.count < len(n.Enter) && n.Enter[c.count] >= 0 {
		k := c.count
		if c.needed[k], c.done[k] = c.by, c.last; n.Enter[k] > c.last || k == 0 {
			c.last, c.by = n.Enter[k], c.entered[k]
		}
		c.count++
	}
}

// A lateWait is a call that waited for a message that was sent at a time.
type lateWait struct {
	sent Time
	kept any
}

// maxLate is how many calls of a rank that waited for messages are kept, to see whether messages that were sent
// before come after them.
const maxLate = 64

// finishRecorded ends the call when it did.
func (s *strand) finishRecorded() {
	e := s.rank.engine
	s.completes(&s.own)
	for f := s.soft; f != nil; f = f.next {
		if f.met && f.at <= s.latest {
			s.until(f.at, f.cause)
		}
	}
	if !s.at.Local && s.op.epoch == opensAccess {
		s.waitForPosts()
	}
	if !s.at.Local && s.op.lockCall != noLock {
		s.contend()
	}
	s.rank.received(s.firstSent)
	if s.end > s.start && s.cause.path != nil && s.cause.kind != noWait && !s.at.Local {
		s.tellWait()
	}
	if s.end <= s.start || s.end > s.latest { // it went on by itself
		s.cause = cause{}
	}
	e.trails.advance(s)
	e.trails.spend(s)
	s.clock = s.recordedEnd
}

// waitForPosts has MPI_Win_start wait for MPI_Win_post, as it may, if that was called before it ended.
func (s *strand) waitForPosts() {
	for i := range s.op.taken {
		c := s.op.taken[i].channel
		if c == nil || c.broken || c.sends.len() == 0 {
			continue
		}
		if post := c.sends.first(); post.at <= s.latest {
			s.until(post.at, cause{post.cause.path, LatePost})
		}
	}
}

// tellWait tells the recording that the call waited.
func (s *strand) tellWait() {
	e, culprit := s.rank.engine, s.cause.path
	w := &e.waited
	*w = Waited{Call: &s.at, Kind: s.cause.kind, Start: s.start, Latest: s.latest, Since: s.end,
		Rank: e.ranks[culprit.rank].number, strand: s}
	kept := e.recording.Waited(w)
	if w.Kind != LateSender || kept == nil || s.receives > 1 {
		return
	}
	if r := s.rank; len(r.late) == maxLate {
		r.late = append(r.late[:0], r.late[1:]...)
	}
	s.rank.late = append(s.rank.late, lateWait{s.end, kept})
}

// received takes note that the rank has received a message that was sent at a time: calls that waited for
// messages that were sent later received them in the wrong order.
func (r *rank) received(sent Time) {
	if sent == 0 {
		return
	}
	for n := len(r.late); n > 0 && r.late[n-1].sent > sent; n-- {
		r.engine.recording.WrongOrder(r.late[n-1].kept)
		r.late = r.late[:n-1]
	}
}

// releaseRecorded has the call go on that ended first of those that wait for what never comes.
func (e *engine) releaseRecorded() bool {
	if e.recording == nil {
		return false
	}
	var first *strand
	for _, s := range e.strands {
		if s.state == blocked && (first == nil || s.recordedEnd < first.recordedEnd) {
			first = s
		}
	}
	if first == nil {
		return false
	}
	if e.unmatched++; e.unmatched > maxUnmatched {
		e.fail(errUnmatched)
		return false
	}
	first.abandon()
	return true
}

// abandon has a call go on without what it waits for, and what comes after it on the same channel or
// communicator makes nobody wait: it may be another message or operation than it seems.
func (s *strand) abandon() {
	e := s.rank.engine
	waits := func(s2 *strand) bool { return s2 == s }
	for _, c := range e.channelList {
		for i := range c.receives.list[c.receives.head:] {
			c.broken = s.leaves(&c.receives.list[c.receives.head+i].request) || c.broken
		}
		for i := range c.sends.list[c.sends.head:] {
			c.broken = s.leaves(&c.sends.list[c.sends.head+i].request) || c.broken
		}
		n := len(c.probers)
		c.probers = slices.DeleteFunc(c.probers, waits)
		c.broken = c.broken || len(c.probers) < n
	}
	for _, c := range e.commList {
		for _, n := range c.open {
			for i := range n.arrivals {
				c.broken = s.leaves(&n.arrivals[i].request) || c.broken
			}
		}
	}
	for i := range s.rank.posted { // they may take any message that comes
		s.rank.broken = s.leaves(&s.rank.posted[i].request) || s.rank.broken
	}
	s.rank.lookers = slices.DeleteFunc(s.rank.lookers, waits)
	for i := range s.rank.slots {
		s.rank.slots[i].expected = slices.DeleteFunc(s.rank.slots[i].expected, waits)
	}
	s.own = request{}
	s.end, s.cause, s.missing, s.state = s.busy, cause{}, 0, ending
	e.later.push(moment{at: s.recordedEnd, strand: s})
}

// leaves has what stands for a request be done without the call, and reports whether the call waited for it.
func (s *strand) leaves(r **request) bool {
	switch {
	case *r == &s.own:
		*r = &request{left: math.MaxInt32, gone: true}
	case *r != nil && (*r).waiter == s:
		(*r).waiter = nil
	default:
		return false
	}
	return true
}

// lacks reports whether a communicator has members that are not in the trace.
func (e *engine) lacks(of *semantics.Communicator) bool {
	if of.InRunOrder() {
		return true
	}
	for group := range 2 {
		if slices.ContainsFunc(of.Members(group), func(rank int) bool { return e.byNumber[rank] == nil }) {
			return true
		}
	}
	return false
}
