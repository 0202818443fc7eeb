package timing

import (
	"errors"
	"io"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func newEntropy[V Value](t rapid.TB, epsilon float64) *Entropy[V] {
	c, err := NewEntropy[V](epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEntropy(t *testing.T) {
	for _, epsilon := range []float64{MinEpsilon, 0.001, 0.1, MaxEpsilon} {
		i, f := newEntropy[int64](t, epsilon), newEntropy[float64](t, epsilon)
		t.Run(i.Name()+"/int64", rapid.MakeCheck(func(t *rapid.T) { testCodec(t, i) }))
		t.Run(i.Name()+"/float64", rapid.MakeCheck(func(t *rapid.T) { testCodec(t, f) }))
	}
	if _, err := NewEntropy[int64](0); err == nil {
		t.Error("accepted epsilon 0")
	}
}

func TestEntropyDamaged(t *testing.T) {
	checkDamaged(t, newEntropy[int64](t, 0.1), exampleCalls[int64]())
	checkDamaged(t, newEntropy[float64](t, 0.1), exampleCalls[float64]())
}

func TestEntropyMemory(t *testing.T) {
	c := newEntropy[int64](t, 0.1)
	checkMemory(t, c, []byte("\x80\x80\x40\x00\x06\x00"), 1<<21)
	checkMemory(t, c, []byte("\x05\x00\x00\x00"), 1<<16)
}

// TestTables checks the tables against the functions they hold.
func TestTables(t *testing.T) {
	for x := -maxLogit; x <= maxLogit; x++ {
		want := 65536 / (1 + math.Exp(-float64(x)/256))
		if got := squash(int64(x)); math.Abs(float64(got)-want) > 1 {
			t.Fatalf("squash(%d) = %d, want %.2f", x, got, want)
		}
	}
	if squash(1<<40) != 65535 || squash(-1<<40) != 1 { // e⁻¹¹ is 1.1/65536
		t.Error("squash is not limited")
	}
	for i, got := range stretchTable {
		p := (float64(i) + 0.5) / 4096
		want := 256 * math.Log(p/(1-p))
		// A unit of the squashed probability is so many logits.
		if slack := 1 + 256/(65536*p*(1-p)); math.Abs(float64(got)-want) > slack {
			t.Fatalf("logit of %v = %d, want %.2f", p, got, want)
		}
	}
}

// TestRangeCoder checks bits of any probabilities, and above all carries, which
// take probabilities near 0 and 1.
func TestRangeCoder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type event struct{ bit, p uint32 }
		events := rapid.SliceOf(rapid.Custom(func(t *rapid.T) event {
			p := rapid.OneOf(rapid.Uint32Range(1, 65535), rapid.SampledFrom([]uint32{1, 2, 32768, 65534, 65535}))
			return event{rapid.Uint32Range(0, 1).Draw(t, "bit"), p.Draw(t, "p")}
		})).Draw(t, "events")
		prefix := rapid.SliceOf(rapid.Byte()).Draw(t, "prefix")
		var w, r rangeCoder
		w.write(append([]byte(nil), prefix...))
		for _, e := range events {
			w.code(e.bit, e.p)
		}
		out := w.finish()
		if string(out[:len(prefix)]) != string(prefix) {
			t.Fatalf("%x does not begin with %x", out, prefix)
		}
		r.read(out[len(prefix):])
		for i, e := range events {
			if got := r.code(0, e.p); got != e.bit {
				t.Fatalf("bit %d = %d", i, got)
			}
		}
		if r.ended() || !r.finished() {
			t.Fatalf("%x is not as it should end", out)
		}
		if r.read(append(out[len(prefix):], 0)); len(events) == 0 && r.finished() {
			t.Fatal("accepted a byte that is not needed")
		}
	})
}

// TestRoundest compares with a search.
func TestRoundest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(math.MaxUint64-300, math.MaxUint64), rapid.Uint64Range(0, 300)).Draw(t, "low")
		size := rapid.Uint64Range(0, 300).Draw(t, "size")
		best, carry := low, false
		zeros := func(n uint64) uint64 { return n &^ (n - 1) } // the lowest one
		for k := uint64(1); k <= size && best != 0; k++ {
			if n := low + k; n == 0 || zeros(n) > zeros(best) {
				best, carry = n, n < low
			}
		}
		if got, c := roundest(low, size); got != best || c != carry {
			t.Fatalf("roundest(%x, %d) = %x, %v, want %x, %v", low, size, got, c, best, carry)
		}
	})
}

func TestEntropyErrors(t *testing.T) {
	c, f := newEntropy[int64](t, 0.1), newEntropy[float64](t, 0.1)
	decode := func(data string) error { return decodeTwo(c, data) }
	decodeFloat := func(data string) error { return decodeTwo(f, data) }
	const nan = "\x01\x00\x00\x00\x00\x00\xf8\x7f"
	for _, tt := range []struct {
		name   string
		decode func(string) error
		data   string
		field  string
		off    int64
		want   error
	}{
		{"Empty", decode, "", "values", 0, io.ErrUnexpectedEOF},
		{"NoValues", decode, "\x00\x00", "values", 1, ErrCorrupt},
		{"TooMany", decode, "\xff\xff\xff\x7f", "values", 0, ErrLimit},
		{"NoLeast", decode, "\x02", "least", 1, io.ErrUnexpectedEOF},
		{"Least", decode, "\x02\xff\xff\x03\x00", "least", 1, ErrCorrupt},
		{"NoLow", decode, "\x02\x02", "low", 2, io.ErrUnexpectedEOF},
		{"Low", decode, "\x02\x02\x07", "low", 2, ErrCorrupt},
		{"NoLength", decode, "\x02\x02\x00", "symbols", 3, io.ErrUnexpectedEOF},
		{"Length", decode, "\x02\x02\x00\x02-", "symbols", 3, ErrCorrupt},
		{"MoreBytes", decode, "\x02\x02\x00\x01--", "symbols", 5, ErrCorrupt},
		{"NoSymbols", decode, "\x02\x02\x00\x00", "symbols", 4, ErrCorrupt},
		{"Symbol", decode, "\x02\x02\x06\x00", "symbols", 4, ErrCorrupt},
		{"TooLong", decode, "\x02\x02\x00\x0a" + "0123456789", "symbols", 4, ErrCorrupt},
		{"EscapeWithBin", decodeFloat, "\x02\x01\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00", "escapes", 2, ErrCorrupt},
		{"ThreeEscapesOfTwo", decodeFloat, "\x02\x03" + nan + nan + nan + "\x00\x00", "escapes", 1, ErrCorrupt},
		{"NoEscape", decodeFloat, "\x02\x01" + nan + "\x02\x00\x00", "symbols", 13, ErrCorrupt},
		{"MoreEscapes", decodeFloat, "\x02\x01" + nan + "\x02\x00\x08\xff\xff\xff\xff\xff\xff\xff\xff", "symbols", 13, ErrCorrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.decode(tt.data)
			checkParseError(t, err, tt.want)
			var e *ParseError
			if errors.As(err, &e); e.Field != tt.field || e.Offset != tt.off {
				t.Errorf("%v, want field %s at offset %d", err, tt.field, tt.off)
			}
		})
	}
}

// decodeTwo decodes a block of two values.
func decodeTwo[V Value](c Codec[V], data string) error {
	d, err := c.NewDecoder([]byte(data), Options{})
	if err != nil {
		return err
	}
	return d.Decode(make([]V, 2), []uint32{0, 1})
}

func FuzzEntropy(f *testing.F) {
	c, g := newEntropy[int64](f, 0.1), newEntropy[float64](f, 0.01)
	block, _ := encodeBlock(c.NewEncoder(), exampleCalls[int64]())
	f.Add(block)
	block, _ = encodeBlock(g.NewEncoder(), exampleCalls[float64]())
	f.Add(block)
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzDecoder(t, c, data, true)
		fuzzDecoder(t, g, data, true)
	})
}

func BenchmarkEntropy(b *testing.B) { benchmarkCodec(b, newEntropy[int64](b, 0.1)) }
