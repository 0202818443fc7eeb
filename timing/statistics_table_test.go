package timing

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/big"
	"runtime"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/wide"

	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/internal/test/recorded"
)

// classOfRow is the class of each row in tests.
func classOfRow(row int) uint32 { return uint32(row*row) % 7 }

// genCrowd draws statistics of values that may be alike, or far apart, and as many
// as 2⁶⁰.
var genCrowd = rapid.Custom(func(t *rapid.T) Statistics {
	var all Statistics
	base := rapid.OneOf(rapid.Int64Range(-10, 5000), rapid.Int64()).Draw(t, "base")
	for range rapid.IntRange(0, 6).Draw(t, "crowds") {
		v := rapid.OneOf(rapid.Just(base), rapid.Custom(func(t *rapid.T) int64 {
			return base + rapid.Int64Range(-2000, 1<<rapid.IntRange(0, 40).Draw(t, "scale")).Draw(t, "away")
		}), rapid.Int64(), rapid.SampledFrom([]int64{0, math.MinInt64, math.MaxInt64})).Draw(t, "value")
		var s Statistics
		s.Add(rapid.OneOf(rapid.Uint32Range(0, 5), rapid.Uint32()).Draw(t, "rank"), v)
		if rapid.Bool().Draw(t, "neighbour") {
			s.Add(3, v^1)
		}
		for range rapid.IntRange(0, 57).Draw(t, "doublings") * rapid.IntRange(0, 1).Draw(t, "doubled") {
			copied := s
			if s.Merge(&copied); rapid.IntRange(0, 9).Draw(t, "one more") == 0 {
				s.Add(1, v)
			}
		}
		all.Merge(&s)
	}
	return all
})

// checkRounded checks that statistics are those that came out of a table, of
// those that went in.
func checkRounded(t rapid.TB, got, want *Statistics) {
	t.Helper()
	if got.Count != want.Count || got.Min != want.Min || got.Max != want.Max || got.MinRank != want.MinRank ||
		got.MaxRank != want.MaxRank {
		t.Fatalf("%+v is read as %+v", want, got)
	}
	if want.Count == 0 {
		return
	}
	off := new(big.Int).Sub(got.Integer(), want.Integer())
	if bound := got.SumError(); bound < math.MaxUint64 && off.Abs(off).Cmp(new(big.Int).SetUint64(bound)) > 0 {
		t.Fatalf("the sum of %+v moved by %v, more than %d", want, off, bound)
	}
	if want.Count <= 2 || want.Min == want.Max {
		if *got != *want {
			t.Fatalf("%+v is read as %+v", want, got)
		}
		return
	}
	moments := func(s *Statistics) (mean, variance *big.Rat) {
		mean, variance = s.exact()
		mean.Quo(mean, s.count())
		variance.Quo(variance, s.count())
		return mean, variance.Sub(variance, new(big.Rat).Mul(mean, mean))
	}
	mean, variance := moments(got)
	exact, spread := moments(want)
	nearer := new(big.Rat).Sub(exact, new(big.Rat).SetInt64(want.Min))
	if other := new(big.Rat).Sub(new(big.Rat).SetInt64(want.Max), exact); other.Cmp(nearer) < 0 {
		nearer = other
	}
	if mean.Sub(mean, exact).Abs(mean).Cmp(nearer.Quo(nearer, big.NewRat(4096, 1))) > 0 {
		t.Fatalf("the mean of %+v moved by %v", want, mean.FloatString(9))
	}
	if variance.Sub(variance, spread).Abs(variance).Cmp(spread.Quo(spread, big.NewRat(100, 1))) > 0 {
		t.Fatalf("the variance of %+v, 100 times %v, moved by %v", want, spread.FloatString(9), variance.FloatString(9))
	}
	if enc := encode(t, got); len(enc) > 0 {
		if _, err := parseStatistics(enc); err != nil {
			t.Fatalf("%+v, read as %+v, cannot be written alone: %v", want, got, err)
		}
	}
}

// checkTable writes a table and reads it, and returns its encoding.
func checkTable(t rapid.TB, n int, columns ...[]Statistics) []byte {
	t.Helper()
	enc := AppendStatisticsTable([]byte("before"), n, classOfRow, columns...)
	enc, ok := bytes.CutPrefix(enc, []byte("before"))
	if !ok {
		t.Fatalf("%q in place of what was there", enc)
	}
	table, err := ParseStatisticsTable(enc, n, classOfRow, len(columns))
	if err != nil {
		t.Fatal(err)
	}
	if len(table) != len(columns) {
		t.Fatalf("%d columns, want %d", len(table), len(columns))
	}
	for k, column := range columns {
		for len(column) > 0 && column[len(column)-1].Count == 0 {
			column = column[:len(column)-1]
		}
		if len(table[k]) != len(column) {
			t.Fatalf("column %d has %d rows, want %d", k, len(table[k]), len(column))
		}
		for i := range column {
			checkRounded(t, &table[k][i], &column[i])
		}
	}
	if again := AppendStatisticsTable(nil, n, classOfRow, table...); !bytes.Equal(again, enc) {
		t.Fatalf("%x is read, and written as %x", enc, again)
	}
	return enc
}

// TestStatisticsTable compares what is read from a table with what was written,
// in exact arithmetic.
func TestStatisticsTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var columns [][]Statistics
		rows := 0
		for range rapid.IntRange(0, 2).Draw(t, "columns") {
			columns = append(columns, rapid.SliceOfN(genCrowd, 0, 8).Draw(t, "column"))
			rows = max(rows, len(columns[len(columns)-1]))
		}
		if len(columns) == 2 && rapid.Bool().Draw(t, "same counts") {
			columns[1] = slices.Clone(columns[0])
		}
		checkTable(t, rows+rapid.IntRange(0, 3).Draw(t, "more rows"), columns...)
	})
}

// TestSumError merges statistics that went through tables, as often as it likes, and
// compares how far their sums are off with what they say.
func TestSumError(t *testing.T) {
	known := 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "rows")
		rounded, exact := make([]Statistics, n), make([]Statistics, n)
		for range rapid.IntRange(1, 6).Draw(t, "traces") {
			for i := range rounded {
				s := genFew.Draw(t, "of a trace")
				exact[i].Merge(&s)
				rounded[i].Merge(&s)
			}
			enc := AppendStatisticsTable(nil, n, classOfRow, rounded)
			table, err := ParseStatisticsTable(enc, n, classOfRow, 1)
			if err != nil {
				t.Fatal(err)
			}
			if again := AppendStatisticsTable(nil, n, classOfRow, table...); !bytes.Equal(again, enc) {
				t.Fatalf("%x is read, and written as %x", enc, again)
			}
			rounded = append(table[0], make([]Statistics, n-len(table[0]))...)
			for i := range rounded {
				bound := rounded[i].SumError()
				off := new(big.Int).Sub(rounded[i].Integer(), exact[i].Integer())
				if bound < math.MaxUint64 {
					known++
				}
				if bound < math.MaxUint64 && off.Abs(off).Cmp(new(big.Int).SetUint64(bound)) > 0 {
					t.Fatalf("the sum of %+v is off by %v, more than %d", exact[i], off, bound)
				}
			}
		}
	})
	if known == 0 {
		t.Error("no bound was known")
	}
}

// TestSumErrorBefore reads a table as it was written when tables did not tell how often sums were
// rounded: how far these are off is not known. It is written as it was.
func TestSumErrorBefore(t *testing.T) {
	var s Statistics
	for i := range int64(1000) {
		s.Add(0, i*i*i%1_000_003+7)
	}
	column := []Statistics{s}
	enc := AppendStatisticsTable(nil, 1, classOfRow, column)
	table, err := ParseStatisticsTable(enc, 1, classOfRow, 1)
	if err != nil || table[0][0].SumError() == 0 || table[0][0].SumError() > 1<<20 {
		t.Fatalf("%v, %v", table, err)
	}
	before := slices.Clone(enc)
	before[0] &= 1<<roundingsShift - 1
	table, err = ParseStatisticsTable(before, 1, classOfRow, 1)
	if err != nil || table[0][0].SumError() != math.MaxUint64 {
		t.Fatalf("%v, %v", table, err)
	}
	if again := AppendStatisticsTable(nil, 1, classOfRow, table...); !bytes.Equal(again, before) {
		t.Fatalf("%x is read, and written as %x", before, again)
	}
	table[0][0].Merge(&s)
	again := AppendStatisticsTable(nil, 1, classOfRow, table...)
	if table, err = ParseStatisticsTable(again, 1, classOfRow, 1); err != nil ||
		table[0][0].SumError() != math.MaxUint64 {
		t.Fatalf("merged: %v, %v", table, err)
	}
}

// genFew draws statistics of few values as calls take, some of them far from others.
var genFew = rapid.Custom(func(t *rapid.T) (s Statistics) {
	for range rapid.IntRange(0, 20).Draw(t, "values") {
		s.Add(0, rapid.Int64Range(-10, 1<<rapid.IntRange(4, 36).Draw(t, "scale")).Draw(t, "value"))
	}
	return s
})

// TestStatisticsTableClose checks values where rounding is most delicate: near an
// end of what they can sum up to, and near each other.
func TestStatisticsTableClose(t *testing.T) {
	var column []Statistics
	for _, width := range []int64{1, 2, 3, 254, 255, 256, 257, 511, 4096, 1 << 40, math.MaxInt64} {
		for _, crowd := range []int64{0, 1, width / 2, width - 1, width} {
			for doublings := range 24 {
				for _, other := range []int64{0, width / 2, width} {
					var s, crowded Statistics
					crowded.Add(0, crowd)
					for range doublings {
						copied := crowded
						crowded.Merge(&copied)
					}
					s.Add(1, 0)
					s.Add(2, width)
					s.Add(3, other)
					s.Merge(&crowded)
					column = append(column, s)
				}
			}
		}
	}
	checkTable(t, len(column), column)
}

// TestStatisticsTableImpossible writes statistics that no values have, as damaged
// part files may have them: what is read is such that it can be written again.
func TestStatisticsTableImpossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.Int64Range(1, 1<<20).Draw(t, "width")
		n := rapid.Int64Range(2, 1000).Draw(t, "values")
		sum := rapid.Int64Range(width, (n-1)*width).Draw(t, "sum")
		least := new(big.Int).Mul(big.NewInt(sum), big.NewInt(sum))
		least.Add(least, big.NewInt(n-1)).Div(least, big.NewInt(n))
		squares := big.NewInt(rapid.Int64Range(least.Int64(), sum*width).Draw(t, "squares"))
		s := Statistics{Count: uint64(n), Max: width}
		s.setSums(wide.Of(uint64(sum)), wide.Of(squares.Uint64()))
		if _, err := parseStatistics(encode(t, &s)); err != nil {
			t.Fatal(err)
		}
		if !readsAs(t, AppendStatisticsTable(nil, 1, classOfRow, []Statistics{s}), 1, 1) {
			t.Fatalf("%+v in a table cannot be read", s)
		}
	})
}

// timedTable returns the statistics of recorded runs, or of values that are made
// up.
func timedTable(t recorded.Test, real bool) (durations, gaps []Statistics) {
	if !real {
		random := newRandom(1)
		durations, gaps = make([]Statistics, 300), make([]Statistics, 300)
		for i := range 2000 {
			at := int(300 * random.float() * random.float())
			durations[at].Add(uint32(i%8), int64(math.Exp(random.float()*12+3)))
			gaps[at].Add(uint32(i%8), int64(math.Exp(random.float()*9))-20)
		}
		return durations, gaps
	}
	for k, r := range recorded.Ranks(t) {
		base, all := len(durations), r.Gaps()
		for i, terminal := range r.Terminals {
			at := base + int(terminal)
			for at >= len(durations) {
				durations, gaps = append(durations, Statistics{}), append(gaps, Statistics{})
			}
			durations[at].Add(uint32(k), r.Durations[i])
			if i > 0 {
				gaps[at].Add(uint32(k), all[i])
			}
		}
	}
	return durations, gaps
}

// TestStatisticsTableRecorded checks the statistics of recorded runs, and what they
// take.
func TestStatisticsTableRecorded(t *testing.T) {
	durations, gaps := timedTable(t, true)
	enc := checkTable(t, len(durations), durations, gaps)
	rows, alone := 0, 0
	for i := range durations {
		if durations[i].Count > 0 {
			rows++
			alone += len(encode(t, &durations[i])) + len(encode(t, &gaps[i]))
		}
	}
	t.Logf("%d rows: %d bytes, alone %d", rows, len(enc), alone)
	if len(enc) > 9*rows {
		t.Errorf("%d bytes for %d rows", len(enc), rows)
	}
}

// TestStatisticsTableDamaged reads a table with each bit changed, and cut off: there is an error, or what is
// read is written as it is.
func TestStatisticsTableDamaged(t *testing.T) {
	durations, gaps := timedTable(t, false)
	durations, gaps = durations[:40], gaps[:40]
	enc := checkTable(t, 40, durations, gaps)
	refused, step := 0, 1
	if !tier.Nightly {
		step = 17
	}
	for i := 0; i < 8*len(enc); i += step {
		damaged := slices.Clone(enc)
		damaged[i/8] ^= 1 << (i % 8)
		if !readsAs(t, damaged, 40, 2) {
			refused++
		}
	}
	if refused < 4*len(enc)/step {
		t.Errorf("%d of %d damaged tables were refused", refused, 8*len(enc)/step)
	}
	for i := range enc[:len(enc)-8] { // with fewer bits, the last values can be others
		if readsAs(t, enc[:i], 40, 2) {
			t.Errorf("%d of %d bytes are a table", i, len(enc))
		}
	}
	for _, n := range []int{39, 41, 1 << 22} {
		if readsAs(t, enc, n, 2) {
			t.Errorf("a table of 40 rows is one of %d", n)
		}
	}
}

// readsAs reports whether data is a table, and checks that it is the encoding of
// what is read.
func readsAs(t rapid.TB, data []byte, n, columns int) bool {
	t.Helper()
	table, err := ParseStatisticsTable(data, n, classOfRow, columns)
	var e *ParseError
	if err != nil {
		if table != nil || !errors.As(err, &e) || !errors.Is(err, ErrCorrupt) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("%v, %v", table, err)
		}
		return false
	}
	if again := AppendStatisticsTable(nil, n, classOfRow, table...); !bytes.Equal(again, data) {
		t.Fatalf("%x is read, and written as %x", data, again)
	}
	for _, column := range table {
		for i := range column {
			if s := &column[i]; s.Count > 0 {
				alone := *s
				alone.SetSumError(0) // which a table has, and statistics alone do not
				if got, err := parseStatistics(encode(t, s)); err != nil || *got != alone {
					t.Fatalf("%+v alone: %+v, %v", s, got, err)
				}
			}
		}
	}
	return true
}

func FuzzParseStatisticsTable(f *testing.F) {
	durations, gaps := timedTable(f, false)
	for _, n := range []int{0, 1, 3, 20} {
		f.Add(AppendStatisticsTable(nil, n, classOfRow, durations[:n]), n, false)
		f.Add(AppendStatisticsTable(nil, n, classOfRow, durations[:n], gaps[:n]), n, true)
	}
	mutate.Fuzz(f, func(t *testing.T, data []byte, n int, two bool) {
		columns := 1
		if two {
			columns = 2
		}
		readsAs(t, data, max(0, min(n, 1<<12)), columns)
	})
}

// TestStatisticsTableMemory checks that few bytes do not take memory for as many
// rows as there should be.
func TestStatisticsTableMemory(t *testing.T) {
	if raceEnabled {
		t.Skip("measures memory")
	}
	for _, fill := range []byte{0, 0x55, 0xff} {
		data := append([]byte{0}, bytes.Repeat([]byte{fill}, 100)...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ParseStatisticsTable(data, 1<<22, classOfRow, 2)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err == nil || got > 8<<20 {
			t.Errorf("%d bytes for 100 bytes of %#x: %v", got, fill, err)
		}
	}
}

func BenchmarkStatisticsTable(b *testing.B) {
	durations, gaps := timedTable(b, false)
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			AppendStatisticsTable(nil, len(durations), classOfRow, durations, gaps)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(durations)), "ns/row")
	})
	enc := AppendStatisticsTable(nil, len(durations), classOfRow, durations, gaps)
	b.Run("parse", func(b *testing.B) {
		for b.Loop() {
			if _, err := ParseStatisticsTable(enc, len(durations), classOfRow, 2); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(durations)), "ns/row")
		b.ReportMetric(float64(len(enc))/float64(len(durations)), "bytes/row")
	})
}
