package extrapolate

import "slices"

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
