package reprise

import (
	"iter"

	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// A Time is when a call began and how long it took, in nanoseconds, and the time
// since the call before, as the series of the rank has it.
type Time = timing.Time[int64]

// Series returns the times of the calls as they are encoded, nil if the trace does
// not have them, or they cannot be read.
func (r *Rank) Series() *timing.Series[int64] { return r.series }

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
// what is before it in its block. An error is the last pair.
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
			if !yield(at, err) || err != nil {
				return
			}
		}
	}
}

// A timeReader reads the times of the calls of a rank, which must be timed, in
// order.
type timeReader struct {
	series *timing.Series[int64]
	walk   *sequitur.Walker
	run    sequitur.Run // what is left of it
	next   int          // block
	block  *timing.SeriesDecoder[int64]
	left   int    // calls of block
	skip   uint64 // calls to be left out

	times     []Time // decoded, and not read
	buffer    [256]Time
	terminals [256]uint32
}

func newTimeReader(r *Rank, position uint64) *timeReader {
	t := &timeReader{series: r.series}
	if position < r.series.Len() {
		block, first := r.series.Find(position)
		t.next, t.skip, t.walk = block, position-first, r.Walk(first)
	}
	return t
}

// read returns the time of the next call. There must be one.
func (t *timeReader) read() (Time, error) {
	for uint64(len(t.times)) <= t.skip {
		t.skip -= uint64(len(t.times))
		if err := t.decode(); err != nil {
			return Time{}, err
		}
	}
	at := t.times[t.skip]
	t.times, t.skip = t.times[t.skip+1:], 0
	return at, nil
}

// decode decodes the next times.
func (t *timeReader) decode() error {
	if t.left == 0 {
		var err error
		if t.block, err = t.series.Block(t.next); err != nil {
			return err
		}
		t.next++
		t.left = t.block.Len()
	}
	n := min(t.left, len(t.buffer))
	for i := range n {
		if t.run.Count == 0 {
			t.run = t.walk.Next()
		}
		t.terminals[i] = uint32(t.run.Symbol)
		t.run.Count--
	}
	t.left -= n
	t.times = t.buffer[:n]
	return t.block.Decode(t.times, t.terminals[:n])
}
