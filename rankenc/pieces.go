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
	rest   body // nil if there are no other positions
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
	return b.rest.at(rest, rank, size)
}

func (b *pieces) text() string {
	var text []string
	for _, p := range b.pieces {
		text = append(text, fmt.Sprintf("%v at %v", p.expr, p.positions))
	}
	if b.rest != nil {
		text = append(text, b.rest.text()+" elsewhere")
	}
	return strings.Join(text, "; ")
}

func (b *pieces) append(dst []byte) []byte {
	dst = append(dst, headPieces, byte(len(b.pieces)))
	for _, p := range b.pieces {
		dst, _ = p.positions.AppendBinary(dst)
		dst = p.expr.append(dst)
	}
	if b.rest != nil {
		dst = b.rest.append(dst)
	}
	return dst
}

// decodePieces reads sets of positions that have none in common, each with an
// expression, and the encoding of the values at the other positions.
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
		if s.Len() == 0 || s.At(s.Len()-1) >= int64(count) || s.Len() > rest {
			d.Corrupt(at, "positions", "%d of %d", s.Len(), rest)
			return nil
		}
		b.pieces = append(b.pieces, piece{s, e})
		rest -= s.Len()
	}
	if rest > 0 {
		b.rest = decodeBody(d, rest, false)
	}
	if n == 0 {
		d.Corrupt(at, "pieces", "none")
	}
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
	pieces        pieces
	left          []int
	bytes         int // of the pieces so far
}

// fitPieces returns pieces for values, or nil if there are none or they would
// take limit bytes or more. Special values are split off first, one by one, then
// again and again what the expression yields that yields most.
func fitPieces(ranks, values []int64, size int64, o Options, limit int) body {
	s := &splitter{ranks: ranks, values: values, size: size, options: o, left: make([]int, len(values)), bytes: 2}
	for i := range s.left {
		s.left[i] = i
	}
	for s.bytes < limit && len(s.left) > 0 && len(s.pieces.pieces) < maxPieces {
		e, ok := s.next()
		if !ok {
			break
		}
		s.take(e)
	}
	if len(s.pieces.pieces) == 0 || s.bytes >= limit {
		return nil
	}
	if len(s.left) > 0 {
		s.pieces.rest, _ = smallestPlain(s.leftValues(), nil, math.MaxInt)
		if e, ok := fitValues(s.leftRanks(), s.leftValues(), size, o); ok && len(e.append(nil)) < len(s.pieces.rest.append(nil)) {
			s.pieces.rest = exprBody{e}
		}
	}
	return &s.pieces
}

func (s *splitter) leftValues() []int64 { return pick(s.values, s.left) }
func (s *splitter) leftRanks() []int64  { return pick(s.ranks, s.left) }

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
	s.pieces.pieces = append(s.pieces.pieces, piece{set, e})
}

// next returns an expression for many of the positions left.
func (s *splitter) next() (Expr, bool) {
	if s.options.Ranks {
		for _, p := range s.left {
			if s.values[p] < 0 {
				return Constant(s.values[p]), true
			}
		}
	}
	values, ranks := s.leftValues(), s.leftRanks()
	if e, ok := fitValues(ranks, values, s.size, s.options); ok {
		return e, len(s.pieces.pieces) == 0
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
	return best, most >= max(2, len(values)/minShare)
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
// one parameter the most frequent parameter, for the others what fits either
// half.
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
	half := len(values) / 2
	for _, part := range [][2]int{{0, half}, {half, len(values)}} {
		if e, ok := fitValues(ranks[part[0]:part[1]], values[part[0]:part[1]], s.size, s.options); ok {
			guesses = append(guesses, e)
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
