package sequitur

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
	b.nodes = append(grown(b.nodes), node{ref: r, count: count})
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

// compact moves the nodes together if more than an eighth of them are free, and
// fits the digram table to the digrams. Its cost is that of as many appends. No
// node may be referred to but from nodes, rules and table.
func (b *Builder) compact() {
	if len(b.nodes) < minCompact || 8*b.freeNodes <= len(b.nodes) {
		return
	}
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
func (b *Builder) count(x uint32) uint64 {
	if c := b.nodes[x].count; c < bigCount {
		return uint64(c)
	}
	return b.big[b.nodes[x].count-bigCount]
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
