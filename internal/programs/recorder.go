package programs

import (
	"sync"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

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

// declared has the functions and nothing else.
var declared = func() *cst.Table {
	t := new(cst.Table)
	for _, f := range functions {
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
