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
		b.nodes[x] = node{ref: r, count: count}
		return x
	}
	b.nodes = append(b.nodes, node{ref: r, count: count})
	return uint32(len(b.nodes) - 1)
}

func (b *Builder) dropNode(x uint32) {
	b.nodes[x] = node{next: b.freeNode, ref: freed}
	b.freeNode = x
}

func (b *Builder) newRule(first Symbol) uint32 {
	r := b.freeRule
	if r != 0 {
		b.freeRule = b.rules[r].uses
	} else {
		b.rules = append(b.rules, rule{})
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
