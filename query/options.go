package query

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/reprise-trace/reprise/internal/memory"
	"github.com/reprise-trace/reprise/internal/parallel"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// Options says what a query is about and how it is answered. The zero Options is
// about all ranks of a trace, of which each must be readable.
type Options struct {
	// Ranks are those the query is about. Nil means all; the empty set means none.
	Ranks *rankenc.Set

	// Region is the part of each rank's calls that the query is about. Nil means all. Statistics are of the whole run:
	// [OpenImbalance] needs the times of every call for a part of it, and [Times.Activity] estimates. [OpenProfile],
	// [OpenTimedProfile] and [OpenRankProfile], [OpenMatch] and what is not about calls or times do without it.
	Region *Region

	// Series asks [OpenImbalance], [OpenTimedProfile] and [OpenRankProfile] for the times of every call, of
	// the ranks that have them, however many calls that are. Without it they read these of [MaxUnasked] calls
	// at most, and only where they are nearer to the truth than what else there is. [Times.Activity] reads them
	// in any case, and fails with it if there are none.
	Series bool

	// Functions asks [OpenProfile] for functions alone: it counts no signatures, so that it reads no rank.
	Functions bool

	// Workers is the number of goroutines. Zero means runtime.GOMAXPROCS(0).
	Workers int

	// Progress, unless it is nil, is called with the number of ranks that are done,
	// by one goroutine at a time.
	Progress func(ranks int)
}

// chosen reports whether a query is about a rank.
func (o *Options) chosen(rank int) bool { return o.Ranks == nil || o.Ranks.Contains(rank) }

// spans returns the calls of a rank that a query is about.
func (o *Options) spans(r *trace.Rank) []trace.Span {
	if o.Region == nil {
		return []trace.Span{{First: 0, End: r.Len()}}
	}
	return o.Region.Spans(r.Number())
}

// operations returns those of the calls of a rank that a query is about.
func (o *Options) operations(r *semantics.Rank) iter.Seq[semantics.Occurrence] {
	if o.Region == nil {
		return r.All()
	}
	return r.AllWithin(o.spans(r.Rank))
}

// among returns the ranks of a set that a query is about.
func (o *Options) among(set rankenc.Set) rankenc.Set {
	if o.Ranks == nil {
		return set
	}
	return set.Intersection(*o.Ranks)
}

// What queries hold for a rank, in bytes: numbers alone, those of its messages, or what it does.
const (
	fewPerRank      = 1 << 7
	messagesPerRank = 1 << 8
	rankMemory      = 1 << 10
)

// ranks returns the ranks of a trace that made calls and that the query is about, in
// ascending order. Of each of them size bytes are to be held: an error is a [*format.MemoryError].
func (o *Options) ranks(t *trace.Trace, size uint64) ([]int, error) {
	set := o.among(t.RankSet())
	if err := memory.Check(t, "ranks", uint64(set.Len()), size); err != nil {
		return nil, err
	}
	list := make([]int, 0, set.Len())
	for _, rank := range set.All() {
		list = append(list, rank)
	}
	return list, nil
}

// A tally counts what a query holds besides, of ranks of which several are looked at at once.
type tally struct {
	trace      *trace.Trace
	what       string
	size       uint64 // of one, in bytes, with what who asks makes of it
	ranks      int    // that are looked at
	held, done atomic.Uint64
}

// add counts what is held of another rank. The error, a [*format.MemoryError], takes the ranks that are left to be
// like those before.
func (c *tally) add(n int) error {
	held, done := c.held.Add(uint64(n)), c.done.Add(1)
	err := memory.Check(c.trace, c.what, held, c.size)
	if err == nil {
		return nil
	}
	return memory.Check(c.trace, c.what, max(held, wire.MulSat(held, uint64(c.ranks))/done), c.size)
}

// each calls do for the numbers below n, several at once, and returns the first error
// by number, or the cause of the context when that is done.
func (o *Options) each(ctx context.Context, n int, do func(i int) error) error {
	return parallel.Each(ctx, o.Workers, n, do)
}

// A progress counts ranks that are done.
type progress struct {
	mu   sync.Mutex
	done int
	tell func(int)
}

func (p *progress) add(ranks int) {
	if p.tell == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += ranks
	p.tell(p.done)
}
