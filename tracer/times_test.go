package tracer

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/timing"
)

func exactSeries() *timing.SeriesCodec {
	return must.Get(timing.NewSeriesCodec(must.Get(timing.NewLossless(timing.LZ4)),
		must.Get(timing.NewLossless(timing.LZ4)), timing.Gaps))
}

// TestCallAt records calls with times, and compares what is kept of these with
// what was recorded.
func TestCallAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o Options
		if rapid.Bool().Draw(t, "series") {
			o.Series = exactSeries()
		}
		if rapid.Bool().Draw(t, "histograms") {
			o.Histograms = &timing.HistogramOptions{PathSensitive: rapid.Bool().Draw(t, "paths")}
		}
		r, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		const rank = 5
		fn := r.Declare(send)
		var (
			want  [4]callStatistics
			times []timing.Time
			now   int64
		)
		for i := range rapid.IntRange(0, 300).Draw(t, "calls") {
			dest := rapid.Int64Range(0, 3).Draw(t, "dest")
			start, duration := now+rapid.Int64Range(-5, 100).Draw(t, "gap"),
				rapid.Int64Range(0, 1000).Draw(t, "duration")
			r.CallAt(fn, start, duration, cst.Rank(dest), cst.Array())
			want[dest].durations.Add(rank, duration)
			if i > 0 {
				want[dest].gaps.Add(rank, start-now)
			}
			now = start + duration
			times = append(times, timing.Time{Start: start, Duration: duration})
		}
		snapshot, p := r.Snapshot(rank), r.Finish(rank)
		if !reflect.DeepEqual(snapshot.Times, p.Times) {
			t.Fatal("the snapshot is not what Finish returns")
		}
		if len(times) == 0 {
			if p.Times != nil || snapshot.Times != nil {
				t.Fatal("times of no call")
			}
			return
		}
		for terminal := range uint32(p.Table.Len()) {
			_, args := p.Table.Signature(terminal)
			w := want[args[0].Int()]
			for _, m := range []callStatistics{
				{p.Times.Durations.Statistics[terminal], p.Times.Gaps.Statistics[terminal]},
				{snapshot.Times.Durations.Statistics[terminal], snapshot.Times.Gaps.Statistics[terminal]},
			} {
				if m != w {
					t.Fatalf("statistics %+v, want %+v", m, w)
				}
			}
		}
		if h := p.Times.Durations.Histograms; (h != nil) != (o.Histograms != nil) ||
			h != nil && !o.Histograms.PathSensitive && h.Len() != p.Table.Len() {
			t.Fatalf("histograms %v", h)
		}
		if p.Times.Series == nil {
			if o.Series != nil {
				t.Fatal("no series")
			}
			return
		}
		checkSeries(t, p.Times.Codec, p.Times.Series, slices.Collect(func(yield func(uint32) bool) {
			for _, s := range p.Grammar.All() {
				yield(s)
			}
		}), times)
	})
}

// checkSeries compares the starts and durations of a series.
func checkSeries(t rapid.TB, name string, data []byte, terminals []uint32, want []timing.Time) {
	t.Helper()
	codec, err := timing.ParseSeriesCodec(name, timing.NewCodec)
	if err != nil {
		t.Fatal(err)
	}
	s, err := codec.Parse(data, timing.Options{})
	if err != nil || s.Len() != uint64(len(want)) {
		t.Fatalf("%d calls of %d, %v", s.Len(), len(want), err)
	}
	d, err := s.Block(0)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]timing.Time, len(want))
	if err := d.Decode(got, terminals); err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		if got[i].Start != w.Start || got[i].Duration != w.Duration {
			t.Fatalf("call %d was %+v, want %+v", i, got[i], w)
		}
	}
}

// TestTimesAreOver checks that a Recorder is as new after Finish.
func TestTimesAreOver(t *testing.T) {
	r, err := New(Options{Series: exactSeries(), Histograms: &timing.HistogramOptions{}})
	if err != nil {
		t.Fatal(err)
	}
	fn := r.Declare(barrier)
	r.CallAt(fn, 100, 10)
	if r.Call(fn); r.Err() == nil {
		t.Error("a call without a time was recorded")
	}
	if p := r.Finish(0); p.Grammar.Len() != 1 || p.Times.Series == nil || p.Times.Gaps.Statistics[0].Count != 0 {
		t.Errorf("%d calls, times %+v", p.Grammar.Len(), p.Times)
	}
	r.Call(r.Declare(barrier))
	if p := r.Finish(0); p.Grammar.Len() != 1 || p.Times != nil {
		t.Errorf("%d calls, times %+v", p.Grammar.Len(), p.Times)
	}
	split := must.Get(timing.NewSplit([]timing.Codec{must.Get(timing.NewLossless(timing.LZ4))},
		func(uint32) int { return 0 }))
	for _, c := range []*timing.SeriesCodec{must.Get(timing.NewSeriesCodec(split, split, timing.Gaps)),
		{Deltas: split}} {
		if _, err := New(Options{Series: c}); err == nil {
			t.Error("a codec that no trace can have")
		}
	}
	if _, err := New(Options{Histograms: &timing.HistogramOptions{Bins: -1}}); err == nil {
		t.Error("a histogram of −1 bins")
	}
	for _, n := range []int{-1, timing.DefaultMaxValues + 1} {
		if _, err := New(Options{Series: exactSeries(), BlockLen: n}); err == nil {
			t.Errorf("blocks of %d calls", n)
		}
	}
}

// TestSteadyTimes checks that statistics cost no allocation in a steady loop.
func TestSteadyTimes(t *testing.T) {
	var r Recorder
	fn := r.Declare(barrier)
	now := int64(0)
	round := func() {
		r.CallAt(fn, now, 10)
		now += 25
	}
	round()
	if n := testing.AllocsPerRun(1000, round); n != 0 {
		t.Errorf("%v allocations in a round", n)
	}
}

// BenchmarkCallAt records a loop of calls with times, of which statistics,
// histograms or all are kept.
func BenchmarkCallAt(b *testing.B) {
	entropy, err := timing.NewEntropy(0.1)
	if err != nil {
		b.Fatal(err)
	}
	bins, err := timing.NewExponential(0.1)
	if err != nil {
		b.Fatal(err)
	}
	exact := must.Get(timing.NewLossless(timing.Zstd))
	random := rand.New(rand.NewPCG(1, 2))
	durations := make([]int64, 1<<16)
	for i := range durations {
		durations[i] = 1000 + random.Int64N(500) // which no compressor knows
	}
	for _, o := range []struct {
		name string
		Options
	}{
		{"statistics", Options{}},
		{"histograms", Options{Histograms: &timing.HistogramOptions{}}},
		{"entropy", Options{Series: must.Get(timing.NewSeriesCodec(entropy, entropy, timing.Gaps))}},
		{"bins", Options{Series: must.Get(timing.NewSeriesCodec(bins, bins, timing.Gaps))}},
		{"lossless", Options{Series: must.Get(timing.NewSeriesCodec(exact, exact, timing.Gaps))}},
	} {
		b.Run(fmt.Sprint("keep=", o.name), func(b *testing.B) {
			r, err := New(o.Options)
			if err != nil {
				b.Fatal(err)
			}
			fn := r.Declare(send)
			none := cst.Array()
			i, now := int64(0), int64(0)
			b.ReportAllocs()
			for b.Loop() {
				r.CallAt(fn, now, durations[i&0xffff], cst.Rank(i&7), none)
				now += 2000
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/event")
			b.ReportMetric(0, "ns/op")
		})
	}
}
