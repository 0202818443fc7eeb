package timing

import (
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"
)

func newExponential[V Value](t rapid.TB, epsilon float64) *Exponential[V] {
	c, err := NewExponential[V](epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestExponential(t *testing.T) {
	for _, epsilon := range []float64{0.001, 0.1, MaxEpsilon} {
		i, f := newExponential[int64](t, epsilon), newExponential[float64](t, epsilon)
		t.Run(i.Name()+"/int64", rapid.MakeCheck(func(t *rapid.T) { testCodec(t, i) }))
		t.Run(i.Name()+"/float64", rapid.MakeCheck(func(t *rapid.T) { testCodec(t, f) }))
	}
	if _, err := NewExponential[int64](0); err == nil {
		t.Error("accepted epsilon 0")
	}
}

func TestExponentialReal(t *testing.T) {
	testRealColumns(t, newExponential[int64](t, 0.1), "duration", "gap", "interval")
}

func TestExponentialDamaged(t *testing.T) {
	checkDamaged(t, newExponential[int64](t, 0.1), exampleCalls[int64]())
	checkDamaged(t, newExponential[float64](t, 0.1), exampleCalls[float64]())
}

func TestExponentialErrors(t *testing.T) {
	c := newExponential[int64](t, 0.1)
	f := newExponential[float64](t, 0.1)
	decode := func(data string) error {
		d, err := c.NewDecoder([]byte(data), Options{})
		if err == nil {
			err = d.Decode(make([]int64, 2), make([]uint32, 2))
		}
		return err
	}
	decodeFloat := func(data string) error {
		d, err := f.NewDecoder([]byte(data), Options{})
		if err == nil {
			err = d.Decode(make([]float64, 2), make([]uint32, 2))
		}
		return err
	}
	const escape = "\x00\x00\x00\x00\x00\x00\xf0\x7f"
	for _, tt := range []struct {
		name   string
		decode func(string) error
		data   string
		off    int64
		want   error
	}{
		{"Empty", decode, "", 0, io.ErrUnexpectedEOF},
		{"TooMany", decode, "\xff\xff\xff\x7f", 0, ErrLimit},
		{"NoGroup", decode, "\x02", 1, io.ErrUnexpectedEOF},
		{"NoSymbols", decode, "\x02\x02\x04", 3, io.ErrUnexpectedEOF},
		{"Trailing", decode, "\x02\x02\x00\x00", 3, ErrCorrupt},
		{"TooFew", decode, "\x01\x02\x00", 3, io.ErrUnexpectedEOF},
		{"TooWide", decode, "\x02\x02\x02\x04", 1, ErrCorrupt},
		{"LeastAbsent", decode, "\x02\x02\x01\x03", 1, ErrCorrupt},
		{"Padding", decode, "\x02\x02\x01\x06", 1, ErrCorrupt},
		{"SymbolTooLarge", decode, "\x02\xae\x03\x02\x0c", 1, ErrCorrupt},
		{"LeastTooLarge", decode, "\x02\xb2\x03\x00", 1, ErrCorrupt},
		{"LeastTooSmall", decode, "\x02\xb1\x03\x00", 1, ErrCorrupt},
		{"Width", decode, "\x02\x00\x20" + escape, 1, ErrCorrupt},
		{"EscapesAmongNone", decodeFloat, "\x00\x01" + escape, 1, ErrCorrupt},
		{"EscapeFinite", decodeFloat, "\x02\x01\x00\x00\x00\x00\x00\x00\xf0\x3f\xa0\x71\x00", 2, ErrCorrupt},
		{"EscapeUnused", decodeFloat, "\x02\x01" + escape + "\x02\x00", 10, ErrCorrupt},
		{"EscapeMissing", decodeFloat, "\x02\x01" + escape + "\xa0\x71\x00", 10, ErrCorrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.decode(tt.data)
			checkParseError(t, err, tt.want)
			if pe := (*ParseError)(nil); errors.As(err, &pe) && pe.Offset != tt.off {
				t.Fatalf("%v, want offset %d", err, tt.off)
			}
		})
	}
	checkMemory(t, c, []byte("\xff\xff\x3f\x02\x00"), 8<<10)
}

func FuzzExponential(f *testing.F) {
	i, e := newExponential[int64](f, 0.1), newExponential[float64](f, 0.1)
	block, _ := encodeBlock(i.NewEncoder(), exampleCalls[int64]())
	f.Add(block)
	block, _ = encodeBlock(e.NewEncoder(), exampleCalls[float64]())
	f.Add(block)
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzDecoder(t, i, data, true)
		fuzzDecoder(t, e, data, true)
	})
}

func BenchmarkExponential(b *testing.B) { benchmarkCodec(b, newExponential[int64](b, 0.1)) }
