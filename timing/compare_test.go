package timing

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestColumn checks columns of any type against their codec, over the ends of blocks.
func TestColumn(t *testing.T) {
	codec := newExponential(t, 0.05)
	rapid.Check(t, func(t *rapid.T) {
		in := Column[time.Duration]{Values: make([]time.Duration,
			rapid.SampledFrom([]int{0, 1, 255, 257, defaultBlockLen, defaultBlockLen + 1}).Draw(t, "n"))}
		for i := range in.Values {
			in.Values[i] = time.Duration(i * i)
		}
		if rapid.Bool().Draw(t, "terminals") {
			in.Terminals = make([]uint32, len(in.Values))
		}
		blocks := in.Encode(codec)
		out := Column[time.Duration]{make([]time.Duration, len(in.Values)), in.Terminals}
		if err := out.Decode(codec, blocks); err != nil {
			t.Fatal(err)
		}
		for i, v := range in.Values {
			if want := codec.bins.Value(codec.bins.Symbol(int64(v))); int64(out.Values[i]) != want {
				t.Fatalf("value %d: %d became %d, want %d", i, v, out.Values[i], want)
			}
		}
		if len(in.Values) > 0 {
			longer := Column[time.Duration]{make([]time.Duration, len(in.Values)+1), nil}
			if err := longer.Decode(codec, blocks[:1]); len(in.Values) < defaultBlockLen &&
				!errors.As(err, new(*ParseError)) {
				t.Fatalf("decoded more than there is: %v", err)
			}
		}
	})
}

// TestCompare checks sizes and errors against what the codecs say.
func TestCompare(t *testing.T) {
	columns := []Column[int64]{{Values: []int64{0, 1, 100, 1000, 12345, -77}},
		{Values: []int64{5, 5, 5}, Terminals: []uint32{1, 2, 1}}}
	list, err := Compare(columns, CompareOptions{Epsilon: 0.2, Rounds: 2})
	if err != nil {
		t.Fatal(err)
	}
	codecs, err := ownCodecs(0.2)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(codecs) {
		t.Fatalf("%d codecs, want %d", len(list), len(codecs))
	}
	for i, c := range codecs {
		got := list[i]
		size, worst, relative, squares := 0, 0.0, 0.0, 0.0
		for _, in := range columns {
			e := c.NewEncoder()
			for k, v := range in.Values {
				back := e.Append(slices.Concat(in.Terminals, make([]uint32, 9))[k], v)
				if v != 0 {
					off := math.Abs(float64(back-v)) / math.Abs(float64(v))
					worst, relative = max(worst, off), relative+off
				}
				squares += float64(back-v) * float64(back-v)
			}
			size += len(e.AppendBlock(nil))
		}
		want := Errors{worst, relative / 8, math.Sqrt(squares / 9)}
		near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-12*y }
		if got.Codec != c.Name() || got.Values != 9 || got.Bytes != size || !near(got.Errors.Max, want.Max) ||
			!near(got.Errors.Mean, want.Mean) || !near(got.Errors.Root, want.Root) {
			t.Errorf("%s: %+v, %+v, want %d bytes, %+v", c.Name(), got, got.Errors, size, want)
		}
		if got.Errors.Max > float64(c.Guarantee()) || got.Encode <= 0 || got.Decode <= 0 {
			t.Errorf("%s: %+v, the guarantee is %v", c.Name(), got, c.Guarantee())
		}
	}
	if _, err := Compare(columns, CompareOptions{Epsilon: 7}); err == nil {
		t.Error("accepted epsilon 7")
	}
}

func TestSummarize(t *testing.T) {
	terminals := []uint32{0, 1, 0, 1}
	columns := []Column[time.Duration]{{Values: []time.Duration{3, 5, 7, 9}, Terminals: terminals}}
	list := Summarize(columns, CompareOptions{})
	var a, b Statistics
	a.Add(0, 3)
	a.Add(0, 7)
	b.Add(0, 5)
	b.Add(0, 9)
	if want := len(encode(t, &a)) + len(encode(t, &b)); list[0].Bytes != want || list[0].Values != 4 ||
		list[0].Errors != nil {
		t.Errorf("statistics: %+v, want %d bytes", list[0], want)
	}
	for i, paths := range []bool{false, true} {
		h, err := NewHistogramsBuilder(HistogramOptions{PathSensitive: paths})
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range columns[0].Values {
			h.Append(terminals[k], int64(v))
		}
		if want := len(encodeHistograms(t, h.Finish(0))); list[1+i].Bytes != want {
			t.Errorf("%s: %d bytes, want %d", list[1+i].Codec, list[1+i].Bytes, want)
		}
	}
}

func ExampleCompare() {
	var took []time.Duration
	for i := range 10_000 {
		took = append(took, 20*time.Microsecond+time.Duration(i%10)*time.Nanosecond)
	}
	list, err := Compare([]Column[time.Duration]{{Values: took}}, CompareOptions{Epsilon: 0.01})
	if err != nil {
		panic(err)
	}
	for _, c := range list {
		kind, _, _ := strings.Cut(c.Codec, ",")
		fmt.Printf("%-8s %5d bytes, at most %.2f %% off\n", kind, c.Bytes, 100*c.Errors.Max)
	}
	// Output:
	// bins       239 bytes, at most 0.53 % off
	// hist      1550 bytes, at most 0.53 % off
	// entropy      8 bytes, at most 0.53 % off
	// entropy-fast    14 bytes, at most 0.53 % off
	// lossless    33 bytes, at most 0.00 % off
	// lossless    82 bytes, at most 0.00 % off
}
