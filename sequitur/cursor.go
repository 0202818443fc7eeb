package sequitur

import (
	"math/bits"

	"github.com/reprise-trace/reprise/internal/wire"
)

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
	b.goDown()
	return true
}

// goDown does what descend does, whatever the credit is.
func (b *Builder) goDown() {
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
}

// advance moves the prediction on: the last frame is a terminal that matched
// all its repetitions.
func (b *Builder) advance() {
	if b.flatAt > 0 {
		b.nextFlat()
		return
	}
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
	if b.open.count >= flatAfter {
		b.flatten()
	}
}

// flush gives up the prediction: what the cursor has matched is appended the
// ordinary way, as runs of the bodies on its path. The path is turned into runs
// first, because closing them changes the bodies.
func (b *Builder) flush() {
	b.leaveFlat()
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

// AppendLoop adds the runs of body, all of them, n times to the end of the
// input: what n·len(body) calls of [Builder.AppendRun] do. While the loop cursor
// follows a grammar that is not changed by it, a loop takes the time of a few
// rounds whatever n is. AppendLoop does not retain body. It panics if a symbol
// exceeds [MaxSymbol] or the input becomes longer than 2⁶³−1 symbols.
func (b *Builder) AppendLoop(body []Run, n uint64) {
	length, single := measure(body)
	if hi, total := bits.Mul64(length, n); hi > 0 || total > maxLen-b.n {
		panic("sequitur: input longer than 2⁶³−1 symbols")
	}
	if n == 0 || length == 0 {
		return
	}
	if single {
		for _, r := range body {
			b.AppendRun(r.Symbol, r.Count*n)
		}
		return
	}
	b.Repeat(n, length, func() (predicted, more bool) { return b.appendRound(body), true })
}

// Repeat adds a loop of n rounds, of length symbols each, that round adds: the same ones
// each time it is called, which is a few times whatever n is once it reports that all of
// them were predicted, as [Builder.AppendRun] and Repeat do. Repeat stops if round says
// that there is no more.
func (b *Builder) Repeat(n, length uint64, round func() (predicted, more bool)) (predicted bool) {
	b.leaveFlat()
	defer func(no bool) {
		b.noFlat, b.flatLong = no, b.open.ref // to write it down again after each loop would take longer than the loop
	}(b.noFlat)
	b.noFlat = true
	// The state of the Builder is compared with that after an earlier round, which
	// is 1, 2, 4, … rounds back before a later one takes its place: R. P. Brent,
	// "An improved Monte Carlo factorization algorithm", BIT 20:176–184, 1980.
	var (
		mark         bookmark
		since, until uint64 // rounds since mark was set, and until it is set again
	)
	predicted = true
	for ; n > 0; n-- {
		held, more := round()
		if !more {
			return false
		}
		if !held {
			mark.set, until, predicted = false, 0, false
			continue
		}
		if since++; mark.set {
			if skipped := b.skip(&mark, since, n-1); skipped > 0 {
				b.n += skipped * length
				n -= skipped
				mark.set, until = false, 0
				continue
			}
		}
		if !mark.set || since == until {
			mark.take(b)
			since, until = 0, max(2*until, 1)
		}
	}
	return predicted
}

// measure returns the number of symbols in body, saturated at the largest
// uint64, and whether they are all one.
func measure(body []Run) (length uint64, single bool) {
	var first Run // of those that are not empty
	single = true
	for _, r := range body {
		if first.Count == 0 {
			first = r
		}
		single = single && (r.Count == 0 || r.Symbol == first.Symbol)
		length = wire.AddSat(length, r.Count)
	}
	return length, single
}

// appendRound adds body once and reports whether the prediction held, so that
// nothing but the cursor and the count of the open run changed.
func (b *Builder) appendRound(body []Run) bool {
	predicted := true
	for _, r := range body {
		if r.Count > 0 {
			predicted = b.append(r.Symbol, r.Count) && predicted
		}
	}
	return predicted
}

// A bookmark is the state of a Builder between rounds whose prediction holds.
type bookmark struct {
	set    bool
	left   uint64
	count  uint64 // of the open run
	credit int64
	cursor []frame
}

func (m *bookmark) take(b *Builder) {
	m.set = true
	m.left, m.count, m.credit = b.left, b.open.count, b.credit
	m.cursor = append(m.cursor[:0], b.cursor...)
}

// skip goes on by as many of the next rounds, at most n, as it can tell the
// outcome of, and returns how many these are. The state was m period rounds ago.
// If since then only one count of repetitions on the cursor's path has grown,
// that of the open run or of a nonterminal in a body, so it will in the next
// period rounds, unless that nonterminal comes to its end.
func (b *Builder) skip(m *bookmark, period, n uint64) uint64 {
	level, growth := b.grownSince(m)
	gain := b.credit - m.credit
	if growth == 0 || gain < 0 {
		return 0
	}
	times := n / period
	if level > 0 {
		f := &b.cursor[level-1]
		times = min(times, (b.count(f.node)-1-f.done)/growth)
		f.done += times * growth
	} else {
		b.open.count += times * growth
	}
	earned := wire.MulSat(uint64(gain), times)
	b.credit = int64(min(wire.AddSat(uint64(b.credit), earned), hugeCredit))
	return times * period
}

// grownSince returns by how much the one count of repetitions that is not what
// it was at m has grown, and whose it is: that of the open run, level 0, or of
// the frame level−1 of the cursor. The growth is 0 if anything else differs.
func (b *Builder) grownSince(m *bookmark) (level int, growth uint64) {
	if b.left != m.left || len(b.cursor) != len(m.cursor) {
		return 0, 0
	}
	growth = b.open.count - m.count
	for i, f := range m.cursor {
		switch g := b.cursor[i]; {
		case g == f:
		case g.node != f.node, growth > 0:
			return 0, 0
		default:
			level, growth = i+1, g.done-f.done
		}
	}
	return level, growth
}
