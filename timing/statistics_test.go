package timing

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/drawn"
	"github.com/reprise-trace/reprise/internal/test/mutate"
)

// A ranked is a value and the rank it occurred in.
type ranked struct {
	rank  uint32
	value int64
}

func rankedGen() *rapid.Generator[[]ranked] {
	return rapid.SliceOf(rapid.Custom(func(t *rapid.T) ranked {
		v := rapid.OneOf(drawn.Values(), rapid.SampledFrom(
			[]int64{0, 1, 2, math.MinInt64, math.MaxInt64})).Draw(t, "value")
		return ranked{rapid.Uint32Range(0, 5).Draw(t, "rank"), v}
	}))
}

func statisticsOf(values []ranked) *Statistics {
	s := new(Statistics)
	for _, v := range values {
		s.Add(v.rank, v.value)
	}
	return s
}

func encode(t rapid.TB, s *Statistics) []byte {
	enc, err := s.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return enc
}

// testStatistics checks statistics against what follows from all values in
// exact arithmetic, and that any order and grouping gives the same bytes.
func testStatistics(t *rapid.T) {
	values := rankedGen().Draw(t, "values")
	s := statisticsOf(values)
	checkStatistics(t, s, values)
	enc := encode(t, s)
	got, err := parseStatistics(enc)
	if err != nil {
		t.Fatal(err)
	}
	checkStatistics(t, got, values)
	if again := encode(t, got); !bytes.Equal(again, enc) {
		t.Fatalf("encoded as %x, and again as %x", enc, again)
	}
	if merged := encode(t, mergedAtRandom(t, values)); !bytes.Equal(merged, enc) {
		t.Fatalf("encoded as %x, and merged as %x", enc, merged)
	}
}

// mergedAtRandom cuts values into groups in another order, and merges these in
// any tree.
func mergedAtRandom(t *rapid.T, values []ranked) *Statistics {
	values = rapid.Permutation(values).Draw(t, "order")
	groups := []*Statistics{new(Statistics)}
	for len(values) > 0 {
		n := rapid.IntRange(1, len(values)).Draw(t, "group")
		groups = append(groups, statisticsOf(values[:n]))
		values = values[n:]
	}
	for len(groups) > 1 {
		i := rapid.IntRange(0, len(groups)-2).Draw(t, "merge")
		groups[i].Merge(groups[i+1])
		groups = slices.Delete(groups, i+1, i+2)
	}
	return groups[0]
}

func checkStatistics(t rapid.TB, s *Statistics, values []ranked) {
	t.Helper()
	sum, squares := new(big.Rat), new(big.Rat)
	for _, v := range values {
		x := new(big.Rat).SetInt64(v.value)
		sum.Add(sum, x)
		squares.Add(squares, x.Mul(x, x))
	}
	if s.Count != uint64(len(values)) {
		t.Fatalf("%d of %d values", s.Count, len(values))
	}
	if gotSum, gotSquares := s.exact(); gotSum.Cmp(sum) != 0 || gotSquares.Cmp(squares) != 0 {
		t.Fatalf("sums %v and %v, want %v and %v", gotSum, gotSquares, sum, squares)
	}
	if len(values) == 0 {
		if !math.IsNaN(s.Mean()) || !math.IsNaN(s.Variance()) || s.Sum() != 0 {
			t.Fatalf("mean %v, variance %v, sum %v of nothing", s.Mean(), s.Variance(), s.Sum())
		}
		return
	}
	least, most := values[0], values[0]
	for _, v := range values {
		if v.value < least.value || v.value == least.value && v.rank < least.rank {
			least = v
		}
		if v.value > most.value || v.value == most.value && v.rank < most.rank {
			most = v
		}
	}
	if s.Min != least.value || s.MinRank != least.rank || s.Max != most.value || s.MaxRank != most.rank {
		t.Fatalf("%v in %d to %v in %d, want %v in %d to %v in %d", s.Min, s.MinRank, s.Max, s.MaxRank,
			least.value, least.rank, most.value, most.rank)
	}
	n := new(big.Rat).SetInt64(int64(len(values)))
	mean := new(big.Rat).Quo(sum, n)
	variance := new(big.Rat).Quo(squares, n)
	variance.Sub(variance, new(big.Rat).Mul(mean, mean))
	for _, c := range []struct {
		name string
		got  float64
		want *big.Rat
	}{{"sum", s.Sum(), sum}, {"mean", s.Mean(), mean}, {"variance", s.Variance(), variance}} {
		if want, _ := c.want.Float64(); c.got != want {
			t.Fatalf("%s is %v, want %v", c.name, c.got, want)
		}
	}
}

func TestStatistics(t *testing.T) { rapid.Check(t, testStatistics) }

// TestStatisticsLarge checks sums beyond 64 and 128 bits.
func TestStatisticsLarge(t *testing.T) {
	var s Statistics
	for range 64 {
		s.Add(0, math.MinInt64)
		s.Add(0, math.MinInt64)
		s.Add(0, math.MaxInt64)
	}
	if want := -0x1p63*64 - 64; s.Sum() != want {
		t.Errorf("sum is %v, want %v", s.Sum(), want)
	}
	for range 40 {
		copied := s
		s.Merge(&copied)
	}
	if want := (-0x1p63*64 - 64) * 0x1p40; s.Sum() != want || s.Count != 192<<40 {
		t.Errorf("sum of %d values is %v, want %v", s.Count, s.Sum(), want)
	}
}

func TestParseStatisticsErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		data string
		off  int64
		want error
	}{
		{"Empty", "", 0, io.ErrUnexpectedEOF},
		{"NoMinimum", "\x01", 1, io.ErrUnexpectedEOF},
		{"NoRank", "\x01\x02\x00", 3, io.ErrUnexpectedEOF},
		{"OneOfTwoValues", "\x01\x02\x01\x00\x00\x01\x01", 1, ErrCorrupt},
		{"MaximumOverflows", "\x02\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00", 1, ErrCorrupt},
		{"RankTooLarge", "\x01\x02\x00\x80\x80\x80\x80\x10\x00", 3, ErrCorrupt},
		{"OneValueInTwoRanks", "\x02\x02\x00\x00\x01", 5, ErrCorrupt},
		{"SumTooSmall", "\x02\x02\x05\x00\x00\x01\x04\x01\x19", 5, ErrCorrupt},
		{"SumTooLarge", "\x02\x02\x05\x00\x00\x01\x06\x01\x19", 5, ErrCorrupt},
		{"SquaresTooSmall", "\x02\x02\x05\x00\x00\x01\x05\x01\x0c", 5, ErrCorrupt},
		{"SquaresTooLarge", "\x02\x02\x05\x00\x00\x01\x05\x01\x1a", 5, ErrCorrupt},
		{"LeadingZero", "\x02\x02\x05\x00\x00\x02\x00\x05\x01\x19", 5, ErrCorrupt},
		{"SumCutOff", "\x02\x02\x05\x00\x00\x02\x05", 5, ErrCorrupt},
		{"Trailing", "\x00\x00", 1, ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := parseStatistics([]byte(c.data))
			var e *ParseError
			if !errors.As(err, &e) || e.Offset != c.off || !errors.Is(err, c.want) || s != nil {
				t.Fatalf("%v, %v, want %v at offset %d", s, err, c.want, c.off)
			}
		})
	}
	if s, err := parseStatistics([]byte("\x02\x02\x05\x00\x00\x01\x05\x01\x19")); err != nil ||
		s.Sum() != 7 || s.Variance() != 6.25 {
		t.Errorf("%+v, %v, want 1 and 6", s, err)
	}
}

func FuzzParseStatistics(f *testing.F) {
	for _, values := range [][]ranked{nil, {{3, 5}}, {{3, 5}, {2, -7}, {1, 1 << 60}}} {
		enc, _ := statisticsOf(values).AppendBinary(nil)
		f.Add(enc)
	}
	mutate.Fuzz(f, fuzzStatistics)
}

func fuzzStatistics(t *testing.T, data []byte) {
	s, err := parseStatistics(data)
	if err != nil {
		return
	}
	if again, rest, err := ReadStatistics(append(bytes.Clone(data), "rest"...)); err != nil ||
		string(rest) != "rest" || !bytes.Equal(encode(t, again), data) {
		t.Fatalf("%v and %q, %v", again, rest, err)
	}
	if enc := encode(t, s); !bytes.Equal(enc, data) {
		t.Fatalf("%x is encoded as %x", data, enc)
	}
	if s.Count > 0 && (s.Variance() < 0 || s.Mean() < float64(s.Min) || s.Mean() > float64(s.Max)) {
		t.Fatalf("mean %v, variance %v of values from %v to %v", s.Mean(), s.Variance(), s.Min, s.Max)
	}
	// A table takes also what no values can have.
	if !readsAs(t, AppendStatisticsTable(nil, 1, classOfRow, []Statistics{*s}), 1, 1) {
		t.Fatalf("%+v in a table cannot be read", s)
	}
	var twice Statistics
	twice.Merge(s)
	twice.Merge(s)
	if s.Count < 1<<62 && s.Count > 0 && (twice.Mean() != s.Mean() || twice.Variance() != s.Variance()) {
		t.Fatal("statistics of everything twice differ")
	}
}

func BenchmarkStatistics(b *testing.B) {
	r := newRandom(1)
	values := make([]int64, 1<<12)
	for i := range values {
		values[i] = int64(math.Exp(r.float()*12 + 3))
	}
	signatures := make([]Statistics, 64)
	b.ReportAllocs()
	for b.Loop() {
		for i, v := range values {
			signatures[i*7&63].Add(3, v)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(values)), "ns/value")
	b.ReportMetric(0, "ns/op")
}

// TestStatisticsMany merges statistics of more values than are counted, in any
// order, and checks that what comes out has the extremes and can be read.
func TestStatisticsMany(t *testing.T) {
	rapid.Check(t, testStatisticsMany)
	for _, data := range []string{
		"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\x00\x00\x00\x00",     // 2⁶³ values
		"\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00\x00\x00\x01",         // 2⁶³−1 values that are equal, in two ranks
		"\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00\x05\x00\x00\x01\x00", // sums of as many
	} {
		if _, err := parseStatistics([]byte(data)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%x: %v", data, err)
		}
	}
}

func testStatisticsMany(t *rapid.T) {
	var groups []*Statistics
	least, most := math.Inf(1), math.Inf(-1)
	for range rapid.IntRange(2, 6).Draw(t, "groups") {
		s := statisticsOf([]ranked{{1, int64(rapid.IntRange(-9, 9).Draw(t, "value"))},
			{2, int64(rapid.IntRange(-9, 9).Draw(t, "value"))}})
		least, most = min(least, float64(s.Min)), max(most, float64(s.Max))
		for range rapid.IntRange(60, 62).Draw(t, "doublings") {
			copied := *s
			s.Merge(&copied)
		}
		groups = append(groups, s)
	}
	var all, backward Statistics
	for i := range groups {
		all.Merge(groups[i])
		backward.Merge(groups[len(groups)-1-i])
	}
	enc := encode(t, &all)
	if again := encode(t, &backward); !bytes.Equal(enc, again) {
		t.Fatalf("%x in one order, %x in the other", enc, again)
	}
	got, err := parseStatistics(enc)
	if err != nil {
		t.Fatal(err)
	}
	if float64(got.Min) != least || float64(got.Max) != most || got.Count > manyValues {
		t.Fatalf("%d values from %v to %v, want %v to %v", got.Count, got.Min, got.Max, least, most)
	}
	if got.Count == manyValues && (math.Abs(got.Mean()-(least+most)/2) > 1e-9 ||
		math.Abs(got.StandardDeviation()-(most-least)/2) > 1e-9) {
		t.Fatalf("mean %v, deviation %v of values from %v to %v", got.Mean(), got.StandardDeviation(), least, most)
	}
	copied := all
	if all.Add(0, int64(least)); all.Count != min(copied.Count+1, manyValues) {
		t.Fatalf("%d values and one more are %d", copied.Count, all.Count)
	}
}
