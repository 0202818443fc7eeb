package trace

import (
	"iter"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/sequitur"
)

// A Span is the calls of a rank at First ≤ position < End.
type Span struct {
	First uint64 `json:"first"`
	End   uint64 `json:"end"`
}

// Within returns an iterator over the terminals, in ascending order, of the calls in some spans, and how many of them
// each stands for. The spans must ascend, not overlap, and end at r.Len() at most. A span costs as much as
// going through its calls, or reading the grammar twice if that is less.
func (r *Rank) Within(spans []Span) iter.Seq2[sequitur.Symbol, uint64] {
	return func(yield func(sequitur.Symbol, uint64) bool) {
		counts := make([]uint64, r.Terminals())
		last := uint64(0)
		for _, s := range spans {
			need.That(last <= s.First && s.First <= s.End && s.End <= r.Len(), "trace: spans that do not ascend")
			last = s.End
			r.countIn(s, counts)
		}
		for x, n := range counts {
			if n > 0 && !yield(sequitur.Symbol(x), n) {
				return
			}
		}
	}
}

// countIn adds the calls of a span to those of each terminal.
func (r *Rank) countIn(s Span, counts []uint64) {
	if calls, ok := r.flow.calls.(grammarCalls); ok && s.End-s.First > 2*uint64(calls.Symbols()) {
		for x, n := range calls.OccurrencesBefore(s.End) {
			counts[x] += n
		}
		for x, n := range calls.OccurrencesBefore(s.First) {
			counts[x] -= n
		}
		return
	}
	w := r.Walk(s.First)
	for left := s.End - s.First; left > 0; {
		run := w.Next()
		n := min(run.Count, left)
		counts[run.Symbol] += n
		left -= n
	}
}
