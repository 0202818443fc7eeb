package timing

import (
	"errors"
	"fmt"

	"github.com/reprise-trace/reprise/internal/wire"
)

// A SeriesDecoder decodes the times of a block in order. A SeriesDecoder must
// not be used by two goroutines at once.
type SeriesDecoder struct {
	columns [2]column // durations and deltas
	clock   clock
	calls   int // of the block
	decoded int // of them
	size    int // of the block in bytes

	corrections correctionReader
	before      int64 // with gaps, the duration of the last call
	err         error // sticks: the clock is wrong after it
}

// portionLen is how many values of a column are decoded at once where they go
// through a buffer.
const portionLen = 256

// A column is one that a SeriesDecoder decodes, a portion at once.
type column struct {
	name    string
	decoder Decoder
	offset  int // in the block
	values  [portionLen]int64
}

// NewDecoder returns a Decoder of a block. The error is a [*ParseError].
func (c *SeriesCodec) NewDecoder(block []byte, o Options) (*SeriesDecoder, error) {
	w := wire.NewDecoder("timing", block)
	d := &SeriesDecoder{clock: clock{form: c.form}, size: len(block), calls: decodeCount(&w, o)}
	if d.calls == 0 {
		w.End("values")
		return d, w.Err()
	}
	d.clock.reset(w.Varint("start"))
	d.corrections.open(&w)
	durations := w.String("durations")
	d.columns[0] = column{name: "durations", offset: w.Offset() - len(durations)}
	d.columns[1] = column{name: "deltas", offset: w.Offset()}
	deltas := w.Bytes("deltas", w.Rest())
	if w.Err() != nil {
		return nil, w.Err()
	}
	if err := d.columns[0].open(c.durations, durations, d.calls, o); err != nil {
		return nil, err
	}
	if err := d.columns[1].open(c.deltas, deltas, d.calls, o); err != nil {
		return nil, err
	}
	return d, nil
}

// open opens the block of a column, which must have so many values.
func (c *column) open(codec Codec, block []byte, values int, o Options) error {
	var err error
	if c.decoder, err = codec.NewDecoder(block, o); err != nil {
		return c.inBlock(err)
	}
	if n := c.decoder.Len(); n != values {
		return &ParseError{Package: "timing", Offset: int64(c.offset), Field: c.name + ", values",
			Err: fmt.Errorf("%w: %d in a block of %d calls", ErrCorrupt, n, values)}
	}
	return nil
}

// decode sets c.values to the next ones, of calls with these terminals.
func (c *column) decode(terminals []uint32) error {
	return c.inBlock(c.decoder.Decode(c.values[:len(terminals)], terminals))
}

// inBlock returns an error of a column as one of the block.
func (c *column) inBlock(err error) error { return locate(err, c.offset, c.name) }

// locate returns an error of what begins at an offset of a field, as one of what
// has the field.
func locate(err error, offset int, field string) error {
	if err == nil {
		return nil
	}
	var e *ParseError
	if !errors.As(err, &e) {
		return err
	}
	return &ParseError{Package: e.Package, Offset: int64(offset) + e.Offset, Field: field + ", " + e.Field, Err: e.Err}
}

// Len returns the number of calls in the block.
func (d *SeriesDecoder) Len() int { return d.calls }

// Decode sets dst to the times of the next len(dst) calls of the block, which
// have these terminals; len(terminals) must be len(dst). The error is a
// [*ParseError], and wraps [io.ErrUnexpectedEOF] if the block has fewer calls.
// What dst holds after an error is not defined.
func (d *SeriesDecoder) Decode(dst []Time, terminals []uint32) error {
	if len(dst) > d.calls-d.decoded {
		return endOfBlock(d.size)
	}
	for len(dst) > 0 && d.err == nil {
		n := min(len(dst), len(d.columns[0].values))
		for i := range d.columns {
			if d.err = d.columns[i].decode(terminals[:n]); d.err != nil {
				return d.err
			}
		}
		for i := range dst[:n] {
			dst[i] = Time{Duration: d.columns[0].values[i], Delta: d.columns[1].values[i]}
			d.place(&dst[i], terminals[i])
		}
		d.err = d.corrections.check(d.decoded == d.calls)
		dst, terminals = dst[n:], terminals[n:]
	}
	return d.err
}

// place sets the start of the next call.
func (d *SeriesDecoder) place(t *Time, terminal uint32) {
	chain := d.clock.chain(terminal)
	t.Start = d.clock.place(chain) + t.Delta
	if d.decoded == 0 {
		t.Start = d.clock.start
	}
	if c := &d.corrections; c.unit > 0 {
		t.Start += c.next(classOf(uint64(c.unit), d.before, t.Delta))
	}
	d.clock.set(chain, t.Start, t.Duration)
	if d.clock.form == Gaps {
		d.before = t.Duration
	}
	d.decoded++
}
