package timing

import (
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/bins"
	"github.com/reprise-trace/reprise/internal/wire"
)

func newEntropyFast(t rapid.TB, epsilon float64) *fastCodec {
	c, err := NewEntropyFast(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return c.(*fastCodec)
}

func TestEntropyFastOptions(t *testing.T) {
	if _, err := NewEntropyFast(0); err == nil {
		t.Error("accepted epsilon 0")
	}
}

func TestEntropyFastMemory(t *testing.T) {
	c := newEntropyFast(t, 0.1)
	fastModels.Get()
	checkMemory(t, c, []byte("\x80\x80\x40\x00\x02\x80\x80\x04"), 1<<20)
	fastModels.Get()
	checkMemory(t, c, []byte("\x05\x00\x01\x80\x80\x04"), 1<<16)
}

// TestEntropyFastBytes checks that blocks are what they always were, on any machine.
func TestEntropyFastBytes(t *testing.T) {
	coarse, fine := newEntropyFast(t, 0.1).NewEncoder(), newEntropyFast(t, 0.001).NewEncoder()
	for i := range 10_000 {
		v := int64(100 + i%11*(i*i%97))
		coarse.Append(uint32(i%5), v)
		fine.Append(uint32(i%5), v<<20)
	}
	block, finer := coarse.AppendBlock(nil), fine.AppendBlock(nil)
	if a, b := wire.Checksum(block), wire.Checksum(finer); a != 0x92f14b9 || b != 0xffc17ce3 {
		t.Errorf("checksums %#x, %#x of %d and %d bytes", a, b, len(block), len(finer))
	}
}

func TestEntropyFastErrors(t *testing.T) {
	c := newEntropyFast(t, 0.1)
	const low = "\x80\x80\x04" // the least state
	for _, tt := range []struct {
		name  string
		data  string
		field string
		off   int64
		want  error
	}{
		{"Empty", "", "values", 0, io.ErrUnexpectedEOF},
		{"NoValues", "\x00\x00", "values", 1, ErrCorrupt},
		{"TooMany", "\xff\xff\xff\x7f", "values", 0, ErrLimit},
		{"NoLeast", "\x02", "least", 1, io.ErrUnexpectedEOF},
		{"Least", "\x02\xff\xff\x03\x01" + low, "least", 1, ErrCorrupt},
		{"NoLevels", "\x02\x02", "levels", 2, io.ErrUnexpectedEOF},
		{"NoNibbles", "\x02\x02\x00" + low, "levels", 2, ErrCorrupt},
		{"Levels", "\x02\x02\x04" + low, "levels", 2, ErrCorrupt},
		{"NoState", "\x02\x02\x01", "state", 3, io.ErrUnexpectedEOF},
		{"StateTooLow", "\x02\x02\x01\xff\xff\x03", "state", 3, ErrCorrupt},
		{"StateTooHigh", "\x02\x02\x01\x80\x80\x80\x80\x80\x80\x40", "state", 3, ErrCorrupt},
		{"NoWords", "\x02\x02\x01" + low + "---", "symbols", 6, ErrCorrupt},
		{"FewWords", "\x02\x02\x01" + low, "symbols", 6, ErrCorrupt},
		{"MoreWords", "\x02\x02\x01" + low + "0123456789ab", "symbols", 6, ErrCorrupt},
		{"Symbol", "\x02\x02\x03\xff\xff\xff\xff\xff\xff\x3f----", "symbols", 10, ErrCorrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := decodeAll(c, []byte(tt.data), []uint32{0, 1})
			checkParseError(t, err, tt.want)
			var e *ParseError
			if errors.As(err, &e); e.Field != tt.field || e.Offset != tt.off {
				t.Errorf("%v, want field %s at offset %d", err, tt.field, tt.off)
			}
		})
	}
}

// fastBlock returns a block of symbols after a least one of 1, as they are coded.
func fastBlock(levels int, code func(m *fastModel), values int) []byte {
	var m fastModel
	m.reset(values, levels, 0, 0)
	code(&m)
	words, state := appendIntervals(nil, m.intervals)
	block := wire.AppendUvarint([]byte{byte(values), 2, byte(levels)}, state)
	for i := len(words) - 1; i >= 0; i-- {
		block = binary.BigEndian.AppendUint32(block, words[i])
	}
	return block
}

// TestEntropyFastNotUnique checks that blocks are rejected that have values which an encoder writes otherwise.
func TestEntropyFastNotUnique(t *testing.T) {
	c := newEntropyFast(t, 0.1)
	symbols := func(list ...uint32) func(m *fastModel) {
		return func(m *fastModel) {
			for _, x := range list {
				m.code(0, x, 0)
			}
		}
	}
	inWindow := func(refuse bool) func(m *fastModel) {
		return func(m *fastModel) {
			for x := range uint32(12) {
				m.code(0, x, 0)
			}
			m.code(0, 40, 0)
			if !refuse {
				m.code(0, 5, 0)
				return
			}
			s := m.begin(0)
			m.mixed(&s.near, nearPrefix|uint64(s.window), 0)
			m.whole(5)
		}
	}
	inPhase := func(phase uint8) func(m *fastModel) {
		return func(m *fastModel) {
			for i := range uint32(40) {
				m.code(0, i%5, phase)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		levels int
		values int
		code   func(m *fastModel)
		ok     bool
	}{
		{"Phase", 1, 40, inPhase(3), true},
		{"PhaseTooHigh", 1, 40, inPhase(3 + bins.Phases), false},
		{"Ints", 1, 2, symbols(0, 7), true},
		{"InWindow", 2, 14, inWindow(false), true},
		{"WindowRefused", 2, 14, inWindow(true), false},
		{"LeastTooLow", 1, 2, symbols(1, 7), false},
		{"LevelsTooHigh", 2, 2, symbols(0, 7), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := decodeAll(c, fastBlock(tt.levels, tt.code, tt.values), make([]uint32, tt.values))
			if tt.ok && err != nil {
				t.Fatal(err)
			}
			if !tt.ok {
				checkParseError(t, err, ErrCorrupt)
			}
		})
	}
}

// TestEntropyFastFineNotUnique checks that fine bits that are more than there are are rejected.
func TestEntropyFastFineNotUnique(t *testing.T) {
	c := newEntropyFast(t, 0.02)
	for _, more := range []uint32{0, 1 << c.fine} {
		w := new(fastModel)
		w.reset(1, 1, int(c.fine), 0)
		w.begin(0).values++
		w.end(w.whole(0))
		prefix := uint64(finePrefix | 1<<20)
		w.mixed(w.find(w.terminal+1, prefix, &evenNibbles[c.fine]), prefix, more)
		words, state := appendIntervals(nil, w.intervals)
		block := wire.AppendUvarint([]byte{1, 2, 1}, state)
		if err := decodeAll(c, block, []uint32{0}); len(words) > 0 || (err == nil) != (more == 0) {
			t.Errorf("%d more: %v", more, err)
		}
	}
}

// TestEntropyFastTooShort checks that a decoder does not go on after the end of the words.
func TestEntropyFastTooShort(t *testing.T) {
	d, err := newEntropyFast(t, 0.1).NewDecoder([]byte("\x80\x80\x40\x02\x02\x80\x80\x04dadebcba"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkParseError(t, d.Decode(make([]int64, 1<<14), make([]uint32, 1<<14)), ErrCorrupt)
}

// TestEntropyFastPhases checks that values that crowd about the ends of bins take fewer bytes than without phases, and
// come back from several.
func TestEntropyFastPhases(t *testing.T) {
	c := newEntropyFast(t, 0.1)
	fixed, chosen := 0, 0
	for shift := range int64(16) {
		e, plain := c.NewEncoder(), &phasedBlock{}
		values, terminals := crowded(4096)
		for i, v := range values {
			values[i] += shift * v / 64
			e.Append(terminals[i], values[i])
		}
		plain.values, plain.terminals, plain.phases = values, terminals, make([]uint8, len(values))
		block := e.AppendBlock(nil)
		fixed, chosen = fixed+len(plain.encode(c)), chosen+len(block)
		b := decodePhases(t, c, block, terminals)
		checkFast(t, c.Guarantee(), b.values, values)
	}
	if 100*chosen > 90*fixed {
		t.Errorf("%d bytes, %d without phases", chosen, fixed)
	}
}

// TestEntropyFastChange checks that the model learns what values follow from where that changes: at first the terminals
// before, then the value before. It has some percent more bits than entropy.
func TestEntropyFastChange(t *testing.T) {
	slow, fast := newEntropy(t, 0.1).NewEncoder(), newEntropyFast(t, 0.1).NewEncoder()
	r := newRandom(1)
	for i := range 20_000 {
		other := r.next() % 8
		before, symbol := uint32(0), other
		if i < 5_000 {
			before, symbol = uint32(i%8), uint64(i%8)
		}
		for _, e := range []Encoder{slow, fast} {
			e.Append(1+before, 100)
			e.Append(9, 100<<other)
			e.Append(0, 100<<symbol)
		}
	}
	if slow, fast := len(slow.AppendBlock(nil)), len(fast.AppendBlock(nil)); 100*fast > 110*slow {
		t.Errorf("%d bytes, entropy %d", fast, slow)
	}
}

// TestFastFind checks that a nibble holds what its own context has learned, or begins as its parent: never what the
// context has learned whose place it took.
func TestFastFind(t *testing.T) {
	m := new(fastModel)
	m.reset(1, 2, 0, 0)
	rapid.Check(t, func(t *rapid.T) {
		clear(m.lines)
		parent := evenNibbles[nibbleBits]
		for range rapid.IntRange(0, 40).Draw(t, "learned") {
			parent.learn(3)
		}
		of := make(map[*nibble]uint64) // the prefix that has it
		for range rapid.IntRange(2, 300).Draw(t, "finds") {
			prefix := rapid.Uint64Range(0, 400).Draw(t, "prefix")
			b := m.find(7, prefix, &parent)
			before, ok := of[b]
			if of[b] = prefix; ok && before == prefix {
				continue
			}
			if b[0]>>16 != parent[0]>>16 || b[1] != parent[1] || b.seen() > 1 {
				t.Fatalf("prefix %d after %d: %x", prefix, before, *b)
			}
			b.learn(12)
		}
	})
}

func BenchmarkEntropyFast(b *testing.B) { benchmarkCodec(b, newEntropyFast(b, 0.1)) }
