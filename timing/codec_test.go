package timing

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"testing"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"pgregory.net/rapid"
)

// A call is what a codec is given of one.
type call struct {
	terminal uint32
	value    int64
}

// callsGen draws calls in phrases, each repeated with values that are near each
// other, as those of a loop are, and some with any value.
func callsGen() *rapid.Generator[[]call] {
	terminal := rapid.OneOf(rapid.Uint32Range(0, 7), rapid.Uint32Range(lowTerminals-1, lowTerminals+1), rapid.Uint32())
	phrase := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) call {
		return call{terminal.Draw(t, "terminal"), valueGen().Draw(t, "value")}
	}), 1, 6)
	return rapid.Custom(func(t *rapid.T) []call {
		var calls []call
		for range rapid.IntRange(0, 5).Draw(t, "phrases") {
			body := phrase.Draw(t, "phrase")
			r := newRandom(rapid.Uint64().Draw(t, "seed"))
			for range rapid.IntRange(1, 60).Draw(t, "repeats") {
				for _, c := range body {
					c.value += int64(float64(c.value) * r.float() / 8)
					calls = append(calls, c)
				}
			}
		}
		return calls
	})
}

// columns returns terminals and values apart.
func columns(calls []call) (terminals []uint32, values []int64) {
	for _, c := range calls {
		terminals, values = append(terminals, c.terminal), append(values, c.value)
	}
	return terminals, values
}

// encodeBlock encodes calls as one block, and returns it and the values that a
// decoder is to give back.
func encodeBlock(e Encoder, calls []call) (block []byte, want []int64) {
	for _, c := range calls {
		want = append(want, e.Append(c.terminal, c.value))
	}
	return e.AppendBlock(nil), want
}

// testCodec checks blocks of any lengths, decoded in portions of any lengths,
// that an encoder says what a decoder gives back, and the guarantee.
func testCodec(t *rapid.T, c Codec) {
	e := c.NewEncoder()
	for range rapid.IntRange(1, 4).Draw(t, "blocks") {
		calls := callsGen().Draw(t, "calls")
		terminals, values := columns(calls)
		prefix := rapid.SliceOf(rapid.Byte()).Draw(t, "prefix")
		var want []int64
		for i, v := range values {
			want = append(want, e.Append(terminals[i], v))
		}
		block := e.AppendBlock(bytes.Clone(prefix))
		if !bytes.HasPrefix(block, prefix) {
			t.Fatalf("block %x does not begin with %x", block, prefix)
		}
		checkGuarantee(t, c.Guarantee(), want, values)
		d, err := c.NewDecoder(block[len(prefix):], Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for len(got) < len(values) {
			portion := make([]int64, rapid.IntRange(0, len(values)-len(got)).Draw(t, "portion"))
			if err := d.Decode(portion, terminals[len(got):][:len(portion)]); err != nil {
				t.Fatal(err)
			}
			got = append(got, portion...)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("decoded %v, want %v", got, want)
		}
		checkParseError(t, d.Decode(make([]int64, 1), []uint32{0}), io.ErrUnexpectedEOF)
		checkEnd(t, c, block[len(prefix):], terminals)
	}
}

// checkEnd checks that a decoder says how many values a block has, of calls with
// these terminals, and that asking for more is an error, with the last of them, after
// them, and again.
func checkEnd(t *rapid.T, c Codec, block []byte, terminals []uint32) {
	d, err := c.NewDecoder(block, Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := len(terminals)
	if d.Len() != n {
		t.Fatalf("%d values, want %d", d.Len(), n)
	}
	before := rapid.IntRange(0, n).Draw(t, "before")
	if err := d.Decode(make([]int64, before), terminals[:before]); err != nil {
		t.Fatal(err)
	}
	more := n - before + rapid.IntRange(1, 600).Draw(t, "more")
	beyond := append(slices.Clone(terminals[before:]), make([]uint32, before+more-n)...)
	checkParseError(t, d.Decode(make([]int64, more), beyond), io.ErrUnexpectedEOF)
	checkParseError(t, d.Decode(make([]int64, 1), []uint32{7}), nil)
	if d.Len() != n {
		t.Fatalf("%d values, and at the end %d", n, d.Len())
	}
}

// checkParseError checks that err is one of a decoder, for the cause want
// unless that is nil.
func checkParseError(t rapid.TB, err, want error) {
	t.Helper()
	var e *ParseError
	if !errors.As(err, &e) || e.Package != "timing" || e.Field == "" || want != nil && !errors.Is(err, want) {
		t.Fatalf("%v, want a ParseError: %v", err, want)
	}
}

func checkGuarantee(t rapid.TB, g Guarantee, got, values []int64) {
	t.Helper()
	for i, v := range values {
		if got[i] != v && (g == Exact || !within(got[i], v, float64(g))) {
			t.Fatalf("value %d: %v became %v", i, v, got[i])
		}
	}
}

// checkDamaged checks that every prefix of a block, and every block that differs
// in one bit, is rejected or decoded without panic, and that what is said of a
// prefix is an error.
func checkDamaged(t *testing.T, c Codec, calls []call) {
	t.Helper()
	terminals, values := columns(calls)
	block, _ := encodeBlock(c.NewEncoder(), calls)
	decode := func(block []byte) error {
		d, err := c.NewDecoder(block, Options{})
		if err == nil {
			err = d.Decode(make([]int64, len(values)), terminals)
		}
		if err != nil {
			checkParseError(t, err, nil)
		}
		return err
	}
	for n := range block {
		if decode(block[:n]) == nil {
			t.Errorf("accepted the first %d of %d bytes", n, len(block))
		}
	}
	for bit := range len(block) * 8 {
		bad := bytes.Clone(block)
		bad[bit/8] ^= 1 << (bit % 8)
		decode(bad)
	}
	if _, err := c.NewDecoder(block, Options{MaxValues: len(values) - 1}); !errors.Is(err, ErrLimit) {
		t.Errorf("%v, want a block of %d values to exceed a limit of one less", err, len(values))
	}
}

// exampleCalls are calls with the values that are hardest to code.
func exampleCalls() []call {
	var calls []call
	for i := range uint32(300) {
		v := int64(100 + i%7)
		switch i % 50 {
		case 10:
			v = 0
		case 20:
			v = math.MaxInt64
		case 30:
			v = 0x7ff8000000000001
		case 40:
			v = math.MinInt64
		}
		calls = append(calls, call{i % 3, v})
	}
	return calls
}

// fuzzDecoder decodes any bytes as a block. What is accepted whole can be encoded
// again, which, if the codec has only one encoding of values whatever came
// before them, gives the same bytes.
func fuzzDecoder(t *testing.T, c Codec, data []byte, unique bool) {
	const most = 1 << 10
	d, err := c.NewDecoder(data, Options{MaxValues: most})
	if err != nil {
		checkParseError(t, err, nil)
		return
	}
	e := c.NewEncoder()
	var got, want []int64
	for i := range uint32(most + 1) {
		var v [1]int64
		if err := d.Decode(v[:], []uint32{i % 3}); err != nil {
			checkParseError(t, err, nil)
			if err := d.Decode(make([]int64, 300), make([]uint32, 300)); err == nil {
				t.Fatal("an error, and then values")
			}
			if errors.Is(err, ErrCorrupt) {
				return
			}
			break
		}
		got = append(got, v[0])
		want = append(want, e.Append(i%3, v[0]))
	}
	if len(got) > most {
		t.Fatalf("more than %d values", most)
	}
	checkGuarantee(t, c.Guarantee(), want, got)
	if again := e.AppendBlock(nil); unique && !bytes.Equal(again, data) {
		t.Fatalf("%x was encoded again as %x", data, again)
	}
}

// checkMemory checks that a decoder of data allocates at most a number of bytes.
func checkMemory(t *testing.T, c Codec, data []byte, most uint64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if d, err := c.NewDecoder(data, Options{}); err == nil {
		_ = d.Decode(make([]int64, 1), make([]uint32, 1))
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > most {
		t.Errorf("decoding %d bytes allocated %d", len(data), got)
	}
}

// testRealColumns checks the guarantee of a codec for every value of the
// recorded runs, and logs the bits per value.
func testRealColumns(t *testing.T, c Codec, columns ...string) {
	for _, name := range columns {
		sizes := newSizes()
		for _, r := range realRanks(t) {
			values := r.column(name)
			e := c.NewEncoder()
			size := 0
			for i := 0; i < len(values); i += 1 << 16 {
				n := min(len(values)-i, 1<<16)
				want := make([]int64, n)
				for k := range want {
					want[k] = e.Append(r.terminals[i+k], values[i+k])
				}
				block := e.AppendBlock(nil)
				size += len(block)
				checkFast(t, c.Guarantee(), want, values[i:][:n])
				got := make([]int64, n)
				d, err := c.NewDecoder(block, Options{})
				if err == nil {
					err = d.Decode(got, r.terminals[i:][:n])
				}
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s %s: decoded differently", r.run, r.rank)
				}
			}
			sizes.add(r.run, len(values), size)
		}
		t.Logf("%s %s: %v bits per value", c.Name(), name, sizes)
	}
}

// checkFast is checkGuarantee in float64, with room for what that rounds.
func checkFast(t *testing.T, g Guarantee, got, values []int64) {
	t.Helper()
	for i, v := range values {
		if math.Abs(float64(got[i]-v)) > float64(g)*math.Abs(float64(v))*(1+1e-12) {
			t.Fatalf("value %d: %d became %d", i, v, got[i])
		}
	}
}

// sizes sums the sizes of columns by run.
type sizes struct {
	runs   []string
	values map[string]int
	bytes  map[string]int
}

func newSizes() *sizes { return &sizes{values: make(map[string]int), bytes: make(map[string]int)} }

func (s *sizes) add(run string, values, bytes int) {
	if s.values[run] == 0 {
		s.runs = append(s.runs, run)
	}
	s.values[run] += values
	s.bytes[run] += bytes
}

// bits returns the bits per value of a run.
func (s *sizes) bits(run string) float64 { return float64(8*s.bytes[run]) / float64(s.values[run]) }

func (s *sizes) String() string {
	var b bytes.Buffer
	for _, run := range s.runs {
		fmt.Fprintf(&b, "%s %.3f  ", run, s.bits(run))
	}
	return b.String()
}

// benchmarkCodec measures both directions on the durations of a rank of the
// recorded run lu.W.8, as far as the project has it itself.
func benchmarkCodec(b *testing.B, c Codec) {
	r := shippedRank(b, "lu.W.8.part")
	terminals, values := r.terminals, r.durations
	e := c.NewEncoder()
	var block []byte
	report := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(values)), "ns/value")
		b.ReportMetric(float64(8*len(block))/float64(len(values)), "bits/value")
		b.ReportMetric(0, "ns/op")
	}
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i, v := range values {
				e.Append(terminals[i], v)
			}
			block = e.AppendBlock(block[:0])
		}
		report(b)
	})
	b.Run("decode", func(b *testing.B) {
		if len(block) == 0 { // the other benchmark was left out
			for i, v := range values {
				e.Append(terminals[i], v)
			}
			block = e.AppendBlock(nil)
		}
		got := make([]int64, len(values))
		b.ReportAllocs()
		for b.Loop() {
			d, err := c.NewDecoder(block, Options{})
			if err == nil {
				err = d.Decode(got, terminals)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		report(b)
	})
}
