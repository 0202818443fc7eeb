package forest

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/sequitur"
)

// FuzzParse checks that whatever Parse accepts is the one encoding of
// the members it returns.
func FuzzParse(f *testing.F) {
	a, b := append(cycle(9, 0, 1, 2), 3, 4, 5, 6), append(cycle(8, 0, 1, 7), 3, 4, 5, 6)
	for _, members := range [][][]sequitur.Symbol{nil, {nil, nil}, {a}, {a, b, a},
		{b, append(a, a...), nil, cycle(9, 5, 5, 300, 5000)}} {
		var grammars []*sequitur.Grammar
		for _, in := range members {
			grammars = append(grammars, build(in))
		}
		f.Add(New(grammars).AppendShared(nil))
	}
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		s, err := Parse(data, Options{MaxLen: 1 << 12, MaxSymbols: 1 << 12})
		if err != nil {
			return
		}
		if again := New(s.members).AppendShared(nil); !bytes.Equal(again, data) {
			t.Fatalf("re-encoded differently\nin  %x\nout %x", data, again)
		}
		for _, g := range s.members {
			checkParsed(t, g)
		}
	})
}

// FuzzParseMember does the same for members beside a shared piece.
func FuzzParseMember(f *testing.F) {
	first := build(append(cycle(9, 0, 1, 2), 3, 4, 5, 6))
	most := 10
	forest := func(g *sequitur.Grammar) *Forest { return newForest([]*sequitur.Grammar{first, g}, most) }
	s, err := parseShared(forest(first).AppendShared(nil), most)
	if err != nil {
		f.Fatal(err)
	}
	s.options = Options{MaxLen: 1 << 12, MaxSymbols: 1 << 12}
	for _, in := range [][]sequitur.Symbol{nil, {0}, cycle(9, 0, 1, 2), append(cycle(8, 0, 1, 7), 3, 4, 5, 6),
		cycle(9, 5, 5, 300, 5000)} {
		f.Add(forest(build(in)).AppendMember(nil, 1))
	}
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		g, err := s.ParseMember(data, 1)
		if err != nil {
			return
		}
		if again := forest(g).AppendMember(nil, 1); !bytes.Equal(again, data) {
			t.Fatalf("re-encoded differently\nin  %x\nout %x", data, again)
		}
		checkParsed(t, g)
	})
}

// checkParsed checks that g is a grammar that Parse accepts.
func checkParsed(t *testing.T, g *sequitur.Grammar) {
	enc, _ := g.MarshalBinary()
	if h, err := sequitur.Parse(enc, sequitur.Options{}); err != nil || !h.Equal(g) {
		t.Fatalf("Parse does not accept\n%s%v", g, err)
	}
	if uint64(len(expand(t, g))) != g.Len() {
		t.Fatalf("Len = %d, which is not the length", g.Len())
	}
}

// FuzzForest gives the property in forest_test.go to the fuzzer.
func FuzzForest(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testForest)) }
