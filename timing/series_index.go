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
// it holds is the encoding of the blocks so far, and what a [seriesEncoder] does.
type SeriesBuilder struct {
	encoder  *seriesEncoder
	blockLen int
	calls    uint64
	lengths  []int // of blocks in bytes
	blocks   []byte
	block    []timedCall // the calls of the block in hand, for Snapshot
}

// A timedCall is a call as it was appended.
type timedCall struct {
	terminal        uint32
	start, duration int64
}

// NewBuilder returns a builder whose blocks have blockLen calls each, but for
// the last. Zero means [DefaultBlockLen].
func (c *SeriesCodec) NewBuilder(blockLen int) *SeriesBuilder {
	return &SeriesBuilder{encoder: c.newEncoder(), blockLen: cmp.Or(blockLen, DefaultBlockLen)}
}

// Append adds the next call of the rank.
func (b *SeriesBuilder) Append(terminal uint32, start, duration int64) {
	b.encoder.Append(terminal, start, duration)
	b.block = append(b.block, timedCall{terminal, start, duration})
	b.calls++
	if len(b.block) == b.blockLen {
		b.endBlock(b.encoder)
	}
}

func (b *SeriesBuilder) endBlock(e *seriesEncoder) {
	at := len(b.blocks)
	b.blocks = e.AppendBlock(b.blocks)
	b.lengths = append(b.lengths, len(b.blocks)-at)
	b.block = b.block[:0]
}

// Len returns the number of calls.
func (b *SeriesBuilder) len() uint64 { return b.calls }

// Snapshot appends the encoding of the series so far to dst, and returns the
// extended slice. It encodes the block in hand once more.
func (b *SeriesBuilder) Snapshot(dst []byte) []byte {
	e := b.encoder.codec.newEncoder()
	for _, c := range b.block {
		e.Append(c.terminal, c.start, c.duration)
	}
	so := *b
	so.lengths, so.blocks = slices.Clip(b.lengths), slices.Clip(b.blocks)
	if e.Len() > 0 {
		so.block = nil
		so.endBlock(e)
	}
	return so.append(dst)
}

// Finish appends the encoding of the series to dst, and returns the extended
// slice. The builder must not be used after that.
func (b *SeriesBuilder) Finish(dst []byte) []byte {
	if b.encoder.Len() > 0 {
		b.endBlock(b.encoder)
	}
	return b.append(dst)
}

// append appends the index and the blocks.
func (b *SeriesBuilder) append(dst []byte) []byte {
	dst = wire.AppendUvarint(dst, b.calls)
	if b.calls > 0 {
		dst = wire.AppendUvarint(dst, uint64(b.blockLen))
	}
	for _, n := range b.lengths {
		dst = wire.AppendUvarint(dst, uint64(n))
	}
	return append(dst, b.blocks...)
}

// JoinSeries returns the series of calls one after the other, as those of the threads of
// a process, from series with one codec and one block length, of which none is empty.
// Each remains a piece of its own: its blocks are as they were, and its first call comes
// after no gap. The error is a [*ParseError].
func JoinSeries(list ...[]byte) ([]byte, error) {
	var (
		calls, blockLen uint64
		pieces          []uint64 // calls of each
		lengths, blocks []byte
	)
	for _, data := range list {
		x, err := ParseSeriesIndex(data)
		if err != nil {
			return nil, err
		}
		if x.Size() != len(data) || x.calls == 0 || blockLen != 0 && x.blockLen != blockLen {
			return nil, &ParseError{Package: "timing", Field: "block length",
				Err: fmt.Errorf("%w: series of %d calls in blocks of %d are joined with others of %d", ErrCorrupt, x.calls, x.blockLen, blockLen)}
		}
		calls, blockLen = calls+x.calls, x.blockLen
		for i, p := range x.pieces {
			end := x.calls
			if i+1 < len(x.pieces) {
				end = x.pieces[i+1].first
			}
			pieces = append(pieces, end-p.first)
		}
		for i := range x.Blocks() {
			begin, end := x.Range(i)
			lengths = wire.AppendUvarint(lengths, uint64(end-begin))
		}
		blocks = append(blocks, data[x.IndexSize():]...)
	}
	dst := wire.AppendUvarint(nil, calls)
	if len(pieces) > 1 {
		dst = append(dst, 0)
		dst = wire.AppendUvarint(dst, uint64(len(pieces)))
	}
	if len(pieces) > 0 {
		dst = wire.AppendUvarint(dst, blockLen)
		for _, n := range pieces[:len(pieces)-1] {
			dst = wire.AppendUvarint(dst, n)
		}
	}
	dst = append(dst, lengths...)
	return append(dst, blocks...), nil
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
	calls    uint64
	blockLen uint64
	pieces   []seriesPiece // one or more if there are calls
	starts   []int         // offsets of the blocks in the series, and of their end; or only that
}

// A seriesPiece is where a series begins that was joined with others.
type seriesPiece struct {
	first uint64 // call
	block int
}

// Parse returns the series encoded in data, which must not change. It reads the
// index only. The error is a [*ParseError].
func (c *SeriesCodec) Parse(data []byte, o Options) (*Series, error) {
	x, err := ParseSeriesIndex(data)
	if err != nil {
		return nil, err
	}
	if x.Size() != len(data) {
		return nil, &ParseError{Package: "timing", Offset: int64(min(x.Size(), len(data))), Field: "blocks",
			Err: fmt.Errorf("%w: %d bytes, not %d", ErrCorrupt, len(data), x.Size())}
	}
	return c.Open(x, func(i int) ([]byte, error) { return data[x.starts[i]:x.starts[i+1]], nil }, o)
}

// Open returns the series with an index, of which block reads the blocks, each of
// the length that the index says. The methods of the series return errors of block
// as they are. The error is a [*ParseError] about the index.
func (c *SeriesCodec) Open(x SeriesIndex, block func(i int) ([]byte, error), o Options) (*Series, error) {
	if n := uint64(o.maxValues()); x.blockLen > n && x.calls > n {
		return nil, &ParseError{Package: "timing", Offset: int64(len(wire.AppendUvarint(nil, x.calls))), Field: "block length",
			Err: fmt.Errorf("%w: %d, and the limit is %d", ErrLimit, x.blockLen, n)}
	}
	return &Series{x, c, o, block}, nil
}

// ParseSeriesIndex reads the index at the beginning of a series. Not all of the
// blocks need be in data. The error is a [*ParseError].
func ParseSeriesIndex(data []byte) (SeriesIndex, error) {
	d := wire.NewDecoder("timing", data)
	x := SeriesIndex{calls: d.Uvarint("calls")}
	if x.calls > 0 {
		x.decode(&d)
	} else {
		x.starts = []int{d.Offset()}
	}
	return x, d.Err()
}

func (x *SeriesIndex) decode(d *wire.Decoder) {
	at := d.Offset()
	x.blockLen = d.Uvarint("block length")
	several := x.blockLen == 0 && d.Err() == nil
	pieces := 1
	if several {
		pieces = d.Count("pieces", 1)
		x.blockLen = d.Uvarint("block length")
	}
	if d.Err() != nil {
		return
	}
	if x.blockLen == 0 || several && pieces < 2 {
		d.Corrupt(at, "block length", "%d pieces with blocks of %d calls", pieces, x.blockLen)
		return
	}
	blocks := x.decodePieces(d, pieces)
	if blocks > uint64(d.Rest()) {
		d.Corrupt(at, "block length", "%d blocks in %d bytes", blocks, d.Rest())
	}
	if d.Err() != nil {
		return
	}
	x.starts = make([]int, blocks+1)
	for i := range blocks {
		x.starts[i+1] = x.starts[i] + int(d.UvarintMax("length", math.MaxInt32))
		if x.starts[i+1] < 0 {
			d.Limit(d.Offset(), "length", "more than %d bytes of blocks", math.MaxInt)
			return
		}
	}
	base := d.Offset()
	if x.starts[blocks] > math.MaxInt-base {
		d.Limit(base, "length", "more than %d bytes of blocks", math.MaxInt-base)
		return
	}
	for i := range x.starts {
		x.starts[i] += base
	}
}

// decodePieces reads the calls of the pieces, and returns the number of blocks.
func (x *SeriesIndex) decodePieces(d *wire.Decoder, pieces int) uint64 {
	x.pieces = make([]seriesPiece, 1, pieces)
	var blocks uint64
	left := x.calls
	for range pieces - 1 {
		at := d.Offset()
		n := d.Uvarint("calls of a piece")
		if d.Err() == nil && (n == 0 || n >= left) {
			d.Corrupt(at, "calls of a piece", "%d of %d calls", n, left)
		}
		if d.Err() != nil {
			return 0
		}
		blocks += (n-1)/x.blockLen + 1
		left -= n
		if blocks > math.MaxInt32 {
			return blocks // more than there can be bytes for
		}
		x.pieces = append(x.pieces, seriesPiece{x.calls - left, int(blocks)})
	}
	return wire.AddSat(blocks, (left-1)/x.blockLen+1)
}

// Len returns the number of calls.
func (x *SeriesIndex) Len() uint64 { return x.calls }

// Blocks returns the number of blocks.
func (x *SeriesIndex) Blocks() int { return max(len(x.starts)-1, 0) }

// First returns the first call of a block, i ≤ x.Blocks(): of that number, the number
// of calls.
func (x *SeriesIndex) First(i int) uint64 {
	if i >= x.Blocks() {
		return x.calls
	}
	p := x.pieces[sort.Search(len(x.pieces), func(p int) bool { return x.pieces[p].block > i })-1]
	return p.first + uint64(i-p.block)*x.blockLen
}

// Pieces returns the blocks that begin a piece: of one thread after the other, see
// [JoinSeries]. Times do not go on from one piece to the next.
func (x *SeriesIndex) Pieces() []int {
	blocks := make([]int, len(x.pieces))
	for i, p := range x.pieces {
		blocks[i] = p.block
	}
	return blocks
}

// Range returns where a block, i < x.Blocks(), is in the series, in bytes from its
// beginning.
func (x *SeriesIndex) Range(i int) (begin, end int) { return x.starts[i], x.starts[i+1] }

// IndexSize returns the size of the index in bytes.
func (x *SeriesIndex) IndexSize() int { return x.starts[0] }

// Size returns the size of the series in bytes.
func (x *SeriesIndex) Size() int { return x.starts[len(x.starts)-1] }

// Find returns the block that has a call, which must be below Len, and the first
// call of the block.
func (x *SeriesIndex) Find(call uint64) (block int, first uint64) {
	if call >= x.calls {
		panic(fmt.Sprintf("timing: call %d of %d", call, x.calls))
	}
	p := x.pieces[sort.Search(len(x.pieces), func(p int) bool { return x.pieces[p].first > call })-1]
	in := call - p.first
	return p.block + int(in/x.blockLen), call - in%x.blockLen
}

// Guarantee returns that of the codec.
func (s *Series) Guarantee() Guarantee { return s.codec.Guarantee() }

// Form returns what deltas are.
func (s *Series) Form() Form { return s.codec.Form() }

// Block returns a Decoder of a block. The error is a [*ParseError], or one of who
// reads the blocks.
func (s *Series) Block(i int) (*SeriesDecoder, error) {
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

// Start returns when the first call of a block, i < s.Blocks(), began, which is exact
// whatever the codec. It decodes nothing else. The error is a [*ParseError], or one of
// who reads the blocks.
func (s *Series) Start(i int) (int64, error) {
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
	return start, nil
}
