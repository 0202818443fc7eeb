package timing

import (
	"cmp"
	"fmt"

	"github.com/reprise-trace/reprise/internal/wire"
)

// DefaultBlockLen is the number of calls of a block where it is not said.
const DefaultBlockLen = 1 << 16

// A SeriesBuilder encodes a series in blocks of one length, with an index. What
// it holds is the encoding of the blocks so far, and what a [SeriesEncoder] does.
type SeriesBuilder[V Value] struct {
	encoder  *SeriesEncoder[V]
	blockLen int
	calls    uint64
	lengths  []int // of blocks in bytes
	blocks   []byte
}

// NewBuilder returns a builder whose blocks have blockLen calls each, but for
// the last. Zero means [DefaultBlockLen].
func (c *SeriesCodec[V]) NewBuilder(blockLen int) *SeriesBuilder[V] {
	return &SeriesBuilder[V]{encoder: c.NewEncoder(), blockLen: cmp.Or(blockLen, DefaultBlockLen)}
}

// Append adds the next call of the rank.
func (b *SeriesBuilder[V]) Append(terminal uint32, start, duration V) {
	b.encoder.Append(terminal, start, duration)
	b.calls++
	if b.encoder.Len() == b.blockLen {
		b.endBlock()
	}
}

func (b *SeriesBuilder[V]) endBlock() {
	at := len(b.blocks)
	b.blocks = b.encoder.AppendBlock(b.blocks)
	b.lengths = append(b.lengths, len(b.blocks)-at)
}

// Len returns the number of calls.
func (b *SeriesBuilder[V]) Len() uint64 { return b.calls }

// Finish appends the encoding of the series to dst, and returns the extended
// slice. The builder must not be used after that.
func (b *SeriesBuilder[V]) Finish(dst []byte) []byte {
	if b.encoder.Len() > 0 {
		b.endBlock()
	}
	dst = wire.AppendUvarint(dst, b.calls)
	if b.calls > 0 {
		dst = wire.AppendUvarint(dst, uint64(b.blockLen))
	}
	for _, n := range b.lengths {
		dst = wire.AppendUvarint(dst, uint64(n))
	}
	return append(dst, b.blocks...)
}

// A Series is the times of the calls of one rank, as it is encoded. It is
// immutable, and its methods may be called from several goroutines at once.
type Series[V Value] struct {
	codec    *SeriesCodec[V]
	options  Options
	calls    uint64
	blockLen uint64
	data     []byte
	starts   []int // offsets of the blocks, and of their end
}

// Parse returns the series encoded in data, which must not change. It reads the
// index only. The error is a [*ParseError].
func (c *SeriesCodec[V]) Parse(data []byte, o Options) (*Series[V], error) {
	d := wire.NewDecoder("timing", data)
	s := &Series[V]{codec: c, options: o, data: data, calls: d.Uvarint("calls")}
	if s.calls > 0 {
		s.decodeIndex(&d)
	}
	d.End("blocks")
	if d.Err() != nil {
		return nil, d.Err()
	}
	return s, nil
}

func (s *Series[V]) decodeIndex(d *wire.Decoder) {
	at := d.Offset()
	s.blockLen = d.Uvarint("block length")
	if d.Err() == nil && s.blockLen == 0 {
		d.Corrupt(at, "block length", "0, of %d calls", s.calls)
		return
	}
	if s.blockLen > uint64(s.options.maxValues()) && s.calls > uint64(s.options.maxValues()) {
		d.Limit(at, "block length", "%d, and the limit is %d", s.blockLen, s.options.maxValues())
	}
	if d.Err() != nil {
		return
	}
	blocks := (s.calls-1)/s.blockLen + 1
	if blocks > uint64(d.Rest()/2) {
		d.Corrupt(at, "block length", "%d blocks in %d bytes", blocks, d.Rest())
		return
	}
	s.starts = make([]int, blocks+1)
	for i := range blocks {
		s.starts[i+1] = s.starts[i] + d.Count("length", 1)
		if s.starts[i+1] > d.Rest() {
			d.Corrupt(d.Offset(), "length", "%d bytes of blocks in %d", s.starts[i+1], d.Rest())
			return
		}
	}
	base := d.Offset()
	for i := range s.starts {
		s.starts[i] += base
	}
	d.Bytes("blocks", s.starts[blocks]-base)
}

// Len returns the number of calls.
func (s *Series[V]) Len() uint64 { return s.calls }

// Blocks returns the number of blocks.
func (s *Series[V]) Blocks() int { return max(len(s.starts)-1, 0) }

// Find returns the block that has a call, which must be below Len, and the first
// call of the block.
func (s *Series[V]) Find(call uint64) (block int, first uint64) {
	if call >= s.calls {
		panic(fmt.Sprintf("timing: call %d of %d", call, s.calls))
	}
	return int(call / s.blockLen), call - call%s.blockLen
}

// Block returns a Decoder of a block. The error is a [*ParseError].
func (s *Series[V]) Block(i int) (*SeriesDecoder[V], error) {
	d, err := s.codec.NewDecoder(s.data[s.starts[i]:s.starts[i+1]], s.options)
	if err != nil {
		return nil, locate(err, s.starts[i], "block")
	}
	want := min(s.blockLen, s.calls-uint64(i)*s.blockLen)
	if uint64(d.calls) != want {
		return nil, &ParseError{Package: "timing", Offset: int64(s.starts[i]), Field: "block, values",
			Err: fmt.Errorf("%w: %d in a block of %d calls", ErrCorrupt, d.calls, want)}
	}
	return d, nil
}

// At returns the times of a call, which must be below Len. It decodes the block
// of the call up to it. The terminals of the block's calls come from the function
// terminals, which sets dst to those of the calls from first on.
func (s *Series[V]) At(call uint64, terminals func(dst []uint32, first uint64)) (Time[V], error) {
	block, first := s.Find(call)
	d, err := s.Block(block)
	if err != nil {
		return Time[V]{}, err
	}
	times, portion := make([]Time[V], 512), make([]uint32, 512)
	for {
		n := int(min(call-first+1, uint64(len(times))))
		terminals(portion[:n], first)
		if err := d.Decode(times[:n], portion[:n]); err != nil {
			return Time[V]{}, locate(err, s.starts[block], "block")
		}
		if first += uint64(n); first > call {
			return times[n-1], nil
		}
	}
}
