package trace

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// randomPart returns the part of a rank that sends 64 messages of random lengths, each after one that
// it computes, with the durations of all.
func randomPart(rank int) merge.Part {
	var table cst.Table
	number := func(name string) cst.Param { return cst.Param{Name: name, Type: cst.Type{Kind: cst.KindInt}} }
	send := table.Declare(
		cst.Function{Name: "send", Params: []cst.Param{{Name: "dest", Type: cst.Type{Kind: cst.KindRank}},
			number("count")}})
	compute := table.Declare(cst.Function{Name: "compute"})
	var b sequitur.Builder
	times := &merge.Times{End: 1e6}
	r := rand.New(rand.NewPCG(1, uint64(rank)))
	for range 64 {
		b.Append(table.Intern(compute))
		b.Append(table.Intern(send, cst.Rank(r.Int64N(8)), cst.Int(r.Int64N(1e6))))
	}
	for n := range table.Len() {
		var s timing.Statistics
		for k := range table.Count(uint32(n)) {
			s.Add(uint32(rank), int64(n)*100+int64(k))
		}
		times.Durations.Statistics = append(times.Durations.Statistics, s)
	}
	return merge.Part{Rank: rank, Table: &table, Grammar: b.Finish(), Times: times}
}

// boundedFile returns a trace of two such ranks in size bytes.
func boundedFile(t *testing.T, size int64) []byte {
	t.Helper()
	var a merge.Accumulator
	for rank := range 2 {
		if err := a.Add(randomPart(rank)); err != nil {
			t.Fatal(err)
		}
	}
	var file bytes.Buffer
	if err := a.WriteBounded(context.Background(), &file, size, spec.Keep); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestBounded reads traces that lose more and more. The times of a function stay, and each of its
// signatures has its share of them.
func TestBounded(t *testing.T) {
	var want []timing.Statistics
	for _, size := range []int64{math.MaxInt64, 700, 500} {
		trace := openBytes(t, boundedFile(t, size))
		durations, _, err := trace.Summaries()
		if err != nil {
			t.Fatal(err)
		}
		got := make([]timing.Statistics, len(trace.Functions()))
		for n := range durations.Statistics {
			got[trace.FunctionOf(n)].Merge(&durations.Statistics[n])
		}
		if size == math.MaxInt64 {
			if want = got; trace.Run().Bounded != nil || !trace.Content().Exact {
				t.Errorf("a trace that fits has %+v", trace.Run().Bounded)
			}
			continue
		}
		if b := trace.Run().Bounded; b == nil || !b.ByFunction || trace.Content().Exact != (size == 700) {
			t.Errorf("%d bytes: %+v is not exact", size, b)
		}
		for f := range want {
			g, w := &got[f], &want[f]
			if g.Count != w.Count || g.Min != w.Min || g.Max != w.Max || math.Abs(g.Mean()-w.Mean()) > w.Mean()/500 {
				t.Errorf("%d bytes: times of %s are %+v, not %+v", size, trace.Functions()[f].Name, g, w)
			}
		}
		for n := range trace.Signatures() {
			if layout.StatisticsOf(&durations, uint32(n)).Count == 0 {
				t.Errorf("%d bytes: signature %d of %d has no times", size, n, trace.Signatures())
			}
		}
	}
}

// TestBoundedForged reads traces whose section says what their calls are not.
func TestBoundedForged(t *testing.T) {
	file := boundedFile(t, 500)
	trace := openBytes(t, file)
	b := *trace.Run().Bounded
	if len(b.Stretches) == 0 {
		t.Fatal("there are no stretches")
	}
	rank, err := trace.Rank(1)
	if err != nil {
		t.Fatal(err)
	}
	b.Stretches = map[int][]format.Stretch{1: {{First: 1, Calls: rank.Len()}}}
	trace = openBytes(t, replaceSection(t, file, layout.KindBounded, layout.AppendBounded(nil, &b)))
	if _, err := trace.Rank(1); !errors.Is(err, format.ErrCorrupt) {
		t.Errorf("a stretch of more calls than the rank has: %v", err)
	}
	if _, err := trace.Rank(0); err != nil {
		t.Error(err)
	}
	for name, forged := range map[string][]byte{
		"no section":    replaceSection(t, file, layout.KindBounded, nil),
		"not a section": replaceSection(t, file, layout.KindBounded, []byte{255}),
	} {
		var section *format.SectionError
		if _, err := OpenReader(bytes.NewReader(forged), int64(len(forged)), Options{}); !errors.As(err,
			&section) || section.Kind != layout.KindBounded {
			t.Errorf("%s: %v", name, err)
		}
	}
}
