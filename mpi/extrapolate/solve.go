package extrapolate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/text"
)

// A solver finds the program of which traces are.
type solver struct {
	ctx      context.Context
	o        Options
	traces   [][]*rank // by number of ranks, ascending
	declared *cst.Table
	streamed map[int]cst.Function // what functions are that stand for the runs of an argument
	advances bool                 // there are such runs
	longest  uint64               // calls of a rank
	numbers  interner
	calls    interner
	ranks    []int64           // numbers of these: of the traces, and that is made
	grid     *grid             // that is tried
	foreign  []feature         // of other grids
	nearest  bool              // what has no expression is taken from the nearest rank
	forced   bool              // that may be, at places of the finest split
	merging  bool              // programs have the calls of all ranks, with conditions
	asked    map[int]bool      // numbers of dimensions of grids that the program has of MPI
	single   bool              // a program of all ranks alike is known: others are longer
	rivals   bool              // a program is known, and others must make the same
	fitted   map[string][]expr // in this grid
	varied   map[string]bool   // strings that do not count and differ
	knowledge
}

// A class is ranks that have one program, or classes of a finer split.
type class struct {
	name  string
	split split
	finer map[string]*class // by name; nil if the class has a program
	order []*class          // the same

	body  []*place
	one   bool      // trace that has such ranks
	first *rank     // of the largest trace
	alike []trait   // of all ranks in the traces
	all   [][]*rank // by trace
}

// failure says why a class has no program.
type failure struct {
	class, what string
	depth       int // how far it came: of several, the one that came furthest is told
}

func (f *failure) Error() string { return f.what }

// force returns the run of a program that is known but for what the traces do not determine, or else that in which
// the fewest numbers do not follow from all traces.
func (s *solver) force(known *made) (best *made, err error) {
	s.forced, s.rivals, s.single = true, true, false
	if known != nil {
		s.place(known.grid, 3)
		m := &made{solver: s, grid: known.grid, root: known.root}
		return m, m.make()
	}
	var why *Error
	for dims := 1; dims <= 3; dims++ {
		for _, g := range grids(dims, s.ranks) {
			s.place(g, 2)
			root, failed := s.root()
			if s.ctx.Err() != nil {
				return nil, context.Cause(s.ctx)
			}
			if failed != nil {
				if why == nil {
					why = &Error{Problems: []string{failed.class + ": " + failed.what}}
				}
				continue
			}
			m := &made{solver: s, grid: g, root: root}
			if err := m.make(); err != nil {
				return nil, err
			}
			if best == nil || len(m.problems) < len(best.problems) {
				best = m
			}
		}
	}
	if best == nil {
		return nil, why
	}
	return best, nil
}

// maxLongerGrid is how much longer the program of a rival in another grid is at most, in bits.
const maxLongerGrid = 4

// fixedBits says how unlikely an extent is the same on any number of ranks.
const fixedBits = 3

// solve finds the shortest program in any grid. Those in other grids that are not much longer must make the
// same.
func (s *solver) solve() (*made, error) {
	for _, t := range s.traces {
		s.ranks = append(s.ranks, int64(len(t)))
	}
	s.ranks = append(s.ranks, int64(s.o.Ranks))
	best, whys, err := s.shortest(3)
	if s.ctx.Err() != nil || best != nil && err == nil {
		return best, err
	}
	s.merging = true
	defer func() { s.merging = false }()
	merged, _, open := s.shortest(1)
	switch {
	case merged == nil:
	case best == nil || merged.bits < best.bits:
		return merged, open
	case best.grid.thin && open == nil && best.equal(merged): // a second way to the same
		return merged, nil
	}
	if best == nil && err == nil {
		err = &Error{Problems: whys, NoGrid: true}
	}
	return best, err
}

// A search is for the shortest program.
type search struct {
	*solver
	best *made
	open error // what is not determined in the best
	held []*made
	whys []string
}

// shortest returns the shortest program in any grid of so many dimensions at most, and why grids of so many
// dimensions have none if there is none in any. Grids with an extent that is the same on any number of ranks come last.
func (s *solver) shortest(most int) (best *made, whys []string, open error) {
	s.single = false
	x := search{solver: s}
	unasked := func(dims int) bool { return dims > 1 && len(s.asked) > 0 && !s.asked[dims] }
	for dims := 1; dims <= most; dims++ {
		if unasked(dims) {
			continue
		}
		x.dimensions(dims, false)
		if dims == 1 && x.best != nil && x.best.root.finer == nil && !x.best.foreign() && x.open == nil {
			break // what is longer in a grid of more dimensions has no other classes
		}
	}
	if most > 1 && !s.single && !unasked(2) {
		x.dimensions(2, true)
	}
	for dims := 2; dims <= most && x.best == nil; dims++ {
		if unasked(dims) { // the program has a grid of another kind, and of its own
			x.dimensions(dims, false)
		}
	}
	switch {
	case s.ctx.Err() != nil:
		return nil, nil, context.Cause(s.ctx)
	case x.best == nil || x.open != nil:
		return x.best, x.whys, x.open
	}
	for _, m := range x.held {
		if m.bits <= x.best.bits+maxLongerGrid && !x.best.equal(m) {
			return x.best, x.whys, s.differ(x.best, m)
		}
	}
	return x.best, x.whys, nil
}

// dimensions tries grids of so many dimensions: those with an extent that is fixed, or the others.
func (x *search) dimensions(dims int, fixed bool) {
	why := ""
	for _, g := range grids(dims, x.ranks) {
		if g.fixed != fixed || x.ctx.Err() != nil {
			continue
		}
		if failed := x.try(g); failed != nil && why == "" {
			why = fmt.Sprintf("%s (%s): %s: %s", text.Plural(uint64(dims), "dimension"), g.name, failed.class,
				failed.what)
		}
	}
	if !fixed {
		x.whys = append(x.whys, why)
	}
}

// try looks for a program in a grid.
func (x *search) try(g *grid) *failure {
	s := x.solver
	s.place(g, 3)
	root, failed := s.root()
	if failed != nil {
		return failed
	}
	s.rivals, s.single = true, s.single || root.finer == nil
	s.pool(root)
	m := &made{solver: s, grid: g, root: root, bits: root.bits()}
	if g.fixed {
		m.bits += fixedBits
	}
	noGrid := g.dims > 1 && !s.asked[g.dims] && root.finer == nil && !root.hasPlaces()
	if noGrid {
		m.bits += foreignBits // nothing says that ranks are in a grid
	}
	err := m.make()
	if err == nil {
		x.held = append(x.held, m)
	}
	if err == nil && g.thin {
		err = &Error{Problems: []string{fmt.Sprintf(
			"the grid of the ranks: %s holds for the traces, and has one rank in a dimension in some", g.name)}}
	}
	switch best := x.best; {
	case noGrid && x.open != nil && best.grid.dims == 1: // nor can one decide what a line does not
	case best == nil, best.grid.thin && !g.thin,
		best.grid.thin == g.thin && (m.bits < best.bits || m.bits == best.bits && x.open != nil && err == nil):
		x.best, x.open = m, err
	}
	return nil
}

func (s *solver) differ(a, b *made) error {
	return &Error{Problems: []string{fmt.Sprintf(
		"the grid of the ranks: %s and %s both hold for the traces, and differ on %d ranks", a.grid.name,
		b.grid.name, s.o.Ranks)}}
}

// seen returns an error if what a run depends on does not show in the traces, and adds that to what is not
// determined otherwise: more traces are the cure of both.
func (s *solver) seen(m *made, err error) error {
	wrong := new(Error)
	if err != nil && !errors.As(err, &wrong) {
		return err
	}
	if m == nil {
		_, wrong.Ranks = unseen(s.ranks, nil)
		return err
	}
	problems, ranks := unseen(s.ranks, m)
	if problems = append(problems, wrong.Problems...); len(problems) > 0 {
		return &Error{Problems: problems, Ranks: ranks, NoGrid: wrong.NoGrid}
	}
	return nil
}

// maxNamed is how many numbers are named that may depend on one thing.
const maxNamed = 5

// maxSuggested is the largest number of ranks of a trace that is asked for.
const maxSuggested = 1024

// unseen returns what is the same on all numbers of ranks but the last, and a run depends on: what depends on
// it is not seen. It says which numbers of the run have the value, as these may depend on it, and of how many
// ranks a trace shows that, 0 if none does.
func unseen(numbers []int64, m *made) (problems []string, ranks int) {
	last := len(numbers) - 1
	constants(numbers, m, func(x feature, values []int64) {
		problem := fmt.Sprintf("what depends on %s: %d in all traces, and %d on %d ranks", x.name, values[0],
			values[last], numbers[last])
		list := []string(nil)
		if m != nil {
			list = m.alike(values[0])
		}
		if len(list) > maxNamed {
			problem += fmt.Sprintf(": perhaps %s and %d more", strings.Join(list[:maxNamed], ", "), len(list)-maxNamed)
		} else if len(list) > 0 {
			problem += ": perhaps " + strings.Join(list, ", ")
		}
		problems = append(problems, problem)
	})
	if len(problems) == 0 {
		return nil, 0
	}
	for _, powers := range []bool{true, false} {
		for n := numbers[0] + 1; n <= maxSuggested; n++ {
			if slices.Contains(numbers, n) || powers &&
				slices.ContainsFunc(append([]int64{n}, numbers...), func(n int64) bool { return n&(n-1) > 0 }) {
				continue
			}
			open := false
			constants(append([]int64{n}, numbers...), m, func(feature, []int64) { open = true })
			if !open {
				return problems, int(n)
			}
		}
	}
	return problems, 0
}

// constants yields what is the same on all numbers of ranks but the last, those of the same values once: of
// what the run depends on, or of all if there is none.
func constants(numbers []int64, m *made, yield func(x feature, values []int64)) {
	last := len(numbers) - 1
	known := make(map[string]bool)
	in := func(g *grid, list []feature) {
		open := false // of an extent, its logarithms need not be told
		for _, x := range list {
			var values []int64
			for _, n := range numbers {
				values = append(values, x.of(&point{ranks: n, spot: g.spot(n, 0)}))
			}
			if !x.odd {
				open = false
			}
			if open || values[0] == values[last] || !isConstant(values[:last]) ||
				m != nil && !m.dependsOn(x, values[0]) {
				continue
			}
			open = !x.odd
			if key := fmt.Sprint(values); !known[key] {
				known[key] = true
				if g.dims > 1 {
					x.name += " of a grid (" + g.name + ")"
				}
				yield(x, values)
			}
		}
	}
	for dims := 1; dims <= 3; dims++ {
		for _, g := range grids(dims, numbers) {
			if m == nil || m.grid.dims == dims && m.grid.like(g, numbers) || m.asked[dims] && g.created() {
				in(g, sizes(g))
			}
		}
	}
	for _, g := range grids(1, numbers) {
		in(g, append(sizes(g)[:1], remainders()...))
	}
}

// place puts ranks in a grid, where numbers may be of others of so many dimensions.
func (s *solver) place(g *grid, most int) {
	g.asked = s.asked[g.dims] && g.created()
	s.grid, s.fitted, s.foreign = g, make(map[string][]expr), foreign(g, most, s.ranks, s.asked)
	for _, t := range s.traces {
		for _, r := range t {
			r.spot = g.spot(r.ranks, r.rank)
		}
	}
}

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

// minKnown is of how many ranks a class is of a split finer than that of ends: anything is expressions of
// few.
const minKnown = 3

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
	worst := &failure{class: name, what: "ranks of one place make different calls"}
	var best []*place
	shortest := math.MaxInt
	try := func(like, same likeness, flat bool) bool {
		failed := s.program(c, like, same, flat)
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
			if failed := s.merged(c, like); failed != nil {
				if failed.depth > worst.depth {
					worst = failed
				}
			} else if bits := c.bits(); bits < shortest {
				best, shortest = c.body, bits
			}
			continue
		}
		if like > equal && c.foldedAs(like, within[like]) {
			continue
		}
		for _, same := range []likeness{labelled, function} {
			if try(like, same, false) {
				break
			}
		}
		if c.nests(like) {
			try(like, labelled, true)
		}
	}
	if best != nil {
		c.body = best
		return c, nil
	}
	return nil, worst
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
	return s.fitProgram(c, body, like, same, flat, &tries)
}

// fitProgram fits a program or, if something in a loop has no expression, that with the loop written out,
// or without its last or its first iteration.
func (s *solver) fitProgram(c *class, body []*place, like, same likeness, flat bool, tries *int) *failure {
	*tries--
	c.body = body
	for _, list := range c.all {
		for _, r := range list {
			seq := r.folded[like]
			if flat {
				seq = flattened(seq)
			}
			if !match(c.body, r, seq, like, same) {
				return &failure{c.name,
					fmt.Sprintf("the calls of rank %d of %d differ from those of rank %d of %d by more than trip counts",
						r.rank, r.ranks, c.first.rank, c.first.ranks), 1}
			}
		}
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

// copied returns a body in loops of which there are more.
func copied(body []*place, more int) []*place {
	list := make([]*place, 0, len(body))
	for _, p := range body {
		list = append(list, &place{like: p.like, depth: p.depth + more, loop: p.loop, varies: p.varies,
			condition: p.condition,
			body:      copied(p.body, more)})
	}
	return list
}
