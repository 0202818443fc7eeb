package sequitur

import (
	"bytes"
	"encoding/gob"
	"errors"
	"io"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func testRoundTrip(t *rapid.T) {
	in := programGen.Draw(t, "in")
	g := build(in)
	prefix := rapid.SliceOf(rapid.Byte()).Draw(t, "prefix")
	enc, err := g.AppendBinary(bytes.Clone(prefix))
	if err != nil || !bytes.HasPrefix(enc, prefix) {
		t.Fatalf("AppendBinary = %x, %v, want prefix %x", enc, err, prefix)
	}
	got, err := Parse(enc[len(prefix):], Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !got.Equal(g) {
		t.Fatalf("parsed\n%swant\n%s", got, g)
	}
	if out := expand(t, got); !slices.Equal(out, in) {
		t.Fatalf("expansion = %v, want %v", out, in)
	}
	plain := enc[len(prefix):]
	small, err := g.MarshalBinary()
	if err != nil || len(small) > len(plain) {
		t.Fatalf("%d bytes, %v, and %d plain", len(small), err, len(plain))
	}
	for _, enc := range [][]byte{plain, small} {
		other := build([]Symbol{1, 2, 1, 2})
		if err := other.UnmarshalBinary(enc); err != nil || !other.Equal(g) {
			t.Fatalf("unmarshalled %v, %v, want\n%s", other, err, g)
		}
		if err := other.UnmarshalBinary(enc[:max(len(enc)-1, 0)]); err == nil || !other.Equal(g) {
			t.Fatalf("half an encoding was taken, or changed the grammar: %v", err)
		}
	}
}

// TestUnmarshalBinary writes a grammar as others write what marshals itself, and reads it.
func TestUnmarshalBinary(t *testing.T) {
	var (
		file bytes.Buffer
		got  struct{ Calls *Grammar }
		want = build(cycle(9, 1, 2, 3))
	)
	if err := gob.NewEncoder(&file).Encode(struct{ Calls *Grammar }{want}); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&file).Decode(&got); err != nil || !got.Calls.Equal(want) {
		t.Fatalf("got %v, %v", got.Calls, err)
	}
	var e *ParseError
	if err := got.Calls.UnmarshalBinary(bomb(99)); !errors.As(err, &e) || !errors.Is(err, ErrLimit) ||
		!got.Calls.Equal(want) {
		t.Fatalf("a grammar of 4⁹⁹ symbols: %v", err)
	}
}

// TestAppendSeq checks that symbols of an iterator are as those appended one by one.
func TestAppendSeq(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := programGen.Draw(t, "in")
		cut := rapid.IntRange(0, len(in)).Draw(t, "cut")
		var b Builder
		b.AppendSeq(slices.Values(in[:cut]))
		b.AppendSeq(slices.Values(in[cut:]))
		if g := b.Finish(); !g.Equal(build(in)) {
			t.Fatalf("got\n%swant\n%s", g, build(in))
		}
	})
}

func TestRoundTrip(t *testing.T) { rapid.Check(t, testRoundTrip) }

// bomb encodes n rules, each the terminal 1 and then the rule below it four
// times.
func bomb(n int) []byte {
	enc := []byte{byte(n), 2, 1 << flagBits, 2 << flagBits}
	for range n - 1 {
		enc = append(enc, 2, 1<<flagBits, flagRule|flagCounted, 4-2)
	}
	return enc
}

func TestParseErrors(t *testing.T) {
	const (
		one      = "\x04" // the terminal 1
		two      = "\x08"
		previous = "\x02" // the rule before
	)
	tests := []struct {
		name string
		data string
		off  int64
		want error
	}{
		{"Nothing", "", 0, io.ErrUnexpectedEOF},
		{"NoRule", "\x01", 0, ErrCorrupt},
		{"ManyRules", "\xff\xff\xff\xff\x0f", 0, ErrCorrupt},
		{"LongVarint", "\x01\x80\x00", 1, ErrCorrupt},
		{"NoSymbols", "\x01\x00" + one, 1, ErrCorrupt},
		{"OneSymbol", "\x02\x01" + one + "\x02" + previous + one, 1, ErrCorrupt},
		{"ManySymbols", "\x01\x7f" + one, 1, ErrCorrupt},
		{"HugeTerminal", "\x01\x01\x80\x80\x80\x80\x20", 2, ErrCorrupt}, // 2³¹
		{"RefersToItself", "\x01\x02" + previous + one, 2, ErrCorrupt},
		{"RefersTooFar", "\x02\x02" + one + two + "\x02\x06" + one, 5, ErrCorrupt},
		{"RepeatsSymbol", "\x01\x02" + one + "\x05\x00", 3, ErrCorrupt},
		{"HugeCount", "\x01\x01\x05\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 3, ErrCorrupt},
		{"CutInCount", "\x01\x01\x05\x80", 3, io.ErrUnexpectedEOF},
		{"TooLong", "\x01\x01\x05\xfe\xff\xff\xff\xff\xff\xff\xff\x7f", 2, ErrLimit}, // 2⁶³
		{"UnusedRule", "\x02\x02" + one + two + "\x02" + two + one, 7, ErrCorrupt},
		{"Trailing", "\x00\x00", 1, ErrCorrupt},
		{"Bomb", string(bomb(33)), 126, ErrLimit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, err := Parse([]byte(tt.data), Options{})
			var pe *ParseError
			if !errors.As(err, &pe) || pe.Offset != tt.off || !errors.Is(err, tt.want) || g != nil {
				t.Fatalf("err = %v, want %v at offset %d", err, tt.want, tt.off)
			}
		})
	}
	if _, err := Parse(bomb(10), Options{MaxLen: 1000}); !errors.Is(err, ErrLimit) {
		t.Errorf("err = %v, want %v", err, ErrLimit)
	}
}

// TestParseDamaged checks every prefix and every one-bit change of an encoding:
// what is accepted encodes as it came.
func TestParseDamaged(t *testing.T) {
	in := append(cycle(20, 1, 2, 3, 4), 5, 600)
	enc, _ := build(append(in, in...)).AppendBinary(nil)
	for n := range enc {
		if _, err := Parse(enc[:n], Options{}); err == nil {
			t.Errorf("accepted the first %d of %d bytes", n, len(enc))
		}
	}
	for bit := range len(enc) * 8 {
		bad := bytes.Clone(enc)
		bad[bit/8] ^= 1 << (bit % 8)
		if g, err := Parse(bad, Options{}); err == nil {
			if again, _ := g.AppendBinary(nil); !bytes.Equal(again, bad) {
				t.Errorf("change of bit %d: re-encoded %x as %x", bit, bad, again)
			}
		}
	}
}

// TestParseMemory checks that what Parse allocates follows from the bytes it
// was given, not from the numbers in them.
func TestParseMemory(t *testing.T) {
	data := append([]byte("\xff\xff\x03"), make([]byte, 1<<10)...) // 65,535 rules in 1 KiB
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Parse(data, Options{})
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 16<<10 {
		t.Errorf("Parse of %d bytes allocated %d bytes", len(data), got)
	}
}

// TestDeep checks that reading a grammar of great depth needs no deep
// recursion and that each of its levels yields symbols.
func TestDeep(t *testing.T) {
	const depth = 100_000
	enc := []byte{depth & 0x7f, depth >> 7 & 0x7f, depth >> 14}
	enc[0], enc[1] = enc[0]|0x80, enc[1]|0x80
	enc = append(enc, 2, 1<<flagBits, 2<<flagBits)
	for range depth - 1 {
		enc = append(enc, 2, flagRule, 1<<flagBits)
	}
	g, err := Parse(enc, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if g.Len() != depth+1 || g.At(1) != 2 || g.At(0) != 1 || g.At(depth) != 1 {
		t.Errorf("Len = %d, want %d", g.Len(), depth+1)
	}
	if got := len(expand(t, g)); got != depth+1 {
		t.Errorf("expanded to %d symbols, want %d", got, depth+1)
	}
	if len(g.String()) == 0 || !g.Rewrite(func(Symbol) Symbol { return 1 }).Equal(build(cycle(depth+1, 1))) {
		t.Error("Rewrite of a deep grammar differs")
	}
}
