package mixing

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// Limits of a block.
const (
	maxItems      = 1 << 18 // with the values of streams: each takes microseconds
	maxTable      = 19      // the table of contexts has 2^maxTable places at most
	minTable      = 10      // or these, whatever the block has
	tablePerByte  = 1 << 8  // places for each byte of the block
	fewItems      = 1 << 16 // items that any block may have
	itemsPerByte  = 1 << 11 // and those for each of its bytes
	roundsPerItem = 1 << 4  // runs that are appended for each item of a member
	fewRounds     = 1 << 12 // and those besides
	maxBits       = 1 << 23 // bits that are predicted, each of which takes some 0.1 µs
)

// MaxParts is how many blocks there are at most for members that are too long for one.
const MaxParts = 1 << 2

// What the head of a block holds besides a table's number of bits << 1.
const (
	headTwins = 1 << 0 // if there are twins
	headLevel = 6      // level << headLevel
)

// mostItems returns how many items a block of so many bytes may have, with the ends of members, the
// streams of each, and their values.
func mostItems(size int) int {
	return min(fewItems+itemsPerByte*min(size, maxItems/itemsPerByte), maxItems)
}

// A Member is one of the sequences of a block.
type Member struct {
	Grammar *sequitur.Grammar

	// Streams has the values of each stream of the [Alphabet], in the order of the symbols that
	// take them. It is nil if there are no streams.
	Streams [][]uint32
}

// Append appends a block with sequences to dst and returns the extended slice. If sequences are too
// long for a block, it appends up to [MaxParts], each predicted alone. The Alphabet has all
// symbols. It reports false, and appends nothing, if the blocks are longer than most bytes, if a
// sequence is too long as nested loops, or if its grammar is not the one that a [sequitur.Builder]
// makes of it: then it cannot be read from such a block. It also does if ctx is done, or the work is more than
// is left, if that is not nil. It panics if a member has no grammar.
func Append(
	ctx context.Context, dst [][]byte, members []Member, a Alphabet, most int, left *Work,
) (blocks [][]byte, ok bool) {
	for _, m := range members {
		if m.Grammar == nil {
			panic("mixing: a member without a grammar")
		}
	}
	t := Trial{mixedWriter{ctx: ctx, members: members, alphabet: a}}
	if !t.w.prepare(MaxParts) {
		return dst, false
	}
	return t.Append(dst, most, left)
}

// A Trial is a block with sequences in its first form, with a table of contexts as large as its items want it: to
// compare what could be done with sequences. It takes a quarter of the time of [Append].
type Trial struct{ w mixedWriter }

// A Rival is the trial of a block with the same sequences of symbols, in another alphabet and with other streams. The
// zero Rival is none.
type Rival struct {
	Trial *Trial

	// Limited says that a block is in vain that is longer by More bytes already where half of the symbols are coded.
	Limited bool
	More    int
}

// Try tries a block with sequences, and reports whether [Append] appends anything of them in one, and whether it is
// not in vain. It has a table of contexts that is not larger than that of a block as long as the rival may be.
func Try(ctx context.Context, members []Member, a Alphabet, rival Rival, left *Work) (*Trial, bool) {
	t := &Trial{mixedWriter{ctx: ctx, members: members, alphabet: a, most: math.MaxInt, left: left.orAll()}}
	if !t.w.prepare(1) {
		return nil, false
	}
	for _, m := range members {
		t.w.half = wire.AddSat(t.w.half, m.Grammar.Len())
	}
	t.w.half, t.w.mostHalf = (t.w.half+1)/2, math.MaxInt
	if rival.Limited && rival.Trial.w.halfLen > 0 {
		t.w.mostHalf = rival.Trial.w.halfLen + rival.More
	}
	p := t.w.parts(maxItems)
	if len(p) > 1 {
		return nil, false
	}
	size := tableOf(t.w.items + t.w.valuesLen())
	if rival.Trial != nil {
		size = min(size, largestTable(rival.Trial.Len()))
	}
	c := t.w.code(&p[0], size)
	if t.w.half = 0; t.w.halfLen > t.w.mostHalf {
		return nil, false
	}
	t.w.known = append(t.w.known, c)
	return t, t.w.fits(&p[0], c)
}

// Len returns about how many bytes [Append] appends of the sequences.
func (t *Trial) Len() int { return len(t.w.known[0].block) }

// Append is the function [Append] of the sequences, without the work that was done.
func (t *Trial) Append(dst [][]byte, most int, left *Work) (blocks [][]byte, ok bool) {
	w := t.w
	w.mostParts, w.most, w.left = MaxParts, most, left.orAll()
	w.choose()
	if blocks, ok = w.blocks(w.parts(maxItems)); !ok {
		return dst, false
	}
	return append(dst, blocks...), true
}

// Work is how many bits may be coded yet. A bit takes 0.3 to 0.5 µs on processors of 2022, with all that is
// done besides. It is negative after a block that was cut off, as it took more than was left.
type Work int64

// orAll returns what may be done where nothing is said.
func (left *Work) orAll() *Work {
	if left == nil {
		left = new(Work)
		*left = math.MaxInt64
	}
	return left
}

// bitsPerItem is about how many bits an item takes, or a value of a stream.
const bitsPerItem = 8

// affords reports whether blocks can be written yet after so many items more.
func (w *mixedWriter) affords(items int) bool {
	return *w.left/bitsPerItem >= Work(w.items+w.valuesLen()+items)
}

// A mixedWriter writes blocks.
type mixedWriter struct {
	ctx      context.Context // when it is done, blocks are cut off
	left     *Work           // the same, when there is none
	members  []Member
	alphabet Alphabet
	form
	mostParts int // blocks there may be
	most      int // bytes of all of them: what is longer is cut off
	known     []coding
	foreseen  []measured // of forms that are to be measured

	// How many bytes are coded after half of the symbols, 0 if an item goes from before the half far beyond it, and may
	// be so that the block is coded to its end. Half is 0 where nobody asks.
	half              uint64
	halfLen, mostHalf int
}

// A coding is a block in a form, with a table of 2^size places.
type coding struct {
	block   []byte
	form    form
	size    int
	work    Work
	values  int
	taken   []int // how many values of each stream there were of the last member
	tooMany bool  // there are more items or values than there may be, or they take too many steps or bits
}

// prepare makes lists of the items of members, and reports whether they can be written in so many blocks.
func (w *mixedWriter) prepare(parts int) bool {
	w.mostParts = parts
	lists, n, ok := w.itemsOf(folding{unrolled: fewTimes})
	if !ok || !w.rebuild(lists) {
		return false
	}
	for _, x := range w.members {
		if !w.alphabet.holds(x) {
			return false
		}
	}
	w.lists, w.items = lists, n
	return true
}

// itemsOf returns the items of all members, and how many they are, with the ends of members and streams, and
// whether there may be so many.
func (w *mixedWriter) itemsOf(how folding) (lists [][]item, n int, ok bool) {
	for _, x := range w.members {
		list, ok := itemsOf(x.Grammar, w.mostParts*maxItems, how)
		if n += countItems(list) + 1 + len(x.Streams); !ok || n > w.mostParts*maxItems || w.ctx.Err() != nil {
			return nil, 0, false
		}
		w.alphabet.markTakes(list)
		lists = append(lists, list)
	}
	return lists, n, true
}

// rebuild reports whether the grammars of members are those that are made of lists.
func (w *mixedWriter) rebuild(lists [][]item) bool {
	for i, list := range lists {
		if w.ctx.Err() != nil || !rebuilds(w.members[i].Grammar, list, countItems(list)) {
			return false
		}
	}
	return true
}

// A part is what one block has of the items.
type part struct {
	pieces [][]item // of members one after the other
	first  int      // the member of the first
	taken  []int    // how many values of each of its streams blocks before have
	items  int      // with the ends of pieces, and streams
	goesOn bool     // the last piece is not the last of its member
}

// parts divides the items between items that are in no loop, if they are more than most: then into parts that
// are about as large, but for what an item takes.
func (w *mixedWriter) parts(most int) []part {
	ends := 1 + len(w.alphabet.Values)
	enough := w.items
	if w.items > most {
		n := (w.items-1)/(most-most/64) + 1
		enough = w.items/n + 1 + ends
	}
	var parts []part
	var p part
	for i, list := range w.lists {
		p.items += ends
		begin := 0
		for k := range list {
			if p.items >= enough && k > begin {
				p.pieces, p.goesOn = append(p.pieces, list[begin:k]), true
				parts = append(parts, p)
				p, begin = part{first: i, items: ends}, k
			}
			p.items += countItems(list[k : k+1])
		}
		p.pieces = append(p.pieces, list[begin:])
	}
	return append(parts, p)
}

// blocks returns the blocks of parts, and whether they can be read.
func (w *mixedWriter) blocks(parts []part) (blocks [][]byte, ok bool) {
	ok = len(parts) <= w.mostParts && w.rebuildParts(parts)
	if len(parts) > 1 {
		w.known = nil // which are of all items
	}
	for i := 0; i < len(parts) && ok; i++ {
		c := w.fitting(&parts[i])
		ok = w.fits(&parts[i], c)
		blocks = append(blocks, c.block)
		w.most -= len(c.block)
		if i+1 < len(parts) {
			parts[i+1].taken = c.taken
		}
	}
	return blocks, ok
}

// fitting returns a block with a table that suits its items, or of as many places as it may have.
func (w *mixedWriter) fitting(p *part) coding {
	size := tableOf(w.items + w.valuesLen())
	known := size
	for _, c := range w.known { // a smaller table may be known to suit
		if c.form.is(w.form) && c.size <= largestTable(len(c.block)) {
			known = min(known, c.size)
		}
	}
	c := w.code(p, known)
	first := c.work
	for c.size > largestTable(len(c.block)) && w.goesOn() {
		c = w.code(p, largestTable(len(c.block)))
	}
	// With fewer places the block is longer, so that it may have more of them than the first one said.
	for c.size < min(largestTable(len(c.block)), size) && *w.left >= 5*first && w.ctx.Err() == nil {
		d := w.code(p, c.size+1)
		if d.size > largestTable(len(d.block)) || len(d.block) >= len(c.block) {
			break
		}
		c = d
	}
	return c
}

func (w *mixedWriter) goesOn() bool { return *w.left >= 0 && w.ctx.Err() == nil }

// fits reports whether the block of a part can be read and is short enough.
func (w *mixedWriter) fits(p *part, c coding) bool {
	n := len(c.block)
	return w.goesOn() && n <= w.most && !c.tooMany && p.items+c.values <= mostItems(n)
}

// valuesLen returns how many values all streams have.
func (w *mixedWriter) valuesLen() int {
	n := 0
	for _, x := range w.members {
		for _, values := range x.Streams {
			n += len(values)
		}
	}
	return n
}

// tableOf returns how large a table of contexts suits so many items and values, 2^size places.
func tableOf(items int) (size int) { return min(max(bits.Len(uint(items))+4, minTable), maxTable) }

// mostPlaces returns how many places the table of contexts may have of a block of so many bytes.
func mostPlaces(size int) int { return 1<<minTable + tablePerByte*min(size, 1<<maxTable/tablePerByte) }

// largestTable returns how large the table of contexts of a block of so many bytes may be, 2^size places.
func largestTable(bytes int) (size int) { return bits.Len(uint(mostPlaces(bytes))) - 1 }

// countItems returns the number of items in all, a loop being two more than its body.
func countItems(list []item) int {
	n := 0
	for _, x := range list {
		if n++; x.body != nil {
			n += 1 + countItems(x.body)
		}
	}
	return n
}

// rebuilds reports whether g is the grammar that is made of n items.
func rebuilds(g *sequitur.Grammar, list []item, n int) bool {
	b := nestBuilder{left: fewRounds + roundsPerItem*n}
	b.append(list)
	return b.left >= 0 && b.Finish().Equal(g)
}

// rebuildParts reports whether members are those that are made of their pieces, each of which takes no more
// runs than may be appended for its items.
func (w *mixedWriter) rebuildParts(parts []part) bool {
	if len(parts) == 1 { // with pieces that are whole members
		return true
	}
	var b nestBuilder
	for _, p := range parts {
		for i, list := range p.pieces {
			b.left = fewRounds + roundsPerItem*countItems(list)
			if b.append(list); b.left < 0 || w.ctx.Err() != nil {
				return false
			}
			if p.goesOn && i == len(p.pieces)-1 {
				continue
			}
			if !b.Finish().Equal(w.members[p.first+i].Grammar) {
				return false
			}
		}
	}
	return true
}

// begin begins a block of n members, with a table of 2^size places.
func (w *mixedWriter) begin(n, size int) *sequenceModel {
	head := uint64(w.level)<<headLevel | uint64(size)<<1
	if w.twins != nil {
		head |= headTwins
	}
	dst := wire.AppendUvarint(nil, head)
	dst = wire.AppendUvarint(dst, uint64(n))
	m := newSequenceModel(w.alphabet, size, maxItems, w.level)
	m.Write(dst)
	if w.twins != nil {
		m.codeTwins(w.twins)
	}
	return m
}

// code returns the block of a part in the form of w, with a table of 2^size places: if it is that of all items, it may
// be known.
func (w *mixedWriter) code(p *part, size int) coding {
	for _, c := range w.known {
		if c.size == size && c.form.is(w.form) {
			return c
		}
	}
	m := w.begin(len(p.pieces), size)
	symbols := uint64(0)
	for i, x := range p.pieces {
		m.value.begin(w.members[p.first+i].Streams)
		if i == 0 {
			copy(m.value.next, p.taken)
		}
		for k := 0; k < len(x) && Work(m.coded) <= *w.left && (w.half == 0 || w.halfLen <= w.mostHalf); k++ {
			m.item(x[k : k+1])
			if w.half == 0 || symbols >= w.half {
				continue
			}
			symbols = wire.AddSat(symbols, lengthOf(x[k:k+1]))
			if symbols >= w.half && symbols <= wire.AddSat(w.half, w.half/8) { // an item may be of many, even of all
				w.halfLen = m.Len()
			}
		}
		if w.half > 0 && w.halfLen > w.mostHalf {
			break
		}
		end := uint32(markEnd)
		if i == len(p.pieces)-1 && p.goesOn {
			end = markNext
		}
		if m.mark(end); m.Len() > w.most || Work(m.coded) > *w.left || w.ctx.Err() != nil {
			break
		}
	}
	m.table.free()
	*w.left -= Work(m.coded)
	return coding{block: m.Finish(), form: w.form, size: size, work: Work(m.coded), values: m.value.count,
		taken: slices.Clone(m.value.next), tooMany: m.value.tooMany() || m.coded > maxBits}
}

// item writes the one item of a list, and the values that its symbols take unless it is alone.
func (m *sequenceModel) item(list []item) {
	m.write(list)
	if !m.alone {
		m.values(list)
	}
}

// write writes items.
func (m *sequenceModel) write(list []item) {
	for _, x := range list {
		if x.body == nil {
			class := m.alphabet.Class[x.symbol]
			m.mark(class + firstClass)
			m.member(class, x.symbol)
			m.count(x.count)
			continue
		}
		m.mark(markOpen)
		m.count(x.count)
		m.write(x.body)
		m.mark(markClose)
	}
}

// lengthOf returns the number of symbols in a list, saturated at the largest uint64.
func lengthOf(list []item) uint64 {
	n := uint64(0)
	for _, x := range list {
		if x.body == nil {
			n = wire.AddSat(n, x.count)
		} else {
			n = wire.AddSat(n, wire.MulSat(x.count, x.length))
		}
	}
	return n
}
