package query

import (
	"context"
	"errors"
	"math"
	"math/big"
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"

	"pgregory.net/rapid"
)

// TestProfile compares profiles with counts of the calls one by one.
func TestProfile(t *testing.T) {
	some := rankenc.SetOf(0, 3, 4, 7)
	for _, p := range tier.Some(programs.All(9), 3) {
		tr := openProgram(t, p)
		for name, ranks := range map[string]*rankenc.Set{"all": nil, "none": {}, "some": &some} {
			t.Run(p.Name+" "+name, func(t *testing.T) { checkProfile(t, tr, ranks) })
		}
	}
	for _, path := range realTraces(t, "ti/*.16.ti.zst", "kinds/*.ti.txt") {
		t.Run(filepath.Base(path), func(t *testing.T) { checkProfile(t, openTI(t, path), nil) })
	}
}

// A counted is what calls one by one come to.
type counted struct {
	calls uint64
	ranks map[int]bool
}

func count[K comparable](counts map[K]*counted, key K, rank int) {
	if counts[key] == nil {
		counts[key] = &counted{ranks: make(map[int]bool)}
	}
	counts[key].calls++
	counts[key].ranks[rank] = true
}

func checkProfile(t *testing.T, tr *trace.Trace, ranks *rankenc.Set) {
	done := 0
	o := Options{Ranks: ranks, Progress: func(n int) { done = n }}
	p, err := OpenProfile(t.Context(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	functions, signatures := make(map[string]*counted), make(map[int]*counted)
	byRank := make(map[int]map[string]*counted)
	calls := uint64(0)
	for _, rank := range ranksOf(t, tr, o) {
		byRank[rank] = make(map[string]*counted)
		r := readRank(t, tr, rank)
		for c, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			count(functions, c.Function.Name, rank)
			count(signatures, r.Signature(c.Terminal), rank)
			count(byRank[rank], c.Function.Name, rank)
			calls++
		}
	}
	if p.Calls != calls || p.Ranks != len(byRank) || done != len(byRank) || p.Timed {
		t.Errorf("%d calls of %d ranks, want %d of %d; %d were done", p.Calls, p.Ranks, calls, len(byRank), done)
	}
	if len(p.Functions) != len(functions) || len(p.Signatures) != len(signatures) {
		t.Errorf("%d functions and %d signatures, want %d and %d", len(p.Functions), len(p.Signatures),
			len(functions), len(signatures))
	}
	for i, f := range p.Functions {
		if want := functions[f.Name]; f.Calls != want.calls || f.Ranks != len(want.ranks) {
			t.Errorf("%s: %d calls of %d ranks, want %d of %d", f.Name, f.Calls, f.Ranks, want.calls, len(want.ranks))
		}
		if i > 0 && f.Calls > p.Functions[i-1].Calls {
			t.Errorf("%s stands behind %s", f.Name, p.Functions[i-1].Name)
		}
	}
	for _, s := range p.Signatures {
		if want := signatures[s.Signature]; s.Calls != want.calls || s.Ranks != len(want.ranks) {
			t.Errorf("signature %d: %d calls of %d ranks, want %d of %d", s.Signature, s.Calls, s.Ranks,
				want.calls, len(want.ranks))
		}
	}
	checkShapes(t, p, byRank)
}

func checkShapes(t *testing.T, p *Profile, byRank map[int]map[string]*counted) {
	ranks := 0
	for _, s := range p.Shapes {
		for _, rank := range s.Ranks.All() {
			ranks++
			calls := uint64(0)
			for _, f := range s.Functions {
				calls += f.Calls
				if want := byRank[int(rank)][f.Name]; want == nil || f.Calls != want.calls {
					t.Errorf("rank %d: %d calls of %s, want %v", rank, f.Calls, f.Name, want)
				}
			}
			if calls != s.Calls || len(s.Functions) != len(byRank[int(rank)]) {
				t.Errorf("rank %d: %d calls of %d functions, %d and %d", rank, s.Calls, len(s.Functions),
					calls, len(byRank[int(rank)]))
			}
		}
	}
	if ranks != len(byRank) {
		t.Errorf("%d ranks in shapes, want %d", ranks, len(byRank))
	}
}

// TestProfileTimes checks the durations of a run whose durations are known.
func TestProfileTimes(t *testing.T) {
	run := merge.Run{Ranks: 3}
	var parts []merge.Part
	for rank := range run.Ranks {
		r, err := tracer.New(tracer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		read := r.Declare(
			cst.Function{Name: "read", Params: []cst.Param{{Name: "bytes", Type: cst.Type{Kind: cst.KindInt}}}})
		other := r.Declare(cst.Function{Name: "read"})
		for i := range int64(4) {
			r.CallAt(read, 1000*i, 10*i+int64(rank), cst.Int(i%2))
		}
		r.CallAt(other, 5000, 100)
		parts = append(parts, r.Finish(rank))
	}
	tr := openParts(t, run, parts)
	p, err := OpenProfile(t.Context(), tr, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !p.Timed || len(p.Functions) != 1 || len(p.Signatures) != 3 {
		t.Fatalf("timed %v, %d functions, %d signatures", p.Timed, len(p.Functions), len(p.Signatures))
	}
	// Each rank has 0, 10, 20 and 30, and its number for each call, and 100.
	if f := p.Functions[0]; f.Time.Total != 3*160+4*3 || f.Calls != 15 || f.Time.Max != 100 || f.Time.Min != 0 {
		t.Errorf("read: %v in %d calls of %d to %d", f.Time.Total, f.Calls, f.Time.Min, f.Time.Max)
	}
	for i, want := range []Nanoseconds{3*20 + 2*3, 3*40 + 2*3, 300} {
		if got := p.Signatures[i].Time.Total; got != want {
			t.Errorf("signature %d: %v, want %v", i, got, want)
		}
	}
	p, err = OpenProfile(t.Context(), tr, Options{Ranks: of(rankenc.World(2))})
	if err != nil || p.Timed || p.Functions[0].Time != nil {
		t.Errorf("of some ranks: timed %v, %v", p.Timed, err)
	}
}

// TestProfileSumError compares the sums of profiles with those of the durations of the calls,
// added up one by one: they are off by no more than they say, and not at all if they say so.
func TestProfileSumError(t *testing.T) {
	lossy, err := timing.NewExponential(0.1)
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]tracer.Options{
		"Statistics": {},
		"Histograms": {Histograms: &timing.HistogramOptions{}},
		"Exact":      {Series: exactSeries()},
		"Lossy":      {Series: must.Get(timing.NewSeriesCodec(lossy, lossy, timing.Gaps))},
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { testSumError(t, o) })
		})
	}
}

func testSumError(t *rapid.T, o tracer.Options) {
	var ranks [][]timedCall
	sums := make(map[string]int64)
	for range rapid.IntRange(1, 4).Draw(t, "ranks") {
		var calls []timedCall
		for i := range int64(rapid.IntRange(1, 30).Draw(t, "calls")) {
			d := rapid.Int64Range(0, 1<<rapid.IntRange(0, 50).Draw(t, "scale")).Draw(t, "duration")
			calls = append(calls, timedCall{i % 2, i % 3, i << 51, d})
			sums[functions[i%2].Name] += d
		}
		ranks = append(ranks, calls)
	}
	tr := record(t, func(int) tracer.Options { return o }, ranks)
	p, err := OpenProfile(context.Background(), tr, Options{})
	if err != nil {
		t.Fatal(err)
	}
	check := func(exact bool) {
		for _, f := range p.Functions {
			sum, ok := new(big.Int).SetString(string(f.Time.Sum), 10)
			if !ok {
				t.Fatalf("the sum of %s is %q", f.Name, f.Time.Sum)
			}
			off, _ := sum.Sub(sum, big.NewInt(sums[f.Name])).Float64()
			if math.Abs(off) > float64(f.Time.Error) || exact && f.Time.Error > 0 {
				t.Fatalf("%s takes %s, off by %v, with an error of %v, exact: %v", f.Name, f.Time.Sum, off,
					f.Time.Error, exact)
			}
		}
	}
	check(false)
	if o.Series == nil {
		return
	}
	times, err := OpenTimes(tr)
	if err != nil {
		t.Fatal(err)
	}
	if times, err = times.ReadSeries(context.Background(), Options{}); err != nil {
		t.Fatal(err)
	}
	p.SetTimes(times)
	check(o.Series.Durations.Guarantee() == timing.Exact)
}

// TestProfileCancel checks that a query ends when it is cancelled.
func TestProfileCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := OpenProfile(ctx, openProgram(t, programs.Stencil2D(3, 3, 9)), Options{}); !errors.Is(err, cause) {
		t.Errorf("error %v, want %v", err, cause)
	}
}

// TestProfileSeries compares the times of a profile of one rank with those recorded.
func TestProfileSeries(t *testing.T) {
	ranks := [][]timedCall{{{0, 0, 0, 5}, {1, 1, 10, 7}}, {{0, 0, 0, 50}, {1, 1, 100, 70}, {0, 0, 200, 51}}}
	tr := record(t, func(int) tracer.Options { return tracer.Options{Series: exactSeries()} }, ranks)
	times, err := OpenTimes(tr)
	if err != nil {
		t.Fatal(err)
	}
	one := rankenc.SetOf(1)
	o := Options{Ranks: &one}
	p, err := OpenProfile(t.Context(), tr, o)
	if err != nil || p.Timed {
		t.Fatalf("%+v, %v", p, err)
	}
	read, err := times.ReadSeries(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	p.SetTimes(read)
	sums := make(map[string]Nanoseconds)
	for _, f := range p.Functions {
		sums[f.Name] = f.Time.Total
	}
	if !p.Timed || sums["even"] != 101 || sums["odd"] != 70 {
		t.Errorf("%+v, %v", p, sums)
	}
}

// TestProfileEqualCalls looks at ranks that have equal calls under several signatures,
// of arguments that are expressions of the rank, or stored, and with others that vary from
// call to call: a signature has as many calls as it has times.
func TestProfileEqualCalls(t *testing.T) {
	for name, o := range map[string]tracer.Options{"Statistics": {}, "Series": {Series: exactSeries()}} {
		t.Run(name, func(t *testing.T) { testProfileEqualCalls(t, o, name == "Statistics") })
	}
}

func testProfileEqualCalls(t *testing.T, o tracer.Options, summarized bool) {
	const calls, ranks = 400, 9
	same := func(int64) int64 { return 0 }
	for _, tt := range []struct {
		name   string
		second func(rank, i int64) int64 // argument of a call, of which that before is of 3
		count  func(i int64) int64       // another of both
	}{
		{"Expression", func(rank, _ int64) int64 { return rank }, same},
		{"Stored", func(rank, _ int64) int64 { return rank*rank%7 - 1 }, same}, // 3 on ranks 2 and 5
		{"Both", func(rank, i int64) int64 { return []int64{rank, 7 - rank, rank * rank * rank % 5}[i%3] }, same},
		{"Varying", func(rank, _ int64) int64 { return rank }, func(i int64) int64 {
			return i * i * i % 101 * (i % 89)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var parts []merge.Part
			for rank := range int64(ranks) {
				r, err := tracer.New(o)
				if err != nil {
					t.Fatal(err)
				}
				even, odd := r.Declare(cst.Function{Name: "even",
					Params: []cst.Param{{Name: "n", Type: cst.Type{Kind: cst.KindInt}},
						{Name: "count", Type: cst.Type{Kind: cst.KindInt}}}}), r.Declare(functions[1])
				for i := range int64(calls) {
					r.CallAt(even, 1000*i+100, 10, cst.Int(3), cst.Int(tt.count(i)))
					r.CallAt(even, 1000*i+600, 30, cst.Int(tt.second(rank, i)), cst.Int(tt.count(i+1)))
					r.CallAt(odd, 1000*i+900, 50, cst.Int(i*i%3))
				}
				parts = append(parts, r.Finish(int(rank)))
			}
			tr := write(t, merge.Run{Ranks: ranks, Source: "test"}, parts)
			shape, err := tr.Shape(0)
			if err != nil {
				t.Fatal(err)
			}
			equal := false
			for _, rank := range shape.Ranks.All() {
				equal = equal || readRank(t, tr, int(rank)).Terminals() < len(shape.Grammar.FirstUse())
			}
			if !equal {
				t.Fatal("no rank has equal calls under several signatures: the trace tells nothing")
			}
			checkProfileCounts(t, tr, summarized)
		})
	}
}

// checkProfileCounts compares the signatures of a profile with the calls of ranks, and with
// the numbers of their times.
func checkProfileCounts(t *testing.T, tr *trace.Trace, summarized bool) {
	t.Helper()
	signatures := make(map[int]*counted)
	for rank := range tr.Ranks() {
		r := readRank(t, tr, rank)
		for c, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			count(signatures, r.Signature(c.Terminal), rank)
		}
	}
	p, err := OpenProfile(t.Context(), tr, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Signatures) != len(signatures) {
		t.Errorf("%d signatures, want %d", len(p.Signatures), len(signatures))
	}
	checkActivityCounts(t, tr, signatures)
	times, err := OpenTimes(tr)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Signatures {
		want := signatures[s.Signature]
		if want == nil || s.Calls != want.calls || s.Ranks != len(want.ranks) {
			t.Fatalf("signature %d has %d calls of %d ranks, want %+v", s.Signature, s.Calls, s.Ranks, want)
		}
		if of := times.statistics(durations, s.Signature); summarized && (s.Time == nil || of.Count != s.Calls) {
			t.Errorf("signature %d has %d calls, and times %+v", s.Signature, s.Calls, of)
		}
	}
}

// checkActivityCounts does so with those of all of the run.
func checkActivityCounts(t *testing.T, tr *trace.Trace, want map[int]*counted) {
	t.Helper()
	times, err := OpenTimes(tr)
	if err != nil {
		t.Fatal(err)
	}
	a, err := times.Activity(t.Context(), 0, math.MaxInt64, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Signatures) != len(want) {
		t.Errorf("%d signatures from 0 to the end, want %d", len(a.Signatures), len(want))
	}
	for _, u := range a.Signatures {
		if of := want[u.Signature]; of == nil || u.Calls != of.calls {
			t.Errorf("signature %d has %d calls from 0 to the end, want %+v", u.Signature, u.Calls, of)
		}
	}
}
