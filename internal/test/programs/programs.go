// Package programs makes parallel programs for tests and benchmarks: what each
// rank of a run would have recorded, made on the fly, the same each time, and in
// time that does not grow with the number of ranks or of the rounds of a loop.
//
// A [Program] has as many processes as is asked for, which call functions of MPI
// with all of their arguments. Handles are symbolic: communicator 0 is the
// world, requests have the least number that is free, memory segments have one
// for each buffer. Statuses are ignored, as MPI_STATUSES_IGNORE does. Each
// message that a process receives is one that another sends, and each program
// runs to its end.
//
// The regular programs are [Stencil2D], [Stencil3D], [Halo26], [Gather], [Multipartition],
// [Pentadiagonal] and [TripCounts]. The others draw something at random, from a seed, and
// [Program.Entropy] says how much: a trace cannot be smaller.
package programs

import (
	"math"
	"sync"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// A Program is a parallel program, one text for all ranks.
type Program struct {
	Name  string
	Ranks int

	// Part makes the part of a rank, 0 ≤ rank < Ranks. Several goroutines may
	// call it at once. Parts share what is immutable: declarations of functions,
	// and grammars if they are equal.
	Part func(rank int) merge.Part

	// Entropy is the information in what is drawn at random, in bits. It is 0 for
	// a program that is the same whatever the seed.
	Entropy float64
}

// newProgram returns a program in which each rank makes the given calls, between
// MPI_Init and MPI_Finalize.
func newProgram(name string, ranks int, calls func(r *recorder, rank int)) Program {
	var known grammars
	pool := sync.Pool{New: func() any { return &recorder{known: &known} }}
	part := func(rank int) merge.Part {
		r := pool.Get().(*recorder)
		defer pool.Put(r)
		r.begin(rank, ranks)
		calls(r, rank)
		return r.finish(rank)
	}
	return Program{Name: name, Ranks: ranks, Part: part}
}

// Run describes the run of p.
func (p Program) Run() merge.Run { return merge.Run{Ranks: p.Ranks, Source: p.Name, Names: names} }

// Parts makes the parts of all ranks.
func (p Program) Parts() []merge.Part {
	parts := make([]merge.Part, p.Ranks)
	for rank := range parts {
		parts[rank] = p.Part(rank)
	}
	return parts
}

// All returns one program of each kind, of about so many ranks, at least 9: the
// nearest number below that the kind can have.
func All(ranks int) []Program {
	square, cube := int(math.Sqrt(float64(ranks))), int(math.Cbrt(float64(ranks)))
	return []Program{
		Stencil2D(square, square, 1000),
		Stencil3D(cube, cube, cube, 1000),
		Gather(Binomial, ranks, 10),
		Gather(Halving, ranks, 10),
		Gather(Heap, ranks, 10),
		Multipartition(square, 1000),
		TaggedMultipartition(square, 1000),
		Pentadiagonal(square, 13*square-1, 1000),
		PermutationSend(ranks, 1000, 1),
		Permutation(ranks, 1000, 1),
		RandomCounts(ranks, 100, 1),
		RandomPartners(ranks, 100, 1),
		RandomAlltoallv(ranks, 10, 1),
		IntegerSort(ranks, 100, 10, 1),
		Refinement(ranks, 20, 50, 1),
		TripCounts(ranks, 50),
		RandomTrips(ranks, 1),
		Halo26(cube, 1000),
		Polling(ranks, 10, 1),
	}
}

// Timed returns p with the statistics of [Times].
func (p Program) Timed() Program {
	untimed := p.Part
	p.Part = func(rank int) merge.Part {
		part := untimed(rank)
		part.Times = Times(rank, part.Grammar)
		return part
	}
	return p
}

// Times returns statistics of the times of the calls of a rank, which are made up: half of the calls of a
// signature take twice as long as the other half, some microseconds that depend on the
// signature and the rank, and come as long after the call before. They take no time that
// grows with the number of calls.
func Times(rank int, calls *sequitur.Grammar) *merge.Times {
	times := new(merge.Times)
	first := true
	for s, n := range calls.Occurrences() {
		base := 1000*(1+int64(s)%7) + int64(rank)%97
		times.Durations.Statistics = append(times.Durations.Statistics, values(rank, base, n))
		gaps := n
		if first { // as nothing is before it
			gaps--
		}
		first = false
		times.Gaps.Statistics = append(times.Gaps.Statistics, values(rank, base/2, gaps))
	}
	return times
}

// values returns the statistics of n values of a rank, half of which are least, and half
// twice that.
func values(rank int, least int64, n uint64) timing.Statistics {
	var all, power timing.Statistics // power is of 1, 2, 4, … pairs
	power.Add(uint32(rank), least)
	power.Add(uint32(rank), 2*least)
	for pairs := n / 2; pairs > 0; pairs /= 2 {
		if pairs%2 == 1 {
			all.Merge(&power)
		}
		same := power
		power.Merge(&same)
	}
	if n%2 == 1 {
		all.Add(uint32(rank), least)
	}
	return all
}

// A recorder records the calls of one rank after another. Unlike that of package
// tracer it is told where loops are.
type recorder struct {
	table    *cst.Table
	requests int64  // open ones, numbered from 0
	rounds   uint64 // of the loop that is recorded, 1 outside of loops

	// The calls as loops, one after the other: body i is runs[blocks[i−1].end:
	// blocks[i].end].
	runs   []sequitur.Run
	blocks []block

	builder sequitur.Builder
	key     []byte
	known   *grammars
}

type block struct {
	end    int
	rounds uint64
}

// declared has the functions that all programs declare, and nothing else.
var declared = func() *cst.Table {
	t := new(cst.Table)
	for _, f := range functions[:mpiFinalize+1] {
		t.Declare(f)
	}
	return t
}()

// begin begins the part of a rank.
func (r *recorder) begin(rank, ranks int) {
	r.table, _, _ = cst.Merge(declared, new(cst.Table)) // a copy that shares the functions
	r.requests, r.rounds = 0, 1
	r.runs, r.blocks = r.runs[:0], r.blocks[:0]
	r.call(mpiInit)
	r.call(mpiCommSize, world, cst.Int(int64(ranks)))
	r.call(mpiCommRank, world, cst.Rank(int64(rank)))
}

func (r *recorder) call(fn int, args ...cst.Value) {
	for next := len(r.table.Functions()); next <= fn; next++ {
		r.table.Declare(functions[next])
	}
	s := r.table.InternRun(fn, r.rounds, args...)
	begin := 0
	if n := len(r.blocks); n > 0 {
		begin = r.blocks[n-1].end
	}
	if last := len(r.runs) - 1; last >= begin && r.runs[last].Symbol == s {
		r.runs[last].Count++
		return
	}
	r.runs = append(r.runs, sequitur.Run{Symbol: s, Count: 1})
}

// loop records the calls that body makes as a loop of so many rounds. Loops do
// not nest.
func (r *recorder) loop(rounds uint64, body func()) {
	if rounds == 0 {
		return
	}
	r.close()
	r.rounds = rounds
	body()
	r.close()
	r.rounds = 1
}

// close ends a block, unless it is empty.
func (r *recorder) close() {
	n := len(r.blocks)
	if n == 0 && len(r.runs) > 0 || n > 0 && len(r.runs) > r.blocks[n-1].end {
		r.blocks = append(r.blocks, block{len(r.runs), r.rounds})
	}
}

// finish ends the part.
func (r *recorder) finish(rank int) merge.Part {
	r.call(mpiFinalize)
	r.close()
	return merge.Part{Rank: rank, Table: r.table, Grammar: r.grammar()}
}

// grammar returns the grammar of the calls, the one that was made before if
// there is one.
func (r *recorder) grammar() *sequitur.Grammar {
	r.key = r.key[:0]
	begin := 0
	for _, b := range r.blocks {
		r.key = wire.AppendUvarint(r.key, uint64(b.end-begin))
		r.key = wire.AppendUvarint(r.key, b.rounds)
		for _, run := range r.runs[begin:b.end] {
			r.key = wire.AppendUvarint(r.key, uint64(run.Symbol))
			r.key = wire.AppendUvarint(r.key, run.Count)
		}
		begin = b.end
	}
	if g := r.known.lookup(r.key); g != nil {
		return g
	}
	begin = 0
	for _, b := range r.blocks {
		r.builder.AppendLoop(r.runs[begin:b.end], b.rounds)
		begin = b.end
	}
	g := r.builder.Finish()
	r.known.add(r.key, g)
	return g
}

// maxKnown bounds the grammars that are kept: a program in which every rank has
// its own gains nothing from more.
const maxKnown = 1024

// Grammars keeps the grammars of a program by what they were made from. The
// zero grammars is empty.
type grammars struct {
	mu   sync.RWMutex
	made map[string]*sequitur.Grammar
}

func (k *grammars) lookup(key []byte) *sequitur.Grammar {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.made[string(key)]
}

func (k *grammars) add(key []byte, g *sequitur.Grammar) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.made == nil {
		k.made = make(map[string]*sequitur.Grammar)
	}
	if len(k.made) < maxKnown {
		k.made[string(key)] = g
	}
}
