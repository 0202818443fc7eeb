package rankenc

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/wire"
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
	positions Set
	expr      Expr
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
		dst = p.expr.append(dst)
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
		s := DecodeSet(d)
		e := DecodeExpr(d)
		if d.Err() != nil {
			return nil
		}
		if s.Len() == 0 || s.At(s.Len()-1) >= int64(count) || s.Len() >= rest {
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
	pieces        []piece
	left          []int
	bytes         int // of the pieces so far
}

// fitPieces returns pieces for values that no expression yields, or nil if there
// are none or they would take limit bytes or more. Special values are split off
// first, one by one, then again and again what the expression yields that yields
// most.
func fitPieces(ranks, values []int64, size int64, o Options, limit int) body {
	s := &splitter{ranks: ranks, values: values, size: size, options: o, left: make([]int, len(values)), bytes: 3}
	for i := range s.left {
		s.left[i] = i
	}
	for s.bytes < limit && len(s.pieces) < maxPieces {
		e, ok := s.next()
		if !ok {
			break
		}
		s.take(e)
	}
	if len(s.pieces) == 0 || s.bytes >= limit {
		return nil
	}
	ranks, values = pick(ranks, s.left), pick(values, s.left)
	var rest body
	least := math.MaxInt
	if e, ok := fitValues(ranks, values, size, o); ok {
		rest, least = exprBody{e}, len(e.append(nil))
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

// take makes a piece of the positions left where e has the value.
func (s *splitter) take(e Expr) {
	var b SetBuilder
	left := s.left[:0]
	for _, p := range s.left {
		if e.Eval(s.ranks[p], s.size) == s.values[p] {
			b.Add(p)
		} else {
			left = append(left, p)
		}
	}
	s.left = left
	set, err := b.Finish()
	if err != nil {
		panic(err) // positions ascend
	}
	enc, _ := set.AppendBinary(nil)
	s.bytes += len(e.append(enc))
	s.pieces = append(s.pieces, piece{set, e})
}

// next returns an expression for many of the positions left, but not for all.
func (s *splitter) next() (Expr, bool) {
	if s.options.Ranks {
		for _, p := range s.left {
			if v := s.values[p]; v < 0 {
				return Constant(v), s.anyLeftBut(v)
			}
		}
	}
	ranks, values := pick(s.ranks, s.left), pick(s.values, s.left)
	if len(s.pieces) > 0 {
		if _, ok := fitValues(ranks, values, s.size, s.options); ok {
			return Expr{}, false
		}
	}
	var (
		best Expr
		most int
	)
	for _, e := range s.guesses(ranks, values) {
		if n := s.count(e, ranks, values); n > most {
			best, most = e, n
		}
	}
	return best, most >= max(2, len(values)/minShare) && most < len(values)
}

// anyLeftBut reports whether a value other than v is left.
func (s *splitter) anyLeftBut(v int64) bool {
	return slices.ContainsFunc(s.left, func(p int) bool { return s.values[p] != v })
}

// count returns for how many ranks e yields the value.
func (s *splitter) count(e Expr, ranks, values []int64) int {
	n := 0
	for i, r := range ranks {
		if e.Eval(r, s.size) == values[i] {
			n++
		}
	}
	return n
}

// guesses returns expressions that may yield many of the values: for families of
// one parameter the most frequent parameter, for the others what fits a half or
// a quarter, since a few exceptions leave one of them alone.
func (s *splitter) guesses(ranks, values []int64) []Expr {
	step := (len(values) + sampleLen - 1) / sampleLen
	var sample [4][]int64 // parameters of the families
	for i := 0; i < len(values); i += step {
		r, v := ranks[i], values[i]
		sample[0] = append(sample[0], v)
		sample[1] = append(sample[1], v-r)
		sample[2] = append(sample[2], center(v-r, max(s.size, 1)))
		sample[3] = append(sample[3], v^r)
	}
	var guesses []Expr
	for i, number := range []uint8{constantNumber, shiftNumber, ringNumber, xorNumber} {
		guesses = append(guesses, Expr{number, params{mostFrequent(sample[i])}})
	}
	for _, parts := range []int{2, 4} {
		for k := range parts {
			lo, hi := k*len(values)/parts, (k+1)*len(values)/parts
			if e, ok := fitValues(ranks[lo:hi], values[lo:hi], s.size, s.options); ok {
				guesses = append(guesses, e)
			}
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
