package merge

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/sequitur"
)

// fold returns the grammar of a sequence.
func fold(sequence []sequitur.Symbol) *sequitur.Grammar {
	var b sequitur.Builder
	for _, s := range sequence {
		b.Append(s)
	}
	return b.Finish()
}

// joinGrammars returns the grammar of the pairs of the symbols of two, and whether there is one.
func joinGrammars(p *pairing, x, y *sequitur.Grammar, symbols int) (*sequitur.Grammar, bool) {
	joined, ok := sequenceOf(x)
	other, also := sequenceOf(y)
	if !ok || !also || !p.join(&joined, other, symbols) {
		return nil, false
	}
	return joined.grammar(), true
}

// TestPairing compares the joint grammar of two sequences with that of the pairs
// of their symbols.
func TestPairing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x, y []sequitur.Symbol
		for range rapid.IntRange(1, 4).Draw(t, "loops") {
			n := rapid.IntRange(1, 60).Draw(t, "n")
			period, double := rapid.IntRange(1, 6).Draw(t, "period"), rapid.IntRange(1, 2).Draw(t, "double")
			kinds := rapid.IntRange(1, 3).Draw(t, "kinds")
			for i := range n * period {
				x = append(x, sequitur.Symbol(i%period%kinds))
				y = append(y, sequitur.Symbol(i%(double*period)%(kinds+1)))
			}
		}
		p := pairing{equal: func(x, y sequitur.Symbol) bool { return true }, most: len(x)}
		g, ok := joinGrammars(&p, fold(x), fold(y), 3)
		if !ok {
			t.Fatal("not joined")
		}
		var pairs []sequitur.Symbol
		for i := range x {
			pairs = append(pairs, sequitur.Symbol(slices.Index(p.pairs, pair{x[i], y[i]})))
		}
		if !g.Equal(fold(pairs)) {
			t.Fatalf("%v of\n%v and\n%v", g, x, y)
		}
	})
}

// TestPairingSame checks that it is known when the pairs are the symbols of the first sequence, and that
// pairs that must not be are refused.
func TestPairingSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := rapid.IntRange(1, 5).Draw(t, "period")
		with := rapid.SliceOfN(rapid.IntRange(0, 2), period, period).Draw(t, "with")
		n := rapid.IntRange(1, 200).Draw(t, "n")
		var x, y []sequitur.Symbol
		for i := range n {
			x = append(x, sequitur.Symbol(i%period))
			y = append(y, sequitur.Symbol(with[i%period]))
		}
		if other := rapid.IntRange(0, 4*n).Draw(t, "other"); other < n {
			y[other] = 3
		}
		forbidden := pair{sequitur.Symbol(rapid.IntRange(0, 9).Draw(t, "x")),
			sequitur.Symbol(rapid.IntRange(0, 9).Draw(t, "y"))}
		p := pairing{equal: func(x, y sequitur.Symbol) bool { return pair{x, y} != forbidden }, most: n}
		pairs := make(map[pair]bool)
		for i := range x {
			pairs[pair{x[i], y[i]}] = true
		}
		symbols := min(n, period)
		g, ok := joinGrammars(&p, fold(x), fold(y), symbols)
		if ok == pairs[forbidden] {
			t.Fatalf("joined: %v", ok)
		}
		if ok && (p.same(symbols) != (len(pairs) == symbols) || g.Equal(fold(x)) != p.same(symbols)) {
			t.Fatalf("the same: %v, of %v and %v", p.same(symbols), x, y)
		}
	})
}

// TestPairingTime joins loops that are too long to be read.
func TestPairingTime(t *testing.T) {
	var grammars [2]*sequitur.Grammar
	for i := range grammars {
		var b sequitur.Builder
		b.Append(9)
		body := []sequitur.Run{{Symbol: 0, Count: 1}, {Symbol: 1, Count: 3},
			{Symbol: sequitur.Symbol(2 - i), Count: 1}, {Symbol: 5, Count: 1}}
		b.AppendLoop(body, 1e15)
		b.Append(9)
		grammars[i] = b.Finish()
	}
	p := pairing{equal: func(x, y sequitur.Symbol) bool { return true }, most: 10}
	if g, ok := joinGrammars(&p, grammars[0], grammars[1], 10); !ok || g.Len() != 6e15+2 {
		t.Errorf("%v: %v", ok, g)
	}
	p.equal = func(x, y sequitur.Symbol) bool { return x == y }
	if _, ok := joinGrammars(&p, grammars[0], grammars[1], 10); ok {
		t.Error("terminals that must not be a pair were joined")
	}
}
