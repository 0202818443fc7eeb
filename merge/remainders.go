package merge

import (
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/reprise-trace/reprise/internal/pairmap"
)

// Remainders numbers the terminals of a shape by what they are without some of their
// slots.
type remainders struct {
	shape   *shape
	begins  []int       // of the columns of each terminal
	of      []int       // the first terminal of each number
	numbers pairmap.Map // of hashes, and how many of the same hash come before
	values  []int64     // scratch of hash
}

func newRemainders(s *shape, begins []int) *remainders { return &remainders{shape: s, begins: begins} }

// number returns the number of a terminal without slots, which ascend. Those that are
// left out are the same for all terminals of a function.
func (r *remainders) number(t int, without []int) uint32 {
	h := r.hash(t, without)
	for tries := uint32(0); ; tries++ {
		n, ok := r.numbers.Get(h, tries)
		if !ok {
			n = uint32(len(r.of))
			r.numbers.Put(h, tries, n)
			r.of = append(r.of, t)
			return n
		}
		if r.equal(r.of[n], t, without) {
			return n
		}
	}
}

// hash returns a hash of what a terminal is without slots.
func (r *remainders) hash(t int, without []int) uint64 {
	f := &r.shape.forms[t]
	h := mix(mix(mix(0, uint64(f.function)), uint64(f.place)), f.streams)
	for _, n := range f.lengths {
		h = mix(h, uint64(n))
	}
	slots := r.slots(f)
	for i := range r.shape.rows {
		r.values = r.shape.rows[i].append(r.values[:0], r.begins[t], r.begins[t]+slots)
		for k, v := range r.values {
			if !slices.Contains(without, k) {
				h = mix(h, uint64(v))
			}
		}
	}
	if len(r.shape.rows) > 0 {
		return h
	}
	for k := range slots {
		if slices.Contains(without, k) {
			continue
		}
		if len(r.shape.values) > 0 {
			h = mix(h, uint64(r.shape.values[r.begins[t]+k]))
			continue
		}
		h = mix(h, r.shape.columns[r.begins[t]+k].hash())
	}
	return h
}

// slots returns how many slots of a terminal count.
func (r *remainders) slots(f *form) int {
	if f.grouped && r.shape.ungrouped {
		return f.slots - groupSlots
	}
	return f.slots
}

// seeds differ from one process to the next, so that nobody can prepare arguments
// that collide. No output depends on them.
var seeds = [2]uint64{rand.Uint64(), rand.Uint64()}

// mix returns a hash of what has the hash h, and v.
func mix(h, v uint64) uint64 {
	high, low := bits.Mul64(h^seeds[0], v^seeds[1])
	return high ^ low
}

// equal reports whether two terminals are equal without slots.
func (r *remainders) equal(t, u int, without []int) bool {
	s := r.shape
	f, g := &s.forms[t], &s.forms[u]
	if f.function != g.function || f.place != g.place || f.streams != g.streams || f.slots != g.slots ||
		!slices.Equal(f.lengths, g.lengths) {
		return false
	}
	for k := range r.slots(f) {
		if slices.Contains(without, k) {
			continue
		}
		i, j := r.begins[t]+k, r.begins[u]+k
		if !s.equalSlots(i, j) {
			return false
		}
	}
	return true
}

// equalSlots reports whether all ranks have the same in two slots.
func (s *shape) equalSlots(i, j int) bool {
	switch {
	case len(s.values) > 0:
		return s.values[i] == s.values[j]
	case len(s.columns) > 0:
		return s.columns[i].equal(&s.columns[j])
	}
	for k := range s.rows {
		if s.rows[k].at(i) != s.rows[k].at(j) {
			return false
		}
	}
	return true
}
