package fact

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
)

// A set is numbers.
type set []uint64

func (s set) has(n int) bool { return n/64 < len(s) && s[n/64]>>(n%64)&1 != 0 }

func (s *set) add(n int) {
	if n/64 >= len(*s) {
		*s = append(*s, make(set, n/64+1-len(*s))...)
	}
	(*s)[n/64] |= 1 << (n % 64)
}

func (s set) remove(n int) { s[n/64] &^= 1 << (n % 64) }

// addAll adds the members of another set, and reports whether one was missing.
func (s *set) addAll(t set) (changed bool) {
	if len(t) > len(*s) {
		*s = append(*s, make(set, len(t)-len(*s))...)
	}
	for k, word := range t {
		if (*s)[k]|word != (*s)[k] {
			(*s)[k] |= word
			changed = true
		}
	}
	return changed
}

func (s set) count() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// all returns the members in their order.
func (s set) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for k, word := range s {
			for ; word != 0; word &= word - 1 {
				if !yield(64*k + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// A place is addresses of an object.
type place struct {
	object *object
	addresses
}

// first returns the first address of an object.
func (o *object) first() place { return place{o, at(0)} }

// all returns all addresses of an object.
func (o *object) all() place {
	if o.size > 0 {
		return place{o, addresses{lo: 0, hi: o.size + 1}}
	}
	return place{o, addresses{lo: -maxSize, hi: maxSize}}
}

// Pointers are where a value may point to.
type pointers struct {
	whole set     // numbers of objects, to all of them
	parts []place // of other objects, in the order of their numbers
}

// to returns pointers to one place.
func to(at place) (p pointers) {
	p.add(at)
	return p
}

func (p *pointers) isEmpty() bool { return len(p.whole) == 0 && len(p.parts) == 0 }

// Bounds of what is kept apart.
const (
	maxPlaces = 12 // in an object, of one value
	maxCells  = 64
)

// add adds a place, and reports whether it was missing.
func (p *pointers) add(at place) bool {
	if p.whole.has(at.object.number) {
		return false
	}
	if n := at.object.size; n > 0 {
		outside := at.lo < 0 && at.lo > -maxSize/2 // some programs count arrays from 1 so
		if at.lo, at.hi = max(at.lo, 0), min(at.hi, n+1); at.lo >= at.hi || outside {
			at.addresses = addresses{lo: 0, hi: n + 1}
		}
	} else {
		at.lo, at.hi = clamp(at.lo), max(clamp(at.hi), clamp(at.lo)+1)
	}
	first, _ := slices.BinarySearchFunc(p.parts, at.object.number, func(q place, number int) int { return cmp.Compare(q.object.number, number) })
	end := first
	for ; end < len(p.parts) && p.parts[end].object == at.object; end++ {
		if p.parts[end].contain(at.addresses) {
			return false
		}
	}
	if at == at.object.all() || end-first == maxPlaces {
		p.parts = slices.Delete(p.parts, first, end)
		p.whole.add(at.object.number)
		return true
	}
	p.parts = slices.Insert(p.parts, end, at)
	return true
}

// addAll adds the places of others, and reports whether one was missing.
func (p *pointers) addAll(others pointers) (changed bool) {
	if p.whole.addAll(others.whole) {
		changed = true
		p.parts = slices.DeleteFunc(p.parts, func(q place) bool { return p.whole.has(q.object.number) })
	}
	at := 0
	for _, q := range others.parts {
		for at < len(p.parts) && p.parts[at].object.number < q.object.number {
			at++
		}
		if p.hasFrom(at, q) {
			continue
		}
		changed = p.add(q) || changed
	}
	return changed
}

// hasFrom reports whether a place is there that is to be in the parts from a number on.
func (p *pointers) hasFrom(at int, q place) bool {
	for ; at < len(p.parts) && p.parts[at].object == q.object; at++ {
		if p.parts[at].contain(q.addresses) {
			return true
		}
	}
	return p.whole.has(q.object.number)
}

// unbounded returns the objects of places.
func unbounded(pts pointers) pointers {
	var all pointers
	all.whole.addAll(pts.whole)
	for _, q := range slices.Backward(pts.parts) {
		all.whole.add(q.object.number)
	}
	return all
}

// A node is a value that may be an address.
type node struct {
	pts   pointers
	users []*instruction
}
