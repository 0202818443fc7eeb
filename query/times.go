package query

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A Source says what times are known by. Those further down are more exact.
type Source uint8

const (
	None       Source = iota // there are no times
	Statistics               // the mean of the calls of a signature
	Histograms               // the same, or that of those that come after another
	Series                   // the times of every call
)

var sources = []string{"none", "statistics", "histograms", "series"}

func (s Source) String() string { return nameOf(sources, s) }

// MarshalText returns what String does.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText has written.
func (s *Source) UnmarshalText(text []byte) error {
	i := slices.Index(sources, string(text))
	if i < 0 {
		return fmt.Errorf("query: no source of times is called %q", text)
	}
	*s = Source(i)
	return nil
}

// Times are what a trace has of the times of calls, to be read with the ranks of that
// trace. Their methods may be called from several goroutines at once.
type Times struct {
	trace     *trace.Trace
	summaries [2]timing.Summary // of durations and of gaps
	paths     bool              // whether histograms are by a call and the one before it
	means     [2][]atomic.Uint64
	anyPath   func() [2][]timing.Statistics // by signature, if paths
	begin     func() (int64, error)
	starts    func() int64 // the bound that starts have, see startsOf

	firstBegin int64             // of the ranks of ranks
	ranks      *layout.RankTimes // nil if there are none
	measured   []*measured       // by signature, if the statistics are of the times of every call

	mu     sync.Mutex
	spans  map[int]runSpan     // of some ranks with the times of every call
	shapes map[int]*shapeTimes // some of them, by number
	size   int                 // symbols in their grammars
}

// The kinds of summaries.
const (
	durations = iota
	gaps
)

// OpenTimes reads the summaries of times of a trace. Those of every call are read
// with the clocks of their ranks.
func OpenTimes(t *trace.Trace) (*Times, error) {
	need.That(t != nil, "query: no trace")
	d, g, err := t.Summaries()
	if err != nil {
		return nil, err
	}
	ranks, err := readRankTimes(t)
	if err != nil {
		return nil, err
	}
	times := &Times{trace: t, ranks: ranks}
	if ranks != nil {
		times.firstBegin = math.MaxInt64
		for i := range ranks.Len() {
			times.firstBegin = min(times.firstBegin, ranks.At(i).Begin)
		}
	}
	times.begin = sync.OnceValues(times.firstStart)
	times.starts = sync.OnceValue(times.startsOf)
	return times.with([2]timing.Summary{d, g}), nil
}

// readRankTimes reads what a trace keeps of the times of each rank, nil if that is nothing.
func readRankTimes(t *trace.Trace) (r *layout.RankTimes, err error) {
	err = t.ReadSection(layout.KindRankTimes, 0, func(content []byte) (err error) {
		r, err = layout.ParseRankTimes(content, len(t.Functions()), t.Content().Recorded)
		return err
	})
	return r, err
}

// with returns times of the same trace with other summaries.
func (t *Times) with(summaries [2]timing.Summary) *Times {
	times := &Times{trace: t.trace, begin: t.begin, starts: t.starts, summaries: summaries, ranks: t.ranks,
		firstBegin: t.firstBegin}
	for i, s := range summaries {
		times.paths = times.paths || s.Histograms != nil && s.Histograms.PathSensitive()
		times.means[i] = make([]atomic.Uint64, t.trace.Signatures())
	}
	times.anyPath = sync.OnceValue(times.overPaths)
	return times
}

// Summarized reports whether there are statistics or histograms of durations.
func (t *Times) Summarized() bool { return !layout.NoSummary(&t.summaries[durations]) }

// Begin returns when the first call of all ranks began, as their clocks have it: 0 if the times of every call
// of no rank can be read, where all clocks are estimates. The first time, it reads the beginning of every
// series. Where calls overlap, a call that returned later may have begun before the first: calls are decoded
// until that cannot be any more, but of a rank 65,536 at most, and fewer of many ranks.
func (t *Times) Begin() (int64, error) { return t.begin() }

// Limits of the calls that are looked at for the first start.
const (
	maxAllBegins = 1 << 20 // of all ranks
	maxBegins    = 1 << 16 // of a rank
	minBegins    = 1 << 8  // even if ranks are many
)

// firstStart is Begin. Ranks whose times cannot be read do not count: their clocks tell.
func (t *Times) firstStart() (int64, error) {
	ranks, _, err := t.trace.SeriesRanks()
	if err != nil {
		return 0, nil // no rank has times that can be read
	}
	least, starts := int64(maxTime), make(map[int]int64)
	for _, rank := range ranks.All() {
		s, err := t.trace.Series(int(rank))
		if err != nil || s.Len() == 0 {
			continue
		}
		if start, err := s.Start(0); err == nil {
			least, starts[int(rank)] = min(least, start), start
		}
	}
	if least == maxTime {
		return 0, nil
	}
	return t.startBefore(least, starts), nil
}

// startBefore returns the least start of the calls of ranks of whose first recorded calls
// the starts are, of which least is the least.
func (t *Times) startBefore(least int64, starts map[int]int64) int64 {
	overlap := t.overlap()
	maps.DeleteFunc(starts, func(_ int, start int64) bool { return wire.AddTimes(start, -overlap) >= least })
	most := min(maxBegins, max(minBegins, maxAllBegins/uint64(max(1, len(starts)))))
	for rank := range starts {
		r, err := t.trace.Folded(rank, nil)
		if err != nil || r.Series() == nil {
			continue
		}
		c, err := t.Clock(r)
		if err != nil {
			continue
		}
		if start, err := c.clock.earliest(most); err == nil {
			least = min(least, start)
		}
	}
	return least
}

// source returns what the times of a signature are known by, if not by those of every
// call: the better of durations and gaps.
func (t *Times) source(signature int) Source {
	source := None
	for i := range t.summaries {
		s := &t.summaries[i]
		switch {
		case s.Histograms != nil && t.histogram(i, signature) != nil:
			return Histograms
		case signature < len(s.Statistics) && s.Statistics[signature].Count > 0:
			source = Statistics
		}
	}
	return source
}

// histogram returns what the histograms of all calls of a signature have, or nil.
func (t *Times) histogram(kind, signature int) *timing.Statistics {
	if t.paths {
		if all := t.anyPath()[kind]; signature < len(all) && all[signature].Count > 0 {
			return &all[signature]
		}
		return nil
	}
	if h := t.summaries[kind].Histograms.Find(timing.Path{Previous: timing.NoPrevious,
		Terminal: uint32(signature)}); h != nil && h.Statistics().Count > 0 {
		return h.Statistics()
	}
	return nil
}

// statistics returns those of all calls of a signature, or nil if there are none.
func (t *Times) statistics(kind, signature int) *timing.Statistics {
	s := &t.summaries[kind]
	if s.Histograms != nil {
		if of := t.histogram(kind, signature); of != nil {
			return of
		}
	}
	if signature < len(s.Statistics) && s.Statistics[signature].Count > 0 {
		return &s.Statistics[signature]
	}
	return nil
}

// overPaths returns the statistics of the histograms of each signature, whatever the
// call before was.
func (t *Times) overPaths() [2][]timing.Statistics {
	var all [2][]timing.Statistics
	for i, s := range t.summaries {
		if !t.paths || s.Histograms == nil {
			continue
		}
		all[i] = make([]timing.Statistics, t.trace.Signatures())
		for p, h := range s.Histograms.All() {
			all[i][p.Terminal].Merge(h.Statistics())
		}
	}
	return all
}

// mean returns the mean of the values of a signature after another, which may be
// timing.NoPrevious, in nanoseconds; 0 if there are none.
func (t *Times) mean(kind int, previous int64, signature int) float64 {
	if t.paths && t.summaries[kind].Histograms != nil {
		h := t.summaries[kind].Histograms.Find(timing.Path{Previous: previous, Terminal: uint32(signature)})
		if h != nil && h.Statistics().Count > 0 {
			return h.Statistics().Mean()
		}
	}
	return t.meanOf(kind, signature)
}

// meansOf returns the means of durations and of gaps of a pair of what signature says the
// signatures of.
func (t *Times) meansOf(p pair, signature func(sequitur.Symbol) int) [2]float64 {
	n := signature(p.terminal)
	if p.before == none { // there is no gap
		return [2]float64{t.mean(durations, timing.NoPrevious, n), 0}
	}
	before := int64(signature(sequitur.Symbol(p.before)))
	return [2]float64{t.mean(durations, before, n), t.mean(gaps, before, n)}
}

// meanOf returns the mean of all values of a signature, in nanoseconds; 0 if there are
// none.
func (t *Times) meanOf(kind, signature int) float64 {
	known := &t.means[kind][signature]
	if bits := known.Load(); bits != 0 {
		return math.Float64frombits(bits) + 0 // never −0
	}
	mean := 0.0
	if s := t.statistics(kind, signature); s != nil {
		mean = s.Mean()
	}
	if mean == 0 {
		known.Store(math.Float64bits(math.Copysign(0, -1))) // which is not 0
		return 0
	}
	known.Store(math.Float64bits(mean))
	return mean
}

// ShapeTimes are the times of the ranks of a shape, as far as they are those of all.
type shapeTimes struct {
	grammar   *sequitur.Grammar           // over signatures of the trace
	signature func(n sequitur.Symbol) int // the one that has the times of a signature
	source    Source                      // of the summaries
	estimate  func() (*estimate, error)   // by what is known of all ranks
	ranks     int
}

// The shapes of which the times are kept have at most so many symbols together, unless
// it is one.
const maxSymbols = 1 << 20

// shapeOf returns the times of the shape of a rank that has calls.
func (t *Times) shapeOf(r *trace.Rank) (*shapeTimes, error) {
	number, _ := t.trace.ShapeOf(r.Call(0).Rank)
	return t.shape(number)
}

// shape returns the times of a shape.
func (t *Times) shape(number int) (*shapeTimes, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.shapes[number]; s != nil {
		return s, nil
	}
	shape, err := t.trace.Shape(number)
	if err != nil {
		return nil, err
	}
	timed, err := t.timedSignatures(shape.Grammar, int(shape.Ranks.At(0)))
	if err != nil {
		return nil, err
	}
	s := &shapeTimes{grammar: shape.Grammar, ranks: shape.Ranks.Len()}
	s.signature = func(n sequitur.Symbol) int {
		if first, ok := timed[n]; ok {
			return first
		}
		return int(n)
	}
	for n := range shape.Grammar.Occurrences() {
		s.source = max(s.source, t.source(s.signature(n)))
	}
	s.estimate = sync.OnceValues(func() (*estimate, error) { return t.newEstimate(s, nil) })
	if t.size += shape.Grammar.Symbols(); t.size > maxSymbols || t.shapes == nil {
		t.shapes, t.size = make(map[int]*shapeTimes), shape.Grammar.Symbols()
	}
	t.shapes[number] = s
	return s, nil
}

// timedSignatures returns, for signatures of a shape that have no times, those that have
// them on one of its ranks: of equal calls of a rank, the first has the times of all.
func (t *Times) timedSignatures(g *sequitur.Grammar, rank int) (map[sequitur.Symbol]int, error) {
	timed := make(map[sequitur.Symbol]int)
	if layout.NoSummary(&t.summaries[durations]) && layout.NoSummary(&t.summaries[gaps]) {
		return timed, nil
	}
	var r *trace.Rank
	for position, s := range g.FirstUses() {
		if t.source(int(s)) != None {
			continue
		}
		if r == nil {
			var err error
			if r, err = t.trace.Folded(rank, nil); err != nil {
				return nil, err
			}
		}
		timed[s] = r.Signature(r.Walk(position).Next().Symbol)
	}
	return timed, nil
}

// Guarantee returns the weakest of those of the times of every call that the trace has,
// see [Clock.Guarantee]; exact if there are none. It reads one rank for each codec.
func (t *Times) Guarantee() (timing.Guarantee, error) {
	weakest := timing.Exact
	err := t.eachCodec(func(s *timing.Series) { weakest = max(weakest, s.Guarantee()) })
	return weakest, err
}

// Starts returns the bound of starts that the series of all ranks have besides that by the longest gap, in
// nanoseconds, 0 if one has none; see [timing.SeriesCodec].
func (t *Times) Starts() int64 { return t.starts() }

// startsOf returns the bound of starts that all series have, in nanoseconds, 0 if one has none.
func (t *Times) startsOf() int64 {
	weakest, every := int64(0), true
	err := t.eachCodec(func(s *timing.Series) {
		if s.Guarantee() != timing.Exact {
			weakest, every = max(weakest, s.Starts()), every && s.Starts() > 0
		}
	})
	if err != nil || !every {
		return 0
	}
	return weakest
}

// eachCodec calls use with the series of one rank for each codec.
func (t *Times) eachCodec(use func(*timing.Series)) error {
	ranks, codecs, err := t.trace.SeriesRanks()
	if err != nil {
		return err
	}
	seen := make(map[string]bool)
	for _, rank := range ranks.All() {
		name, err := t.trace.SeriesCodec(int(rank))
		if err != nil {
			return err
		}
		if seen[name] {
			continue
		}
		s, err := t.trace.Series(int(rank))
		if err != nil || s == nil {
			continue // that of another rank may be readable
		}
		seen[name] = true
		use(s)
		if len(seen) == len(codecs) {
			break
		}
	}
	return nil
}

// Mean returns how long the calls of a signature of the trace take on average, and the
// gaps before them, in nanoseconds, whatever the call before is and on all ranks that
// make the call: by statistics or histograms, and 0 where there are none.
func (t *Times) Mean(signature int) (duration, gap float64) {
	need.Index(signature, len(t.means[durations]), "query: signature")
	return t.meanOf(durations, signature), t.meanOf(gaps, signature)
}
