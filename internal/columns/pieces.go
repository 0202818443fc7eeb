package columns

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

const (
	// maxPieces is how many expressions a column is split into.
	maxPieces = 8
	// sampleLen is how many values are looked at to guess the most frequent
	// expression.
	sampleLen = 512
	// minShare is the part of the values, one in so many, that an expression must
	// yield to be a piece.
	minShare = 16
)

// pieces are values of which sets of positions have an expression each, and all
// other positions an encoding without pieces.
type pieces struct {
	pieces []piece
	rest   body
	others int // number of other positions, at least 1
}

type piece struct {
	positions rankenc.Set
	expr      rankenc.Expr
}

func (b *pieces) at(i int, rank, size int64) int64 {
	rest := i
	for k := range b.pieces {
		below, ok := b.pieces[k].positions.Index(i)
		if ok {
			return b.pieces[k].expr.Eval(rank, size)
		}
		rest -= below
	}
	// Sets of hostile input may overlap.
	return b.rest.at(min(max(rest, 0), b.others-1), rank, size)
}

func (b *pieces) text() string {
	var text []string
	for _, p := range b.pieces {
		text = append(text, fmt.Sprintf("%v at %v", p.expr, p.positions))
	}
	return strings.Join(append(text, b.rest.text()+" elsewhere"), "; ")
}

func (b *pieces) append(dst []byte) []byte {
	dst = append(dst, headPieces, byte(len(b.pieces)))
	for _, p := range b.pieces {
		dst, _ = p.positions.AppendBinary(dst)
		dst, _ = p.expr.AppendBinary(dst)
	}
	return b.rest.append(dst)
}

// decodePieces reads sets of positions, each with an expression, and the
// encoding of the values at the other positions. It does not check that the sets
// have no position in common, which would take time in proportion to what they
// expand to.
func decodePieces(d *wire.Decoder, count int) body {
	at := d.Offset()
	n := d.UvarintMax("pieces", maxPieces)
	b := &pieces{}
	rest := count
	for range n {
		at := d.Offset()
		s := wire.Embed(d, rankenc.ParseSet)
		e := decodeExpr(d)
		if d.Err() != nil {
			return nil
		}
		if s.Len() == 0 || s.At(s.Len()-1) >= count || s.Len() >= rest {
			d.Corrupt(at, "positions", "%d of %d", s.Len(), rest)
			return nil
		}
		b.pieces = append(b.pieces, piece{s, e})
		rest -= s.Len()
	}
	if n == 0 {
		d.Corrupt(at, "pieces", "none")
	}
	b.rest, b.others = decodeBody(d, rest, false), rest
	if d.Err() != nil {
		return nil
	}
	return b
}

// splitter makes pieces of values. Positions are numbers of values; left lists
// those that no piece has.
type splitter struct {
	ranks, values []int64
	size          int64
	options       Options
	specials      bool // split off special values first
	pieces        []piece
	left          []int
}

// fitPieces returns pieces for values that no expression yields, or nil if there
// are none of less than limit bytes. Again and again what the expression yields
// that yields most is split off. If there are special values, it is also tried
// to split these off first.
func fitPieces(ranks, values []int64, size int64, o Options, limit int) body {
	var best body
	for _, specials := range []bool{false, true} {
		if specials && (!o.Ranks || slices.Min(values) >= 0) {
			break
		}
		s := &splitter{ranks: ranks, values: values, size: size, options: o, specials: specials}
		if b := s.split(limit); b != nil {
			if n := len(b.append(nil)); n < limit {
				best, limit = b, n
			}
		}
	}
	return best
}

// split returns pieces, or nil if it finds out that there are none or that they
// take limit bytes or more.
func (s *splitter) split(limit int) body {
	s.left = make([]int, len(s.values))
	for i := range s.left {
		s.left[i] = i
	}
	for size := 3; len(s.pieces) < maxPieces; {
		e, ok := s.next()
		if !ok {
			break
		}
		n, pays := s.take(e)
		if !pays {
			break
		}
		if size += n; size >= limit {
			return nil
		}
	}
	if len(s.pieces) == 0 {
		return nil
	}
	ranks, values := pick(s.ranks, s.left), pick(s.values, s.left)
	var rest body
	least := math.MaxInt
	if e, ok := s.options.fit(ranks, values, s.size); ok {
		rest = exprBody{e}
		least = len(rest.append(nil))
	}
	rest, _ = smallestPlain(values, rest, least)
	return &pieces{s.pieces, rest, len(values)}
}

// pick returns the elements of v at positions.
func pick(v []int64, positions []int) []int64 {
	picked := make([]int64, len(positions))
	for i, p := range positions {
		picked[i] = v[p]
	}
	return picked
}

// A guess is an expression that may yield many of the values.
type guess struct {
	rankenc.Expr
	special bool // it may yield a special value
}

// yields reports whether e has that value for rank, and may have it.
func (s *splitter) yields(e guess, rank, value int64) bool {
	if value < 0 && s.options.Ranks && !e.special {
		return false
	}
	return e.Eval(rank, s.size) == value
}

// take makes a piece of the positions left where e has the value, and returns
// the number of bytes of the piece. It does nothing and returns false if these
// are more than the values take as bits, unless they are special.
func (s *splitter) take(e guess) (size int, pays bool) {
	var b rankenc.SetBuilder
	var left []int
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for _, p := range s.left {
		v := s.values[p]
		least, most = min(least, v), max(most, v)
		if s.yields(e, s.ranks[p], v) {
			b.Add(p)
		} else {
			left = append(left, p)
		}
	}
	set := b.Finish()
	enc, _ := set.AppendBinary(nil)
	enc, _ = e.AppendBinary(enc)
	size = len(enc)
	c, constant := e.Constant()
	special := s.options.Ranks && constant && c < 0
	if !special && uint64(size) > bitsLen(set.Len(), width(uint64(most)-uint64(least))) {
		return 0, false
	}
	s.left = left
	s.pieces = append(s.pieces, piece{set, e.Expr})
	return size, true
}

// next returns an expression for many of the positions left, but not for all.
func (s *splitter) next() (guess, bool) {
	if s.specials {
		for _, p := range s.left {
			if v := s.values[p]; v < 0 {
				return guess{rankenc.Constant(v), true}, slices.ContainsFunc(s.left, func(p int) bool {
					return s.values[p] != v
				})
			}
		}
	}
	ranks, values := pick(s.ranks, s.left), pick(s.values, s.left)
	if len(s.pieces) > 0 {
		if _, ok := s.options.fit(ranks, values, s.size); ok {
			return guess{}, false
		}
	}
	var (
		best guess
		most int
	)
	for _, e := range s.guesses(ranks, values) {
		n := 0
		for i, r := range ranks {
			if s.yields(e, r, values[i]) {
				n++
			}
		}
		if n > most {
			best, most = e, n
		}
	}
	return best, most >= max(2, len(values)/minShare) && most < len(values)
}

// guesses returns expressions that may yield many of the values: for families of
// one parameter the most frequent parameter, for the others what fits a half or
// a quarter, since a few exceptions leave one of them alone.
func (s *splitter) guesses(ranks, values []int64) []guess {
	step := (len(values) + sampleLen - 1) / sampleLen
	var sample [4][]int64 // parameters of the families
	for i := 0; i < len(values); i += step {
		r, v := ranks[i], values[i]
		sample[0] = append(sample[0], v)
		sample[1] = append(sample[1], v-r)
		sample[2] = append(sample[2], center(v-r, max(s.size, 1)))
		sample[3] = append(sample[3], v^r)
	}
	ring := rankenc.Ring(mostFrequent(sample[2]), max(s.size, 1))
	guesses := []guess{
		{rankenc.Constant(mostFrequent(sample[0])), true},
		{rankenc.Shift(mostFrequent(sample[1])), false},
		{ring, false},
		{rankenc.Xor(mostFrequent(sample[3])), false},
	}
	for _, parts := range []int{2, 4} {
		for k := range parts {
			lo, hi := k*len(values)/parts, (k+1)*len(values)/parts
			e, ok := s.options.fit(ranks[lo:hi], values[lo:hi], s.size)
			if !ok {
				continue
			}
			_, special := e.Constant()
			if !special { // values at a rim, as no arithmetic yields special values
				special = slices.Min(values[lo:hi]) < 0
			}
			guesses = append(guesses, guess{e, special})
		}
	}
	return guesses
}

// mostFrequent returns the element that is in v most often, the least of several.
// It sorts v.
func mostFrequent(v []int64) (element int64) {
	slices.Sort(v)
	most := 0
	for i := 0; i < len(v); {
		j := i + 1
		for j < len(v) && v[j] == v[i] {
			j++
		}
		if j-i > most {
			element, most = v[i], j-i
		}
		i = j
	}
	return element
}
