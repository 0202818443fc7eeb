package replay

import (
	"cmp"
	"slices"
)

// A Path is a critical path of a run: what happened one after the other, without a break, from its start to
// its end, so that the run ends earlier only if some of it does. Where a call waits for a message, it goes on
// from where that was sent or, if it is a rendezvous and the receiver came later, where its receive was
// posted; where a member of a collective operation waits, from the last member that entered of those that it
// needs. Of several that come at one time it is one.
type Path struct {
	Steps []PathStep // by signature, in ascending order: their times add up to the end of the run
	Ranks []PathRank // that the path is on, in ascending order, of the same
}

// A PathStep is what a critical path has of the calls with a signature.
type PathStep struct {
	Signature int
	Count     uint64 // times that the path has such a call, or computing before one
	Computing Time   // before such calls, and within those that do nothing to other ranks
	Calls     Time   // in such calls, with the time until what they wait for comes
}

// A PathRank is how long a critical path is on a rank: the time until a message or an operation comes counts
// at the rank that waits for it.
type PathRank struct {
	Rank             int
	Computing, Calls Time
}

// A pathEnd is where a path has come by a time, in a call. It goes on from the one before. It does not
// change, so that messages and other strands go on from it.
type pathEnd struct {
	before    *pathEnd
	at        Time
	computing Time  // since the moment before; the rest is in the call
	rank      int32 // its index
	signature int32
	length    int32     // of the chain up to here
	most      int32     // that it may be
	sums      *pathSums // if there is none before: of all up to here

	trail trailEnd // in a recording
}

type pathSums []pathSum

// A pathSum is what a path has of a signature or, if the key is −1 minus its index, of a rank.
type pathSum struct {
	key              int
	count            uint64
	computing, calls Time
}

// minChain is how long chains get before they are summed up. They get longer where sums are, so that
// both cost the same.
const minChain = 512

// A cause is what the end of a call or of an operation depends on.
type cause struct {
	path *pathEnd // up to there; nil for the strand itself, and if there are no paths
	kind WaitKind // how the call waits for it
}

// pathTo returns the path of a strand up to its busy time in its call, as a cause of what others wait for.
func (s *strand) pathTo() cause {
	switch e := s.rank.engine; {
	case !e.paths:
		return cause{}
	case e.recording != nil:
		return cause{path: e.trails.toStart(s)}
	}
	if s.here == nil || s.here.at != s.busy {
		s.here = s.step(s.path, s.busy, s.start-s.clock)
	}
	return cause{path: s.here}
}

// pathBy returns the path of a strand up to a time in its call that depends on a cause, nil for the strand
// itself.
func (s *strand) pathBy(at Time, c cause) cause {
	switch {
	case !s.rank.engine.paths:
		return cause{}
	case c.path != nil:
		return cause{path: s.step(c.path, at, 0)}
	}
	return cause{path: s.step(s.path, at, s.start-s.clock)}
}

// follow sets the path of a strand to that of the call that ends.
func (s *strand) follow() {
	switch {
	case s.cause.path != nil:
		s.path = s.step(s.cause.path, s.end, 0)
	case s.at.Local:
		s.path = s.step(s.path, s.end, s.end-s.clock)
	case s.here != nil && s.here.at == s.end:
		s.path = s.here
	default:
		s.path = s.step(s.path, s.end, s.start-s.clock)
	}
	s.here = nil
}

// step returns where a path comes to in the call of a strand.
func (s *strand) step(before *pathEnd, at, computing Time) *pathEnd {
	p := &pathEnd{before: before, at: at, computing: computing, rank: int32(s.rank.index),
		signature: int32(s.at.Rank.Signature(s.at.Terminal)), length: 1, most: minChain}
	if before != nil {
		if before.length >= before.most {
			s.rank.engine.sumUp(before)
		}
		p.length, p.most = before.length+1, before.most
	}
	return p
}

// sumUp replaces the chain up to an end by its sums.
func (e *engine) sumUp(p *pathEnd) {
	var list pathSums
	add := func(sum pathSum) {
		i := sum.key
		if i < 0 {
			i = len(e.summed) + sum.key
		}
		if e.summed[i] == 0 {
			list = append(list, sum)
			e.summed[i] = int32(len(list))
			return
		}
		s := &list[e.summed[i]-1]
		s.count, s.computing, s.calls = s.count+sum.count, s.computing+sum.computing, s.calls+sum.calls
	}
	for q := p; q != nil; q = q.before {
		if q.sums != nil {
			for _, sum := range *q.sums {
				add(sum)
			}
			break
		}
		from := Time(0)
		if q.before != nil {
			from = q.before.at
		}
		sum := pathSum{key: int(q.signature), count: 1, computing: q.computing, calls: q.at - from - q.computing}
		add(sum)
		sum.key = -1 - int(q.rank)
		add(sum)
	}
	for _, sum := range list {
		e.summed[(sum.key+len(e.summed))%len(e.summed)] = 0
	}
	p.sums, p.before, p.length, p.most = &list, nil, 0, max(minChain, int32(len(list)))
}

// criticalPath returns the path to the end of the last rank.
func (e *engine) criticalPath() *Path {
	var last *pathEnd
	for _, s := range e.strands {
		if s.path != nil && (last == nil || s.path.at > last.at) {
			last = s.path
		}
	}
	p := new(Path)
	if last == nil {
		return p
	}
	e.sumUp(last)
	slices.SortFunc(*last.sums, func(a, b pathSum) int { return cmp.Compare(a.key, b.key) })
	for _, sum := range *last.sums {
		if sum.key >= 0 {
			p.Steps = append(p.Steps, PathStep{Signature: sum.key, Count: sum.count, Computing: sum.computing,
				Calls: sum.calls})
		} else {
			p.Ranks = append(p.Ranks, PathRank{Rank: e.ranks[-1-sum.key].number, Computing: sum.computing,
				Calls: sum.calls})
		}
	}
	slices.Reverse(p.Ranks)
	return p
}
