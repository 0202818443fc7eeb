package bench

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/reprise-trace/reprise/internal/test/recorded"
	"github.com/reprise-trace/reprise/timing"
)

// recordedRanks returns the ranks of the recorded runs, and skips the test where
// they are missing.
func recordedRanks(t testing.TB) []*recorded.Rank {
	t.Helper()
	if underRace {
		t.Skip("one goroutine reads millions of values: there is nothing for the race detector to find")
	}
	return recorded.Ranks(t)
}

// TestKept checks columns of a table that can be told by hand.
func TestKept(t *testing.T) {
	k := kept{timing.Comparison{Values: 4, Bytes: 8, Errors: &timing.Errors{Max: 0.1, Mean: 0.2 / 3,
		Root: math.Sqrt(101.0 / 4)}}, 150}
	if want := "2.000 | 4.0 | 10.00 % | 6.67 % | 29.5"; k.cells() != want || k.bits() != 16 {
		t.Errorf("%s, %g bits, want %s", k.cells(), k.bits(), want)
	}
	k.Errors = new(timing.Errors)
	if want := "2.000 | 4.0 | exact | exact | ∞"; k.cells() != want {
		t.Errorf("%s, want %s", k.cells(), want)
	}
	if w := width([]column{{Values: []int64{0, 100}}, {Values: []int64{-50, 10}}}); w != 150 {
		t.Errorf("width %g, want 150", w)
	}
}

// TestArranged checks what a codec gets in each order.
func TestArranged(t *testing.T) {
	in := column{Terminals: []uint32{2, 1, 2, 1}, Values: []int64{5, 6, 3, 4}}
	for _, tt := range []struct {
		order     order
		clusters  bool
		terminals []uint32
		values    []int64
	}{
		{byCall, false, nil, []int64{5, 6, 3, 4}},
		{byCall, true, nil, []int64{5, 6, 3, 4}},
		{bySignature, false, []uint32{1, 1, 2, 2}, []int64{6, 4, 5, 3}},
		{bySignature, true, []uint32{2, 1, 2, 1}, []int64{5, 6, 3, 4}},
	} {
		got := contender{clusters: tt.clusters}.arranged([]column{in}, tt.order)[0]
		if !slices.Equal(got.Terminals, tt.terminals) || !slices.Equal(got.Values, tt.values) {
			t.Errorf("%v, %t: %v", tt.order, tt.clusters, got)
		}
	}
}

func TestConditionalEntropy(t *testing.T) {
	// Terminal 1 has two values that are as frequent as each other, 2 always the same.
	c := column{Terminals: []uint32{1, 2, 1, 2, 1, 1}, Values: []int64{10, 10, 1000, 10, 10, 1000}}
	bits, err := conditionalEntropy(0.1, []column{c, c})
	if err != nil || bits != 8 {
		t.Errorf("%g bits, %v, want 8", bits, err)
	}
	if _, err := conditionalEntropy(2, nil); err == nil {
		t.Error("accepted a relative error of 2")
	}
}

// TestTimes checks that the report and the picture have everything they name, and
// say so where there are no runs.
func TestTimes(t *testing.T) {
	tier.Long(t, "reads all columns of real times")
	dir := t.TempDir()
	if err := reportTimes(new(strings.Builder), dir); !errors.Is(err, ErrNoTraces) {
		t.Errorf("err = %v, want %v", err, ErrNoTraces)
	}
	if _, err := MeasureSizesAndErrors(dir); !errors.Is(err, ErrNoTraces) {
		t.Errorf("err = %v, want %v", err, ErrNoTraces)
	}
	var short []*recorded.Rank // what takes little time
	for _, r := range recordedRanks(t) {
		if r.Run == "is.W.8" {
			short = append(short, r)
		}
	}
	var out strings.Builder
	for _, table := range []func() error{
		func() error { return codecTable(&out, "all", short, 0) },
		func() error { summaryTable(&out, short); return nil },
		func() error { return statisticsTable(&out, short) },
		func() error { return runTable(&out, short) },
		func() error { return startsTable(&out, short) },
	} {
		if err := table(); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"durations of all (341 values)", "| hist | signatures |",
		"| lossless-lz4 | calls |", "| *entropy of bins* | signatures |", "| statistics | gaps |",
		"| is.W.8 | 341 | 133 |", "| paths | durations | 341 |", "| is.W.8 | 341 | intervals |",
		"| is.W.8 | 341 | 10µs |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, &out)
		}
	}
}

// TestCodecGuarantees checks the guarantee of the codecs whose size is drawn, with
// every error, for every value of every recorded run.
func TestCodecGuarantees(t *testing.T) {
	tier.Long(t, "reads all columns of real times")
	ranks := recordedRanks(t)
	for _, epsilon := range errorsToShow {
		t.Run(fmt.Sprint(epsilon), func(t *testing.T) {
			t.Parallel()
			list, lossy, err := contenders(epsilon)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range list[:lossy] {
				for kind, name := range kinds {
					k, err := c.keep(columns(ranks, kind), bySignature, 1)
					if err != nil {
						t.Fatal(err)
					}
					// What dividing rounds is less than the last term.
					if k.Errors.Max > float64(c.codec.Guarantee())*(1+1e-12) || k.Errors.Max == 0 {
						t.Errorf("%s %s: worst error %g", c.codec.Name(), name.name, k.Errors.Max)
					}
				}
			}
		})
	}
}

// TestSeriesSizes checks that all that gives back start and duration of each call,
// corrections and index included, keeps the bounds of durations and lapses alone:
// 0.72 of SZ3 in the median of the runs, and 0.9 at most; in a trace, where ranks learn from others, 0.69 and 0.74.
func TestSeriesSizes(t *testing.T) {
	tier.Long(t, "reads all columns of real times")
	ranks := recordedRanks(t)
	for _, form := range []timing.Form{timing.Gaps, timing.Intervals} {
		var ratios, inTrace []float64
		for _, run := range byRun(ranks) {
			b, err := measureRun(run, form)
			if err != nil {
				t.Fatal(err)
			}
			p, ok := b.peers()
			if !ok {
				continue
			}
			t.Logf("%s, %v: %.3f bits per call, %.3f as a series, %.3f of SZ3", b.run, form, b.together(),
				b.series, b.series/p.sz3)
			ratios, inTrace = append(ratios, b.series/p.sz3), append(inTrace, b.shared/p.sz3)
		}
		slices.Sort(inTrace)
		if median, most := inTrace[len(inTrace)/2], inTrace[len(inTrace)-1]; median > 0.69 || most > 0.74 {
			t.Errorf("%v: in a trace, %.3f of SZ3 in the median, %.3f at most", form, median, most)
		}
		slices.Sort(ratios)
		if median, most := ratios[len(ratios)/2], ratios[len(ratios)-1]; median > 0.72 || most > 0.9 {
			t.Errorf("%v: %.3f of SZ3 in the median, %.3f at most", form, median, most)
		}
	}
}

// TestShortRuns checks that codecs that learn do not pay for it where there is
// little to learn from: Entropy takes less than bins, which have no tables, for
// every rank of the runs with fewest calls for a signature.
func TestShortRuns(t *testing.T) {
	list, _, err := contenders(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	bins, entropy := list[0], list[3]
	ranks := recorded.Shipped(t)
	if tier.Nightly {
		ranks = recordedRanks(t)
	}
	for _, r := range ranks {
		if !strings.HasPrefix(r.Run, "is.W.8") && !strings.HasPrefix(r.Run, "mg.W.8") {
			continue
		}
		for kind, name := range kinds {
			in := columns([]*recorded.Rank{r}, kind)
			ours, err := entropy.keep(in, bySignature, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range orders {
				other, err := bins.keep(in, o, 1)
				if err != nil {
					t.Fatal(err)
				}
				if ours.Bytes >= other.Bytes {
					t.Errorf("%s %s %s, %d values: %d bytes, and %d of bins in the order of %v", r.Run,
						r.Rank, name.name, ours.Values, ours.Bytes, other.Bytes, o)
				}
			}
		}
	}
}

// TestLosslessSizes checks that durations and gaps take at least a quarter less
// than zstd -19 makes of the columns of each rank. Of is.W.8, where a rank has 43
// calls, that is not reached: it is a sixth. Against the columns of all ranks one
// after the other, from which zstd learns more than from one, it is not reached for
// hpcc.4, 23 %, and is.W.8, which is 4 % larger; what is tested is rank by rank.
func TestLosslessSizes(t *testing.T) {
	tier.Long(t, "reads all columns of real times")
	ranks := recordedRanks(t)
	zstd := contender{"lossless-zstd", must.Get(timing.NewLossless(timing.Zstd)), true}
	for _, run := range byRun(ranks) {
		name := run[0].Run
		ours, byRank, joined := 0.0, 0.0, 0.0
		for kind, k := range kinds[:2] {
			kept, err := zstd.keep(columns(run, kind), bySignature, 1)
			if err != nil {
				t.Fatal(err)
			}
			if kept.Errors.Max != 0 {
				t.Errorf("%s %s: worst error %g", name, k.name, kept.Errors.Max)
			}
			peer, ok := measuredZstd[name][k.name]
			if !ok {
				t.Fatalf("%s %s: no figure of zstd", name, k.name)
			}
			ours += kept.bits()
			byRank += peer.byRank
			joined += peer.joined
		}
		saved, least := 1-ours/byRank, 0.25
		if name == "is.W.8" {
			least = 1.0 / 6
		}
		t.Logf("%s: %.2f bits per call, %.1f %% less than zstd -19 by rank, %.1f %% than of all ranks at once", name, ours, 100*saved, 100*(1-ours/joined))
		if saved < least {
			t.Errorf("%s: %.1f %% less than zstd -19, want %.1f %%", name, 100*saved, 100*least)
		}
	}
}

// BenchmarkCodecs measures both directions of every codec on every column of the
// ranks in testdata; codecs that cluster by signature also without signatures.
// With -benchtime 1x it takes a second, otherwise minutes.
func BenchmarkCodecs(b *testing.B) {
	list, _, err := contenders(epsilon)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range list {
		for _, o := range orders {
			name := c.name
			if o == byCall && c.clusters {
				name += "-unclustered"
			} else if o == bySignature && !c.clusters {
				continue
			}
			b.Run("codec="+name, func(b *testing.B) {
				for _, run := range byRun(recorded.Shipped(b)) {
					for kind, k := range kinds {
						b.Run("run="+run[0].Run+"/column="+k.name, func(b *testing.B) {
							benchmarkCodec(b, c, columns(run, kind), o)
						})
					}
				}
			})
		}
	}
}

func benchmarkCodec(b *testing.B, c contender, in []column, o order) {
	k, err := c.keep(in, o, 1)
	if err != nil {
		b.Fatal(err)
	}
	in = c.arranged(in, o)
	out, blocks := make([]column, len(in)), make([][][]byte, len(in))
	for i, column := range in {
		blocks[i] = column.Encode(c.codec)
		out[i], out[i].Values = column, make([]int64, len(column.Values))
	}
	report := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*k.Values), "ns/value")
		b.ReportMetric(k.bits()/8, "bytes/value")
		b.ReportMetric(k.Errors.Max, "worst-error")
		b.ReportMetric(k.Errors.Mean, "mean-error")
		b.ReportMetric(0, "ns/op")
	}
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			for _, column := range in {
				column.Encode(c.codec)
			}
		}
		report(b)
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			for i, column := range out {
				if err := column.Decode(c.codec, blocks[i]); err != nil {
					b.Fatal(err)
				}
			}
		}
		report(b)
	})
}

// BenchmarkSummaries measures what is kept of the values of each signature.
func BenchmarkSummaries(b *testing.B) {
	long, _ := longAndShort(recorded.Shipped(b))
	for kind, k := range kinds[:2] {
		in := columns(long, kind)
		for i, s := range timing.Summarize(in, timing.CompareOptions{}) {
			b.Run("summary="+s.Codec+"/column="+k.name, func(b *testing.B) {
				took := time.Duration(0)
				for b.Loop() {
					took += timing.Summarize(in, timing.CompareOptions{})[i].Encode
				}
				b.ReportMetric(float64(took.Nanoseconds())/float64(b.N*s.Values), "ns/value")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
