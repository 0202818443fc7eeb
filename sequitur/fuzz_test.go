package sequitur

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/mutate"
)

// FuzzParse checks that whatever Parse accepts is the one encoding of what it
// returns, that every way of reading it agrees, and that a Builder makes a
// grammar of the same sequence.
func FuzzParse(f *testing.F) {
	for _, in := range [][]Symbol{nil, {1}, cycle(9, 1, 2), cycle(7, 1, 2, 300), append(cycle(7, 1, 1, 2), cycle(9, 1, 2)...)} {
		enc, _ := build(in).MarshalBinary()
		f.Add(enc)
	}
	f.Add(bomb(5))
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		g, err := Parse(data, Options{MaxLen: 1 << 12})
		var same Grammar
		if e := same.UnmarshalBinary(data); err == nil && (e != nil || !same.Equal(g)) || e != nil && same.Rules() != 0 {
			t.Fatalf("unmarshalled %v, %v, where Parse has %v, %v", &same, e, g, err)
		}
		if err != nil {
			return
		}
		if enc, err := g.MarshalBinary(); err != nil || !bytes.Equal(enc, data) {
			t.Fatalf("re-encoded differently, %v\nin  %x\nout %x", err, data, enc)
		}
		in := expand(t, g)
		var n uint64
		for range g.Occurrences() {
			n++
		}
		for at, r := range g.runsFrom(g.Len() / 2) {
			if in[at] != r.Symbol || g.At(at) != r.Symbol || g.At(at+r.Count-1) != r.Symbol {
				t.Fatalf("run of %d at %d, but %d there", r.Symbol, at, in[at])
			}
		}
		if len(g.String()) == 0 || n > g.Len() {
			t.Fatal("no text, or too many terminals")
		}
		if again := build(in); !slices.Equal(expand(t, again), in) {
			t.Fatalf("built a different sequence of %v", in)
		}
	})
}

// FuzzBuilder gives sequences to the coverage-guided fuzzer, a symbol a byte.
func FuzzBuilder(f *testing.F) {
	f.Add([]byte("abcabcabdabcabcabd"))
	f.Add([]byte("aabaaabaabaaab"))
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		var (
			b  Builder
			in []Symbol
		)
		for _, c := range data[:min(len(data), 1<<12)] {
			in = append(in, Symbol(c%8))
			b.Append(Symbol(c % 8))
		}
		g := b.Finish()
		if out := expand(t, g); !slices.Equal(out, in) {
			t.Fatalf("expansion = %v, want %v", out, in)
		}
		checkInvariants(t, g)
	})
}

// FuzzRoundTrip gives the property in decode_test.go to the fuzzer.
func FuzzRoundTrip(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testRoundTrip)) }

// FuzzParseShared checks that whatever ParseShared accepts is the one encoding of
// the members it returns.
func FuzzParseShared(f *testing.F) {
	a, b := append(cycle(9, 0, 1, 2), 3, 4, 5, 6), append(cycle(8, 0, 1, 7), 3, 4, 5, 6)
	for _, members := range [][][]Symbol{nil, {nil, nil}, {a}, {a, b, a}, {b, append(a, a...), nil, cycle(9, 5, 5, 300, 5000)}} {
		var grammars []*Grammar
		for _, in := range members {
			grammars = append(grammars, build(in))
		}
		f.Add(NewForest(grammars).AppendShared(nil))
	}
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		s, err := ParseShared(data, Options{MaxLen: 1 << 12, MaxSymbols: 1 << 12})
		if err != nil {
			return
		}
		if again := NewForest(s.members).AppendShared(nil); !bytes.Equal(again, data) {
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
	forest := func(g *Grammar) *Forest { return newForest([]*Grammar{first, g}, most) }
	s, err := parseShared(forest(first).AppendShared(nil), most)
	if err != nil {
		f.Fatal(err)
	}
	s.options = Options{MaxLen: 1 << 12, MaxSymbols: 1 << 12}
	for _, in := range [][]Symbol{nil, {0}, cycle(9, 0, 1, 2), append(cycle(8, 0, 1, 7), 3, 4, 5, 6), cycle(9, 5, 5, 300, 5000)} {
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
func checkParsed(t *testing.T, g *Grammar) {
	enc, _ := g.MarshalBinary()
	if h, err := Parse(enc, Options{}); err != nil || !h.Equal(g) {
		t.Fatalf("Parse does not accept\n%s%v", g, err)
	}
	if uint64(len(expand(t, g))) != g.Len() {
		t.Fatalf("Len = %d, which is not the length", g.Len())
	}
}

// FuzzForest gives the property in forest_test.go to the fuzzer.
func FuzzForest(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testForest)) }
