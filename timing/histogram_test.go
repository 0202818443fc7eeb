package timing

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/drawn"
)

// seriesGen draws the values of a series: any, or many that are near each other,
// around some places.
func seriesGen() *rapid.Generator[[]int64] {
	special := rapid.SampledFrom([]int64{0, 1, 2, math.MinInt64, math.MaxInt64, 0x7ff0000000000000})
	return rapid.Custom(func(t *rapid.T) []int64 {
		values := rapid.SliceOfN(rapid.OneOf(drawn.Values(), special), 0, 20).Draw(t, "values")
		for range rapid.IntRange(0, 3).Draw(t, "clusters") {
			center := drawn.Values().Draw(t, "center")
			width := rapid.Float64Range(0, 2).Draw(t, "width")
			r := newRandom(rapid.Uint64().Draw(t, "seed"))
			for range rapid.IntRange(0, 400).Draw(t, "length") {
				v := float64(center) * (1 + width*(r.float()-0.5))
				if math.Abs(v) < 0x1p63 {
					values = append(values, int64(v))
				}
			}
		}
		return values
	})
}

func histogramOf(t rapid.TB, bins int, rank uint32, values []int64) *Histogram {
	b, err := NewHistogramsBuilder(HistogramOptions{Bins: bins})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		b.Append(0, v)
	}
	if h := b.Finish(rank).Find(Path{NoPrevious, 0}); h != nil {
		return h
	}
	return new(Histogram)
}

func encodeHistogram(t rapid.TB, h *Histogram) []byte {
	return h.append(nil)
}

// checkHistogram checks what holds for every histogram of these values, and
// that it survives encoding.
func checkHistogram(t rapid.TB, h *Histogram, values []ranked, most int) {
	t.Helper()
	checkStatistics(t, h.Statistics(), values)
	checkBins(t, h, most)
	checkReading(t, h)
	enc := encodeHistogram(t, h)
	got, err := parseHistogram(enc)
	if err != nil {
		t.Fatalf("%v of %x", err, enc)
	}
	if again := encodeHistogram(t, got); !bytes.Equal(again, enc) {
		t.Fatalf("encoded as %x, and again as %x", enc, again)
	}
	if !slices.Equal(got.Bins(), h.Bins()) {
		t.Fatalf("bins %v became %v", h.Bins(), got.Bins())
	}
}

// checkBins checks that bins are in order, and hold all values and their means.
func checkBins(t rapid.TB, h *Histogram, most int) {
	t.Helper()
	s, bins := h.Statistics(), h.Bins()
	if len(bins) > most || (len(bins) == 0) != (s.Count == 0) {
		t.Fatalf("%d bins, of at most %d, for %d values", len(bins), most, s.Count)
	}
	var count uint64
	for i, b := range bins {
		if b.Count == 0 || b.Low > b.High || i > 0 && b.Low <= bins[i-1].High {
			t.Fatalf("bin %d of %v", i, bins)
		}
		if !(b.Mean >= float64(b.Low) && b.Mean <= float64(b.High) && b.StandardDeviation >= 0 &&
			b.StandardDeviation <= float64(b.High)-float64(b.Low)) {
			t.Fatalf("bin %d of %v: mean %v ± %v", i, bins, b.Mean, b.StandardDeviation)
		}
		count += b.Count
	}
	if count != s.Count {
		t.Fatalf("%d values in bins, want %d", count, s.Count)
	}
	if len(bins) > 0 && (bins[0].Low != s.Min || bins[len(bins)-1].High != s.Max) {
		t.Fatalf("bins %v of values from %v to %v", bins, s.Min, s.Max)
	}
}

// checkReading checks that quantiles and shares grow from end to end, and are
// inverse to each other, and that samples are in bins.
func checkReading(t rapid.TB, h *Histogram) {
	t.Helper()
	s, bins := h.Statistics(), h.Bins()
	source := rand.NewPCG(1, 2)
	if s.Count == 0 {
		if h.Quantile(0.5) != 0 || h.Sample(source) != 0 || !math.IsNaN(h.cdf(0)) {
			t.Fatal("something is read of no values")
		}
		return
	}
	if h.Quantile(0) != s.Min || h.Quantile(1) != s.Max || h.cdf(s.Max) != 1 ||
		s.Min > math.MinInt64 && h.cdf(math.MinInt64) != 0 {
		t.Fatalf("from %v to %v: quantiles %v to %v, share %v", s.Min, s.Max, h.Quantile(0), h.Quantile(1),
			h.cdf(s.Max))
	}
	// Where values are nearly equal, or a bin is much wider than most of its
	// values are, places are rounded.
	exact := s.Min > 0 && s.Max < math.MaxInt64/2 && float64(s.Max) < 1e3*float64(s.Min)
	last := s.Min
	for i := range 41 {
		q := float64(i) / 40
		v := h.Quantile(q)
		if v < last {
			t.Fatalf("quantile %v is %v, after %v", q, v, last)
		}
		last = v
		if share := h.cdf(v + int64(float64(v)*1e-6)); exact && share < q-1e-3 {
			t.Fatalf("quantile %v is %v, which is at place %v", q, v, share)
		}
		v = h.Sample(source)
		if !slices.ContainsFunc(bins, func(b HistogramBin) bool { return b.Low <= v && v <= b.High }) {
			t.Fatalf("sample %v is in no bin of %v", v, bins)
		}
	}
}

func testHistogram(t *rapid.T) {
	values := seriesGen().Draw(t, "series")
	n := rapid.IntRange(2, 20).Draw(t, "bins")
	var all []ranked
	for _, v := range values {
		all = append(all, ranked{3, v})
	}
	h := histogramOf(t, n, 3, values)
	checkHistogram(t, h, all, n)
	r := h.Reduce(2)
	checkHistogram(t, r, all, 2)
	if again := r.Reduce(2); !bytes.Equal(encodeHistogram(t, again), encodeHistogram(t, r)) {
		t.Fatal("what is reduced is not left as it is")
	}
}

func TestHistogram(t *testing.T) { rapid.Check(t, testHistogram) }

// testHistogramMerge checks that merging in any order and tree gives the same,
// and leaves alone what is merged.
func testHistogramMerge(t *rapid.T) {
	var series []*Histogram
	var before [][]byte
	var all []ranked
	for rank := range rapid.Uint32Range(0, 6).Draw(t, "ranks") {
		values := seriesGen().Draw(t, "series")
		for _, v := range values {
			all = append(all, ranked{rank, v})
		}
		h := histogramOf(t, rapid.IntRange(2, 12).Draw(t, "bins"), rank, values)
		series, before = append(series, h), append(before, encodeHistogram(t, h))
	}
	want := new(Histogram)
	for _, h := range series {
		want.Merge(h)
	}
	checkHistogram(t, want, all, maxCells)
	checkHistogram(t, want.Reduce(8), all, 8)
	for i, h := range series {
		if !bytes.Equal(encodeHistogram(t, h), before[i]) {
			t.Fatal("merging changed what was merged")
		}
	}
	got := mergeAtRandom(t, series)
	if !bytes.Equal(encodeHistogram(t, got), encodeHistogram(t, want)) {
		t.Fatalf("merged as %x, and as %x", encodeHistogram(t, want), encodeHistogram(t, got))
	}
}

// mergeAtRandom merges histograms in any order and tree, some of them encoded
// in between.
func mergeAtRandom(t *rapid.T, series []*Histogram) *Histogram {
	groups := []*Histogram{new(Histogram)}
	for _, h := range rapid.Permutation(series).Draw(t, "order") {
		copied, err := parseHistogram(encodeHistogram(t, h))
		if err != nil {
			t.Fatal(err)
		}
		groups = append(groups, copied)
	}
	for len(groups) > 1 {
		i := rapid.IntRange(0, len(groups)-2).Draw(t, "merge")
		groups[i].Merge(groups[i+1])
		groups = slices.Delete(groups, i+1, i+2)
		if rapid.Bool().Draw(t, "encode") {
			h, err := parseHistogram(encodeHistogram(t, groups[i]))
			if err != nil {
				t.Fatal(err)
			}
			groups[i] = h
		}
	}
	return groups[0]
}

func TestHistogramMerge(t *testing.T) { rapid.Check(t, testHistogramMerge) }

// TestHistogramLevels checks that merging does not depend on the order where
// there are many more cells than a histogram may have, and that the level is
// the least.
func TestHistogramLevels(t *testing.T) {
	const ranks = 24
	var series []*Histogram
	for rank := range uint32(ranks) {
		r := newRandom(uint64(rank))
		var values []int64
		for range 2000 {
			v := int64(r.next() >> (r.next() % 64))
			if rank < 3 {
				v = int64(1e6 * (1 + r.float()/2))
			}
			values = append(values, v)
		}
		series = append(series, histogramOf(t, 64, rank, values))
	}
	var forward, backward, pairs Histogram
	var finest []cell
	level := uint8(0)
	for i := range series {
		forward.Merge(series[i])
		backward.Merge(series[ranks-1-i])
		if forward.level < level {
			t.Errorf("level %d after %d", forward.level, level)
		}
		level = forward.level
		finest = append(finest, cellsOf(series[i].spans)...)
	}
	for i := 0; i < ranks; i += 2 {
		var pair Histogram
		pair.Merge(series[i+1])
		pair.Merge(series[i])
		pair.Merge(&pairs)
		pairs = Histogram{}
		pairs.Merge(&pair)
	}
	enc := encodeHistogram(t, &forward)
	if !bytes.Equal(encodeHistogram(t, &backward), enc) || !bytes.Equal(encodeHistogram(t, &pairs), enc) {
		t.Error("the order changed the histogram")
	}
	counts := make(map[int32]uint64)
	finer := make(map[int32]bool)
	for _, c := range finest {
		counts[c.index>>level] += c.count
		finer[c.index>>(max(level, 1)-1)] = true
	}
	if level == 0 || len(finer) <= maxCells || len(counts) != len(forward.cells) {
		t.Errorf("%d cells on level %d, where %d are on the one below", len(forward.cells), level, len(finer))
	}
	for _, c := range forward.cells {
		if counts[c.index] != c.count {
			t.Errorf("%d values in cell %d, want %d", c.count, c.index, counts[c.index])
		}
	}
	t.Logf("level %d, %d cells, %d bytes; reduced to 8 bins, %d bytes", level, len(forward.cells), len(enc),
		len(encodeHistogram(t, forward.Reduce(8))))
}

// TestHistogramFull checks that the level stays until there are too many cells.
func TestHistogramFull(t *testing.T) {
	var h Histogram
	for i := range int32(maxCells + 1) {
		h.Merge(histogramOf(t, 0, 0, []int64{lowest(i)}))
		if n := int(i) + 1; n > 1 && n <= maxCells && (h.level != 0 || len(h.cells) != n) {
			t.Fatalf("level %d, %d cells, want %d", h.level, len(h.cells), n)
		}
	}
	if h.level != 1 || len(h.cells) != maxCells/2+1 {
		t.Fatalf("level %d, %d cells of %d", h.level, len(h.cells), maxCells+1)
	}
}

func testCells(t *rapid.T) {
	v := rapid.OneOf(drawn.Values(), rapid.SampledFrom([]int64{0, math.MaxInt64, math.MinInt64})).Draw(t, "v")
	i := cellIndex(v)
	if low, high := lowest(i), highest(i); v < low || v > high || low > high {
		t.Fatalf("%v in cell %d from %v to %v", v, i, low, high)
	} else if low > math.MinInt64 {
		before := highest(i - 1)
		if before != low-1 || i > 1 && cellIndex(low) != i {
			t.Fatalf("cell %d begins with %v, and that before ends with %v", i, low, before)
		}
	}
	if w := float64(highest(i)) - float64(lowest(i)); w > math.Abs(float64(v))/(1<<octaveBits) {
		t.Fatalf("cell %d of %v has width %v", i, v, w)
	}
}

func TestCells(t *testing.T) { rapid.Check(t, testCells) }

// TestSpan checks that values in a bin have the mean and the variance that they
// are to have, if t is a power of 2, and that shares are inverse to values.
func TestSpan(t *testing.T) {
	for shape := int8(minShape); shape <= maxShape; shape++ {
		for _, mean := range []float32{0, half(0.02), half(0.1), 0.5, 0.75, half(0.99), 1} {
			s := span{low: 3e15, high: 7e15, count: 1000, mean: mean, shape: shape}
			const n = 1 << 17
			var sum, squares float64
			for i := range n {
				f := (float64(i) + 0.5) / n
				v := s.at(f)
				d := float64(v) - s.average()
				sum += d
				squares += d * d
				if got := s.upTo(v); math.Abs(got-f) > 1e-5 && mean > 0 && mean < 1 && math.Abs(d) > 1e9 {
					t.Fatalf("mean %v, shape %d: %v, at %v, is at %v", mean, shape, v, f, got)
				}
			}
			if d := sum / n; math.Abs(d) > 1e12 {
				t.Errorf("mean %v, shape %d: mean is %v too large", mean, shape, d)
			}
			if d := math.Sqrt(squares/n) - s.deviation(); math.Abs(d) > 2e12 {
				t.Errorf("mean %v, shape %d: deviation is %v too large", mean, shape, d)
			}
			again := newSpan(s.low, s.high, s.bin())
			if again.mean != mean || mean > 0 && mean < 1 && again.shape != shape {
				t.Errorf("mean %v, shape %d became %v, %d", mean, shape, again.mean, again.shape)
			}
		}
	}
}

func TestHistogramOptions(t *testing.T) {
	for _, n := range []int{-1, 1, maxHistogramBins + 1} {
		if _, err := NewHistogramsBuilder(HistogramOptions{Bins: n}); err == nil {
			t.Errorf("%d bins are accepted", n)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("reduced to %d bins", n)
				}
			}()
			new(Histogram).Reduce(n)
		}()
	}
}

// TestReduceFew checks that a histogram of few values has few bins in the end.
func TestReduceFew(t *testing.T) {
	for values, most := range map[int]int{10: 2, 40: 5, 96: 12, 800: 16} { // in each of two series
		var b histogramBuilder
		merged := new(Histogram)
		for i := range values {
			b.add(int64(1000 + 37*i))
		}
		merged.Merge(b.histogram(0))
		merged.Merge(b.histogram(1))
		if got := len(merged.Reduce(16).Bins()); got > most {
			t.Errorf("%d bins of %d values", got, 2*values)
		}
	}
}

// TestHistogramBytes checks that histograms and samples are the same on every
// machine: the sums are those of the first.
func TestHistogramBytes(t *testing.T) {
	var enc []byte
	source := rand.NewPCG(1, 2)
	merged := new(Histogram)
	for rank := range uint32(5) {
		r := newRandom(uint64(rank))
		var b histogramBuilder
		for range 5000 {
			x := r.float() + r.float()
			b.add(int64(1000 * (1 + x*x*x*x)))
		}
		h := b.histogram(rank)
		merged.Merge(h)
		enc = h.append(enc)
	}
	enc = merged.append(enc)
	enc = merged.Reduce(8).append(enc)
	for range 1000 {
		enc = fmt.Appendf(enc, "%x", merged.Sample(source))
	}
	if got := crc32.ChecksumIEEE(enc); got != 0xde6e1899 {
		t.Errorf("%d bytes with the sum %08x", len(enc), got)
	}
}

// TestHistogramMany merges histograms of nearly 2⁶³ values each, whose counts
// together would overflow, and checks that what comes out can be used and read.
func TestHistogramMany(t *testing.T) {
	var many []*Histogram
	for k := range int64(3) {
		h := histogramOf(t, 4, uint32(k), []int64{k, k + 3, k + 7, 12})
		for range 60 {
			once := new(Histogram)
			once.Merge(h)
			h.Merge(once)
		}
		many = append(many, h)
	}
	var all, backward Histogram
	for i := range many {
		all.Merge(many[i])
		backward.Merge(many[len(many)-1-i])
	}
	enc := encodeHistogram(t, &all)
	if again := encodeHistogram(t, &backward); !bytes.Equal(enc, again) {
		t.Fatalf("%x in one order, %x in the other", enc, again)
	}
	for range 3 {
		all.Merge(&all)
	}
	h, err := parseHistogram(enc)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []*Histogram{&all, h, h.Reduce(2)} {
		checkBins(t, h, 1)
		if s := h.Statistics(); s.Count != manyValues || s.Min != 0 || s.Max != 12 || h.Quantile(0.5) != 6 ||
			h.cdf(5) < 0.4 || h.cdf(5) > 0.5 {
			t.Errorf("%d values from %d to %d, median %d, up to 5 %v", s.Count, s.Min, s.Max, h.Quantile(0.5), h.cdf(5))
		}
	}
}

// TestHistogramNeighbours encodes a histogram of integers that are no farther
// from each other than float64 of their size are.
func TestHistogramNeighbours(t *testing.T) {
	values := []int64{1 << 60, 1<<60 + 1}
	h := histogramOf(t, 8, 0, values)
	checkHistogram(t, h, []ranked{{0, values[0]}, {0, values[1]}}, 8)
}
