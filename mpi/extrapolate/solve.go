package extrapolate

import (
	"context"
	"fmt"
	"slices"

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
	ranks    []int64             // numbers of these: of the traces, and that is made
	grid     *grid               // that is tried
	foreign  []feature           // of other grids
	nearest  bool                // what has no expression is taken from the nearest rank
	forced   bool                // that may be, at places of the finest split
	loose    bool                // iterations of programs may end in loops of ranks
	whole    []*made             // programs of all ranks, also of which something is not determined
	merging  bool                // programs have the calls of all ranks, with conditions
	asked    map[int]bool        // numbers of dimensions of grids that the program has of MPI
	single   bool                // a program of all ranks alike is known: others are longer
	rivals   bool                // a program is known, and others must make the same
	fitted   map[[32]byte][]expr // in this grid, by the digest of points and values
	varied   map[string]bool     // strings that do not count and differ
	visits   []placedVisit       // memory of matchers
	knowledge
}

// maxForced is how many forced runs are checked at most.
const maxForced = 4

// force returns the run of a program that is known but for what the traces do not determine, or else those in which
// the fewest numbers do not follow from all traces, the fewest first.
func (s *solver) force(known *made) (list []*made, err error) {
	s.forced, s.rivals, s.single = true, true, false
	if known != nil {
		for _, open := range s.candidates(known) {
			s.place(open.grid, 3)
			m := &made{solver: s, grid: open.grid, root: open.root}
			if err := m.make(); err != nil {
				return list, err
			}
			list = append(list, m)
		}
		return list, nil
	}
	var why *Error
	for dims := 1; dims <= 3; dims++ {
		if dims == 3 && len(list) > 0 && !s.asked[dims] {
			break // more classes have fewer ranks that tell what they do
		}
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
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil, why
	}
	slices.SortStableFunc(list, func(a, b *made) int { return len(a.problems) - len(b.problems) })
	return list[:min(len(list), maxForced)], nil
}

// candidates returns the shortest programs, that which is known first.
func (s *solver) candidates(known *made) []*made {
	list := slices.DeleteFunc(slices.Clone(s.whole), func(m *made) bool { return m == known })
	slices.SortStableFunc(list, func(a, b *made) int { return a.bits - b.bits })
	list = append([]*made{known}, list...)
	return list[:min(len(list), maxForced)]
}

// maxLongerGrid is how much longer the program of a rival in another grid is at most, in bits.
const maxLongerGrid = 4

// unaskedBits says how long it is that ranks are in a grid that the program does not ask MPI for.
const unaskedBits = 4

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
	most := 1
	if best == nil && !slices.ContainsFunc(s.ranks, func(n int64) bool { return squareRoot(n)*squareRoot(n) != n }) {
		most = 2
	}
	merged, _, open := s.shortest(most)
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
	if most > 2 && x.best == nil {
		x.dimensions(3, true)
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
	if g.dims > 1 && !s.asked[g.dims] {
		m.bits += unaskedBits
	}
	noGrid := g.dims > 1 && !s.asked[g.dims] && root.finer == nil && !root.hasPlaces()
	if noGrid {
		m.bits += foreignBits // nothing says that ranks are in a grid
	}
	err := m.make()
	if s.o.Force {
		s.whole = append(s.whole, m)
	}
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

// place puts ranks in a grid, where numbers may be of others of so many dimensions.
func (s *solver) place(g *grid, most int) {
	g.asked = s.asked[g.dims] && g.created()
	s.grid, s.fitted, s.foreign = g, make(map[[32]byte][]expr), foreign(g, most, s.ranks, s.asked)
	for _, t := range s.traces {
		for _, r := range t {
			r.spot = g.spot(r.ranks, r.rank)
		}
	}
}
