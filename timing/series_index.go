package timing

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/internal/wire"
)

// DefaultBlockLen is the number of calls of a block where it is not said.
const DefaultBlockLen = 1 << 16

// A SeriesBuilder encodes a series in blocks of one length, with an index. What
// it holds is the encoding of the blocks so far, and what a seriesEncoder does.
type SeriesBuilder struct {
	encoder  *seriesEncoder
	blockLen int
	index    indexBuilder
	blocks   []byte
	block    []timedCall // the calls of the block in hand, for Snapshot
	before   ended       // the block in hand
}

// A timedCall is a call as it was appended.
type timedCall struct {
	terminal        uint32
	start, duration int64
}

// NewBuilder returns a builder whose blocks have blockLen calls each, but for
// the last. Zero and less mean [DefaultBlockLen], and more than [DefaultMaxValues]
// means that many: a block with more could not be decoded. It panics if c is none that
// [NewSeriesCodec] returns.
func (c *SeriesCodec) NewBuilder(blockLen int) *SeriesBuilder {
	if err := c.check(); err != nil {
		panic(err.Error())
	}
	blockLen = cmp.Or(max(blockLen, 0), DefaultBlockLen)
	return &SeriesBuilder{encoder: c.newEncoder(), blockLen: min(blockLen, DefaultMaxValues)}
}

// Size returns how many bytes the blocks take that are complete.
func (b *SeriesBuilder) Size() int { return len(b.blocks) }

// Append adds the next call of the rank.
func (b *SeriesBuilder) Append(terminal uint32, start, duration int64) {
	b.encoder.Append(terminal, start, duration)
	b.block = append(b.block, timedCall{terminal, start, duration})
	if len(b.block) == b.blockLen {
		b.endBlock(b.encoder)
	}
}

func (b *SeriesBuilder) endBlock(e *seriesEncoder) {
	at, calls := len(b.blocks), uint64(e.Len())
	b.blocks = e.AppendBlock(b.blocks)
	b.index.add(calls, len(b.blocks)-at, false)
	b.block, b.before = b.block[:0], e.ended
}

// Snapshot appends the encoding of the series so far to dst, as Finish would, and
// returns the extended slice. It encodes the block in hand once more: with a codec that
// has learned from the blocks before, as that of [NewHIST], in other bytes.
func (b *SeriesBuilder) Snapshot(dst []byte) []byte {
	e := b.encoder.codec.newEncoder()
	e.ended = b.before
	for _, c := range b.block {
		e.Append(c.terminal, c.start, c.duration)
	}
	so := SeriesBuilder{encoder: e, index: b.index, blocks: slices.Clip(b.blocks)}
	so.index.entries = slices.Clip(b.index.entries)
	return so.Finish(dst)
}

// Finish appends the encoding of the series to dst, and returns the extended
// slice. The builder must not be used after that.
func (b *SeriesBuilder) Finish(dst []byte) []byte {
	if b.encoder.Len() > 0 {
		b.endBlock(b.encoder)
	}
	return append(b.index.append(dst), b.blocks...)
}

// An indexBuilder encodes the index of a series.
type indexBuilder struct {
	blocks  uint64
	calls   uint64 // of the last block
	entries []byte
}

// add adds a block, which may begin a piece.
func (b *indexBuilder) add(calls uint64, size int, piece bool) {
	head := calls << 1
	if piece {
		head |= 1
	} else if calls == b.calls {
		head = 0
	}
	b.blocks, b.calls = b.blocks+1, calls
	b.entries = wire.AppendUvarint(b.entries, head)
	b.entries = wire.AppendUvarint(b.entries, uint64(size))
}

func (b *indexBuilder) append(dst []byte) []byte {
	return append(wire.AppendUvarint(dst, b.blocks), b.entries...)
}

// JoinSeries returns the series of calls one after the other, as those of the threads of
// a process, from series with one codec. Each remains a piece of its own: its blocks are
// as they were, and its first call comes after no gap. The error is a [*ParseError].
func JoinSeries(list ...[]byte) ([]byte, error) {
	var (
		index  indexBuilder
		blocks []byte
	)
	for _, data := range list {
		x, err := parseWholeIndex(data)
		if err != nil {
			return nil, err
		}
		for i := range x.Blocks() {
			begin, end := x.Range(i)
			index.add(x.First(i+1)-x.First(i), end-begin, index.blocks > 0 && slices.Contains(x.pieces, i))
		}
		blocks = append(blocks, data[x.IndexSize():]...)
	}
	return append(index.append(nil), blocks...), nil
}

// A Series is the times of the calls of one rank, as it is encoded. It is
// immutable, and its methods may be called from several goroutines at once.
type Series struct {
	SeriesIndex
	codec   *SeriesCodec
	options Options
	block   func(i int) ([]byte, error)
}

// A SeriesIndex is the beginning of a series: how many calls there are, and where
// the blocks are. It is immutable.
type SeriesIndex struct {
	firsts []uint64 // the first call of each block, and the number of calls
	starts []int    // offsets of the blocks in the series, and of their end
	pieces []int    // blocks that begin a piece
}

// Parse returns the series encoded in data, which must not change. It reads the
// index only. The error is a [*ParseError].
func (c *SeriesCodec) Parse(data []byte, o Options) (*Series, error) {
	x, err := parseWholeIndex(data)
	if err != nil {
		return nil, err
	}
	return c.Open(x, func(i int) ([]byte, error) { return data[x.starts[i]:x.starts[i+1]], nil }, o), nil
}

// Open returns the series with an index, of which block reads the blocks, each of
// the length that the index says. The methods of the series return errors of block
// as they are.
func (c *SeriesCodec) Open(x SeriesIndex, block func(i int) ([]byte, error), o Options) *Series {
	return &Series{x, c, o, block}
}

// parseWholeIndex reads the index of a series that fills data.
func parseWholeIndex(data []byte) (SeriesIndex, error) {
	x, err := ParseSeriesIndex(data)
	if size := x.Size(); err == nil && size != len(data) {
		err = &ParseError{Package: "timing", Offset: int64(min(size, len(data))), Field: "blocks",
			Err: fmt.Errorf("%w: %d bytes, not %d", ErrCorrupt, len(data), size)}
	}
	return x, err
}

// ParseSeriesIndex reads the index at the beginning of a series. Not all of the
// blocks need be in data. The error is a [*ParseError].
func ParseSeriesIndex(data []byte) (SeriesIndex, error) {
	d := wire.NewDecoder("timing", data)
	n := d.Count("blocks", 2)
	x := SeriesIndex{firsts: make([]uint64, n+1), starts: make([]int, n+1)}
	var calls uint64
	for i := range n {
		at := d.Offset()
		head := d.Uvarint("calls")
		again := head == 0 && i > 0
		if begins := head&1 == 1; i == 0 || begins {
			x.pieces = append(x.pieces, i)
		}
		if head == calls<<1 || head>>1 == 0 && !again || i == 0 && head&1 == 1 {
			d.Corrupt(at, "calls", "%d in block %d", head, i)
		}
		if !again {
			calls = head >> 1
		}
		x.firsts[i+1] = x.firsts[i] + calls
		at = d.Offset()
		x.starts[i+1] = x.starts[i] + int(d.UvarintMax("length", math.MaxInt32))
		if x.firsts[i+1] < calls || x.starts[i+1] < 0 {
			d.Limit(at, "length", "more than %d bytes, or more calls than can be counted", math.MaxInt)
		}
		if d.Err() != nil {
			break
		}
	}
	if base := d.Offset(); x.starts[n] > math.MaxInt-base {
		d.Limit(base, "length", "more than %d bytes of blocks", math.MaxInt-base)
	}
	if err := d.Err(); err != nil {
		return SeriesIndex{starts: []int{0}, firsts: []uint64{0}}, err
	}
	for i := range x.starts {
		x.starts[i] += d.Offset()
	}
	return x, nil
}

// Len returns the number of calls.
func (x *SeriesIndex) Len() uint64 { return x.firsts[x.Blocks()] }

// Blocks returns the number of blocks.
func (x *SeriesIndex) Blocks() int { return len(x.starts) - 1 }

// First returns the first call of a block, i ≤ x.Blocks(): of that number, the number
// of calls. Another number panics, as it does in other methods.
func (x *SeriesIndex) First(i int) uint64 {
	x.check(i, x.Blocks()+1)
	return x.firsts[i]
}

// check panics if block i is not one of n.
func (x *SeriesIndex) check(i, n int) {
	if i < 0 || i >= n {
		panic(fmt.Sprintf("timing: block %d of %d", i, x.Blocks()))
	}
}

// Pieces returns the blocks that begin a piece: of one thread after the other, see
// [JoinSeries]. Times do not go on from one piece to the next.
func (x *SeriesIndex) Pieces() []int { return slices.Clip(x.pieces) }

// Range returns where a block, i < x.Blocks(), is in the series, in bytes from its
// beginning.
func (x *SeriesIndex) Range(i int) (begin, end int) {
	x.check(i, x.Blocks())
	return x.starts[i], x.starts[i+1]
}

// IndexSize returns the size of the index in bytes.
func (x *SeriesIndex) IndexSize() int { return x.starts[0] }

// Size returns the size of the series in bytes.
func (x *SeriesIndex) Size() int { return x.starts[x.Blocks()] }

// Find returns the block that has a call, which must be below Len, and the first
// call of the block.
func (x *SeriesIndex) Find(call uint64) (block int, first uint64) {
	if call >= x.Len() {
		panic(fmt.Sprintf("timing: call %d of %d", call, x.Len()))
	}
	block = sort.Search(len(x.firsts), func(i int) bool { return x.firsts[i] > call }) - 1
	return block, x.firsts[block]
}

// Guarantee returns that of the codec.
func (s *Series) Guarantee() Guarantee { return s.codec.Guarantee() }

// Starts returns the bound of starts of the codec, in nanoseconds, 0 if there is none but that
// by the longest gap.
func (s *Series) Starts() int64 { return s.codec.Starts }

// Form returns what deltas are.
func (s *Series) Form() Form { return s.codec.Form }

// Block returns a Decoder of a block. The error is a [*ParseError], or one of who
// reads the blocks.
func (s *Series) Block(i int) (*SeriesDecoder, error) {
	s.check(i, s.Blocks())
	block, err := s.block(i)
	if err != nil {
		return nil, err
	}
	d, err := s.codec.newDecoder(block, s.options)
	if err != nil {
		return nil, locate(err, s.starts[i], "block")
	}
	want := s.First(i+1) - s.First(i)
	if uint64(d.calls) != want {
		return nil, &ParseError{Package: "timing", Offset: int64(s.starts[i]), Field: "block, values",
			Err: fmt.Errorf("%w: %d in a block of %d calls", ErrCorrupt, d.calls, want)}
	}
	return d, nil
}

// At returns the times of a call, which must be below Len. It decodes the block
// of the call up to it. The terminals of the block's calls come from the function
// terminals, which sets dst to those of the calls from first on.
func (s *Series) At(call uint64, terminals func(dst []uint32, first uint64)) (Time, error) {
	block, first := s.Find(call)
	d, err := s.Block(block)
	if err != nil {
		return Time{}, err
	}
	times, portion := make([]Time, 512), make([]uint32, 512)
	for {
		n := int(min(call-first+1, uint64(len(times))))
		terminals(portion[:n], first)
		if err := d.Decode(times[:n], portion[:n]); err != nil {
			return Time{}, locate(err, s.starts[block], "block")
		}
		if first += uint64(n); first > call {
			return times[n-1], nil
		}
	}
}

// Start returns when the first call of a block, i < s.Blocks(), began, which is exact whatever the
// codec, but for [Options.Move]. It decodes nothing else. The error is a [*ParseError], or one of
// who reads the blocks.
func (s *Series) Start(i int) (int64, error) {
	s.check(i, s.Blocks())
	block, err := s.block(i)
	if err != nil {
		return 0, err
	}
	w := wire.NewDecoder("timing", block)
	if n := decodeCount(&w, s.options); n == 0 {
		w.Corrupt(0, "values", "none")
	}
	start := w.Varint("start")
	if w.Err() != nil {
		return 0, locate(w.Err(), s.starts[i], "block")
	}
	if s.options.Move != nil {
		start = s.options.Move(start)
	}
	return start, nil
}
