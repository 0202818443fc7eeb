package wire

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
)

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, v := rapid.Uint64().Draw(t, "u"), rapid.Int64().Draw(t, "v")
		s := rapid.String().Draw(t, "s")
		enc := AppendUvarint(nil, u)
		enc = AppendVarint(enc, v)
		enc = AppendString(enc, s)
		enc = AppendUint32(enc, uint32(u))
		enc = AppendUint64(enc, u)
		enc = append(enc, 7)
		d := NewDecoder("wire", enc)
		if got := d.Uvarint("u"); got != u {
			t.Fatalf("Uvarint = %d, want %d", got, u)
		}
		if got := d.Varint("v"); got != v {
			t.Fatalf("Varint = %d, want %d", got, v)
		}
		if got := d.String("s"); string(got) != s {
			t.Fatalf("String = %q, want %q", got, s)
		}
		if a, b, c := d.Uint32("a"), d.Uint64("b"), d.Byte("c"); a != uint32(u) || b != u || c != 7 {
			t.Fatalf("read %d, %d, %d, want %d, %d, 7", a, b, c, uint32(u), u)
		}
		if d.End("end"); d.Err() != nil || d.Rest() != 0 || d.Offset() != len(enc) {
			t.Fatal(d.Err())
		}
		if !bytes.Equal(d.Since(0), enc) {
			t.Fatal("Since(0) is not the input")
		}
	})
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name string
		data string
		read func(*Decoder)
		off  int64
		want error
	}{
		{"Empty", "", func(d *Decoder) { d.Uvarint("x") }, 0, io.ErrUnexpectedEOF},
		{"CutOff", "\x80\x80", func(d *Decoder) { d.Uvarint("x") }, 0, io.ErrUnexpectedEOF},
		{"Long", "\x01\x80\x00", func(d *Decoder) { d.Uvarint("x"); d.Varint("x") }, 1, ErrCorrupt},
		{"Overflow", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", func(d *Decoder) { d.Uvarint("x") }, 0, ErrCorrupt},
		{"Max", "\x05", func(d *Decoder) { d.UvarintMax("x", 4) }, 0, ErrCorrupt},
		{"Count", "\x03\x01\x01", func(d *Decoder) { d.Count("x", 1) }, 0, ErrCorrupt},
		{"CountOfPairs", "\x02\x01\x01\x01", func(d *Decoder) { d.Count("x", 2) }, 0, ErrCorrupt},
		{"HugeCount", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", func(d *Decoder) { d.Count("x", 1) }, 0, ErrCorrupt},
		{"Byte", "", func(d *Decoder) { d.Byte("x") }, 0, io.ErrUnexpectedEOF},
		{"Uint32", "\x00\x00\x00", func(d *Decoder) { d.Uint32("x") }, 0, io.ErrUnexpectedEOF},
		{"Uint64", "\x00\x00\x00\x00\x00\x00\x00", func(d *Decoder) { d.Uint64("x") }, 0, io.ErrUnexpectedEOF},
		{"Bytes", "abc", func(d *Decoder) { d.Bytes("x", 4) }, 0, io.ErrUnexpectedEOF},
		{"NegativeBytes", "abc", func(d *Decoder) { d.Bytes("x", -1) }, 0, io.ErrUnexpectedEOF},
		{"End", "ab", func(d *Decoder) { d.Byte("x"); d.End("x") }, 1, ErrCorrupt},
		{"Limit", "ab", func(d *Decoder) { d.Limit(1, "x", "more than %d", 1) }, 1, ErrLimit},
		{"FirstSticks", "", func(d *Decoder) { d.Byte("x"); d.Corrupt(5, "y", "later") }, 0, io.ErrUnexpectedEOF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := NewDecoder("wire", []byte(tt.data))
			tt.read(&d)
			var e *Error
			if !errors.As(d.Err(), &e) || e.Offset != tt.off || e.Field != "x" || e.Package != "wire" ||
				!errors.Is(e, tt.want) {
				t.Fatalf("err = %v, want %v of x at offset %d", d.Err(), tt.want, tt.off)
			}
			at := d.Offset()
			if d.Uvarint("z") != 0 || d.UvarintMax("z", 9) != 0 || d.Varint("z") != 0 || d.Uint32("z") != 0 ||
				d.Uint64("z") != 0 || d.Count("z", 1) != 0 ||
				d.Byte("z") != 0 || d.Bytes("z", 1) != nil || len(d.String("z")) != 0 || d.Offset() != at {
				t.Error("a read after a failure returned something")
			}
		})
	}
}

func TestSaturation(t *testing.T) {
	const most = math.MaxUint64
	for _, tt := range []struct{ x, y, sum, product uint64 }{
		{0, 0, 0, 0}, {2, 3, 5, 6}, {most, 0, most, 0}, {0, most, most, 0}, {most, 1, most, most},
		{1 << 32, 1 << 32, 1 << 33, most},
		{1 << 31, 1 << 32, 1<<31 + 1<<32, 1 << 63}, {most - 1, 1, most, most - 1}, {most / 2, 2, most/2 + 2, most - 1},
	} {
		if got := AddSat(tt.x, tt.y); got != tt.sum {
			t.Errorf("AddSat(%d, %d) = %d, want %d", tt.x, tt.y, got, tt.sum)
		}
		if got := MulSat(tt.x, tt.y); got != tt.product {
			t.Errorf("MulSat(%d, %d) = %d, want %d", tt.x, tt.y, got, tt.product)
		}
	}
}

// TestChecksum checks the value that RFC 3720, B.4, gives for 32 zeros.
func TestChecksum(t *testing.T) {
	zeros := make([]byte, 32)
	if got := Checksum(zeros); got != 0x8a9136aa {
		t.Errorf("Checksum = %08x, want 8a9136aa", got)
	}
	if got := UpdateChecksum(Checksum(zeros[:10]), zeros[10:]); got != 0x8a9136aa {
		t.Errorf("in two steps = %08x, want 8a9136aa", got)
	}
}

func TestTimeSaturation(t *testing.T) {
	extremes := []int64{math.MinInt64, math.MinInt64 + 1, -1 << 62, -2, -1, 0, 1, 2, 1 << 62,
		math.MaxInt64 - 1, math.MaxInt64}
	for _, x := range extremes {
		for _, y := range extremes {
			a, b := big.NewInt(x), big.NewInt(y)
			if got, want := AddTimes(x, y), nearestTo(new(big.Int).Add(a, b)); got != want {
				t.Errorf("AddTimes(%d, %d) = %d, want %d", x, y, got, want)
			}
			if got, want := SubTimes(x, y), nearestTo(new(big.Int).Sub(a, b)); got != want {
				t.Errorf("SubTimes(%d, %d) = %d, want %d", x, y, got, want)
			}
		}
	}
}

// nearestTo returns the int64 that is nearest to n.
func nearestTo(n *big.Int) int64 {
	switch {
	case n.IsInt64():
		return n.Int64()
	case n.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}
