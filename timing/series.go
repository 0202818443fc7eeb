package timing

import (
	"fmt"

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
// SeriesCodec is immutable.
//
// Starts do not drift. A block has the exact start of its first call, and the encoder
// follows the clock of the decoder and corrects it where a start would be farther
// from the truth than a bound: the guarantee of the codecs, or that of the worse,
// times the longest gap before a call of the block, which is the time since the end
// of the rank's call before, whatever the form. Where durations or intervals are so
// much longer than all gaps that most calls need a correction, corrections take more
// bits than durations and deltas do.
type SeriesCodec struct {
	durations, deltas Codec
	form              Form
}

// NewSeriesCodec returns a codec of series from codecs of durations and deltas.
func NewSeriesCodec(durations, deltas Codec, form Form) *SeriesCodec {
	return &SeriesCodec{durations, deltas, form}
}

// Name returns the form, and the names of the codecs of durations and deltas.
func (c *SeriesCodec) Name() string {
	return fmt.Sprintf("%s;%s;%s", c.form, c.durations.Name(), c.deltas.Name())
}

// Form returns what deltas are.
func (c *SeriesCodec) Form() Form { return c.form }

// Durations and Deltas return the codecs of the columns.
func (c *SeriesCodec) Durations() Codec { return c.durations }
func (c *SeriesCodec) Deltas() Codec    { return c.deltas }

// Guarantee returns the guarantee for every duration and every delta: that of
// the codec whose is the weaker.
func (c *SeriesCodec) Guarantee() Guarantee {
	return max(c.durations.Guarantee(), c.deltas.Guarantee())
}

// A SeriesEncoder encodes a series on line, block after block. It holds some 40
// bytes for each call of the block, beside what its codecs do. A SeriesEncoder
// must not be used by two goroutines at once.
type SeriesEncoder struct {
	codec             *SeriesCodec
	durations, deltas Encoder

	truth  clock
	begun  bool
	end    int64 // of the last call, if begun
	drift  drift
	column []byte // scratch of AppendBlock
}

// NewEncoder returns an Encoder of a series.
func (c *SeriesCodec) NewEncoder() *SeriesEncoder {
	return &SeriesEncoder{
		codec:     c,
		durations: c.durations.NewEncoder(),
		deltas:    c.deltas.NewEncoder(),
		truth:     clock{form: c.form},
		drift:     drift{clock: clock{form: c.form}, guarantee: c.Guarantee()},
	}
}

// Append adds the next call of the rank to the block.
func (e *SeriesEncoder) Append(terminal uint32, start, duration int64) {
	if e.Len() == 0 {
		last := e.truth.places
		e.truth.reset(start)
		if e.codec.form == Gaps && len(last) > 0 {
			e.truth.places = last // the gap before a block counts from the last call
		}
	}
	chain := e.truth.chain(terminal)
	delta := start - e.truth.place(chain)
	e.truth.set(chain, start, duration)
	var gap int64
	if e.begun {
		gap = start - e.end
	}
	e.begun, e.end = true, start+duration
	e.drift.append(gap, placed{
		start:    start,
		duration: e.durations.Append(terminal, duration),
		delta:    e.deltas.Append(terminal, delta),
		chain:    int32(chain),
	})
}

// Len returns the number of calls in the block.
func (e *SeriesEncoder) Len() int { return len(e.drift.calls) }

// AppendBlock ends the block, appends its encoding to dst, and begins the next.
// It returns the extended slice.
func (e *SeriesEncoder) AppendBlock(dst []byte) []byte {
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
