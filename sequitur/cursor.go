package sequitur

// A frame is a step of the loop cursor's path: a node of a body, and how many
// repetitions of it are matched. The last frame is where the prediction is: a
// terminal, of which count−left repetitions are matched, or a nonterminal at
// the start of a repetition.
type frame struct {
	node uint32
	done uint64 // of a nonterminal
}

// The credit is how many levels the cursor may descend. Every run that is
// predicted or opened earns some. Walking a whole expansion descends less than
// twice per run, so a loop never uses it up. Input on which the cursor keeps
// failing in deep rules does, and is then appended without a prediction: the
// cost of an append does not depend on the depth of the grammar. What is earned
// does not depend on how a run is portioned. A prediction that fails leaves no
// more than maxCredit; while it holds, what is earned is not cut off, so that
// AppendLoop can tell what it comes to.
const (
	creditPerRun = 8
	maxCredit    = 1 << 30
	hugeCredit   = 1 << 62 // more than any input uses up
)

// descend moves the prediction from the start of a nonterminal to its first
// terminal. It reports false, and does nothing, if the credit is spent.
func (b *Builder) descend() bool {
	if b.noCursor || b.credit <= 0 {
		return false
	}
	r := b.open.ref
	if k := len(b.cursor); k > 0 {
		r = b.nodes[b.cursor[k-1].node].ref
	}
	for r.isRule() {
		x := b.nodes[b.rules[r.rule()].guard].next
		b.cursor = append(b.cursor, frame{node: x})
		r = b.nodes[x].ref
		b.left = b.count(x)
		b.credit--
	}
	return true
}

// advance moves the prediction on: the last frame is a terminal that matched
// all its repetitions.
func (b *Builder) advance() {
	b.credit += creditPerRun
	for k := len(b.cursor) - 1; k >= 0; k-- {
		x := b.nodes[b.cursor[k].node].next
		if n := b.nodes[x]; n.count != 0 {
			b.cursor[k] = frame{node: x}
			if b.want = b.firstOf(n.ref); !n.ref.isRule() {
				b.left = b.count(x)
			}
			return
		}
		b.cursor = b.cursor[:k]
		if k == 0 {
			break
		}
		up := &b.cursor[k-1]
		if up.done++; up.done < b.count(up.node) {
			b.want = b.firstOf(b.nodes[up.node].ref)
			return
		}
	}
	b.open.count++
	b.want = b.firstOf(b.open.ref)
}

// flush gives up the prediction: what the cursor has matched is appended the
// ordinary way, as runs of the bodies on its path. The path is turned into runs
// first, because closing them changes the bodies.
func (b *Builder) flush() {
	b.pending = b.pending[:0]
	body := b.open.ref
	for _, f := range b.cursor {
		b.cutPrefix(b.rules[body.rule()].guard, f.node)
		n := b.nodes[f.node]
		if n.ref.isRule() {
			b.hold(n.ref, f.done)
		} else {
			b.hold(n.ref, b.count(f.node)-b.left)
		}
		body = n.ref
	}
	b.cursor = b.cursor[:0]
	for _, r := range b.pending {
		for b.open.count > 0 && b.closeRun() {
		}
		b.open, b.rest = r, false
		b.predict()
	}
}

// hold puts a run on the pending list. The use it counts for keeps its rule
// from being dissolved meanwhile.
func (b *Builder) hold(r ref, count uint64) {
	if count > 0 {
		b.use(r)
		b.pending = append(b.pending, run{r, count})
	}
}

// cutPrefix puts what precedes node x in the body with guard g on the pending
// list. Two or more symbols become a rule of their own, which is what appending
// them one by one would make of them: then giving up costs the same wherever in
// a body the input departs from it.
func (b *Builder) cutPrefix(g, x uint32) {
	first, last := b.nodes[g].next, b.nodes[x].prev
	switch {
	case first == x:
		return
	case first == last:
		b.hold(b.nodes[first].ref, b.count(first))
		return
	}
	b.forget(last)
	r := b.newRule(b.firstOf(b.nodes[first].ref))
	b.rules[r].uses = 1
	p := b.newNode(ruleRef(r), 1)
	b.link(g, p)
	b.link(p, x)
	b.link(b.rules[r].guard, first)
	b.link(last, b.rules[r].guard)
	b.register(p)
	b.hold(ruleRef(r), 1)
}
