package sequitur

import "iter"

// A Symbol is a terminal, at most [MaxSymbol]. Callers intern their own values;
// this package compares Symbols and never looks inside them. It is another name for
// uint32, as which package cst numbers signatures.
type Symbol = uint32

// MaxSymbol is the largest terminal.
const MaxSymbol Symbol = 1<<31 - 1

// A Builder folds symbols into a [Grammar] as they arrive. The zero Builder is
// empty and ready for use. A Builder must not be used by two goroutines at
// once.
//
// The end of the input is held back in two ways. The open run is the last
// symbol of the start rule with its count so far: its digram is formed only
// when another symbol follows. If the open run is a nonterminal X^k, the loop
// cursor follows its expansion and compares what arrives with it; as long as it
// agrees, the grammar is not touched, and a full match makes the run X^(k+1).
type Builder struct {
	// The prediction: want is expected left more times before anything else
	// has to be done. If left is 0, want is the first terminal of a
	// nonterminal that the cursor has not descended into.
	want   Symbol
	flatAt uint32 // position in flat of the run after the one that is expected; 0 if the cursor is followed
	left   uint64
	from   uint64 // what left was when an open run of a terminal was last settled

	n    uint64 // symbols appended
	open run    // the open run; count 0: none, which is only so before the first symbol

	rest     bool  // the open run is the rest of a run that was split
	noFlat   bool  // the cursor is followed
	noCursor bool  // for tests: predict nothing
	rests    []run // rests of split runs, which follow the open run, the next one on top

	cursor []frame // path from the body of open.ref to the prediction; empty at its start
	credit int64   // levels the cursor may still descend

	nodes     []node
	freeNode  uint32
	freeNodes int
	rules     []rule // rules[0] is the start rule
	freeRule  uint32
	flatLong  ref // a nonterminal of which the expansion is too long, or would be written down too often
	table     digrams
	changed   []uint32 // nodes whose digram has to be looked at
	pending   []run    // scratch of flush

	big      []uint64 // counts that do not fit a node
	bigIndex map[uint64]uint32

	flat *flat // followed in place of the cursor; nil before there is one
}

// A run is a symbol with its repetition count.
type run struct {
	ref   ref
	count uint64
}

// maxLen is the length of the longest input. An open run of a terminal predicts
// itself for the rest of it.
const maxLen = 1<<63 - 1

// Append adds s to the end of the input. It takes amortized constant time and
// allocates only when the grammar grows. It panics if s exceeds [MaxSymbol].
func (b *Builder) Append(s Symbol) {
	if s == b.want && b.left > 1 {
		b.left--
		b.n++
		return
	}
	b.appendNext(s)
}

// appendNext adds a symbol that may end the run that is expected.
func (b *Builder) appendNext(s Symbol) {
	if b.flatAt > 0 && s == b.want && int(b.flatAt) < len(b.flat.runs) { // not the last run
		r := b.flat.runs[b.flatAt]
		b.flatAt++
		b.want, b.left = r.symbol, uint64(r.count)
		b.n++
		return
	}
	b.append(s, 1)
}

// AppendRun adds s n times to the end of the input, in the same time whatever n
// is. It panics if s exceeds [MaxSymbol] or the input becomes longer than
// 2⁶³−1 symbols. It reports whether the run was predicted: whether the grammar is
// the same but for the count of its last symbol.
func (b *Builder) AppendRun(s Symbol, n uint64) (predicted bool) {
	return n == 0 || b.append(s, n)
}

// AppendSeq adds the symbols of an iterator to the end of the input, in order, such as those of
// [slices.Values] or of a reader of one's own. It costs what [Builder.Append]
// of each does, and the call of a function. It panics if one exceeds [MaxSymbol].
func (b *Builder) AppendSeq(symbols iter.Seq[Symbol]) {
	for s := range symbols {
		b.Append(s)
	}
}

// Symbols returns how many symbols b holds on right-hand sides, which is nearly what
// [Grammar.Symbols] will be.
func (b *Builder) Symbols() int { return len(b.nodes) - b.freeNodes }

// Len reports the number of symbols appended.
func (b *Builder) Len() uint64 { return b.n }

// append adds s n times and reports whether it was predicted: whether nothing
// but the prediction and the count of the open run changed.
func (b *Builder) append(s Symbol, n uint64) (predicted bool) {
	switch {
	case s > MaxSymbol:
		panic("sequitur: symbol exceeds MaxSymbol")
	case n > maxLen || b.n > maxLen-n:
		panic("sequitur: input longer than 2⁶³−1 symbols")
	case len(b.nodes) == 0:
		b.nodes = append(b.nodes, node{ref: ruleRef(0)})
		b.rules = append(b.rules, rule{})
	}
	for predicted = true; n > 0; {
		switch {
		case s == b.want && b.left > 0:
			k := min(n, b.left)
			n -= k
			b.n += k
			if b.left -= k; b.left == 0 {
				b.advance()
			}
		case s == b.want && b.open.ref.isRule() && b.descend():
			// The prediction is now a terminal.
		case b.flatAt > 0:
			b.leaveFlat()
		case len(b.cursor) > 0:
			b.flush()
			predicted = false
		case b.open.count > 0 && b.closeRun():
			b.predict()
			predicted = false
		default:
			if b.sparse() {
				b.compact()
			}
			b.n += n
			b.open, b.rest = run{ref(s), n}, false
			b.predict()
			b.credit += creditPerRun
			return false
		}
	}
	return predicted
}

// settle moves what an open run of a terminal has matched of its own
// prediction into its count.
func (b *Builder) settle() {
	if b.open.count > 0 && !b.open.ref.isRule() {
		b.open.count += b.from - b.left
		b.from = b.left
	}
}

// predict makes the open run the prediction: itself if it is a terminal, the
// beginning of its expansion if it is a nonterminal.
func (b *Builder) predict() {
	b.want = b.firstOf(b.open.ref)
	b.left = 0
	if !b.open.ref.isRule() {
		b.left = maxLen - b.n + 1 // it is never used up: see append
	}
	b.from = b.left
	b.credit = min(b.credit, maxCredit)
}

// closeRun ends the open run: another symbol follows. It reports whether there
// is an open run still, because the old one became part of another. Otherwise
// the run is now the last node of the start rule.
func (b *Builder) closeRun() bool {
	b.settle()
	for {
		open := b.closeOnce()
		k := len(b.rests) - 1
		if k < 0 {
			return open
		}
		if !open {
			b.open, b.rest = b.rests[k], true
			b.rests = b.rests[:k]
		}
	}
}

// closeOnce is closeRun without the rest of a run that it splits.
func (b *Builder) closeOnce() bool {
	last := b.nodes[0].prev
	switch {
	case last == 0:
		b.push()
		return false
	case b.nodes[last].ref == b.open.ref: // the same symbol: one run
		b.open.count += b.count(last)
		b.popLast()
		return true
	}
	x, y := b.nodes[last], node{ref: b.open.ref, count: b.pack(b.open.count)}
	hash := hashDigram(x, y)
	switch {
	case b.reduce(x, y, hash):
		return true
	case y.count > 1 && !b.rest: // perhaps only a part of the run is known here
		y.count = 1
		if b.reduce(x, y, hashDigram(x, y)) {
			return true
		}
	}
	b.push()
	b.table.insert(last, hash)
	return false
}

// push makes the open run the last node of the start rule. The use that the
// open run counts for becomes the node's.
func (b *Builder) push() {
	b.insertBefore(b.newNode(b.open.ref, b.pack(b.open.count)), 0)
	b.open.count = 0
}

// popLast takes the last node off the start rule.
func (b *Builder) popLast() {
	last := b.nodes[0].prev
	b.forget(b.nodes[last].prev)
	b.unuse(b.nodes[last].ref)
	b.unlink(last)
}

// This file keeps the invariants of the grammar. reduce and match replace
// repeated digrams by a rule, extend lengthens one, inline dissolves a rule that
// is used once, and merge joins adjacent runs of one symbol. Each leaves the
// nodes whose digram is new in b.changed; settleChanges looks at them until none
// is left. A node on that list may be freed and used again before its turn:
// looking at a digram that needs nothing done does nothing.

// reduce replaces the last node of the start rule, which has x, and y, which is the
// open run or a repetition of it, by a rule, if their digram occurs elsewhere, and reports
// whether it does. The rule becomes the open run; what is left of the old one is put on
// b.rests.
func (b *Builder) reduce(x, y node, hash uint32) bool {
	m := b.find(x, y, hash)
	if m == 0 {
		return false
	}
	if left := b.open.count - b.unpack(y.count); left > 0 {
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
