package sequitur

import (
	"math/bits"
	"math/rand/v2"
)

// digrams maps a digram, two adjacent symbols with their counts, to the node
// of its left symbol. It is an open-addressing hash table with linear probing;
// deletion shifts entries back, so there are no tombstones and the cost of an
// operation does not depend on the operations before it.
type digrams struct {
	slots []slot // length is zero or a power of two
	used  int
}

type slot struct {
	node uint32 // left symbol; 0: the slot is empty
	hash uint32
}

const minSlots = 64

// hashKey makes the hashes of a process unknown to whoever writes its input,
// who could otherwise have all digrams share one. No result depends on it.
var hashKey = [2]uint64{rand.Uint64(), rand.Uint64()}

func hashDigram(x, y node) uint32 {
	h := (uint64(x.ref) | uint64(x.count)<<32) ^ hashKey[0]
	h = bits.RotateLeft64(h*0x9e3779b97f4a7c15, 29) ^ uint64(y.ref) ^ uint64(y.count)<<32 ^ hashKey[1]
	return uint32(h * 0xd6e8feb86659fd93 >> 32)
}

func sameSymbol(x, y node) bool { return x.ref == y.ref && x.count == y.count }

// find returns the node where the digram x y is registered, or 0. hash must be
// hashDigram(x, y).
func (b *Builder) find(x, y node, hash uint32) uint32 {
	if len(b.table.slots) == 0 {
		return 0
	}
	mask := uint32(len(b.table.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := b.table.slots[i]
		if s.node == 0 {
			return 0
		}
		if s.hash == hash {
			m := b.nodes[s.node]
			if sameSymbol(m, x) && sameSymbol(b.nodes[m.next], y) {
				return s.node
			}
		}
	}
}

// insert registers the digram at node x, which must not be registered.
func (t *digrams) insert(x, hash uint32) {
	if t.used >= len(t.slots)/4*3 {
		t.grow()
	}
	t.place(slot{x, hash})
	t.used++
}

func (t *digrams) place(s slot) {
	mask := uint32(len(t.slots) - 1)
	i := s.hash & mask
	for t.slots[i].node != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}

func (t *digrams) grow() { t.resize(max(minSlots, 2*len(t.slots))) }

// resize moves the entries to a table of n slots, more than there are entries.
func (t *digrams) resize(n int) {
	old := t.slots
	t.slots = make([]slot, n)
	for _, s := range old {
		if s.node != 0 {
			t.place(s)
		}
	}
}

// slotOf returns the slot that registers node x under hash, or -1.
func (t *digrams) slotOf(x, hash uint32) int {
	if len(t.slots) == 0 {
		return -1
	}
	mask := uint32(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		switch t.slots[i].node {
		case x:
			return int(i)
		case 0:
			return -1
		}
	}
}

// remove forgets that node x is registered under hash, if it is.
func (t *digrams) remove(x, hash uint32) {
	at := t.slotOf(x, hash)
	if at < 0 {
		return
	}
	mask := uint32(len(t.slots) - 1)
	hole := uint32(at)
	for i := (hole + 1) & mask; t.slots[i].node != 0; i = (i + 1) & mask {
		// The entry may move into the hole if its home is not between them.
		if (i-t.slots[i].hash)&mask >= (i-hole)&mask {
			t.slots[hole] = t.slots[i]
			hole = i
		}
	}
	t.slots[hole] = slot{}
	t.used--
}

// hashAt returns the hash of the digram that begins at node x.
func (b *Builder) hashAt(x uint32) uint32 {
	n := b.nodes[x]
	return hashDigram(n, b.nodes[n.next])
}

// register enters the digram at node x, which must be new.
func (b *Builder) register(x uint32) { b.table.insert(x, b.hashAt(x)) }

// forget removes the digram that begins at node x from the table, if there is
// one and it is registered there.
func (b *Builder) forget(x uint32) {
	n := b.nodes[x]
	if n.count == 0 {
		return
	}
	if y := b.nodes[n.next]; y.count != 0 {
		b.table.remove(x, hashDigram(n, y))
	}
}
