package extrapolate

import "slices"

// A place is a call or a loop of the program of a class of ranks.
type place struct {
	like      [likenesses + 1]int // of a call
	depth     int                 // loops around
	loop      bool
	varies    bool // the iterations of a loop differ on the rank that it is of
	optional  bool // not all ranks make the call, in what is merged
	condition bool // a loop of one iteration or none
	body      []*place

	visits []visit // by all ranks, in the order of the traces
	trips  form    // of a loop
	call   *call   // that is made
}

// A visit is a call that a rank makes, or a loop that it comes to.
type visit struct {
	rank   *rank
	rounds [maxDepth]int64 // of the loops around, outermost first
	value  uint64          // the terminal of a call, or the trip count of a loop
}

// maxDepth is how deep loops are in each other at most.
const maxDepth = 6

// newPlaces returns the program of a rank, nil if loops are too deep in each other.
func newPlaces(seq []*node, depth int) []*place {
	list := []*place{}
	for _, n := range seq {
		p := &place{like: n.ids, depth: depth, loop: n.trips > 0, varies: len(n.rounds) > 1}
		if p.loop {
			if depth == maxDepth {
				return nil
			}
			if p.body = newPlaces(n.rounds[0], depth+1); p.body == nil {
				return nil
			}
		}
		list = append(list, p)
	}
	return list
}

// A matcher finds how the calls of a rank follow from a program.
type matcher struct {
	rank   *rank
	like   likeness // of calls that are the same one of the program
	folded likeness // of the rounds of a loop
	rounds [maxDepth]int64
	loose  bool // iterations may end in a loop that is written out
	steps  int  // that may still be taken
	visits []placedVisit
}

type placedVisit struct {
	place *place
	visit
}

// maxSteps bounds the time to match a rank.
const maxSteps = 1 << 17

// match adds the visits of a rank to the places of a program, and reports whether it is one of the program.
func (m *matcher) match(body []*place, r *rank, seq []*node) bool {
	m.rank, m.rounds, m.steps, m.visits = r, [maxDepth]int64{}, maxSteps, m.visits[:0]
	if !m.sequence(body, seq, func(rest []*node) bool { return len(rest) == 0 }) {
		return false
	}
	for _, v := range m.visits {
		v.place.visits = append(v.place.visits, v.visit)
	}
	return true
}

func (m *matcher) visit(p *place, value uint64) {
	m.visits = append(m.visits, placedVisit{p, visit{m.rank, m.rounds, value}})
}

// sequence matches a body with the beginning of seq, and the rest of that by then.
func (m *matcher) sequence(body []*place, seq []*node, then func([]*node) bool) bool {
	for len(body) > 0 && !body[0].loop {
		for len(seq) > 0 && seq[0].trips > 0 {
			if seq = m.writtenOut(seq); seq == nil {
				return false
			}
		}
		m.steps--
		if len(seq) == 0 || seq[0].ids[m.like] != body[0].like[m.like] || m.steps < 0 {
			return false
		}
		m.visit(body[0], uint64(seq[0].terminal))
		body, seq = body[1:], seq[1:]
	}
	if len(body) == 0 {
		return then(seq)
	}
	p := body[0]
	done := len(m.visits)
	if len(seq) > 0 && seq[0].trips > 0 && !p.condition && m.whole(p, seq[0]) {
		m.visit(p, seq[0].trips)
		if m.sequence(body[1:], seq[1:], then) {
			return true
		}
	}
	m.visits = m.visits[:done]
	if len(seq) > 0 && seq[0].trips > 0 && seq[0].trips <= maxUnrolled {
		if written := m.writtenOut(seq); written != nil && m.sequence(body, written, then) {
			return true
		}
		m.visits = m.visits[:done]
	}
	return m.written(p, 0, nil, seq, func(trips int64, rest []*node) bool {
		m.visit(p, uint64(trips))
		return m.sequence(body[1:], rest, then)
	})
}

// writtenOut returns nodes with the loop that they begin with written out, nil if that takes too much.
func (m *matcher) writtenOut(seq []*node) []*node {
	n := seq[0]
	if m.steps -= int(min(n.trips, maxSteps)) + len(seq); m.steps < 0 {
		return nil
	}
	var written []*node
	for i := range int(n.trips) {
		written = append(written, n.round(i)...)
	}
	return append(written, seq[1:]...)
}

// whole matches a loop of a program with one of the rank, of equal rounds with the first and the last.
func (m *matcher) whole(p *place, n *node) bool {
	at := &m.rounds[p.depth]
	outer := *at
	defer func() { *at = outer }()
	step := int64(1)
	if len(n.rounds) == 1 {
		step = max(1, int64(n.trips)-1)
	}
	for i := int64(0); i < int64(n.trips); i += step {
		*at = i
		if !m.sequence(p.body, n.round(int(i)), func(rest []*node) bool { return len(rest) == 0 }) {
			return false
		}
	}
	return true
}

// written matches a loop of a program with as many rounds as there are that are no loop of the rank, each
// like the first.
func (m *matcher) written(p *place, round int64, first, seq []*node, then func(trips int64, rest []*node) bool) bool {
	at := &m.rounds[p.depth]
	outer, done := *at, len(m.visits)
	defer func() { *at = outer }()
	if len(seq) > 0 && !(p.condition && round > 0) {
		*at = round
		more := m.sequence(p.body, seq, func(rest []*node) bool {
			if len(rest) >= len(seq) && !(m.loose && m.calls(done)) {
				return false
			}
			own := consumed(seq, rest)
			if round == 0 {
				first = own
			}
			if m.like != sited && len(own) == len(first) && !alike(first, own, m.folded) {
				return false
			}
			return m.written(p, round+1, first, rest, then)
		})
		if more {
			return true
		}
		m.visits = m.visits[:done]
	}
	if m.steps--; m.steps < 0 {
		return false
	}
	*at = 0
	return then(round, seq)
}

// calls reports whether there is a call among the visits from one on.
func (m *matcher) calls(from int) bool {
	return slices.ContainsFunc(m.visits[from:], func(v placedVisit) bool { return !v.place.loop })
}

// consumed returns the nodes of seq before the rest of it, none if the rest begins in a loop of it.
func consumed(seq, rest []*node) []*node {
	n := len(seq) - len(rest)
	if n < 0 || len(rest) > 0 && rest[0] != seq[n] {
		return nil
	}
	return seq[:n]
}
