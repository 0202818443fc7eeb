package query

import (
	"maps"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// An expansion is the iterations of each rule of a grammar, one by one.
type expansion struct {
	grammar *sequitur.Grammar
	begins  [][]int // by rule
}

func expand(g *sequitur.Grammar) *expansion {
	e := &expansion{g, make([][]int, g.Rules())}
	e.add(g.Rules()-1, 0)
	return e
}

// add adds an iteration of a rule that begins at a position, and what is in it.
func (e *expansion) add(rule, at int) {
	e.begins[rule] = append(e.begins[rule], at)
	for s := range e.grammar.Body(rule) {
		for range s.Count {
			if s.Rule < 0 {
				at++
				continue
			}
			e.add(s.Rule, at)
			at += int(e.grammar.RuleLen(s.Rule))
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b))+1e-6 }

// testLoops compares loops with their iterations, one by one.
func testLoops(t *rapid.T) {
	var ranks [][]timedCall
	for range rapid.IntRange(1, 3).Draw(t, "ranks") {
		ranks = append(ranks, drawCalls(t, true))
	}
	o, source := drawOptions(t)
	trace := record(t, func(int) tracer.Options { return o }, ranks)
	times, err := OpenTimes(trace)
	if err != nil {
		t.Fatal(err)
	}
	for number := range trace.Shapes() {
		shape, err := times.ShapeLoops(number)
		if err != nil {
			t.Fatal(err)
		}
		checkLoops(t, times, shape, min(source, Histograms))
	}
	for rank := range ranks {
		if len(ranks[rank]) > 0 {
			checkLoops(t, times, times.RankLoops(openRank(t, trace, rank)), min(source, Histograms))
		}
	}
}

func TestLoops(t *testing.T) { rapid.Check(t, testLoops) }

func checkLoops(t *rapid.T, times *Times, l *Loops, source Source) {
	t.Helper()
	if source == Histograms && times.summaries[durations].Histograms == nil {
		source = Statistics
	}
	if l.Source != source {
		t.Fatalf("loops by %v, want %v", l.Source, source)
	}
	symbols := l.Grammar.AppendSymbols(nil)
	costs := make([][2]float64, len(symbols))
	for i, s := range symbols {
		p := pair{none, s}
		if i > 0 {
			p.before = int64(symbols[i-1])
		}
		costs[i] = l.means(p)
	}
	e := expand(l.Grammar)
	whole := 0.0 // below a millionth of a nanosecond, it is what rounding leaves
	for _, c := range costs {
		whole += c[durations] + c[gaps]
	}
	for r, begins := range e.begins {
		of := l.Rules[r]
		length := int(l.Grammar.RuleLen(r))
		if of.Iterations != uint64(len(begins)) || of.Calls != uint64(length) {
			t.Fatalf("rule %d: %+v, want %d iterations of %d calls", r, of, len(begins), length)
		}
		var sum [2]float64
		for _, begin := range begins {
			for _, c := range costs[begin : begin+length] {
				add(&sum, c, 1)
			}
		}
		n := float64(len(begins))
		if !near(float64(of.InCalls), sum[durations]/n) || !near(float64(of.Time), (sum[durations]+sum[gaps])/n) {
			t.Fatalf("rule %d: %+v, want %g and %g", r, of, sum[durations]/n, sum[gaps]/n)
		}
		if whole > 1e-6 && !near(of.Share, min(1, max(0, (sum[durations]+sum[gaps])/whole))) {
			t.Fatalf("rule %d: %+v of %g", r, of, whole)
		}
		calls := make(map[string]uint64)
		for _, s := range symbols[begins[0] : begins[0]+length] {
			calls[times.trace.Functions()[times.trace.FunctionOf(l.signature(s))].Name]++
		}
		got := make(map[string]uint64)
		for _, f := range l.Functions(r) {
			got[f.Name] = f.Calls
		}
		if !maps.Equal(got, calls) {
			t.Fatalf("rule %d calls %v, want %v", r, got, calls)
		}
	}
}

// TestLoopsOfRank compares the loops of two ranks, of which a trace has statistics together and the
// sums of each, with what each of them did.
func TestLoopsOfRank(t *testing.T) {
	ranks := make([][]timedCall, 2)
	for rank := range ranks {
		now := int64(0)
		for range 100 {
			for kind, duration := range []int64{1_000_000, 3_000_000} {
				now += 500_000 * int64(5-4*rank) // the gap
				duration *= int64(1 + 3*rank)
				ranks[rank] = append(ranks[rank], timedCall{function: int64(kind), argument: int64(kind),
					start: now, duration: duration})
				now += duration
			}
		}
	}
	trace := record(t, func(int) tracer.Options { return tracer.Options{} }, ranks)
	times, err := OpenTimes(trace)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, l *Loops, scaled bool, whole, inCalls float64) {
		t.Helper()
		of := l.Rules[len(l.Rules)-1]
		if l.Scaled != scaled || l.Source != Statistics {
			t.Errorf("%s: by %v, scaled: %v", name, l.Source, l.Scaled)
		}
		if math.Abs(float64(of.Time)-whole) > 0.01*whole || math.Abs(float64(of.InCalls)-inCalls) > 0.01*inCalls {
			t.Errorf("%s: %v, %v of it in calls, want %v, %v", name, of.Time, of.InCalls, whole, inCalls)
		}
	}
	check("rank 0", times.RankLoops(openRank(t, trace, 0)), true, 900e6-2.5e6, 400e6)
	check("rank 1", times.RankLoops(openRank(t, trace, 1)), true, 1700e6-0.5e6, 1600e6)
	both, err := times.ShapeLoops(0)
	if err != nil {
		t.Fatal(err)
	}
	check("both", both, false, 1300e6-1.5e6, 1000e6)
	l := times.RankLoops(openRank(t, trace, 1))
	duration, gap := l.Mean(l.Grammar.At(1))
	if math.Abs(duration-12e6) > 0.12e6 || math.Abs(gap-500e3) > 5e3 {
		t.Errorf("calls of rank 1 take %g after %g, want 12e6 after 500e3", duration, gap)
	}
}

// TestEqualCalls reads a shape in which one rank has equal calls under two signatures,
// where the first has the times of both: also if there are no other times.
func TestEqualCalls(t *testing.T) {
	for _, tt := range []struct {
		name  string
		equal int // the rank
		timed func(rank int) bool
		end   float64 // of its clock: what two calls of 10 and 30 ns and one of 50 take
	}{
		{"All", 4, func(int) bool { return true }, 39_850},
		{"One", 0, func(rank int) bool { return rank == 0 }, 39_850},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var parts []merge.Part
			for rank := range 9 {
				first, second := int64(3*rank*rank%7), int64(20+5*rank*rank%11) // no expressions
				if rank == tt.equal {
					second = first
				}
				var r tracer.Recorder
				even, odd := r.Declare(functions[0]), r.Declare(functions[1])
				call := func(fn int, n, start, duration int64) {
					if tt.timed(rank) {
						r.CallAt(fn, start, duration, cst.Int(n))
					} else {
						r.Call(fn, cst.Int(n))
					}
				}
				for i := range int64(40) {
					call(even, first, 1000*i+100, 10)
					call(even, second, 1000*i+600, 30)
					call(odd, i, 1000*i+900, 50)
				}
				parts = append(parts, r.Finish(rank))
			}
			trace := write(t, merge.Run{Ranks: len(parts), Source: "test"}, parts)
			if n := trace.Shapes(); n != 1 {
				t.Fatalf("%d shapes: the trace tells nothing", n)
			}
			times, err := OpenTimes(trace)
			if err != nil {
				t.Fatal(err)
			}
			loops, err := times.ShapeLoops(0)
			if err != nil {
				t.Fatal(err)
			}
			clock := openClock(t, trace, tt.equal)
			_, end, err := clock.Span()
			if err != nil || math.Abs(float64(end)-tt.end) > 0.05*tt.end ||
				math.Abs(float64(loops.Rules[len(loops.Rules)-1].Time)-tt.end) > 0.05*tt.end {
				t.Fatalf("the clock ends at %d, %v, and loops are %+v, want %g", end, err,
					loops.Rules[len(loops.Rules)-1], tt.end)
			}
		})
	}
}

// testLoopsOfSeries compares the loops of a rank, by the times of every call, with what was
// recorded of that rank alone.
func testLoopsOfSeries(t *rapid.T) {
	var ranks [][]timedCall
	for range rapid.IntRange(1, 3).Draw(t, "ranks") {
		ranks = append(ranks, drawCalls(t, true))
	}
	o := tracer.Options{Series: exactSeries(), BlockLen: rapid.IntRange(1, 20).Draw(t, "block")}
	trace := record(t, func(int) tracer.Options { return o }, ranks)
	times, err := OpenTimes(trace)
	if err != nil {
		t.Fatal(err)
	}
	for rank, calls := range ranks {
		if len(calls) == 0 {
			continue
		}
		set := rankenc.SetOf(rank)
		own, err := times.ReadSeries(t.Context(), Options{Ranks: &set})
		if err != nil {
			t.Fatal(err)
		}
		l := own.RankLoops(openRank(t, trace, rank))
		checkLoops(t, own, l, Series)
		inCalls, last := 0.0, calls[len(calls)-1]
		for _, c := range calls {
			inCalls += float64(c.duration)
		}
		whole := l.Rules[len(l.Rules)-1]
		if !near(float64(whole.InCalls), inCalls) {
			t.Fatalf("rank %d: %g in calls, want %g", rank, whole.InCalls, inCalls)
		}
		if span := float64(last.start + last.duration - calls[0].start); !near(float64(whole.Time), span) {
			t.Fatalf("rank %d takes %g, want %g", rank, whole.Time, span)
		}
	}
}

// TestLoopsOfSeriesError looks at a short gap after a call that is long, the error of
// whose duration is longer than the gap.
func TestLoopsOfSeriesError(t *testing.T) {
	codec, err := timing.NewEntropy(0.1)
	if err != nil {
		t.Fatal(err)
	}
	o := tracer.Options{Series: must.Get(timing.NewSeriesCodec(codec, codec, timing.Gaps))}
	for _, long := range []int64{450_000_000, 480_000_000, 520_000_000} {
		calls := []timedCall{{0, 0, 0, long}, {1, 1, long + 500_000, 1000}, {1, 3, long + 502_000, 1000}}
		trace := record(t, func(int) tracer.Options { return o }, [][]timedCall{calls})
		times, err := OpenTimes(trace)
		if err != nil {
			t.Fatal(err)
		}
		if times, err = times.ReadSeries(t.Context(), Options{}); err != nil {
			t.Fatal(err)
		}
		l := times.RankLoops(openRank(t, trace, 0))
		for i, want := range []float64{0, 500_000, 1000} {
			if _, gap := l.Mean(l.Grammar.At(uint64(i))); math.Abs(gap-want) > 0.1*want {
				t.Errorf("the gap before call %d, after %d ns, is %g, want about %g", i, long, gap, want)
			}
		}
	}
}

func TestLoopsOfSeries(t *testing.T) { rapid.Check(t, testLoopsOfSeries) }
