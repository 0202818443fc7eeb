package reprise

import (
	"fmt"
	"io"

	"github.com/reprise-trace/reprise/sequitur"
)

// A CallReader reads the calls of all ranks of a trace. It must not be used by
// two goroutines at once.
type CallReader struct {
	trace *Trace
	order *sequitur.Walker // nil: rank by rank
	turn  sequitur.Run     // the rank whose calls are next, and how many of them
	ranks map[int]*rankReader
	err   error
}

// A rankReader is the place of a CallReader in one rank.
type rankReader struct {
	calls callCache
	walk  *sequitur.Walker
	run   sequitur.Run // what is left of the run of calls at the place
}

// Calls returns a CallReader of the calls of all ranks in the order in which
// they stood in the source of the trace, beginning at a position in that order.
// Finding the position costs what the order and the grammars of the ranks
// before it cost, not what their calls do.
func (t *Trace) Calls(position uint64) *CallReader {
	r := &CallReader{trace: t, ranks: make(map[int]*rankReader)}
	if g := t.Run().Interleaving; g != nil {
		r.startInterleaved(g, position)
	} else {
		r.start(position)
	}
	return r
}

// start finds a position in the order rank by rank.
func (r *CallReader) start(position uint64) {
	for rank := range r.trace.Active() {
		if !r.enter(rank, position) {
			return
		}
		n := r.ranks[rank].calls.rank.Len()
		if position < n {
			r.turn = sequitur.Run{Symbol: sequitur.Symbol(rank), Count: n - position}
			return
		}
		position -= n
		delete(r.ranks, rank)
	}
	r.err = io.EOF
}

// startInterleaved finds a position in the order of an interleaving.
func (r *CallReader) startInterleaved(g *sequitur.Grammar, position uint64) {
	before := make(map[int]uint64) // calls of each rank before position
	for at, turn := range g.Runs() {
		if at >= position {
			break
		}
		before[int(turn.Symbol)] += min(turn.Count, position-at)
	}
	for rank := range g.Occurrences() {
		if !r.enter(int(rank), before[int(rank)]) {
			return
		}
	}
	r.order = g.Walk(position)
}

// enter reads a rank and places r at a position in it.
func (r *CallReader) enter(rank int, position uint64) bool {
	read, err := r.trace.Rank(rank)
	if err != nil {
		r.err = err
		return false
	}
	r.ranks[rank] = &rankReader{calls: callCache{rank: read}, walk: read.Grammar().Walk(position)}
	return true
}

// Read returns the next call, or io.EOF after the last. Errors stick.
func (r *CallReader) Read() (Call, error) {
	if r.err == nil && r.turn.Count == 0 {
		r.nextTurn()
	}
	if r.err != nil {
		return Call{}, r.err
	}
	r.turn.Count--
	at := r.ranks[int(r.turn.Symbol)]
	if at.run.Count == 0 {
		at.run = at.walk.Next()
	}
	if at.run.Count == 0 {
		r.err = fmt.Errorf("%w: the interleaving has more calls of rank %d than the rank has", ErrCorrupt, r.turn.Symbol)
		return Call{}, r.err
	}
	at.run.Count--
	return at.calls.call(uint32(at.run.Symbol)), nil
}

// nextTurn finds the rank whose calls are next.
func (r *CallReader) nextTurn() {
	if r.order == nil {
		r.nextRank()
		return
	}
	if r.turn = r.order.Next(); r.turn.Count > 0 {
		return
	}
	r.err = io.EOF
	for rank := range r.trace.Active() {
		if at, ok := r.ranks[rank]; !ok || at.run.Count > 0 || at.walk.Next().Count > 0 {
			r.err = fmt.Errorf("%w: rank %d has more calls than the interleaving has of it", ErrCorrupt, rank)
			return
		}
	}
}

// nextRank goes on to the next rank in the order rank by rank.
func (r *CallReader) nextRank() {
	rank := int(r.turn.Symbol)
	delete(r.ranks, rank)
	rank, ok := r.trace.parts.Active(rank + 1)
	if !ok {
		r.err = io.EOF
		return
	}
	if r.enter(rank, 0) {
		r.turn = sequitur.Run{Symbol: sequitur.Symbol(rank), Count: r.ranks[rank].calls.rank.Len()}
	}
}
