package timing

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/adaptive"
)

// crowdedTerminals are terminals whose lines at the root are all in one place of the
// smallest table, and have different tags, so that each takes the place of the one before.
func crowdedTerminals() []uint32 {
	m := new(entropyModel)
	m.reset(1, lowLevels, 0, 0, nil)
	var all []uint32
	tags := make(map[uint16]bool)
	m.find(adaptive.Hash(terminalContext, 0, 0), rootPrefix)
	place := 0
	for m.tags[place] == 0 {
		place++
	}
	for terminal := uint32(0); len(all) < 8; terminal++ {
		clear(m.tags)
		m.find(adaptive.Hash(terminalContext, uint64(terminal), 0), rootPrefix)
		if tag := m.tags[place]; tag != 0 && !tags[tag] {
			tags[tag] = true
			all = append(all, terminal)
		}
	}
	return all
}

// TestEntropyFind checks that a line holds what its own context has learned, or nothing:
// never what the context has learned whose place it took.
func TestEntropyFind(t *testing.T) {
	crowded := crowdedTerminals()
	rapid.Check(t, func(t *rapid.T) {
		m := new(entropyModel)
		m.reset(1, lowLevels, 0, 0, nil)
		last := -1
		for range rapid.IntRange(2, 50).Draw(t, "finds") {
			k := rapid.IntRange(0, len(crowded)-1).Draw(t, "terminal")
			want := line{}
			if k == last {
				want[1] = adaptive.Bit(k + 1)
			}
			l := m.find(adaptive.Hash(terminalContext, uint64(crowded[k]), 0), rootPrefix)
			if *l != want {
				t.Fatalf("terminal %d after %d: %v", k, last, l)
			}
			l[1], last = adaptive.Bit(k+1), k
		}
	})
}

// TestEntropyEvicted checks that symbols of contexts that take each other's place come
// back, also if the table that decodes them has been used by others before.
func TestEntropyEvicted(t *testing.T) {
	crowded := crowdedTerminals()
	rapid.Check(t, func(t *rapid.T) {
		levels := lowLevels * rapid.IntRange(0, 3).Draw(t, "lines")
		n := rapid.IntRange(1, 400).Draw(t, "symbols")
		terminals, symbols := make([]uint32, n), make([]uint32, n)
		for i := range symbols {
			terminals[i] = rapid.SampledFrom(crowded).Draw(t, "terminal")
			symbols[i] = rapid.Uint32Range(0, 1<<(topLevels+levels)-1).Draw(t, "symbol")
		}
		var w, r entropyModel
		w.reset(1, levels, 0, 0, nil)
		w.coder.Write(nil)
		for i, s := range symbols {
			w.code(terminals[i], s, 0)
		}
		number := w.coder.Finish()
		r.lineTable = lineTable{make([]line, maxLines), make([]uint16, maxLines)}
		for i := range r.lines {
			for k := range r.lines[i] {
				r.lines[i][k] = adaptive.Even.Learned(1)
			}
		}
		r.reset(1, levels, 0, 0, nil)
		r.coder.Read(number)
		for i, want := range symbols {
			if got, _ := r.code(terminals[i], 0, 0); got != want {
				t.Fatalf("symbol %d of terminal %d is %d, want %d", i, terminals[i], got, want)
			}
		}
		if r.coder.Ended() || !r.coder.Finished() {
			t.Fatal("the number ends otherwise")
		}
	})
}
