package merge

import (
	"errors"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/timing"
)

// Times are what was recorded of the times of calls, in nanoseconds: summaries of
// how long calls took, and of the gaps between them, which are the times since the
// end of the rank's call before, and the times of every call. Any of them may be
// absent.
type Times struct {
	Durations, Gaps Summary

	// Series has the times of every call, as package timing encodes them with the
	// codec of that name, over terminals that are numbered in the order of their
	// first use. Nil means that they were not kept.
	Codec  string
	Series []byte
}

// checkTimes checks that s has no more values than its ranks have calls.
func (s *shape) checkTimes() error {
	calls := make([]uint64, len(s.forms))
	for t, n := range s.grammar.Occurrences() {
		calls[t] = wire.MulSat(n, uint64(s.ranks.len()))
	}
	for i := range s.times {
		if err := s.times[i].Check(calls); err != nil {
			return layout.Corrupt("%v", err)
		}
	}
	return nil
}

// checkTimes checks the times of p, of whose terminals order are those in use, in
// the order of their first use.
func (p Part) checkTimes(order []uint32) error {
	t := p.Times
	if t == nil {
		return nil
	}
	if !t.Durations.IsZero() || !t.Gaps.IsZero() {
		calls := make([]uint64, p.Table.Len())
		for s, n := range p.Grammar.Occurrences() {
			calls[s] = n
		}
		for _, s := range []*layout.Summary{&t.Durations, &t.Gaps} {
			if err := s.Check(calls); err != nil {
				return err
			}
		}
	}
	if own := (layout.Summaries{t.Durations, t.Gaps}); own.Mixed() {
		return errors.New("histograms of durations by call and of gaps by pair of calls, or the other way round")
	}
	if t.Series == nil {
		return nil
	}
	for i, terminal := range order {
		if int(terminal) != i {
			return errors.New("a series needs terminals that are numbered in the order of their first use")
		}
	}
	return layout.CheckSeries(t.Codec, t.Series, p.Grammar.Len())
}

// addTimes adds the times of a part of a shape, of which order says which terminals
// of the part are those of the shape.
func (a *Accumulator) addTimes(s *shape, p Part, order []uint32) {
	if p.Times == nil {
		return
	}
	number := make([]uint32, p.Table.Len())
	for i, old := range order {
		number[old] = uint32(i)
	}
	own := layout.Summaries{p.Times.Durations, p.Times.Gaps}
	own = own.Rename(number)
	s.times.Merge(&own)
	if p.Times.Series != nil {
		a.series = append(a.series, layout.RankSeries{Rank: p.Rank, Codec: p.Times.Codec, Data: p.Times.Series})
	}
}

// firstOf returns the first of the new terminals, of which to says which old one
// each is, for each of n old ones.
func firstOf(to []uint32, n int) []uint32 {
	first := make([]uint32, n)
	for i := len(to) - 1; i >= 0; i-- {
		first[to[i]] = uint32(i)
	}
	return first
}

// CodecByFunction returns a codec that encodes the values of calls of some
// functions, by their names, with codecs of their own, and those of all others with
// the codec others: durations of a function with a smaller error, say. Function
// returns the name of the function of a terminal; whoever reads a trace finds it in
// the trace. The codecs must be of package timing, or its grammar.
func CodecByFunction(others timing.Codec, own map[string]timing.Codec, function func(terminal uint32) string) timing.Codec {
	return layout.CodecByFunction(others, own, function)
}

// CheckCodec returns an error unless a trace can have series of a codec: it must be
// known by its name, as those of package timing and its grammar are, but for Split,
// and those that [CodecByFunction] returns.
func CheckCodec(c *timing.SeriesCodec) error { return layout.CheckCodec(c) }
