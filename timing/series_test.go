package timing

import (
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/reprise-trace/reprise/internal/bins"
	"github.com/reprise-trace/reprise/internal/test/drawn"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/mutate"
)

// seriesCodecs are codecs with several guarantees in both forms.
func seriesCodecs(t rapid.TB) []*SeriesCodec {
	var all []*SeriesCodec
	for _, form := range []Form{Gaps, Intervals} {
		all = append(all, must.Get(NewSeriesCodec(must.Get(NewLossless(Zstd)), must.Get(NewLossless(LZ4)), form)))
		for _, c := range []Codec{newExponential(t, 0.001), newExponential(t, bins.MaxEpsilon),
			newHIST(t, histOptions{}), newEntropy(t, 0.1)} {
			all = append(all, must.Get(NewSeriesCodec(c, newExponential(t, 0.1), form)))
		}
		for _, starts := range []int64{1, 1000, math.MaxInt64} {
			c := must.Get(NewSeriesCodec(newEntropy(t, 0.1), newExponential(t, 0.5), form))
			c.Starts = starts
			all = append(all, c)
		}
	}
	return all
}

// TestNoDrift encodes ten million calls with heavy tails, and checks that the
// error of no start is larger than the error that the worst gap may have.
func TestNoDrift(t *testing.T) {
	n := 10_000_000
	if !tier.Nightly || raceEnabled {
		n = 1_000_000
	}
	for _, form := range []Form{Gaps, Intervals} {
		for _, epsilon := range []float64{0.1} {
			c := must.Get(NewSeriesCodec(newExponential(t, epsilon), newExponential(t, epsilon), form))
			testNoDrift(t, c, n)
		}
	}
}

func testNoDrift(t *testing.T, c *SeriesCodec, n int) {
	e := c.newEncoder()
	var (
		r              = newRandom(1)
		now            = int64(1e15)
		last           = now
		worst, longest int64
		size           int
		calls          []drawn.TimedCall
		terminals      []uint32
		deltaError     float64
		got            = make([]Time, 1<<16)
	)
	for i := range n {
		now += int64(50 * math.Exp(r.float()*r.float()*r.float()*14))
		d := int64(300 * math.Exp(r.float()*r.float()*9))
		calls = append(calls, drawn.TimedCall{Terminal: uint32(i % 10), Start: now, Duration: d})
		terminals = append(terminals, uint32(i%10))
		e.Append(uint32(i%10), now, d)
		now += d
		if len(calls) < 1<<16 && i+1 < n {
			continue
		}
		block := e.AppendBlock(nil)
		size += len(block)
		dec, err := c.newDecoder(block, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := dec.Decode(got[:len(calls)], terminals); err != nil {
			t.Fatal(err)
		}
		for _, gap := range drawn.Deltas(calls, last, false) {
			longest = max(longest, gap)
		}
		for k, delta := range drawn.Deltas(calls, last, c.Form == Intervals) {
			worst = max(worst, got[k].Start-calls[k].Start, calls[k].Start-got[k].Start)
			deltaError = max(deltaError, math.Abs(float64(got[k].Delta-delta)))
		}
		last = now
		calls, terminals = calls[:0], terminals[:0]
	}
	bound := float64(c.Guarantee()) * float64(longest)
	t.Logf("%v: %d calls in %.1f s, worst error of a start %d ns; longest gap %d ns, its error at most %.0f ns, worst of a delta %.0f ns; %.2f bits per call",
		c.Form, n, float64(now-1e15)/1e9, worst, longest, bound, deltaError, 8*float64(size)/float64(n))
	if float64(worst) > bound {
		t.Errorf("%v: worst error of a start is %d ns, more than %.0f ns", c.Form, worst, bound)
	}
}

// TestSeriesWaiting encodes calls that take far longer than the gaps between them,
// so that each needs a correction, and checks that these are not larger than what
// they say: where in 10 % of a duration, some milliseconds, the call ended to 15 ns.
func TestSeriesWaiting(t *testing.T) {
	for _, form := range []Form{Gaps, Intervals} {
		c := must.Get(NewSeriesCodec(newExponential(t, 0.1), newExponential(t, 0.1), form))
		r := newRandom(1)
		var calls []drawn.TimedCall
		var terminals []uint32
		var columns int
		durations, deltas := c.Durations.NewEncoder(), c.Deltas.NewEncoder()
		now := int64(1e9)
		for i := range 50_000 {
			now += int64(50 + 100*r.float())
			calls = append(calls, drawn.TimedCall{Terminal: uint32(i % 4), Start: now,
				Duration: int64(1e6 * math.Exp(2*r.float()))})
			terminals = append(terminals, uint32(i%4))
			now += calls[i].Duration
		}
		e := c.newEncoder()
		for i, delta := range drawn.Deltas(calls, calls[0].Start, form == Intervals) {
			e.Append(calls[i].Terminal, calls[i].Start, calls[i].Duration)
			durations.Append(calls[i].Terminal, calls[i].Duration)
			deltas.Append(calls[i].Terminal, delta)
		}
		columns = len(durations.AppendBlock(nil)) + len(deltas.AppendBlock(nil))
		block := e.AppendBlock(nil)
		got := make([]Time, len(calls))
		d, err := c.newDecoder(block, nil, Options{})
		if err == nil {
			err = d.Decode(got, terminals)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if off := got[i].Start - calls[i].Start; off > 15 || off < -15 {
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
		c := must.Get(NewSeriesCodec(newExponential(t, 0.1), newExponential(t, 0.1), form))
		r := newRandom(1)
		e := c.newEncoder()
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
			got := make([]Time, blockLen)
			d, err := c.newDecoder(e.AppendBlock(nil), nil, Options{})
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

// TestSeriesReal checks the bound for the recorded runs, and logs what the
// corrections cost.
func TestSeriesReal(t *testing.T) {
	for _, form := range []Form{Gaps, Intervals} {
		c := must.Get(NewSeriesCodec(newExponential(t, 0.1), newExponential(t, 0.1), form))
		corrections, sizes := newSizes(), newSizes()
		for _, r := range realRanks(t) {
			e := c.newEncoder()
			calls := make([]drawn.TimedCall, len(r.starts))
			for i := range calls {
				calls[i] = drawn.TimedCall{Terminal: r.terminals[i], Start: r.starts[i], Duration: r.durations[i]}
				e.Append(r.terminals[i], r.starts[i], r.durations[i])
			}
			unit, _ := e.drift.corrections()
			corrected := e.drift.encode(unit)
			block := e.AppendBlock(nil)
			d, err := c.newDecoder(block, nil, Options{})
			if err != nil {
				t.Fatal(err)
			}
			corrections.add(r.run, len(calls), len(corrected))
			sizes.add(r.run, len(calls), len(block))
			got := make([]Time, len(calls))
			if err := d.Decode(got, r.terminals); err != nil {
				t.Fatal(err)
			}
			var worst, longest int64
			for i, gap := range drawn.Deltas(calls, calls[0].Start, false) {
				longest = max(longest, gap, -gap)
				worst = max(worst, got[i].Start-calls[i].Start, calls[i].Start-got[i].Start)
			}
			if float64(worst) > 0.1*float64(longest) {
				t.Errorf("%s %s: worst error of a start %d, longest gap %d", r.run, r.rank, worst, longest)
			}
		}
		t.Logf("%v: corrections %v; all %v bits per call", form, corrections, sizes)
	}
}

func exampleSeries(t testing.TB, form Form) (c *SeriesCodec, block []byte, terminals []uint32) {
	c = must.Get(NewSeriesCodec(newExponential(t, 0.1), newExponential(t, 0.1), form))
	e := c.newEncoder()
	r := newRandom(3)
	now := int64(1000)
	for range 200 {
		now += int64(math.Exp(r.float() * 6))
		e.Append(uint32(r.next()%4), now, int64(100*r.float()))
		terminals = append(terminals, uint32(len(terminals)%4))
	}
	return c, e.AppendBlock(nil), terminals
}

func TestSeriesErrors(t *testing.T) {
	c := must.Get(NewSeriesCodec(newExponential(t, 0.1), newExponential(t, 0.1), Gaps))
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
		{"UnitTooLarge", "\x02\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x03" + good + good, 2, "unit",
			ErrCorrupt},
		{"NoCorrections", "\x02\x02\x01\x00\x03" + good + good, 4, "corrections", ErrCorrupt},
		{"CorrectionsTooLong", "\x02\x02\x01\x0c\xff\x7f\xff\x7f\xff\x7f\xff\x7f\xff\x7f\xff\x7f\x03" + good +
			good, 4, "corrections", ErrCorrupt},
		{"CorrectionsCutOff", "\x02\x02\x01\x7f\x03" + good + good, 3, "corrections", ErrCorrupt},
		{"NoDurations", "\x02\x02\x00\x04" + good, 3, "durations", ErrCorrupt},
		{"Durations", "\x02\x02\x00\x04\x02\x02\x00\x00" + good, 7, "durations, symbols", ErrCorrupt},
		{"Deltas", "\x02\x02\x00\x03" + good + "\x02", 8, "deltas, least", io.ErrUnexpectedEOF},
		{"TooFewDurations", "\x02\x02\x00\x03\x01\x02\x00" + good, 4, "durations, values", ErrCorrupt},
		{"TooManyDurations", "\x02\x02\x00\x03\x03\x02\x00" + good, 4, "durations, values", ErrCorrupt},
		{"TooManyLapses", "\x02\x02\x00\x03" + good + "\x03\x02\x00", 7, "deltas, values", ErrCorrupt},
		{"TooFewLapses", "\x02\x02\x00\x03" + good + "\x01\x02\x00", 7, "deltas, values", ErrCorrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := c.newDecoder([]byte(tt.data), nil, Options{})
			if err == nil {
				err = d.Decode(make([]Time, 2), make([]uint32, 2))
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
		_, block, _ := exampleSeries(f, form)
		f.Add(block)
	}
	var codecs []*SeriesCodec
	for _, form := range []Form{Gaps, Intervals} {
		codecs = append(codecs, must.Get(NewSeriesCodec(newExponential(f, 0.1), newExponential(f, 0.1), form)))
	}
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		for _, c := range codecs {
			fuzzSeries(t, c, data)
		}
	})
}

func fuzzSeries(t *testing.T, c *SeriesCodec, data []byte) {
	d, err := c.newDecoder(data, nil, Options{MaxValues: 1 << 10})
	if err != nil {
		checkParseError(t, err, nil)
		return
	}
	if d.Len() > 1<<10 {
		t.Fatalf("%d calls", d.Len())
	}
	got, terminals := make([]Time, d.Len()), make([]uint32, d.Len())
	for i := range terminals {
		terminals[i] = uint32(i % 5)
	}
	if err := d.Decode(got, terminals); err != nil {
		checkParseError(t, err, nil)
		return
	}
	e := c.newEncoder()
	for i, call := range got {
		e.Append(terminals[i], call.Start, call.Duration)
	}
	d, err = c.newDecoder(e.AppendBlock(nil), nil, Options{})
	if err == nil {
		err = d.Decode(make([]Time, len(got)), terminals)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func BenchmarkSeries(b *testing.B) {
	for _, form := range []Form{Gaps, Intervals} {
		c := must.Get(NewSeriesCodec(newExponential(b, 0.1), newExponential(b, 0.1), form))
		r := shippedRank(b, "lu.W.8.part")
		n := min(len(r.starts), 1<<16)
		e := c.newEncoder()
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
			got := make([]Time, n)
			b.ReportAllocs()
			for b.Loop() {
				d, err := c.newDecoder(block, nil, Options{})
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
