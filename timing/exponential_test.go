package timing

import (
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"
)

func newExponential(t rapid.TB, epsilon float64) *exponentialCodec {
	c, err := NewExponential(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return c.(*exponentialCodec)
}

func TestExponentialOptions(t *testing.T) {
	if _, err := NewExponential(0); err == nil {
		t.Error("accepted epsilon 0")
	}
}

func TestExponentialReal(t *testing.T) {
	testRealColumns(t, newExponential(t, 0.1), "duration", "gap", "interval")
}

func TestExponentialErrors(t *testing.T) {
	c := newExponential(t, 0.1)
	decode := func(data string) error {
		d, err := c.NewDecoder([]byte(data), Options{})
		if err == nil {
			err = d.Decode(make([]int64, 2), make([]uint32, 2))
		}
		return err
	}
	for _, tt := range []struct {
		name string
		data string
		off  int64
		want error
	}{
		{"Empty", "", 0, io.ErrUnexpectedEOF},
		{"TooMany", "\xff\xff\xff\x7f", 0, ErrLimit},
		{"NoGroup", "\x02", 1, io.ErrUnexpectedEOF},
		{"NoSymbols", "\x02\x02\x04", 3, io.ErrUnexpectedEOF},
		{"Trailing", "\x02\x02\x00\x00", 3, ErrCorrupt},
		{"TooFew", "\x01\x02\x00", 3, io.ErrUnexpectedEOF},
		{"TooWide", "\x02\x02\x02\x04", 1, ErrCorrupt},
		{"LeastAbsent", "\x02\x02\x01\x03", 1, ErrCorrupt},
		{"Padding", "\x02\x02\x01\x06", 1, ErrCorrupt},
		{"SymbolTooLarge", "\x02\xae\x03\x02\x0c", 1, ErrCorrupt},
		{"LeastTooLarge", "\x02\xb2\x03\x00", 1, ErrCorrupt},
		{"LeastTooSmall", "\x02\xb1\x03\x00", 1, ErrCorrupt},
		{"Width", "\x02\x00\x20\x00\x00\x00\x00\x00\x00\xf0\x7f", 1, ErrCorrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := decode(tt.data)
			checkParseError(t, err, tt.want)
			if pe := (*ParseError)(nil); errors.As(err, &pe) && pe.Offset != tt.off {
				t.Fatalf("%v, want offset %d", err, tt.off)
			}
		})
	}
	checkMemory(t, c, []byte("\xff\xff\x3f\x02\x00"), 8<<10)
}

func BenchmarkExponential(b *testing.B) { benchmarkCodec(b, newExponential(b, 0.1)) }
