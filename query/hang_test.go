package query

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/textcases"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// drawStop draws ranks in calls that wait for each other, some of which have lists in common.
func drawStop(t *rapid.T) *stop {
	n := rapid.IntRange(1, 12).Draw(t, "ranks")
	s := &stop{of: make([]stopped, n), index: make(map[int]int)}
	rank := rapid.IntRange(0, 3*n-1)
	lists := rapid.SliceOfN(rapid.SliceOfNDistinct(rank, 1, min(4, n), rapid.ID[int]), 1, 5).Draw(t, "lists")
	for i := range n {
		s.ranks = append(s.ranks, 3*i)
		s.index[3*i] = i
	}
	s.set = rankenc.SetOf(s.ranks...)
	var shared []*awaited
	for _, list := range lists {
		shared = append(shared, s.await(rankenc.SetOf(list...)))
	}
	for i := range n {
		at := &s.of[i]
		at.threads = rapid.IntRange(1, 2).Draw(t, "threads")
		if rapid.IntRange(0, 5).Draw(t, "state") == 0 {
			at.ended = true
			continue
		}
		for range rapid.IntRange(0, at.threads).Draw(t, "calls") {
			var f flight
			f.Any = rapid.Bool().Draw(t, "any call")
			for range rapid.IntRange(0, 3).Draw(t, "waits") {
				w := stopWait{ranks: rapid.SampledFrom(shared).Draw(t, "list")}
				w.Any = rapid.Bool().Draw(t, "any")
				if rapid.Bool().Draw(t, "own") {
					w.ranks = s.await(rankenc.SetOf(rank.Draw(t, "rank")))
				}
				f.waits = append(f.waits, w)
			}
			at.flights = append(at.flights, f)
		}
	}
	return s
}

// TestRelease checks that ranks go on that can, in whatever order they are looked at, that no
// others do, and that cycles are ways along which deadlocked ranks wait.
func TestRelease(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStop(t)
		want := releaseSlowly(t, s)
		if err := s.release(context.Background()); err != nil {
			t.Fatal(err)
		}
		for i := range s.of {
			if s.of[i].released != want[i] {
				t.Fatalf("rank %d: released %t, want %t", s.ranks[i], s.of[i].released, want[i])
			}
		}
		found := make(map[int]bool)
		for _, cycle := range s.cycles() {
			if len(cycle) < 2 || cycle[0] != slices.Min(cycle) {
				t.Fatalf("cycle %v", cycle)
			}
			for k, rank := range cycle {
				if i := s.index[rank]; found[rank] || !s.isDeadlocked(i) || !waitsFor(s, i, cycle[(k+1)%len(cycle)]) {
					t.Fatalf("rank %d in cycle %v", rank, cycle)
				}
				found[rank] = true
			}
		}
		for i, rank := range s.ranks { // who can come back to itself is in a component with a cycle
			if way := reachable(s, i); way[i] && s.isDeadlocked(i) {
				if !slices.ContainsFunc(s.ranks, func(other int) bool {
					j := s.index[other]
					return found[other] && (j == i || way[j] && reachable(s, j)[i])
				}) {
					t.Fatalf("rank %d waits for itself, and there is no cycle", rank)
				}
			}
		}
	})
}

// releaseSlowly releases one rank after the other in a drawn order.
func releaseSlowly(t *rapid.T, s *stop) []bool {
	released := make([]bool, len(s.of))
	goes := func(rank int) bool {
		i, ok := s.index[rank]
		return !ok || released[i]
	}
	done := func(w stopWait) bool {
		n := 0
		for _, rank := range w.ranks.ranks.All() {
			if goes(rank) {
				n++
			}
		}
		return n == w.ranks.ranks.Len() || w.Any && n > 0
	}
	can := func(at *stopped) bool {
		if len(at.flights) < at.threads {
			return true
		}
		for _, f := range at.flights {
			n := 0
			for _, w := range f.waits {
				if done(w) {
					n++
				}
			}
			if n == len(f.waits) || f.Any && n > 0 {
				return true
			}
		}
		return false
	}
	order := rapid.Permutation(s.ranks).Draw(t, "order")
	for range s.of {
		for _, rank := range order {
			if at := &s.of[s.index[rank]]; !at.ended && can(at) {
				released[s.index[rank]] = true
			}
		}
	}
	return released
}

// waitsFor reports whether a rank, by index, waits for another in a wait that cannot end.
func waitsFor(s *stop, i, rank int) bool {
	for _, f := range s.of[i].flights {
		for _, w := range f.waits {
			if !s.satisfied(w) && w.ranks.ranks.Contains(rank) && rank != s.ranks[i] {
				return true
			}
		}
	}
	return false
}

// reachable returns the deadlocked ranks, by index, that a rank waits for, directly or not.
func reachable(s *stop, from int) map[int]bool {
	reached := make(map[int]bool)
	var visit func(i int)
	visit = func(i int) {
		for j := range s.of {
			if !reached[j] && s.isDeadlocked(j) && waitsFor(s, i, s.ranks[j]) {
				reached[j] = true
				visit(j)
			}
		}
	}
	visit(from)
	return reached
}

// TestHangOfNothing asks where ranks were of a run that came to its end.
func TestHangOfNothing(t *testing.T) {
	for _, path := range realTraces(t, "ti/is.S.16.ti.zst") {
		model := openModel(t, openTI(t, path))
		h, err := OpenHang(t.Context(), model, Options{})
		if err != nil || h.InCall.Len()+h.Outside.Len()+h.Ended.Len() > 0 || len(h.Groups) > 0 {
			t.Errorf("%+v, %v", h, err)
		}
		var r *semantics.Rank
		if r, err = model.Rank(0); err != nil || len(r.InFlight()) > 0 || r.Ended() {
			t.Errorf("%v, %v", r.InFlight(), err)
		}
	}
}

// hungTrace returns a trace of the first ranks of a run, that make the calls of a program.
func hungTrace(t *testing.T, size, ranks int, program string) *trace.Trace {
	t.Helper()
	parts, _ := testtrace.Program(t, ranks, program)
	return testtrace.Write(t, merge.Run{Source: "MPI", Ranks: size}, parts)
}

// askHung asks why a run hangs.
func askHung(t *testing.T, tr *trace.Trace) *Hang {
	t.Helper()
	h, err := OpenHang(t.Context(), openModel(t, tr), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestHangNeeds checks what a call that did not return needs of others.
func TestHangNeeds(t *testing.T) {
	textcases.Run(t, "testdata/hangs.txt", func(t *testing.T, c textcases.Case) string {
		ranks := c.Int(t, "ranks", 0)
		h := askHung(t, hungTrace(t, ranks, ranks, c.Input))
		return fmt.Sprintf("deadlocked %v, cycles %v\n", h.Deadlocked, h.Cycles)
	})
}

// TestHangOfHuge asks for what ranks wait for others of a run of as many as there can be, two of which make
// calls: memory follows these.
func TestHangOfHuge(t *testing.T) {
	const size, rest = math.MaxInt32, "2-2147483646"
	for call, want := range map[string]string{
		"MPI_Barrier": rest, "MPI_Recv source=MPI_ANY_SOURCE tag=1": "1-2147483646",
		"MPI_Reduce root=0": "1-2147483646", "MPI_Finalize": "1",
	} {
		var before, after runtime.MemStats
		tr := hungTrace(t, size, 2, "0: "+call+" returned=0\n1: MPI_Barrier\n")
		runtime.ReadMemStats(&before)
		h := askHung(t, tr)
		runtime.ReadMemStats(&after)
		if len(h.Groups) != 2 || len(h.Groups[0].Waits) != 1 {
			t.Fatalf("%s: %+v", call, h.Groups)
		}
		if w := h.Groups[0].Waits[0]; w.Ranks.String() != want || h.Deadlocked.Len() > 0 {
			t.Errorf("%s: waits for %v, %v are deadlocked", call, w.Ranks, h.Deadlocked)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 32<<20 {
			t.Errorf("%s: %d bytes were allocated", call, got)
		}
	}
}

// TestHangDurations checks that a group says how long its calls had lasted of those of which it is known.
func TestHangDurations(t *testing.T) {
	for _, tt := range []struct {
		durations   []int64
		least, most Nanoseconds
	}{
		{[]int64{0, 0}, 0, 0},
		{[]int64{0, 7, 0, 5}, 5, 7},
		{[]int64{5, 0}, 5, 5},
		{[]int64{9, 5, 7}, 5, 9},
	} {
		s := &stop{of: make([]stopped, len(tt.durations)), index: make(map[int]int)}
		groups := make(map[string]*hangGroup)
		for rank, duration := range tt.durations {
			s.index[rank] = rank
			s.group(groups, rank, false, &flight{duration: duration, source: Series})
		}
		if len(groups) != 1 {
			t.Fatalf("%d groups", len(groups))
		}
		for _, g := range groups {
			if g.Least != tt.least || g.Most != tt.most {
				t.Errorf("%v: from %v to %v, want from %v to %v", tt.durations, g.Least, g.Most, tt.least, tt.most)
			}
		}
	}
}

// TestHangAborted checks that a rank in MPI_Abort waits for the end of the run and no other rank does.
func TestHangAborted(t *testing.T) {
	tr := hungTrace(t, 3, 3, "0-1: MPI_Barrier returned=0\n2: MPI_Abort errorcode=7 returned=0\n")
	for _, g := range askHung(t, tr).Groups {
		want := ForMembers
		if g.Ranks.String() == "2" {
			want = ForEnd
		}
		if len(g.Waits) != 1 || g.Waits[0].For != want {
			t.Errorf("ranks %v wait for %+v, want %v", g.Ranks, g.Waits, want)
		}
	}
	if got, err := RanksInCalls(t.Context(), tr, abort, Options{}); err != nil || got.String() != "2" {
		t.Errorf("ranks %v abort, %v", got, err)
	}
}
