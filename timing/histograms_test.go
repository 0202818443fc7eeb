package timing

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/drawn"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/mutate"
)

func encodeHistograms(t rapid.TB, h *Histograms) []byte {
	enc, err := h.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return enc
}

// A pathModel makes histograms as they are defined: one of the values of
// each path.
func pathModel(t rapid.TB, o HistogramOptions, rank uint32, calls []drawn.Call) map[Path]*Histogram {
	values := make(map[Path][]int64)
	previous := int64(NoPrevious)
	for _, c := range calls {
		p := Path{previous, c.Terminal}
		values[p] = append(values[p], c.Value)
		if o.PathSensitive {
			previous = int64(c.Terminal)
		}
	}
	model := make(map[Path]*Histogram)
	for p, v := range values {
		model[p] = histogramOf(t, o.Bins, rank, v)
	}
	return model
}

func checkHistograms(t rapid.TB, h *Histograms, model map[Path]*Histogram) {
	t.Helper()
	if h.Len() != len(model) || h.Find(Path{7, 1 << 30}) != nil {
		t.Fatalf("%d histograms, want %d", h.Len(), len(model))
	}
	paths := slices.SortedFunc(maps.Keys(model), comparePaths)
	for path, one := range h.All() {
		if path != paths[0] || !bytes.Equal(encodeHistogram(t, one), encodeHistogram(t, model[path])) ||
			h.Find(path) != one {
			t.Fatalf("another histogram of %v, or not of %v", path, paths[0])
		}
		paths = paths[1:]
	}
	for range h.All() {
		break
	}
	enc := encodeHistograms(t, h)
	got, err := ParseHistograms(enc)
	if err != nil {
		t.Fatal(err)
	}
	if again := encodeHistograms(t, got); !bytes.Equal(again, enc) {
		t.Fatalf("encoded as %x, and again as %x", enc, again)
	}
}

func buildHistograms(t rapid.TB, o HistogramOptions, rank uint32, calls []drawn.Call) *Histograms {
	b, err := NewHistogramsBuilder(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		b.Append(c.Terminal, c.Value)
	}
	return b.Finish(rank)
}

// TestHistogramsTake checks that histograms are either taken or left, and that those left are as they were.
func TestHistogramsTake(t *testing.T) {
	var calls []drawn.Call
	for i := range uint32(100) {
		calls = append(calls, drawn.Call{Terminal: i * i % 7, Value: int64(i)})
	}
	for _, paths := range []bool{false, true} {
		o := HistogramOptions{PathSensitive: paths}
		h, before := buildHistograms(t, o, 0, calls), make(map[Path]*Histogram)
		for path, one := range h.All() {
			before[path] = one
		}
		taken := h.Take(func(p Path) (Path, bool) {
			odd := p.Terminal%2 == 1
			p.Terminal += 10
			return p, odd
		})
		if taken.Len() == 0 || h.Len() == 0 || taken.Len()+h.Len() != len(before) {
			t.Errorf("%d histograms taken and %d left of %d", taken.Len(), h.Len(), len(before))
		}
		for path, one := range h.All() {
			if path.Terminal%2 == 1 || before[path] != one {
				t.Errorf("%+v is left, of another histogram than before", path)
			}
		}
		for path, one := range taken.All() {
			path.Terminal -= 10
			if path.Terminal%2 == 0 || one.Statistics().Count != before[path].Statistics().Count {
				t.Errorf("%+v is taken, with %d values", path, one.Statistics().Count)
			}
		}
	}
}

func TestHistograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := HistogramOptions{Bins: rapid.IntRange(2, 10).Draw(t, "bins"),
			PathSensitive: rapid.Bool().Draw(t, "path-sensitive")}
		halve := func(p Path) (Path, bool) {
			p.Terminal /= 2
			if p.Previous != NoPrevious {
				p.Previous /= 2
			}
			return p, p.Terminal != 1
		}
		model, halved := make(map[Path]*Histogram), make(map[Path]*Histogram)
		merged, backward := new(Histograms), new(Histograms)
		for rank := range rapid.Uint32Range(1, 3).Draw(t, "ranks") {
			calls := drawn.Calls(drawn.Values()).Draw(t, "calls")
			h, one := buildHistograms(t, o, rank, calls), pathModel(t, o, rank, calls)
			checkHistograms(t, h, one)
			for p, h := range one {
				addHistogram(model, p, h)
				if q, ok := halve(p); ok {
					addHistogram(halved, q, h)
				}
			}
			merged.Merge(h)
			h.Merge(backward)
			backward = h
		}
		checkHistograms(t, merged, model)
		checkHistograms(t, backward, model)
		checkHistograms(t, merged.Rename(halve), halved)
		for p, h := range model {
			model[p] = h.Reduce(4)
		}
		checkHistograms(t, merged.Reduce(4), model)
	})
}

func addHistogram(all map[Path]*Histogram, p Path, h *Histogram) {
	if all[p] == nil {
		all[p] = new(Histogram)
	}
	all[p].Merge(h)
}

// exampleHistograms are of one path with one value, of one with many in bins,
// and, if several, in cells on a level above 0.
func exampleHistograms(t testing.TB, several bool) *Histograms {
	all := new(Histograms)
	for rank := range uint32(3) {
		r := newRandom(uint64(rank))
		b, err := NewHistogramsBuilder(HistogramOptions{PathSensitive: true})
		if err != nil {
			t.Fatal(err)
		}
		b.Append(5, 7)
		for range 600 {
			b.Append(9, int64(r.next()>>(1+r.next()%40)))
		}
		h := b.Finish(rank)
		if !several {
			return h
		}
		all.Merge(h)
	}
	return all
}

func TestParseHistogramErrors(t *testing.T) {
	// Five values from 10 to 20, the sum 70 and the squares 1034, and what
	// follows: bins or cells.
	const head = "\x05\x14\x0a\x00\x00\x01\x14\x01\x86"
	for _, c := range []struct {
		name string
		data string
		off  int64
		want error
	}{
		{"Empty", "", 0, io.ErrUnexpectedEOF},
		{"NoLevel", head, 9, io.ErrUnexpectedEOF},
		{"LevelTooHigh", head + "\x0b", 9, ErrCorrupt},
		{"NoBins", head + "\x00\x00", 10, ErrCorrupt},
		{"TooManyBins", head + "\x00\x41" + string(make([]byte, 99)), 10, ErrCorrupt},
		{"BinsCutOff", head + "\x00\x05\x00", 12, io.ErrUnexpectedEOF},
		{"NoValueLeft", head + "\x00\x02\x00\x04\x00\x00\x00\x00\x00", 11, ErrCorrupt},
		{"TooManyValues", head + "\x00\x02\x00\x05\x00\x00\x00\x00\x00", 11, ErrCorrupt},
		{"ValuesOverflow", head + "\x00\x02\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", 11, ErrCorrupt},
		{"TooWide", head + "\x00\x02\x0b\x00\x00\x00\x00\x00\x00\x00", 11, ErrCorrupt},
		{"WidthOverflows", head + "\x00\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00\x00", 11, ErrCorrupt},
		{"GapTooWide", head + "\x00\x02\x00\x00\x0b\x00\x00\x00\x00\x00", 13, ErrCorrupt},
		{"MeanAboveOne", head + "\x00\x01\x81\x3f\x00", 11, ErrCorrupt},
		{"MeanBelowZero", head + "\x00\x01\x00\x80\x00", 11, ErrCorrupt},
		{"MeanCutOff", head + "\x00\x01\x80", 12, io.ErrUnexpectedEOF},
		{"ShapeTooLarge", head + "\x00\x01\x80\x3e\x10", 13, ErrCorrupt},
		{"Trailing", head + "\x00\x01\x80\x3e\x00\x00", 14, ErrCorrupt},
		{"FewCellsOnLevel", head + "\x02\x00\x00", 10, ErrCorrupt},
		{"TooManyCells", head + "\x01\xff\x03" + string(make([]byte, 2000)), 10, ErrCorrupt},
		{"CellsCutOff", head + "\x01\x02\x00", 10, ErrCorrupt},
		{"CellTooFar", head + "\x01\x01\x00\x09\x00", 12, ErrCorrupt},
		{"CellTooFull", head + "\x01\x01\x00\x00\x03", 12, ErrCorrupt},
		{"FirstCellTooFull", head + "\x01\x00\x04", 11, ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := parseHistogram([]byte(c.data))
			var e *ParseError
			if !errors.As(err, &e) || e.Offset != c.off || !errors.Is(err, c.want) || h != nil {
				t.Fatalf("%v, %v, want %v at offset %d", h, err, c.want, c.off)
			}
		})
	}
	// Nothing is after the largest integer.
	full, err := statisticsOf([]ranked{{0, 1}, {0, math.MaxInt64}, {0, math.MaxInt64}}).AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	full = append(full, "\x00\x02\xfe\xff\xff\xff\xff\xff\xff\xff\x7f\x00\x80\x3e\x00\x00\x80\x3e\x00"...)
	if _, err := parseHistogram(full); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "gap") {
		t.Errorf("%v, want a gap after the largest integer to be rejected", err)
	}
	for _, data := range []string{head + "\x00\x01\x80\x3e\x00", head + "\x01\x00\x03", head + "\x01\x01\x00\x08\x02"} {
		h, err := parseHistogram([]byte(data))
		if err != nil {
			t.Fatalf("%x: %v", data, err)
		}
		checkBins(t, h, 3)
	}
}

// TestHistogramsSkip checks that calls without a value are those before others, and
// have no histogram.
func TestHistogramsSkip(t *testing.T) {
	for _, paths := range []bool{false, true} {
		b, err := NewHistogramsBuilder(HistogramOptions{PathSensitive: paths})
		if err != nil {
			t.Fatal(err)
		}
		b.Skip(7)
		b.Append(3, 10)
		b.Skip(3)
		b.Append(3, 20)
		b.Append(7, 30)
		for _, h := range []*Histograms{b.Finish(0), b.Finish(0)} {
			got := make(map[Path]int64)
			for path, one := range h.All() {
				got[path] = int64(one.Statistics().Sum())
			}
			want := map[Path]int64{{NoPrevious, 3}: 30, {NoPrevious, 7}: 30}
			if paths {
				want = map[Path]int64{{7, 3}: 10, {3, 3}: 20, {3, 7}: 30}
			}
			if !maps.Equal(got, want) || h.PathSensitive() != paths {
				t.Errorf("%v, path-sensitive: %t, want %v, %t", got, h.PathSensitive(), want, paths)
			}
		}
	}
}

// TestHistogramsKinds checks that histograms know whether they are path-sensitive,
// and that both kinds do not merge.
func TestHistogramsKinds(t *testing.T) {
	calls := []drawn.Call{{Terminal: 3, Value: 10}, {Terminal: 3, Value: 11}, {Terminal: 0, Value: 5}}
	byPath := buildHistograms(t, HistogramOptions{PathSensitive: true}, 0, calls)
	alone := buildHistograms(t, HistogramOptions{}, 0, calls)
	none := buildHistograms(t, HistogramOptions{PathSensitive: true}, 0, nil)
	for _, h := range []*Histograms{byPath, alone, none} {
		want := h == byPath
		copied := new(Histograms)
		if err := copied.Merge(h); err != nil {
			t.Fatal(err)
		}
		if err := copied.Merge(none); err != nil {
			t.Fatal(err)
		}
		read, err := ParseHistograms(encodeHistograms(t, h))
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range []*Histograms{h, copied, read, h.Reduce(2), h.Rename(func(p Path) (Path, bool) {
			return p, true
		})} {
			if h.PathSensitive() != want {
				t.Errorf("%d: path-sensitive: %t, want %t", i, !want, want)
			}
		}
		if h.Rename(func(p Path) (Path, bool) { return p, false }).PathSensitive() {
			t.Error("none are path-sensitive")
		}
	}
	before := encodeHistograms(t, byPath)
	if err := byPath.Merge(alone); !errors.Is(err, errPaths) {
		t.Errorf("%v, want %v", err, errPaths)
	}
	if !bytes.Equal(encodeHistograms(t, byPath), before) {
		t.Error("changed by what did not merge")
	}
}

func TestParseHistogramsErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		data string
		off  int64
		want error
	}{
		{"Empty", "", 0, io.ErrUnexpectedEOF},
		{"TooMany", "\x0e\x00\x00\x00\x00\x00", 0, ErrCorrupt},
		{"NoneByPath", "\x01", 0, ErrCorrupt},
		{"TerminalAloneTooLarge", "\x02\x80\x80\x80\x80\x10\x00", 1, ErrCorrupt},
		{"TerminalAloneOverflows", "\x04\xff\xff\xff\xff\x0f\x00\x00\x00", 7, ErrCorrupt},
		{"TerminalOverflows", "\x05\xff\xff\xff\xff\x0f\x00\x00\x01\x00\x00", 8, ErrCorrupt},
		{"PreviousTooLarge", "\x03\x00\x81\x80\x80\x80\x10\x00", 2, ErrCorrupt},
		{"PreviousOverflows", "\x05\x00\x80\x80\x80\x80\x10\x00\x00\x00\x00", 9, ErrCorrupt},
		{"NoHistogram", "\x03\x00\x00\x01", 4, io.ErrUnexpectedEOF},
		{"Trailing", "\x00\x00", 1, ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := ParseHistograms([]byte(c.data))
			var e *ParseError
			if !errors.As(err, &e) || e.Offset != c.off || !errors.Is(err, c.want) || h != nil {
				t.Fatalf("%v, %v, want %v at offset %d", h, err, c.want, c.off)
			}
		})
	}
}

func TestParseHistogramsDamaged(t *testing.T) {
	for _, several := range []bool{false, true} {
		example := exampleHistograms(t, several)
		enc := encodeHistograms(t, example)
		for n := range enc {
			if _, err := ParseHistograms(enc[:n]); err == nil {
				t.Errorf("accepted the first %d of %d bytes", n, len(enc))
			}
		}
		step := 1
		if raceEnabled || !tier.Nightly {
			step = 17
		}
		for bit := 0; bit < len(enc)*8; bit += step {
			bad := bytes.Clone(enc)
			bad[bit/8] ^= 1 << (bit % 8)
			fuzzHistograms(t, bad, example)
		}
	}
}

func TestParseHistogramsMemory(t *testing.T) {
	for _, data := range [][]byte{
		[]byte("\xff\xff\xff\xff\x0f"),
		[]byte("\x01\x00\x00\x05\x14\x0a\x00\x00\x01\x14\x01\x86\x00\xff\xff\xff\xff\x0f"),
		[]byte("\x01\x00\x00\x05\x14\x0a\x00\x00\x01\x14\x01\x86\x01\xff\xff\xff\xff\x0f"),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := ParseHistograms(data); err == nil {
			t.Errorf("accepted %x", data)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<14 {
			t.Errorf("%d bytes allocated for %d", got, len(data))
		}
	}
}

func FuzzParseHistograms(f *testing.F) {
	for _, several := range []bool{false, true} {
		f.Add(encodeHistograms(f, exampleHistograms(f, several)))
	}
	example := exampleHistograms(f, false)
	mutate.Fuzz(f, func(t *testing.T, data []byte) { fuzzHistograms(t, data, example) })
}

// fuzzHistograms checks what is accepted: it is encoded as it was, is in order,
// and merges whatever it says with an example.
func fuzzHistograms(t testing.TB, data []byte, example *Histograms) {
	t.Helper()
	h, err := ParseHistograms(data)
	if err != nil {
		checkParseError(t, err, nil)
		return
	}
	if enc := encodeHistograms(t, h); !bytes.Equal(enc, data) {
		t.Fatalf("%x is encoded as %x", data, enc)
	}
	for _, one := range h.All() {
		if one.Statistics().Count >= 1<<62 {
			return
		}
		checkBins(t, one, maxCells)
		checkBins(t, one.Reduce(2), 2)
	}
	twice, other := new(Histograms), new(Histograms)
	other.Merge(example)
	if err := twice.Merge(h); err != nil {
		t.Fatal(err)
	}
	// Those by pair of calls do not merge with those by call, in either order.
	first, second := twice.Merge(other), other.Merge(h)
	if (first == nil) != (second == nil) {
		t.Fatalf("%v in one order, %v in the other", first, second)
	}
	if first != nil {
		return
	}
	if !bytes.Equal(encodeHistograms(t, twice), encodeHistograms(t, other)) {
		t.Fatal("merging depends on the order")
	}
	if _, err := ParseHistograms(encodeHistograms(t, twice)); err != nil {
		t.Fatal(err)
	}
}

// TestHistogramReal checks how far histograms of recorded calls are from
// the values, in the mean over the calls: the largest distance of the
// cumulative distributions, of Kolmogorov and Smirnov.
func TestHistogramReal(t *testing.T) {
	for _, column := range []string{"duration", "gap"} {
		for _, pathSensitive := range []bool{false, true} {
			o := HistogramOptions{PathSensitive: pathSensitive}
			for run, ranks := range runs(realRanks(t)) {
				f := fitRun(t, o, column, ranks)
				t.Logf("%s %s, path-sensitive %v: %d histograms of ranks in %.0f B each, distance %.3f; merged %d in %.0f B each, %.3f; reduced %.0f B each, %.3f; sum in bins off by %.1e",
					run, column, pathSensitive, f.series.histograms, f.series.size(), f.series.mean(),
					f.merged.histograms, f.merged.size(), f.merged.mean(), f.reduced.size(), f.reduced.mean(), f.off)
				most := 0.15
				if run == "is.W.8" { // some 40 calls of a rank
					most = 0.35
				}
				if f.series.mean() > most || f.merged.mean() > most || f.reduced.mean() > most || f.off > 0.01 {
					t.Errorf("distances are %.3f, %.3f and %.3f, want at most %v", f.series.mean(),
						f.merged.mean(), f.reduced.mean(), most)
				}
			}
		}
	}
}

// runs returns the ranks by run, in order.
func runs(ranks []*realRank) func(func(string, []*realRank) bool) {
	return func(yield func(string, []*realRank) bool) {
		for len(ranks) > 0 {
			n := 1
			for n < len(ranks) && ranks[n].run == ranks[0].run {
				n++
			}
			if !yield(ranks[0].run, ranks[:n]) {
				return
			}
			ranks = ranks[n:]
		}
	}
}

// A fit sums over histograms.
type fit struct {
	histograms, bytes int
	calls, distances  float64
}

func (f *fit) size() float64 { return float64(f.bytes) / float64(f.histograms) }
func (f *fit) mean() float64 { return f.distances / f.calls }

func (f *fit) add(t testing.TB, h *Histogram, values []int64) {
	f.histograms++
	f.bytes += len(encodeHistogram(t, h))
	f.calls += float64(len(values))
	f.distances += kolmogorovSmirnov(h, values) * float64(len(values))
}

type runFit struct {
	series, merged, reduced fit
	off                     float64 // relative error of the sum in the bins of series
}

func fitRun(t testing.TB, o HistogramOptions, column string, ranks []*realRank) *runFit {
	f := new(runFit)
	merged := new(Histograms)
	all := make(map[Path][]int64)
	var sum, inBins float64
	for rank, r := range ranks {
		values := make(map[Path][]int64)
		previous := int64(NoPrevious)
		var calls []drawn.Call
		for i, v := range r.column(column) {
			p := Path{previous, r.terminals[i]}
			values[p], all[p] = append(values[p], v), append(all[p], v)
			if o.PathSensitive {
				previous = int64(r.terminals[i])
			}
			calls = append(calls, drawn.Call{Terminal: r.terminals[i], Value: v})
		}
		h := buildHistograms(t, o, uint32(rank), calls)
		for p, one := range h.All() {
			f.series.add(t, one, values[p])
			sum += math.Abs(one.Statistics().Sum())
			var bins float64
			for _, b := range one.Bins() {
				bins += b.Mean * float64(b.Count)
			}
			inBins += math.Abs(bins - one.Statistics().Sum())
		}
		merged.Merge(h)
	}
	f.off = inBins / sum
	for p, one := range merged.All() {
		f.merged.add(t, one, all[p])
		f.reduced.add(t, one.Reduce(defaultHistogramBins), all[p])
	}
	return f
}

// kolmogorovSmirnov returns the largest distance of the cumulative distributions of a
// histogram and of values.
func kolmogorovSmirnov(h *Histogram, values []int64) float64 {
	values = slices.Sorted(slices.Values(values))
	n, worst := float64(len(values)), 0.0
	for i, k := 0, 0; i < len(values); i = k {
		for k = i; k < len(values) && values[k] == values[i]; k++ {
		}
		worst = max(worst, math.Abs(h.cdf(values[i])-float64(k)/n), math.Abs(h.cdf(values[i]-1)-float64(i)/n))
	}
	return worst
}

func BenchmarkHistogram(b *testing.B) {
	r := newRandom(1)
	values := make([]int64, 1<<12)
	for i := range values {
		values[i] = int64(math.Exp(r.float()*12 + 3))
	}
	perValue := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(values)), "ns/value")
		b.ReportMetric(0, "ns/op")
	}
	var h *Histogram
	for _, bins := range []int{5, 8, 16} {
		b.Run("bins="+string(rune('0'+bins/10))+string(rune('0'+bins%10)), func(b *testing.B) {
			builders := make([]histogramBuilder, 64)
			for i := range builders {
				builders[i].size = bins
			}
			b.ReportAllocs()
			for b.Loop() {
				for i, v := range values {
					builders[i*7&63].add(v)
				}
			}
			perValue(b)
		})
	}
	h = histogramOf(b, 8, 0, values)
	merged := new(Histogram)
	merged.Merge(h)
	merged.Merge(h)
	b.Run("sample", func(b *testing.B) {
		source := rand.NewPCG(1, 2)
		for b.Loop() {
			for i := range values {
				values[i] = merged.Sample(source)
			}
		}
		perValue(b)
	})
	b.Run("merge", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			merged.Merge(h)
		}
		b.ReportMetric(float64(len(encodeHistogram(b, merged))), "B/histogram")
	})
	b.Run("reduce", func(b *testing.B) {
		for b.Loop() {
			merged.Reduce(defaultHistogramBins)
		}
		b.ReportMetric(float64(len(encodeHistogram(b, merged.Reduce(defaultHistogramBins)))), "B/histogram")
	})
}

// BenchmarkHistograms measures the durations of a rank of the recorded run
// lu.W.8.
func BenchmarkHistograms(b *testing.B) {
	r := shippedRank(b, "lu.W.8.part")
	for _, pathSensitive := range []bool{false, true} {
		name := "path=false"
		if pathSensitive {
			name = "path=true"
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				h, _ := NewHistogramsBuilder(HistogramOptions{PathSensitive: pathSensitive})
				for i, v := range r.durations {
					h.Append(r.terminals[i], v)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(r.durations)), "ns/value")
			b.ReportMetric(0, "ns/op")
		})
	}
}
