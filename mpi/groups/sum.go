package groups

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/symbolic"
)

// A family is what was created on a group.
type family struct {
	slots [][]*symbolic.Group // by creation that all members call, of those that are not left out
	some  []*symbolic.Group   // by creations that only future members call
	gaps  []gap
}

// A summary says which objects that loops create stand for each other.
type summary struct {
	groups   *symbolic.Groups
	families map[*symbolic.Group]*family
	alike    map[*symbolic.Group]int // equal for groups that are alike
	numbers  map[string]int
	same     map[*symbolic.Group]*symbolic.Group // the first that is alike
	done     map[*symbolic.Group]bool
}

// sum returns the groups of a run, of which those are one that rounds of a loop create
// alike. It reports false if they are not alike.
func (r *run) sum(groups *symbolic.Groups, marks map[*symbolic.Group]*creators, gaps map[*symbolic.Group][]gap) (*Groups, bool) {
	s := summary{
		groups: groups, families: make(map[*symbolic.Group]*family), alike: make(map[*symbolic.Group]int),
		numbers: make(map[string]int), same: make(map[*symbolic.Group]*symbolic.Group), done: make(map[*symbolic.Group]bool),
	}
	var order []*symbolic.Group
	for g := range groups.All() {
		order = append(order, g)
		s.families[g] = &family{gaps: gaps[g]}
		s.same[g] = g
		if p := s.families[g.Parent]; p != nil {
			p.add(g)
		}
	}
	for g, of := range marks { // the last creations may have failed
		f := s.families[g]
		f.slots = append(f.slots, make([][]*symbolic.Group, max(0, of.calls-len(f.slots)))...)
	}
	s.compare(order, r.names(groups))
	for _, g := range order {
		if !s.join(g) {
			return nil, false
		}
	}
	all := &Groups{resolved: groups, same: s.same, repeats: make(map[int][]Repeat), gaps: gaps}
	for _, g := range order {
		if s.same[g] == g {
			all.list = append(all.list, g)
		}
	}
	for _, p := range r.processes {
		all.repeats[p.rank] = p.repeats()
	}
	return all, true
}

// add adds a group that was created on that of the family.
func (f *family) add(g *symbolic.Group) {
	if g.Kind == symbolic.CreateGroup {
		f.some = append(f.some, g)
		return
	}
	for len(f.slots) <= g.Ordinal {
		f.slots = append(f.slots, nil)
	}
	f.slots[g.Ordinal] = append(f.slots[g.Ordinal], g)
}

// names returns by which names which processes know each group.
func (r *run) names(groups *symbolic.Groups) map[*symbolic.Group][]byte {
	names := make(map[*symbolic.Group][]byte)
	for _, p := range r.processes {
		for i := range p.events {
			c := &p.events[i].creation
			if c.Kind == 0 || c.Result.Class == "" {
				continue
			}
			if m, ok := groups.At(p.rank, c.Result, p.events[i].position); ok {
				names[m.Group] = binary.AppendVarint(binary.AppendVarint(names[m.Group], int64(p.rank)), c.Result.ID)
			}
		}
	}
	return names
}

// number returns one number for equal keys.
func (s *summary) number(key []byte) int {
	n, ok := s.numbers[string(key)]
	if !ok {
		n = len(s.numbers)
		s.numbers[string(key)] = n
	}
	return n
}

// compare finds out which groups are alike: they have the same members, who call them the
// same, were created in the same way, and what was created on them is alike.
func (s *summary) compare(order []*symbolic.Group, names map[*symbolic.Group][]byte) {
	lists := make(map[*int]int) // numbers of members, which groups share
	list := func(ranks []int) int {
		if len(ranks) == 0 {
			return -1
		}
		n, ok := lists[&ranks[0]]
		if !ok {
			key := []byte{'m'}
			for _, rank := range ranks {
				key = binary.AppendUvarint(key, uint64(rank))
			}
			n = s.number(key)
			lists[&ranks[0]] = n
		}
		return n
	}
	for _, g := range slices.Backward(order) {
		f := s.families[g]
		key := append([]byte{'g', byte(g.Kind)}, g.Class...)
		key = append(key, 0)
		for _, n := range []int64{g.Color, int64(list(g.Members)), int64(list(g.Remote)), int64(s.number(append([]byte{'n'}, names[g]...)))} {
			key = binary.AppendVarint(key, n)
		}
		for i := range f.slots {
			key = binary.AppendVarint(key, int64(s.slot(f, i)))
		}
		key = append(key, 0)
		for _, child := range f.some {
			key = binary.AppendVarint(key, int64(s.alike[child]))
		}
		for _, gap := range f.gaps {
			for _, n := range []uint64{uint64(gap.skip), uint64(gap.kept), gap.round, gap.left} {
				key = binary.AppendUvarint(key, n)
			}
		}
		s.alike[g] = s.number(key)
	}
}

// slot returns a number that is equal for creations of a family that are alike.
func (s *summary) slot(f *family, i int) int {
	key := []byte{'s'}
	for _, g := range f.slots[i] {
		key = binary.AppendVarint(key, int64(s.alike[g]))
	}
	return s.number(key)
}

// join makes one of creations on a group that repeat where some of them are left out, and
// says how many there are. It reports false if they are not alike.
func (s *summary) join(g *symbolic.Group) bool {
	if s.done[g] {
		return true
	}
	s.done[g] = true
	f := s.families[g]
	if first := s.same[g]; first != g {
		if !s.join(first) {
			return false
		}
		like := s.families[first]
		for i, slot := range f.slots {
			for k, child := range slot {
				s.same[child] = s.same[like.slots[i][k]]
			}
		}
		for i, child := range f.some {
			s.same[child] = s.same[like.some[i]]
		}
		return true
	}
	firsts, ok := s.firsts(f)
	if !ok {
		return false
	}
	count := max(1, g.Count)
	type sum struct {
		last   int
		number uint64
	}
	sums := make(map[int]sum)
	numbers, lasts := f.standsFor()
	for i, first := range firsts {
		sums[first] = sum{max(sums[first].last, lasts[i]), wire.AddSat(sums[first].number, numbers[i])}
	}
	for i, slot := range f.slots {
		for k, child := range slot {
			s.same[child] = f.slots[firsts[i]][k]
			child.Ordinal, child.Count = ordinal(f.gaps, i), wire.MulSat(count, sums[firsts[i]].number)
			child.Last = sums[firsts[i]].last
		}
	}
	for _, child := range f.some {
		child.Count, child.Last = count, child.Ordinal
	}
	return true
}

// firsts returns, for each creation of a family, the first that it is one with.
func (s *summary) firsts(f *family) ([]int, bool) {
	if n := len(f.gaps); n > 0 && wire.AddSat(f.gaps[n-1].sum, uint64(len(f.slots))) > math.MaxInt {
		return nil, false
	}
	alike := make([]int, len(f.slots))
	for i := range f.slots {
		alike[i] = s.slot(f, i)
	}
	firsts := make([]int, len(f.slots))
	for i := range firsts {
		firsts[i] = i
	}
	first := func(i int) int {
		for firsts[i] != i {
			firsts[i] = firsts[firsts[i]]
			i = firsts[i]
		}
		return i
	}
	ends := make(map[int]int) // by the length of what repeats: where that ends that was found last
	for _, g := range f.gaps {
		if g.skip <= ends[g.kept] {
			continue
		}
		low, high := g.low, g.skip // what repeats
		same := func(i int) bool { return i >= 0 && i+g.kept < len(alike) && alike[i] == alike[i+g.kept] }
		for i := low; i < high-g.kept; i++ {
			if !same(i) {
				return nil, false
			}
		}
		for same(low - 1) {
			low--
		}
		for same(high - g.kept) {
			high++
		}
		for i := low; i < high-g.kept; i++ {
			a, b := first(i), first(i+g.kept)
			firsts[max(a, b)] = min(a, b)
		}
		ends[g.kept] = high
	}
	for i := range firsts {
		firsts[i] = first(i)
	}
	return firsts, true
}

// standsFor returns how many creations on a group each that is not left out stands for, and
// how many creations there were before the last of these.
func (f *family) standsFor() (numbers []uint64, lasts []int) {
	numbers, lasts = make([]uint64, len(f.slots)), make([]int, len(f.slots))
	for i := range f.slots {
		numbers[i], lasts[i] = 1, ordinal(f.gaps, i)
	}
	for _, g := range f.gaps {
		for i := g.skip - g.kept; i < g.skip; i++ {
			numbers[i] = wire.MulSat(numbers[i], 1+g.left/g.round)
			lasts[i] += int(g.left)
		}
	}
	return numbers, lasts
}

// ordinal returns how many creations there were before one that is not left out.
func ordinal(gaps []gap, i int) int {
	if k := sort.Search(len(gaps), func(k int) bool { return gaps[k].skip > i }); k > 0 {
		return i + int(gaps[k-1].sum)
	}
	return i
}

// A Repeat is calls of a process that do the same to group objects as the Round calls
// before them, once or several times. None is in another.
type Repeat struct {
	From, Until uint64 // positions, Until not included
	Round       uint64 // ≥ 1, and a divisor of Until−From
}

func (p *process) repeats() []Repeat {
	list := make([]Repeat, 0, len(p.loops))
	for i := range p.loops {
		l := &p.loops[i]
		list = append(list, Repeat{l.from, l.until, l.length * max(1, l.period)})
	}
	slices.SortFunc(list, func(a, b Repeat) int { return cmp.Compare(a.From, b.From) })
	return list
}

// number puts the ordinals of creations into the errors of an error that say those of
// creations that are not left out.
func (g *Groups) number(err error) error {
	var all []error
	switch e := err.(type) {
	case *symbolic.GroupError:
		if e.Parent != nil && e.Kind != symbolic.CreateGroup {
			e.Ordinal = ordinal(g.gaps[e.Parent], e.Ordinal)
		}
	case interface{ Unwrap() []error }:
		all = e.Unwrap()
	default:
		all = []error{errors.Unwrap(err)}
	}
	for _, e := range all {
		if e != nil {
			g.number(e)
		}
	}
	return err
}
