package query

import "math"

// maxSpans is how many spans a cover keeps.
const maxSpans = 4096

// A cover is how much time calls take together that may overlap. They are added in the
// order in which they end, about: where it finds that they go farther back than the spans
// it keeps, the sum is not known.
type cover struct {
	spans []callSpan // apart, in order
	sum   float64
	gone  int64 // end of the last that is not kept
	some  bool  // whether there are such
	lost  bool
}

type callSpan struct{ start, end int64 }

func (s callSpan) length() float64 { return elapsed(s.start, s.end) }

// add adds a call.
func (c *cover) add(start, end int64) {
	if end <= start {
		return
	}
	s := callSpan{start, end}
	for n := len(c.spans) - 1; n >= 0 && c.spans[n].end >= s.start; n-- {
		s = callSpan{min(s.start, c.spans[n].start), max(s.end, c.spans[n].end)}
		c.sum -= c.spans[n].length()
		c.spans = c.spans[:n]
	}
	c.sum += s.length()
	c.lost = c.lost || c.some && s.start < c.gone
	if c.spans = append(c.spans, s); len(c.spans) > maxSpans {
		c.gone, c.some = c.spans[maxSpans/2].end, true
		c.spans = append(c.spans[:0], c.spans[maxSpans/2+1:]...)
	}
}

// total returns the sum, +Inf if it is not known.
func (c *cover) total() float64 {
	if c.lost {
		return math.Inf(1)
	}
	return c.sum
}
