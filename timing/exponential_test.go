package timing

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/bins"
	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/internal/wire"
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
		{"Width", "\x02\x00\x20\x00\x00\x00\x00\x00\x00\xf0\x7f", 3, ErrCorrupt}, // of 0 bits in phase 1
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

// TestExponentialPhases checks that values about the end of a bin take fewer bits once they are known, and that bins of
// small errors have no phases.
func TestExponentialPhases(t *testing.T) {
	c, fine := newExponential(t, 0.1), newExponential(t, 0.01)
	e := c.NewEncoder()
	const values = 32 * groupLen
	end := endOfBin(c.bins)
	for i := range int64(values) {
		v := end - 10_000 + i*i%20_000
		if got := e.Append(0, v); 10*max(got-v, v-got) > v {
			t.Fatalf("%d became %d", v, got)
		}
	}
	block := e.AppendBlock(nil)
	if most := 10*groupLen/8 + 3*values/groupLen + 2; len(block) > most {
		t.Errorf("%d bytes, more than %d", len(block), most)
	}
	if len(e.AppendBlock(nil)) != 1 {
		t.Error("a block without values is not empty")
	}
	group := func(c *exponentialCodec) error {
		d, err := c.NewDecoder([]byte{2, 2, 1 << widthBits}, Options{})
		if err == nil {
			err = d.Decode(make([]int64, 2), make([]uint32, 2))
		}
		return err
	}
	if err := group(c); err != nil {
		t.Error(err)
	}
	checkParseError(t, group(fine), ErrCorrupt)
}

// endOfBin returns the end of a bin above a million.
func endOfBin(b *bins.Bins) int64 {
	v := int64(1e6)
	for b.Symbol(v) == b.Symbol(v+1) {
		v++
	}
	return v
}

// FuzzExponentialPhases decodes groups as they are coded, and encodes those that it accepts to the same bytes.
func FuzzExponentialPhases(f *testing.F) {
	c := newExponential(f, 0.1)
	for _, n := range []int64{1, 7 * groupLen, 9 * groupLen} {
		e := c.NewEncoder()
		for i := range n {
			e.Append(0, endOfBin(c.bins)-10_000+i*i%20_000)
		}
		f.Add(e.AppendBlock(nil))
	}
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		d, err := c.NewDecoder(data, Options{MaxValues: 1 << 12})
		if err != nil {
			checkParseError(t, err, nil)
			return
		}
		x := d.(*exponentialDecoder)
		again, w := wire.AppendUvarint(nil, uint64(x.values)), bitWriter{}
		for x.readGroup() {
			phase := slices.IndexFunc(c.phases[:], func(b func() *bins.Bins) bool { return b() == x.bins })
			again = appendGroup(again, &w, x.symbols, uint8(phase))
		}
		if err := x.wire.Err(); err != nil {
			checkParseError(t, err, nil)
		} else if !bytes.Equal(again, data) {
			t.Fatalf("%x was encoded again as %x", data, again)
		}
	})
}

func BenchmarkExponential(b *testing.B) { benchmarkCodec(b, newExponential(b, 0.1)) }
