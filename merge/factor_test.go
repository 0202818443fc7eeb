package merge

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// shapeOf returns the shape of one rank with a sequence of calls of functions: of
// number f with value v is the call f, v.
func shapeOf(rank int, g *sequitur.Grammar, forms []form, values ...int64) *shape {
	s := &shape{grammar: g, forms: forms, ranks: spans{{first: int32(rank), last: int32(rank)}}}
	for _, v := range values {
		s.columns = append(s.columns, constantColumn(int32(rank), v))
	}
	return s
}

// TestSkeleton checks that sequences of equal forms have equal skeletons, however
// the grammars fold them, and others do not.
func TestSkeleton(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sequence := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 60).Draw(t, "sequence")
		forms := []form{{function: 1}, {function: 2}, {function: 2, lengths: []int{3}}, {function: 2, streams: 1}}
		var b sequitur.Builder
		var split []form // each call has a terminal of its own
		for i, f := range sequence {
			b.Append(sequitur.Symbol(i))
			split = append(split, forms[f])
		}
		var numbers formNumbers
		folded := numbers.skeleton(shapeOf(0, orderOf(sequence...), forms))
		if apart := numbers.skeleton(shapeOf(1, b.Finish(), split)); folded != apart {
			t.Fatalf("%v folded, %v apart", folded, apart)
		}
		other := slices.Clone(sequence)
		i := rapid.IntRange(0, len(other)-1).Draw(t, "i")
		other[i] = (other[i] + rapid.IntRange(1, 3).Draw(t, "change")) % 4
		if numbers.skeleton(shapeOf(0, orderOf(other...), forms)) == folded {
			t.Fatalf("%v has the skeleton of %v", other, sequence)
		}
	})
}

// TestUnite unites shapes that tell terminals apart at different positions, and
// refuses those that differ in a form or in length.
func TestUnite(t *testing.T) {
	forms := func(functions ...int) []form {
		var list []form
		for _, f := range functions {
			list = append(list, form{function: f, slots: 1})
		}
		return list
	}
	first := shapeOf(0, orderOf(0, 1, 0, 2, 0, 1), forms(7, 7, 7), 5, 6, 7)
	second := shapeOf(3, orderOf(0, 1, 1, 1, 0, 1), forms(7, 7), 8, 9)
	s, ok := unite([]*shape{first, second})
	if !ok || s.ranks.len() != 2 || len(s.forms) != 4 {
		t.Fatalf("united %v, %v", s, ok)
	}
	for rank, want := range map[int][]int64{0: {5, 6, 5, 7, 5, 6}, 3: {8, 9, 9, 9, 8, 9}} {
		var got []int64
		for _, terminal := range s.grammar.All() {
			v := s.columns[terminal].values()
			position := 0
			if rank == 3 {
				position = 1
			}
			got = append(got, v.at(position, rank))
		}
		if !slices.Equal(got, want) {
			t.Errorf("rank %d has %v, want %v", rank, got, want)
		}
	}
	for name, other := range map[string]*shape{
		"function": shapeOf(3, orderOf(0, 1, 0, 2, 0, 1), forms(7, 7, 8), 5, 6, 7),
		"length":   shapeOf(3, orderOf(0, 1, 0, 2, 0, 1, 1), forms(7, 7, 7), 5, 6, 7),
		"shorter":  shapeOf(3, orderOf(0, 1, 0, 2, 0), forms(7, 7, 7), 5, 6, 7),
		"lengths": shapeOf(3, orderOf(0, 1, 0, 2, 0, 1),
			[]form{{function: 7, slots: 1}, {function: 7, slots: 1, lengths: []int{1}},
				{function: 7, slots: 1}}, 5, 6, 7),
		"streams": shapeOf(3, orderOf(0, 1, 0, 2, 0, 1),
			[]form{{function: 7, slots: 1, streams: 1}, {function: 7, slots: 1}, {function: 7, slots: 1}}, 5, 6, 7),
	} {
		if _, ok := unite([]*shape{first, other}); ok {
			t.Errorf("united with one that differs in %s", name)
		}
	}
}

// TestFactorEstimates unites groups of shapes of which only the first one may be encoded: as is smaller of that one,
// also if an estimate of the others says the opposite.
func TestFactorEstimates(t *testing.T) {
	var shapes []*shape
	const groups = 3
	for i := range groups {
		forms := []form{{function: 7 + i, slots: 1}}
		for k := range 2 {
			shapes = append(shapes, shapeOf(2*i+k, orderOf(0, 0, 0), forms, 5))
		}
	}
	for sign, want := range map[int]int{1: groups, -1: 2 * groups} {
		encoded := 0
		weighs := func() bool { return encoded == 0 }
		got := factor(t.Context(), shapes, weighs, func(list []*shape) int {
			encoded++
			return 100 + sign*len(list)
		})
		if len(got) != want {
			t.Errorf("%d shapes, want %d", len(got), want)
		}
	}
}

// TestSatisfies compares the values of columns with those of expressions.
func TestSatisfies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := drawSpans(t, 1)[0]
		if ranks.len() == 0 {
			return
		}
		c := rapid.Int64Range(-2, 3).Draw(t, "c")
		kind := rapid.IntRange(0, 3).Draw(t, "kind")
		e := rankenc.Constant(c)
		if rapid.Bool().Draw(t, "shift") {
			e = rankenc.Shift(c)
		}
		var col drawnColumn
		want := true
		ranks.each(func(_, rank int) {
			v := e.Eval(int64(rank), 60)
			if kind == 0 && rapid.IntRange(0, 9).Draw(t, "other") == 0 {
				v++
				want = false
			}
			col.push(rank, v)
		})
		if got := col.column.satisfies(e, ranks, 60); got != want {
			t.Fatalf("%v of %v satisfies %v: %v", col.column, ranks, e, got)
		}
	})
}

// orderOf returns a grammar of terminals.
func orderOf(terminals ...int) *sequitur.Grammar {
	var b sequitur.Builder
	for _, t := range terminals {
		b.Append(sequitur.Symbol(t))
	}
	return b.Finish()
}
