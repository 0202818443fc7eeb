package replay_test

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/replay/loggps"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// plain is a machine that does not say that it is steady.
type plain struct{ replay.Machine }

// mixed is a steady machine on which each rank computes as long before calls of a terminal as a hash says,
// and messages are sent in both ways.
type mixed struct {
	replay.Instant
	seed        uint64
	synchronous bool
}

func (mixed) Steady() bool { return true }
func (mixed) Means() bool  { return true } // for package loggps

func (m mixed) hash(a, b uint64) uint64 {
	x := (m.seed ^ a*0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27 ^ b*0x94d049bb133111eb) * 0x9e3779b97f4a7c15
	return x ^ x>>31
}

func (m mixed) Compute(c *replay.Call) (before, within replay.Time) {
	n := replay.Time(m.hash(uint64(c.Rank.Number()), uint64(c.Terminal)) % 50_000_000)
	if c.Position == 0 {
		n = 0
	}
	return n, n % 10
}

func (m mixed) Message(of *replay.Message) replay.Cost {
	return replay.Cost{
		Send: 500_000, Transfer: replay.Time(1_000_000 + 100*max(of.Bytes, 0) +
			int64(m.hash(uint64(of.From), uint64(of.To))%1000)), Receive: 300_000,
		Rendezvous: m.synchronous || of.Bytes > 1<<16,
	}
}

func (m mixed) Collective(c *replay.Collective) {
	c.Earliest()
	for _, i := range c.Leaving {
		c.Leave[i] += replay.Time(1000 + i)
	}
}

// counted is a steady machine that counts the calls that are executed.
type counted struct {
	replay.Machine
	calls *uint64
}

func (counted) Steady() bool { return true }

func (c counted) Compute(call *replay.Call) (before, within replay.Time) {
	*c.calls++
	return c.Machine.Compute(call)
}

// TestSkipReal compares replays that skip loops with those that do not, of real runs.
func TestSkipReal(t *testing.T) {
	paths, _ := filepath.Glob("../../../shared/traces/ti/*.ti.zst")
	for _, path := range tier.Some(paths, 4) {
		name := strings.TrimSuffix(filepath.Base(path), ".ti.zst")
		t.Run(name, func(t *testing.T) {
			model := open(t, testtrace.Real(t, "ti/"+name+".ti.zst"))
			for _, m := range []replay.Machine{link{}, mixed{seed: 2, synchronous: true}} {
				compareSkipped(t, model, m)
			}
		})
	}
}

// TestSkipPrograms compares them on random programs of loops.
func TestSkipPrograms(t *testing.T) {
	defer replay.SetRound(8)()
	rapid.Check(t, func(t *rapid.T) {
		intn := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
		trace, _ := newLoops(intn).trace(t)
		model := open(t, trace)
		seed := rapid.Uint64().Draw(t, "seed")
		compareSkipped(t, model, mixed{seed: seed})
		compareSkipped(t, model, mixed{seed: seed, synchronous: true})
		parameters := loggps.Default()
		parameters.RanksPerNode = 2
		cluster, err := loggps.New(parameters, trace.Ranks(), mixed{seed: seed})
		if err != nil || !cluster.Steady() {
			t.Fatal(err)
		}
		compareSkipped(t, model, cluster)
	})
}

// TestSkipLoops compares them on programs that are the same every time, and checks that loops are skipped.
func TestSkipLoops(t *testing.T) {
	defer replay.SetRound(8)()
	skipped := 0
	for seed := range uint64(66) { // in the last, a strand waits in the middle of a round
		if !tier.Nightly && seed%4 != 1 {
			continue
		}
		trace, _ := newLoops(seeded(seed)).trace(t)
		model := open(t, trace)
		for _, m := range []mixed{{seed: seed}, {seed: seed, synchronous: true}} {
			if calls, executed := compareSkipped(t, model, m); executed < calls {
				skipped++
			}
		}
	}
	if skipped < tier.Number(15, 60) {
		t.Errorf("only in %d of %d replays are loops skipped", skipped, tier.Number(34, 132))
	}
}

// TestSkipDeadlock checks that a replay that skips loops ends with the same error.
func TestSkipDeadlock(t *testing.T) {
	defer replay.SetRound(8)()
	model := modelOf(t, 3, func(rank int, r *testtrace.Recording) {
		for range 200 {
			send(r, "MPI_Isend", (rank+1)%3, 7, "request", 0)
			receive(r, "MPI_Recv", (rank+2)%3, 7)
			r.MPI(1, "MPI_Wait", "request", 0)
			r.MPI(1, "MPI_Barrier", "comm", world)
		}
		if rank > 0 {
			r.MPI(1, "MPI_Barrier", "comm", world)
		}
		receive(r, "MPI_Recv", (rank+1)%3, 8)
	})
	executed := uint64(0)
	var got, want *replay.DeadlockError
	_, err := replay.Run(ctx, model, counted{mixed{seed: 1}, &executed})
	if !errors.As(err, &got) || executed > 400 {
		t.Fatalf("%v, %d calls", err, executed)
	}
	if _, err := replay.Run(ctx, model, plain{mixed{seed: 1}}); !errors.As(err, &want) {
		t.Fatal(err)
	}
	if got.Error() != want.Error() || got.At != want.At || len(got.Waiting) != len(want.Waiting) {
		t.Fatalf("%v at %v, without skipping %v at %v", got, got.At, want, want.At)
	}
	for i, w := range got.Waiting {
		v := want.Waiting[i]
		if w.Since != v.Since || w.Call.Position != v.Call.Position || w.Waits[0].Instance != v.Waits[0].Instance {
			t.Errorf("%+v, without skipping %+v", w, v)
		}
	}
}

// newLoops draws a program of loops and of steps between them.
func newLoops(intn func(n int) int) *program {
	p := emptyProgram(intn, 1+intn(8)/7)
	for range 1 + intn(3) {
		switch intn(4) {
		case 0:
			p.step()
		case 1:
			p.carried(1 + intn(200))
		default:
			p.loop(1)
		}
	}
	p.waitForAll()
	return p
}

// compareSkipped checks that a replay that skips loops comes to the same as one that does not, and
// returns how many calls there are, and were executed.
func compareSkipped(t tester, model *semantics.Model, m replay.Machine) (calls, executed uint64) {
	t.Helper()
	got, err := replay.Run(ctx, model, counted{m, &executed})
	want, wantErr := replay.Run(ctx, model, plain{m})
	if !reflect.DeepEqual(got, want) || err != nil || wantErr != nil {
		t.Fatalf("%+v: %+v, %v; without skipping %+v, %v", m, got, err, want, wantErr)
	}
	return want.Calls, executed
}

// TestSkipTold compares the ends of some calls, and what the machine has added up by then.
func TestSkipTold(t *testing.T) {
	defer replay.SetRound(8)()
	rapid.Check(t, func(t *rapid.T) {
		trace, _ := newLoops(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }).trace(t)
		compareTold(t, open(t, trace), rapid.Uint64().Draw(t, "seed"))
	})
}

// TestSkipToldLoops does so on programs that are the same every time, and checks that loops are skipped.
func TestSkipToldLoops(t *testing.T) {
	defer replay.SetRound(8)()
	skipped := 0
	seeds := tier.Number(20, 60)
	for seed := range uint64(seeds) {
		trace, _ := newLoops(seeded(seed)).trace(t)
		if calls, executed := compareTold(t, open(t, trace), seed); executed < calls {
			skipped++
		}
	}
	if skipped < seeds/3 {
		t.Errorf("only in %d of %d replays are loops skipped", skipped, seeds)
	}
}

// A told is a call that ended, and what the machine has added up of its rank.
type told struct {
	position        uint64
	terminal        uint32
	start, end, sum replay.Time
}

// An adding is a machine that adds up what every other terminal computes.
type adding struct {
	replay.Machine
	steady bool
	calls  uint64
	sums   map[int]*replay.Time
}

func (a *adding) Steady() bool { return a.steady }

func (a *adding) sumOf(r *semantics.Rank) *replay.Time {
	a.sums[r.Number()] = new(replay.Time)
	return a.sums[r.Number()]
}

func (a *adding) Compute(c *replay.Call) (before, within replay.Time) {
	a.calls++
	before, within = a.Machine.Compute(c)
	if c.Terminal%2 == 1 {
		*a.sums[c.Rank.Number()] += before
	}
	return before, within
}

// compareTold checks that a replay tells the same of some calls whether it skips loops or not, and returns
// how many calls there are, and were executed.
func compareTold(t tester, model *semantics.Model, seed uint64) (calls, executed uint64) {
	t.Helper()
	m := mixed{seed: seed, synchronous: seed%2 == 0}
	at := func(r *semantics.Rank) (positions []uint64) {
		for i := range m.hash(uint64(r.Number()), 1) % 4 {
			positions = append(positions, m.hash(uint64(r.Number()), i)%(r.Len()+2)) // some are none
		}
		slices.Sort(positions)
		return positions
	}
	var lists [2]map[int][]told
	for i := range lists {
		lists[i] = make(map[int][]told)
		a := &adding{Machine: m, steady: i == 1, sums: make(map[int]*replay.Time)}
		o := replay.Options{EndedAt: at, Sum: a.sumOf, Ended: func(c *replay.Call, start, end replay.Time) {
			rank := c.Rank.Number()
			lists[i][rank] = append(lists[i][rank], told{c.Position, c.Terminal, start, end, *a.sums[rank]})
		}}
		result, err := replay.RunWith(ctx, model, a, o)
		if err != nil {
			t.Fatal(err)
		}
		calls, executed = result.Calls, a.calls
		for _, r := range result.Ranks {
			lists[i][r.Rank] = append(lists[i][r.Rank], told{end: r.End, sum: *a.sums[r.Rank]})
		}
	}
	for rank, want := range lists[0] {
		if got := lists[1][rank]; !slices.Equal(got, want) {
			t.Fatalf("rank %d, skipped: %+v, not %+v", rank, got, want)
		}
	}
	return calls, executed
}

// TestSkipTooLong replays a loop that takes longer than a replay can: that is found out at once.
func TestSkipTooLong(t *testing.T) {
	p := programs.Stencil2D(2, 2, 1e14).Timed()
	trace := testtrace.Write(t, p.Run(), p.Parts())
	recorded, err := replay.NewRecorded(trace)
	if err != nil {
		t.Fatal(err)
	}
	stopping, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	if _, err := replay.Run(stopping, open(t, trace), recorded); !errors.Is(err, replay.ErrTooLong) {
		t.Error(err)
	}
}

// paced is a steady machine on which ranks compute for so long before calls of a function.
type paced struct {
	replay.Instant
	before map[string]replay.Time
}

func (paced) Steady() bool { return true }

func (p paced) Compute(c *replay.Call) (before, within replay.Time) {
	return p.before[c.Rank.Call(c.Terminal).Function.Name], 0
}

// TestSkipCatchUp compares replays of a chain of ranks, the first of which is slower than the others, but
// began earlier: it has one after the other wait for it, later in the loop, so that a jump over the rest of
// the loop goes too far.
func TestSkipCatchUp(t *testing.T) {
	defer replay.SetRound(8)()
	const rounds, ranks = 2000, 40
	model := modelOf(t, ranks, func(rank int, r *testtrace.Recording) {
		name := "MPI_Bsend"
		if rank > 0 {
			r.MPI(1, "MPI_Barrier", "comm", "MPI_COMM_SELF")
			name = "MPI_Send"
		}
		for i := range rounds + 1 {
			if rank > 0 && i > 0 {
				receive(r, "MPI_Recv", rank-1, 0)
			}
			if rank < ranks-1 {
				send(r, name, rank+1, 0)
			}
		}
		if rank > 0 {
			receive(r, "MPI_Recv", rank-1, 0)
		}
	})
	for _, behind := range []replay.Time{1, 50, 800, 1800, rounds - 60} { // in rounds
		m := paced{before: map[string]replay.Time{"MPI_Bsend": 10_000, "MPI_Recv": 7_000,
			"MPI_Barrier": behind*3_000 + 1}}
		if calls, executed := compareSkipped(t, model, m); executed == calls {
			t.Errorf("%d rounds behind: all %d calls are executed", behind, calls)
		}
	}
}
