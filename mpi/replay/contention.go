package replay

// A recording tells when calls ended, so which rank had a lock of a window first need not be decided: ranks return
// from MPI_Win_unlock in the order in which they had it. An MPI may have a rank wait for a lock in MPI_Win_lock or
// only in a flush or MPI_Win_unlock: it is a call of these that had not ended when another rank gave the lock up.

// A release is a call of MPI_Win_unlock, by which a rank gives up the lock of a target.
type release struct {
	at    Time // when the call started
	cause cause
	rank  *rank
}

// releases are the calls that give up a lock, shared or exclusive.
type releases struct {
	open []*release
	last *release // of those that have ended, the one that started last; nil for none
}

// of returns the releases of claims like c.
func (l *lock) of(c *claim) *releases {
	if c.exclusive {
		return &l.releases[1]
	}
	return &l.releases[0]
}

// lockRecorded does what a call that starts does to locks.
func (s *strand) lockRecorded(o *op) {
	r := s.rank
	switch o.lockCall {
	case locks:
		r.claimRecorded(o.lock, o.exclusive)
	case locksAll:
		for k, l := range r.engine.locks {
			if k.window == o.locked {
				r.claimRecorded(l, false)
			}
		}
	case unlocks:
		for _, c := range r.claimsOf(o.locked, o.lock) {
			c.release = &release{at: s.start, cause: cause{s.pathTo().path, LockContention}, rank: r}
			all := c.lock.of(c)
			all.open = append(all.open, c.release)
		}
	}
}

// claimRecorded has a rank claim a lock, in place of a claim whose end was not recorded.
func (r *rank) claimRecorded(l *lock, exclusive bool) {
	if before := r.claims[l]; before != nil {
		before.drop()
	}
	r.claim(l, exclusive)
}

// drop forgets a claim.
func (c *claim) drop() {
	delete(c.rank.claims, c.lock)
	c.rank.engine.open--
}

// contend has the call that ends wait for others to give up the locks that it needs, and gives up those that it
// unlocks.
func (s *strand) contend() {
	o := s.op
	of := o.lock
	if o.lockCall == locksAll {
		of = nil
	}
	for _, c := range s.rank.claimsOf(o.locked, of) {
		if o.lockCall == unlocks && c.release == nil { // another thread has claimed it since
			continue
		}
		s.contendWith(&c.lock.releases[1])
		if c.exclusive {
			s.contendWith(&c.lock.releases[0])
		}
		if o.lockCall == unlocks {
			c.lock.of(c).end(c.release)
			c.drop()
		}
	}
}

// contendWith has the call wait for releases of a lock. One that has not ended is of a rank that had the lock before,
// if the call is MPI_Win_lock: others may let that rank have it afterwards.
func (s *strand) contendWith(all *releases) {
	if x := all.last; x != nil {
		s.waitForRelease(x)
	}
	if s.op.lockCall == locks || s.op.lockCall == locksAll {
		for _, x := range all.open {
			s.waitForRelease(x)
		}
	}
}

func (s *strand) waitForRelease(x *release) {
	if x.rank != s.rank && x.at <= s.latest {
		s.until(x.at, x.cause)
	}
}

// end takes note that the call of a release has ended.
func (all *releases) end(x *release) {
	for i, other := range all.open {
		if other == x {
			all.open = append(all.open[:i], all.open[i+1:]...)
			break
		}
	}
	if all.last == nil || x.at > all.last.at {
		all.last = x
	}
}
