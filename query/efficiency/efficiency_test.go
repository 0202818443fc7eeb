package efficiency_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/must"
	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/efficiency"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

type tester interface {
	testtrace.TB
	Fatalf(format string, args ...any)
}

const world = "MPI_COMM_WORLD"

// A process makes calls one after the other. Times are in µs.
type process struct {
	calls []testtrace.Call
	now   int64
}

// call computes for a time, and then makes a call that takes another.
func (p *process) call(computes, takes int64, name string, pairs ...any) {
	c := testtrace.MPICall(name, pairs...)
	c.Start, c.Duration = (p.now+computes)*1000, takes*1000
	p.now += computes + takes
	p.calls = append(p.calls, c)
}

func (p *process) send(computes, takes int64, to int) {
	p.call(computes, takes, "MPI_Send", "count", 1, "datatype", "MPI_BYTE", "dest", to, "tag", 0, "comm", world)
}

func (p *process) receive(computes, takes int64, from int) {
	p.call(computes, takes, "MPI_Recv", "count", 1, "datatype", "MPI_BYTE", "source", from, "tag", 0, "comm", world)
}

func (p *process) barrier(computes, takes int64) {
	p.call(computes, takes, "MPI_Barrier", "comm", world)
}

func (p *process) reduce(computes, takes int64) {
	p.call(computes, takes, "MPI_Allreduce", "count", 1, "datatype", "MPI_BYTE", "comm", world)
}

// programOf returns the calls of ranks between MPI_Init, which takes 10 µs, and MPI_Finalize, which takes 7.
func programOf(ranks int, program func(rank int, p *process)) [][]testtrace.Call {
	var list [][]testtrace.Call
	for rank := range ranks {
		p := &process{now: int64(rank)}
		p.call(0, 10-int64(rank), "MPI_Init")
		program(rank, p)
		p.call(0, 7, "MPI_Finalize")
		list = append(list, p.calls)
	}
	return list
}

// What is kept of times.
var (
	statistics = tracer.Options{}
	exact      = tracer.Options{Series: must.Get(timing.NewSeriesCodec(
		must.Get(timing.NewLossless(timing.Zstd)), must.Get(timing.NewLossless(timing.Zstd)), timing.Gaps))}
)

func record(t tester, ranks [][]testtrace.Call, o tracer.Options) *trace.Trace {
	t.Helper()
	var parts []merge.Part
	for rank, calls := range ranks {
		r, err := tracer.New(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			r.CallAt(r.Declare(c.Function), c.Start, c.Duration, c.Args...)
		}
		parts = append(parts, r.Finish(rank))
	}
	return testtrace.Write(t, merge.Run{Ranks: len(ranks)}, parts)
}

func open(t tester, tr *trace.Trace) *efficiency.Run {
	t.Helper()
	r, err := openRun(tr)
	if err != nil {
		t.Fatal(err)
	}
	checkProducts(t, &r.Part)
	for i := range r.Phases {
		checkProducts(t, &r.Phases[i].Part)
	}
	return r
}

func openRun(tr *trace.Trace) (*efficiency.Run, error) {
	model, err := semantics.Open(context.Background(), tr)
	if err != nil {
		return nil, err
	}
	return efficiency.Open(context.Background(), model, efficiency.Options{})
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

// checkProducts checks that factors multiply as they are meant to, and are what they are by their
// definitions.
func checkProducts(t tester, p *efficiency.Part) {
	t.Helper()
	f := p.Factors
	if f == nil {
		if p.Max > 0 && p.Time > 0 {
			t.Fatalf("there are no factors of %+v", p)
		}
		return
	}
	serialization, transfer := *f.Serialization, *f.Transfer
	if !near(f.Parallel, f.LoadBalance*f.Communication) || !near(f.Communication, serialization*transfer) ||
		!near(f.Parallel, float64(p.Mean/max(p.Time, p.Max))) || !near(f.LoadBalance, float64(p.Mean/p.Max)) ||
		!near(transfer, float64(min(p.Ideal, max(p.Time, p.Max))/max(p.Time, p.Max))) {
		t.Fatalf("factors %+v of %+v", f, p)
	}
	if f.LoadBalance <= 0 || f.LoadBalance > 1+1e-12 || serialization <= 0 || serialization > 1 ||
		transfer <= 0 || transfer > 1 || f.Communication > 1 || f.Parallel > 1 ||
		p.Longer != (p.Ideal > p.Time) {
		t.Fatalf("factors %+v of %+v", f, p)
	}
}

// TestLacksReceives has messages that nobody receives: all, and few of many.
func TestLacksReceives(t *testing.T) {
	for _, o := range []tracer.Options{exact, statistics} {
		for _, lacks := range []bool{true, false} {
			tr := record(t, programOf(2, func(rank int, p *process) {
				for range 1000 {
					if p.send(10, 1, 1-rank); !lacks {
						p.receive(10, 1, 1-rank)
					}
				}
				p.send(10, 1, 1-rank)
			}), o)
			r, err := openRun(tr)
			if err != nil {
				t.Fatal(err)
			}
			want := uint64(2)
			if lacks {
				want = 2002
			}
			f := r.Factors
			if r.Unreceived != want || r.LacksReceives != lacks || f == nil || (f.Serialization == nil) != lacks ||
				(f.Transfer == nil) != lacks || f.Parallel <= 0 {
				t.Errorf("%+v, %+v", r, f)
			}
		}
	}
}

// known returns a factor that is known.
func known(f float64) *float64 { return &f }

// TestFactors checks the factors of runs of two ranks that are easy to reckon.
func TestFactors(t *testing.T) {
	for _, tt := range []struct {
		name    string
		program func(rank int, p *process)
		time    query.Nanoseconds // µs
		want    efficiency.Factors
		differ  bool // gaps of equal calls differ, so that means are not enough
	}{
		{"Imbalanced", func(rank int, p *process) { // rank 1 computes 50 and waits 50
			for range 10 {
				p.barrier(100-50*int64(rank), 50*int64(rank))
			}
		}, 1000, efficiency.Factors{Parallel: 0.75, LoadBalance: 0.75, Communication: 1, Serialization: known(1),
			Transfer: known(1)}, false},
		{"Serialized", func(rank int, p *process) { // one computes 100 while the other waits
			for range 5 {
				if rank == 0 {
					p.send(100, 0, 1)
					p.receive(0, 100, 1)
				} else {
					p.receive(0, 100, 0)
					p.send(100, 0, 0)
				}
			}
		}, 1000, efficiency.Factors{Parallel: 0.5, LoadBalance: 1, Communication: 0.5, Serialization: known(0.5),
			Transfer: known(1)}, false},
		{"TransferBound", func(_ int, p *process) { // the network takes as long as they compute
			for range 10 {
				p.reduce(100, 100)
			}
		}, 2000, efficiency.Factors{Parallel: 0.5, LoadBalance: 1, Communication: 0.5, Serialization: known(1),
			Transfer: known(0.5)}, false},
		{"AllOfThem", func(rank int, p *process) {
			// Rank 0 computes 60 and rank 1 then 40, one after the other, and a message takes 25: 125 in the
			// run, 100 on an ideal network, of which the longest computes 60 and they 50 on average.
			for range 4 {
				if rank == 0 {
					p.send(60, 0, 1)
					p.barrier(0, 65)
				} else {
					p.receive(0, 85, 0)
					p.barrier(40, 0)
				}
			}
		}, 500, efficiency.Factors{Parallel: 0.4, LoadBalance: 5.0 / 6, Communication: 0.48,
			Serialization: known(0.6), Transfer: known(0.8)}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, o := range []tracer.Options{exact, statistics} {
				if o.Series == nil && tt.differ {
					continue
				}
				r := open(t, record(t, programOf(2, tt.program), o))
				off := 0.0
				if o.Series == nil {
					off = 0.04 // ranges of sums
				}
				if r.Ranks != 2 || !r.Scaled || (r.Source == query.Series) != (o.Series != nil) {
					t.Errorf("%+v", r)
				}
				if math.Abs(float64(r.Time/1000/tt.time)-1) > off {
					t.Errorf("run of %v ns, not %v µs", r.Time, tt.time)
				}
				got, want := *r.Factors, tt.want
				for _, pair := range [][2]float64{{got.Parallel, want.Parallel},
					{got.LoadBalance, want.LoadBalance}, {got.Communication, want.Communication},
					{*got.Serialization, *want.Serialization}, {*got.Transfer, *want.Transfer}} {
					if math.Abs(pair[0]-pair[1]) > max(off, 1e-9) {
						t.Errorf("factors of %v: %+v, want %+v", r.Source, got, want)
					}
				}
				if len(r.Phases) != 1 || r.Phases[0].Factors == nil ||
					math.Abs(r.Phases[0].Factors.Parallel-want.Parallel) > max(off, 1e-9) {
					t.Errorf("phases of %v: %+v", r.Source, r.Phases)
				}
			}
		})
	}
}

// TestPhases checks the factors of two phases, and what is between and around them.
func TestPhases(t *testing.T) {
	r := open(t, record(t, programOf(3, func(rank int, p *process) {
		p.call(20, 5, "MPI_Comm_rank", "comm", world, "rank", rank)
		p.call(0, 0, "MPI_Bcast", "count", 1, "datatype", "MPI_BYTE", "root", 0, "comm", world)
		for range 10 { // the computing of ranks is 20, 30 and 40
			p.barrier(20+10*int64(rank), 20-10*int64(rank))
		}
		if rank == 0 {
			p.call(0, 0, "MPI_Comm_size", "comm", world, "size", 3)
		}
		for range 8 {
			p.reduce(30, 10)
		}
		p.now += 15
	}), exact))
	type row struct {
		time, ideal query.Nanoseconds
		load        float64
		trips       uint64
		calls       uint64
		function    string
	}
	want := []row{{400, 400, 0.75, 10, 30, "MPI_Barrier"}, {320, 240, 1, 8, 24, "MPI_Allreduce"}}
	if len(r.Phases) != len(want) {
		t.Fatalf("%+v", r.Phases)
	}
	for i, p := range r.Phases {
		got := row{p.Time / 1000, p.Ideal / 1000, p.Factors.LoadBalance, p.MinTrips, p.Calls, p.Functions[0].Name}
		if got != want[i] || p.MaxTrips != p.MinTrips || p.Ranks.Len() != 3 || p.Rank != 0 ||
			p.Position != []uint64{3, 14}[i] {
			t.Errorf("phase %d: %+v of %+v, want %+v", i, got, p, want[i])
		}
	}
	// 20+5 before the phases, 15 behind them: the first MPI_Comm_rank is in the ideal run, and no computing.
	if r.Time != 760e3 || r.Ideal != 680e3 || r.Max != (20+400+240+15)*1000 || r.MaxRank != 2 ||
		r.Total != (3*(20+240+15)+900)*1000 {
		t.Errorf("%+v", r.Part)
	}
}

// TestShapes checks phases of ranks with other control flows.
func TestShapes(t *testing.T) {
	r := open(t, record(t, programOf(4, func(rank int, p *process) {
		for range 20 {
			if rank > 0 {
				p.send(10, 0, 0)
			} else {
				for from := 1; from < 4; from++ {
					p.receive(3, 1, from)
				}
			}
			p.barrier(2, 3)
		}
		for k := 0; rank == 2 && k < 5; k++ {
			p.call(1, 1, "MPI_Comm_rank", "comm", world, "rank", rank)
		}
		for range 6 + rank {
			p.call(3, 1, "MPI_Comm_size", "comm", world, "size", 4)
		}
	}), exact))
	var got []string
	for _, p := range r.Phases {
		got = append(got, fmt.Sprint(p.MinTrips, p.MaxTrips, p.Calls, p.Ranks))
	}
	if want := "20 20 200 0-3, 5 5 5 2, 6 9 30 0-3"; strings.Join(got, ", ") != want {
		t.Errorf("phases are %v, want %s", got, want)
	}
}

// costs is a machine on which everything takes some time that is a whole number of nanoseconds.
type costs struct{ seed, scale, startup uint64 }

func (m costs) Compute(c *replay.Call) (before, within replay.Time) {
	n := (c.Position+m.seed)*2654435761 + uint64(c.Rank.Number())*40503
	if c.Local {
		within = replay.Time(n/7%50*m.scale) * replay.Nanosecond
	}
	if c.Position == 0 {
		within += replay.Time(n/3%1000*m.scale*m.startup) * replay.Nanosecond
	}
	return replay.Time(n%1000*m.scale) * replay.Nanosecond, within
}

func (m costs) Message(of *replay.Message) replay.Cost {
	n := replay.Time((uint64(of.From*7+of.To*3)+m.seed)%50*m.scale) * replay.Nanosecond
	return replay.Cost{Send: n, Transfer: 10 * n, Receive: 2 * n, Rendezvous: m.seed%2 == 0}
}

func (m costs) Collective(c *replay.Collective) {
	c.Earliest()
	for _, i := range c.Leaving {
		c.Leave[i] += replay.Time((uint64(i)+m.seed)%90*m.scale) * replay.Nanosecond
	}
}

// drawProgram draws the calls of ranks, without times, and says whether they begin with MPI_Init.
func drawProgram(t *rapid.T) (program [][]testtrace.Call, initialize bool) {
	ranks := rapid.IntRange(1, 5).Draw(t, "ranks")
	program = make([][]testtrace.Call, ranks)
	add := func(rank int, name string, pairs ...any) {
		program[rank] = append(program[rank], testtrace.MPICall(name, pairs...))
	}
	initialize = rapid.Bool().Draw(t, "MPI_Init")
	all := func(name string, pairs ...any) {
		for rank := range ranks {
			add(rank, name, pairs...)
		}
	}
	if initialize {
		all("MPI_Init")
	}
	if rapid.Bool().Draw(t, "MPI_Barrier") {
		all("MPI_Barrier", "comm", world)
	}
	for range rapid.IntRange(0, 6).Draw(t, "loops") {
		trips := rapid.IntRange(1, 12).Draw(t, "trips")
		kind, shift := rapid.IntRange(0, 3).Draw(t, "kind"), rapid.IntRange(0, 4).Draw(t, "shift")
		for range trips {
			switch kind {
			case 0:
				all("MPI_Allreduce", "count", 1, "datatype", "MPI_BYTE", "comm", world)
			case 1:
				all("MPI_Reduce", "count", 1, "datatype", "MPI_BYTE", "root", shift%ranks, "comm", world)
			case 2: // a ring
				for rank := range ranks {
					add(rank, "MPI_Isend", "count", 1, "datatype", "MPI_BYTE", "dest", (rank+1)%ranks,
						"tag", 1, "comm", world, "request", 0)
					add(rank, "MPI_Recv", "count", 1, "datatype", "MPI_BYTE", "source",
						(rank+ranks-1)%ranks, "tag", 1, "comm", world)
					add(rank, "MPI_Wait", "request", 0)
				}
			case 3: // a pipeline
				for rank := range ranks {
					if rank > 0 {
						add(rank, "MPI_Recv", "count", 9, "datatype", "MPI_BYTE", "source", rank-1, "tag",
							2, "comm", world)
					}
					if rank < ranks-1 {
						add(rank, "MPI_Send", "count", 9, "datatype", "MPI_BYTE", "dest", rank+1, "tag",
							2, "comm", world)
					}
					add(rank, "MPI_Comm_rank", "comm", world, "rank", rank)
				}
			}
		}
	}
	all("MPI_Finalize")
	return program, initialize
}

// TestConsistent checks that the factors of random programs are between 0 and 1, and of the times that the
// machine has on which they ran.
func TestConsistent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		program, initialize := drawProgram(t)
		machine := costs{uint64(rapid.IntRange(0, 1000).Draw(t, "seed")), 1, 0}
		computing, time := run(t, program, machine, initialize)
		r := open(t, record(t, program, exact))
		if want := float64(time / replay.Nanosecond); float64(r.Time) != want ||
			float64(r.Total) != float64(computing/replay.Nanosecond) {
			t.Fatalf("run of %v ns, %v computing, want %v and %v", r.Time, r.Total, want, computing/replay.Nanosecond)
		}
		if r.Longer {
			t.Fatalf("the ideal run takes %v ns, the recorded one %v", r.Ideal, r.Time)
		}
		if s := scalingOf(r, r, false); (s == nil) != (r.Factors == nil) ||
			s != nil && (s.Speedup != 1 || s.ComputationScalability != 1 || s.Global != r.Factors.Parallel) {
			t.Fatalf("scaling is %+v", s)
		}
	})
}

// run sets the times of calls as a machine has them, and returns the computing of all ranks, and the time of
// the run.
func run(t tester, program [][]testtrace.Call, machine replay.Machine, initialize bool) (computing, time replay.Time) {
	model, err := semantics.Open(context.Background(), testtrace.Record(t, merge.Run{}, false, program))
	if err != nil {
		t.Fatal(err)
	}
	type gap struct{ from, to replay.Time }
	var gaps []gap
	first, last, end, ended := replay.Time(math.MaxInt64), replay.Time(0), replay.Time(0),
		make([]replay.Time, len(program))
	for e, err := range replay.Events(context.Background(), model, machine) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Message != nil {
			continue
		}
		rank, position := e.Call.Rank.Number(), e.Call.Position
		c := &program[rank][position]
		c.Start, c.Duration = int64(e.Start/replay.Nanosecond), int64((e.At-e.Start)/replay.Nanosecond)
		if position > 0 {
			gaps = append(gaps, gap{ended[rank], e.Start})
		}
		ended[rank] = e.At
		if position == 0 {
			first, last = min(first, e.Start), max(last, e.At)
		}
		if position == uint64(len(program[rank])-1) { // which may be the first
			end = max(end, e.Start)
		}
	}
	begin := first
	if initialize {
		begin = last
	}
	for _, g := range gaps {
		computing += max(0, g.to-max(g.from, begin))
	}
	return computing, end - begin
}

// scalingOf returns how a run compares with a reference of as many ranks or fewer.
func scalingOf(r, reference *efficiency.Run, weak bool) *efficiency.Scaling {
	_, scaling := efficiency.Compare([]*efficiency.Run{reference, r}, weak)
	return scaling[1]
}

// TestScaling compares runs of 1, 2 and 4 ranks.
func TestScaling(t *testing.T) {
	runOf := func(ranks int, each int64) *efficiency.Run {
		return open(t, record(t, programOf(ranks, func(_ int, p *process) {
			for range 10 {
				p.reduce(each, 10)
			}
		}), exact))
	}
	one, two, four := runOf(1, 390), runOf(2, 240), runOf(4, 90)
	if s := scalingOf(two, one, false); s.Speedup != 400.0/250 ||
		!near(s.ComputationScalability, 390.0/480) || !near(s.Global, 390.0/480*240/250) {
		t.Errorf("%+v", s)
	}
	// The speedup is that of the ranks times that of the global efficiencies.
	if s, first := scalingOf(four, two, false), scalingOf(two, two, false); !near(s.Speedup,
		4.0/2*s.Global/first.Global) {
		t.Errorf("%+v, %+v", s, first)
	}
	if s := scalingOf(two, one, true); !near(s.ComputationScalability, 390.0/240) {
		t.Errorf("%+v", s)
	}
	none := open(t, record(t, programOf(2, func(_ int, p *process) { p.barrier(0, 10) }), exact))
	if none.Factors != nil || scalingOf(none, one, false) != nil {
		t.Errorf("%+v", none)
	}
}

// TestRecorded checks the factors of recorded runs.
func TestRecorded(t *testing.T) {
	for _, name := range []string{"halves.exact", "messages.exact", "startall.exact", "stencil.exact",
		"wildcard.exact"} {
		t.Run(name, func(t *testing.T) {
			r := open(t, testtrace.Recorded(t, name))
			if r.Longer || r.Source != query.Series || r.Unknown+r.Outside > 0 || len(r.Phases) == 0 {
				t.Errorf("%+v", r)
			}
			if f := r.Factors; f.Parallel <= 0 || f.Parallel >= 1 {
				t.Errorf("%+v", f)
			}
		})
	}
	r := open(t, testtrace.Recorded(t, "stencil.statistics"))
	if r.Source != query.Statistics || r.Scaled || r.Factors.LoadBalance < 0.999 {
		t.Errorf("%+v", r)
	}
}

// TestLossy checks that errors of long calls do not add to computing, which is as exact as gaps are.
func TestLossy(t *testing.T) {
	bins, err := timing.NewExponential(0.1)
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, record(t, programOf(2, func(rank int, p *process) {
		for i := range int64(50) {
			p.reduce(100+i, 70_000+137*i)
		}
	}), tracer.Options{Series: must.Get(timing.NewSeriesCodec(bins, bins, timing.Gaps))}))
	const want = 2 * (50*100 + 49*50/2) * 1000
	if r.Guarantee != 0.1 || math.Abs(float64(r.Total)-want) > 0.1*want {
		t.Errorf("computing is %v, not %v", r.Total, want)
	}
}

// TestLossyComputing checks that no factor is above 1 where the error of times has ranks compute for longer than
// the run takes: open does. Gaps are such that the codec has some of them longer than they are.
func TestLossyComputing(t *testing.T) {
	bins := must.Get(timing.NewExponential(0.3))
	longer := 0
	for gap := int64(100); gap < 200; gap += 9 {
		r := open(t, record(t, programOf(2, func(rank int, p *process) {
			for range 50 {
				p.barrier(gap, 0)
			}
		}), tracer.Options{Series: must.Get(timing.NewSeriesCodec(bins, bins, timing.Gaps))}))
		if r.Longer {
			longer++
		}
	}
	if longer == 0 {
		t.Error("no run computes for longer than it takes")
	}
}

// TestErrors checks traces that have no efficiency.
func TestErrors(t *testing.T) {
	pair := programOf(2, func(rank int, p *process) {
		if rank == 0 {
			p.send(1, 1, 1)
		} else {
			p.receive(1, 1, 0)
		}
	})
	cut := [][]testtrace.Call{pair[0][:1], pair[1]} // without the send
	threads := programOf(2, func(_ int, p *process) {
		p.call(1, 1, "MPI_Comm_rank", trace.ThreadParam, 1, "comm", world, "rank", 0)
	})
	var parts []merge.Part
	for rank := range 2 {
		var r testtrace.Recording
		r.MPI(1, "MPI_Init")
		parts = append(parts, r.Finish(rank))
	}
	for _, tt := range []struct {
		name  string
		trace *trace.Trace
		want  string
	}{
		{"NoTimes", testtrace.Record(t, merge.Run{}, false, pair), "no times"},
		{"Missing", testtrace.Write(t, merge.Run{Ranks: 3}, parts), "the trace has 2 of 3 ranks"},
		{"Deadlock", record(t, cut, exact), "rank 1 in MPI_Recv, its call 1, waits for a message from rank 0"},
		{"Threads", record(t, threads, exact), "rank 0 makes calls in several threads"},
		{"Bounded", bounded(t), "made to fit a size"},
		{"Unknown", testtrace.Record(t, merge.Run{}, true,
			[][]testtrace.Call{{{Function: testtrace.Function("open")}}}), "neither MPI's nor SimGrid's"},
		{"SimGrid", testtrace.TI(t, "0 init\n0 compute 5\n0 finalize\n"), "no times"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if r, err := openRun(tt.trace); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v, %v", r, err)
			} else if tt.want == "no times" && !errors.Is(err, query.ErrNoTimes) {
				t.Errorf("%v is not query.ErrNoTimes", err)
			}
		})
	}
	for i, o := range []tracer.Options{exact, statistics} {
		model, err := semantics.Open(context.Background(), record(t, pair, o))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := efficiency.Open(context.Background(), model,
			efficiency.Options{MaxCalls: 3}); !errors.Is(err, efficiency.ErrTooMany) {
			t.Errorf("%d: %v is not ErrTooMany", i, err)
		}
		if _, err := efficiency.Open(context.Background(), model, efficiency.Options{MaxCalls: 6}); err != nil {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	model, err := semantics.Open(ctx, record(t, pair, exact))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := efficiency.Open(ctx, model, efficiency.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not the end of the context", err)
	}
}

// bounded returns a trace that was made to fit a size, and whose calls are not as they were.
func bounded(t *testing.T) *trace.Trace {
	var a merge.Accumulator
	for rank := range 2 {
		var r testtrace.Recording
		for i := range 3000 {
			r.MPI(1, "MPI_Send", "count", i*i*7919%100_003, "datatype", "MPI_BYTE", "dest", 1-rank, "tag",
				i*31%1009, "comm", world)
		}
		if err := a.Add(r.Finish(rank)); err != nil {
			t.Fatal(err)
		}
	}
	var file bytes.Buffer
	if err := a.WriteBounded(t.Context(), &file, 1200, spec.Keep); err != nil {
		t.Fatal(err)
	}
	tr := testtrace.Open(t, file.Bytes())
	if tr.Content().Exact {
		t.Fatal("the trace is exact")
	}
	return tr
}
