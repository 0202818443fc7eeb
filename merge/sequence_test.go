package merge

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// drawLoops returns symbols in loops, some of them inside others, some longer than is written out at once.
func drawLoops(t *rapid.T, depth int) []sequitur.Symbol {
	var list []sequitur.Symbol
	for range rapid.IntRange(1, 4).Draw(t, "parts") {
		begin := len(list)
		if depth > 0 && rapid.Bool().Draw(t, "nested") {
			list = append(list, drawLoops(t, depth-1)...)
		} else {
			for range rapid.IntRange(1, 5).Draw(t, "length") {
				list = append(list, sequitur.Symbol(rapid.IntRange(0, 3).Draw(t, "symbol")))
			}
		}
		list = repeat(list, begin, rapid.SampledFrom([]uint64{1, 1, 2, 5, 30, 100}).Draw(t, "times"))
		if len(list) > 5000 {
			return list[:5000]
		}
	}
	return list
}

// all returns the symbols of s.
func (s *sequence) all() []sequitur.Symbol {
	var list []sequitur.Symbol
	body := s.symbols
	for _, l := range s.loops {
		for i := range l.length {
			list = append(list, body[i%uint64(l.period)])
		}
		body = body[l.period:]
	}
	return list
}

// TestSequence compares the sequence of a grammar with the symbols that it was made of, and the sequences of
// two grammars in the loops that both have with those.
func TestSequence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := drawLoops(t, 3), drawLoops(t, 3)
		n := min(len(x), len(y))
		x, y = x[:n], y[:n]
		if rapid.Bool().Draw(t, "alike") {
			y = slices.Clone(x)
			for range rapid.IntRange(0, 3).Draw(t, "others") {
				y[rapid.IntRange(0, n-1).Draw(t, "at")] = 9
			}
		}
		first, ok := sequenceOf(fold(x))
		second, also := sequenceOf(fold(y))
		if !ok || !also || !slices.Equal(first.all(), x) || !slices.Equal(second.all(), y) {
			t.Fatalf("%v of\n%v, %v of\n%v", first, x, second, y)
		}
		if first.len() != uint64(n) || !first.grammar().Equal(fold(x)) {
			t.Fatalf("%d symbols and %v, not those of %v", first.len(), first.grammar(), x)
		}
		loops, ok := commonLoops(first.loops, second.loops)
		if !ok {
			t.Fatalf("%v and %v have no loops in common", first.loops, second.loops)
		}
		if a, b := first.reshape(loops), second.reshape(loops); !slices.Equal(a.all(), x) || !slices.Equal(b.all(), y) {
			t.Fatalf("%v in %v of\n%v, or of\n%v", a, loops, x, y)
		}
	})
}

// TestSequenceLoops checks that a loop is found from where it begins to where it ends, wherever its body
// begins in the grammar, also if there are loops in it.
func TestSequenceLoops(t *testing.T) {
	body := []sequitur.Symbol{1, 2, 3}
	body = repeat(append(body, 4, 5), 3, 40)
	body = append(repeat(append(body, 6, 7, 8, 9), len(body)+1, 70), 10)
	for shift := range len(body) {
		want := sequence{loops: []loop{{period: len(body), length: 20*uint64(len(body)) - uint64(shift)}}}
		want.symbols = append(slices.Clone(body[shift:]), body[:shift]...)
		got, ok := sequenceOf(fold(want.all()))
		if !ok || !slices.Equal(got.loops, want.loops) || !slices.Equal(got.symbols, want.symbols) {
			t.Fatalf("from %d on: loops %v, want %v", shift, got.loops, want.loops)
		}
	}
}

// TestSequenceLong checks that loops of any length are one, and that what does not repeat is written out.
func TestSequenceLong(t *testing.T) {
	tier.SlowRace(t)
	var b sequitur.Builder
	b.AppendRun(1, 1e15)
	b.AppendLoop([]sequitur.Run{{Symbol: 2, Count: 1e9}, {Symbol: 3, Count: 1}}, 50)
	s, ok := sequenceOf(b.Finish())
	if !ok || s.len() != 1e15+50*(1e9+1) || len(s.symbols) > 200 {
		t.Errorf("%v: %d symbols of %d", ok, len(s.symbols), s.len())
	}
	b = sequitur.Builder{}
	for i := range 1 << 20 {
		b.Append(sequitur.Symbol(i))
	}
	if s, ok := sequenceOf(b.Finish()); !ok || len(s.symbols) != 1<<20 {
		t.Errorf("%v: %d symbols", ok, len(s.symbols))
	}
	list := repeat([]sequitur.Symbol{1, 2, 3}, 0, 1<<15)
	list = append(list, 4)
	if s, ok := sequenceOf(fold(repeat(list, 0, 3))); !ok || len(s.loops) > 1 ||
		!slices.Equal(s.all(), repeat(slices.Clone(list), 0, 3)) {
		t.Errorf("%v: %v", ok, s.loops)
	}
}

// TestSequenceForged checks that grammars that no Builder makes take no more time, memory and stack than is
// allowed: of rules that go on with a loop again and again, of very many loops, of very many rules inside one
// another, and of many symbols that a loop goes on with.
func TestSequenceForged(t *testing.T) {
	tier.SlowRace(t)
	const rule, counted = 2, 1 // flags
	repeated := func(dst []byte, back byte, n uint64) []byte {
		return wire.AppendUvarint(append(dst, back<<2|rule|counted), n-2)
	}
	goesOn := append(wire.AppendUvarint(nil, 3), 2, 0<<2, 1<<2)
	goesOn = wire.AppendUvarint(goesOn, 200)
	for i := range byte(200) {
		goesOn = append(goesOn, i%2<<2)
	}
	goesOn = repeated(repeated(append(goesOn, 2), 1, 1e5), 0, 1e12)

	loops := append(wire.AppendUvarint(nil, 2), 2, 0<<2|counted)
	loops = append(wire.AppendUvarint(loops, maxPeriod), 1<<2)
	loops = repeated(append(loops, 1), 0, 1e7)

	const half = 1 << 19
	// two halves of a body, the body, twenty of them, and the body twice before many times these
	absorbed := wire.AppendUvarint(nil, 5)
	for last := range byte(2) {
		absorbed = wire.AppendUvarint(absorbed, half)
		for i := range uint32(half) {
			last = (last + 1 + byte(i*i>>9&1)) % 3
			absorbed = append(absorbed, last<<2)
		}
	}
	absorbed = append(absorbed, 2, 1<<2|rule, 0<<2|rule, 40)
	for range 20 {
		absorbed = append(absorbed, 2<<2|rule, 1<<2|rule)
	}
	absorbed = repeated(repeated(append(absorbed, 2), 1, 2), 0, 1e9)

	const depth = 1 << 20
	deep := append(wire.AppendUvarint(nil, depth), 2, 0<<2, 1<<2)
	for i := 1; i < depth; i++ {
		deep = append(deep, 2, 0<<2|rule, byte(i%2)<<2)
	}
	for name, data := range map[string][]byte{"goes on": goesOn, "loops": loops, "deep": deep, "absorbed": absorbed} {
		g, err := sequitur.Parse(data, sequitur.Options{MaxLen: 1 << 62})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s, ok := sequenceOf(g)
		if ok != (name == "goes on") {
			t.Errorf("%s: %d loops of %d symbols", name, len(s.loops), len(s.symbols))
		}
		if len(s.symbols) > 2*maxWritten || len(s.loops) > 2*maxLoops {
			t.Errorf("%s: %d loops of %d symbols", name, len(s.loops), len(s.symbols))
		}
	}
}
