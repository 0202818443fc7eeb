package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// factored returns the parts of ranks that call f with values: each makes the same
// call where others make two, so that factoring gives one shape, in which what one
// rank does not tell apart, others do. A call with value v takes 1000·v ns.
func factored(ranks int) []Part {
	f := numbered("f", cst.Type{Kind: cst.KindInt})
	var parts []Part
	for rank := range ranks {
		var table cst.Table
		var grammar sequitur.Builder
		var durations []timing.Statistics
		var paths timing.HistogramsBuilder
		fn := table.Declare(f)
		for i := range 2 * ranks {
			v := i
			if i == 2*rank {
				v++ // as the next
			}
			for range 20 {
				s := table.Intern(fn, cst.Int(int64(v)))
				grammar.Append(s)
				if int(s) == len(durations) {
					durations = append(durations, timing.Statistics{})
				}
				durations[s].Add(uint32(rank), int64(1000*v))
				paths.Append(s, int64(1000*v))
			}
		}
		p := Part{Rank: rank, Table: &table, Grammar: grammar.Finish(), Times: &Times{}}
		p.Times.Durations = timing.Summary{Statistics: durations, Histograms: paths.Finish(uint32(rank))}
		parts = append(parts, p)
	}
	return parts
}

// sameSummaries compares the summaries of two traces, signature by signature.
func sameSummaries(t *testing.T, got, want *Trace) {
	t.Helper()
	a, err := summariesOf(got)
	if err != nil {
		t.Fatal(err)
	}
	b, err := summariesOf(want)
	if err != nil {
		t.Fatal(err)
	}
	n := want.Signatures()
	if got.Signatures() != n || !bytes.Equal(a.Append(nil, n), b.Append(nil, n)) {
		t.Errorf("summaries %+v of %d signatures, want %+v of %d", a, got.Signatures(), b, n)
	}
}

// TestPlacedTimes adds traces to accumulators and writes them again, also through a
// part file: every signature keeps its times, whichever of them a rank tells apart.
func TestPlacedTimes(t *testing.T) {
	parts := factored(12)
	trace := open(t, write(t, Run{Ranks: len(parts)}, parts))
	if trace.Shapes() != 1 {
		t.Fatalf("%d shapes", trace.Shapes())
	}
	var a Accumulator
	if err := trace.AddTo(context.Background(), &a); err != nil {
		t.Fatal(err)
	}
	sameSummaries(t, open(t, traceFile(t, &a)), trace)
	sameSummaries(t, open(t, traceFile(t, throughFile(t, &a))), trace)
	if _, err := trace.AddTimes(&a); err == nil || !strings.Contains(err.Error(), "which has some") {
		t.Errorf("added twice: %v", err)
	}
	sameSummaries(t, open(t, traceFile(t, &a)), trace)
}

// TestPlacedWithoutRanks checks that the times of a shape are there as long as one
// of its ranks is, and that it is told how many are not.
func TestPlacedWithoutRanks(t *testing.T) {
	same, other := timing.Statistics{}, timing.Statistics{}
	for i := range int64(5) {
		same.Add(uint32(i), 100)
		other.Add(9, 300)
	}
	var parts []Part
	for rank := range 5 {
		p := repeatCall(rank, 1, barrier)
		var one timing.Statistics
		one.Add(uint32(rank), 100)
		p.Times = &Times{Durations: timing.Summary{Statistics: []timing.Statistics{one}}}
		parts = append(parts, p)
	}
	alone := oneCall(9, send, cst.Rank(3))
	alone.Grammar = repeatCall(9, 5, barrier).Grammar
	alone.Times = &Times{Durations: timing.Summary{Statistics: []timing.Statistics{other}}}
	parts = append(parts, alone)
	trace := open(t, write(t, Run{Ranks: 10}, parts))
	for _, tt := range []struct {
		ranks []int
		want  []timing.Statistics // of barrier and send
		lost  bool
	}{
		{[]int{0, 1, 2, 3, 4, 9}, []timing.Statistics{same, other}, false},
		{[]int{3, 9}, []timing.Statistics{same, other}, false},
		{[]int{4}, []timing.Statistics{same}, true},
		{[]int{9}, []timing.Statistics{other}, true},
	} {
		var a Accumulator
		for _, rank := range tt.ranks {
			p, err := trace.Part(rank)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		if rest, err := trace.AddTimes(&a); err != nil || tt.lost != (rest > 0) {
			t.Errorf("ranks %v: %d values are of others, %v", tt.ranks, rest, err)
		}
		got, _, err := open(t, traceFile(t, &a)).Summaries()
		if err != nil || !slices.Equal(got.Statistics, tt.want) {
			t.Errorf("ranks %v: %+v, %v, want %+v", tt.ranks, got.Statistics, err, tt.want)
		}
	}
}
