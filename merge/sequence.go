package merge

import (
	"slices"

	"github.com/reprise-trace/reprise/sequitur"
)

// A sequence is symbols as loops one after the other, none inside another: two sequences of the same loops
// are compared symbol by symbol.
type sequence struct {
	loops   []loop
	symbols []sequitur.Symbol // the bodies of the loops, one after the other
}

// A loop is a body of so many symbols, which is repeated up to a length: not always a multiple of the period.
// What does not repeat is a loop of the length of its period.
type loop struct {
	period int
	length uint64
}

// len returns the number of symbols that s stands for.
func (s *sequence) len() uint64 {
	n := uint64(0)
	for _, l := range s.loops {
		n += l.length
	}
	return n
}

const (
	// maxWritten is how many symbols the bodies of a sequence have at most, and maxAdded how many are looked
	// at to make one.
	maxWritten = 1 << 24
	maxAdded   = 1 << 26

	// maxPeriod is how many symbols a loop has at most that is one of a sequence. Longer ones are written
	// out.
	maxPeriod = maxWritten

	maxLoops  = 1 << 20 // of a sequence
	maxNested = 1 << 16 // rules inside one another, which in a grammar that a Builder makes has half the square of that in symbols at least
)

// sequenceOf returns the sequence of a grammar, and whether it is within the limits.
func sequenceOf(g *sequitur.Grammar) (sequence, bool) {
	var s sequencer
	ok := nested(g) <= maxNested && (g.Rules() == 0 || s.addRule(g, g.Rules()-1))
	return s.sequence, ok
}

// nested returns how many rules of a grammar are inside one another.
func nested(g *sequitur.Grammar) int {
	depths := make([]int, g.Rules()) // rules come before those that use them
	most := 0
	for r := range depths {
		for t := range g.Body(r) {
			if t.Rule >= 0 {
				depths[r] = max(depths[r], depths[t.Rule])
			}
		}
		depths[r]++
		most = max(most, depths[r])
	}
	return most
}

// A sequencer makes a sequence such that it hardly depends on how a grammar folds it: a loop begins where its
// first repetition does, and lasts as long as it can.
type sequencer struct {
	sequence
	added int               // symbols
	body  []sequitur.Symbol // scratch
}

// addRule adds what a rule of a grammar generates, and reports whether that is within the limits.
func (s *sequencer) addRule(g *sequitur.Grammar, rule int) bool {
	for t := range g.Body(rule) {
		switch {
		case t.Rule < 0:
			s.body = append(s.body[:0], t.Symbol)
			s.addLoop(s.body, t.Count)
		case t.Count > 1 && g.RuleLen(t.Rule) <= maxPeriod:
			s.body = appendRule(s.body[:0], g, t.Rule)
			s.addLoop(s.body, t.Count)
		default:
			for range t.Count {
				if !s.addRule(g, t.Rule) {
					return false
				}
			}
		}
		if len(s.symbols) > maxWritten || len(s.loops) > maxLoops || s.added > maxAdded {
			return false
		}
	}
	return true
}

// appendRule appends what a rule of a grammar generates to dst.
func appendRule(dst []sequitur.Symbol, g *sequitur.Grammar, rule int) []sequitur.Symbol {
	for t := range g.Body(rule) {
		begin := len(dst)
		if t.Rule < 0 {
			dst = append(dst, t.Symbol)
		} else {
			dst = appendRule(dst, g, t.Rule)
		}
		dst = repeat(dst, begin, t.Count)
	}
	return dst
}

// repeat appends the symbols from begin on so often that they are there n times.
func repeat(dst []sequitur.Symbol, begin int, n uint64) []sequitur.Symbol {
	end := len(dst)
	for range n - 1 {
		dst = append(dst, dst[begin:end]...)
	}
	return dst
}

// addLoop adds a body n times.
func (s *sequencer) addLoop(body []sequitur.Symbol, n uint64) {
	const short = 64 // symbols that are always written out
	length := n * uint64(len(body))
	if last := len(s.loops) - 1; length <= short || last >= 0 && s.loops[last].repeats() &&
		length <= uint64(s.loops[last].period) {
		for range n {
			for _, x := range body {
				s.add(x)
			}
		}
		return
	}
	s.added += len(body)
	s.writeOut(2 * len(body))
	before := s.before(body)
	s.drop(before)
	s.loops = append(s.loops, loop{len(body), length + uint64(before)})
	first := len(body) - before%len(body)
	s.symbols = append(append(s.symbols, body[first:]...), body[:first]...)
}

// repeats reports whether some of the body is there more than once.
func (l loop) repeats() bool { return l.length > uint64(l.period) }

// add adds a symbol.
func (s *sequencer) add(x sequitur.Symbol) {
	s.added++
	if k := len(s.loops) - 1; k < 0 {
		s.loops = append(s.loops, loop{})
	} else if l := &s.loops[k]; l.repeats() {
		if s.symbols[len(s.symbols)-l.period:][l.length%uint64(l.period)] == x {
			l.length++
			return
		}
		s.loops = append(s.loops, loop{})
	}
	l := &s.loops[len(s.loops)-1]
	l.period, l.length = l.period+1, l.length+1
	s.symbols = append(s.symbols, x)
}

// writeOut makes the last loops, as far as they have so many symbols together, one that does not repeat, with
// that before them if it does not either.
func (s *sequencer) writeOut(symbols int) {
	first, at, together := len(s.loops), len(s.symbols), uint64(0)
	for first > 0 && together+s.loops[first-1].length <= uint64(symbols) {
		first--
		at -= s.loops[first].period
		together += s.loops[first].length
	}
	if first == len(s.loops) {
		return
	}
	loops, bodies := slices.Clone(s.loops[first:]), slices.Clone(s.symbols[at:])
	s.loops, s.symbols = s.loops[:first], s.symbols[:at]
	if first == 0 || s.loops[first-1].repeats() {
		s.loops = append(s.loops, loop{})
	}
	last := &s.loops[len(s.loops)-1]
	last.period, last.length = last.period+int(together), last.length+together
	for _, l := range loops {
		for left := l.length; left > 0; {
			n := min(left, uint64(l.period))
			s.symbols = append(s.symbols, bodies[:n]...)
			left -= n
		}
		bodies = bodies[l.period:]
	}
}

// before returns how many symbols at the end, where nothing repeats, are those that come before a body that
// is repeated.
func (s *sequencer) before(body []sequitur.Symbol) int {
	n := len(s.loops)
	if n == 0 || s.loops[n-1].repeats() {
		return 0
	}
	last := s.symbols[len(s.symbols)-s.loops[n-1].period:]
	at := len(body)
	for i := range last {
		if at--; last[len(last)-1-i] != body[at] {
			return i
		}
		if at == 0 {
			at = len(body)
		}
	}
	return len(last)
}

// drop removes symbols from the end, where nothing repeats.
func (s *sequencer) drop(symbols int) {
	if symbols == 0 {
		return
	}
	l := &s.loops[len(s.loops)-1]
	l.period, l.length = l.period-symbols, l.length-uint64(symbols)
	s.symbols = s.symbols[:len(s.symbols)-symbols]
	if l.period == 0 {
		s.loops = s.loops[:len(s.loops)-1]
	}
}

// commonLoops returns loops such that both of two sequences of the same length have these, and whether they
// have few enough symbols.
func commonLoops(x, y []loop) ([]loop, bool) {
	var (
		common  []loop
		at      [2]uint64 // symbols of the first loops of both that are in common
		written uint64
	)
	for len(x) > 0 && len(y) > 0 {
		length := min(x[0].length-at[0], y[0].length-at[1])
		period, least := max(x[0].period, y[0].period), min(x[0].period, y[0].period)
		switch last := len(common) - 1; {
		case x[0].repeats() && y[0].repeats() && period%least == 0 && length >= 2*uint64(period):
			common = append(common, loop{period, length})
			written += uint64(period)
		case length > maxWritten:
			return nil, false
		case last >= 0 && !common[last].repeats():
			common[last].period += int(length)
			common[last].length += length
			written += length
		default:
			common = append(common, loop{int(length), length})
			written += length
		}
		if written > maxWritten {
			return nil, false
		}
		for i, list := range []*[]loop{&x, &y} {
			if at[i] += length; at[i] == (*list)[0].length {
				at[i], *list = 0, (*list)[1:]
			}
		}
	}
	return common, true
}

// reshape returns s with other loops, which it has.
func (s *sequence) reshape(loops []loop) sequence {
	to := sequence{loops: loops}
	first, at, body := 0, uint64(0), s.symbols // the next symbol is at that of the first of the loops, with its body
	skip := func(symbols uint64) {
		for symbols > 0 {
			l := s.loops[first]
			n := min(symbols, l.length-at)
			symbols -= n
			if at += n; at == l.length {
				first, at, body = first+1, 0, body[l.period:]
			}
		}
	}
	for _, l := range loops {
		for left := uint64(l.period); left > 0; {
			of := s.loops[first]
			offset := at % uint64(of.period)
			n := min(left, of.length-at, uint64(of.period)-offset)
			to.symbols = append(to.symbols, body[offset:offset+n]...)
			left -= n
			skip(n)
		}
		skip(l.length - uint64(l.period))
	}
	return to
}

// grammar returns the grammar of s.
func (s *sequence) grammar() *sequitur.Grammar {
	var (
		b      sequitur.Builder
		runs   []sequitur.Run
		bodies = s.symbols
	)
	for _, l := range s.loops {
		body := bodies[:l.period]
		bodies = bodies[l.period:]
		runs = runs[:0]
		for _, x := range body {
			runs = append(runs, sequitur.Run{Symbol: x, Count: 1})
		}
		b.AppendLoop(runs, l.length/uint64(l.period))
		for _, x := range body[:l.length%uint64(l.period)] {
			b.Append(x)
		}
	}
	return b.Finish()
}
