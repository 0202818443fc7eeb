package timing

import (
	"errors"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func newHIST(t rapid.TB, o histOptions) *histCodec {
	c, err := newHISTCodec(o)
	if err != nil {
		t.Fatal(err)
	}
	return c.(*histCodec)
}

func TestHISTOptions(t *testing.T) {
	for _, o := range []histOptions{{Epsilon: -1}, {Samples: -1}, {Samples: 1<<16 + 1}, {Bits: -1}, {Bits: 13}} {
		if _, err := newHISTCodec(o); err == nil {
			t.Errorf("accepted %+v", o)
		}
	}
	if got, want := newHIST(t, histOptions{}).Name(), "hist,epsilon=0.1,samples=100,bits=5"; got != want {
		t.Errorf("name is %s, want %s", got, want)
	}
}

// TestHISTCodes checks which symbols have codes, and how many bits these have.
func TestHISTCodes(t *testing.T) {
	b := newHIST(t, histOptions{}).bins // in which each of the samples has a bin of its own
	for _, c := range []struct {
		samples []int64
		bits    int
		table   []int32
		width   int
	}{
		{nil, 3, nil, 0},
		{[]int64{5}, 3, []int32{5}, 0},
		{[]int64{-5, 5, 7}, 3, []int32{-5, 5, 7}, 2},
		{[]int64{9, 8, 8, 3, 3, 5}, 1, []int32{3, 8}, 1},
		{[]int64{9, 8, 3, 5}, 1, []int32{3, 5}, 1},
	} {
		slices.Sort(c.samples)
		codes := newHistCodes(appendHistRuns(nil, c.samples, b), c.bits)
		if len(codes.table) != len(c.table) || codes.width != c.width {
			t.Errorf("codes of %v are %v of %d bits, want %v of %d", c.samples, codes.table, codes.width,
				c.table, c.width)
			continue
		}
		for i, s := range c.table {
			if codes.code(s) != int32(i) {
				t.Errorf("code of %d is %d, want %d", s, codes.code(s), i)
			}
		}
		if codes.code(100) != -1 {
			t.Errorf("100 has code %d", codes.code(100))
		}
	}
}

// TestHISTPhases checks that values about the end of a bin are in one bin, and that bins of small errors have no
// phases.
func TestHISTPhases(t *testing.T) {
	c := newHIST(t, histOptions{})
	e := c.NewEncoder()
	const values = 1000
	end := endOfBin(c.bins)
	want, got := make([]int64, values), make([]int64, values)
	for i := range int64(values) {
		v := end - 10_000 + i*i*7919%20_000
		if want[i] = e.Append(0, v); 10*max(want[i]-v, v-want[i]) > v {
			t.Fatalf("%d became %d", v, want[i])
		}
	}
	block := e.AppendBlock(nil)
	if most := 100*4 + 900/8 + 20; len(block) > most { // samples, and a bit for each of the others
		t.Errorf("%d bytes, more than %d", len(block), most)
	}
	d, err := c.NewDecoder(block, Options{})
	if err == nil {
		err = d.Decode(got, make([]uint32, values))
	}
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("decoded differently: %v", err)
	}
	fine := newHIST(t, histOptions{Epsilon: 0.01})
	_, err = fine.NewDecoder([]byte("\x02\x01\x00\x02\x00\x22\x02\x00\x00"), Options{})
	checkParseError(t, err, ErrCorrupt)
}

func TestHISTReal(t *testing.T) {
	testRealColumns(t, newHIST(t, histOptions{}), "duration", "gap", "interval")
}

func TestHISTErrors(t *testing.T) {
	c := newHIST(t, histOptions{Bits: 2})
	for _, tt := range []struct {
		name string
		data string
		off  int64
		want error
	}{
		{"Empty", "", 0, io.ErrUnexpectedEOF},
		{"TooMany", "\xff\xff\xff\x7f", 0, ErrLimit},
		{"TooManyClusters", "\x02\x02\x01\x00\x01\x04", 1, ErrCorrupt},
		{"TooFewValues", "\x03\x01\x02\x00\x02\x04\x06", 1, ErrCorrupt},
		{"EmptyCluster", "\x02\x02\x00\x00\x00\x02\x00\x02\x04\x06", 2, ErrCorrupt},
		{"TooManySamples", "\x02\x01\x03\x00\x02\x04\x06\x08", 2, ErrCorrupt},
		{"TooManyCoded", "\x02\x01\x01\x02\x02\x04\x06\x08", 3, ErrCorrupt},
		{"TooManyEscapes", "\x02\x01\x00\x02\x03\x01\x02\x00\x00", 4, ErrCorrupt},
		{"TableTooLarge", "\x02\x01\x00\x02\x00\x04\x02\x02", 5, ErrCorrupt},
		{"NoPhase", "\x02\x01\x00\x02\x00\x29\x02\x02\x00\x00", 5, ErrCorrupt},
		{"SymbolTooLarge", "\x02\x01\x00\x02\x00\x01\xb2\x03\x00\x00", 6, ErrCorrupt},
		{"SymbolTooLargeLater", "\x02\x01\x00\x02\x00\x02\xb0\x03\x00\x00\x00", 8, ErrCorrupt},
		{"NoCodes", "\x02\x01\x00\x02\x01\x00\x00\x01\x02", 2, ErrCorrupt},
		{"Padding", "\x02\x01\x00\x02\x00\x01\x02\x04\x00", 7, ErrCorrupt},
		{"UndeclaredEscape", "\x02\x01\x00\x02\x00\x01\x02\x01\x00", 9, io.ErrUnexpectedEOF},
		{"UnusedEscape", "\x02\x01\x00\x02\x01\x01\x02\x00\x01\x02", 9, ErrCorrupt},
		{"CodeTooLarge", "\x02\x01\x00\x02\x00\x03\x02\x00\x00\x06\x00", 9, ErrCorrupt},
		{"FewerEscapes", "\x02\x01\x00\x02\x02\x03\x02\x00\x00\x01\x02\x80\x01", 9, ErrCorrupt},
		{"KeptTooShort", "\x02\x01\x02\x00\x01\x04\x06", 2, ErrCorrupt},
		{"KeptTooLong", "\x02\x01\x02\x00\x03\x04\x06\x08", 7, ErrCorrupt},
		{"Trailing", "\x02\x01\x02\x00\x02\x04\x06\x00", 7, ErrCorrupt},
		{"OtherTerminals", "\x02\x02\x01\x00\x01\x04\x01\x00\x01\x04", 10, io.ErrUnexpectedEOF},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := c.NewDecoder([]byte(tt.data), Options{})
			if err == nil {
				err = d.Decode(make([]int64, 2), []uint32{7, 7})
				if again := d.Decode(make([]int64, 1), []uint32{7}); again != err {
					t.Errorf("%v, and then %v", err, again)
				}
			}
			checkParseError(t, err, tt.want)
			if e := (*ParseError)(nil); errors.As(err, &e) && e.Offset != tt.off {
				t.Fatalf("%v, want offset %d", err, tt.off)
			}
		})
	}
	checkMemory(t, c, []byte("\xff\xff\x3f\xff\xff\x3f\x00"), 8<<10)
}

func BenchmarkHIST(b *testing.B) { benchmarkCodec(b, newHIST(b, histOptions{})) }
