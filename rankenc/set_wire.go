package rankenc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/reprise-trace/reprise/internal/wire"
)

const (
	// minBitmap is the size in bytes up to which no list has a smaller bitmap.
	minBitmap = 16
	// maxSparse is how many ranks for each byte of a list make it too regular
	// for a bitmap to be tried, so that the memory this takes is bounded by the
	// size of the list.
	maxSparse = 16
)

// AppendBinary appends the encoding of s to dst and returns the extended slice.
// The error is always nil; it is there for [encoding.BinaryAppender].
func (s Set) AppendBinary(dst []byte) ([]byte, error) {
	if s.bitmap != nil {
		return appendBitmap(dst, s.bitmap), nil
	}
	return appendItems(dst, s.items), nil
}

func appendItems(dst []byte, items []item) []byte {
	list := itemList{data: wire.AppendUvarint(dst, uint64(len(items))<<1)}
	list.add(items)
	return list.data
}

// An itemList is items as they are encoded, without their number.
type itemList struct {
	data  []byte
	count int
	ranks int
	least uint64 // smallest rank the next item could start with
}

// add adds items.
func (l *itemList) add(items []item) {
	dst, least := l.data, l.least
	for i := range items {
		it := &items[i]
		l.ranks += it.size()
		dst = wire.AppendUvarint(dst, (uint64(it.start)-least)<<2|uint64(it.depth))
		dst = wire.AppendUvarint(dst, uint64(it.length-1))
		span := uint64(it.length - 1)
		for _, d := range it.dims[:it.depth] {
			dst = wire.AppendUvarint(dst, uint64(d.stride)-(span+2))
			dst = wire.AppendUvarint(dst, uint64(d.count-2))
			span += uint64(d.stride) * uint64(d.count-1)
		}
		least = it.last() + 2
	}
	l.data, l.least = dst, least
	l.count += len(items)
}

// all returns an iterator over the items of a list.
func (l *itemList) all() iter.Seq[item] {
	return func(yield func(item) bool) {
		d := wire.NewDecoder("rankenc", l.data)
		for least := uint64(0); d.Rest() > 0; {
			it := decodeItem(&d, least)
			if !yield(it) {
				return
			}
			least = it.last() + 2
		}
	}
}

// set returns the set of the items of a list.
func (l *itemList) set() Set {
	ranges := func(yield func(int, int) bool) {
		for it := range l.all() {
			if !it.ranges(yield) {
				return
			}
		}
	}
	if l.tryBitmap() {
		if b := l.smallerBitmap(ranges); b != nil {
			return Set{bitmap: b, n: l.ranks}
		}
	}
	return setOfItems(slices.AppendSeq(make([]item, 0, l.count), l.all()))
}

func appendBitmap(dst []byte, b *roaring.Bitmap) []byte {
	var buf bytes.Buffer
	if _, err := b.WriteTo(&buf); err != nil {
		panic(err) // a Buffer accepts everything
	}
	dst = wire.AppendUvarint(dst, uint64(buf.Len())<<1|1)
	return append(dst, buf.Bytes()...)
}

// size returns that of the encoding of a set of the items.
func (l *itemList) size() int {
	var number [binary.MaxVarintLen64]byte
	return len(wire.AppendUvarint(number[:0], uint64(l.count)<<1)) + len(l.data)
}

// tryBitmap reports whether a bitmap may be smaller: whether there are few enough ranks for it.
func (l *itemList) tryBitmap() bool {
	size := l.size()
	return size > minBitmap && l.ranks <= maxSparse*size
}

// smallerBitmap returns the ranks of a list, which are in ranges, as a bitmap if that
// takes fewer bytes, and nil otherwise. The result depends on the ranks alone.
func (l *itemList) smallerBitmap(ranges iter.Seq2[int, int]) *roaring.Bitmap {
	b := roaring.New()
	buf := make([]uint32, 0, 1024)
	for lo, hi := range ranges {
		for r := lo; r <= hi; r++ {
			if len(buf) == cap(buf) {
				b.AddMany(buf)
				buf = buf[:0]
			}
			buf = append(buf, uint32(r))
		}
	}
	b.AddMany(buf)
	b.RunOptimize()
	if len(appendBitmap(nil, b)) >= l.size() {
		return nil
	}
	return b
}

// ParseSet decodes the set that data begins with, and returns the bytes after it. It does not
// retain data. An error says where and why data was rejected. It wraps [io.ErrUnexpectedEOF] if
// data ends too soon.
func ParseSet(data []byte) (s Set, rest []byte, err error) {
	d := wire.NewDecoder("rankenc", data)
	s = decodeSet(&d)
	return s, data[d.Offset():], d.Err()
}

// decodeSet reads a set. If it fails, d has an error and the set is empty.
func decodeSet(d *wire.Decoder) Set {
	at := d.Offset()
	header := d.Uvarint("set")
	if d.Err() != nil {
		return Set{}
	}
	var s Set
	if header&1 != 0 {
		s = decodeBitmap(d, at, header>>1)
	} else {
		s = decodeItems(d, at, header>>1)
	}
	if d.Err() != nil {
		return Set{}
	}
	return s
}

func decodeItems(d *wire.Decoder, at int, count uint64) Set {
	if count > uint64(d.Rest()/2) {
		d.Corrupt(at, "set", "%d items in %d bytes", count, d.Rest())
		return Set{}
	}
	items := make([]item, 0, count)
	for least := uint64(0); uint64(len(items)) < count; {
		from := d.Offset()
		it := decodeItem(d, least)
		switch n := len(items); {
		case d.Err() != nil:
			return Set{}
		case !it.canonical(), n > 0 && !items[n-1].canonicalBefore(it, maxDepth):
			d.Corrupt(from, "item", "%v is not how its ranks are nested", &it)
			return Set{}
		}
		least = it.last() + 2
		items = append(items, it)
	}
	s := newSet(items)
	if s.bitmap != nil {
		d.Corrupt(at, "set", "%d items are larger than a bitmap", count)
	}
	return s
}

// decodeItem reads an item that starts at least or later.
func decodeItem(d *wire.Decoder, least uint64) item {
	at := d.Offset()
	start := d.UvarintMax("item", MaxRank<<2|3)
	it := item{depth: int(start & 3)}
	last := least + start>>2
	if last > MaxRank {
		d.Corrupt(at, "item", "starts at rank %d", last)
		return it
	}
	it.start = uint32(last)
	field := func(name string, least uint64) uint32 {
		return uint32(least + d.UvarintMax(name, MaxRank))
	}
	it.length = field("length", 1)
	last += uint64(it.length - 1)
	for k := range it.dims[:it.depth] {
		at := d.Offset()
		stride := last - uint64(it.start) + 2 + d.UvarintMax("stride", MaxRank)
		it.dims[k] = dim{uint32(stride), field("count", 2)}
		if last > MaxRank || stride > MaxRank {
			d.Corrupt(at, "stride", "%d after rank %d", stride, last)
			return item{length: 1}
		}
		last += stride * uint64(it.dims[k].count-1)
	}
	if last > MaxRank {
		d.Corrupt(at, "item", "ends at rank %d", last)
		return item{length: 1}
	}
	return it
}

// decodeBitmap reads size bytes of a bitmap. What it returns was built here, not
// by the bitmap package from the input: that accepts more than it writes.
func decodeBitmap(d *wire.Decoder, at int, size uint64) Set {
	if size > uint64(d.Rest()) {
		d.Corrupt(at, "bitmap", "%d bytes of %d", size, d.Rest())
		return Set{}
	}
	from := d.Offset()
	data := d.Bytes("bitmap", int(size))
	in := roaring.New()
	n, err := in.ReadFrom(bytes.NewReader(data))
	if err == nil {
		err = in.Validate()
	}
	if err != nil || n != int64(size) || in.IsEmpty() || in.Maximum() > MaxRank {
		d.Corrupt(from, "bitmap", "%d bytes, %d of them read: %v", size, n, err)
		return Set{}
	}
	s := setOfBitmap(in)
	if s.bitmap == nil || !bytes.Equal(appendBitmap(nil, s.bitmap), d.Since(at)) {
		d.Corrupt(from, "bitmap", "not the smallest encoding of its ranks")
		return Set{}
	}
	return s
}

// maxTextRanks is how many ranks a text may name, one by one, and maxTextDepth how
// deep its parentheses may nest.
const (
	maxTextRanks = 1 << 24
	maxTextDepth = 8
)

// SetOfText returns the set of ranks that a text names as [Set.String] writes it,
// such as 0-3, 8 or 0-62:2 or (1-6)+8×7. Ranks may come in any order and repeatedly,
// with or without spaces; x and * do as well as ×. The text must name a rank, and at
// most 2²⁴, and none that is not below size, which is at most MaxRank+1.
func SetOfText(text string, size int) (Set, error) {
	p := setParser{text: text, size: uint64(min(max(size, 0), MaxRank+1))}
	if strings.TrimSpace(text) == "" {
		p.fail("names no rank")
	}
	ranks := p.list(0)
	if p.err == nil && p.at < len(text) {
		p.fail("%q is not expected", p.rest())
	}
	if p.err != nil {
		return Set{}, p.err
	}
	return setOfBitmap(ranks), nil
}

// A setParser reads a text. The first failure sticks.
type setParser struct {
	text string
	at   int
	size uint64
	n    uint64 // ranks that were added
	err  error
}

func (p *setParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("rankenc: ranks %q: %s", p.text, fmt.Sprintf(format, args...))
	}
}

// rest returns what is left, or its beginning.
func (p *setParser) rest() string {
	const most = 20
	rest := []rune(p.text[p.at:])
	return string(rest[:min(len(rest), most)])
}

// accept skips spaces, and then a symbol if it is next.
func (p *setParser) accept(symbols string) bool {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	r, n := utf8.DecodeRuneInString(p.text[p.at:])
	if n == 0 || !strings.ContainsRune(symbols, r) {
		return false
	}
	p.at += n
	return true
}

// number reads a number, which must be below a bound.
func (p *setParser) number(what string, bound uint64) uint64 {
	p.accept("")
	begin := p.at
	for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		p.at++
	}
	if begin == p.at {
		if p.at == len(p.text) {
			p.fail("a %s is missing at the end", what)
		} else {
			p.fail("%q is no %s", p.rest(), what)
		}
		return 0
	}
	v, err := strconv.ParseUint(p.text[begin:p.at], 10, 64)
	switch {
	case (err != nil || v >= bound) && bound == 0:
		p.fail("there are no ranks")
	case err != nil || v >= bound:
		p.fail("the %s %s is beyond %d", what, p.text[begin:p.at], bound-1)
	}
	return v
}

// list reads items with commas between them.
func (p *setParser) list(depth int) *roaring.Bitmap {
	ranks := p.item(depth)
	for p.err == nil && p.accept(",") {
		ranks.Or(p.item(depth))
	}
	return ranks
}

// item reads a rank, a range, or copies of a list.
func (p *setParser) item(depth int) *roaring.Bitmap {
	ranks := roaring.New()
	if p.accept("(") {
		if depth == maxTextDepth {
			p.fail("parentheses nest deeper than %d", maxTextDepth)
			return ranks
		}
		return p.copies(p.list(depth + 1))
	}
	first := p.number("rank", p.size)
	last, step := first, uint64(1)
	if p.err == nil && p.accept("-") {
		if last = p.number("rank", p.size); last < first && p.err == nil {
			p.fail("%d-%d is backwards", first, last)
		}
		if p.accept(":") {
			if step = p.number("step", MaxRank+1); step == 0 {
				p.fail("a step is 1 at least")
			}
		}
	}
	if p.err == nil && p.count((last-first)/step+1) {
		if step == 1 {
			ranks.AddRange(first, last+1)
			return ranks
		}
		for r := first; r <= last; r += step {
			ranks.Add(uint32(r))
		}
	}
	return ranks
}

// count reports whether so many ranks more are not too many.
func (p *setParser) count(n uint64) bool {
	if p.n += n; p.n > maxTextRanks {
		p.fail("these are more than %d ranks", maxTextRanks)
	}
	return p.err == nil
}

// copies reads what follows a list in parentheses, and returns the copies.
func (p *setParser) copies(list *roaring.Bitmap) *roaring.Bitmap {
	for _, symbols := range []string{")", "+"} {
		if p.err == nil && !p.accept(symbols) {
			p.fail("%s is missing", symbols)
		}
	}
	distance := p.number("distance", MaxRank+1)
	if p.err == nil && !p.accept("×x*") {
		p.fail("× is missing")
	}
	n := p.number("number of copies", MaxRank+1)
	if p.err != nil {
		return list
	}
	if n == 0 {
		p.fail("there is a copy at least")
		return list
	}
	if last := uint64(list.Maximum()) + (n-1)*distance; last >= p.size {
		p.fail("the rank %d is beyond %d", last, p.size-1)
		return list
	}
	all := roaring.New()
	for i := range n {
		if !p.count(list.GetCardinality()) {
			break
		}
		all.Or(roaring.AddOffset(list, uint32(i*distance)))
	}
	return all
}
