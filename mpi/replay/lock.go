package replay

import (
	"cmp"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
)

// MPI may have MPI_Win_lock return before it has the lock, and begin no access until then. Here a rank asks
// for a lock as late as MPI allows: in the first call that cannot return without it. That is MPI_Win_unlock,
// a flush, or one that waits for the request of an access, and of the rank's own part of a window, which it
// may access without MPI, MPI_Win_lock. So ranks wait for each other only where every MPI has them do so, or
// has them wait longer.

// A lock is that of a target: the part of a window that a rank has. There is one only if a rank locks it
// exclusively: others never wait.
type lock struct {
	lockKey
	had     []*claim // those that have it: one, or several that are shared
	waiting []*claim // in the order in which they asked, and at one time in that of ranks
	cause   cause    // that a claim came to its end last

	releases [2]releases // in a recording: of shared and of exclusive claims
}

type lockKey struct {
	window *semantics.Communicator
	target int // rank in the run
}

// A claim is the lock of a target as one rank has it, or is to have it, from MPI_Win_lock to MPI_Win_unlock.
// Of MPI_Win_lock_all it is there from the first access to the target on.
type claim struct {
	lock      *lock
	rank      *rank
	exclusive bool
	asked     Time // when the rank asked for it; −1 if it has not
	had       bool
	ends      bool      // MPI_Win_unlock has been called
	end       Time      // when that ends, if the rank had the lock
	cause     cause     // of end
	callers   []*strand // whose calls wait for it
	release   *release  // in a recording: that which ends it; nil for none yet

	// Accesses that wait for the lock: how long they take, and those that requests stand for.
	pending  Time
	requests []pendingAccess
}

type pendingAccess struct {
	request *request
	takes   Time
	cause   cause
}

// A lockCall is what a call does to locks.
type lockCall uint8

const (
	noLock lockCall = iota
	locks
	locksAll
	unlocks
	flushes
)

var lockCalls = map[*spec.Role]lockCall{
	spec.RoleOf("MPI_Win_lock"):            locks,
	spec.RoleOf("MPI_Win_lock_all"):        locksAll,
	spec.RoleOf("MPI_Win_unlock"):          unlocks,
	spec.RoleOf("MPI_Win_unlock_all"):      unlocks,
	spec.RoleOf("MPI_Win_flush"):           flushes,
	spec.RoleOf("MPI_Win_flush_all"):       flushes,
	spec.RoleOf("MPI_Win_flush_local"):     flushes,
	spec.RoleOf("MPI_Win_flush_local_all"): flushes,
}

// findLocks finds the targets that are locked exclusively.
func (e *engine) findLocks() {
	if e.drawn || !slices.ContainsFunc(e.model.Trace().Functions(), func(f cst.Function) bool {
		return lockCalls[spec.RoleOf(f.Name)] == locks
	}) {
		return
	}
	e.locks = make(map[lockKey]*lock)
	for _, r := range e.ranks {
		for o := range r.calls.All() {
			if lockCalls[o.Operation.Role] != locks {
				continue
			}
			call := r.calls.Call(o.Terminal)
			k, ok := targetOf(o.Operation, call)
			if ok && isExclusive(call) && isChecked(call) && e.locks[k] == nil {
				e.locks[k] = &lock{lockKey: k}
			}
		}
	}
}

// targetOf returns the target that a call names, false if it names none, or it is not known which.
func targetOf(o *semantics.Operation, call trace.Call) (lockKey, bool) {
	rank, ok := call.Arg("rank")
	if c := o.Communicator; ok && c != nil && rank.Kind() == cst.KindRank && rank.Int() >= 0 &&
		rank.Int() < int64(c.Size()) && !c.IsInter() {
		return lockKey{c, c.Member(int(rank.Int()))}, true
	}
	return lockKey{}, false
}

// isExclusive reports whether a call of MPI_Win_lock asks for an exclusive lock.
func isExclusive(call trace.Call) bool {
	kind, ok := call.Arg("lock_type")
	return ok && kind.Kind() == cst.KindInt && spec.IsExclusiveLock(kind.Int())
}

// isChecked reports whether a lock is asked for without MPI_MODE_NOCHECK, which is all that may be asserted
// of it.
func isChecked(call trace.Call) bool {
	assert, ok := call.Arg("assert")
	return !ok || assert.Kind() == cst.KindInt && assert.Int() == 0
}

// compileLock adds to an op what a call does to locks that ranks may wait for.
func (r *rank) compileLock(o *op, meaning *semantics.Operation, call trace.Call) {
	kind := lockCalls[meaning.Role]
	if kind == noLock || meaning.Communicator == nil || len(r.engine.locks) == 0 {
		return
	}
	switch _, one := call.Arg("rank"); {
	case (kind == locks || kind == locksAll) && !isChecked(call):
		return
	case kind == locksAll: // of the rank's own part
		o.lock = r.engine.locks[lockKey{meaning.Communicator, r.number}]
	case one || kind == locks:
		k, named := targetOf(meaning, call)
		if o.lock = r.engine.locks[k]; !named || o.lock == nil { // such as that of MPI_PROC_NULL
			return
		}
	}
	o.lockCall, o.exclusive, o.locked = kind, isExclusive(call), meaning.Communicator
}

// lock does what a call does to locks.
func (s *strand) lock(o *op) {
	r := s.rank
	if r.engine.recording != nil {
		s.lockRecorded(o)
		return
	}
	switch o.lockCall {
	case noLock:
	case locksAll:
		if r.lockedAll == nil {
			r.lockedAll = make(map[*semantics.Communicator]bool)
		}
		if r.lockedAll[o.locked] = true; o.lock == nil {
			return
		}
		fallthrough
	case locks:
		if before := r.claims[o.lock]; before != nil { // its end was not recorded
			s.unlock(before)
		}
		if c := r.claim(o.lock, o.exclusive); o.lock.target == r.number {
			s.need(c)
		}
	default:
		for _, c := range r.claimsOf(o.locked, o.lock) {
			s.need(c)
			if o.lockCall == unlocks {
				s.unlock(c)
			}
		}
		if o.lockCall == unlocks && o.lock == nil {
			delete(r.lockedAll, o.locked)
		}
	}
}

// claim returns a new claim of a rank.
func (r *rank) claim(l *lock, exclusive bool) *claim {
	if r.claims == nil {
		r.claims = make(map[*lock]*claim)
	}
	c := &claim{lock: l, rank: r, exclusive: exclusive, asked: -1}
	r.claims[l] = c
	r.engine.opened()
	return c
}

// claimOf returns the claim that an access to a target needs, nil for none.
func (r *rank) claimOf(l *lock) *claim {
	c := r.claims[l]
	if c == nil && r.lockedAll[l.window] {
		c = r.claim(l, false)
	}
	return c
}

// claimsOf returns the claim of a lock or, if that is nil, those of a window or, if that is nil, all, in an
// order that is always the same.
func (r *rank) claimsOf(window *semantics.Communicator, of *lock) (list []*claim) {
	if of != nil {
		if c := r.claims[of]; c != nil {
			list = append(list, c)
		}
		return list
	}
	for l, c := range r.claims {
		if window == nil || l.window == window {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *claim) int {
		return cmp.Or(cmp.Compare(a.lock.window.Name, b.lock.window.Name), cmp.Compare(a.lock.target, b.lock.target))
	})
	return list
}

// need has the call wait for a lock, unless the rank has it.
func (s *strand) need(c *claim) {
	if c.had {
		return
	}
	c.callers = append(c.callers, s)
	s.missing++
	s.ask(c)
}

// needRequested asks for locks that accesses wait for whose requests calls wait for.
func (r *rank) needRequested(s *strand) {
	for _, c := range r.claimsOf(nil, nil) {
		if slices.ContainsFunc(c.requests, func(q pendingAccess) bool { return q.request.waiter != nil }) {
			s.ask(c)
		}
	}
}

// ask asks for a lock, if that has not been done. Who gets it is known when others had time to ask, too.
func (s *strand) ask(c *claim) {
	if c.asked >= 0 {
		return
	}
	c.asked = s.busy
	l := c.lock
	i, _ := slices.BinarySearchFunc(l.waiting, c, func(a, b *claim) int {
		return cmp.Or(cmp.Compare(a.asked, b.asked), cmp.Compare(a.rank.number, b.rank.number))
	})
	l.waiting = slices.Insert(l.waiting, i, c)
	s.rank.engine.later.push(moment{at: c.asked, lock: l})
}

// unlock ends a claim when the call ends or, if the rank does not have the lock, as soon as it had it.
func (s *strand) unlock(c *claim) {
	delete(s.rank.claims, c.lock)
	if c.ends = true; !c.had {
		s.ask(c)
		return
	}
	s.until(s.busy, cause{})
	c.endAt(s.end, s.pathBy(s.end, s.cause))
}

func (c *claim) endAt(end Time, cause cause) {
	c.end, c.cause = end, cause
	c.rank.engine.later.push(moment{at: end, lock: c.lock})
}

// access begins an access to a target that may be locked, as a part of a request, and reports whether it
// waits for the lock.
func (s *strand) access(m *message, q *request, cost *Cost) bool {
	c := s.rank.claimOf(m.lock)
	if c == nil || c.had {
		return false
	}
	takes := add(max(0, cost.Transfer), cost.Receive)
	if m.slot < 0 {
		c.pending = max(c.pending, takes)
		return true
	}
	q.left++
	c.requests = append(c.requests, pendingAccess{q, takes, s.pathTo()})
	s.rank.deferred++
	return true
}

// resolve has claims end, and gives the lock to those that ask for it by now and that no other excludes.
func (l *lock) resolve(now Time) {
	l.had = slices.DeleteFunc(l.had, func(c *claim) bool {
		if !c.ends || c.end > now {
			return false
		}
		l.cause = c.cause
		c.rank.engine.open--
		return true
	})
	l.waiting = slices.DeleteFunc(l.waiting, func(c *claim) bool {
		if c.asked > now || len(l.had) > 0 && (c.exclusive || l.had[0].exclusive) {
			return false
		}
		l.had = append(l.had, c)
		c.begin(now)
		return true
	})
}

// begin has a rank have the lock: accesses that waited for it begin, and calls go on when these are complete.
func (c *claim) begin(now Time) {
	e := c.rank.engine
	var cause cause
	if now > c.asked {
		cause = c.lock.cause
	}
	done := add(now, c.pending)
	for _, q := range c.requests {
		at := add(now, q.takes)
		done = max(done, at)
		if cause.path == nil {
			e.part(q.request, at, q.cause)
		} else {
			e.part(q.request, at, cause)
		}
	}
	c.rank.accessed = max(c.rank.accessed, done)
	c.rank.deferred -= len(c.requests)
	callers := c.callers
	c.had, c.pending, c.requests, c.callers = true, 0, nil, nil
	end, by := done, cause
	for _, s := range callers { // the last of them is that which ends it
		s.until(done, cause)
		end, by = s.end, s.pathBy(s.end, s.cause)
	}
	if c.ends {
		c.endAt(end, by)
	}
	for _, s := range callers {
		s.proceed(done, cause)
	}
}
