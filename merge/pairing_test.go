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
		p := newPairing(fold(x), fold(y))
		p.equal = func(x, y sequitur.Symbol) bool { return true }
		g, ok := p.join()
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

// TestFollow checks that a grammar follows another one where each symbol of that comes with one of its own, and with which.
func TestFollow(t *testing.T) {
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
		forbidden := pair{sequitur.Symbol(rapid.IntRange(0, 9).Draw(t, "x")), sequitur.Symbol(rapid.IntRange(0, 9).Draw(t, "y"))}
		p := newPairing(fold(x), fold(y))
		p.equal = func(x, y sequitur.Symbol) bool { return pair{x, y} != forbidden }
		terminals := min(n, period) + rapid.SampledFrom([]int{0, 0, 1}).Draw(t, "unused")
		seconds, followed := p.follow(terminals)
		g, joined := p.join()
		if want := joined && len(p.pairs) == terminals && terminals == min(n, period); followed != want {
			t.Fatalf("followed: %v, want %v", followed, want)
		}
		if !followed {
			return
		}
		for k, s := range seconds {
			if p.pairs[k] != (pair{sequitur.Symbol(k), s}) {
				t.Fatalf("%d comes with %d, not %v", k, s, p.pairs[k])
			}
		}
		if !g.Equal(p.grammars[0]) {
			t.Fatalf("joined to %v, which is not %v", g, p.grammars[0])
		}
	})
}

// TestPairingTime joins loops that are too long to be read.
func TestPairingTime(t *testing.T) {
	var grammars [2]*sequitur.Grammar
	for i := range grammars {
		var b sequitur.Builder
		b.Append(9)
		body := []sequitur.Run{{Symbol: 0, Count: 1}, {Symbol: 1, Count: 3}, {Symbol: sequitur.Symbol(2 - i), Count: 1}, {Symbol: 5, Count: 1}}
		b.AppendLoop(body, 1e15)
		b.Append(9)
		grammars[i] = b.Finish()
	}
	p := newPairing(grammars[0], grammars[1])
	p.equal = func(x, y sequitur.Symbol) bool { return true }
	if g, ok := p.join(); !ok || g.Len() != 6e15+2 || p.steps > 1000 {
		t.Errorf("%v after %d steps: %v", ok, p.steps, g)
	}
	p = newPairing(grammars[0], grammars[1])
	p.equal = func(x, y sequitur.Symbol) bool { return x == y }
	if _, ok := p.join(); ok {
		t.Error("terminals that must not be a pair were joined")
	}
}
