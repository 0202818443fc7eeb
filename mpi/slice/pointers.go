package slice

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

// hasAll reports whether no member of another set is missing.
func (s set) hasAll(t set) bool {
	for k, word := range t {
		if word != 0 && (k >= len(s) || s[k]|word != s[k]) {
			return false
		}
	}
	return true
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

// Pointers are where a value may point to. Those of a pool are not changed any more.
type pointers struct {
	whole set     // numbers of objects, to all of them
	parts []place // of other objects, in the order of their numbers

	number  int       // in a pool, 0 if they are of none
	objects *pointers // to all of the same objects, nil if not asked for yet
	mark    int       // the number of the last union that they were added to
}

// to returns pointers to one place.
func to(at place) *pointers {
	p := &pointers{}
	p.add(at)
	return p
}

func (p *pointers) isEmpty() bool { return p == nil || len(p.whole) == 0 && len(p.parts) == 0 }

// Bounds of what is kept apart.
const (
	maxPlaces = 64 // in an object, of one value
	maxCells  = 1024
)

// add adds a place.
func (p *pointers) add(at place) {
	if p.whole.has(at.object.number) {
		return
	}
	if n := at.object.size; n > 0 {
		outside := at.lo < 0 && at.lo > -maxSize/2 // some programs count arrays from 1 so
		if at.lo, at.hi = max(at.lo, 0), min(at.hi, n+1); at.lo >= at.hi || outside {
			at.addresses = addresses{lo: 0, hi: n + 1}
		}
	} else {
		at.lo, at.hi = clamp(at.lo), max(clamp(at.hi), clamp(at.lo)+1)
	}
	first := len(p.parts)
	if first > 0 && p.parts[first-1].object.number >= at.object.number {
		first, _ = slices.BinarySearchFunc(p.parts, at.object.number, func(q place, number int) int {
			return cmp.Compare(q.object.number, number)
		})
	}
	end := endOfObject(p.parts, first, at.object)
	switch {
	case hasPlace(p.parts[first:end], at.addresses):
	case at == at.object.all() || end-first == maxPlaces:
		p.parts = slices.Delete(p.parts, first, end)
		p.whole.add(at.object.number)
	default:
		p.parts = slices.Insert(p.parts, end, at)
	}
}

// endOfObject returns where the places of an object end that begin at a number.
func endOfObject(parts []place, at int, o *object) int {
	for at < len(parts) && parts[at].object == o {
		at++
	}
	return at
}

// hasPlace reports whether addresses are of one of the places of an object.
func hasPlace(parts []place, of addresses) bool {
	for k := range parts {
		if parts[k].contain(of) {
			return true
		}
	}
	return false
}

// addAll adds the places of others. It does not change p.parts, but replaces them.
func (p *pointers) addAll(others *pointers) {
	if others == nil || p.hasAll(others) {
		return
	}
	p.whole.addAll(others.whole)
	parts := make([]place, 0, len(p.parts)+len(others.parts))
	for a, b := p.parts, others.parts; len(a) > 0 || len(b) > 0; {
		var o *object
		if len(b) == 0 || len(a) > 0 && a[0].object.number <= b[0].object.number {
			o = a[0].object
		} else {
			o = b[0].object
		}
		endA, endB := endOfObject(a, 0, o), endOfObject(b, 0, o)
		first := len(parts)
		if !p.whole.has(o.number) {
			parts = append(parts, a[:endA]...)
			for _, q := range b[:endB] {
				if endA > 0 && hasPlace(parts[first:], q.addresses) {
					continue
				}
				if len(parts)-first == maxPlaces {
					parts = parts[:first]
					p.whole.add(o.number)
					break
				}
				parts = append(parts, q)
			}
		}
		a, b = a[endA:], b[endB:]
	}
	p.parts = parts
}

// hasAll reports whether there is no place of others that is missing.
func (p *pointers) hasAll(others *pointers) bool {
	if !p.whole.hasAll(others.whole) {
		return false
	}
	at := 0
	for k := range others.parts {
		q := &others.parts[k]
		if p.whole.has(q.object.number) {
			continue
		}
		for at < len(p.parts) && p.parts[at].object.number < q.object.number {
			at++
		}
		if !hasPlace(p.parts[at:endOfObject(p.parts, at, q.object)], q.addresses) {
			return false
		}
	}
	return true
}

// A node is a value that may be an address.
type node struct {
	pts   *pointers // of the pool, nil if it points nowhere
	users []*instruction
}
