package sums

import (
	"github.com/reprise-trace/reprise/internal/fingerprint"
	"github.com/reprise-trace/reprise/sequitur"
)

// CommonPrefix returns how many symbols the sequences of g and h have in common from
// the beginning, before the first in which they differ or one of them ends. Symbols of h
// are compared as what to makes of them, which is called once for each terminal on a
// right-hand side; nil leaves them as they are.
//
// Rules are compared by fingerprints, so that it takes time in proportion to the two
// grammars, whatever they generate, and O(log length · depth · log symbols of a rule)
// steps more if they differ. What is equal is found equal. Two sequences of n symbols
// that are not are taken for equal with a probability below n²/2¹²⁰, whoever chose them:
// the fingerprints are drawn anew for each program that runs.
func CommonPrefix(g, h *sequitur.Grammar, to func(sequitur.Symbol) sequitur.Symbol) uint64 {
	same := func(s sequitur.Symbol) sequitur.Symbol { return s }
	if to == nil {
		to = same
	}
	p := printsOf(g, same)
	q := printsOf(h, to)
	n := min(g.Len(), h.Len())
	differ := func(length uint64) bool { return p.Before(length).Value != q.Before(length).Value }
	if !differ(n) {
		return n
	}
	low, high := uint64(0), n-1 // the prefix has at least low symbols, and at most high
	for low < high {
		if middle := low + (high-low+1)/2; differ(middle) {
			high = middle - 1
		} else {
			low = middle
		}
	}
	return low
}

// printsOf returns the fingerprints of a sequence.
func printsOf(g *sequitur.Grammar, to func(sequitur.Symbol) sequitur.Symbol) *Sum[fingerprint.Print] {
	return New(Of(g), fingerprint.Monoid{}, func(s sequitur.Symbol) Weighed[fingerprint.Print] {
		return Weighed[fingerprint.Print]{Value: fingerprint.Of(uint64(to(s)))}
	})
}
