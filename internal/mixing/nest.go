package mixing

import (
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// An item is a run of a symbol or, with a body, a loop. A list of items is a sequence as
// nested loops: unlike a grammar, it does not say what parts have in common that do not
// follow each other.
type item struct {
	symbol sequitur.Symbol
	takes  bool // there are values for it in a block
	body   []item
	length uint64 // of the body, in symbols
	count  uint64
}

const (
	// maxNesting is how many loops there may be inside one another.
	maxNesting = 1 << 8

	// beforeFolding is how many times the items that a sequence may have there are at most before they are
	// folded.
	beforeFolding = 2
)

// A folding is how a sequence is written as nested loops.
type folding struct {
	unrolled uint64 // how often a loop repeats, at the most, that is written out as items
	turned   bool   // loops are alike wherever they begin, as addTurned says
}

// itemsOf returns the sequence of g as nested loops, with the symbols on right-hand sides that repeat a rule
// more often than unrolled as loops, and whether these are few enough before they are folded, a loop being
// two more than its body: no more than twice most, and no more loops inside one another than there may be.
func itemsOf(g *sequitur.Grammar, most int, how folding) ([]item, bool) {
	if g.Rules() == 0 {
		return nil, true
	}
	var (
		lists = make([][]item, g.Rules())
		sizes = make([]uint64, g.Rules())
		depth = make([]int, g.Rules())
		order = make(map[sequitur.Symbol]int)
	)
	for r := range g.Rules() {
		size := uint64(0)
		for t := range g.Body(r) {
			switch {
			case t.Rule < 0:
				size++
			case t.Count > how.unrolled:
				size = wire.AddSat(size, sizes[t.Rule]+2)
				depth[r] = max(depth[r], depth[t.Rule]+1)
			default:
				size = wire.AddSat(size, t.Count*sizes[t.Rule])
				depth[r] = max(depth[r], depth[t.Rule])
			}
		}
		if size > beforeFolding*uint64(most) || depth[r] > maxNesting/2 { // folding may add a loop to each
			return nil, false
		}
		sizes[r] = size
	}
	for i, s := range g.FirstUse() {
		order[s] = i
	}
	for r := range g.Rules() {
		f := folder{folding: how, list: make([]item, 0, min(sizes[r], maxItems)), order: order, loop: -1}
		f.addRule(g, r, lists)
		lists[r] = f.list
	}
	return lists[len(lists)-1], true
}

// addRule adds what rule r generates, given that of those before it.
func (f *folder) addRule(g *sequitur.Grammar, r int, lists [][]item) {
	for t := range g.Body(r) {
		if t.Rule < 0 {
			f.add(item{symbol: t.Symbol, count: t.Count})
		} else {
			f.add(item{body: lists[t.Rule], length: g.RuleLen(t.Rule), count: t.Count})
		}
	}
}

// A folder puts items together such that what a program does alike is written alike, where a
// grammar has folded it in different ways: a loop has all of its iterations, the first and
// the last ones, too, and few iterations are no loop.
type folder struct {
	folding
	list  []item
	order map[sequitur.Symbol]int // of the first uses of symbols
	loop  int                     // where the last loop was added, −1 before one was
}

const (
	// fewTimes is how often a loop repeats that is always written out. The program may well
	// have been in no loop there, and what follows is then easier to predict.
	fewTimes = 3

	// manyTimes is how often one repeats that is written out where that is smaller: where a sequence
	// varies at random, some parts of it repeat by chance.
	manyTimes = 20

	// maxFolded is the number of items in the bodies of loops that are looked for.
	maxFolded = 8

	// maxTurned is the number of items in the bodies of loops that begin with what was used
	// first, whatever comes first where the loop begins.
	maxTurned = 2
)

// turn returns how many items of a body stand before the one with which it should begin.
func (f *folder) turn(body []item) int {
	if f.turned {
		return f.leastTurn(body)
	}
	if len(body) > maxTurned {
		return 0
	}
	first := 0
	for i, x := range body {
		if x.body != nil {
			return 0
		}
		if f.order[x.symbol] < f.order[body[first].symbol] {
			first = i
		}
	}
	return first
}

// add adds an item.
func (f *folder) add(x item) {
	last := len(f.list) - 1
	switch {
	case x.body != nil:
		f.addLoop(x)
		return
	case last >= 0 && f.list[last].body == nil && f.list[last].symbol == x.symbol:
		f.list[last].count += x.count
	default:
		f.list = append(f.list, x)
	}
	f.fold()
}

// addLoop adds a loop, or what it stands for.
func (f *folder) addLoop(x item) {
	if f.turned {
		x = whole(x)
	}
	if x.count <= f.unrolled {
		for range x.count {
			for _, y := range x.body {
				f.add(y)
			}
		}
		return
	}
	if k := f.turn(x.body); k > 0 {
		f.addTurned(x, k)
		return
	}
	for f.endsWith(x.body) {
		f.list = f.list[:len(f.list)-len(x.body)]
		x.count++
	}
	if last := len(f.list) - 1; last >= 0 && equalBodies(f.list[last].body, x.body) {
		f.list[last].count += x.count
		return
	}
	f.loop = len(f.list)
	f.list = append(f.list, x)
	f.fold()
}

// addTurned adds a loop whose body begins with its item k.
func (f *folder) addTurned(x item, k int) {
	for _, y := range x.body[:k] {
		f.add(y)
	}
	f.add(item{body: slices.Concat(x.body[k:], x.body[:k]), length: x.length, count: x.count - 1})
	for _, y := range x.body[k:] {
		f.add(y)
	}
}

// endsWith reports whether the last items are those of a body.
func (f *folder) endsWith(body []item) bool {
	n := len(f.list) - len(body)
	return n >= 0 && equalItems(f.list[n:], body)
}

// fold makes a loop of the last items if they are iterations of one, or of the loop before them.
func (f *folder) fold() {
	if f.turned && f.endsIteration() {
		return
	}
	end := len(f.list)
	for n := 1; n <= maxFolded && n < end; n++ {
		body := f.list[end-n:]
		if before := &f.list[end-n-1]; equalBodies(before.body, body) {
			before.count++
			f.list = f.list[:end-n]
			return
		}
		least := int(f.unrolled) + 1
		if n == 1 && body[0].body == nil || end < least*n {
			continue
		}
		times := 1
		for times < least && equalItems(f.list[end-(times+1)*n:end-times*n], body) {
			times++
		}
		if times == least && f.turn(body) == 0 {
			f.loop = end - times*n
			f.list = append(f.list[:end-times*n], item{body: slices.Clone(body), length: lengthOf(body),
				count: uint64(times)})
			return
		}
	}
}

// equalItems reports whether items are the same.
func equalItems(x, y []item) bool {
	for i := len(x) - 1; i >= 0; i-- {
		if x[i].count != y[i].count || x[i].symbol != y[i].symbol || x[i].length != y[i].length ||
			(x[i].body == nil) != (y[i].body == nil) {
			return false
		}
		if x[i].body != nil && !equalBodies(x[i].body, y[i].body) {
			return false
		}
	}
	return true
}

// equalBodies reports whether the bodies of loops are the same.
func equalBodies(x, y []item) bool {
	return len(x) == len(y) && len(x) > 0 && (&x[0] == &y[0] || equalItems(x, y))
}

// A nestBuilder makes the grammar of nested loops that a Builder makes of the sequence. It
// takes the time of a few rounds of each loop, unless the loops were made to keep it busy.
type nestBuilder struct {
	sequitur.Builder
	left int // runs to append before it gives up
}

// append appends items, and reports whether all of them were predicted.
func (b *nestBuilder) append(list []item) (predicted bool) {
	predicted = true
	for _, x := range list {
		if b.left--; b.left < 0 {
			return false
		}
		if x.body == nil {
			predicted = b.AppendRun(x.symbol, x.count) && predicted
			continue
		}
		held := b.Repeat(x.count, x.length, func() (predicted, more bool) {
			predicted = b.append(x.body)
			return predicted, b.left >= 0
		})
		predicted = held && predicted
	}
	return predicted
}
