package query

import (
	"iter"
	"sort"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// A seriesClock is a clock by the times of every call.
type seriesClock struct {
	rank       *reprise.Rank
	series     *timing.Series[int64]
	signatures *sequitur.Grammar // of the calls
}

func (s *seriesClock) at(position uint64) (start, duration int64, err error) {
	for t, err := range s.rank.Times(position) {
		return t.Start, t.Duration, err
	}
	return 0, 0, s.rank.LostTimes()
}

func (s *seriesClock) end() (int64, error) {
	start, duration, err := s.at(s.rank.Len() - 1)
	return start + duration, err
}

func (s *seriesClock) find(time int64) (uint64, error) {
	block, err := s.blockFrom(time)
	if err != nil || block == 0 {
		return 0, err
	}
	for last := s.rank.Len(); ; last = s.first(block) {
		block--
		position, err := s.findFrom(s.first(block), time)
		// A call that ended before the first of the block may have ended after time, if
		// calls overlap.
		if err != nil || position == last || position > s.first(block) || block == 0 {
			return position, err
		}
	}
}

// first returns the first position of a block.
func (s *seriesClock) first(block int) uint64 { return uint64(block) * s.series.BlockLen() }

// blockFrom returns the first block whose first call began after a time.
func (s *seriesClock) blockFrom(time int64) (int, error) {
	var err error
	block := sort.Search(s.series.Blocks(), func(i int) bool {
		start, e := s.series.Start(i)
		if e != nil && err == nil {
			err = e
		}
		return start > time
	})
	return block, err
}

// findFrom returns the first position, from one on, of a call that ends after a time,
// among those of its block and, unless there is one, the first of the next.
func (s *seriesClock) findFrom(position uint64, time int64) (uint64, error) {
	_, first := s.series.Find(position)
	end := min(first+s.series.BlockLen(), s.rank.Len())
	for t, err := range s.rank.Times(position) {
		if err != nil {
			return position, err
		}
		if t.Start+t.Duration > time {
			return position, nil
		}
		if position++; position == end {
			break
		}
	}
	return position, nil
}

func (s *seriesClock) last(first Place, time int64) (Place, error) {
	blocks, err := s.blockFrom(time)
	if err != nil {
		return first, err
	}
	of, end := first, min(s.first(blocks), s.rank.Len())
	position := first.Position
	for t, err := range s.rank.Times(position) {
		if err != nil {
			return of, err
		}
		if t.Start >= of.Start && t.Start <= time && t.Start+t.Duration > time {
			of = Place{position, true, t.Start, t.Duration}
		}
		if position++; position >= end {
			break
		}
	}
	return of, nil
}

func (s *seriesClock) calls(from uint64) iter.Seq2[uint64, reprise.Call] {
	return s.rank.CallsFrom(from)
}
