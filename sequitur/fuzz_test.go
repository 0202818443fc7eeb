package sequitur

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/internal/test/streams"
)

// FuzzParse checks that whatever Parse accepts is the one encoding of what it
// returns, that every way of reading it agrees, and that a Builder makes a
// grammar of the same sequence.
func FuzzParse(f *testing.F) {
	for _, in := range [][]Symbol{nil, {1}, cycle(9, 1, 2), cycle(7, 1, 2, 300),
		append(cycle(7, 1, 1, 2), cycle(9, 1, 2)...)} {
		enc, _ := build(in).AppendBinary(nil)
		f.Add(enc)
	}
	f.Add(bomb(5))
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		g, err := Parse(data, Options{MaxLen: 1 << 12, Plain: isCoded(data)})
		var same Grammar
		if e := same.UnmarshalBinary(data); err == nil && (e != nil || !same.Equal(g)) ||
			e != nil && same.Rules() != 0 || isCoded(data) && err == nil {
			t.Fatalf("unmarshalled %v, %v, where Parse has %v, %v", &same, e, g, err)
		}
		if err != nil {
			return
		}
		if enc, err := g.AppendBinary(nil); err != nil || !bytes.Equal(enc, data) {
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

// FuzzUnmarshal checks that whatever UnmarshalBinary accepts in the coded form is what MarshalBinary makes of it, and
// no larger than bytes allow.
func FuzzUnmarshal(f *testing.F) {
	for _, in := range [][]Symbol{streams.Loop(100, 30), append(cycle(40, 1, 2, 300, 1, 1, 1), cycle(9, 2, 1, 3)...),
		streams.NearMiss(500, 20, 7)} {
		enc, _ := build(in).MarshalBinary()
		if !isCoded(enc) {
			f.Fatalf("%v is not coded", in)
		}
		f.Add(enc)
	}
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		var g Grammar
		if err := g.UnmarshalBinary(data); err != nil || !isCoded(data) {
			return
		}
		if enc, err := g.MarshalBinary(); err != nil || !bytes.Equal(enc, data) {
			t.Fatalf("re-encoded differently, %v\nin  %x\nout %x", err, data, enc)
		}
		if plain, _ := g.AppendBinary(nil); g.Symbols() > 16*len(data)+1<<16 || len(plain) <= len(data) {
			t.Fatalf("%d symbols, plain %d bytes, of %d bytes", g.Symbols(), len(plain), len(data))
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
