package extrapolate

import (
	"fmt"
	"slices"
)

// knowledge is what numbers are found to be in any class, by the call in the program that they are of: ranks
// at an edge do what others do with fewer numbers of ranks to show it.
type knowledge struct {
	exprs   map[string][]expr
	lacking bool // a number had no expression
	grown   bool // something is known since
	learns  bool // classes are fitted on after one has failed, as others may tell more
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
	k.lacking = k.lacking || byRanks(at, values) > 0
}

// root returns the class of all ranks in the grid that is tried.
func (s *solver) root() (*class, *failure) {
	s.knowledge = knowledge{exprs: make(map[string][]expr)}
	root, failed := s.classes(whole, "all ranks", s.traces)
	if failed == nil || !s.lacking || s.grid.thin || s.ctx.Err() != nil {
		return root, failed
	}
	s.learns = true
	_, failed2 := s.classes(whole, "all ranks", s.traces)
	s.learns = false
	if failed2 == nil || s.grown {
		return s.classes(whole, "all ranks", s.traces)
	}
	return nil, failed
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
