package sequitur

// This file keeps the invariants of the grammar. reduce and match replace
// repeated digrams by a rule, extend lengthens one, inline dissolves a rule that
// is used once, and merge joins adjacent runs of one symbol. Each leaves the
// nodes whose digram is new in b.changed; settleChanges looks at them until none
// is left. A node on that list may be freed and used again before its turn:
// looking at a digram that needs nothing done does nothing.

// reduce replaces the last node of the start rule and count repetitions of the
// open run by a rule, if their digram occurs elsewhere, and reports whether it
// does. The rule becomes the open run; what is left of the old one is put on
// b.rests.
func (b *Builder) reduce(count uint64) bool {
	last := b.nodes[0].prev
	x, y := b.nodes[last], node{ref: b.open.ref, count: b.pack(count)}
	hash := hashDigram(x, y)
	m := b.find(x, y, hash)
	if m == 0 {
		return false
	}
	if left := b.open.count - count; left > 0 {
		b.use(b.open.ref)
		b.rests = append(b.rests, run{b.open.ref, left})
	}
	r, ok := b.bodyOf(m)
	switch {
	case ok:
		b.unuse(b.open.ref)
		b.popLast()
	case x.count == 1 && x.ref.isRule() && b.rules[x.ref.rule()].uses == 2:
		r = x.ref.rule()
		b.extend(r, m, hash)
	default:
		// The digram moves from the end of the input into the rule.
		b.use(x.ref)
		b.popLast()
		r = b.newRuleOf(x, y)
		b.table.slots[b.table.slotOf(m, hash)].node = b.nodes[b.rules[r].guard].next
		b.substitute(m, r)
	}
	b.open, b.rest = run{ruleRef(r), 1}, false
	b.rules[r].uses++
	b.dissolve(r)
	b.settleChanges()
	return true
}

// extend appends to rule r, whose two uses are node m and the last node of the
// start rule, the symbol that follows both: the successor of m and the open run.
// It does in place what a new rule would come to, in which r is dissolved, and
// is what a repetition of a long part of the input does for each symbol.
func (b *Builder) extend(r, m, hash uint32) {
	b.unuse(b.open.ref)
	b.popLast()
	y := b.nodes[m].next
	b.table.remove(m, hash)
	b.forget(y)
	b.link(m, b.nodes[y].next)
	g := b.rules[r].guard
	last := b.nodes[g].prev
	b.insertBefore(y, g)
	b.changed = append(b.changed, last, m)
}

// bodyOf returns the rule whose whole body is the digram at node x.
func (b *Builder) bodyOf(x uint32) (uint32, bool) {
	before, after := b.nodes[x].prev, b.nodes[b.nodes[x].next].next
	if before == after && b.isGuard(before) && before != 0 {
		return b.nodes[before].ref.rule(), true
	}
	return 0, false
}

// newRuleOf makes a rule of two symbols. The caller accounts for their uses and
// registers the digram.
func (b *Builder) newRuleOf(x, y node) uint32 {
	r := b.newRule(b.firstOf(x.ref))
	g := b.rules[r].guard
	b.insertBefore(b.newNode(x.ref, x.count), g)
	b.insertBefore(b.newNode(y.ref, y.count), g)
	return r
}

// substitute replaces the digram at node x by one use of rule r. The digram
// itself must not be registered at x any more.
func (b *Builder) substitute(x, r uint32) {
	y := b.nodes[x].next
	b.forget(b.nodes[x].prev)
	b.forget(y)
	b.unuse(b.nodes[x].ref)
	b.unuse(b.nodes[y].ref)
	b.unlink(y)
	b.nodes[x].ref, b.nodes[x].count = ruleRef(r), 1
	b.rules[r].uses++
	b.changed = append(b.changed, b.nodes[x].prev, x)
}

// settleChanges restores the invariants at every node in b.changed.
func (b *Builder) settleChanges() {
	for len(b.changed) > 0 {
		x := b.changed[len(b.changed)-1]
		b.changed = b.changed[:len(b.changed)-1]
		n := b.nodes[x]
		y := b.nodes[n.next]
		if n.count == 0 || y.count == 0 {
			continue // a guard or a freed node
		}
		if n.ref == y.ref {
			b.merge(x)
			continue
		}
		hash := hashDigram(n, y)
		switch m := b.find(n, y, hash); m {
		case x:
		case 0:
			b.table.insert(x, hash)
		default:
			b.match(x, m, hash)
		}
	}
}

// merge joins node x with its successor, a run of the same symbol.
func (b *Builder) merge(x uint32) {
	y := b.nodes[x].next
	b.forget(b.nodes[x].prev)
	b.forget(y)
	b.nodes[x].count = b.pack(b.count(x) + b.count(y))
	b.unuse(b.nodes[y].ref)
	b.unlink(y)
	b.changed = append(b.changed, b.nodes[x].prev, x)
}

// match replaces the digram at x and at m, where it is registered under hash,
// by one rule.
func (b *Builder) match(x, m, hash uint32) {
	r, ok := b.bodyOf(m)
	if ok {
		b.substitute(x, r)
		b.dissolve(r)
		return
	}
	at := b.table.slotOf(m, hash)
	if r, ok = b.bodyOf(x); ok {
		b.table.slots[at].node = x
	} else {
		left, right := b.nodes[x], b.nodes[b.nodes[x].next]
		b.use(left.ref)
		b.use(right.ref)
		r = b.newRuleOf(left, right)
		b.table.slots[at].node = b.nodes[b.rules[r].guard].next
		b.substitute(x, r)
	}
	b.substitute(m, r)
	b.dissolve(r)
}

// dissolve inlines the first and the last symbol of the body of rule r if they
// are rules that are not used elsewhere any more. Only these can have lost a
// use when a digram was replaced by r.
func (b *Builder) dissolve(r uint32) {
	g := b.rules[r].guard
	b.inline(b.nodes[g].next)
	b.inline(b.nodes[g].prev)
}

// inline replaces node x by the body of its rule if x is its only use.
func (b *Builder) inline(x uint32) {
	n := b.nodes[x]
	if !n.ref.isRule() || n.count != 1 || b.rules[n.ref.rule()].uses != 1 {
		return
	}
	b.forget(n.prev)
	b.forget(x)
	g := b.rules[n.ref.rule()].guard
	first, last := b.nodes[g].next, b.nodes[g].prev
	b.link(n.prev, first)
	b.link(last, n.next)
	b.dropNode(x)
	b.dropRule(n.ref.rule())
	b.changed = append(b.changed, n.prev, last)
}
