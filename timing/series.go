package timing

import (
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
)

// A Time is when a call was and how long it took. The guarantee of the codecs is
// one for Duration and Delta. Start has the bound of [SeriesCodec], so that of codecs
// that are not exact the Delta is not what starts and durations give, and may be
// much nearer to the truth.
type Time struct {
	Start    int64
	Duration int64
	Delta    int64 // what the [Form] says
}

// A SeriesCodec encodes the times of the calls of one rank: durations with one
// codec, and gaps or intervals, the deltas, with another or the same. A
// SeriesCodec must not be changed once it is used.
//
// Starts do not drift. A block has the exact start of its first call, and the encoder
// follows the clock of the decoder and corrects it where a start would be farther
// from the truth than a bound: the guarantee of the codecs, or that of the worse,
// times the longest gap before a call of the block, which is the time since the end
// of the rank's call before, whatever the form. Where durations or intervals are so
// much longer than all gaps that most calls need a correction, corrections take more
// bits than durations and deltas do.
type SeriesCodec struct {
	Durations, Deltas Codec
	Form              Form // what deltas are

	// Starts is a further bound of starts, in nanoseconds, if it is above 0. A start is
	// then no farther from the truth than either bound says, at the cost of more corrections.
	Starts int64
}

// NewSeriesCodec returns a codec of series from codecs of durations and deltas. The error is that
// one of them is nil, or that there is no such form.
func NewSeriesCodec(durations, deltas Codec, form Form) (*SeriesCodec, error) {
	c := &SeriesCodec{Durations: durations, Deltas: deltas, Form: form}
	if err := c.check(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *SeriesCodec) check() error {
	switch {
	case c.Durations == nil || c.Deltas == nil:
		return errNoCodec
	case c.Form > Intervals:
		return fmt.Errorf("timing: a series of form %d", c.Form)
	}
	return nil
}

// Name returns the form, with the bound of starts if there is one, and the names of the
// codecs of durations and deltas.
func (c *SeriesCodec) Name() string {
	starts := ""
	if c.Starts > 0 {
		starts = fmt.Sprintf("%s%d", startsName, c.Starts)
	}
	return fmt.Sprintf("%s%s;%s;%s", c.Form, starts, c.Durations.Name(), c.Deltas.Name())
}

// startsName comes before the bound of starts in a name.
const startsName = ",starts="

// Guarantee returns the guarantee for every duration and every delta: that of
// the codec whose is the weaker.
func (c *SeriesCodec) Guarantee() Guarantee {
	return max(c.Durations.Guarantee(), c.Deltas.Guarantee())
}

// A seriesEncoder encodes a series on line, block after block. It holds some 40
// bytes for each call of the block, beside what its codecs do. A seriesEncoder
// must not be used by two goroutines at once.
type seriesEncoder struct {
	codec             *SeriesCodec
	durations, deltas Encoder

	truth clock
	ended
	drift  drift
	column []byte // scratch of AppendBlock
}

// An ended says when the last call ended, if there was one.
type ended struct {
	begun bool
	end   int64
}

// NewEncoder returns an Encoder of a series.
func (c *SeriesCodec) newEncoder() *seriesEncoder {
	return &seriesEncoder{
		codec:     c,
		durations: c.Durations.NewEncoder(),
		deltas:    c.Deltas.NewEncoder(),
		truth:     clock{form: c.Form},
		drift:     drift{clock: clock{form: c.Form}, guarantee: c.Guarantee(), starts: c.Starts},
	}
}

// Append adds the next call of the rank to the block.
func (e *seriesEncoder) Append(terminal uint32, start, duration int64) {
	if e.Len() == 0 {
		e.truth.reset(start)
		if e.codec.Form == Gaps && e.begun {
			e.truth.places = append(e.truth.places, e.end) // the gap before a block counts from the last call
		}
	}
	chain := e.truth.chain(terminal)
	delta := start - e.truth.place(chain)
	e.truth.set(chain, start, duration)
	var gap int64
	if e.begun {
		gap = start - e.end
	}
	e.ended = ended{true, start + duration}
	e.drift.append(gap, placed{
		start:    start,
		duration: e.durations.Append(terminal, duration),
		delta:    e.deltas.Append(terminal, delta),
		chain:    int32(chain),
	})
}

// grow makes room for n more calls of the block.
func (e *seriesEncoder) grow(n int) {
	e.drift.calls = slices.Grow(e.drift.calls, n)
	for _, x := range []Encoder{e.durations, e.deltas} {
		if x, ok := x.(*losslessEncoder); ok {
			x.values, x.clusters = slices.Grow(x.values, n), slices.Grow(x.clusters, n)
		}
	}
}

// Len returns the number of calls in the block.
func (e *seriesEncoder) Len() int { return len(e.drift.calls) }

// AppendBlock ends the block, appends its encoding to dst, and begins the next.
// It returns the extended slice.
func (e *seriesEncoder) AppendBlock(dst []byte) []byte {
	dst = wire.AppendUvarint(dst, uint64(e.Len()))
	if e.Len() == 0 {
		return dst
	}
	dst = wire.AppendVarint(dst, e.drift.calls[0].start)
	dst = e.drift.appendCorrections(dst)
	e.column = e.durations.AppendBlock(e.column[:0])
	dst = wire.AppendUvarint(dst, uint64(len(e.column)))
	dst = append(dst, e.column...)
	return e.deltas.AppendBlock(dst)
}

// A Form says what a series holds of the start of a call.
type Form uint8

const (
	// Gaps is the time since the end of the rank's call before, which may be one of
	// another block. It is negative where calls overlap.
	Gaps Form = iota

	// Intervals is the time since the start of the rank's call before that has
	// the same terminal and is in the same block. Of the first call in a block with a
	// terminal it is the time since the start of the block: the interval from a call
	// of another block is not coded, and has only the bound that starts have.
	Intervals
)

func (f Form) String() string {
	if f == Intervals {
		return "intervals"
	}
	return "gaps"
}

// A clock places calls by their deltas. Those of a chain are placed by the one
// before in it: there is one chain of all calls, or of intervals one for each
// terminal.
type clock struct {
	form      Form
	start     int64 // of the block
	terminals terminalIndex
	places    []int64 // of each chain: from where the delta of its next call counts
}

// reset begins a block, the first call of which starts at a time.
func (c *clock) reset(start int64) {
	c.start = start
	c.terminals.reset()
	c.places = c.places[:0]
}

// chain returns the number of the chain to which the next call belongs.
func (c *clock) chain(terminal uint32) int {
	if c.form == Gaps {
		return 0
	}
	return c.terminals.number(terminal)
}

// place returns from where the delta of the next call of a chain counts. A chain
// begins at the start of the block.
func (c *clock) place(chain int) int64 {
	if chain == len(c.places) {
		c.places = append(c.places, c.start)
	}
	return c.places[chain]
}

// set places a call of a chain.
func (c *clock) set(chain int, start, duration int64) {
	if c.form == Gaps {
		start += duration
	}
	c.places[chain] = start
}

// A SeriesDecoder decodes the times of a block in order. A SeriesDecoder must
// not be used by two goroutines at once.
type SeriesDecoder struct {
	columns [2]column // durations and deltas
	clock   clock
	calls   int // of the block
	decoded int // of them
	size    int // of the block in bytes
	head    int // of it before the columns

	corrections correctionReader
	before      int64   // with gaps, the duration of the last call
	options     Options // only Move is used
	err         error   // sticks: the clock is wrong after it
}

// portionLen is how many values of a column are decoded at once where they go
// through a buffer.
const portionLen = 256

// A column is one that a SeriesDecoder decodes, a portion at once.
type column struct {
	name    string
	block   []byte
	decoder Decoder
	offset  int // in the block of the series
	values  [portionLen]int64
}

// newDecoder returns a Decoder of a block, of a series with a prior if that is not nil. The error is a
// [*ParseError], or that of prior.
func (c *SeriesCodec) newDecoder(block []byte, prior func() (*Prior, error), o Options) (*SeriesDecoder, error) {
	w := wire.NewDecoder("timing", block)
	d := &SeriesDecoder{clock: clock{form: c.Form}, size: len(block), calls: decodeCount(&w, o), options: o}
	if d.calls == 0 {
		w.End("values")
		return d, w.Err()
	}
	d.clock.reset(w.Varint("start"))
	d.corrections.open(&w)
	d.head = w.Offset()
	durations := w.String("durations")
	d.columns[0] = column{name: "durations", block: durations, offset: w.Offset() - len(durations)}
	d.columns[1] = column{name: "deltas", offset: w.Offset()}
	d.columns[1].block = w.Bytes("deltas", w.Rest())
	if w.Err() != nil {
		return nil, w.Err()
	}
	for i, codec := range []Codec{c.Durations, c.Deltas} {
		x := &d.columns[i]
		err := error(nil)
		if prior == nil {
			err = x.open(codec, x.block, d.calls, o)
		} else {
			err = x.openWith(codec, i, d.calls, prior, o)
		}
		if err != nil {
			return nil, err
		}
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
// have these terminals; len(terminals) must be len(dst), or Decode panics. The error is a
// [*ParseError], and wraps [io.ErrUnexpectedEOF] if the block has fewer calls.
// What dst holds after an error is not defined.
func (d *SeriesDecoder) Decode(dst []Time, terminals []uint32) error {
	checkTerminals(len(dst), terminals)
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
			d.options.move(&dst[i])
		}
		d.err = d.corrections.check(d.decoded == d.calls)
		dst, terminals = dst[n:], terminals[n:]
	}
	return d.err
}

// move moves a call to the other clock.
func (o *Options) move(t *Time) {
	if o.Move != nil {
		end := o.Move(wire.AddTimes(t.Start, t.Duration))
		t.Start = o.Move(t.Start)
		t.Duration = wire.SubTimes(end, t.Start)
	}
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
