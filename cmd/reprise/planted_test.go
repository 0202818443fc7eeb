package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/query"
)

// A plant is a pattern of planted.c: who waits how in which function, and the function before which the late rank
// computes. Others may wait as well where a delay goes on.
type plant struct {
	pattern, kind, function string
	ranks                   []int // with 4 ranks, of which 2 is late
	before                  string
}

var plants = []plant{
	{"recv", "late sender", "MPI_Recv", []int{3}, "MPI_Send"},
	{"any", "late sender", "MPI_Recv", []int{3}, "MPI_Send"},
	{"order", "wrong order", "MPI_Recv", []int{3}, "MPI_Send"},
	{"start", "late sender", "MPI_Wait", []int{3}, "MPI_Send"},
	{"wait", "late sender", "MPI_Wait", []int{3}, "MPI_Isend"},
	{"waitall", "late sender", "MPI_Waitall", []int{1, 3}, "MPI_Isend"},
	{"rendezvous", "late receiver", "MPI_Send", []int{1}, "MPI_Recv"},
	{"ssend", "late receiver", "MPI_Ssend", []int{1}, "MPI_Recv"},
	{"isend", "late receiver", "MPI_Wait", []int{1}, "MPI_Recv"},
	{"barrier", "wait at barrier", "MPI_Barrier", []int{0, 1, 3}, "MPI_Barrier"},
	{"ibarrier", "wait at barrier", "MPI_Wait", []int{0, 1, 3}, "MPI_Ibarrier"},
	{"allreduce", "wait at NxN", "MPI_Allreduce", []int{0, 1, 3}, "MPI_Allreduce"},
	{"bcast", "late root", "MPI_Bcast", []int{0, 1, 3}, "MPI_Bcast"},
	{"reduce", "early root", "MPI_Reduce", []int{3}, "MPI_Reduce"},
	{"scan", "early scan", "MPI_Scan", []int{3}, "MPI_Scan"},
	{"chain", "late sender", "MPI_Recv", []int{0, 1, 3}, "MPI_Send"},
	{"neighbor", "late neighbor", "MPI_Neighbor_allgather", []int{1, 3}, "MPI_Neighbor_allgather"},
	{"fence", "wait at fence", "MPI_Win_fence", []int{0, 1, 3}, "MPI_Win_fence"},
	{"post", "late post", "", []int{1}, "MPI_Win_post"},         // in MPI_Win_start or MPI_Win_complete
	{"lock", "lock contention", "", []int{1}, "MPI_Win_unlock"}, // in MPI_Win_lock or MPI_Win_unlock
	{"lockother", "lock contention", "", []int{1}, "MPI_Win_unlock"},
	{"shared", "lock contention", "", []int{1}, "MPI_Win_unlock_all"},
	{"complete", "late complete", "MPI_Win_wait", []int{3}, "MPI_Win_start"},
}

// TestPlanted records programs with planted waits, and finds each with its kind, rank, function, time and cause. A
// process that is not scheduled in time changes what was planted: how long it is after that, the program tells,
// and each pattern has several attempts.
func TestPlanted(t *testing.T) {
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		mpitest.SkipUnderRace(t)
		program := m.Build(t, "planted.c", "-g")
		for _, p := range plants {
			t.Run(p.pattern, func(t *testing.T) {
				const attempts = 5
				for attempt := 1; ; attempt++ {
					err := p.check(t, m, program)
					if err == nil {
						return
					}
					if t.Log(err); attempt == attempts {
						t.Fatal("no attempt found what was planted")
					}
				}
			})
		}
	})
}

// What is planted: how often, and how long for which rank.
const (
	plantRounds = 4
	plantMS     = 150
	plantLate   = 2
)

// check records the pattern once, and reports what is not as it was planted.
func (p *plant) check(t *testing.T, m *mpitest.MPI, program string) error {
	t.Helper()
	directory := t.TempDir()
	trace := filepath.Join(directory, "run.rpz")
	line := m.Launch(4, program, p.pattern, fmt.Sprint(plantRounds), fmt.Sprint(plantMS),
		fmt.Sprint(plantLate), directory)
	if got := outcome(t, recorder(t, m, []string{"-o", trace, "--times", "exact"}, line...)); got.status != 0 {
		t.Fatalf("%+v", got)
	}
	var a answer.Waits
	decodeJSON(t, &a, "waits", "--json", trace)
	if a.States == nil {
		t.Fatal(a.Unknown)
	}
	var wrong []error
	total := 0.0
	for _, rank := range p.ranks {
		wait, want := query.Nanoseconds(0), p.planted(t, directory, rank)
		total += want
		for _, v := range a.States.Victims {
			if v.Rank == rank && v.Kind == p.kind && (v.Function == p.function || p.function == "") {
				wait += v.Wait
			}
		}
		if math.Abs(float64(wait)/want-1) > 0.03 || math.Abs(want/(plantRounds*plantMS*1e6)-1) > 0.2 {
			wrong = append(wrong, fmt.Errorf("rank %d: %s in %s for %v, not %v", rank, p.kind, p.function, wait, want))
		}
	}
	first := a.States.Causes[0]
	if first.Rank != plantLate || first.InCall || first.To.Function != p.before || float64(first.Cost) < 0.9*total {
		wrong = append(wrong, fmt.Errorf("the first cause is %+v, want at least %v of rank %d before %s", first,
			0.9*total, plantLate, p.before))
	}
	return errors.Join(wrong...)
}

// planted returns how long a rank waited, by what the program noted: in a chain for the rank before it, in a
// collective operation for the last, and else for the late one.
func (p *plant) planted(t *testing.T, directory string, rank int) (wait float64) {
	t.Helper()
	var times [4][2 * plantRounds]int64 // by rank: of each round, when it may wait, and when it gives
	for rank := range times {
		for i, word := range strings.Fields(readFile(t, filepath.Join(directory, fmt.Sprint(rank)))) {
			times[rank][i] = nanoseconds(t, word)
		}
	}
	for i := range plantRounds {
		gives := times[plantLate][2*i+1]
		switch {
		case p.pattern == "chain":
			gives = times[(rank+3)%4][2*i+1]
		case len(p.ranks) == 3 && p.pattern != "bcast":
			for _, other := range times {
				gives = max(gives, other[2*i+1])
			}
		}
		wait += float64(max(0, gives-times[rank][2*i]))
	}
	return wait
}

func nanoseconds(t *testing.T, word string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
