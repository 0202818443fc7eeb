package sequitur

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/adaptive"
	"github.com/reprise-trace/reprise/internal/test/streams"
	"github.com/reprise-trace/reprise/internal/wire"
)

func isCoded(data []byte) bool { return len(data) > 1 && data[0] == codedMark }

// zstdBest returns what the best level of zstd makes of symbols below 2¹⁶, in as few bytes each as they need.
func zstdBest(t *testing.T, in []Symbol) int {
	small := true
	for _, s := range in {
		small = small && s < 1<<8
	}
	var raw []byte
	for _, s := range in {
		if raw = append(raw, byte(s)); !small {
			raw = append(raw, byte(s>>8))
		}
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		t.Fatal(err)
	}
	return len(e.EncodeAll(raw, nil))
}

// TestNoisyLoops holds the size of loops with noise against the best level of zstd, which was smaller than the plain
// form of most.
func TestNoisyLoops(t *testing.T) {
	inputs := make(map[string][]Symbol)
	for _, st := range streams.All {
		switch st.Name {
		case "NearMissStart", "NearMissMiddle", "NearMissEnd", "RandomBranch", "StencilWaitany":
			inputs[st.Name] = st.Gen(420_000)
		}
	}
	for name, in := range inputs {
		g := build(in)
		enc, _ := g.MarshalBinary()
		var got Grammar
		if err := got.UnmarshalBinary(enc); err != nil || !got.Equal(g) {
			t.Fatalf("%s: read back otherwise, %v", name, err)
		}
		plain, _ := g.AppendBinary(nil)
		best := zstdBest(t, in)
		t.Logf("%s: %d bytes, plain %d, zstd %d", name, len(enc), len(plain), best)
		if len(enc) > best {
			t.Errorf("%s: %d bytes, zstd %d", name, len(enc), best)
		}
	}
}

// TestCodedGrammars checks the coded form of grammars from anywhere: a form is there for all of a Builder.
func TestCodedGrammars(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := programGen.Draw(t, "in")
		for i := range in {
			in[i] = in[i] * Symbol(rapid.SampledFrom([]uint32{1, 1, 1, 1 << 20}).Draw(t, "factor")) & MaxSymbol
		}
		g := build(in)
		enc := g.coded()
		if enc == nil && len(in) > 0 {
			t.Fatalf("no coded form of %s", g)
		}
		if n := g.Len(); rapid.Bool().Draw(t, "cut") && n > 0 {
			from := rapid.Uint64Range(0, n).Draw(t, "from")
			cut, err := g.Cut([2]uint64{from, n})
			if err != nil {
				t.Fatal(err)
			}
			g = cut
		}
		enc, _ = g.MarshalBinary()
		var got Grammar
		if err := got.UnmarshalBinary(enc); err != nil || !got.Equal(g) {
			t.Fatalf("read %s, %v, want %s", &got, err, g)
		}
		if again, _ := g.MarshalBinary(); !bytes.Equal(again, enc) {
			t.Fatal("written otherwise the second time")
		}
	})
}

// TestCodedCut checks that no beginning of a coded grammar is taken for another one, but for the first byte, which is
// the empty grammar. Without its last byte, the code of the first of these is that of a grammar.
func TestCodedCut(t *testing.T) {
	for _, in := range [][]Symbol{{0, 1, 2, 0, 1, 0}, streams.NearMiss(1000, 20, 7)} {
		enc := build(in).coded()
		for n := 2; n < len(enc); n++ {
			var g Grammar
			if err := g.UnmarshalBinary(enc[:n]); err == nil {
				t.Errorf("%d of %d bytes are taken for %v", n, len(enc), &g)
			}
		}
	}
}

// TestCodedErrors checks bytes that are not what is written.
func TestCodedErrors(t *testing.T) {
	enc := build(streams.NearMiss(1000, 20, 7)).coded()
	unordered, err := FromRules([][]Term{ // rule 1 is used before rule 0
		{{Symbol: 1, Rule: -1, Count: 1}, {Symbol: 2, Rule: -1, Count: 1}},
		{{Symbol: 3, Rule: -1, Count: 1}, {Symbol: 4, Rule: -1, Count: 1}},
		{{Rule: 1, Count: 2}, {Rule: 0, Count: 2}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if data := unordered.coded(); data != nil {
		t.Errorf("rules in another order are coded as %x", data)
	}
	bodies := [][]Term{{{Symbol: 1, Rule: -1, Count: 1}, {Symbol: 2, Rule: -1, Count: 1}}}
	for i := range maxBegun + 1 { // rules that begin with one another
		bodies = append(bodies, []Term{{Rule: i, Count: 1}, {Symbol: 3, Rule: -1, Count: 1}})
	}
	deep, err := FromRules(append(bodies, []Term{{Rule: maxBegun + 1, Count: 2}, {Symbol: 4, Rule: -1, Count: 1}}))
	if err != nil {
		t.Fatal(err)
	}
	if data := deep.coded(); data != nil {
		t.Errorf("%d rules that begin with one another are coded", maxBegun+2)
	}
	many := wire.AppendUvarint(wire.AppendUvarint([]byte{codedMark}, 1<<20), 2)
	for _, tt := range []struct {
		name string
		data []byte
		want error
	}{
		{"Nothing", []byte{codedMark, 0}, ErrCorrupt},
		{"Cut", enc[:2], io.ErrUnexpectedEOF},
		{"NoTerminals", []byte{codedMark, 2, 0}, ErrCorrupt},
		{"ManyTerminals", []byte{codedMark, 2, 3}, ErrCorrupt},
		{"ManySymbols", append(many, make([]byte, 1000)...), ErrLimit},
		{"Trailing", append(bytes.Clone(enc), 1), ErrCorrupt},
		{"MoreSymbols", append([]byte{codedMark, enc[1] + 1}, enc[2:]...), ErrCorrupt},
		{"Larger", build([]Symbol{1}).coded(), ErrCorrupt}, // than the plain form
	} {
		var g Grammar
		err := g.UnmarshalBinary(tt.data)
		var pe *ParseError
		if !errors.As(err, &pe) || !errors.Is(err, tt.want) || g.Rules() > 0 {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	for bit := range len(enc) * 8 {
		bad := bytes.Clone(enc)
		bad[bit/8] ^= 1 << (bit % 8)
		var g Grammar
		if err := g.UnmarshalBinary(bad); err == nil && isCoded(bad) {
			if again, _ := g.MarshalBinary(); !bytes.Equal(again, bad) {
				t.Errorf("change of bit %d: re-encoded %x as %x", bit, bad, again)
			}
		}
	}
}

// TestCodedMemory checks that a few bytes take little memory, whatever they say.
func TestCodedMemory(t *testing.T) {
	for _, rest := range []string{strings.Repeat("\x00", 100), strings.Repeat("\xff", 100), "1152921504606846976"} {
		data := append(wire.AppendUvarint(wire.AppendUvarint([]byte{codedMark}, 1<<16), 1<<15), rest...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		new(Grammar).UnmarshalBinary(data)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 32<<20 {
			t.Errorf("%d bytes took %d bytes of memory", len(data), got)
		}
	}
}

// TestCodedDistance checks that how far a new terminal is from the one before is written in one way only: 33 places
// would have two for distances below 0.
func TestCodedDistance(t *testing.T) {
	const first, second = 5, 3
	for _, v := range []uint64{5, 2 * (1<<32 - 3)} { // −3 as it is written, and as 2³²−3
		w, r := newModel(2, 2), newModel(2, 2)
		w.Write(nil)
		w.firstTerminal(first)
		w.in(0, 0, adaptive.Hash(1, 0, 0), adaptive.Hash(2, 0, 0), 0)
		w.bit(terminal, 1, 1, 1)
		w.in(0)
		w.number(fresh, 33, v+1)
		r.Read(w.Finish())
		r.firstTerminal(0)
		got := r.firstTerminal(0)
		if v == 5 && (r.bad || got != second) || v != 5 && !r.bad {
			t.Errorf("distance %d: terminal %d, bad: %v", v, got, r.bad)
		}
	}
}

// TestCodedWork checks that few bytes are not read for long. Of rules of which each begins with another, 60,000 symbols
// took 44 bytes and a second.
func TestCodedWork(t *testing.T) {
	const depth = 250
	bodies := [][]Term{{{Symbol: 1, Rule: -1, Count: 1}, {Symbol: 2, Rule: -1, Count: 1}}}
	for i := range depth {
		bodies = append(bodies, []Term{{Rule: i, Count: 1}, {Symbol: 3, Rule: -1, Count: 1}})
	}
	for _, tt := range []struct {
		rounds int
		coded  bool
	}{{20, true}, {1000, false}} {
		var start []Term
		for range tt.rounds {
			start = append(start, Term{Rule: depth, Count: 1}, Term{Symbol: 4, Rule: -1, Count: 1})
		}
		g, err := FromRules(append(slices.Clip(bodies), start))
		if err != nil {
			t.Fatal(err)
		}
		enc := g.coded()
		if coded := enc != nil; coded != tt.coded {
			t.Fatalf("%d rounds: coded: %v", tt.rounds, coded)
		}
		all, _ := g.MarshalBinary()
		var got Grammar
		if err := got.UnmarshalBinary(all); err != nil || !got.Equal(g) {
			t.Errorf("%d rounds: read otherwise, %v", tt.rounds, err)
		}
	}
	m := newModel(10, 2)
	m.Read(nil)
	for range bitsPerSymbol*10 + fewBits {
		m.in(0)
		m.flag(fresh, 1, false)
	}
	if m.bad {
		t.Fatal("fewer bits than may be are refused")
	}
	if m.in(0); m.flag(fresh, 1, false) || !m.bad {
		t.Error("a reader goes on")
	}
}
