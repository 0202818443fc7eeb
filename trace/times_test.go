package trace

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/recorded"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// blockLen is how many calls a block has if nobody says it.
const blockLen = 1 << 16

// timed records calls of ranks with times, which are the moments that it returns,
// and returns the trace.
func timed(t rapid.TB, codec *timing.SeriesCodec, ranks, calls int) ([]byte, [][]timing.Time) {
	t.Helper()
	step := cst.Function{Name: "step", Params: []cst.Param{{Name: "n", Type: cst.Type{Kind: cst.KindInt}}}}
	var (
		parts []merge.Part
		all   [][]timing.Time
	)
	for rank := range ranks {
		r, err := tracer.New(tracer.Options{Series: codec})
		if err != nil {
			t.Fatal(err)
		}
		fn := r.Declare(step)
		var list []timing.Time
		random := rand.New(rand.NewPCG(uint64(rank), 1))
		now := int64(1e9)
		for i := range calls {
			at := timing.Time{Start: now, Duration: 100 + random.Int64N(1<<20)}
			now += at.Duration + int64(i*i%113)
			r.CallAt(fn, at.Start, at.Duration, cst.Int(int64(i%3)))
			list = append(list, at)
		}
		parts, all = append(parts, r.Finish(rank)), append(all, list)
	}
	var file bytes.Buffer
	if err := merge.Write(&file, merge.Run{Ranks: ranks, Source: "test"}, parts); err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), all
}

func exactTimes() *timing.SeriesCodec {
	return must.Get(timing.NewSeriesCodec(must.Get(timing.NewLossless(timing.Zstd)),
		must.Get(timing.NewLossless(timing.Zstd)), timing.Gaps))
}

// TestTimes reads calls and times from any position, in every way that there is.
func TestTimes(t *testing.T) {
	const ranks, calls = 3, blockLen + 700
	file, want := timed(t, exactTimes(), ranks, calls)
	trace := openBytes(t, file)
	same := func(c Call, w timing.Time) bool { return c.Timed && c.Start == w.Start && c.Duration == w.Duration }
	for _, from := range []uint64{0, 1, 255, 256, 257, blockLen - 1, blockLen, calls - 1, calls} {
		r := readRank(t, trace, 1)
		n := from
		for c, err := range r.Calls(from) {
			if err != nil {
				t.Fatal(err)
			}
			at := c.Position
			if at != n || !same(c, want[1][at]) || c.Args[0].Int() != int64(at%3) {
				t.Fatalf("call %d is %+v, want %+v", at, c, want[1][at])
			}
			n++
		}
		m := from
		for at, err := range r.Times(from) {
			if err != nil || at.Start != want[1][m].Start || at.Duration != want[1][m].Duration {
				t.Fatalf("call %d was %+v, %v, want %+v", m, at, err, want[1][m])
			}
			m++
		}
		if n != calls || m != calls {
			t.Fatalf("%d calls and %d times from %d on, of %d", n-from, m-from, from, calls)
		}
	}
	all := readCalls(t, trace.Calls(calls+5))
	for _, w := range want[1][5:] {
		if c, err := all.Read(); err != nil || !same(c, w) || c.Rank != 1 {
			t.Fatalf("%+v, %v, want %+v", c, err, w)
		}
	}
	if c, err := all.Read(); err != nil || c.Rank != 2 || !same(c, want[2][0]) {
		t.Fatalf("%+v, %v, want %+v", c, err, want[2][0])
	}
}

// TestLostTimes damages the times of calls: the rank is not read, and the error names
// the section. Without the damage, the calls are read.
func TestLostTimes(t *testing.T) {
	file, _ := timed(t, exactTimes(), 2, 1000)
	for key := range uint64(2) {
		t.Run(fmt.Sprint(key), func(t *testing.T) {
			trace := openBytes(t, flip(t, file, layout.KindSeries, key))
			var se *format.SectionError
			if _, err := trace.Rank(0); !errors.As(err, &se) || se.Kind != layout.KindSeries {
				t.Errorf("err = %v", err)
			}
			if _, err := readCalls(t, trace.Calls(0)).Read(); !errors.As(err, &se) {
				t.Errorf("err = %v", err)
			}
			trace.leaveOutDamage()
			n := 0
			for c, err := range readRank(t, trace, 0).Calls(0) {
				if n++; c.Timed || err != nil {
					t.Fatalf("%+v, %v", c, err)
				}
			}
			if n != 1000 {
				t.Errorf("%d calls", n)
			}
		})
	}
}

// TestOrphanSeries takes the section away that says whose the times of every call are: it
// is damage, and nothing that has the times of some rank to read goes on without them.
func TestOrphanSeries(t *testing.T) {
	file, _ := timed(t, exactTimes(), 2, 1000)
	trace := openBytes(t, withoutSection(t, file, layout.KindSeries, 0))
	list := trace.Damage()
	if len(list) != 1 || list[0].Err.Kind != layout.KindSeries || list[0].Err.Key != 0 ||
		list[0].Err.Offset != -1 || list[0].Ranks.Len() != 2 {
		t.Errorf("damage %v", list)
	}
	for what, read := range map[string]func() error{
		"SeriesRanks": func() error { _, _, err := trace.SeriesRanks(); return err },
		"Rank":        func() error { _, err := trace.Rank(0); return err },
		"AddTimes":    func() error { _, err := trace.AddTimes(new(merge.Accumulator)); return err },
		"AddTo":       func() error { return trace.AddTo(t.Context(), new(merge.Accumulator)) },
	} {
		var se *format.SectionError
		if err := read(); !errors.As(err, &se) || se.Kind != layout.KindSeries || !errors.Is(err, format.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
	trace.leaveOutDamage()
	if err := trace.AddTo(t.Context(), new(merge.Accumulator)); err != nil {
		t.Error(err)
	}
}

// withoutSection returns a file without one of its sections.
func withoutSection(t *testing.T, file []byte, kind format.Kind, key uint64) []byte {
	t.Helper()
	r, err := format.NewReader(bytes.NewReader(file), int64(len(file)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := format.NewWriter(&b, format.Options{})
	for _, s := range r.All() {
		content, err := r.Content(s)
		if err != nil {
			t.Fatal(err)
		}
		if s.Kind != kind || s.Key != key {
			w.Add(s.Kind, s.Key, content)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRecordedTimes writes the calls and times of real runs, with a relative error
// of a tenth, and reads them: the error holds for every duration, and starts are
// no farther off than the error of the longest gap.
func TestRecordedTimes(t *testing.T) {
	const epsilon = 0.1
	entropy, err := timing.NewEntropy(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	codec := must.Get(timing.NewSeriesCodec(entropy, entropy, timing.Gaps))
	runs := make(map[string][]*recorded.Rank)
	for _, r := range recorded.Ranks(t) {
		runs[r.Run] = append(runs[r.Run], r)
	}
	for name, ranks := range runs {
		t.Run(name, func(t *testing.T) {
			if len(ranks[0].Starts) > 10_000 && !tier.Nightly {
				t.Skip("a long run")
			}
			checkRecorded(t, epsilon, codec, ranks)
		})
	}
}

func checkRecorded(t *testing.T, epsilon float64, codec *timing.SeriesCodec, ranks []*recorded.Rank) {
	step := cst.Function{Name: "signature", Params: []cst.Param{{Name: "n", Type: cst.Type{Kind: cst.KindInt}}}}
	var (
		a     merge.Accumulator
		calls int
	)
	for rank, of := range ranks {
		r, err := tracer.New(tracer.Options{Series: codec})
		if err != nil {
			t.Fatal(err)
		}
		fn := r.Declare(step)
		for i, s := range of.Terminals {
			r.CallAt(fn, of.Starts[i], of.Durations[i], cst.Int(int64(s)))
		}
		if err := a.Add(r.Finish(rank)); err != nil {
			t.Fatal(err)
		}
		calls += len(of.Terminals)
	}
	var file bytes.Buffer
	if err := a.Write(&file); err != nil {
		t.Fatal(err)
	}
	trace := openBytes(t, file.Bytes())
	for rank, of := range ranks {
		var longest int64
		for _, g := range of.Gaps() {
			longest = max(longest, g, -g)
		}
		i := 0
		for c, err := range readRank(t, trace, rank).Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			if d := c.Duration - of.Durations[i]; math.Abs(float64(d)) > epsilon*float64(of.Durations[i]) {
				t.Fatalf("rank %d, call %d took %d, not %d", rank, i, c.Duration, of.Durations[i])
			}
			if d := c.Start - of.Starts[i]; math.Abs(float64(d)) > epsilon*float64(longest) {
				t.Fatalf("rank %d, call %d began at %d, not %d", rank, i, c.Start, of.Starts[i])
			}
			if !c.Timed || c.Args[0].Int() != int64(of.Terminals[i]) {
				t.Fatalf("rank %d, call %d is %+v", rank, i, c)
			}
			i++
		}
		if i != len(of.Starts) {
			t.Fatalf("rank %d has %d calls, want %d", rank, i, len(of.Starts))
		}
	}
	t.Logf("%d ranks, %d calls, %d bytes, %.2f bits a call", len(ranks), calls, file.Len(),
		8*float64(file.Len())/float64(calls))
}

// TestLostBlock damages one block of several: the calls in the others are timed.
func TestLostBlock(t *testing.T) {
	const calls = 3*blockLen + 100
	file, want := timed(t, exactTimes(), 1, calls)
	r, err := format.NewReader(bytes.NewReader(file), int64(len(file)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(file)
	s, _ := r.Lookup(layout.KindSeries, 2) // 0 is the table, 1 has the index, and 2 the first block
	damaged[s.Offset+s.Size/2] ^= 1
	rank := readRank(t, openBytes(t, damaged), 0)
	lost := 0
	for c, err := range rank.Calls(0) {
		at := c.Position
		if (err == nil) != c.Timed {
			t.Fatalf("call %d is %+v, %v", at, c, err)
		}
		if err != nil {
			lost++
		} else if w := want[0][at]; c.Start != w.Start || c.Duration != w.Duration {
			t.Fatalf("call %d is %+v, want %+v", at, c, w)
		}
	}
	if lost != blockLen {
		t.Errorf("%d calls are not timed", lost)
	}
	failed := 0
	for _, err := range rank.Times(1) {
		if err != nil {
			failed++
		}
	}
	if failed != blockLen-1 {
		t.Errorf("%d times cannot be read", failed)
	}
}

// TestSelect compares the calls of some terminals with those among all calls.
func TestSelect(t *testing.T) {
	const calls = 3*blockLen + 100
	for _, codec := range []*timing.SeriesCodec{nil, exactTimes()} {
		r, err := tracer.New(tracer.Options{Series: codec})
		if err != nil {
			t.Fatal(err)
		}
		fn := r.Declare(cst.Function{Name: "step", Params: []cst.Param{{Name: "n", Type: cst.Type{Kind: cst.KindInt}}}})
		for i := range calls {
			n := i % 3
			if i%(blockLen*5/4) == 700 {
				n = 3 // in the first three blocks, and not in the last
			}
			r.CallAt(fn, int64(10*i), int64(i%7), cst.Int(int64(n)))
		}
		var file bytes.Buffer
		if err := merge.Write(&file, merge.Run{Ranks: 1}, []merge.Part{r.Finish(0)}); err != nil {
			t.Fatal(err)
		}
		rank := readRank(t, openBytes(t, file.Bytes()), 0)
		for n := range int64(5) {
			for _, from := range tier.Some([]uint64{0, 701, calls, calls / 3, calls - 1, calls + 1}, 2) {
				checkSelect(t, rank, from, func(c Call) bool { return c.Args[0].Int() == n })
			}
		}
	}
}

func checkSelect(t *testing.T, rank *Rank, from uint64, keep func(Call) bool) {
	t.Helper()
	next, stop := iter.Pull2(rank.Calls(from))
	defer stop()
	for c, err := range rank.Select(from, keep) {
		if err != nil {
			t.Fatal(err)
		}
		for {
			want, err, ok := next()
			if !ok || err != nil || want.Position > c.Position {
				t.Fatalf("%v at %d is not among all calls from %d on, %v", c, c.Position, from, err)
			}
			if want.Position == c.Position && reflect.DeepEqual(c, want) {
				break
			}
			if keep(want) {
				t.Fatalf("the call from %d on is %+v, want %+v", from, c, want)
			}
		}
	}
	for c, _, ok := next(); ok; c, _, ok = next() {
		if keep(c) {
			t.Fatalf("%v at %d is left out", c, c.Position)
		}
	}
}

// TestByTime walks the calls of ranks of which some do not stand in the order of time.
func TestByTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []merge.Part
		want := make(map[int]int)
		ranks, calls := rapid.IntRange(1, 5).Draw(t, "ranks"), 0
		for rank := range ranks {
			r, err := tracer.New(tracer.Options{Series: exactTimes()})
			if err != nil {
				t.Fatal(err)
			}
			fn := r.Declare(
				cst.Function{Name: "step", Params: []cst.Param{{Name: "n", Type: cst.Type{Kind: cst.KindInt}}}})
			starts := rapid.SliceOfN(rapid.Int64Range(-50, 50), 0, 40).Draw(t, "starts")
			if rapid.Bool().Draw(t, "ascending") {
				slices.Sort(starts)
			}
			for i, start := range starts {
				r.CallAt(fn, start, int64(i), cst.Int(int64(i%3)))
			}
			parts, want[rank], calls = append(parts, r.Finish(rank)), len(starts), calls+len(starts)
		}
		var file bytes.Buffer
		if err := merge.Write(&file, merge.Run{Ranks: ranks, Source: "test"}, parts); err != nil {
			t.Fatal(err)
		}
		trace := openBytes(t, file.Bytes())
		last := Call{Start: math.MinInt64}
		for c, err := range trace.ByTime() {
			if err != nil {
				t.Fatal(err)
			}
			if order := cmp.Or(cmp.Compare(last.Start, c.Start), cmp.Compare(last.Rank, c.Rank)); order > 0 ||
				order == 0 && last.Position >= c.Position {
				t.Fatalf("%+v after %+v", c, last)
			}
			if c.Duration != int64(c.Position) || c.Args[0].Int() != int64(c.Position%3) || !c.Timed {
				t.Fatalf("%+v", c)
			}
			want[c.Rank]--
			calls--
			last = c
		}
		if calls != 0 || slices.ContainsFunc(slices.Collect(maps.Values(want)), func(n int) bool { return n != 0 }) {
			t.Fatalf("%d calls are missing: %v", calls, want)
		}
	})
	for _, err := range openBytes(t, smallTrace(t)).ByTime() {
		if !errors.Is(err, ErrUntimed) {
			t.Errorf("without times: %v", err)
		}
	}
}
