package sequitur

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
	want Symbol
	left uint64
	from uint64 // what left was when an open run of a terminal was last settled

	n    uint64 // symbols appended
	open run    // the open run; count 0: none, which is only so before the first symbol

	rest  bool  // the open run is the rest of a run that was split
	rests []run // rests of split runs, which follow the open run, the next one on top

	cursor []frame // path from the body of open.ref to the prediction; empty at its start
	credit int64   // levels the cursor may still descend

	nodes     []node
	freeNode  uint32
	freeNodes int
	rules     []rule // rules[0] is the start rule
	freeRule  uint32
	table     digrams
	changed   []uint32 // nodes whose digram has to be looked at
	pending   []run    // scratch of flush

	big      []uint64 // counts that do not fit a node
	bigIndex map[uint64]uint32

	noCursor bool // for tests: predict nothing
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
	b.append(s, 1)
}

// AppendRun adds s n times to the end of the input, in the same time whatever n
// is. It panics if s exceeds [MaxSymbol] or the input becomes longer than
// 2⁶³−1 symbols.
func (b *Builder) AppendRun(s Symbol, n uint64) {
	if n > 0 {
		b.append(s, n)
	}
}

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
		case len(b.cursor) > 0:
			b.flush()
			predicted = false
		case b.open.count > 0 && b.closeRun():
			b.predict()
			predicted = false
		default:
			b.compact()
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
	case b.reduce(b.open.count):
		return true
	case b.open.count > 1 && !b.rest && b.reduce(1): // only a part of the run is known here
		return true
	}
	b.push()
	b.register(last)
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
