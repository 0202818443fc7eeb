package query

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/must"
	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	sections "github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// A timedCall is a call of a rank as it was recorded: of one of some functions, with
// one argument.
type timedCall struct {
	function, argument int64
	start, duration    int64
}

// drawCalls draws the calls of a rank, in loops. Calls end one after the other, and
// overlap if overlap is set.
func drawCalls(t *rapid.T, overlap bool) []timedCall {
	var calls []timedCall
	now := rapid.Int64Range(-100, 1e6).Draw(t, "begin")
	least := int64(0)
	if overlap {
		least = -50
	}
	kinds := rapid.IntRange(1, 4).Draw(t, "kinds")
	for range rapid.IntRange(0, 5).Draw(t, "loops") {
		body := rapid.SliceOfN(rapid.Int64Range(0, int64(kinds)-1), 1, 5).Draw(t, "body")
		for range rapid.IntRange(1, 12).Draw(t, "rounds") {
			for _, kind := range body {
				c := timedCall{function: kind % 2, argument: kind,
					duration: rapid.Int64Range(0, 100).Draw(t, "duration")}
				gap := max(rapid.Int64Range(least, 100).Draw(t, "gap"), -c.duration)
				c.start = now + gap
				now = c.start + c.duration
				calls = append(calls, c)
			}
		}
	}
	return calls
}

// functions are those of timedCalls.
var functions = []cst.Function{
	{Name: "even", Params: []cst.Param{{Name: "n", Type: cst.Type{Kind: cst.KindInt}}}},
	{Name: "odd", Params: []cst.Param{{Name: "n", Type: cst.Type{Kind: cst.KindInt}}}},
}

func exactSeries() *timing.SeriesCodec {
	return must.Get(timing.NewSeriesCodec(must.Get(timing.NewLossless(timing.LZ4)),
		must.Get(timing.NewLossless(timing.LZ4)), timing.Gaps))
}

// record returns a trace of the calls of ranks.
func record(t rapid.TB, o func(rank int) tracer.Options, ranks [][]timedCall) *trace.Trace {
	t.Helper()
	return openFile(t, recordFile(t, o, ranks))
}

// recordFile returns the file that record opens.
func recordFile(t rapid.TB, o func(rank int) tracer.Options, ranks [][]timedCall) []byte {
	t.Helper()
	var parts []merge.Part
	for rank, calls := range ranks {
		r, err := tracer.New(o(rank))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range functions {
			r.Declare(f)
		}
		for _, c := range calls {
			r.CallAt(int(c.function), c.start, c.duration, cst.Int(c.argument))
		}
		if len(calls) > 0 {
			parts = append(parts, r.Finish(rank))
		}
	}
	return writeFile(t, merge.Run{Ranks: len(ranks), Source: "test"}, parts)
}

func writeFile(t rapid.TB, run merge.Run, parts []merge.Part) []byte {
	t.Helper()
	return testtrace.File(t, run, parts)
}

func write(t rapid.TB, run merge.Run, parts []merge.Part) *trace.Trace {
	t.Helper()
	return openFile(t, writeFile(t, run, parts))
}

func openFile(t rapid.TB, file []byte) *trace.Trace {
	t.Helper()
	return testtrace.Open(t, file)
}

// drawOptions draws what is kept of times.
func drawOptions(t *rapid.T) (tracer.Options, Source) {
	switch rapid.SampledFrom([]string{"statistics", "histograms", "paths", "series"}).Draw(t, "times") {
	case "histograms":
		return tracer.Options{Histograms: &timing.HistogramOptions{}}, Histograms
	case "paths":
		return tracer.Options{Histograms: &timing.HistogramOptions{PathSensitive: true}}, Histograms
	case "series":
		return tracer.Options{Series: exactSeries(), BlockLen: rapid.IntRange(1, 20).Draw(t, "block")}, Series
	}
	return tracer.Options{}, Statistics
}

func openRank(t rapid.TB, tr *trace.Trace, rank int) *trace.Rank {
	t.Helper()
	r, err := tr.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func openClock(t rapid.TB, tr *trace.Trace, rank int) *Clock {
	t.Helper()
	times, err := OpenTimes(tr)
	if err != nil {
		t.Fatal(err)
	}
	c, err := times.Clock(openRank(t, tr, rank))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// testClock compares what a clock says with its calls, one by one.
func testClock(t *rapid.T) {
	overlap := rapid.Bool().Draw(t, "overlap")
	var ranks [][]timedCall
	for range rapid.IntRange(1, 3).Draw(t, "ranks") {
		ranks = append(ranks, drawCalls(t, overlap))
	}
	o, source := drawOptions(t)
	file := recordFile(t, func(int) tracer.Options { return o }, ranks)
	kept := rapid.Bool().Draw(t, "times of ranks")
	if !kept {
		file = leaveOut(t, file, sections.KindRankTimes)
	}
	tr := openFile(t, file)
	for rank, recorded := range ranks {
		c := openClock(t, tr, rank)
		if len(recorded) == 0 {
			if c.Source() != None || c.rank.Len() != 0 {
				t.Fatalf("a clock by %v of %d calls without calls", c.Source(), c.rank.Len())
			}
			continue
		}
		if c.Source() != source || c.rank.Len() != uint64(len(recorded)) {
			t.Fatalf("a clock by %v of %d calls, want %v and %d", c.Source(), c.rank.Len(), source, len(recorded))
		}
		var calls []trace.Call
		from := rapid.Uint64Range(0, c.rank.Len()).Draw(t, "from")
		for call, err := range c.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			position := call.Position
			if position != uint64(len(calls)) || !call.Timed || call.Args[0].Int() != recorded[position].argument {
				t.Fatalf("call %d is %v at %d", len(calls), call, position)
			}
			calls = append(calls, call)
		}
		for call, err := range c.Calls(from) {
			if err != nil {
				t.Fatal(err)
			}
			position := call.Position
			if position != from || call.Start != calls[from].Start || call.Duration != calls[from].Duration {
				t.Fatalf("call %d is %+v at %d, want %+v", from, call, position, calls[from])
			}
			from++
		}
		if from != c.rank.Len() || len(calls) != len(recorded) {
			t.Fatalf("%d and %d calls of %d", from, len(calls), len(recorded))
		}
		if source == Series {
			for i, r := range recorded {
				if calls[i].Start != r.start || calls[i].Duration != r.duration {
					t.Fatalf("call %d was %d, %d, want %d, %d", i, calls[i].Start, calls[i].Duration, r.start,
						r.duration)
				}
			}
		} else if kept {
			checkOwn(t, tr, c, calls, ranks, rank)
		} else {
			checkMeans(t, tr, c, calls)
		}
		checkTimes(t, c, calls)
		for range 10 {
			checkAt(t, c, calls)
		}
		if !overlap || source == Series {
			checkBetween(t, c, calls, signatures(t, c, tr))
		}
	}
}

func TestClock(t *testing.T) { rapid.Check(t, testClock) }

func FuzzClock(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testClock)) }

// signatures returns those of the calls of a rank.
func signatures(t *rapid.T, c *Clock, tr *trace.Trace) []sequitur.Symbol {
	t.Helper()
	number, _ := tr.ShapeOf(c.rank.Call(0).Rank)
	shape, err := tr.Shape(number)
	if err != nil {
		t.Fatal(err)
	}
	return shape.Grammar.AppendSymbols(nil)
}

// checkMeans compares the calls of an estimate with the sums of means.
func checkMeans(t *rapid.T, tr *trace.Trace, c *Clock, calls []trace.Call) {
	t.Helper()
	all := signatures(t, c, tr)
	shapes, err := OpenTimes(tr)
	if err != nil {
		t.Fatal(err)
	}
	// timed returns the signature that has the times of a call.
	timed := func(i int) uint32 {
		if shapes.source(int(all[i])) == None {
			return uint32(c.rank.Signature(calls[i].Terminal))
		}
		return all[i]
	}
	of := func(s *timing.Summary, i int) float64 {
		if s.Histograms == nil {
			return s.Statistics[timed(i)].Mean()
		}
		path := timing.Path{Previous: timing.NoPrevious, Terminal: timed(i)}
		if s.Histograms.PathSensitive() && i > 0 {
			path.Previous = int64(timed(i - 1))
		}
		if h := s.Histograms.Find(path); h != nil {
			return h.Statistics().Mean()
		}
		t.Logf("%v has no histogram", path)
		var any timing.Statistics
		for p, h := range s.Histograms.All() {
			if p.Terminal == path.Terminal {
				any.Merge(h.Statistics())
			}
		}
		return any.Mean()
	}
	d, g, err := tr.Summaries()
	if err != nil {
		t.Fatal(err)
	}
	var end, weights float64
	ends := make([]float64, len(calls))
	for i := range calls {
		duration, gap := of(&d, i), 0.0
		if i > 0 {
			gap = of(&g, i)
		}
		if math.Abs(float64(calls[i].Duration)-duration) > 1 {
			t.Fatalf("call %d takes %d, want %g", i, calls[i].Duration, duration)
		}
		end += duration + gap
		weights += max(0, duration+gap)
		ends[i] = weights
	}
	if math.Abs(end) < 1 {
		return // it is a matter of rounding whether there is a sum to end at
	}
	if end < 0 {
		end = weights
	}
	for i := range calls {
		if want := ends[i] * end / weights; weights > 0 &&
			math.Abs(float64(calls[i].Start+calls[i].Duration)-want) > 2 {
			t.Fatalf("call %d ends at %d, want %g", i, calls[i].Start+calls[i].Duration, want)
		}
	}
}

// leaveOut returns a file without the sections of a kind.
func leaveOut(t rapid.TB, file []byte, kind format.Kind) []byte {
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
		if s.Kind != kind {
			w.Add(s.Kind, s.Key, content)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// checkOwn compares the calls of an estimate with those of the rank that were recorded: their sums
// are as near to these as the trace says, and so are its beginning and its end, where no calls
// overlap.
func checkOwn(t *rapid.T, tr *trace.Trace, c *Clock, calls []trace.Call, ranks [][]timedCall, rank int) {
	t.Helper()
	all, err := readRankTimes(tr)
	if err != nil {
		t.Fatal(err)
	}
	kept, ok := all.Find(rank)
	if !ok {
		t.Fatalf("no times of rank %d", rank)
	}
	recorded := ranks[rank]
	var sums, got [2]int64
	overlap, inCalls, off := false, int64(0), kept.Span.Error()
	for i, r := range recorded {
		sums[r.function] += r.duration
		got[r.function] += calls[i].Duration
		overlap = overlap || i > 0 && r.start < recorded[i-1].start+recorded[i-1].duration
		inCalls += r.duration
	}
	for _, f := range kept.Functions {
		off += f.Sum.Error()
	}
	last := recorded[len(recorded)-1]
	if span := last.start + last.duration - recorded[0].start; overlap || span < kept.Span.Low ||
		span > kept.Span.High {
		return
	}
	round := int64(len(calls))
	for f := range sums {
		if d := got[f] - sums[f]; max(d, -d) > 2*off+round {
			t.Fatalf("calls of function %d take %d, want %d ± %d", f, got[f], sums[f], off)
		}
	}
	first := recorded[0].start
	for _, r := range ranks {
		if len(r) > 0 {
			first = min(first, r[0].start)
		}
	}
	gap := int64(0)
	for i := range calls[1:] {
		gap += calls[i+1].Start - calls[i].Start - calls[i].Duration
	}
	begin, end, err := c.Span()
	if err != nil {
		t.Fatal(err)
	}
	if d := begin - (recorded[0].start - first); max(d, -d) > sections.BeginError {
		t.Fatalf("rank %d begins at %d, want %d", rank, begin, recorded[0].start-first)
	}
	if d := end - begin - (last.start + last.duration - recorded[0].start); gap > 0 && max(d, -d) > 2*off+round {
		t.Fatalf("rank %d runs for %d, want %d ± %d", rank, end-begin, last.start+last.duration-recorded[0].start, off)
	}
}

func checkTimes(t *rapid.T, c *Clock, calls []trace.Call) {
	t.Helper()
	for i, call := range calls {
		start, duration, err := c.Time(uint64(i))
		if err != nil || start != call.Start || duration != call.Duration {
			t.Fatalf("call %d was %d, %d, %v, want %d, %d", i, start, duration, err, call.Start, call.Duration)
		}
	}
	first, last := calls[0].Start, calls[len(calls)-1]
	for _, call := range calls {
		if c.Source() == Series {
			first = min(first, call.Start)
		}
	}
	begin, end, err := c.Span()
	if err != nil || begin != first || end != last.Start+last.Duration {
		t.Fatalf("from %d to %d, %v, want %d and %d", begin, end, err, first, last.Start+last.Duration)
	}
}

// drawTime draws a time at or near that of a call.
func drawTime(t *rapid.T, calls []trace.Call, label string) int64 {
	c := calls[rapid.IntRange(0, len(calls)-1).Draw(t, label+" call")]
	near := rapid.Int64Range(-2, 2).Draw(t, label+" near")
	return rapid.SampledFrom([]int64{c.Start + near, c.Start + c.Duration + near, minTime, maxTime}).Draw(t, label)
}

func checkAt(t *rapid.T, c *Clock, calls []trace.Call) {
	t.Helper()
	at := drawTime(t, calls, "time")
	last := calls[len(calls)-1]
	want := Place{Position: c.rank.Len(), Start: last.Start + last.Duration}
	for i, call := range calls {
		switch {
		case call.Start+call.Duration <= at:
		case call.Start <= at && (!want.Inside || call.Start >= want.Start) && c.Source() == Series:
			want = Place{uint64(i), true, call.Start, call.Duration}
		case want.Position == c.rank.Len():
			want = Place{uint64(i), call.Start <= at, call.Start, call.Duration}
		}
	}
	got, err := c.At(at)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Fatalf("at %d: %+v, want %+v", at, got, want)
	}
}

func checkBetween(t *rapid.T, c *Clock, calls []trace.Call, signatures []sequitur.Symbol) {
	t.Helper()
	from, to := drawTime(t, calls, "from"), drawTime(t, calls, "to")
	from, to = min(from, to), max(from, to)
	want := make(map[int]Usage)
	first, end := -1, -1
	var in []trace.Call
	for i, call := range calls {
		if !Overlaps(call.Start, call.Duration, from, to) {
			continue
		}
		if end = i + 1; first < 0 {
			first = i
		}
		in = append(in, call)
		n := int(signatures[i])
		u := want[n]
		u.Signature = n
		u.Calls++
		u.Time += Nanoseconds(max(0, min(to, call.Start+call.Duration)-max(from, call.Start)))
		want[n] = u
	}
	w, err := c.Between(from, to)
	if err != nil {
		t.Fatal(err)
	}
	if first >= 0 && (w.First != uint64(first) || w.End != uint64(end)) || first < 0 && w.First != w.End ||
		len(w.Usage) != len(want) {
		t.Fatalf("from %d to %d: %+v, want %d to %d, %v", from, to, w, first, end, want)
	}
	for _, u := range w.Usage {
		near := want[u.Signature]
		if u.Calls != near.Calls || c.Source() == Series && u.Time != near.Time ||
			math.Abs(float64(u.Time-near.Time)) > 1+float64(u.Calls) {
			t.Fatalf("from %d to %d: %+v, want %+v", from, to, u, near)
		}
	}
	covered := math.Inf(1)
	if c.Source() == Series {
		covered = coveredBy(in, from, to)
	}
	if c.Guarantee() == timing.Exact && w.Covered != covered {
		t.Fatalf("from %d to %d: %g covered, want %g", from, to, w.Covered, covered)
	}
}

// coveredBy returns how much of the time between two times is that of calls.
func coveredBy(calls []trace.Call, from, to int64) float64 {
	slices.SortFunc(calls, func(a, b trace.Call) int { return cmp.Compare(a.Start, b.Start) })
	sum, at := int64(0), from
	for _, c := range calls {
		begin, end := max(at, c.Start), min(c.Start+c.Duration, to)
		sum += max(0, end-begin)
		at = max(at, end)
	}
	return float64(sum)
}

// TestOverlaps checks which calls are between two times, where sums do not fit, too.
func TestOverlaps(t *testing.T) {
	for _, tt := range []struct {
		start, duration, from, to int64
		want                      bool
	}{
		{10, 5, 0, 20, true},
		{10, 5, 12, 13, true},
		{10, 5, 15, 20, false},
		{10, 5, 0, 10, false},
		{10, 0, 10, 11, true},
		{10, 0, 11, 12, false},
		{maxTime - 5, 100, maxTime - 2, maxTime, true},
		{maxTime - 5, maxTime, 0, maxTime, true},
		{minTime + 5, -100, minTime + 6, 0, false},
		{minTime, maxTime, -2, 0, true},
		{minTime, maxTime, -1, 0, false},
	} {
		if got := Overlaps(tt.start, tt.duration, tt.from, tt.to); got != tt.want {
			t.Errorf("Overlaps(%d, %d, %d, %d) is %v", tt.start, tt.duration, tt.from, tt.to, got)
		}
	}
}

// TestLastTimes looks for a call at the end of time, which ends later than times go.
func TestLastTimes(t *testing.T) {
	calls := []timedCall{{0, 0, 0, 10}, {0, 1, maxTime - 5, 100}}
	c := openClock(t, record(t, func(int) tracer.Options {
		return tracer.Options{Series: exactSeries()}
	}, [][]timedCall{calls}), 0)
	if p, err := c.At(maxTime - 2); err != nil || p != (Place{1, true, maxTime - 5, 100}) {
		t.Errorf("%+v, %v", p, err)
	}
	if first, end, err := c.Positions(maxTime-2, maxTime); err != nil || first != 1 || end != 2 {
		t.Errorf("%d to %d, %v", first, end, err)
	}
	if _, end, err := c.Span(); err != nil || end != maxTime {
		t.Errorf("the last call ends at %d, %v", end, err)
	}
}

// TestExtremeTimes asks clocks of times that no program has: their answers need not mean
// anything, but there are some, and calls are where the search finds them as long as
// the sums fit.
func TestExtremeTimes(t *testing.T) {
	extremes := []int64{minTime, minTime + 1, -1 << 40, -1, 0, 1, 1 << 40, 1 << 61, 1 << 62, maxTime}
	rapid.Check(t, func(t *rapid.T) {
		o, _ := drawOptions(t)
		var calls []timedCall
		for range rapid.IntRange(1, 20).Draw(t, "calls") {
			calls = append(calls, timedCall{0, rapid.Int64Range(0, 1).Draw(t, "kind"),
				rapid.SampledFrom(extremes).Draw(t, "start"), rapid.SampledFrom(extremes).Draw(t, "duration")})
		}
		tr := record(t, func(int) tracer.Options { return o }, [][]timedCall{calls})
		c := openClock(t, tr, 0)
		if _, _, err := c.Span(); err != nil {
			t.Fatal(err)
		}
		n := 0
		for call := range c.Calls(0) {
			position := call.Position
			if _, _, err := c.Time(position); err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != len(calls) {
			t.Fatalf("%d calls of %d", n, len(calls))
		}
		for _, at := range extremes {
			if p, err := c.At(at); err != nil || p.Position > c.rank.Len() {
				t.Fatalf("%+v, %v", p, err)
			}
			for _, to := range extremes {
				if _, err := c.Between(at, to); to >= at && err != nil {
					t.Fatal(err)
				}
			}
		}
		times, err := OpenTimes(tr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := times.Imbalance(); err != nil {
			t.Fatal(err)
		}
		if _, err := times.ShapeLoops(0); err != nil {
			t.Fatal(err)
		}
	})
}

// TestExtremeGaps adds up gaps that are longer than times go, from times of every call that are
// coded by intervals: they end there.
func TestExtremeGaps(t *testing.T) {
	lossless := must.Get(timing.NewLossless(timing.LZ4))
	o := tracer.Options{Series: must.Get(timing.NewSeriesCodec(lossless, lossless, timing.Intervals))}
	for _, tt := range []struct {
		calls []timedCall
		want  float64
	}{
		{[]timedCall{{0, 0, minTime + 10, 5}, {0, 0, maxTime - 10, 5}}, maxTime},
		{[]timedCall{{0, 0, maxTime - 10, 100}, {0, 0, minTime + 10, 5}}, minTime},
		{[]timedCall{{0, 0, maxTime - 10, 100}, {0, 0, maxTime - 5, 5}}, -95},
		{[]timedCall{{0, 0, 1 << 62, 1 << 62}, {0, 0, 0, 5}}, minTime},
		{[]timedCall{{0, 0, 100, 5}, {0, 0, 200, 5}}, 95},
	} {
		times, err := OpenTimes(record(t, func(int) tracer.Options { return o }, [][]timedCall{tt.calls}))
		if err != nil {
			t.Fatal(err)
		}
		if times, err = times.ReadSeries(t.Context(), Options{}); err != nil {
			t.Fatal(err)
		}
		if _, gap := times.Mean(0); gap != tt.want {
			t.Errorf("%v: the gap is %g, want %g", tt.calls, gap, tt.want)
		}
	}
}

// TestLostSeries reads clocks of a rank whose times are damaged: what needs them returns
// an error that names the section.
func TestLostSeries(t *testing.T) {
	var calls []timedCall
	for i := range int64(2000) {
		calls = append(calls, timedCall{0, i % 3, 100 * i, i * i % 97})
	}
	file := testtrace.Records(t, recordFile(t, func(int) tracer.Options {
		return tracer.Options{Series: exactSeries()}
	}, [][]timedCall{calls}))
	whole, err := format.NewReader(bytes.NewReader(file), int64(len(file)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range whole.All() {
		if s.Kind == sections.KindSeries && s.Key == 1 {
			file[s.Offset+s.Size-10] ^= 1
		}
	}
	tr, err := trace.OpenReader(bytes.NewReader(file), int64(len(file)), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var section *format.SectionError
	if _, err := tr.Rank(0); !errors.As(err, &section) || section.Kind != sections.KindSeries {
		t.Fatal(err)
	}
	times, err := OpenTimes(tr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := times.At(context.Background(), 0, Options{}); !errors.As(err, &section) ||
		section.Kind != sections.KindSeries {
		t.Fatal(err)
	}
	if _, err := times.ReadSeries(context.Background(), Options{}); !errors.As(err, &section) ||
		section.Kind != sections.KindSeries {
		t.Fatal(err)
	}
	if tr, err = trace.OpenReader(bytes.NewReader(file), int64(len(file)),
		trace.Options{LeaveOutDamage: true}); err != nil {
		t.Fatal(err)
	}
	if c := openClock(t, tr, 0); c.Source() != Statistics {
		t.Fatalf("a clock by %v", c.Source())
	}
	if times, err = OpenTimes(tr); err != nil {
		t.Fatal(err)
	}
	places, err := times.At(context.Background(), 0, Options{})
	if err != nil || len(places) != 1 || places[0].Source != Statistics {
		t.Fatalf("%v, %v", places, err)
	}
	a, err := times.Activity(context.Background(), 0, maxTime, Options{})
	if err != nil || a.Source != Statistics || a.Calls != uint64(len(calls)) {
		t.Fatalf("%+v, %v", a, err)
	}
}
