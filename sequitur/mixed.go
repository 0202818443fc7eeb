package sequitur

import (
	"context"
	"math"
	"math/bits"

	"github.com/reprise-trace/reprise/internal/wire"
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
)

// Flags in the head of a block, whose other bits are those of a table's number of bits << 1.
const (
	headTwins = 1 << 0
	headKept  = 1 << 6
)

// mostItems returns how many items a block of so many bytes may have, with the ends of members, the
// streams of each, and their values.
func mostItems(size int) int {
	return min(fewItems+itemsPerByte*min(size, maxItems/itemsPerByte), maxItems)
}

// A Member is one of the sequences of a block.
type Member struct {
	Grammar *Grammar

	// Streams has the values of each stream of the [Alphabet], in the order of the symbols that
	// take them. It is nil if there are no streams.
	Streams [][]uint32
}

// AppendMixed appends a block with sequences, each predicted by what came before it in the
// block, and returns the extended slice. It is smaller than a [Forest] where
// sequences nearly repeat, or differ in little, and takes a microsecond or two for each
// symbol of a sequence as nested loops, to write and to read. The Alphabet has all symbols.
// It reports false, and appends nothing, if the block is longer than most bytes, if a sequence
// is too long as nested loops, or if its grammar is not the one that a Builder makes of it: then
// it cannot be read from such a block. It also does if ctx is done.
//
// A bit is predicted in several contexts, and the predictions are mixed, as in M. Mahoney,
// "Adaptive Weighing of Context Models for Lossless Data Compression", TR CS-2005-16,
// Florida Institute of Technology, 2005.
func AppendMixed(ctx context.Context, dst []byte, members []Member, a Alphabet, most int) (block []byte, ok bool) {
	w := mixedWriter{ctx: ctx, members: members, alphabet: a, most: most}
	if !w.prepare() {
		return dst, false
	}
	w.choose()
	if block, ok = w.fitting(); !ok {
		return dst, false
	}
	return append(dst, block...), true
}

// MixedLen returns about how many bytes [AppendMixed] appends, of a block in the first form, in half the time, and whether it appends
// anything: to compare what could be done with sequences.
func MixedLen(ctx context.Context, members []Member, a Alphabet) (n int, ok bool) {
	w := mixedWriter{ctx: ctx, members: members, alphabet: a, most: math.MaxInt}
	if !w.prepare() {
		return 0, false
	}
	block, ok := w.fitting()
	return len(block), ok
}

// A mixedWriter writes blocks.
type mixedWriter struct {
	ctx      context.Context // when it is done, blocks are cut off
	members  []Member
	alphabet Alphabet
	form
	most    int  // bytes of a block: what is longer is cut off
	values  int  // in the last block
	tooMany bool // there are more items or values than there may be, or they take too many steps
}

// prepare makes lists of the items of members, and reports whether they can be written.
func (w *mixedWriter) prepare() bool {
	lists, n, ok := w.itemsOf(fewTimes)
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

// itemsOf returns the items of all members, the loops written out that repeat no more often than unrolled,
// and how many they are, with the ends of members and streams, and whether a block may have so many.
func (w *mixedWriter) itemsOf(unrolled uint64) (lists [][]item, n int, ok bool) {
	for _, x := range w.members {
		list, ok := x.Grammar.items(maxItems, unrolled)
		if n += countItems(list) + 1 + len(x.Streams); !ok || n > maxItems || w.ctx.Err() != nil {
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

// fitting returns a block with a table that suits its items, or of as many places as it may have, and
// whether it can be read.
func (w *mixedWriter) fitting() (block []byte, ok bool) {
	total := w.items
	for _, x := range w.members {
		for _, values := range x.Streams {
			total += len(values)
		}
	}
	size := tableOf(total)
	for block = w.block(size); 1<<size > mostPlaces(len(block)) && w.ctx.Err() == nil; size-- {
		block = w.block(size - 1)
	}
	n := len(block)
	return block, w.ctx.Err() == nil && n <= w.most && !w.tooMany && w.items+w.values <= mostItems(n)
}

// tableOf returns how large a table of contexts suits so many items and values, 2^size places.
func tableOf(items int) (size int) { return min(max(bits.Len(uint(items))+4, minTable), maxTable) }

// mostPlaces returns how many places the table of contexts may have of a block of so many bytes.
func mostPlaces(size int) int { return 1<<minTable + tablePerByte*min(size, 1<<maxTable/tablePerByte) }

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
func rebuilds(g *Grammar, list []item, n int) bool {
	b := nestBuilder{left: fewRounds + roundsPerItem*n}
	b.append(list)
	return b.left >= 0 && b.Finish().Equal(g)
}

// begin begins a block, with a table of 2^size places.
func (w *mixedWriter) begin(size int) *sequenceModel {
	head := uint64(size) << 1
	if w.twins != nil {
		head |= headTwins
	}
	if w.kept {
		head |= headKept
	}
	dst := wire.AppendUvarint(nil, head)
	dst = wire.AppendUvarint(dst, uint64(len(w.lists)))
	m := newSequenceModel(w.alphabet, size, maxItems, w.kept)
	m.Write(dst)
	if w.twins != nil {
		m.codeTwins(w.twins)
	}
	return m
}

// block returns a block, with a table of 2^size places.
func (w *mixedWriter) block(size int) []byte {
	m := w.begin(size)
	for i, list := range w.lists {
		m.value.begin(w.members[i].Streams)
		for k := range list {
			m.item(list[k : k+1])
		}
		if m.mark(markEnd); m.Len() > w.most || w.ctx.Err() != nil {
			break
		}
	}
	m.table.free()
	w.values, w.tooMany = m.value.count, m.value.tooMany()
	return m.Finish()
}

// item writes the one item of a list, and the values that its symbols take.
func (m *sequenceModel) item(list []item) {
	m.write(list)
	m.values(list)
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

// ParseMixed reads a block that [AppendMixed] made with the same Alphabet. An error from
// ParseMixed is a [*ParseError].
func ParseMixed(data []byte, a Alphabet) ([]Member, error) {
	d := wire.NewDecoder(pkg, data)
	at := d.Offset()
	head := d.Uvarint("table")
	size := head &^ headKept >> 1
	if size < minTable || size > maxTable || 1<<size > mostPlaces(len(data)) {
		d.Limit(at, "table", "2^%d places of %d bytes", size, len(data))
	}
	at = d.Offset()
	n := d.Uvarint("members")
	if n > uint64(mostItems(len(data))) {
		d.Limit(at, "members", "%d in %d bytes", n, len(data))
	}
	if d.Err() != nil {
		return nil, d.Err()
	}
	r := mixedReader{sequenceModel: newSequenceModel(a, int(size), mostItems(len(data)), head&headKept != 0), left: mostItems(len(data)), d: &d}
	at = d.Offset()
	defer r.table.free()
	r.Read(data[at:])
	if head&headTwins != 0 {
		r.codeTwins(nil)
	}
	var members []Member
	for ; n > 0 && d.Err() == nil; n-- {
		r.value.begin(nil)
		if g := r.grammar(at); d.Err() == nil {
			members = append(members, Member{g, r.value.streams})
		}
	}
	if d.Err() == nil && !r.Finished() {
		d.Corrupt(at, "members", "another end than expected")
	}
	if d.Err() != nil {
		return nil, d.Err()
	}
	return members, nil
}

// A mixedReader reads members.
type mixedReader struct {
	*sequenceModel
	d    *wire.Decoder
	left int // items and streams there may be, and values in all
}

// grammar reads a member.
func (r *mixedReader) grammar(at int) *Grammar {
	r.left -= len(r.alphabet.Values)
	before := r.left
	list := r.read(at)
	if r.d.Err() != nil {
		return nil
	}
	b := nestBuilder{left: fewRounds + roundsPerItem*(before-r.left-1)}
	if b.append(list); b.left < 0 {
		r.d.Limit(at, "member", "takes more than %d rounds for each item", roundsPerItem)
		return nil
	}
	return b.Finish()
}

// read reads the items of a member.
func (r *mixedReader) read(at int) []item {
	var (
		open  []item // the loops that are read
		lists = [][]item{nil}
	)
	for {
		top := &lists[len(lists)-1]
		if r.left--; r.left < r.value.count || r.Ended() || r.value.tooMany() {
			r.d.Limit(at, "member", "more items or values than there may be")
			return nil
		}
		switch s := r.mark(0); {
		case r.value.outside:
			r.d.Corrupt(at, "member", "a value that there is not")
			return nil
		case s == markOpen:
			open = append(open, item{count: r.count(0)})
			lists = append(lists, nil)
			if len(open) > maxNesting {
				r.d.Limit(at, "member", "loops in %d loops", maxNesting)
				return nil
			}
		case s == markClose && len(open) > 0 && len(*top) > 0:
			x := open[len(open)-1]
			x.body = *top
			if x.length = lengthOf(x.body); !fits(x.length, x.count) {
				r.d.Corrupt(at, "member", "longer than 2⁶³−1 symbols")
				return nil
			}
			open, lists = open[:len(open)-1], lists[:len(lists)-1]
			r.add(lists, x)
		case s == markEnd && len(open) == 0:
			if !fits(lengthOf(*top), 1) {
				r.d.Corrupt(at, "member", "longer than 2⁶³−1 symbols")
			}
			return *top
		case s >= firstClass && s < uint32(len(r.lastAt)):
			symbol := r.member(s-firstClass, 0)
			if symbol > MaxSymbol {
				r.d.Corrupt(at, "member", "no such symbol of class %d", s-firstClass)
				return nil
			}
			r.add(lists, item{symbol: symbol, count: r.count(0)})
		default:
			r.d.Corrupt(at, "member", "mark %d", s)
			return nil
		}
	}
}

// add adds an item to the last of lists, and reads its values if it is in no loop.
func (r *mixedReader) add(lists [][]item, x item) {
	x.takes = r.alphabet.takes(&x)
	last := len(lists) - 1
	lists[last] = append(lists[last], x)
	if last == 0 {
		r.values(lists[0][len(lists[0])-1:])
	}
}

// fits reports whether a sequence may have so many times so many symbols.
func fits(length, times uint64) bool {
	hi, n := bits.Mul64(length, times)
	return hi == 0 && n <= maxLen
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
