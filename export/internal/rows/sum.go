package rows

import (
	"math"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/timing"
)

// A sum is what the equal calls of a rank have together.
type sum struct {
	calls uint64

	timed       uint64 // of calls, those with times
	total       int64
	least, most int64
}

// add adds a call that took so long.
func (s *sum) add(duration int64) {
	if s.timed == 0 {
		s.least, s.most = math.MaxInt64, math.MinInt64
	}
	s.timed++
	s.total = int64(uint64(s.total) + uint64(duration))
	s.least, s.most = min(s.least, duration), max(s.most, duration)
}

// sums adds a row for each signature of the calls first ≤ position < end of a source.
func (f *filler) sums(s *source, first, end uint64) error {
	var sums []sum
	if f.choice.Series && s.read.Series() != nil {
		var err error
		if sums, err = f.sumsOfTimes(s, first, end); err != nil {
			return err
		}
	} else {
		sums = sumsOf(s, first, end)
	}
	operations := operationsOf(s)
	f.begin(s, 0)
	for terminal := range sums {
		if sums[terminal].calls == 0 {
			continue
		}
		number := s.newCode(uint32(terminal), operations[uint32(terminal)], false)
		s.codes[number].sum = &sums[terminal]
		f.group.add(s, number)
		if f.group.full() && !f.next(s, 0) {
			return nil
		}
	}
	f.end(s)
	return nil
}

// sumsOf counts calls by terminal.
func sumsOf(s *source, first, end uint64) []sum {
	sums := make([]sum, s.read.Terminals())
	if first == 0 && end == s.read.Len() {
		for terminal, n := range s.read.Occurrences() {
			sums[terminal].calls = n
		}
		return sums
	}
	g := s.read.Grammar()
	for terminal, n := range g.OccurrencesBefore(end) {
		sums[terminal].calls = n
	}
	for terminal, n := range g.OccurrencesBefore(first) {
		sums[terminal].calls -= n
	}
	return sums
}

// cancelled is how many calls pass between two looks at whether that was cancelled.
const cancelled = 1 << 16

// sumsOfTimes is sumsOf with what calls took.
func (f *filler) sumsOfTimes(s *source, first, end uint64) ([]sum, error) {
	sums := make([]sum, s.read.Terminals())
	for call, err := range s.read.Calls(first) {
		if err != nil {
			return nil, err
		}
		if call.Position == end || call.Position%cancelled == 0 && f.ctx.Err() != nil {
			break
		}
		if !f.wanted(s, &call) {
			continue
		}
		sum := &sums[call.Terminal]
		if sum.calls++; call.Timed {
			sum.add(call.Duration)
		}
	}
	return sums, nil
}

// operationsOf returns what calls mean, by terminal: nothing where they do not all mean
// the same.
func operationsOf(s *source) map[uint32]*semantics.Operation {
	operations := make(map[uint32]*semantics.Operation)
	if s.means == nil {
		return operations
	}
	all := make([]uint64, s.read.Terminals())
	for terminal, n := range s.read.Occurrences() {
		all[terminal] = n
	}
	for o := range s.means.All() {
		if o.Count == all[o.Terminal] {
			operations[o.Terminal] = o.Operation
		}
	}
	return operations
}

// sumColumns returns the columns of sums.
func (t *Table) sumColumns() []*Column {
	columns := []*Column{{Name: "calls", Type: Int, cell: func(c *code) Cell {
		return intCell(int64(min(c.sum.calls, math.MaxInt64)))
	}}}
	if t.choice.Series {
		columns = append(columns,
			timedColumn("total_ns", Int, func(s *sum) Cell { return intCell(s.total) }),
			timedColumn("mean_ns", Float, func(s *sum) Cell { return floatCell(float64(s.total) / float64(s.timed)) }),
			timedColumn("min_ns", Int, func(s *sum) Cell { return intCell(s.least) }),
			timedColumn("max_ns", Int, func(s *sum) Cell { return intCell(s.most) }))
	}
	if t.all != nil {
		columns = append(columns,
			t.summaryColumn("all_calls", Int, durations, func(s *timing.Statistics) Cell {
				return intCell(int64(min(s.Count, math.MaxInt64)))
			}),
			t.summaryColumn("all_mean_ns", Float, durations, func(s *timing.Statistics) Cell {
				return floatCell(s.Mean())
			}),
			t.summaryColumn("all_min_ns", Int, durations, func(s *timing.Statistics) Cell { return intCell(s.Min) }),
			t.summaryColumn("all_max_ns", Int, durations, func(s *timing.Statistics) Cell { return intCell(s.Max) }),
			t.summaryColumn("all_gap_mean_ns", Float, gaps, func(s *timing.Statistics) Cell {
				return floatCell(s.Mean())
			}))
	}
	return columns
}

func timedColumn(name string, typ Type, of func(*sum) Cell) *Column {
	return &Column{Name: name, Type: typ, Optional: true, cell: func(c *code) Cell {
		if c.sum.timed == 0 {
			return Cell{}
		}
		return of(c.sum)
	}}
}

func (t *Table) summaryColumn(name string, typ Type, kind int, of func(*timing.Statistics) Cell) *Column {
	return &Column{Name: name, Type: typ, Optional: true, cell: func(c *code) Cell {
		s := t.all.of(kind, c.read.Signature(c.terminal))
		if s == nil {
			return Cell{}
		}
		return of(s)
	}}
}

// The kinds of summaries.
const (
	durations = iota
	gaps
)

// summaries are statistics by signature.
type summaries [2][]timing.Statistics

// newSummaries returns the statistics of n signatures, or what histograms tell where
// there are none.
func newSummaries(from [2]timing.Summary, n int) *summaries {
	var s summaries
	for kind := range from {
		s[kind] = make([]timing.Statistics, n)
		copy(s[kind], from[kind].Statistics)
		if from[kind].Histograms == nil {
			continue
		}
		found := make([]timing.Statistics, n)
		for path, h := range from[kind].Histograms.All() {
			found[path.Terminal].Merge(h.Statistics())
		}
		for i := range found {
			if s[kind][i].Count == 0 {
				s[kind][i] = found[i]
			}
		}
	}
	return &s
}

// of returns the statistics of a signature, or nil if there are none.
func (s *summaries) of(kind, signature int) *timing.Statistics {
	if of := &s[kind][signature]; of.Count > 0 {
		return of
	}
	return nil
}
