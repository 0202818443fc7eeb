package mixing

import (
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/parallel"
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
	polls := w.findPolls(first)
	f := w.form
	if f.twins = findTwins(f.lists, &w.alphabet); f.twins != nil && w.affords(2*twinItems) {
		var r, own request
		r.symbols, r.all = symbolsOf(f.lists, twinItems)
		r.alone = w.valuesLen() > w.items // values take most of the time, and as many bytes with twins
		r.form, own = f, r
		own.form = w.form
		if all := []request{r, own}; polls.tried && !large {
			w.foresee(append(all, w.request(polls.form)))
		} else {
			w.foresee(all)
		}
		if w.measure(r).smaller(w.measure(own)) {
			w.form = f
		}
	}
	if large {
		w.chooseTurned()
		w.chooseMore()
	}
	w.choosePolls(polls)
}

// A pollsForm is a form with loops that are forgotten.
type pollsForm struct {
	form
	tried  bool // it is worth to be tried
	polled int  // items of what polls
}

// findPolls returns the form with loops that are forgotten of the first one, if enough of its loops poll.
func (w *mixedWriter) findPolls(f form) pollsForm {
	found := findPolls(f.lists, &w.alphabet)
	if len(found) == 0 {
		return pollsForm{}
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
		return pollsForm{}
	}
	for _, list := range f.lists {
		w.alphabet.markTakes(list)
	}
	f.twins, f.level = nil, levelPolls
	if f.items > w.mostParts*maxItems || !w.rebuild(f.lists) {
		return pollsForm{}
	}
	return pollsForm{f, true, items}
}

// choosePolls chooses loops that are forgotten, if a sample is smaller by longerSaves then.
func (w *mixedWriter) choosePolls(f pollsForm) {
	switch {
	case !f.tried:
	case f.polled >= f.items/mostlyPolls && !w.affords(2*loopItems):
		w.form = f.form
	default:
		w.chooseSmaller(f.form, longerSaves)
	}
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
	own, other := w.request(w.form), w.request(f)
	w.foresee([]request{own, other})
	least := w.measure(own)
	if part > 0 {
		least.bytes -= least.bytes / part
	}
	if w.measure(other).smaller(least) {
		w.form = f
	}
}

// request returns what to measure of a form to see whether loops are better there.
func (w *mixedWriter) request(f form) (r request) {
	r.form = f
	r.symbols, r.all = symbolsOf(w.lists, loopItems)
	r.half = !r.all
	return r
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

// A request is to measure about so many symbols of a form, which may be all, from the first one on, or of those in the
// second half, to see what others will take, when the model has learned. If they are alone, it is without the values
// that they take.
type request struct {
	form
	symbols          uint64
	all, half, alone bool
}

// is reports whether both are the same.
func (r *request) is(o *request) bool {
	return r.form.is(o.form) && r.symbols == o.symbols && r.all == o.all && r.half == o.half && r.alone == o.alone
}

// A measured is a sample.
type measured struct {
	request
	sample
	work  Work
	whole *coding // nil if it is not of all
}

// foresee measures several forms at once, which may be measured then. No work counts yet.
func (w *mixedWriter) foresee(list []request) {
	w.foreseen = make([]measured, len(list))
	_ = parallel.Each(w.ctx, 0, len(list), func(i int) error {
		w.foreseen[i] = w.sampleOf(list[i])
		return nil
	})
}

// measure returns a sample, and counts its work.
func (w *mixedWriter) measure(r request) sample {
	at := slices.IndexFunc(w.foreseen, func(m measured) bool { return m.request.is(&r) })
	var m measured
	if at >= 0 {
		m = w.foreseen[at]
	} else {
		m = w.sampleOf(r)
	}
	if m.whole == nil {
		*w.left -= m.work
	} else if !slices.ContainsFunc(w.known, func(k coding) bool { return k.form.is(r.form) }) {
		w.known = append(w.known, *m.whole)
		*w.left -= m.work
	}
	return m.sample
}

// sampleOf makes a sample.
func (w *mixedWriter) sampleOf(r request) measured {
	if r.all && !r.alone {
		c := w.whole(r.form)
		return measured{r, sample{len(c.block), r.symbols}, c.work, &c}
	}
	var whole, first sample
	of := *w
	of.form = r.form
	m := of.begin(len(of.lists), tableOf(min(of.items, 2*loopItems)))
	m.alone = r.alone
	for i, list := range of.lists {
		if whole.symbols >= r.symbols {
			break
		}
		m.value.begin(w.members[i].Streams)
		for k := 0; k < len(list) && whole.symbols < r.symbols && w.ctx.Err() == nil; k++ {
			m.item(list[k : k+1])
			whole.symbols = wire.AddSat(whole.symbols, lengthOf(list[k:k+1]))
			if r.half && first.symbols == 0 && whole.symbols >= r.symbols/2 {
				first = sample{m.Len(), whole.symbols}
			}
		}
		m.mark(markEnd)
	}
	m.table.free()
	whole.bytes = len(m.Finish())
	return measured{r, sample{whole.bytes - first.bytes, whole.symbols - first.symbols}, Work(m.coded), nil}
}

// whole returns the block of all items in a form.
func (w *mixedWriter) whole(f form) coding {
	of := *w
	of.form, of.most, of.left = f, math.MaxInt, (*Work)(nil).orAll()
	p := of.parts(math.MaxInt)
	return of.code(&p[0], tableOf(f.items+w.valuesLen()))
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
