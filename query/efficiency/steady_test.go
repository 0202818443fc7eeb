package efficiency_test

import (
	"context"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query/efficiency"
	"github.com/reprise-trace/reprise/trace"
)

// compareExecuted checks that a run is the same to the picosecond whether loops are skipped or every call is
// executed, and returns it, and how often progress is told of all calls and of those that are executed if
// loops are skipped.
func compareExecuted(t tester, tr *trace.Trace) (r *efficiency.Run, all, executed int) {
	t.Helper()
	model, err := semantics.Open(context.Background(), tr)
	if err != nil {
		t.Fatal(err)
	}
	r, err = efficiency.Open(context.Background(), model,
		efficiency.EachCall(efficiency.Options{Progress: func(uint64) { executed++ }}))
	if err != nil {
		t.Fatal(err)
	}
	want, err := efficiency.Open(context.Background(), model,
		efficiency.ExecuteAll(efficiency.EachCall(efficiency.Options{Progress: func(uint64) { all++ }})))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(r, want) {
		t.Fatalf("%+v, with every call executed %+v", r, want)
	}
	return r, all, executed
}

// A looping program has loops, whose calls take times that are drawn.
type looping struct {
	intn  func(n int) int
	times *rand.Rand
	ranks []*process
}

// drawLooping draws a program of loops, which may be in others, and of calls between them.
func drawLooping(intn func(n int) int) *looping {
	l := &looping{intn: intn, times: rand.New(rand.NewPCG(uint64(intn(1<<30)), 1))}
	for range 1 + intn(4) {
		l.ranks = append(l.ranks, new(process))
	}
	before := intn(3) // nothing, MPI_Init, or calls before it
	if before == 2 {
		l.alone()
	}
	if before > 0 {
		l.all("MPI_Init")
	}
	for range 1 + intn(3) {
		l.loop(1 + intn(2))
		if intn(2) == 0 {
			l.step()
		}
	}
	if l.all("MPI_Barrier", "comm", world); intn(2) == 0 {
		l.all("MPI_Finalize")
	}
	return l
}

// loop adds one of some 1,000 to 4,000 calls of a rank, in which others may be.
func (l *looping) loop(depth int) {
	trips := 400 + l.intn(800)
	from := make([]int, len(l.ranks))
	for i, p := range l.ranks {
		from[i] = len(p.calls)
	}
	for range 1 + l.intn(4) {
		if l.intn(3) == 0 && depth > 1 {
			l.repeat(2+l.intn(60), func() { l.step() })
			trips = 40
			continue
		}
		l.step()
	}
	l.again(from, trips-1)
}

// repeat adds what body adds several times.
func (l *looping) repeat(times int, body func()) {
	from := make([]int, len(l.ranks))
	for i, p := range l.ranks {
		from[i] = len(p.calls)
	}
	body()
	l.again(from, times-1)
}

// again adds the calls from some on of each rank several times, with other times.
func (l *looping) again(from []int, times int) {
	for i, p := range l.ranks {
		body := p.calls[from[i]:]
		for range times {
			for _, c := range body {
				l.add(i, c)
			}
		}
	}
}

// add adds a call that takes some time, after some time.
func (l *looping) add(rank int, c testtrace.Call) {
	p := l.ranks[rank]
	c.Start, c.Duration = p.now+l.times.Int64N(2000)*int64(1+rank), l.times.Int64N(500)
	p.now = c.Start + c.Duration
	p.calls = append(p.calls, c)
}

func (l *looping) call(rank int, name string, pairs ...any) {
	l.add(rank, testtrace.MPICall(name, pairs...))
}

func (l *looping) all(name string, pairs ...any) {
	for rank := range l.ranks {
		l.call(rank, name, pairs...)
	}
}

// alone adds calls of each rank that others have nothing to do with, more of some than of others.
func (l *looping) alone() {
	for rank := range l.ranks {
		for range l.intn(5) {
			l.call(rank, "MPI_Comm_size", "comm", world, "size", len(l.ranks))
		}
	}
}

// step adds calls that belong together.
func (l *looping) step() {
	n := len(l.ranks)
	message := func(rank int, name, end string, peer, tag int, more ...any) {
		l.call(rank, name, append(more, "count", 1, "datatype", "MPI_BYTE", end, peer, "tag", tag, "comm", world)...)
	}
	switch l.intn(6) {
	case 0:
		l.all("MPI_Allreduce", "count", 1, "datatype", "MPI_BYTE", "comm", world)
	case 1:
		l.all("MPI_Reduce", "count", 1, "datatype", "MPI_BYTE", "root", l.intn(n), "comm", world)
	case 2: // a ring
		for rank := range l.ranks {
			message(rank, "MPI_Isend", "dest", (rank+1)%n, 1, "request", 0)
			message(rank, "MPI_Recv", "source", (rank+n-1)%n, 1)
			l.call(rank, "MPI_Wait", "request", 0)
		}
	case 3: // a pipeline
		for rank := range l.ranks {
			if rank > 0 {
				message(rank, "MPI_Recv", "source", rank-1, 2)
			}
			if rank < n-1 {
				message(rank, "MPI_Send", "dest", rank+1, 2)
			}
		}
	case 4: // some ranks have loops of their own
		first, times := l.intn(n), 1+l.intn(20)
		for rank := first; rank < n; rank++ {
			for range times {
				l.call(rank, "MPI_Comm_rank", "comm", world, "rank", rank)
			}
		}
	case 5:
		l.alone()
	}
}

func (l *looping) trace(t tester) *trace.Trace {
	var list [][]testtrace.Call
	for _, p := range l.ranks {
		list = append(list, p.calls)
	}
	return record(t, list, statistics)
}

// TestSkipPrograms compares random programs of loops.
func TestSkipPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, _, _ := compareExecuted(t, drawLooping(func(n int) int {
			return rapid.IntRange(0, n-1).Draw(t, "n")
		}).trace(t))
		checkProducts(t, &r.Part)
		for i := range r.Phases {
			checkProducts(t, &r.Phases[i].Part)
		}
	})
}

// TestSkipReal compares real runs with statistics that are made up.
func TestSkipReal(t *testing.T) {
	for _, name := range []string{"cg.S.16", "is.S.16", "lu.W.16", "mg.S.16", "sp.S.16"} {
		t.Run(name, func(t *testing.T) {
			of := testtrace.Real(t, "ti/"+name+".ti.zst")
			var parts []merge.Part
			for rank := range of.Ranks() {
				part, err := of.Part(rank)
				if err != nil {
					t.Fatal(err)
				}
				part.Times = programs.Times(rank, part.Grammar)
				parts = append(parts, part)
			}
			if r, _, _ := compareExecuted(t, testtrace.Write(t, of.Run(), parts)); r.Factors == nil ||
				len(r.Phases) == 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestSkipStencil checks that iterations are skipped: each would take minutes otherwise.
func TestSkipStencil(t *testing.T) {
	p := programs.Stencil2D(4, 3, 20_000_000).Timed()
	stopping, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	model, err := semantics.Open(stopping, testtrace.Write(t, p.Run(), p.Parts()))
	if err != nil {
		t.Fatal(err)
	}
	told, last, calls := 0, uint64(0), uint64(0)
	for rank := range p.Ranks {
		calls += p.Part(rank).Grammar.Len()
	}
	r, err := efficiency.Open(stopping, model, efficiency.EachCall(
		efficiency.Options{Progress: func(calls uint64) { told, last = told+1, calls }}))
	if err != nil {
		t.Fatal(err)
	}
	if told > 100_000 || last != calls || r.Phases[0].MaxTrips != 20_000_000 {
		t.Errorf("%d calls are executed, and %d are in the end, of %d; %+v", told, last, calls, r.Phases)
	}
}

// TestSkipLoops compares programs that are the same every time, and checks that loops are skipped.
func TestSkipLoops(t *testing.T) {
	skipped, phases := 0, 0
	for seed := range uint64(20) {
		r, calls, executed := compareExecuted(t, drawLooping(rand.New(rand.NewPCG(seed, 1)).IntN).trace(t))
		if phases += len(r.Phases); executed < calls/2 {
			skipped++
		}
	}
	if skipped < 10 || phases < 20 {
		t.Errorf("only in %d of 20 programs are loops skipped, and there are %d phases", skipped, phases)
	}
}
