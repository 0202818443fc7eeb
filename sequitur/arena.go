package sequitur

import (
	"math/bits"
	"math/rand/v2"
)

// A ref is what stands on a right-hand side: a terminal, or a rule with the top
// bit set.
type ref uint32

const ruleBit ref = 1 << 31

func ruleRef(r uint32) ref     { return ruleBit | ref(r) }
func (r ref) isRule() bool     { return r&ruleBit != 0 }
func (r ref) rule() uint32     { return uint32(r &^ ruleBit) }
func (r ref) terminal() Symbol { return Symbol(r) }

// A node is a symbol of a right-hand side in the arena. The nodes of a rule
// form a ring through its guard, which has count 0 and names the rule. Node 0
// is the guard of the start rule, so 0 stands for no node elsewhere.
type node struct {
	next, prev uint32
	ref        ref
	count      uint32 // 0: guard; below bigCount: itself; else an index into Builder.big
}

// bigCount is the first count a node cannot hold itself.
const bigCount = 1 << 31

// freed marks nodes on the free list, together with count 0.
const freed ref = 1<<32 - 1

// A rule is what the Builder knows of a rule besides its body. What a rule
// expands to never changes while the rule lives; its body may.
type rule struct {
	guard uint32 // 0 if the rule is on the free list
	uses  uint32 // nodes that refer to it, the open run and held-back runs included; next free rule if on the free list
	first Symbol // first terminal of its expansion
}

func (b *Builder) newNode(r ref, count uint32) uint32 {
	if x := b.freeNode; x != 0 {
		b.freeNode = b.nodes[x].next
		b.freeNodes--
		b.nodes[x] = node{ref: r, count: count}
		return x
	}
	if len(b.nodes) == cap(b.nodes) {
		b.nodes = grown(b.nodes)
	}
	b.nodes = append(b.nodes, node{ref: r, count: count})
	return uint32(len(b.nodes) - 1)
}

func (b *Builder) dropNode(x uint32) {
	b.nodes[x] = node{next: b.freeNode, ref: freed}
	b.freeNode = x
	b.freeNodes++
}

// grown returns s with room for one more element. It grows by three sixteenths, so
// that little of what a Builder holds is room.
func grown[T any](s []T) []T {
	if len(s) < cap(s) {
		return s
	}
	return append(make([]T, 0, len(s)+len(s)*3/16+16), s...)
}

// minCompact is the number of nodes below which the arena is left as it is.
const minCompact = 1024

// sparse reports whether more than an eighth of the nodes are free.
func (b *Builder) sparse() bool { return 8*b.freeNodes > len(b.nodes) && len(b.nodes) >= minCompact }

// compact moves the nodes together, which are sparse, and
// fits the digram table to the digrams. Its cost is that of as many appends. No
// node may be referred to but from nodes, rules and table.
func (b *Builder) compact() {
	to := make([]uint32, len(b.nodes)) // where each node goes
	live := make([]node, 0, (len(b.nodes)-b.freeNodes)*9/8+16)
	for x, n := range b.nodes {
		if n.ref != freed || n.count != 0 {
			to[x] = uint32(len(live))
			live = append(live, n)
		}
	}
	for i := range live {
		live[i].next, live[i].prev = to[live[i].next], to[live[i].prev]
	}
	for i := range b.rules {
		b.rules[i].guard = to[b.rules[i].guard]
	}
	for i, s := range b.table.slots {
		b.table.slots[i].node = to[s.node]
	}
	b.nodes, b.freeNode, b.freeNodes = live, 0, 0
	n := minSlots
	for b.table.used >= n/4*3 {
		n *= 2
	}
	if n < len(b.table.slots) {
		b.table.resize(n)
	}
}

func (b *Builder) newRule(first Symbol) uint32 {
	r := b.freeRule
	if r != 0 {
		b.freeRule = b.rules[r].uses
	} else {
		b.rules = append(grown(b.rules), rule{})
		r = uint32(len(b.rules) - 1)
	}
	g := b.newNode(ruleRef(r), 0)
	b.nodes[g].next, b.nodes[g].prev = g, g
	b.rules[r] = rule{guard: g, first: first}
	return r
}

// dropRule frees a rule whose body has been moved elsewhere.
func (b *Builder) dropRule(r uint32) {
	b.dropNode(b.rules[r].guard)
	b.rules[r] = rule{uses: b.freeRule}
	b.freeRule = r
}

// link makes y the successor of x.
func (b *Builder) link(x, y uint32) {
	b.nodes[x].next = y
	b.nodes[y].prev = x
}

// insertBefore puts a node that is on no list in front of y.
func (b *Builder) insertBefore(x, y uint32) {
	b.link(b.nodes[y].prev, x)
	b.link(x, y)
}

// unlink takes x out of its list and frees it.
func (b *Builder) unlink(x uint32) {
	b.link(b.nodes[x].prev, b.nodes[x].next)
	b.dropNode(x)
}

func (b *Builder) isGuard(x uint32) bool { return b.nodes[x].count == 0 }

func (b *Builder) use(r ref) {
	if r.isRule() {
		b.rules[r.rule()].uses++
	}
}

func (b *Builder) unuse(r ref) {
	if r.isRule() {
		b.rules[r.rule()].uses--
	}
}

// firstOf returns the first terminal that r expands to.
func (b *Builder) firstOf(r ref) Symbol {
	if r.isRule() {
		return b.rules[r.rule()].first
	}
	return r.terminal()
}

// count returns the repetition count of node x.
func (b *Builder) count(x uint32) uint64 { return b.unpack(b.nodes[x].count) }

// unpack returns the count that has a form.
func (b *Builder) unpack(c uint32) uint64 {
	if c < bigCount {
		return uint64(c)
	}
	return b.big[c-bigCount]
}

// pack returns the form of a count that a node holds. Equal counts have equal
// forms, so digrams compare by it.
func (b *Builder) pack(count uint64) uint32 {
	if count < bigCount {
		return uint32(count)
	}
	c, ok := b.bigIndex[count]
	if !ok {
		if b.bigIndex == nil {
			b.bigIndex = make(map[uint64]uint32)
		}
		c = bigCount + uint32(len(b.big))
		b.bigIndex[count] = c
		b.big = append(b.big, count)
	}
	return c
}

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
