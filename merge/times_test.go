package merge_test

import (
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/internal/test/tier"
	. "github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"

	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// A clock says what is kept of the times of calls.
type clock struct {
	statistics, histograms, paths bool
	codec                         string // of series; "" for none
}

var genClock = rapid.Custom(func(t *rapid.T) clock {
	c := clock{rapid.Bool().Draw(t, "statistics"), rapid.Bool().Draw(t, "histograms"),
		rapid.Bool().Draw(t, "paths"), ""}
	if rapid.Bool().Draw(t, "series") {
		column := rapid.SampledFrom([]string{"bins,epsilon=0.1", "entropy,epsilon=0.05",
			"lossless,compressor=zstd", "grammar,epsilon=0.2"})
		c.codec = fmt.Sprintf("%s;%s;%s", rapid.SampledFrom([]string{"gaps", "intervals"}).Draw(t, "form"),
			column.Draw(t, "durations"), column.Draw(t, "lapses"))
	}
	return c
})

// A moment is when a call of a rank was.
type moment struct{ start, duration int64 }

// moments returns those of n calls of a rank.
func moments(rank int, n uint64) []moment {
	list := make([]moment, n)
	now := int64(rank) * 1000
	for i := range list {
		noise := int64(uint64(rank*7919+i+1) * 0x9e3779b97f4a7c15 >> 52)
		list[i] = moment{now + noise, 100 + noise*noise>>10}
		now = list[i].start + list[i].duration
	}
	return list
}

// timed returns p with the times of its calls.
func (c clock) timed(t rapid.TB, p Part) Part {
	t.Helper()
	var (
		times   Times
		builder *timing.SeriesBuilder
		paths   [2]*timing.HistogramsBuilder
	)
	if c.codec != "" {
		codec, err := layout.SeriesCodec(c.codec, nil)
		if err != nil {
			t.Fatal(err)
		}
		builder, times.Codec = codec.NewBuilder(100), c.codec
	}
	for i := range paths {
		var err error
		if paths[i], err = timing.NewHistogramsBuilder(timing.HistogramOptions{PathSensitive: c.paths}); err != nil {
			t.Fatal(err)
		}
	}
	all := moments(p.Rank, p.Grammar.Len())
	for i, s := range p.Grammar.All() {
		m := all[i]
		gap := m.start
		if i > 0 {
			gap -= all[i-1].start + all[i-1].duration
		}
		if c.statistics {
			layout.StatisticsOf(&times.Durations, s).Add(uint32(p.Rank), m.duration)
			layout.StatisticsOf(&times.Gaps, s).Add(uint32(p.Rank), gap)
		}
		paths[0].Append(s, m.duration)
		paths[1].Append(s, gap)
		if builder != nil {
			builder.Append(s, m.start, m.duration)
		}
	}
	if c.histograms {
		times.Durations.Histograms, times.Gaps.Histograms = paths[0].Finish(uint32(p.Rank)),
			paths[1].Finish(uint32(p.Rank))
	}
	if builder != nil {
		times.Series = builder.Finish(nil)
	}
	p.Times = &times
	return p
}

// checkTimes checks that a trace has the times of parts.
func (c clock) checkTimes(t rapid.TB, trace *Trace, parts []Part) {
	t.Helper()
	durations, gaps, err := trace.Summaries()
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range []timing.Summary{durations, gaps} {
		got := byFunction(trace, s)
		want := make(map[string]*timing.Statistics)
		for _, p := range parts {
			if p.Times == nil || p.Grammar.Len() == 0 {
				continue
			}
			of := p.Times.Durations
			if i == 1 {
				of = p.Times.Gaps
			}
			add(want, of, func(t uint32) cst.Function {
				fn, _ := p.Table.Signature(t)
				return p.Table.Functions()[fn]
			})
		}
		if len(got) != len(want) {
			t.Fatalf("statistics of %d functions, want %d", len(got), len(want))
		}
		for name, s := range want {
			if !sameButRounded(got[name], s) {
				t.Fatalf("statistics of %s: %+v, want %+v", name, got[name], s)
			}
		}
	}
	for _, p := range parts {
		c.checkSeries(t, trace, p)
	}
}

// sameButRounded reports whether statistics are the same, but for what a trace that
// was merged from another one can round.
func sameButRounded(got, want *timing.Statistics) bool {
	if got.Count != want.Count || got.Min != want.Min || got.Max != want.Max || got.MinRank != want.MinRank ||
		got.MaxRank != want.MaxRank {
		return false
	}
	mean := want.Mean() - float64(want.Min)
	square := func(s *timing.Statistics) float64 {
		mean := s.Mean() - float64(s.Min)
		return s.Variance() + mean*mean
	}
	return math.Abs(got.Mean()-want.Mean()) <= 2*mean/4095 && math.Abs(square(got)-square(want)) <= 0.02*square(want)
}

// byFunction returns the statistics of the calls of each function, from those of
// signatures and from histograms.
func byFunction(trace *Trace, s timing.Summary) map[string]*timing.Statistics {
	all := make(map[string]*timing.Statistics)
	add(all, s, func(n uint32) cst.Function { return trace.Functions()[trace.FunctionOf(int(n))] })
	return all
}

func add(to map[string]*timing.Statistics, s timing.Summary, function func(uint32) cst.Function) {
	of := func(what string, terminal uint32) *timing.Statistics {
		f := function(terminal)
		name := fmt.Sprint(what, f.Name, f.Params)
		if to[name] == nil {
			to[name] = new(timing.Statistics)
		}
		return to[name]
	}
	for t := range s.Statistics {
		if s.Statistics[t].Count > 0 {
			of("statistics of ", uint32(t)).Merge(&s.Statistics[t])
		}
	}
	if s.Histograms == nil {
		return
	}
	for p, h := range s.Histograms.All() {
		of(fmt.Sprint("histograms, first: ", p.Previous < 0, " "), p.Terminal).Merge(h.Statistics())
	}
}

// checkSeries checks the times of every call of a rank.
func (c clock) checkSeries(t rapid.TB, trace *Trace, p Part) {
	t.Helper()
	s, err := trace.Series(p.Rank)
	if err != nil {
		t.Fatal(err)
	}
	if has := p.Times != nil && p.Times.Series != nil && p.Grammar.Len() > 0; (s != nil) != has {
		t.Fatalf("rank %d has a series: %v, want %v", p.Rank, s != nil, has)
	}
	if s == nil {
		return
	}
	read, err := trace.Rank(p.Rank)
	if err != nil {
		t.Fatal(err)
	}
	codec, _ := layout.SeriesCodec(c.codec, nil)
	g := float64(codec.Guarantee())
	w, all := read.Walk(0), moments(p.Rank, p.Grammar.Len())
	var left sequitur.Run
	for i := range s.Blocks() {
		d, err := s.Block(i)
		if err != nil {
			t.Fatal(err)
		}
		terminals, got := make([]uint32, d.Len()), make([]timing.Time, d.Len())
		for k := range terminals {
			if left.Count == 0 {
				left = w.Next()
			}
			terminals[k] = left.Symbol
			left.Count--
		}
		if err := d.Decode(got, terminals); err != nil {
			t.Fatal(err)
		}
		for k, m := range all[:len(got)] {
			if math.Abs(float64(got[k].Duration-m.duration)) > g*float64(m.duration) {
				t.Fatalf("rank %d: a call took %d, not %d", p.Rank, got[k].Duration, m.duration)
			}
			if g == 0 && got[k].Start != m.start {
				t.Fatalf("rank %d: a call began at %d, not %d", p.Rank, got[k].Start, m.start)
			}
		}
		all = all[len(got):]
	}
	if len(all) > 0 {
		t.Fatalf("rank %d: %d calls have no time", p.Rank, len(all))
	}
}

// TestTimes merges the parts of a program with times in random order and grouping,
// and compares the files, and what they have of times.
func TestTimes(t *testing.T) {
	tier.SlowRace(t)
	rapid.Check(t, func(t *rapid.T) {
		c := genClock.Draw(t, "clock")
		var parts []Part
		program := genProgram.Draw(t, "program")
		for _, p := range program.parts() {
			if rapid.IntRange(0, 9).Draw(t, "without times") > 0 {
				p = c.timed(t, p)
			}
			parts = append(parts, p)
		}
		all := accumulate(t, Run{Ranks: len(parts)}, parts)
		want := traceFile(t, all)
		trace := open(t, want)
		checkCalls(t, trace, parts)
		c.checkTimes(t, trace, parts)
		c.checkTimes(t, open(t, partFile(t, all)), parts)

		var list []*Accumulator
		for _, p := range rapid.Permutation(slices.Clone(parts)).Draw(t, "order") {
			if len(list) == 0 || rapid.Bool().Draw(t, "alone") {
				list = append(list, new(Accumulator))
			}
			if err := list[len(list)-1].Add(p); err != nil {
				t.Fatal(err)
			}
		}
		merged := mergeAll(t, list)
		if err := merged.Describe(Run{Ranks: len(parts)}); err != nil {
			t.Fatal(err)
		}
		if got := partFile(t, merged); !bytes.Equal(got, partFile(t, all)) {
			t.Fatal("another part file")
		}
		if got := traceFile(t, merged); !bytes.Equal(got, want) {
			t.Fatalf("a trace of %d bytes, %d when all parts are added in order", len(got), len(want))
		}

		again := accumulate(t, trace.Run(), nil)
		if err := trace.AddTo(context.Background(), again); err != nil {
			t.Fatal(err)
		}
		// What is read of factored shapes can have other grammars, and so the trace.
		got := open(t, traceFile(t, again))
		checkCalls(t, got, parts)
		c.checkTimes(t, got, parts)
	})
}

// TestRefuseTimes gives times that cannot be those of the calls.
func TestRefuseTimes(t *testing.T) {
	c := clock{statistics: true, histograms: true, paths: true,
		codec: "gaps;lossless,compressor=zstd;lossless,compressor=zstd"}
	part := func(change func(*Part)) Part {
		p := c.timed(t, repeatCall(0, 20, barrier))
		change(&p)
		return p
	}
	beyond := c.timed(t, forgedPart(0)).Times
	tests := []struct {
		name, text string
		p          Part
	}{
		{"Statistics", "statistics of terminal 4 of 1", part(func(p *Part) {
			p.Times.Gaps.Statistics = beyond.Gaps.Statistics
		})},
		{"Histograms", "a histogram of terminals 0 and 1 of 1", part(func(p *Part) {
			p.Times.Durations.Histograms = beyond.Durations.Histograms
		})},
		{"Codec", `no codec of series is called "other"`, part(func(p *Part) { p.Times.Codec = "other" })},
		{"Values", "statistics of 20 values of terminal 0, which has 5 calls", part(func(p *Part) {
			p.Grammar = repeatCall(0, 5, barrier).Grammar
		})},
		{"HistogramValues", "histograms of more values of terminal 0 than its 5 calls", part(func(p *Part) {
			p.Grammar, p.Times.Durations.Statistics, p.Times.Gaps.Statistics = repeatCall(0, 5,
				barrier).Grammar, nil, nil
		})},
		{"Calls", "a series of 20 calls, not 5", part(func(p *Part) {
			p.Grammar, p.Times.Durations, p.Times.Gaps = repeatCall(0, 5, barrier).Grammar, timing.Summary{},
				timing.Summary{}
		})},
		{"Unused", "numbered in the order of their first use", c.timed(t, func() Part {
			p := forgedPart(0)
			p.Grammar = orderOf(1, 2, 3, 4)
			return p
		}())},
		{"Order", "numbered in the order of their first use", c.timed(t, func() Part {
			p := forgedPart(0)
			p.Grammar = orderOf(4, 3, 2, 1, 0)
			return p
		}())},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := new(Accumulator)
			if err := a.Add(tt.p); err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("err = %v, want %s", err, tt.text)
			}
			if err := a.Add(repeatCall(0, 1, barrier)); err != nil {
				t.Errorf("the rank is taken: %v", err)
			}
		})
	}
}

// TestRefuseMixedHistograms gives ranks that keep histograms of different kinds.
func TestRefuseMixedHistograms(t *testing.T) {
	byCall, byPath := clock{histograms: true}, clock{histograms: true, paths: true}
	a := accumulate(t, Run{Ranks: 3}, []Part{byCall.timed(t, forgedPart(0))})
	if err := a.Add(byPath.timed(t, forgedPart(1))); err == nil ||
		!strings.Contains(err.Error(), "rank 1: histograms by call and by pair") {
		t.Errorf("err = %v", err)
	}
	other := accumulate(t, Run{Ranks: 3}, []Part{byPath.timed(t, forgedPart(1))})
	if err := a.Merge(throughFile(t, other)); err == nil || !strings.Contains(err.Error(), "by call and by pair") {
		t.Errorf("err = %v", err)
	}
	mixed := byCall.timed(t, forgedPart(2))
	mixed.Times.Gaps = byPath.timed(t, forgedPart(2)).Times.Gaps
	if err := new(Accumulator).Add(mixed); err == nil {
		t.Error("durations by call and gaps by pair")
	}
}

// TestLostSeries checks that times which cannot be read do not keep the calls from
// being read, nor other ranks from being added to another trace.
func TestLostSeries(t *testing.T) {
	c := clock{statistics: true, codec: "gaps;lossless,compressor=zstd;lossless,compressor=zstd"}
	parts := []Part{c.timed(t, forgedPart(0)), c.timed(t, forgedPart(1)), c.timed(t, forgedPart(2))}
	sections := contents(t, write(t, Run{Ranks: 3}, parts))
	one := contentOf(sections, layout.KindSeries, 1)
	trace := open(t, forge(t, replaced(sections, section{layout.KindSeries, 1, one[:len(one)-1]})...))
	checkCalls(t, trace, parts)
	s, err := trace.Series(2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.Block(0); !errors.As(err, new(*format.SectionError)) {
		t.Errorf("err = %v", err)
	}
	some, all := accumulate(t, Run{Ranks: 3}, parts[:0]), accumulate(t, Run{Ranks: 3}, parts[:0])
	for _, p := range parts {
		for _, a := range []*Accumulator{all, some} {
			if a == some && p.Rank == 2 {
				continue
			}
			if err := a.Add(Part{Rank: p.Rank, Table: p.Table, Grammar: p.Grammar}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := trace.AddTimes(all); err == nil {
		t.Error("a series that cannot be read is no error")
	}
	if _, err := trace.AddTimes(some); err != nil {
		t.Fatal(err)
	}
	saved := open(t, traceFile(t, some))
	c.checkSeries(t, saved, parts[0])
	c.checkSeries(t, saved, parts[1])
}

// FuzzTimes puts sections of times into a trace. What is accepted is added to
// another trace, and is there as it was.
func FuzzTimes(f *testing.F) {
	for _, c := range []clock{
		{statistics: true, histograms: true, paths: true, codec: "gaps;bins,epsilon=0.1;lossless,compressor=lz4"},
		{statistics: true}, {histograms: true}, {codec: "intervals;entropy,epsilon=0.1;entropy,epsilon=0.1"},
	} {
		s := contents(f, write(f, Run{Ranks: 3}, []Part{c.timed(f, forgedPart(0)), c.timed(f, forgedPart(2))}))
		f.Add(contentOf(s, layout.KindSummaries, 0), contentOf(s, layout.KindSeries, 0),
			contentOf(s, layout.KindSeries, 1), contentOf(s, layout.KindSeries, 2))
		// nothing tells whose it is
		f.Add(contentOf(s, layout.KindSummaries, 0), "", contentOf(s, layout.KindSeries, 1), "")
	}
	calls := contents(f, write(f, Run{Ranks: 3}, []Part{forgedPart(0), forgedPart(2)}))
	mutate.Fuzz(f, func(t *testing.T, summaries, series0, series1, series2 string) {
		trace := open(t, forge(t, append(slices.Clone(calls), present(section{layout.KindSummaries, 0, summaries},
			section{layout.KindSeries, 0, series0}, section{layout.KindSeries, 1, series1},
			section{layout.KindSeries, 2, series2})...)...))
		_, _, err := trace.Summaries()
		sound := err == nil
		for _, rank := range []int{0, 2} {
			s, err := trace.Series(rank)
			if err == nil && s != nil {
				for i := range s.Blocks() {
					if _, e := s.Block(i); e != nil {
						err = e
					}
				}
			}
			if err != nil && !errors.As(err, new(*format.SectionError)) &&
				!errors.As(err, new(*timing.ParseError)) && !errors.Is(err, timing.ErrUnknownCodec) {
				t.Fatal(err)
			}
		}
		a := accumulate(t, trace.Run(), []Part{forgedPart(0), forgedPart(2)})
		if err := trace.AddTo(context.Background(), new(Accumulator)); err != nil {
			if !errors.As(err, new(*format.SectionError)) || sound && len(series0)+len(series1)+len(series2) == 0 {
				t.Fatal(err)
			}
			return
		}
		if _, err := trace.AddTimes(a); err != nil {
			t.Fatal(err)
		}
		again := open(t, traceFile(t, a))
		for _, rank := range []int{0, 2} {
			want, _ := trace.Series(rank)
			got, err := again.Series(rank)
			if err != nil || (got == nil) != (want == nil) {
				t.Fatalf("rank %d, written again: %v, %v", rank, got, err)
			}
		}
		if s, _ := summariesOf(again); sound {
			was, _ := summariesOf(trace)
			if !bytes.Equal(s.Append(nil, 4), was.Append(nil, 4)) {
				t.Fatalf("summaries %+v, written again %+v", was, s)
			}
		}
	})
}

// TestSalvagePart damages the times in a part file: the calls, and what times are
// not damaged, are there.
func TestSalvagePart(t *testing.T) {
	c := clock{statistics: true, codec: "gaps;lossless,compressor=zstd;lossless,compressor=zstd"}
	parts := []Part{c.timed(t, forgedPart(0)), c.timed(t, forgedPart(1)), c.timed(t, forgedPart(2))}
	sections := contents(t, partFile(t, accumulate(t, Run{Ranks: 3}, parts)))
	one := contentOf(sections, layout.KindSeries, 1)
	for _, change := range []section{
		{layout.KindSeries, 1, one[:len(one)-1]}, {layout.KindSeries, 0, "\x01"},
		{layout.KindSummaries, 0, "\x01"}, {layout.KindSummaries, 1, "\x00\x00"},
	} {
		if _, _, err := SalvagePart(container(t, forge(t, replaced(sections, change)...))); err == nil {
			t.Errorf("%v: no error", change)
		}
	}
	for _, tt := range []struct {
		kind           format.Kind
		key            uint64
		without, timed []int
	}{
		{layout.KindSummaries, 0, nil, []int{0, 1, 2}},
		{layout.KindSeries, 0, []int{0, 1, 2}, nil},
	} {
		file := forge(t, slices.DeleteFunc(slices.Clone(sections), func(s section) bool {
			return s.kind == tt.kind && s.key == tt.key
		})...)
		a, without, err := SalvagePart(container(t, file))
		if err != nil || !without.Equal(rankenc.SetOf(tt.without...)) {
			t.Fatalf("without the %s: ranks %v have no times, %v", layout.KindName(tt.kind), without, err)
		}
		if _, err := ReadPart(container(t, file)); (err == nil) != (without.Len() == 0) {
			t.Errorf("without the %s: %v", layout.KindName(tt.kind), err)
		}
		trace := open(t, traceFile(t, a))
		checkCalls(t, trace, parts)
		var timed []int
		for rank := range 3 {
			if s, err := trace.Series(rank); err == nil && s != nil {
				timed = append(timed, rank)
			}
		}
		if !slices.Equal(timed, tt.timed) {
			t.Errorf("without the %s: ranks %v are timed, want %v", layout.KindName(tt.kind), timed, tt.timed)
		}
	}
}

// TestCodecByFunction writes the times of calls of two functions, of which one is
// exact, and reads them, also from a part file and after merging.
func TestCodecByFunction(t *testing.T) {
	exact, err := timing.NewCodec("lossless,compressor=lz4")
	if err != nil {
		t.Fatal(err)
	}
	bins, err := timing.NewCodec("bins,epsilon=0.5")
	if err != nil {
		t.Fatal(err)
	}
	odd := cst.Function{Name: `a;b|"c"}`}
	var parts []Part
	for rank := range 3 {
		var table cst.Table
		var grammar sequitur.Builder
		names := []string{odd.Name, barrier.Name}
		functions := []int{table.Declare(odd), table.Declare(barrier)}
		codec := must.Get(
			timing.NewSeriesCodec(
				must.Get(layout.CodecByFunction(bins, map[string]timing.Codec{odd.Name: exact},
					func(t uint32) string { return names[t] })), bins, timing.Gaps))
		b := codec.NewBuilder(0)
		for i := range 100 {
			s := table.Intern(functions[i%2])
			grammar.Append(s)
			b.Append(s, int64(2000*i), int64(1000+i+rank))
		}
		parts = append(parts, Part{Rank: rank, Table: &table, Grammar: grammar.Finish(),
			Times: &Times{Codec: codec.Name(), Series: b.Finish(nil)}})
	}
	a := accumulate(t, Run{Ranks: 3}, parts)
	for _, trace := range []*Trace{open(t, traceFile(t, a)), open(t, partFile(t, a)),
		open(t, traceFile(t, throughFile(t, a)))} {
		for rank := range 3 {
			s, err := trace.Series(rank)
			if err != nil {
				t.Fatal(err)
			}
			d, err := s.Block(0)
			if err != nil {
				t.Fatal(err)
			}
			terminals, got := make([]uint32, 100), make([]timing.Time, 100)
			for i := range terminals {
				terminals[i] = uint32(i % 2)
			}
			if err := d.Decode(got, terminals); err != nil {
				t.Fatal(err)
			}
			rounded := 0
			for i, m := range got {
				if want := int64(1000 + i + rank); i%2 == 0 && m.Duration != want ||
					math.Abs(float64(m.Duration-want)) > 0.5*float64(want) {
					t.Fatalf("call %d took %d, not %d", i, m.Duration, want)
				} else if m.Duration != want {
					rounded++
				}
			}
			if rounded < 40 || s.Guarantee() != 0.5 {
				t.Errorf("%d durations are not exact, %v", rounded, s.Guarantee())
			}
		}
	}
	for _, name := range []string{
		"functions{", "functions{}", "functions{bins,epsilon=0.1",
		`functions{"a"bins,epsilon=0.1|bins,epsilon=0.1}`, `functions{a=bins,epsilon=0.1|bins,epsilon=0.1}`,
		`functions{"b"=bins,epsilon=0.1|"a"=bins,epsilon=0.1|bins,epsilon=0.1}`,
		`functions{"a"=bins,epsilon=0.1|"a"=bins,epsilon=0.1|bins,epsilon=0.1}`,
	} {
		if _, err := layout.SeriesCodec("gaps;"+name+";bins,epsilon=0.1", nil); err == nil {
			t.Errorf("%s is a codec", name)
		}
	}
}
