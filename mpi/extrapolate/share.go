package extrapolate

import (
	"fmt"
	"maps"
	"slices"
)

// knowledge is what numbers are found to be in any class, by the call in the program that they are of: ranks
// at an edge do what others do with fewer numbers of ranks to show it.
type knowledge struct {
	exprs   map[string][]expr
	lacking map[string]bool // numbers that had no expression
	wanted  map[string]bool // these, while others may tell them: nothing else is fitted then
	grown   bool            // something is known since
	vain    map[string]int  // how often classes were asked for a number and do not have it either
}

// learns reports whether classes are fitted on after one has failed, as others may tell what it lacks.
func (k *knowledge) learns() bool { return k.wanted != nil }

// copied returns a copy.
func (k *knowledge) copied() knowledge {
	c := *k
	c.exprs, c.lacking, c.vain = maps.Clone(k.exprs), maps.Clone(k.lacking), maps.Clone(k.vain)
	return c
}

// add keeps the expressions of a number.
func (k *knowledge) add(key string, exprs []expr) {
	for _, e := range exprs {
		if !slices.ContainsFunc(k.exprs[key], func(known expr) bool { return known.text == e.text }) {
			k.exprs[key], k.grown = append(k.exprs[key], e), true
		}
	}
}

// share keeps the expressions of a number for other classes. If it has none, or is known of one trace alone,
// it takes those of others that have its values, all of which must agree.
func (f *programFitter) share(r *form, key string, at []*point, values []int64, one bool) {
	k := &f.knowledge
	if len(r.exprs) > 0 && !one {
		k.add(key, r.exprs)
		return
	}
	var held []expr
	for _, e := range k.exprs[key] {
		if e.holds(at, values) {
			held = append(held, e)
		}
	}
	if len(held) > 0 {
		r.exprs = held
		return
	}
	if byRanks(at, values) > 0 {
		k.lacking[key] = true
	}
	if k.learns() {
		k.vain[key]++
	}
}

// maxLearned is how often what classes lack is learned from others at most.
const maxLearned = 8

// maxVain is how many classes, from the largest on, are asked for a number in vain.
const maxVain = 16

// asks reports whether a number is fitted while classes learn from each other.
func (k *knowledge) asks(key string) bool { return k.wanted[key] && k.vain[key] < maxVain }

// root returns the class of all ranks in the grid that is tried. As long as it fails for what a class lacks, this is
// learned from others.
func (s *solver) root() (*class, *failure) {
	s.knowledge = knowledge{exprs: make(map[string][]expr), lacking: make(map[string]bool)}
	root, failed := s.classes(whole, "all ranks", s.traces)
	learned := 0 // numbers that others were asked for
	for range maxLearned {
		if failed == nil || len(s.lacking) == learned || s.grid.thin || s.ctx.Err() != nil {
			break
		}
		learned = len(s.lacking)
		s.wanted, s.vain, s.grown = maps.Clone(s.lacking), make(map[string]int), false
		_, _ = s.classes(whole, "all ranks", s.traces)
		if s.wanted = nil; !s.grown {
			break
		}
		root, failed = s.classes(whole, "all ranks", s.traces)
	}
	return root, failed
}

// pool fits numbers of several classes together that are of one call site: it is one expression of the program.
// Where there is none, classes keep what each has.
func (s *solver) pool(root *class) {
	type pooled struct {
		forms  []*form
		at     []*point
		values []int64
	}
	pools, order := make(map[string]*pooled), []string{}
	root.leaves(func(c *class) {
		c.numbers(func(_ *place, _ string, f *form) {
			if f.site == 0 {
				return
			}
			key := fmt.Sprint(f.site, f.depth, f.role, f.array, f.what)
			p := pools[key]
			if p == nil {
				p = new(pooled)
				pools[key], order = p, append(order, key)
			}
			p.forms = append(p.forms, f)
			p.at, p.values = append(p.at, f.at...), append(p.values, f.values...)
		})
	})
	for _, key := range order {
		p := pools[key]
		if len(p.forms) < 2 {
			continue
		}
		exprs := s.fit(p.at, p.values, p.forms[0].depth, p.forms[0].array, p.forms[0].role)
		if len(exprs) == 0 {
			continue
		}
		for _, f := range p.forms {
			f.exprs, f.open = exprs, ""
			f.weak = !exprs[0].constant && byRanks(p.at, p.values) == 2
		}
	}
}
