package timing

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/internal/blockindex"
	"github.com/reprise-trace/reprise/internal/wire"
)

// defaultBlockLen is the number of calls of a block where it is not said.
const defaultBlockLen = 1 << 16

// A SeriesBuilder encodes a series in blocks of one length, with an index. What
// it holds is the encoding of the blocks so far, and what a seriesEncoder does.
type SeriesBuilder struct {
	encoder  *seriesEncoder
	blockLen int
	index    blockindex.Builder
	blocks   []byte
	block    []timedCall // the calls of the block in hand, for Snapshot
	before   ended       // the block in hand

	// Of a concurrent one, the encoder has nothing of the block in hand.
	concurrent bool
	encoding   sync.WaitGroup
	spare      []timedCall // of the block that is encoded
	size       int         // of the blocks before that
}

// A timedCall is a call as it was appended.
type timedCall struct {
	terminal        uint32
	start, duration int64
}

// NewBuilder returns a builder whose blocks have blockLen calls each, but for
// the last. Zero and less mean 65,536, and more than [DefaultMaxValues]
// means that many: a block with more could not be decoded. [Series.At] decodes a block up to
// the call, some 100 ns for each call before it, and codecs that learn begin anew with
// each block: on recorded runs, blocks of 16,384 calls take 1 to 14 % more bytes than those
// of 65,536, and of 4,096 calls 6 to 35 %. NewBuilder panics if c is none that
// [NewSeriesCodec] returns.
func (c *SeriesCodec) NewBuilder(blockLen int) *SeriesBuilder {
	if err := c.check(); err != nil {
		panic(err.Error())
	}
	blockLen = cmp.Or(max(blockLen, 0), defaultBlockLen)
	return &SeriesBuilder{encoder: c.newEncoder(), blockLen: min(blockLen, DefaultMaxValues)}
}

// Concurrent makes the builder, which has no calls yet, encode each complete block in another goroutine, while calls
// are appended to the next one. The series is the same. The codecs must allow it.
func (b *SeriesBuilder) Concurrent() { b.concurrent = true }

// Size returns how many bytes the blocks take that are complete. A concurrent builder leaves the last of them out.
func (b *SeriesBuilder) Size() int {
	if b.concurrent {
		return b.size
	}
	return len(b.blocks)
}

// Append adds the next call of the rank.
func (b *SeriesBuilder) Append(terminal uint32, start, duration int64) {
	if !b.concurrent {
		b.encoder.Append(terminal, start, duration)
	}
	b.block = append(b.block, timedCall{terminal, start, duration})
	switch {
	case len(b.block) < b.blockLen:
	case b.concurrent:
		b.encoding.Wait()
		b.size = len(b.blocks)
		block := b.block
		b.block, b.spare = b.spare[:0], block
		b.encoding.Go(func() { b.encode(block) })
	default:
		b.endBlock(b.encoder)
		b.block = b.block[:0]
	}
}

// encode encodes a block whose calls the encoder does not have yet.
func (b *SeriesBuilder) encode(block []timedCall) {
	b.encoder.grow(len(block))
	for _, c := range block {
		b.encoder.Append(c.terminal, c.start, c.duration)
	}
	b.endBlock(b.encoder)
}

func (b *SeriesBuilder) endBlock(e *seriesEncoder) {
	at, calls := len(b.blocks), uint64(e.Len())
	b.blocks = e.AppendBlock(b.blocks)
	b.index.Add(calls, len(b.blocks)-at, false)
	b.before = e.ended
}

// Snapshot appends the encoding of the series so far to dst, as Finish would, and
// returns the extended slice. It encodes the block in hand once more: with a codec that
// has learned from the blocks before, as that of HIST, in other bytes.
func (b *SeriesBuilder) Snapshot(dst []byte) []byte {
	b.encoding.Wait()
	e := b.encoder.codec.newEncoder()
	e.ended = b.before
	for _, c := range b.block {
		e.Append(c.terminal, c.start, c.duration)
	}
	so := SeriesBuilder{encoder: e, index: b.index.Clip(), blocks: slices.Clip(b.blocks)}
	return so.Finish(dst)
}

// Recorded returns the calls so far as they were appended, to be encoded with another codec. It is nil where
// they are no longer all there, as a block is complete, and before the first call. It must be called before
// Finish, and takes time and memory in proportion to the calls.
func (b *SeriesBuilder) Recorded() *Recorded {
	b.encoding.Wait()
	if len(b.block) == 0 || len(b.blocks) > 0 {
		return nil
	}
	return &Recorded{slices.Clone(b.block)}
}

// Recorded is the calls of a series of one block as they were appended. It is immutable.
type Recorded struct{ calls []timedCall }

// Len returns the number of calls.
func (r *Recorded) Len() int { return len(r.calls) }

// Encode appends the encoding of the calls with a codec, as that of [SeriesBuilder.Finish], to dst, and
// returns the extended slice. It panics if c is none that [NewSeriesCodec] returns.
func (r *Recorded) Encode(c *SeriesCodec, dst []byte) []byte {
	b := c.NewBuilder(DefaultMaxValues)
	for _, call := range r.calls {
		b.Append(call.terminal, call.start, call.duration)
	}
	return b.Finish(dst)
}

// Finish appends the encoding of the series to dst, and returns the extended
// slice. The builder must not be used after that.
func (b *SeriesBuilder) Finish(dst []byte) []byte {
	b.encoding.Wait()
	switch {
	case b.encoder.Len() > 0:
		b.endBlock(b.encoder)
	case b.concurrent && len(b.block) > 0:
		b.encode(b.block)
	}
	return append(b.index.Append(dst), b.blocks...)
}

// A Series is the times of the calls of one rank, as it is encoded. It is
// immutable, and its methods may be called from several goroutines at once.
type Series struct {
	index   blockindex.Index
	codec   *SeriesCodec
	options Options
	block   func(i int) ([]byte, error)
	prior   func() (*Prior, error) // nil if its blocks have none
}

// Parse returns the series encoded in data, which must not change. It reads the
// index only. The error is a [*ParseError].
func (c *SeriesCodec) Parse(data []byte, o Options) (*Series, error) {
	x, err := blockindex.ParseWhole(data)
	if err != nil {
		return nil, err
	}
	return &Series{index: x, codec: c, options: o, block: func(i int) ([]byte, error) {
		begin, end := x.Range(i)
		return data[begin:end], nil
	}}, nil
}

// Open returns the series whose encoding begins with head: the index, before its blocks. Block reads these,
// each of the length that the index says. A prior that is not nil returns that with which the series was encoded,
// and is called where a block needs it. An error about head is a [*ParseError]; the methods of the series
// return errors of block and prior as they are.
func (c *SeriesCodec) Open(
	head []byte, block func(i int) ([]byte, error), prior func() (*Prior, error), o Options,
) (*Series, error) {
	x, err := blockindex.Parse(head)
	if err != nil {
		return nil, err
	}
	return &Series{x, c, o, block, prior}, nil
}

// Len returns the number of calls.
func (s *Series) Len() uint64 { return s.index.Len() }

// Size returns the size of the series in bytes.
func (s *Series) Size() int { return s.index.Size() }

// Blocks returns the number of blocks.
func (s *Series) Blocks() int { return s.index.Blocks() }

// First returns the first call of a block, i ≤ s.Blocks(): of that number, the number
// of calls. Another number panics, as it does in other methods.
func (s *Series) First(i int) uint64 { return s.index.First(i) }

// Find returns the block that has a call, which must be below Len, and the first
// call of the block.
func (s *Series) Find(call uint64) (block int, first uint64) { return s.index.Find(call) }

// Pieces returns the blocks that begin a piece: of one thread after the other. Times do
// not go on from one piece to the next.
func (s *Series) Pieces() []int { return s.index.Pieces() }

// Guarantee returns that of the codec.
func (s *Series) Guarantee() Guarantee { return s.codec.Guarantee() }

// Starts returns the bound of starts of the codec, in nanoseconds, 0 if there is none but that
// by the longest gap.
func (s *Series) Starts() int64 { return s.codec.Starts }

// Form returns what deltas are.
func (s *Series) Form() Form { return s.codec.Form }

// offset returns where a block is in the series.
func (s *Series) offset(i int) int {
	begin, _ := s.index.Range(i)
	return begin
}

// Block returns a Decoder of a block. The error is a [*ParseError], or one of who
// reads the blocks.
func (s *Series) Block(i int) (*SeriesDecoder, error) {
	s.index.Check(i, s.Blocks())
	block, err := s.block(i)
	if err != nil {
		return nil, err
	}
	d, err := s.codec.newDecoder(block, s.prior, s.options)
	if of := (*priorError)(nil); errors.As(err, &of) {
		return nil, of.error
	}
	if err != nil {
		return nil, locate(err, s.offset(i), "block")
	}
	want := s.First(i+1) - s.First(i)
	if uint64(d.calls) != want {
		return nil, &ParseError{Package: "timing", Offset: int64(s.offset(i)), Field: "block, values",
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
			return Time{}, locate(err, s.offset(block), "block")
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
	s.index.Check(i, s.Blocks())
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
		return 0, locate(w.Err(), s.offset(i), "block")
	}
	if s.options.Move != nil {
		start = s.options.Move(start)
	}
	return start, nil
}
