package reprise

import (
	"iter"

	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// A Time is when a call began and how long it took, in nanoseconds, and the time
// since the call before, as the series of the rank has it.
type Time = timing.Time

// Series returns the times of the calls as they are encoded, nil if the trace does
// not have them, or they cannot be read.
func (r *Rank) Series() *timing.Series { return r.series }

// LostTimes returns the first error about the times of calls that were read so far,
// nil if there was none.
func (r *Rank) LostTimes() error {
	if err := r.lost.Load(); err != nil {
		return *err
	}
	return nil
}

// loseTimes takes note of an error about times, and returns it as users see it.
func (r *Rank) loseTimes(err error) error {
	err = r.name(err)
	r.lost.CompareAndSwap(nil, &err)
	return err
}

// Times returns an iterator over the times of the calls from a position on, in
// order: none if the trace does not have them. Finding the position costs decoding
// what is before it in its block. Calls whose block cannot be read have an error
// each, the same for all of them; those after the block do not.
func (r *Rank) Times(position uint64) iter.Seq2[Time, error] {
	return func(yield func(Time, error) bool) {
		if r.series == nil {
			if err := r.LostTimes(); err != nil {
				yield(Time{}, err)
			}
			return
		}
		for t := newTimeReader(r, position); position < r.Len(); position++ {
			at, err := t.read()
			if err != nil {
				err = r.loseTimes(err)
			}
			if !yield(at, err) {
				return
			}
		}
	}
}

// setTime sets the time of a call to the next one of t.
func (r *Rank) setTime(call *Call, t *timeReader) {
	at, err := t.read()
	if err != nil {
		r.loseTimes(err)
		return
	}
	call.Timed, call.Start, call.Duration = true, at.Start, at.Duration
}

// A timeReader reads the times of the calls of a rank, which must be timed, in
// order.
type timeReader struct {
	series *timing.Series
	at     uint64 // position of the next call
	walk   *sequitur.Walker
	run    sequitur.Run // what is left of it
	next   int          // block
	block  *timing.SeriesDecoder
	err    error  // why block cannot be read
	left   uint64 // calls of block
	ahead  uint64 // calls that come with the blocks from next on
	skip   uint64 // calls to be left out

	times     []Time // decoded, and not read; of no value if there is an error
	buffer    [256]Time
	terminals [256]uint32
}

func newTimeReader(r *Rank, position uint64) *timeReader {
	t := &timeReader{series: r.series, at: position}
	if position < r.series.Len() {
		block, first := r.series.Find(position)
		t.next, t.skip, t.walk, t.ahead = block, position-first, r.Walk(first), r.series.Len()-first
	}
	return t
}

// seek moves on to a position, without decoding the blocks that are before its own.
func (t *timeReader) seek(r *Rank, position uint64) {
	if _, first := t.series.Find(position); first > t.at {
		*t = *newTimeReader(r, position)
		return
	}
	t.skip += position - t.at
	t.at = position
}

// read returns the time of the next call. There must be one.
func (t *timeReader) read() (Time, error) {
	t.at++
	for uint64(len(t.times)) <= t.skip {
		t.skip -= uint64(len(t.times))
		t.decode()
	}
	at := t.times[t.skip]
	t.times, t.skip = t.times[t.skip+1:], 0
	if t.err != nil {
		return Time{}, t.err
	}
	return at, nil
}

// decode decodes the next times, or sets t.err.
func (t *timeReader) decode() {
	if t.left == 0 {
		t.left = t.series.First(t.next+1) - t.series.First(t.next)
		t.ahead -= t.left
		t.block, t.err = t.series.Block(t.next)
		t.next++
	}
	n := int(min(t.left, uint64(len(t.buffer))))
	for i := range n {
		if t.run.Count == 0 {
			t.run = t.walk.Next()
		}
		t.terminals[i] = t.run.Symbol
		t.run.Count--
	}
	t.left -= uint64(n)
	t.times = t.buffer[:n]
	if t.err == nil {
		t.err = t.block.Decode(t.times, t.terminals[:n])
	}
}
