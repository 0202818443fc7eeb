package timing

import (
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/bins"
	"github.com/reprise-trace/reprise/internal/test/must"
)

// newSplit returns a codec that keeps terminal 0 exactly, and encodes those that
// are odd with a small error and the others with a large one.
func newSplit(t rapid.TB) *splitCodec {
	codecs := []Codec{must.Get(NewLossless(LZ4)), newExponential(t, 0.01), newExponential(t, bins.MaxEpsilon)}
	return must.Get(NewSplit(codecs, func(terminal uint32) int {
		if terminal == 0 {
			return 0
		}
		return 2 - int(terminal&1)
	})).(*splitCodec)
}

func TestSplit(t *testing.T) {
	c := newSplit(t)
	if c.Guarantee() != bins.MaxEpsilon {
		t.Errorf("guarantee %v", c.Guarantee())
	}
	if got, want := c.Name(), "split(lossless,compressor=lz4|bins,epsilon=0.01|bins,epsilon=0.5)"; got != want {
		t.Errorf("name %s, want %s", got, want)
	}
}

func TestSplitErrors(t *testing.T) {
	c := newSplit(t)
	for _, tt := range []struct {
		name string
		data string
		off  int64
		want error
	}{
		{"Empty", "", 0, io.ErrUnexpectedEOF},
		{"TooShort", "\x01\x00\x02\x00", 2, ErrCorrupt},
		{"Part", "\x01\x00\x01\x05\x01\x00", 4, io.ErrUnexpectedEOF},
		{"Trailing", "\x01\x00\x01\x00\x01\x00\x00", 6, ErrCorrupt},
		{"TooFew", "\x01\x00\x01\x00\x01\x00", 4, io.ErrUnexpectedEOF},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := c.NewDecoder([]byte(tt.data), Options{})
			if err == nil {
				err = d.Decode(make([]int64, 2), []uint32{1, 1})
			}
			checkParseError(t, err, tt.want)
			if e := (*ParseError)(nil); errors.As(err, &e) && e.Offset != tt.off {
				t.Fatalf("%v, want offset %d", err, tt.off)
			}
		})
	}
}

// TestSplitAfterError checks that an error stays one, whatever was asked for
// with it.
func TestSplitAfterError(t *testing.T) {
	c := newSplit(t)
	e := c.NewEncoder()
	for range 300 {
		e.Append(2, 5)
	}
	d, err := c.NewDecoder(e.AppendBlock(nil), Options{})
	if err != nil {
		t.Fatal(err)
	}
	terminals := make([]uint32, 200) // one that the block does not have, and others
	for i := range terminals[1:] {
		terminals[i+1] = 2
	}
	err = d.Decode(make([]int64, 200), terminals)
	checkParseError(t, err, io.ErrUnexpectedEOF)
	if again := d.Decode(make([]int64, 1), []uint32{2}); again != err {
		t.Errorf("%v, and then %v", err, again)
	}
}
