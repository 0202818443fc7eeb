package timing

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// seriesCodecs are codecs with several guarantees in both forms.
func seriesCodecs[V Value](t rapid.TB) []*SeriesCodec[V] {
	var all []*SeriesCodec[V]
	for _, form := range []Form{Gaps, Intervals} {
		all = append(all, NewSeriesCodec[V](NewLossless[V](Zstd), NewLossless[V](LZ4), form))
		for _, c := range []Codec[V]{newExponential[V](t, 0.001), newExponential[V](t, MaxEpsilon), newHIST[V](t, HISTOptions{})} {
			all = append(all, NewSeriesCodec(c, newExponential[V](t, 0.1), form))
		}
	}
	return all
}

// A timed is a call of a series.
type timed[V Value] struct {
	terminal        uint32
	start, duration V
}

// timedGen draws calls with times as they are, or any.
func timedGen[V Value]() *rapid.Generator[[]timed[V]] {
	return rapid.Custom(func(t *rapid.T) []timed[V] {
		var all []timed[V]
		if rapid.Bool().Draw(t, "any") {
			for _, c := range callsGen[V]().Draw(t, "calls") {
				all = append(all, timed[V]{c.terminal % 9, c.value, valueGen[V]().Draw(t, "duration")})
			}
			return all
		}
		r := newRandom(rapid.Uint64().Draw(t, "seed"))
		now := V(rapid.Int64Range(-1<<50, 1<<50).Draw(t, "begin"))
		heavy := rapid.Float64Range(1, 30).Draw(t, "heavy")
		for range rapid.IntRange(0, 500).Draw(t, "length") {
			now += V(math.Exp(r.float()*heavy) - 2)
			d := V(math.Exp(r.float() * 20))
			all = append(all, timed[V]{uint32(r.next() % 5), now, d})
			now += d
		}
		return all
	})
}

// testSeries checks that decoded durations and lapses keep the guarantee, and
// starts the bound, whatever the lengths of blocks and of what is decoded at once.
func testSeries[V Value](t *rapid.T, c *SeriesCodec[V]) {
	calls := timedGen[V]().Draw(t, "calls")
	e := c.NewEncoder()
	var last V
	for begun := false; ; begun = true {
		block := calls[:rapid.IntRange(min(1, len(calls)), len(calls)).Draw(t, "block")]
		calls = calls[len(block):]
		for _, call := range block {
			e.Append(call.terminal, call.start, call.duration)
		}
		if e.Len() != len(block) {
			t.Fatalf("%d calls in a block of %d", e.Len(), len(block))
		}
		got := decodeSeries(t, c, e.AppendBlock(nil), block)
		if !begun && len(block) > 0 {
			last = block[0].start
		}
		lapses, longest := trueLapses(c.form, block, last), 0.0
		for _, l := range trueLapses(Gaps, block, last) {
			if l := math.Abs(float64(l)); l > longest && l <= math.MaxFloat64 {
				longest = l
			}
		}
		bound := longest * float64(c.Guarantee())
		for i, call := range block {
			checkGuarantee(t, c.Guarantee(), []V{got[i].Duration, got[i].Lapse}, []V{call.duration, lapses[i]})
			if failure := distance(got[i].Start, call.start); failure > bound {
				t.Fatalf("call %d starts at %v, not %v: %v off, the bound is %v", i, got[i].Start, call.start, failure, bound)
			}
			last = sum(call.start, call.duration)
		}
		if len(calls) == 0 {
			return
		}
	}
}

// distance returns how far v is from w: 0 for the same bits, and infinite if
// one of them is not finite.
func distance[V Value](v, w V) float64 {
	if toBits(v) == toBits(w) {
		return 0
	}
	if !isFloat[V]() {
		if (v < 0) != (w < 0) {
			return math.Abs(float64(v)) + math.Abs(float64(w))
		}
		return math.Abs(float64(v - w))
	}
	if d := math.Abs(float64(v - w)); d <= math.MaxFloat64 {
		return d
	}
	return math.Inf(1)
}

// trueLapses returns the gaps of a block after a call that ended at last, or its
// intervals.
func trueLapses[V Value](form Form, block []timed[V], last V) []V {
	var lapses []V
	starts := make(map[uint32]V)
	for _, call := range block {
		before, ok := starts[call.terminal]
		if !ok {
			before = block[0].start
		}
		if form == Gaps {
			before = last
		}
		lapses = append(lapses, difference(call.start, before))
		last = sum(call.start, call.duration)
		starts[call.terminal] = call.start
	}
	return lapses
}

// decodeSeries decodes a block in portions.
func decodeSeries[V Value](t *rapid.T, c *SeriesCodec[V], block []byte, calls []timed[V]) []Time[V] {
	d, err := c.NewDecoder(block, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Len() != len(calls) {
		t.Fatalf("%d calls in a block of %d", d.Len(), len(calls))
	}
	var terminals []uint32
	for _, call := range calls {
		terminals = append(terminals, call.terminal)
	}
	got := make([]Time[V], len(calls))
	for rest := got; len(rest) > 0; {
		n := rapid.IntRange(1, len(rest)).Draw(t, "portion")
		if err := d.Decode(rest[:n], terminals[len(terminals)-len(rest):][:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	checkParseError(t, d.Decode(make([]Time[V], 1), []uint32{0}), io.ErrUnexpectedEOF)
	return got
}

func TestSeries(t *testing.T) {
	for _, c := range seriesCodecs[int64](t) {
		t.Run("int64/"+c.Name(), rapid.MakeCheck(func(t *rapid.T) { testSeries(t, c) }))
	}
	for _, c := range seriesCodecs[float64](t) {
		t.Run("float64/"+c.Name(), rapid.MakeCheck(func(t *rapid.T) { testSeries(t, c) }))
	}
}

// TestSeriesExact checks that exact codecs keep starts to the bit where sums do
// not give them.
func TestSeriesExact(t *testing.T) {
	c := NewSeriesCodec[float64](NewLossless[float64](Zstd), NewLossless[float64](Zstd), Gaps)
	e := c.NewEncoder()
	starts := []float64{0, math.Copysign(0, -1), 0.1, 0.7, 1e300, math.NaN(), 1}
	for _, start := range starts {
		e.Append(0, start, 0)
	}
	d, err := c.NewDecoder(e.AppendBlock(nil), Options{})
	got := make([]Time[float64], len(starts))
	if err == nil {
		err = d.Decode(got, make([]uint32, len(got)))
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, start := range starts {
		if math.Float64bits(got[i].Start) != math.Float64bits(start) {
			t.Errorf("call %d starts at %v, want %v", i, got[i].Start, start)
		}
	}
}

// TestNoDrift encodes ten million calls with heavy tails, and checks that the
// error of no start is larger than the error that the worst gap may have.
func TestNoDrift(t *testing.T) {
	n := 10_000_000
	if testing.Short() || raceEnabled {
		n = 1_000_000
	}
	for _, form := range []Form{Gaps, Intervals} {
		for _, epsilon := range []float64{0.1} {
			c := NewSeriesCodec[int64](newExponential[int64](t, epsilon), newExponential[int64](t, epsilon), form)
			testNoDrift(t, c, n)
		}
	}
}

func testNoDrift(t *testing.T, c *SeriesCodec[int64], n int) {
	e := c.NewEncoder()
	var (
		r              = newRandom(1)
		now            = int64(1e15)
		last           = now
		worst, longest int64
		size           int
		calls          []timed[int64]
		terminals      []uint32
		lapseError     float64
		got            = make([]Time[int64], 1<<16)
	)
	for i := range n {
		now += int64(50 * math.Exp(r.float()*r.float()*r.float()*14))
		d := int64(300 * math.Exp(r.float()*r.float()*9))
		calls = append(calls, timed[int64]{uint32(i % 10), now, d})
		terminals = append(terminals, uint32(i%10))
		e.Append(uint32(i%10), now, d)
		now += d
		if len(calls) < 1<<16 && i+1 < n {
			continue
		}
		block := e.AppendBlock(nil)
		size += len(block)
		dec, err := c.NewDecoder(block, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := dec.Decode(got[:len(calls)], terminals); err != nil {
			t.Fatal(err)
		}
		for _, gap := range trueLapses(Gaps, calls, last) {
			longest = max(longest, gap)
		}
		for k, lapse := range trueLapses(c.form, calls, last) {
			worst = max(worst, got[k].Start-calls[k].start, calls[k].start-got[k].Start)
			lapseError = max(lapseError, math.Abs(float64(got[k].Lapse-lapse)))
		}
		last = now
		calls, terminals = calls[:0], terminals[:0]
	}
	bound := float64(c.Guarantee()) * float64(longest)
	t.Logf("%v: %d calls in %.1f s, worst error of a start %d ns; longest gap %d ns, its error at most %.0f ns, worst of a lapse %.0f ns; %.2f bits per call",
		c.form, n, float64(now-1e15)/1e9, worst, longest, bound, lapseError, 8*float64(size)/float64(n))
	if float64(worst) > bound {
		t.Errorf("%v: worst error of a start is %d ns, more than %.0f ns", c.form, worst, bound)
	}
}

// TestSeriesWaiting encodes calls that take far longer than the gaps between them,
// so that each needs a correction, and checks that these are not larger than what
// they say: where in 10 % of a duration, some milliseconds, the call ended to 15 ns.
func TestSeriesWaiting(t *testing.T) {
	for _, form := range []Form{Gaps, Intervals} {
		c := NewSeriesCodec[int64](newExponential[int64](t, 0.1), newExponential[int64](t, 0.1), form)
		r := newRandom(1)
		var calls []timed[int64]
		var terminals []uint32
		var columns int
		durations, lapses := c.durations.NewEncoder(), c.lapses.NewEncoder()
		now := int64(1e9)
		for i := range 50_000 {
			now += int64(50 + 100*r.float())
			calls = append(calls, timed[int64]{uint32(i % 4), now, int64(1e6 * math.Exp(2*r.float()))})
			terminals = append(terminals, uint32(i%4))
			now += calls[i].duration
		}
		e := c.NewEncoder()
		for i, lapse := range trueLapses(form, calls, calls[0].start) {
			e.Append(calls[i].terminal, calls[i].start, calls[i].duration)
			durations.Append(calls[i].terminal, calls[i].duration)
			lapses.Append(calls[i].terminal, lapse)
		}
		columns = len(durations.AppendBlock(nil)) + len(lapses.AppendBlock(nil))
		block := e.AppendBlock(nil)
		got := make([]Time[int64], len(calls))
		d, err := c.NewDecoder(block, Options{})
		if err == nil {
			err = d.Decode(got, terminals)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if off := got[i].Start - calls[i].start; off > 15 || off < -15 {
				t.Fatalf("%v: call %d is %d ns off", form, i, off)
			}
		}
		// The interval of a terminal is that of four calls.
		perCall := float64(8*(len(block)-columns)) / float64(len(calls))
		if most := math.Log2(2*0.1*3e6/30) + 1.5 + 2*float64(form); perCall > most {
			t.Errorf("%v: %.2f bits per call for corrections, want %.2f", form, perCall, most)
		}
	}
}

// TestSeriesOutlier checks that a gap of an hour makes the bound of its block
// larger and not that of others.
func TestSeriesOutlier(t *testing.T) {
	for _, form := range []Form{Gaps, Intervals} {
		c := NewSeriesCodec[int64](newExponential[int64](t, 0.1), newExponential[int64](t, 0.1), form)
		r := newRandom(1)
		e := c.NewEncoder()
		now := int64(1e9)
		const blockLen = 1000
		var want [3 * blockLen]int64
		for i := range want {
			now += int64(50 + 100*r.float())
			if i == blockLen+10 {
				now += 3600e9
			}
			want[i] = now
			e.Append(uint32(i%4), now, 1000)
			now += 1000
			if e.Len() < blockLen {
				continue
			}
			terminals := make([]uint32, blockLen)
			for k := range terminals {
				terminals[k] = uint32(k % 4)
			}
			got := make([]Time[int64], blockLen)
			d, err := c.NewDecoder(e.AppendBlock(nil), Options{})
			if err == nil {
				err = d.Decode(got, terminals)
			}
			if err != nil {
				t.Fatal(err)
			}
			first := i + 1 - blockLen
			for k := range got {
				if off := got[k].Start - want[first+k]; (off > 15 || off < -15) && first != blockLen {
					t.Fatalf("%v: call %d is %d ns off", form, first+k, off)
				}
			}
		}
	}
}

// TestSeriesNaN checks that starts and durations without a number survive, and that
// the bits of NaN in between are the same on every machine.
func TestSeriesNaN(t *testing.T) {
	nan := func(bits uint64) float64 { return math.Float64frombits(bits) }
	negative := math.Copysign(0, -1)
	starts := []float64{nan(0x7ff8000000000001), nan(0xfff8000000000002), nan(0x7ff0000000000003), 5, math.Inf(1), math.Inf(-1), nan(0x7ff8000000000007), 3, 0, negative, math.MaxFloat64, -math.MaxFloat64}
	durations := []float64{nan(0x7ff8000000000009), nan(0x7ff0000000000002), math.Inf(1), math.Inf(-1), 0, negative, 5e-324, 1, 2, 3, math.MaxFloat64, nan(0xfff8000000000001)}
	terminals := []uint32{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}
	for form, want := range map[Form]uint32{Gaps: 0xeff8d039, Intervals: 0xda088029} {
		bins := newExponential[float64](t, 0.1)
		e := NewSeriesCodec[float64](bins, bins, form).NewEncoder()
		exact := NewSeriesCodec[float64](NewLossless[float64](Zstd), NewLossless[float64](Zstd), form)
		f := exact.NewEncoder()
		for i, start := range starts {
			e.Append(terminals[i], start, durations[i])
			f.Append(terminals[i], start, durations[i])
		}
		if sum := crc32.ChecksumIEEE(e.AppendBlock(nil)); sum != want {
			t.Errorf("%v: checksum %#x, want %#x", form, sum, want)
		}
		d, err := exact.NewDecoder(f.AppendBlock(nil), Options{})
		got := make([]Time[float64], len(starts))
		if err == nil {
			err = d.Decode(got, terminals)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, start := range starts {
			if !equalBits([]float64{got[i].Start, got[i].Duration}, []float64{start, durations[i]}) {
				t.Errorf("%v: call %d is %+v, want %v and %v", form, i, got[i], start, durations[i])
			}
		}
	}
}

// TestSeriesReal checks the bound for the recorded runs, and logs what the
// corrections cost.
func TestSeriesReal(t *testing.T) {
	for _, form := range []Form{Gaps, Intervals} {
		c := NewSeriesCodec[int64](newExponential[int64](t, 0.1), newExponential[int64](t, 0.1), form)
		corrections, sizes := newSizes(), newSizes()
		for _, r := range realRanks(t) {
			e := c.NewEncoder()
			calls := make([]timed[int64], len(r.starts))
			for i := range calls {
				calls[i] = timed[int64]{r.terminals[i], r.starts[i], r.durations[i]}
				e.Append(r.terminals[i], r.starts[i], r.durations[i])
			}
			unit, _ := e.drift.corrections()
			corrected := e.drift.encode(unit)
			block := e.AppendBlock(nil)
			d, err := c.NewDecoder(block, Options{})
			if err != nil {
				t.Fatal(err)
			}
			corrections.add(r.run, len(calls), len(corrected))
			sizes.add(r.run, len(calls), len(block))
			got := make([]Time[int64], len(calls))
			if err := d.Decode(got, r.terminals); err != nil {
				t.Fatal(err)
			}
			var worst, longest int64
			for i, gap := range trueLapses(Gaps, calls, calls[0].start) {
				longest = max(longest, gap, -gap)
				worst = max(worst, got[i].Start-calls[i].start, calls[i].start-got[i].Start)
			}
			if float64(worst) > 0.1*float64(longest) {
				t.Errorf("%s %s: worst error of a start %d, longest gap %d", r.run, r.rank, worst, longest)
			}
		}
		t.Logf("%v: corrections %v; all %v bits per call", form, corrections, sizes)
	}
}

func exampleSeries[V Value](t testing.TB, form Form) (c *SeriesCodec[V], block []byte, terminals []uint32) {
	c = NewSeriesCodec[V](newExponential[V](t, 0.1), newExponential[V](t, 0.1), form)
	e := c.NewEncoder()
	r := newRandom(3)
	now := V(1000)
	for range 200 {
		now += V(math.Exp(r.float() * 6))
		e.Append(uint32(r.next()%4), now, V(100*r.float()))
		terminals = append(terminals, uint32(len(terminals)%4))
	}
	return c, e.AppendBlock(nil), terminals
}

func TestSeriesDamaged(t *testing.T) {
	for _, form := range []Form{Gaps, Intervals} {
		testSeriesDamaged[int64](t, form)
		testSeriesDamaged[float64](t, form)
	}
}

func testSeriesDamaged[V Value](t *testing.T, form Form) {
	c, block, terminals := exampleSeries[V](t, form)
	decode := func(data []byte) error {
		d, err := c.NewDecoder(data, Options{})
		if err == nil {
			err = d.Decode(make([]Time[V], len(terminals)), terminals)
		}
		if err != nil {
			checkParseError(t, err, nil)
		}
		return err
	}
	if err := decode(block); err != nil {
		t.Fatal(err)
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
}

func TestSeriesErrors(t *testing.T) {
	c := NewSeriesCodec[int64](newExponential[int64](t, 0.1), newExponential[int64](t, 0.1), Gaps)
	const good = "\x02\x02\x00"
	for _, tt := range []struct {
		name  string
		data  string
		off   int64
		field string
		want  error
	}{
		{"Empty", "", 0, "values", io.ErrUnexpectedEOF},
		{"TooMany", "\xff\xff\xff\x7f", 0, "values", ErrLimit},
		{"NoneAndMore", "\x00\x00", 1, "values", ErrCorrupt},
		{"NoStart", "\x02", 1, "start", io.ErrUnexpectedEOF},
		{"UnitTooLarge", "\x02\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x03" + good + good, 2, "unit", ErrCorrupt},
		{"NoCorrections", "\x02\x02\x01\x00\x03" + good + good, 4, "corrections", ErrCorrupt},
		{"CorrectionsTooLong", "\x02\x02\x01\x0c\xff\x7f\xff\x7f\xff\x7f\xff\x7f\xff\x7f\xff\x7f\x03" + good + good, 4, "corrections", ErrCorrupt},
		{"CorrectionsCutOff", "\x02\x02\x01\x7f\x03" + good + good, 3, "corrections", ErrCorrupt},
		{"NoDurations", "\x02\x02\x00\x04" + good, 3, "durations", ErrCorrupt},
		{"Durations", "\x02\x02\x00\x04\x02\x02\x00\x00" + good, 7, "durations, symbols", ErrCorrupt},
		{"Lapses", "\x02\x02\x00\x03" + good + "\x02", 8, "lapses, least", io.ErrUnexpectedEOF},
		{"TooFewDurations", "\x02\x02\x00\x03\x01\x02\x00" + good, 4, "durations, values", ErrCorrupt},
		{"TooManyDurations", "\x02\x02\x00\x03\x03\x02\x00" + good, 4, "durations, values", ErrCorrupt},
		{"TooManyLapses", "\x02\x02\x00\x03" + good + "\x03\x02\x00", 7, "lapses, values", ErrCorrupt},
		{"TooFewLapses", "\x02\x02\x00\x03" + good + "\x01\x02\x00", 7, "lapses, values", ErrCorrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := c.NewDecoder([]byte(tt.data), Options{})
			if err == nil {
				err = d.Decode(make([]Time[int64], 2), make([]uint32, 2))
			}
			checkParseError(t, err, tt.want)
			if e := (*ParseError)(nil); errors.As(err, &e) && (e.Offset != tt.off || e.Field != tt.field) {
				t.Fatalf("%v, want %s at offset %d", err, tt.field, tt.off)
			}
		})
	}
}

func FuzzSeries(f *testing.F) {
	for _, form := range []Form{Gaps, Intervals} {
		_, block, _ := exampleSeries[int64](f, form)
		f.Add(block)
		_, block, _ = exampleSeries[float64](f, form)
		f.Add(block)
	}
	var ints []*SeriesCodec[int64]
	var floats []*SeriesCodec[float64]
	for _, form := range []Form{Gaps, Intervals} {
		ints = append(ints, NewSeriesCodec[int64](newExponential[int64](f, 0.1), newExponential[int64](f, 0.1), form))
		floats = append(floats, NewSeriesCodec[float64](newExponential[float64](f, 0.1), newExponential[float64](f, 0.1), form))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for i := range ints {
			fuzzSeries(t, ints[i], data)
			fuzzSeries(t, floats[i], data)
		}
	})
}

func fuzzSeries[V Value](t *testing.T, c *SeriesCodec[V], data []byte) {
	d, err := c.NewDecoder(data, Options{MaxValues: 1 << 10})
	if err != nil {
		checkParseError(t, err, nil)
		return
	}
	if d.Len() > 1<<10 {
		t.Fatalf("%d calls", d.Len())
	}
	got, terminals := make([]Time[V], d.Len()), make([]uint32, d.Len())
	for i := range terminals {
		terminals[i] = uint32(i % 5)
	}
	if err := d.Decode(got, terminals); err != nil {
		checkParseError(t, err, nil)
		return
	}
	e := c.NewEncoder()
	for i, call := range got {
		e.Append(terminals[i], call.Start, call.Duration)
	}
	d, err = c.NewDecoder(e.AppendBlock(nil), Options{})
	if err == nil {
		err = d.Decode(make([]Time[V], len(got)), terminals)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func BenchmarkSeries(b *testing.B) {
	for _, form := range []Form{Gaps, Intervals} {
		c := NewSeriesCodec[int64](newExponential[int64](b, 0.1), newExponential[int64](b, 0.1), form)
		r := realRanks(b)[len(realRanks(b))-9]
		n := min(len(r.starts), 1<<16)
		e := c.NewEncoder()
		var block []byte
		report := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/call")
			b.ReportMetric(float64(8*len(block))/float64(n), "bits/call")
			b.ReportMetric(0, "ns/op")
		}
		b.Run(fmt.Sprintf("form=%v/encode", form), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for i := range n {
					e.Append(r.terminals[i], r.starts[i], r.durations[i])
				}
				block = e.AppendBlock(block[:0])
			}
			report(b)
		})
		b.Run(fmt.Sprintf("form=%v/decode", form), func(b *testing.B) {
			got := make([]Time[int64], n)
			b.ReportAllocs()
			for b.Loop() {
				d, err := c.NewDecoder(block, Options{})
				if err == nil {
					err = d.Decode(got, r.terminals[:n])
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			report(b)
		})
	}
}
