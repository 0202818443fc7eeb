package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/piecewise"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// moved is how the clock of the second machine of these tests is aligned: by three seconds and 100 ppm.
var moved = format.Alignment{Offset: -3_000_000_000, Rate: -112_589_990_684, Since: 1_000_000_000}

// machines returns the file of a trace of three ranks on two machines, or without a word of machines.
func machines(t *testing.T, several bool) []byte {
	t.Helper()
	run := merge.Run{Ranks: 3}
	if several {
		run.Clocks = []format.Clock{
			{Machine: "a", Ranks: rankenc.SetOf(0, 2)},
			{Machine: "b", Ranks: rankenc.SetOf(1), Alignment: moved, Error: 700},
		}
	}
	exact := must.Get(timing.NewLossless(timing.Zstd))
	var parts []merge.Part
	for rank := range 3 {
		r, err := tracer.New(tracer.Options{Series: must.Get(timing.NewSeriesCodec(exact, exact, timing.Gaps))})
		if err != nil {
			t.Fatal(err)
		}
		f := r.Declare(cst.Function{Name: "f"})
		for i := range int64(100) {
			r.CallAt(f, 1e9+1_000_000*i, 500_000)
		}
		parts = append(parts, r.Finish(rank))
	}
	return testtrace.File(t, run, parts)
}

// sections returns the sections of a file, but for those that are left out.
func sections(t *testing.T, file []byte, leftOut format.Kind) []string {
	t.Helper()
	f := container(t, file)
	var list []string
	for _, s := range f.All() {
		content, err := f.Content(s)
		if err != nil {
			t.Fatal(err)
		}
		if s.Kind != leftOut {
			list = append(list, fmt.Sprintf("%s %d: %x", layout.KindName(s.Kind), s.Key, content))
		}
	}
	return list
}

// TestClocks checks that the times of ranks of another machine are those of the first, and that all else of a
// trace does not change.
func TestClocks(t *testing.T) {
	without, with := machines(t, false), machines(t, true)
	if !slices.Equal(sections(t, without, layout.KindClocks), sections(t, with, layout.KindClocks)) {
		t.Error("not only the clocks differ")
	}
	plain, aligned := testtrace.Open(t, without), testtrace.Open(t, with)
	if plain.Run().Clocks != nil || len(aligned.Run().Clocks) != 2 {
		t.Errorf("%+v and %+v", plain.Run().Clocks, aligned.Run().Clocks)
	}
	for rank, clock := range []format.Alignment{{}, moved, {}} {
		before, err := plain.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		after, err := aligned.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for position := range before.Len() {
			var times [2]timing.Time
			for i, r := range []*trace.Rank{before, after} {
				for at, err := range r.Times(position) {
					if times[i] = at; err != nil {
						t.Fatal(err)
					}
					break
				}
			}
			end := piecewise.Apply(clock, times[0].Start+times[0].Duration)
			if got := times[1]; got.Start != piecewise.Apply(clock, times[0].Start) || got.Start+got.Duration != end {
				t.Fatalf("call %d of rank %d: %+v of %+v", position, rank, times[1], times[0])
			}
		}
	}
	for _, tt := range []struct{ rank, clock int }{{0, 0}, {1, 1}, {2, 0}, {3, -1}} {
		if got := aligned.Run().ClockOf(tt.rank); got != tt.clock {
			t.Errorf("rank %d has clock %d, want %d", tt.rank, got, tt.clock)
		}
	}
	if clocks, off := aligned.Run().Aligned(); clocks != 2 || off != 700 {
		t.Errorf("%d clocks are aligned to %d ns", clocks, off)
	}
}

// TestDescribeClocks checks which clocks are refused.
func TestDescribeClocks(t *testing.T) {
	one := rankenc.SetOf(1)
	for _, list := range [][]format.Clock{
		{{Machine: "a"}}, {{Ranks: one}}, {{Machine: "a", Ranks: one, Error: -2}},
		{{Machine: "a", Ranks: one, Alignment: format.Alignment{Rate: piecewise.MaxRate + 1}}},
		{{Machine: "a", Ranks: one, Alignment: format.Alignment{Rate: -piecewise.MaxRate - 1}}},
		{{Machine: "a", Ranks: one, Alignment: moved, Error: -1}},
		{{Machine: "a", Ranks: one}, {Machine: "b", Ranks: one}},
		{{Machine: "a", Ranks: one}, {Machine: "a", Ranks: rankenc.SetOf(2)}},
	} {
		var a merge.Accumulator
		if a.Describe(merge.Run{Clocks: list}) == nil {
			t.Errorf("accepted %+v", list)
		}
	}
}

// forgedClocks returns a file with another section of clocks, or none.
func forgedClocks(t *testing.T, file []byte, section []byte) []byte {
	t.Helper()
	f := container(t, file)
	var forged bytes.Buffer
	w := format.NewWriter(&forged, format.Options{})
	for _, s := range f.All() {
		content, err := f.Content(s)
		if err != nil {
			t.Fatal(err)
		}
		if s.Kind == layout.KindClocks {
			content = section
		}
		w.Add(s.Kind, s.Key, content)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return forged.Bytes()
}

// TestClockErrors checks that clocks that cannot be are refused, and every prefix of some.
func TestClockErrors(t *testing.T) {
	file := machines(t, true)
	list := testtrace.Open(t, file).Run().Clocks
	encoded := func(change func(list []format.Clock)) []byte {
		changed := slices.Clone(list)
		change(changed)
		return layout.AppendClocks(nil, changed)
	}
	valid := encoded(func([]format.Clock) {})
	forgeries := map[string][]byte{
		"no clocks":       {0},
		"many":            {0xff, 0xff, 0xff, 0xff, 0x0f, 0},
		"trailing":        append(slices.Clone(valid), 0),
		"rank of no run":  encoded(func(c []format.Clock) { c[1].Ranks = rankenc.SetOf(1, 3) }),
		"far rank":        encoded(func(c []format.Clock) { c[1].Ranks = rankenc.SetOf(1, rankenc.MaxRank) }),
		"many ranks":      encoded(func(c []format.Clock) { c[0].Ranks = rankenc.World(layout.MaxRanks) }),
		"no rank":         encoded(func(c []format.Clock) { c[1].Ranks = rankenc.Set{} }),
		"a rank twice":    encoded(func(c []format.Clock) { c[1].Ranks = rankenc.SetOf(1, 2) }),
		"order":           encoded(func(c []format.Clock) { c[0], c[1] = c[1], c[0] }),
		"machine twice":   encoded(func(c []format.Clock) { c[1].Machine = "a" }),
		"no machine":      encoded(func(c []format.Clock) { c[1].Machine = "" }),
		"fast":            encoded(func(c []format.Clock) { c[1].Rate = piecewise.MaxRate + 1 }),
		"slow":            encoded(func(c []format.Clock) { c[1].Rate = math.MinInt64 }),
		"error too large": bytes.Replace(valid, wire.AppendUvarint(nil, 701), bytes.Repeat([]byte{0xff}, 9), 1),
	}
	for n := range valid {
		forgeries[fmt.Sprintf("the first %d bytes", n)] = valid[:n]
	}
	for name, section := range forgeries {
		data := forgedClocks(t, file, section)
		var e *format.SectionError
		if _, err := trace.OpenReader(bytes.NewReader(data), int64(len(data)),
			trace.Options{}); !errors.As(err, &e) || e.Kind != layout.KindClocks {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestClocksFlipped checks that a trace with any bit of its clocks flipped, behind a right checksum, is
// refused or can be read: times are then what they are, but no call ends before it begins, or begins before
// the one before it.
func TestClocksFlipped(t *testing.T) {
	file := machines(t, true)
	valid := layout.AppendClocks(nil, testtrace.Open(t, file).Run().Clocks)
	read := 0
	for bit := range 8 * len(valid) {
		section := slices.Clone(valid)
		section[bit/8] ^= 1 << (bit % 8)
		data := forgedClocks(t, file, section)
		var e *format.SectionError
		tr, err := trace.OpenReader(bytes.NewReader(data), int64(len(data)), trace.Options{})
		if err != nil {
			if !errors.As(err, &e) || e.Kind != layout.KindClocks {
				t.Errorf("bit %d: %v", bit, err)
			}
			continue
		}
		read++
		for rank := range tr.Ranks() {
			r, err := tr.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			last := int64(math.MinInt64)
			for at, err := range r.Times(0) {
				if err != nil || at.Start < last || at.Duration < 0 {
					t.Fatalf("bit %d: %+v after %d, %v", bit, at, last, err)
				}
				last = at.Start
			}
		}
	}
	if read == 0 {
		t.Error("all are refused")
	}
}
