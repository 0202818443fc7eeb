package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// alikeRanks returns the parts of ranks that take much the same time for the same calls, in several shapes.
func alikeRanks(o tracer.Options, ranks, calls, shapes int, seed uint64) []merge.Part {
	var parts []merge.Part
	for rank := range ranks {
		r := must.Get(tracer.New(o))
		order, noise := rand.New(rand.NewPCG(uint64(rank%shapes), seed)), rand.New(rand.NewPCG(uint64(rank), seed))
		now := int64(1e9) + noise.Int64N(1e6)
		var functions []int
		for k := range 9 {
			functions = append(functions, r.Declare(numbered(fmt.Sprint("f", k), cst.Type{Kind: cst.KindInt})))
		}
		for range calls + rank%shapes {
			k := order.IntN(9)
			duration := int64(500<<k) + noise.Int64N(100<<k)
			r.CallAt(functions[k], now, duration, cst.Int(int64(k%2)))
			now += duration + 50 + noise.Int64N(int64(10<<k))
		}
		parts = append(parts, r.Finish(rank))
	}
	return parts
}

func entropySeries(epsilon float64, form timing.Form) *timing.SeriesCodec {
	c := must.Get(timing.NewEntropy(epsilon))
	return must.Get(timing.NewSeriesCodec(c, c, form))
}

func written(t rapid.TB, parts []merge.Part) []byte {
	var file bytes.Buffer
	if err := merge.Write(&file, merge.Run{Ranks: len(parts), Source: "test"}, parts); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestSharedTimes checks that short series that are alike take less together than alone.
func TestSharedTimes(t *testing.T) {
	for _, ranks := range []int{8, 64} {
		parts := alikeRanks(tracer.Options{Series: entropySeries(0.1, timing.Gaps)}, ranks, 60, 3, 1)
		alone, together := 0, 0
		for _, p := range parts {
			alone += len(p.Times.Series)
		}
		trace := openBytes(t, written(t, parts))
		table := must.Get(trace.series())
		for i := range ranks {
			r := must.Get(trace.sections.OpenSeries(table, i))
			together += r.Index.Size()
		}
		t.Logf("%d ranks, %d trainers: %d bytes, %d alone", ranks, table.Sharing.Trainers, together, alone)
		if table.Sharing.Trainers != ranks/2 && table.Sharing.Trainers != 32 || 100*together > 88*alone {
			t.Errorf("%d ranks, %d trainers: %d bytes, %d alone", ranks, table.Sharing.Trainers, together, alone)
		}
	}
}

// TestSharedTimesRoundTrip checks that times are those of the series as they were recorded, in any order of reading,
// that traces of the halves merge to the same series, and that the number of processors does not matter.
func TestSharedTimesRoundTrip(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	shared := 0
	rapid.Check(t, func(t *rapid.T) {
		o := tracer.Options{
			BlockLen: rapid.SampledFrom([]int{0, 0, 0, 50}).Draw(t, "blockLen"),
			Series: entropySeries(rapid.SampledFrom([]float64{0.1, 0.5, 0.01}).Draw(t, "epsilon"),
				rapid.SampledFrom([]timing.Form{timing.Gaps, timing.Intervals}).Draw(t, "form")),
		}
		if rapid.Bool().Draw(t, "mixed") {
			o.Series.Deltas = must.Get(timing.NewExponential(0.1))
		}
		ranks, shapes := rapid.IntRange(1, 20).Draw(t, "ranks"), rapid.IntRange(1, 3).Draw(t, "shapes")
		parts := alikeRanks(o, ranks, rapid.IntRange(1, 120).Draw(t, "calls"), shapes,
			rapid.Uint64Range(0, 1<<20).Draw(t, "seed"))
		series := make(map[int][]byte)
		for _, p := range parts {
			series[p.Rank] = slices.Clone(p.Times.Series)
		}
		runtime.GOMAXPROCS(rapid.IntRange(1, 5).Draw(t, "processors"))
		file := written(t, parts)
		trace := openBytes(t, file)
		shared += must.Get(trace.series()).Sharing.Trainers
		for _, rank := range rapid.Permutation(slices.Sorted(maps.Keys(series))).Draw(t, "order") {
			r := readRank(t, trace, rank)
			alone := must.Get(o.Series.Parse(series[rank], timing.Options{}))
			want, terminals := make([]timing.Time, alone.Len()), make([]uint32, alone.Len())
			r.timedTerminals(terminals, 0)
			for i := range alone.Blocks() {
				first, end := alone.First(i), alone.First(i+1)
				must.Get(alone.Block(i)).Decode(want[first:end], terminals[first:end])
			}
			i := 0
			for at, err := range r.Times(0) {
				if err != nil || at != want[i] {
					t.Fatalf("rank %d, call %d: %+v, %v, want %+v", rank, i, at, err, want[i])
				}
				i++
			}
		}
		runtime.GOMAXPROCS(rapid.IntRange(1, 5).Draw(t, "processors again"))
		var all merge.Accumulator
		half := rapid.IntRange(0, ranks).Draw(t, "half")
		for _, list := range [][]merge.Part{parts[half:], parts[:half]} {
			if len(list) == 0 {
				continue
			}
			var part merge.Accumulator
			for _, p := range list {
				if err := part.Add(p); err != nil {
					t.Fatal(err)
				}
			}
			var b bytes.Buffer
			if err := part.Write(&b); err != nil {
				t.Fatal(err)
			}
			if err := openBytes(t, b.Bytes()).AddTo(context.Background(), &all); err != nil {
				t.Fatal(err)
			}
		}
		if err := all.Describe(merge.Run{Ranks: ranks, Source: "test"}); err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := all.Write(&again); err != nil {
			t.Fatal(err)
		}
		x, y := openBytes(t, records(t, file)), openBytes(t, records(t, again.Bytes()))
		for _, s := range x.Sections() {
			other, ok := y.file.Lookup(s.Kind, s.Key)
			if s.Kind != layout.KindSeries {
				continue // times of ranks are rounded when a trace is written
			}
			if a, b := must.Get(x.file.Content(s)), must.Get(y.file.Content(other)); !ok || !bytes.Equal(a, b) {
				t.Errorf("%s %d: %x of the halves, not %x", layout.KindName(s.Kind), s.Key, b, a)
			}
		}
	})
	if shared == 0 && !testing.Short() { // then few cases are drawn
		t.Error("no series had a prior")
	}
}

// TestForgedSharing reads traces that say otherwise which series have priors.
func TestForgedSharing(t *testing.T) {
	learn := alikeRanks(tracer.Options{Series: entropySeries(0.1, timing.Gaps)}, 8, 60, 1, 1)
	bins := must.Get(timing.NewExponential(0.1))
	other := alikeRanks(tracer.Options{Series: must.Get(timing.NewSeriesCodec(bins, bins, timing.Gaps))}, 8, 60, 1, 1)
	for _, tt := range []struct {
		name            string
		parts           []merge.Part
		codec, trainers uint64
		bad             int // ranks whose times are refused, at least
	}{
		{"None", learn, 0, 0, 8},
		{"TooMany", learn, 0, 1 << 20, 8},
		{"NoPower", learn, 0, 5, 8},
		{"Codec", learn, 1, 4, 8},
		{"DoesNotLearn", other, 0, 4, 8},
		{"Others", learn, 0, 1, 1},
		{"Fewer", learn, 0, 8, 0}, // of eight ranks, four teach either way
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := records(t, written(t, tt.parts))
			trace := openBytes(t, file)
			s, _ := trace.file.Lookup(layout.KindSeries, 0)
			table := bytes.Clone(must.Get(trace.file.Content(s)))
			if must.Get(trace.series()).Sharing.Trainers > 0 {
				table = table[:len(table)-2]
			}
			table = wire.AppendUvarint(wire.AppendUvarint(table, tt.codec), tt.trainers)
			forged := openBytes(t, replaceSection(t, file, layout.KindSeries, table))
			bad := 0
			for rank := range 8 {
				err := readSeries(forged, rank)
				var parse *timing.ParseError
				var section *format.SectionError
				if err != nil && !errors.As(err, &parse) && !errors.As(err, &section) {
					t.Fatal(err)
				}
				if err != nil {
					bad++
				}
			}
			if bad < tt.bad {
				t.Errorf("%d ranks are refused", bad)
			}
		})
	}
}

// TestTaughtInVain damages the series that teaches the others: their times are lost, but for those of a rank that
// makes no use of it.
func TestTaughtInVain(t *testing.T) {
	const ranks, alone = 300, 299
	o := tracer.Options{Series: entropySeries(0.1, timing.Gaps)}
	parts := alikeRanks(o, ranks, 500, 1, 1)
	r := must.Get(tracer.New(o))
	f := r.Declare(numbered("other", cst.Type{Kind: cst.KindInt}))
	random := rand.New(rand.NewPCG(3, 4))
	now := int64(1e9)
	for range 500 {
		duration := int64(1) << random.IntN(40)
		r.CallAt(f, now, duration, cst.Int(0))
		now += duration + int64(1)<<random.IntN(40)
	}
	parts[alone] = r.Finish(alone)
	file := records(t, written(t, parts))
	trace := openBytes(t, file)
	table := must.Get(trace.series())
	if table.Sharing.Trainers == 0 {
		t.Fatal("no series has a prior")
	}
	x := must.Get(trace.sections.OpenSeries(table, 0))
	block := must.Get(x.Block(0))
	at := bytes.Index(file, block)
	if at < 0 {
		t.Fatal("the series of rank 0 is not there as it is")
	}
	damaged := bytes.Clone(file)
	damaged[at+len(block)/2] ^= 0x5a
	lost := rankenc.Set{}
	for _, d := range openBytes(t, damaged).Damage() {
		lost = lost.Union(d.Ranks)
	}
	if lost.Contains(alone) || lost.Len() != ranks-1 {
		t.Errorf("the times of ranks %v are lost", lost)
	}
}
