package mixing

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/sequitur"
)

// FuzzParse checks that what is read of a block is small enough to be read, and that a
// block of it is read as the same: without streams, and with two of them.
func FuzzParse(f *testing.F) {
	a, b := append(cycle(9, 0, 1, 2), 3, 4, 5, 6), append(cycle(8, 0, 1, 6), 3, 4, 5, 6)
	noisy := cycle(6, 0, 1, 2, 3, 4, 5, 6, 0, 2, 4, 6, 1, 3, 5)
	noisy[40], noisy[70] = 6, 6
	plain := Alphabet{Class: []uint32{0, 1, 1, 2, 2, 3, 4}, Variant: []uint32{0, 0, 1, 1, 0, 0, 0},
		Group: []uint32{0, 0, 1, 1, 2}}
	varying := plain
	varying.Streams = [][]int{nil, {0}, {0, 1}, nil, {1}}
	varying.Values = [][]int64{{-3, 0, 8, 16}, {7}}
	for _, members := range [][][]sequitur.Symbol{nil, {nil, nil}, {a}, {a, b, a},
		{b, append(a, a...), nil, cycle(9, 5, 5, 3, 5)}, {noisy}} {
		for _, alphabet := range []Alphabet{plain, varying} {
			var list []Member
			for _, in := range members {
				g := build(in)
				list = append(list, Member{g, alternating(g, alphabet)})
			}
			eachForm(f, list, alphabet, func(block []byte) { f.Add(block, alphabet.Streams != nil) })
		}
	}
	mutate.Fuzz(f, func(t *testing.T, data []byte, streams bool) {
		alphabet := plain
		if streams {
			alphabet = varying
		}
		members, err := parseMixed(data, alphabet)
		if err != nil {
			return
		}
		for _, x := range members {
			g := x.Grammar
			if enc, _ := g.MarshalBinary(); g.Symbols() > 0 && g.Len() < 1<<12 {
				if h, err := sequitur.Parse(enc, sequitur.Options{}); err != nil || !h.Equal(g) {
					t.Fatalf("Parse does not accept\n%s%v", g, err)
				}
			}
		}
		block, ok := one(Append(context.Background(), nil, members, alphabet, math.MaxInt, nil))
		if !ok {
			return // a sequence with more items than may be written
		}
		again, err := parseMixed(block, alphabet)
		if err != nil || len(again) != len(members) {
			t.Fatalf("%d members, not %d: %v", len(again), len(members), err)
		}
		for i := range again {
			if !equalMembers(again[i], members[i]) {
				t.Fatalf("%v, not %v", again[i], members[i])
			}
		}
	})
}

// alternating returns streams with one value of each after the other.
func alternating(g *sequitur.Grammar, a Alphabet) [][]uint32 {
	streams := make([][]uint32, len(a.Values))
	for _, s := range g.AppendSymbols(nil) {
		if a.Streams == nil {
			return nil
		}
		for _, stream := range a.Streams[a.Class[s]] {
			streams[stream] = append(streams[stream], uint32(len(streams[stream])%len(a.Values[stream])))
		}
	}
	return streams
}

// build folds symbols into a grammar.
func build(in []sequitur.Symbol) *sequitur.Grammar {
	var b sequitur.Builder
	for _, s := range in {
		b.Append(s)
	}
	return b.Finish()
}

// cycle repeats symbols n times.
func cycle(n int, in ...sequitur.Symbol) []sequitur.Symbol { return slices.Repeat(in, n) }
