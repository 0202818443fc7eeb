package simgrid

import (
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

// Source is the source that [Record] names for a run.
const Source = "SimGrid TI"

// A Recording is what was read of a trace: the run and, until they are taken, the calls of each rank.
type Recording struct {
	Run   merge.Run
	ranks []*rankRecorder // ascending
	lost  bool            // the order of the ranks
	bound int64           // of the bytes of the trace, 0 if there is none
}

// Len returns the number of ranks that have lines.
func (r *Recording) Len() int { return len(r.ranks) }

// Part returns the part of the i-th of these, in the order of their numbers. It may be asked for once; for
// those of different ranks, by several goroutines at once.
func (r *Recording) Part(i int) merge.Part {
	need.Index(i, len(r.ranks), "simgrid: part")
	need.That(r.ranks[i] != nil, "simgrid: a part that was taken")
	p := r.ranks[i].finish(r.bound)
	r.ranks[i] = nil
	if r.lost && p.Bounded == nil {
		p.Bounded = new(format.Bounded)
	}
	if r.lost {
		p.Bounded.Unordered = true
	}
	return p
}

// Record reads r to its end and returns the run and the parts of its ranks, for
// [merge.Write]. It is [ReadRanks] for who wants all parts at once.
func Record(r *Reader, progress func() error) (merge.Run, []merge.Part, error) {
	recording, err := ReadRanks(r, progress)
	if err != nil {
		return merge.Run{}, nil, err
	}
	parts := make([]merge.Part, recording.Len())
	for i := range parts {
		parts[i] = recording.Part(i)
	}
	return recording.Run, parts, nil
}

// ReadRanks reads r to its end, and records the lines of several ranks at once while it reads the next. What it
// holds grows with the structure found, not with the number of calls; with [Options].Bounded, it does not grow
// with either. If it is more than [Options].Memory allows, it returns an error that says how much. The run has
// the ranks up to the last that has lines, or as many as [Reader.Ranks] says. ReadRanks calls progress, unless
// that is nil, after every few thousand calls and stops with its error. An error of r is returned as it is.
func ReadRanks(r *Reader, progress func() error) (*Recording, error) {
	need.That(r != nil, "simgrid: no reader")
	w := newRecorders(r.options.Bounded)
	batches := [2]*batch{newBatch(len(w.shards)), newBatch(len(w.shards))}
	for i := 0; ; i++ {
		b := batches[i%2]
		err := r.readBatch(b)
		if err == nil && progress != nil {
			err = progress()
		}
		w.working.Wait() // for the batch before
		if err == nil || err == io.EOF {
			if large := w.check(r); large != nil {
				return nil, large
			}
			w.start(b)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	w.working.Wait()
	if err := w.check(r); err != nil {
		return nil, err
	}
	return w.finish(r), nil
}

// A batch is the calls of some lines, one after the other.
type batch struct {
	calls [][]Call          // by shard
	ranks []sequitur.Symbol // of all, in their order
}

// The most calls of a batch, and the most bytes of their arguments that no other calls have.
const (
	callsPerBatch = 4096
	bytesPerBatch = 8 << 20
)

func newBatch(shards int) *batch {
	b := &batch{calls: make([][]Call, shards), ranks: make([]sequitur.Symbol, 0, callsPerBatch)}
	for i := range b.calls {
		b.calls[i] = make([]Call, 0, callsPerBatch/shards)
	}
	return b
}

// readBatch reads the next batch. Its error is that of r: the calls before it are in b.
func (r *Reader) readBatch(b *batch) error {
	for i := range b.calls {
		b.calls[i] = b.calls[i][:0]
	}
	b.ranks = b.ranks[:0]
	last, to := -1, 0
	for bytes := uint64(0); len(b.ranks) < callsPerBatch && bytes < bytesPerBatch; {
		c, err := r.Read()
		if err != nil {
			return err
		}
		if c.ID == 0 {
			bytes += sizeOf(c.Args)
		}
		b.ranks = append(b.ranks, sequitur.Symbol(c.Rank))
		if c.Rank != last {
			last, to = c.Rank, c.Rank%len(b.calls)
		}
		b.calls[to] = append(b.calls[to], c)
	}
	return nil
}

// recorders record batches, each shard its ranks.
type recorders struct {
	bound   int64 // of the bytes of the trace, 0 if there is none
	shards  []shard
	order   rankOrder
	working sync.WaitGroup
}

// A shard has the ranks of one remainder. One goroutine at a time uses it.
type shard struct {
	ranks map[int]*rankRecorder
	held  uint64 // bytes
}

func newRecorders(bound int64) *recorders {
	w := &recorders{bound: bound, order: rankOrder{bound: bound}}
	for range max(1, runtime.GOMAXPROCS(0)-1) { // one is for who reads
		w.shards = append(w.shards, shard{ranks: make(map[int]*rankRecorder)})
	}
	return w
}

// start begins to record a batch.
func (w *recorders) start(b *batch) {
	for i := range w.shards {
		if len(b.calls[i]) > 0 {
			w.working.Go(func() { w.shards[i].record(b.calls[i], w.bound) })
		}
	}
	w.working.Go(func() {
		for _, rank := range b.ranks {
			w.order.append(rank)
		}
	})
}

func (s *shard) record(calls []Call, bound int64) {
	var last *rankRecorder
	for i := range calls {
		c := &calls[i]
		if last == nil || c.Rank != last.rank {
			if last = s.ranks[c.Rank]; last == nil {
				last = &rankRecorder{rank: c.Rank}
				s.ranks[c.Rank] = last
				s.held += rankMemory
			}
		}
		s.held += last.call(c, bound)
	}
}

// check returns an error if what is held of the batches so far is more than may be.
func (w *recorders) check(r *Reader) error {
	ranks, held := 0, w.order.held()
	for i := range w.shards {
		ranks, held = ranks+len(w.shards[i].ranks), held+w.shards[i].held
	}
	return r.checkMemory(ranks, held)
}

// finish returns what was recorded.
func (w *recorders) finish(r *Reader) *Recording {
	n := 0
	for i := range w.shards {
		n += len(w.shards[i].ranks)
	}
	recording := &Recording{lost: w.order.lost, bound: w.bound, ranks: make([]*rankRecorder, 0, n)}
	for i := range w.shards {
		recording.ranks = slices.AppendSeq(recording.ranks, maps.Values(w.shards[i].ranks))
	}
	slices.SortFunc(recording.ranks, func(a, b *rankRecorder) int { return a.rank - b.rank })
	recording.Run = merge.Run{Ranks: r.Ranks(), Source: Source, Interleaving: w.order.finish()}
	if n > 0 {
		recording.Run.Ranks = max(recording.Run.Ranks, recording.ranks[n-1].rank+1)
	}
	return recording
}

// A rankOrder has the rank of each line, unless that is more than a trace with a bound can have.
type rankOrder struct {
	ranks sequitur.Builder
	bound int64 // of the bytes of the trace, 0 if there is none
	lost  bool
}

func (o *rankOrder) append(rank sequitur.Symbol) {
	if o.lost {
		return
	}
	o.ranks.Append(rank)
	const perByte, least = 8, 1 << 16 // symbols; as a [tracer.Recorder] has for its calls
	if n := o.ranks.Symbols(); o.bound > 0 && n > least && int64(n)/perByte > o.bound {
		*o = rankOrder{lost: true}
	}
}

// held returns how many bytes the order takes.
func (o *rankOrder) held() uint64 { return symbolMemory * uint64(o.ranks.Symbols()) }

// finish returns the order, nil if it was lost.
func (o *rankOrder) finish() *sequitur.Grammar {
	if o.lost {
		return nil
	}
	return o.ranks.Finish()
}
