package extrapolate

import (
	"fmt"
	"math"
	"slices"
)

// minKnown is of how many ranks a class is of a split finer than that of ends: anything is expressions of
// few.
const minKnown = 3

// classes returns the classes of ranks, by trace.
func (s *solver) classes(by split, name string, ranks [][]*rank) (*class, *failure) {
	c, failed := s.class(name, by, ranks)
	if failed == nil {
		return c, nil
	}
	if by++; s.forced && by > ends && s.ctx.Err() == nil {
		s.nearest = true
		forced, failed := s.class(name, by-1, ranks)
		s.nearest = false
		if failed == nil || by == allSplits {
			return forced, failed
		}
	}
	if by == allSplits || s.single || (s.learns() || s.grid.coarse()) && by > ends || s.ctx.Err() != nil {
		return nil, failed
	}
	c, failed = &class{split: by, finer: make(map[string]*class)}, nil
	parts := make(map[string][][]*rank)
	var order []string
	for t, list := range ranks {
		for _, r := range list {
			name := by.class(r.rank, r.spot, s.grid.dims)
			if parts[name] == nil {
				parts[name] = make([][]*rank, len(ranks))
				order = append(order, name)
			}
			parts[name][t] = append(parts[name][t], r)
		}
	}
	if s.learns() { // those of the most ranks tell most
		known := func(name string) (n int) {
			for _, list := range parts[name] {
				n += len(list)
			}
			return n
		}
		slices.SortStableFunc(order, func(a, b string) int { return known(b) - known(a) })
	}
	for _, name := range order {
		finer, why := s.classes(by, name, parts[name])
		if why != nil {
			if failed == nil || failed.depth < why.depth {
				failed = why
			}
			if !s.learns() {
				return nil, failed
			}
		}
		c.finer[name] = finer
		c.order = append(c.order, finer)
	}
	if failed != nil {
		return nil, failed
	}
	return c, nil
}

// class returns a class of which all ranks have one program.
func (s *solver) class(name string, by split, ranks [][]*rank) (*class, *failure) {
	c := &class{name: name, split: by, all: ranks}
	traces, known := 0, 0
	for _, list := range ranks {
		if known += len(list); len(list) > 0 {
			traces++
			c.first = list[len(list)/2]
		}
	}
	if by > ends && known < minKnown && !s.forced {
		return nil, &failure{class: name, what: "traces have too few ranks in this place"}
	}
	c.one, c.alike = traces == 1, traits(s.grid, ranks)
	best, worst := s.programs(c, by)
	differ := best == nil && worst.depth <= 1 // the calls of ranks
	if differ && by == whole && !s.merging && !s.learns() && s.ctx.Err() == nil {
		known := s.knowledge.copied()
		s.loose = true
		if best, worst = s.programs(c, by); best == nil {
			s.knowledge = known // what is no program tells others nothing
		}
		s.loose = false
	}
	if best != nil {
		c.body = best
		return c, nil
	}
	return nil, worst
}

// programs returns the shortest program of a class, or else why the one that came furthest is none.
func (s *solver) programs(c *class, by split) (best []*place, worst *failure) {
	worst = &failure{class: c.name, what: "ranks of one place make different calls"}
	shortest := math.MaxInt
	tried := func(failed *failure) bool {
		if failed == nil {
			if bits := c.bits(); bits < shortest {
				best, shortest = c.body, bits
			}
			return true
		}
		if failed.depth > worst.depth {
			worst = failed
		}
		return failed.depth > 1 // the calls are those of the program
	}
	for like := range likenesses {
		if s.merging && s.ctx.Err() == nil {
			if by > whole || like > labelled {
				break
			}
			tried(s.merged(c, like))
			continue
		}
		if like > equal && c.foldedAs(like, within[like]) {
			continue
		}
		for _, same := range []likeness{labelled, function} {
			if tried(s.program(c, like, same, false)) {
				break
			}
		}
		if c.nests(like) {
			tried(s.program(c, like, labelled, true))
		}
	}
	if s.merging && by == whole && s.ctx.Err() == nil {
		tried(s.flowing(c))
	}
	return best, worst
}

// foldedAs reports whether the loops of one likeness are those of another, on all ranks.
func (c *class) foldedAs(like, other likeness) bool {
	for _, list := range c.all {
		for _, r := range list {
			if len(r.folded[like]) != len(r.folded[other]) || !alike(r.folded[like], r.folded[other], equal) {
				return false
			}
		}
	}
	return true
}

// maxUnrolled is the most iterations of a loop that are written out, as they have nothing in common.
const maxUnrolled = 64

// maxTries is how many programs are tried that have the loops of a rank partly written out.
const maxTries = 6

// program finds the program of a class: the calls and loops of a rank of the largest trace.
//
// Flat loops are those of loops that have nothing but loops in them.
func (s *solver) program(c *class, like, same likeness, flat bool) *failure {
	seq := c.first.folded[like]
	if flat {
		seq = flattened(seq)
	}
	body := newPlaces(seq, 0)
	if body == nil {
		return &failure{class: c.name, what: "loops are too deep in each other"}
	}
	tries := maxTries
	if s.rivals {
		tries = 1
	}
	failed := s.fitProgram(c, body, like, same, flat, &tries)
	for calls := 1; failed != nil && failed.depth == 1 && calls <= maxLeftOut && !s.rivals; calls++ {
		if body := withBeginnings(newPlaces(seq, 0), calls); body != nil {
			tries = 1
			failed = s.fitProgram(c, body, like, same, flat, &tries)
		}
	}
	return failed
}

// maxLeftOut is with how many calls the last iteration of a loop may end, where some numbers of ranks leave out its
// other ones.
const maxLeftOut = 4

// withBeginnings returns a body in which ranks may begin another iteration of each loop after it, and leave it after
// so many calls; nil if no loop has more calls.
func withBeginnings(body []*place, calls int) (list []*place) {
	some := false
	for _, p := range body {
		list = append(list, p)
		if !p.loop || len(p.body) <= calls || slices.ContainsFunc(p.body, func(q *place) bool { return q.loop }) {
			continue
		}
		some = true
		list = append(list, &place{depth: p.depth, loop: true, varies: true, condition: true,
			body: copied(p.body[:calls], 0)})
	}
	if !some {
		return nil
	}
	return list
}

// fitProgram fits a program or, if something in a loop has no expression, that with the loop written out,
// or without its last or its first iteration.
func (s *solver) fitProgram(c *class, body []*place, like, same likeness, flat bool, tries *int) *failure {
	*tries--
	c.body = body
	m := matcher{like: same, folded: like, loose: s.loose || same == sited, visits: s.visits}
	defer func() { s.visits = m.visits }()
	for _, list := range c.all {
		for _, r := range list {
			seq := r.folded[like]
			if flat {
				seq = flattened(seq)
			}
			if !m.match(c.body, r, seq) {
				return &failure{c.name,
					fmt.Sprintf("the calls of rank %d of %d differ from those of "+
						"rank %d of %d by more than trip counts", r.rank, r.ranks, c.first.rank, c.first.ranks), 1}
			}
		}
	}
	if same == sited {
		idle(c.body)
	}
	f := &programFitter{solver: s, class: c}
	failed := f.body(c.body)
	if failed == nil {
		return nil
	}
	retry := func(i int, by func(p *place) []*place) bool {
		return *tries > 0 && s.fitProgram(c, replaced(body, f.path[:i+1], by), like, same, flat, tries) == nil
	}
	for i, p := range slices.Backward(f.path) {
		if n, ok := p.constantTrips(); ok {
			written := func(p *place) (list []*place) {
				for range n {
					list = append(list, copied(p.body, -1)...)
				}
				return list
			}
			if retry(i, written) {
				return nil
			}
			return failed
		}
	}
	for i, p := range slices.Backward(f.path) {
		if !p.varies {
			continue
		}
		lastOut := func(p *place) []*place { return append(copied([]*place{p}, 0), copied(p.body, -1)...) }
		firstOut := func(p *place) []*place { return append(copied(p.body, -1), copied([]*place{p}, 0)...) }
		if retry(i, lastOut) || retry(i, firstOut) {
			return nil
		}
	}
	return failed
}

// nests reports whether ranks of a class have loops with nothing but a loop in them: such as one whose iterations are
// equal in parts, where a count is one more in the first of them.
func (c *class) nests(like likeness) bool {
	var in func(seq []*node) bool
	in = func(seq []*node) bool {
		return slices.ContainsFunc(seq, func(n *node) bool {
			return n.trips > 0 && (len(n.rounds[0]) == 1 && n.rounds[0][0].trips > 0 || in(n.rounds[0]))
		})
	}
	return slices.ContainsFunc(c.all, func(list []*rank) bool {
		return slices.ContainsFunc(list, func(r *rank) bool { return in(r.folded[like]) })
	})
}

// flattened returns nodes in which loops with nothing but a loop in them are one.
func flattened(seq []*node) []*node {
	var list []*node
	for _, n := range seq {
		if n.trips > 0 {
			m := &node{ids: n.ids, trips: n.trips}
			for _, round := range n.rounds {
				m.rounds = append(m.rounds, flattened(round))
			}
			n = m
		}
		if n.trips > 0 && len(n.rounds[0]) == 1 && n.rounds[0][0].trips > 0 &&
			n.trips*n.rounds[0][0].trips <= maxRounds {
			m := &node{ids: n.ids}
			for i := range int(n.trips) {
				for _, inner := range n.round(i) {
					for k := range int(inner.trips) {
						m.rounds = append(m.rounds, inner.round(k))
					}
				}
			}
			m.trips = uint64(len(m.rounds))
			n = m
		}
		list = append(list, n)
	}
	return list
}

// constantTrips returns the trip count of a loop that is the same on all ranks, and not large.
func (p *place) constantTrips() (uint64, bool) {
	if !p.loop || len(p.visits) == 0 {
		return 0, false
	}
	n := p.visits[0].value
	return n, n <= maxUnrolled && !slices.ContainsFunc(p.visits, func(v visit) bool { return v.value != n })
}

// replaced returns a copy of a body with the last place on a path replaced.
func replaced(body []*place, path []*place, by func(*place) []*place) []*place {
	var list []*place
	for _, p := range body {
		switch {
		case p != path[0]:
			list = append(list, copied([]*place{p}, 0)...)
		case len(path) == 1:
			list = append(list, by(p)...)
		default:
			n := &place{like: p.like, depth: p.depth, loop: true, varies: p.varies, condition: p.condition,
				body: replaced(p.body, path[1:], by)}
			list = append(list, n)
		}
	}
	return list
}

// copied returns the body inside more loops.
func copied(body []*place, more int) []*place {
	list := make([]*place, 0, len(body))
	for _, p := range body {
		list = append(list, &place{like: p.like, depth: p.depth + more, loop: p.loop, varies: p.varies,
			condition: p.condition,
			body:      copied(p.body, more)})
	}
	return list
}
