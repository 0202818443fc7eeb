package merge

import (
	"errors"
	"fmt"
	"slices"

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

// A Summary is what is kept of values that calls have, such as durations, by
// signature. The zero Summary is empty.
type Summary struct {
	Statistics []timing.Statistics // by terminal; it may be shorter
	Histograms *timing.Histograms  // nil means none
}

// IsZero reports whether s is empty.
func (s *Summary) IsZero() bool { return len(s.Statistics) == 0 && s.Histograms == nil }

// of returns the statistics of a terminal, which may be new.
func (s *Summary) of(terminal uint32) *timing.Statistics {
	if n := int(terminal) + 1; n > len(s.Statistics) {
		s.Statistics = append(s.Statistics, make([]timing.Statistics, n-len(s.Statistics))...)
	}
	return &s.Statistics[terminal]
}

// merge adds what o has, which does not change.
func (s *Summary) merge(o *Summary) {
	for t := range o.Statistics {
		if of := &o.Statistics[t]; of.Count > 0 {
			s.of(uint32(t)).Merge(of)
		}
	}
	if o.Histograms == nil || o.Histograms.Len() == 0 {
		return
	}
	if s.Histograms == nil {
		s.Histograms = new(timing.Histograms)
	}
	if err := s.Histograms.Merge(o.Histograms); err != nil {
		panic(err) // an accumulator takes those of one kind
	}
}

// rename returns s over other terminals, of which to says which they are; those
// that become the same are merged.
func (s *Summary) rename(to []uint32) Summary {
	var renamed Summary
	for t := range s.Statistics {
		if of := &s.Statistics[t]; of.Count > 0 {
			renamed.of(to[t]).Merge(of)
		}
	}
	if s.Histograms != nil {
		renamed.Histograms = s.Histograms.Rename(func(t uint32) uint32 { return to[t] })
	}
	return renamed
}

// check checks that s has no more values for a terminal than there are calls of it,
// which calls has for each. A rank has no gap before its first call, but ranks that
// were merged may have others first.
func (s *Summary) check(calls []uint64) error {
	if n := len(calls); len(s.Statistics) > n {
		return fmt.Errorf("statistics of terminal %d of %d", len(s.Statistics)-1, n)
	}
	for t := range s.Statistics {
		if n := s.Statistics[t].Count; n > calls[t] {
			return fmt.Errorf("statistics of %d values of terminal %d, which has %d calls", n, t, calls[t])
		}
	}
	if s.Histograms == nil {
		return nil
	}
	if err := s.checkPaths(len(calls)); err != nil {
		return err
	}
	left := slices.Clone(calls)
	for p, h := range s.Histograms.All() {
		n := h.Statistics().Count
		if n > left[p.Terminal] {
			return fmt.Errorf("histograms of more values of terminal %d than its %d calls", p.Terminal, calls[p.Terminal])
		}
		left[p.Terminal] -= n
	}
	return nil
}

// checkPaths checks that the histograms are of the first n terminals.
func (s *Summary) checkPaths(n int) error {
	for p := range s.Histograms.All() {
		if int64(p.Terminal) >= int64(n) || p.Previous >= int64(n) {
			return fmt.Errorf("a histogram of terminals %d and %d of %d", p.Previous, p.Terminal, n)
		}
	}
	return nil
}

// Summaries are those of durations and of gaps.
type summaries [2]Summary

func (s *summaries) isZero() bool { return s[0].IsZero() && s[1].IsZero() }

func (s *summaries) merge(o *summaries) {
	for i := range s {
		s[i].merge(&o[i])
	}
}

func (s *summaries) rename(to []uint32) summaries {
	return summaries{s[0].rename(to), s[1].rename(to)}
}

// clone returns a copy that shares nothing with s.
func (s *summaries) clone() summaries {
	var c summaries
	c.merge(s)
	return c
}

// checkTimes checks that s has no more values than its ranks have calls.
func (s *shape) checkTimes() error {
	calls := make([]uint64, len(s.forms))
	for t, n := range s.grammar.Occurrences() {
		calls[t] = wire.MulSat(n, uint64(s.ranks.len()))
	}
	for i := range s.times {
		if err := s.times[i].check(calls); err != nil {
			return corrupt("%v", err)
		}
	}
	return nil
}

// A histogramKind is what the histograms of all ranks are by.
type histogramKind uint8

const (
	noHistograms histogramKind = iota
	byCall
	byPair // of a call and the one before it
)

// kind returns what the histograms of s are by.
func (s *summaries) kind() histogramKind {
	kind := noHistograms
	for i := range s {
		switch h := s[i].Histograms; {
		case h == nil || h.Len() == 0:
		case h.PathSensitive():
			kind = max(kind, byPair)
		default:
			kind = max(kind, byCall)
		}
	}
	return kind
}

// mixed reports whether s has histograms of both kinds.
func (s *summaries) mixed() bool {
	a, b := summaries{s[0]}, summaries{s[1]}
	return a.kind() != noHistograms && b.kind() != noHistograms && a.kind() != b.kind()
}

// take takes note of the kind of histograms that are added, and returns an error if
// there are some of another kind.
func (k *histogramKind) take(other histogramKind) error {
	if *k != noHistograms && other != noHistograms && *k != other {
		return errors.New("histograms by call and by pair of calls do not merge: all ranks must keep the same")
	}
	*k = max(*k, other)
	return nil
}

// A rankSeries is the times of every call of a rank.
type rankSeries struct {
	rank  int
	codec string
	data  []byte
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
		for _, s := range []*Summary{&t.Durations, &t.Gaps} {
			if err := s.check(calls); err != nil {
				return err
			}
		}
	}
	if own := (summaries{t.Durations, t.Gaps}); own.mixed() {
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
	return checkSeries(t.Codec, t.Series, p.Grammar.Len())
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
	own := summaries{p.Times.Durations, p.Times.Gaps}
	own = own.rename(number)
	s.times.merge(&own)
	if p.Times.Series != nil {
		a.series = append(a.series, rankSeries{p.Rank, p.Times.Codec, p.Times.Series})
	}
}

// checkSeries checks that a series, of a codec that is known, has the times of that
// many calls.
func checkSeries(codec string, data []byte, calls uint64) error {
	c, err := knownCodecs.get(codec)
	if err != nil {
		return err
	}
	s, err := c.Parse(data, timing.Options{})
	if err == nil && (s.Len() != calls || calls == 0) {
		err = fmt.Errorf("a series of %d calls, not %d", s.Len(), calls)
	}
	return err
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
