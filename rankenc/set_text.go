package rankenc

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/RoaringBitmap/roaring/v2"
)

// maxTextRanks is how many ranks a text may name, one by one, and maxTextDepth how
// deep its parentheses may nest.
const (
	maxTextRanks = 1 << 24
	maxTextDepth = 8
)

// SetOfText returns the set of ranks that a text names as [Set.String] writes it,
// such as 0-3, 8 or 0-62:2 or (1-6)+8×7. Ranks may come in any order and repeatedly,
// with or without spaces; x and * do as well as ×. The text must name a rank, and at
// most 2²⁴, and none that is not below size, which is at most MaxRank+1.
func SetOfText(text string, size int) (Set, error) {
	p := setParser{text: text, size: uint64(min(max(size, 0), MaxRank+1))}
	ranks := p.list(0)
	if p.err == nil && p.at < len(text) {
		p.fail("%q is not expected", p.rest())
	}
	if p.err != nil {
		return Set{}, p.err
	}
	return setOfBitmap(ranks), nil
}

// A setParser reads a text. The first failure sticks.
type setParser struct {
	text string
	at   int
	size uint64
	n    uint64 // ranks that were added
	err  error
}

func (p *setParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("rankenc: ranks %q: %s", p.text, fmt.Sprintf(format, args...))
	}
}

// rest returns what is left, or its beginning.
func (p *setParser) rest() string {
	const most = 20
	rest := []rune(p.text[p.at:])
	return string(rest[:min(len(rest), most)])
}

// accept skips spaces, and then a symbol if it is next.
func (p *setParser) accept(symbols string) bool {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	r, n := utf8.DecodeRuneInString(p.text[p.at:])
	if n == 0 || !strings.ContainsRune(symbols, r) {
		return false
	}
	p.at += n
	return true
}

// number reads a number, which must be below a bound.
func (p *setParser) number(what string, bound uint64) uint64 {
	p.accept("")
	begin := p.at
	for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
		p.at++
	}
	if begin == p.at {
		if p.at == len(p.text) {
			p.fail("a %s is missing at the end", what)
		} else {
			p.fail("%q is no %s", p.rest(), what)
		}
		return 0
	}
	v, err := strconv.ParseUint(p.text[begin:p.at], 10, 64)
	switch {
	case (err != nil || v >= bound) && bound == 0:
		p.fail("there are no ranks")
	case err != nil || v >= bound:
		p.fail("the %s %s is beyond %d", what, p.text[begin:p.at], bound-1)
	}
	return v
}

// list reads items with commas between them.
func (p *setParser) list(depth int) *roaring.Bitmap {
	ranks := p.item(depth)
	for p.err == nil && p.accept(",") {
		ranks.Or(p.item(depth))
	}
	return ranks
}

// item reads a rank, a range, or copies of a list.
func (p *setParser) item(depth int) *roaring.Bitmap {
	ranks := roaring.New()
	if p.accept("(") {
		if depth == maxTextDepth {
			p.fail("parentheses nest deeper than %d", maxTextDepth)
			return ranks
		}
		return p.copies(p.list(depth + 1))
	}
	first := p.number("rank", p.size)
	last, step := first, uint64(1)
	if p.err == nil && p.accept("-") {
		if last = p.number("rank", p.size); last < first && p.err == nil {
			p.fail("%d-%d is backwards", first, last)
		}
		if p.accept(":") {
			if step = p.number("step", MaxRank+1); step == 0 {
				p.fail("a step is 1 at least")
			}
		}
	}
	if p.err == nil && p.count((last-first)/step+1) {
		if step == 1 {
			ranks.AddRange(first, last+1)
			return ranks
		}
		for r := first; r <= last; r += step {
			ranks.Add(uint32(r))
		}
	}
	return ranks
}

// count reports whether so many ranks more are not too many.
func (p *setParser) count(n uint64) bool {
	if p.n += n; p.n > maxTextRanks {
		p.fail("these are more than %d ranks", maxTextRanks)
	}
	return p.err == nil
}

// copies reads what follows a list in parentheses, and returns the copies.
func (p *setParser) copies(list *roaring.Bitmap) *roaring.Bitmap {
	for _, symbols := range []string{")", "+"} {
		if p.err == nil && !p.accept(symbols) {
			p.fail("%s is missing", symbols)
		}
	}
	distance := p.number("distance", MaxRank+1)
	if p.err == nil && !p.accept("×x*") {
		p.fail("× is missing")
	}
	n := p.number("number of copies", MaxRank+1)
	if p.err != nil {
		return list
	}
	if n == 0 {
		p.fail("there is a copy at least")
		return list
	}
	if last := uint64(list.Maximum()) + (n-1)*distance; last >= p.size {
		p.fail("the rank %d is beyond %d", last, p.size-1)
		return list
	}
	all := roaring.New()
	for i := range n {
		if !p.count(list.GetCardinality()) {
			break
		}
		all.Or(roaring.AddOffset(list, uint32(i*distance)))
	}
	return all
}
