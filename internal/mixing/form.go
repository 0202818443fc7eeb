package mixing

import (
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
)

const (
	// twinItems and loopItems are about how many items are written to see in which form they are smaller.
	twinItems = 1 << 13
	loopItems = 1 << 14

	// manyItems is how many items a block has at least that is not always written in the first form.
	manyItems = 1 << 13

	// moreItems is the part of the items by which there are more of them where it is worth trying to write
	// more loops out.
	moreItems = 1 << 5

	// mostMore is how many times the items there are at most then.
	mostMore = 3

	// manyPolls is the part of the items that loops which poll have at least where it is worth trying to
	// forget these: it is a third to a half of those of programs that poll, and a hundredth of others.
	manyPolls = 1 << 3

	// mostlyPolls is the same where they are forgotten untried if no work is left to try it.
	mostlyPolls = 1 << 2

	// longerSaves is the part of the bytes that are saved at least where more loops are written out, as
	// there are more items to read.
	longerSaves = 1 << 6
)

// A form is one of those in which a block can be written.
type form struct {
	lists [][]item
	items int      // in all lists, with the ends of members, and streams
	twins []uint32 // of all classes, nil if there are none
	level level
}

// is reports whether f was made as g was.
func (f form) is(g form) bool {
	same := func(x, y []uint32) bool { return len(x) == len(y) && (len(x) == 0 || &x[0] == &y[0]) }
	return f.level == g.level && same(f.twins, g.twins) && len(f.lists) == len(g.lists) &&
		(len(f.lists) == 0 || &f.lists[0] == &g.lists[0])
}

// choose chooses the form of the block: its level is levelLong if it is large, and there are twins, and other
// loops, if a sample is smaller then. What each saves, by the tables of bench/RESULTS.md: twins 21 to 44 % of
// adaptive meshes (Refinement), loops that are turned 16 to 28 % of loops with 0.1 % of other calls, more loops
// written out 14 % of inner loops of 1 to 3 iterations, and loops that are forgotten a fifth of a program that
// polls.
func (w *mixedWriter) choose() {
	large, first := w.items >= manyItems, w.form
	if large {
		w.level = levelLong
	}
	f := w.form
	if f.twins = findTwins(f.lists, &w.alphabet); f.twins != nil && w.affords(2*twinItems) {
		symbols, all := symbolsOf(f.lists, twinItems)
		alone := w.valuesLen() > w.items // values take most of the time, and as many bytes with twins
		if w.measure(f, symbols, all, false, alone).smaller(w.measure(w.form, symbols, all, false, alone)) {
			w.form = f
		}
	}
	if large {
		w.chooseTurned()
		w.chooseMore()
	}
	w.choosePolls(first)
}

// choosePolls chooses loops that are forgotten, if enough of those of the first form poll, and a sample is
// smaller by longerSaves then.
func (w *mixedWriter) choosePolls(f form) {
	found := findPolls(f.lists, &w.alphabet)
	if len(found) == 0 {
		return
	}
	lists, items := f.lists, 0
	f.lists = nil
	for _, list := range lists {
		folded := found.fold(list, &w.alphabet)
		items += found.items(folded, &w.alphabet)
		f.lists = append(f.lists, folded)
		f.items += countItems(folded) - countItems(list)
	}
	if items < f.items/manyPolls {
		return
	}
	for _, list := range f.lists {
		w.alphabet.markTakes(list)
	}
	f.twins, f.level = nil, levelPolls
	if f.items > w.mostParts*maxItems || !w.rebuild(f.lists) {
		return
	}
	if items >= f.items/mostlyPolls && !w.affords(2*loopItems) {
		w.form = f
		return
	}
	w.chooseSmaller(f, longerSaves)
}

// chooseTurned chooses loops that are turned, if that makes fewer items and a smaller sample.
func (w *mixedWriter) chooseTurned() {
	isLoop := func(x item) bool { return x.body != nil }
	if !slices.ContainsFunc(w.lists, func(list []item) bool { return slices.ContainsFunc(list, isLoop) }) {
		return
	}
	f, ok := w.form, false
	f.lists, f.items, ok = w.itemsOf(folding{fewTimes, true})
	if ok && f.items <= w.items-w.items/moreItems && w.rebuild(f.lists) {
		w.chooseSmaller(f, 0)
	}
}

// chooseMore chooses more loops that are written out, if a sample is smaller by longerSaves then.
func (w *mixedWriter) chooseMore() {
	f, ok := w.form, false
	f.lists, f.items, ok = w.itemsOf(folding{unrolled: manyTimes})
	if ok && f.items >= w.items+w.items/moreItems && f.items <= mostMore*w.items && w.rebuild(f.lists) {
		w.chooseSmaller(f, longerSaves)
	}
}

// chooseSmaller chooses a form if a sample is smaller then, by a part of it if that is not 0, and if work is
// left to see that.
func (w *mixedWriter) chooseSmaller(f form, part int) {
	if !w.affords(2 * loopItems) {
		return
	}
	symbols, all := symbolsOf(w.lists, loopItems)
	least := w.measure(w.form, symbols, all, !all, false)
	if part > 0 {
		least.bytes -= least.bytes / part
	}
	if w.measure(f, symbols, all, !all, false).smaller(least) {
		w.form = f
	}
}

// A sample is what some symbols of a block take.
type sample struct {
	bytes   int
	symbols uint64
}

// smaller reports whether s has fewer bytes for each symbol than t.
func (s sample) smaller(t sample) bool {
	return wire.MulSat(uint64(s.bytes), t.symbols) < wire.MulSat(uint64(t.bytes), s.symbols)
}

// measure returns the sample of about so many symbols, which may be all, from the first one on, or of those in the
// second half, to see what others will take, when the model has learned. If they are alone, it is without the values
// that they take.
func (w *mixedWriter) measure(f form, symbols uint64, all, half, alone bool) sample {
	if all && !alone {
		return sample{w.whole(f), symbols}
	}
	var whole, first sample
	of := *w
	of.form = f
	m := of.begin(len(f.lists), tableOf(min(f.items, 2*loopItems)))
	m.alone = alone
	for i, list := range f.lists {
		if whole.symbols >= symbols {
			break
		}
		m.value.begin(w.members[i].Streams)
		for k := 0; k < len(list) && whole.symbols < symbols && w.ctx.Err() == nil; k++ {
			m.item(list[k : k+1])
			whole.symbols = wire.AddSat(whole.symbols, lengthOf(list[k:k+1]))
			if half && first.symbols == 0 && whole.symbols >= symbols/2 {
				first = sample{m.Len(), whole.symbols}
			}
		}
		m.mark(markEnd)
	}
	m.table.free()
	*w.left -= Work(m.coded)
	whole.bytes = len(m.Finish())
	return sample{whole.bytes - first.bytes, whole.symbols - first.symbols}
}

// whole returns how many bytes the block of all items takes in a form, which is known then.
func (w *mixedWriter) whole(f form) int {
	of := *w
	of.form, of.most, of.left = f, math.MaxInt, (*Work)(nil).orAll()
	p := of.parts(math.MaxInt)
	c := of.code(&p[0], tableOf(f.items+w.valuesLen()))
	if !slices.ContainsFunc(w.known, func(k coding) bool { return k.form.is(f) }) {
		w.known = append(w.known, c)
		*w.left -= c.work
	}
	return len(c.block)
}

// symbolsOf returns how many symbols there are in the first items of lists, and whether that is all.
func symbolsOf(lists [][]item, items int) (symbols uint64, all bool) {
	for _, list := range lists {
		for i := range list {
			if items -= countItems(list[i : i+1]); items < 0 {
				return max(symbols, 1), false
			}
			symbols = wire.AddSat(symbols, lengthOf(list[i:i+1]))
		}
	}
	return symbols, true
}
