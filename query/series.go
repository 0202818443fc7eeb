package query

import (
	"iter"
	"sort"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/timing"
)

// A seriesClock is a clock by the times of every call.
type seriesClock struct {
	rank   *reprise.Rank
	series *timing.Series
	slack  slack
}

func (s *seriesClock) at(position uint64) (start, duration int64, err error) {
	for t, err := range s.rank.Times(position) {
		return t.Start, t.Duration, err
	}
	return 0, 0, s.rank.LostTimes()
}

// earliest decodes calls for as long as one after them may begin before the first: it begins
// no earlier than the slack of overlap before the end of the call before it.
func (s *seriesClock) earliest(most uint64) (int64, error) {
	least, err := s.series.Start(0)
	if err != nil || s.slack.overlap == 0 && !s.slack.unknown {
		return least, err
	}
	early := addTimes(addTimes(s.slack.overlap, s.slack.duration), addTimes(s.slack.start, s.slack.start))
	if s.slack.unknown {
		early = maxTime
	}
	for _, t := range s.times(0, min(most, s.rank.Len()), &err) {
		least = min(least, t.Start)
		if addTimes(addTimes(t.Start, t.Duration), -early) >= least {
			break
		}
	}
	return least, err
}

func (s *seriesClock) end() (int64, error) {
	start, duration, err := s.at(s.rank.Len() - 1)
	return start + duration, err
}

// positions looks at the blocks that may have such calls, from both sides.
func (s *seriesClock) positions(from, to int64) (first, end uint64, err error) {
	low, high, err := s.blocks(from, to)
	if err != nil {
		return 0, 0, err
	}
	first = s.first(high)
	last := first
	for position, t := range s.times(s.first(low), s.first(high), &err) {
		if Overlaps(t.Start, t.Duration, from, to) {
			first, last = position, position
			break
		}
	}
	if err != nil || first == s.first(high) {
		return first, first, err
	}
	for block := high - 1; block >= low && s.first(block+1) > first; block-- {
		for position, t := range s.times(max(first, s.first(block)), s.first(block+1), &err) {
			if Overlaps(t.Start, t.Duration, from, to) {
				last = position
			}
		}
		if err != nil || last >= s.first(block) {
			break
		}
	}
	return first, last + 1, err
}

// times returns an iterator over the times of the calls first ≤ position < end, which
// ends with an error.
func (s *seriesClock) times(first, end uint64, err *error) iter.Seq2[uint64, reprise.Time] {
	return func(yield func(uint64, reprise.Time) bool) {
		if first >= end {
			return
		}
		position := first
		for t, e := range s.rank.Times(first) {
			if e != nil {
				*err = e
				return
			}
			if !yield(position, t) {
				return
			}
			if position++; position == end {
				return
			}
		}
	}
}

// first returns the first position of a block, or the length if it is the number of
// blocks.
func (s *seriesClock) first(block int) uint64 {
	return min(uint64(block)*s.series.BlockLen(), s.rank.Len())
}

// blocks returns low ≤ block < high for the blocks of the calls between two times.
//
// Let M be the slack of overlap. What a block begins with is exact. It began no earlier
// than M before the end of the call before. So starts of blocks go back by M at most,
// the calls of a block began no earlier than M before its start, and those of the block
// before ended no later than M after it.
func (s *seriesClock) blocks(from, to int64) (low, high int, err error) {
	if s.slack.unknown {
		return 0, s.series.Blocks(), nil
	}
	twice := addTimes(s.slack.overlap, s.slack.overlap)
	early := addTimes(twice, addTimes(s.slack.start, s.slack.duration))
	if low, err = s.blockFrom(addTimes(from, -early)); err != nil {
		return 0, 0, err
	}
	high, err = s.blockFrom(addTimes(to, addTimes(twice, s.slack.start)))
	low = max(0, low-1)
	return low, max(low, high), err
}

// blockFrom returns a block that began at a time or after it, while the block before it
// began before: that, if starts do not go back, which they do by the slack of overlap at
// most. It is the number of blocks if the last began before.
func (s *seriesClock) blockFrom(time int64) (int, error) {
	var err error
	block := sort.Search(s.series.Blocks(), func(i int) bool {
		start, e := s.series.Start(i)
		if e != nil && err == nil {
			err = e
		}
		return start >= time
	})
	return block, err
}

// where looks at the blocks of the calls at a time, and on to the next call that ends
// later.
func (s *seriesClock) where(time int64) (Place, error) {
	low, high, err := s.blocks(time, addTimes(time, 1))
	if err != nil {
		return Place{}, err
	}
	of := Place{Position: s.rank.Len()}
	for position, t := range s.times(s.first(low), s.rank.Len(), &err) {
		if position >= s.first(high) && of.Position < s.rank.Len() {
			break
		}
		switch {
		case t.Start+t.Duration <= time:
		case t.Start <= time && (!of.Inside || t.Start >= of.Start):
			of = Place{position, true, t.Start, t.Duration}
		case of.Position == s.rank.Len():
			of = Place{position, false, t.Start, t.Duration}
		}
	}
	if err == nil && of.Position == s.rank.Len() {
		of.Start, err = s.end()
	}
	return of, err
}

func (s *seriesClock) calls(from uint64) iter.Seq2[uint64, reprise.Call] {
	return s.rank.CallsFrom(from)
}
