// Package wordmap implements a map of numbers, such as handles and addresses of a program that is traced, to
// values. A loop that adds and removes keys never allocates.
package wordmap

import (
	"math/bits"
	"math/rand/v2"
)

// A Map maps numbers to values by open addressing with linear probing. The zero
// Map is empty. Removing a key moves those behind it, so that there are no
// tombstones: a loop that adds and removes keys never allocates.
//
// Invariant: between the slot that a key hashes to and the slot that holds it,
// all slots are used, and fewer than 3/4 of all slots are.
type Map[V any] struct {
	slots []slot[V] // a power of two of them, or none
	n     int
	seed  uint64 // keys come from whoever is traced
}

type slot[V any] struct {
	key   uint64
	used  bool
	value V
}

// home returns the number of the slot that key hashes to.
func (t *Map[V]) home(key uint64) uint64 {
	hi, lo := bits.Mul64(key^t.seed, 0x9e3779b97f4a7c15)
	return (hi ^ lo) & uint64(len(t.slots)-1)
}

// Len returns the number of keys.
func (t *Map[V]) Len() int { return t.n }

// Find returns the value of key, or nil. It is valid until the next Put or Remove.
func (t *Map[V]) Find(key uint64) *V {
	if t.n == 0 {
		return nil
	}
	mask := uint64(len(t.slots) - 1)
	for i := t.home(key); t.slots[i].used; i = (i + 1) & mask {
		if t.slots[i].key == key {
			return &t.slots[i].value
		}
	}
	return nil
}

// Put returns the value of key, adding a zero value if there is none. It is valid
// until the next Put or Remove.
func (t *Map[V]) Put(key uint64) *V {
	if v := t.Find(key); v != nil {
		return v
	}
	if 4*(t.n+1) > 3*len(t.slots) {
		t.grow()
	}
	t.n++
	s := t.free(key)
	s.key, s.used = key, true
	return &s.value
}

// free returns the slot where key, which is not in t, belongs.
func (t *Map[V]) free(key uint64) *slot[V] {
	mask := uint64(len(t.slots) - 1)
	i := t.home(key)
	for t.slots[i].used {
		i = (i + 1) & mask
	}
	return &t.slots[i]
}

func (t *Map[V]) grow() {
	old := t.slots
	if old == nil {
		t.seed = rand.Uint64()
	}
	t.slots = make([]slot[V], max(8, 2*len(old)))
	for _, s := range old {
		if s.used {
			*t.free(s.key) = s
		}
	}
}

// Remove removes key if it is there.
func (t *Map[V]) Remove(key uint64) {
	if t.n == 0 {
		return
	}
	mask := uint64(len(t.slots) - 1)
	i := t.home(key)
	for t.slots[i].key != key || !t.slots[i].used {
		if !t.slots[i].used {
			return
		}
		i = (i + 1) & mask
	}
	t.n--
	for j := (i + 1) & mask; t.slots[j].used; j = (j + 1) & mask {
		// What is in j may move to i unless its home lies behind i.
		if (j-t.home(t.slots[j].key))&mask >= (j-i)&mask {
			t.slots[i] = t.slots[j]
			i = j
		}
	}
	t.slots[i] = slot[V]{}
}
