package testtrace

import (
	"math/rand/v2"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/tracer"
)

// Nearly returns the parts of a program whose ranks have nearly the same control flow, a program
// for each seed: loops whose trip counts depend on the rank or on chance, messages that some ranks
// or iterations leave out, tests that fail some times before one succeeds, and, of some programs, a
// second thread that polls. Every message is received. Times say what is kept of them,
// nothing if they are empty.
func Nearly(t TB, seed uint64, ranks int, times Times) (merge.Run, []merge.Part) {
	t.Helper()
	p := nearly{seed: seed, ranks: ranks}
	draw := rand.New(rand.NewPCG(seed, 0))
	p.rounds, p.threads = 2+draw.IntN(6), 1+draw.IntN(2)
	for range 1 + draw.IntN(4) {
		p.steps = append(p.steps, nearlyStep{
			distance: draw.IntN(4), often: 1 + draw.IntN(4), fails: draw.IntN(6), count: 1 + draw.IntN(3),
			trips: 1 + draw.IntN(5), slope: draw.IntN(3), spread: 1 + draw.IntN(4),
		})
	}
	var parts []merge.Part
	for rank := range ranks {
		var threads []merge.Part
		for thread := range p.threads {
			r := nearlyRank{
				nearly: &p, recorder: newRecorder(t, times), timed: times != "", rank: rank, thread: thread,
				chance: rand.New(rand.NewPCG(seed, uint64(1+rank+thread*ranks))),
				now:    int64(1e9 + 1000*rank + 100*thread),
			}
			if thread == 0 {
				r.run()
			} else {
				r.poll()
			}
			threads = append(threads, r.recorder.Finish(rank))
		}
		part, err := merge.Join(rank, new(merge.ThreadOrder), threads...)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
	return merge.Run{Ranks: ranks, Source: "nearly"}, parts
}

// A nearly is a program: rounds of the same steps.
type nearly struct {
	seed                   uint64
	ranks, rounds, threads int
	steps                  []nearlyStep
}

// A nearlyStep is a message to the rank at a distance, in one of often rounds on average, or, if the
// distance is 0, a loop of messages to itself.
type nearlyStep struct {
	distance, often int
	fails           int // tests before one succeeds, less than that
	count           int
	trips           int // of the loop on rank 0
	slope, spread   int // what each rank has more, and less than that at random
}

// sends reports whether a rank sends a message in a step of a round, which the receiver knows, too.
func (p *nearly) sends(rank, round, step int) bool {
	number := (round*len(p.steps)+step)*p.ranks + rank
	return rand.New(rand.NewPCG(p.seed, 1<<32+uint64(number))).IntN(p.steps[step].often) == 0
}

// A nearlyRank is a thread of a rank that runs.
type nearlyRank struct {
	*nearly
	recorder     *tracer.Recorder
	timed        bool
	rank, thread int
	chance       *rand.Rand
	now          int64
}

// call records a call with arguments as [Recording.MPI] takes them, and the thread before them.
func (r *nearlyRank) call(name string, pairs ...any) {
	f, args := mpiCall(name, pairs...)
	f.Params = append([]cst.Param{{Name: "thread", Type: cst.Type{Kind: cst.KindInt}}}, f.Params...)
	args = append([]cst.Value{cst.Int(int64(r.thread))}, args...)
	if !r.timed {
		r.recorder.Call(r.recorder.Declare(f), args...)
		return
	}
	duration := 10 + r.chance.Int64N(50)
	r.recorder.CallAt(r.recorder.Declare(f), r.now, duration, args...)
	r.now += duration + 5
}

func (r *nearlyRank) run() {
	const world = "MPI_COMM_WORLD"
	r.call("MPI_Init")
	r.call("MPI_Comm_rank", "comm", world, "rank", r.rank)
	for round := range r.rounds {
		for i, s := range r.steps {
			if s.distance == 0 {
				for range s.trips + s.slope*r.rank + r.chance.IntN(s.spread) {
					r.exchange(s, i, true, r.rank, true, r.rank)
				}
				continue
			}
			to, from := (r.rank+s.distance)%r.ranks, (r.rank+s.distance*(r.ranks-1))%r.ranks
			r.exchange(s, i, r.sends(r.rank, round, i), to, r.sends(from, round, i), from)
		}
		r.call("MPI_Allreduce", "count", 1, "datatype", "MPI_DOUBLE", "op", "MPI_SUM", "comm", world)
	}
	r.call("MPI_Finalize")
}

// exchange sends and receives a message, each if that is said, and waits until both are complete.
func (r *nearlyRank) exchange(s nearlyStep, tag int, sends bool, to int, receives bool, from int) {
	const world = "MPI_COMM_WORLD"
	if receives {
		r.call("MPI_Irecv", "count", s.count, "datatype", "MPI_INT", "source", from, "tag", tag, "comm",
			world, "request", 0)
	}
	if sends {
		r.call("MPI_Isend", "count", s.count, "datatype", "MPI_INT", "dest", to, "tag", tag, "comm", world,
			"request", 1)
		r.call("MPI_Wait", "request", 1)
	}
	if receives {
		if s.fails > 0 {
			for range r.chance.IntN(s.fails) {
				r.call("MPI_Test", "request", 0, "flag", 0)
			}
		}
		r.call("MPI_Test", "request", 0, "flag", 1)
	}
}

// poll is what a thread does besides: it looks for messages that nobody sends.
func (r *nearlyRank) poll() {
	for range r.rounds {
		for range r.chance.IntN(5) {
			r.call("MPI_Iprobe", "source", "MPI_ANY_SOURCE", "tag", 99, "comm", "MPI_COMM_WORLD", "flag", 0)
		}
		r.call("MPI_Get_count", "count", r.chance.IntN(3))
	}
}
