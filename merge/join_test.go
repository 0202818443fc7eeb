package merge

import (
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// threadPart returns a part with calls of one function with these arguments, and
// statistics of their durations.
func threadPart(f string, args ...int64) Part {
	var (
		table   cst.Table
		grammar sequitur.Builder
		times   Times
	)
	fn := table.Declare(cst.Function{Name: f, Params: []cst.Param{{Name: "n", Type: cst.Type{Kind: cst.KindInt}}}})
	for _, n := range args {
		s := table.Intern(fn, cst.Int(n))
		grammar.Append(s)
		layout.StatisticsOf(&times.Durations, s).Add(0, 10*n)
	}
	return Part{Table: &table, Grammar: grammar.Finish(), Times: &times}
}

// TestJoin checks that threads stand one after the other, with signatures and statistics
// of what they have in common once.
func TestJoin(t *testing.T) {
	a, b, c := threadPart("f", 1, 2, 1), threadPart("g"), threadPart("f", 2, 3)
	a.Groups = map[GroupHandle]Group{{"comm", 1}: {0, 2}}
	c.Groups = map[GroupHandle]Group{{"comm", 2}: {1, 3}}
	p, err := Join(7, nil, a, b, c)
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	for _, s := range p.Grammar.All() {
		_, args := p.Table.Signature(s)
		got = append(got, args[0].Int())
	}
	if want := []int64{1, 2, 1, 2, 3}; p.Rank != 7 || len(got) != 5 || [5]int64(got) != [5]int64(want) ||
		p.Table.Len() != 3 || len(p.Groups) != 2 || len(a.Groups) != 1 {
		t.Errorf("rank %d: %v, %d signatures, groups %v", p.Rank, got, p.Table.Len(), p.Groups)
	}
	if s := p.Times.Durations.Statistics; s[0].Count != 2 || s[1].Count != 2 || s[1].Max != 20 || s[2].Count != 1 {
		t.Errorf("statistics %+v", s)
	}
	if err := new(Accumulator).Add(p); err != nil {
		t.Error(err)
	}
	if p, err := Join(7, nil, b, c); err != nil || p.Rank != 7 || p.Grammar.Len() != 2 ||
		p.Groups[GroupHandle{"comm", 2}] != c.Groups[GroupHandle{"comm", 2}] ||
		p.Times.Durations.Statistics[1].Max != 30 {
		t.Errorf("one thread with calls: %+v, %v", p, err)
	}
	if p, err := Join(1, nil); err != nil || p.Grammar.Len() != 0 || new(Accumulator).Add(p) != nil {
		t.Errorf("no threads: %+v, %v", p, err)
	}
	series := func(codec string) Part {
		p := threadPart("f", 1)
		c := must.Get(timing.NewSeriesCodec(must.Get(timing.NewLossless(timing.Zstd)),
			must.Get(timing.NewLossless(timing.Zstd)), timing.Gaps))
		b := c.NewBuilder(0)
		b.Append(0, 5, 10)
		p.Times.Codec, p.Times.Series = codec, b.Finish(nil)
		return p
	}
	exact := must.Get(timing.NewSeriesCodec(must.Get(timing.NewLossless(timing.Zstd)),
		must.Get(timing.NewLossless(timing.Zstd)), timing.Gaps)).Name()
	unused, other := series(exact), series(exact)
	unused.Table.Intern(0, cst.Int(99)) // which no call has
	other.Table = threadPart("f", 2).Table
	if p, err := Join(0, new(ThreadOrder), unused, other); err != nil || new(Accumulator).Add(p) != nil {
		t.Errorf("a signature that no call has: %v, %v", err, new(Accumulator).Add(p))
	}
	if _, err := Join(0, nil, series("x"), series("y")); err == nil {
		t.Error("series of two codecs")
	}
	if _, err := Join(0, nil, series("x"), a); err == nil {
		t.Error("a thread without a series")
	}
}
