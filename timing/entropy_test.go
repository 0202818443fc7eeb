package timing

import (
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/wire"
)

func newEntropy(t rapid.TB, epsilon float64) *entropyCodec {
	c, err := NewEntropy(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return c.(*entropyCodec)
}

func TestEntropyOptions(t *testing.T) {
	if _, err := NewEntropy(0); err == nil {
		t.Error("accepted epsilon 0")
	}
}

func TestEntropyMemory(t *testing.T) {
	c := newEntropy(t, 0.1)
	checkMemory(t, c, []byte("\x80\x80\x40\x00\x06\x00"), 1<<21)
	checkMemory(t, c, []byte("\x05\x00\x00\x00"), 1<<16)
}

// TestEntropyBytes checks that blocks are what they always were, on any machine.
func TestEntropyBytes(t *testing.T) {
	coarse, fine := newEntropy(t, 0.1).NewEncoder(), newEntropy(t, 0.001).NewEncoder()
	for i := range 10_000 {
		v := int64(100 + i%11*(i*i%97))
		coarse.Append(uint32(i%5), v)
		fine.Append(uint32(i%5), v<<20)
	}
	block, finer := coarse.AppendBlock(nil), fine.AppendBlock(nil)
	if a, b := wire.Checksum(block), wire.Checksum(finer); a != 0x7e877b2c || b != 0x3241284c {
		t.Errorf("checksums %#x, %#x of %d and %d bytes", a, b, len(block), len(finer))
	}
}

func TestEntropyErrors(t *testing.T) {
	c := newEntropy(t, 0.1)
	decode := func(data string) error { return decodeAll(c, []byte(data), []uint32{0, 1}) }
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
		{"Least", "\x02\xff\xff\x03\x00", "least", 1, ErrCorrupt},
		{"NoLow", "\x02\x02", "low", 2, io.ErrUnexpectedEOF},
		{"Low", "\x02\x02\x07", "low", 2, ErrCorrupt},
		{"NoLength", "\x02\x02\x00", "symbols", 3, io.ErrUnexpectedEOF},
		{"Length", "\x02\x02\x00\x02-", "symbols", 3, ErrCorrupt},
		{"MoreBytes", "\x02\x02\x00\x01--", "symbols", 5, ErrCorrupt},
		{"NoSymbols", "\x02\x02\x00\x00", "symbols", 4, ErrCorrupt},
		{"Symbol", "\x02\x02\x06\x00", "symbols", 4, ErrCorrupt},
		{"TooLong", "\x02\x02\x00\x0a" + "0123456789", "symbols", 4, ErrCorrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := decode(tt.data)
			checkParseError(t, err, tt.want)
			var e *ParseError
			if errors.As(err, &e); e.Field != tt.field || e.Offset != tt.off {
				t.Errorf("%v, want field %s at offset %d", err, tt.field, tt.off)
			}
		})
	}
}

// entropyBlock returns a block of symbols, as they are coded, after a header.
func entropyBlock(header string, low int, symbols ...uint32) []byte {
	var m entropyModel
	m.reset(len(symbols), low*lowLevels, 0, 0, nil)
	m.coder.Write(nil)
	for _, x := range symbols {
		m.code(0, x, 0)
	}
	return appendNumber([]byte(header), m.coder.Finish())
}

func appendNumber(dst, number []byte) []byte {
	return append(append(dst, byte(len(number))), number...)
}

// TestEntropyNotUnique checks that blocks are rejected that have values which an
// encoder writes otherwise.
func TestEntropyNotUnique(t *testing.T) {
	c := newEntropy(t, 0.1)

	// A guess that is right, but refused.
	var m entropyModel
	var symbols [firmHits + 2]uint32
	m.reset(len(symbols), 0, 0, 0, nil)
	m.coder.Write(nil)
	for _, x := range symbols[1:] {
		m.code(0, x, 0)
	}
	m.begin(0)
	m.enter(1 << topLevels)
	m.walk(0, 0, 1, guessLevel)
	m.enter(missPrefix)
	m.walk(1, 0, topLevels, 0)
	refused := appendNumber([]byte{byte(len(symbols)), 2, 0}, m.coder.Finish())

	for _, tt := range []struct {
		name  string
		block []byte
		ok    bool
	}{
		{"Ints", entropyBlock("\x02\x02\x00", 0, 0, 7), true},
		{"GuessRefused", refused, false},
		{"LeastTooLow", entropyBlock("\x02\x02\x00", 0, 1, 7), false},
		{"LowTooHigh", entropyBlock("\x02\x02\x01", 1, 0, 7), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := decodeAll(c, tt.block, make([]uint32, tt.block[0]))
			if tt.ok && err != nil {
				t.Fatal(err)
			}
			if !tt.ok {
				checkParseError(t, err, ErrCorrupt)
			}
		})
	}
}

// TestEntropyNumberTooShort checks that a decoder does not go on for long after
// the end of the number.
func TestEntropyNumberTooShort(t *testing.T) {
	block := []byte("\x80\x80\x40\x02\x01\x10dadebcbdaeccfbac")
	d, err := newEntropy(t, 0.1).NewDecoder(block, Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkParseError(t, d.Decode(make([]int64, 1<<14), make([]uint32, 1<<14)), ErrCorrupt)
}

func decodeAll(c Codec, block []byte, terminals []uint32) error {
	d, err := c.NewDecoder(block, Options{})
	if err != nil {
		return err
	}
	return d.Decode(make([]int64, len(terminals)), terminals)
}

func BenchmarkEntropy(b *testing.B) { benchmarkCodec(b, newEntropy(b, 0.1)) }
