package layout

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/reprise-trace/reprise/internal/blockindex"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/timing"
)

// Ranks take much the same time for the same calls, and a short series is half of what has to be learned of it. So
// the short series of a trace that have its most frequent codec begin with what was learned from the first of them,
// its trainers, in order. The series number k, from 0 on, begins with what 2^⌊log₂ k⌋ of them taught, or all: so there
// are few different priors, and many series are coded at once.

// A series is short if it has one block of at most so many calls.
const maxShortCalls = 1 << 14

// There are at most maxTrainers trainers, of at most maxTrained calls together: to read a series takes reading them.
const (
	maxTrainers = 256
	maxTrained  = 1 << 16
)

// Sharing says which series of a trace have priors. The zero Sharing is of none.
type Sharing struct {
	Codec    int // its number
	Trainers int
}

// isShort reports whether a series can have a prior.
func isShort(x *blockindex.Index) bool { return x.Blocks() == 1 && x.Len() <= maxShortCalls }

// taught returns how many trainers taught the prior of the short series number k.
func (s Sharing) taught(k int) int {
	if k == 0 {
		return 0
	}
	return min(s.Trainers, 1<<(bits.Len(uint(k))-1))
}

// A SeriesOrder finds the short series of a trace that have the shared codec. Its methods may be called from several
// goroutines at once.
type SeriesOrder struct {
	sections *Sections
	table    *SeriesTable

	mu       sync.Mutex
	next     int   // series to look at
	trainers []int // those of the series before it
	calls    uint64
}

// OrderSeries returns the order of the series of a table.
func (x *Sections) OrderSeries(table *SeriesTable) *SeriesOrder {
	return &SeriesOrder{sections: x, table: table}
}

// Shares reports whether the i-th series of the table, which r reads, can have a prior.
func (o *SeriesOrder) Shares(i int, r *SeriesReader) bool {
	return o.table.Sharing.Trainers > 0 && o.table.Codec.At(i) == int64(o.table.Sharing.Codec) && isShort(&r.Index)
}

// Number returns which of the short series the i-th series is, if it is one: as many as there are trainers, if it comes
// after all of them. It reads the indexes of series before it, each once. The error is that of one of these.
func (o *SeriesOrder) Number(i int) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for ; o.next < i && len(o.trainers) < o.table.Sharing.Trainers; o.next++ {
		if o.table.Codec.At(o.next) != int64(o.table.Sharing.Codec) {
			continue
		}
		r, err := o.sections.OpenSeries(o.table, o.next)
		if err != nil {
			return 0, err
		}
		if !isShort(&r.Index) {
			continue
		}
		if o.calls += r.Index.Len(); o.calls > maxTrained {
			return 0, r.Error(Corrupt("series learn from %d calls, more than %d", o.calls, maxTrained))
		}
		o.trainers = append(o.trainers, o.next)
	}
	n, _ := slices.BinarySearch(o.trainers, i)
	return n, nil
}

// Trainer returns the number in the table of a trainer before a series whose number is known.
func (o *SeriesOrder) Trainer(i int) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.trainers[i]
}

// Needs reports whether the prior of the short series number k needs trainer number i.
func (s Sharing) Needs(k, i int) bool { return s.taught(k) > i }

// An OpenTrainer opens the series of trainer number i, with the terminals of its calls. Prior returns its prior, if it
// has one.
type OpenTrainer func(i int, prior func() (*timing.Prior, error)) (*timing.Series, timing.Terminals, error)

// Priors are the priors of the series of a trace. They are made when they are asked for, and kept: at most ten, of
// some 3 MB each. The methods may be called from several goroutines at once.
type Priors struct {
	sharing Sharing
	trainer *timing.Trainer
	open    OpenTrainer

	mu      sync.Mutex
	learned int                   // trainers that taught
	priors  map[int]*timing.Prior // by how many these were
	err     error                 // of the trainer after them
}

// NewPriors returns the priors of series with a codec.
func NewPriors(s Sharing, codec *timing.SeriesCodec, open OpenTrainer) *Priors {
	t := codec.NewTrainer(maxTrained)
	return &Priors{sharing: s, trainer: t, open: open, priors: map[int]*timing.Prior{0: t.Prior()}}
}

// Of returns the prior of the short series number k. The error is that of a trainer.
func (p *Priors) Of(k int) (*timing.Prior, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.sharing.taught(k)
	for p.err == nil && p.learned < n {
		if p.err = p.learn(); p.err != nil {
			break
		}
		if p.learned++; p.learned&(p.learned-1) == 0 || p.learned == p.sharing.Trainers {
			p.priors[p.learned] = p.trainer.Prior()
		}
	}
	if found := p.priors[n]; found != nil {
		return found, nil
	}
	return nil, p.err
}

// learn learns from the next trainer.
func (p *Priors) learn() error {
	i := p.learned
	s, terminals, err := p.open(i, func() (*timing.Prior, error) { return p.priors[p.sharing.taught(i)], nil })
	if err != nil {
		return err
	}
	return p.trainer.Learn(s, terminals)
}

// SharedSeries are series of ranks in ascending order, of which some may have priors.
type SharedSeries struct {
	Series  []RankSeries
	Sharing Sharing
}

// PlainSeries returns series of ranks without priors.
func PlainSeries(series []RankSeries) SharedSeries {
	series = slices.SortedFunc(slices.Values(series), func(x, y RankSeries) int { return x.Rank - y.Rank })
	return SharedSeries{Series: series}
}

// ShareSeries returns series of ranks, each with a prior where that saves a 64th of all short ones. Terminals returns
// the terminals of the calls of a rank, or nil if they are not known. It takes some 1 µs for each call of a short
// series and 50 µs for each series, on all processors, and no more than that of the trainers where little is saved.
func ShareSeries(ctx context.Context, series []RankSeries, terminals func(rank int) timing.Terminals) SharedSeries {
	plain := PlainSeries(series)
	series = plain.Series
	s := newSharer(series, terminals)
	if s == nil {
		return plain
	}
	shared, saved := slices.Clone(series), -len(wire.AppendUvarint(nil, uint64(s.sharing.Trainers)))-1
	done := 0
	for _, n := range []int{max(s.sharing.Trainers, leastTried), len(s.members)} {
		n = min(n, len(s.members))
		saved += s.recode(ctx, shared, done, n)
		if done = n; saved < s.bytes(n)/leastSaved || ctx.Err() != nil {
			return plain
		}
	}
	return SharedSeries{shared, s.sharing}
}

// leastSaved is which part of their bytes series must save: to open one takes longer where others have taught it.
const leastSaved = 64

// bytes returns how many bytes the first n short series take.
func (s *sharer) bytes(n int) (bytes int) {
	for _, i := range s.members[:n] {
		bytes += len(s.series[i].Data)
	}
	return bytes
}

// leastTried is the number of series from which on it is known whether others become smaller.
const leastTried = 16

// A sharer gives priors to the short series that have a codec.
type sharer struct {
	series    []RankSeries
	members   []int // the short ones of series
	terminals func(rank int) timing.Terminals
	codec     *timing.SeriesCodec
	sharing   Sharing
	priors    *Priors
}

// newSharer returns a sharer of the series in ascending order of ranks, or nil if none can have a prior.
func newSharer(series []RankSeries, terminals func(rank int) timing.Terminals) *sharer {
	members, bytes := make(map[string][]int), make(map[string]int)
	for i := range series {
		x, err := blockindex.Parse(series[i].Data)
		if err == nil && isShort(&x) {
			members[series[i].Codec] = append(members[series[i].Codec], i)
			bytes[series[i].Codec] += len(series[i].Data)
		}
	}
	names := slices.SortedFunc(maps.Keys(members), func(x, y string) int {
		return cmp.Or(bytes[y]-bytes[x], cmp.Compare(x, y))
	})
	if len(names) == 0 || len(members[names[0]]) < 2 {
		return nil
	}
	codec, err := KnownCodecs.Get(names[0])
	if err != nil || !codec.Learns() {
		return nil
	}
	s := &sharer{series: series, members: members[names[0]], terminals: terminals, codec: codec}
	s.sharing = Sharing{slices.Index(seriesCodecs(series), names[0]), s.trainers()}
	s.priors = NewPriors(s.sharing, codec,
		func(i int, _ func() (*timing.Prior, error)) (*timing.Series, timing.Terminals, error) {
			return s.open(i)
		})
	return s
}

// trainers returns how many series teach: a power of two.
func (s *sharer) trainers() int {
	n, calls := 0, uint64(0)
	for i, m := range s.members[:min(len(s.members)-1, maxTrainers)] {
		x, _ := blockindex.Parse(s.series[m].Data) // as newSharer did
		if calls += x.Len(); calls > maxTrained {
			break
		}
		if i&(i+1) == 0 {
			n = i + 1
		}
	}
	return n
}

// open returns the short series number k.
func (s *sharer) open(k int) (*timing.Series, timing.Terminals, error) {
	series := &s.series[s.members[k]]
	terminals := s.terminals(series.Rank)
	if terminals == nil {
		return nil, nil, fmt.Errorf("merge: a series of rank %d, whose calls are not known", series.Rank)
	}
	x, err := s.codec.Parse(series.Data, timing.Options{})
	return x, terminals, err
}

// recode sets those of shared that are the short series from number first on, up to end, to what they are with priors,
// and returns how many bytes that saves: less than all have if it cannot be done.
func (s *sharer) recode(ctx context.Context, shared []RankSeries, first, end int) int {
	var (
		group  sync.WaitGroup
		next   atomic.Int64
		saved  atomic.Int64
		failed atomic.Bool
	)
	next.Store(int64(first))
	for range min(runtime.GOMAXPROCS(0), end-first) {
		group.Go(func() {
			for k := int(next.Add(1) - 1); k < end && !failed.Load() && ctx.Err() == nil; k = int(next.Add(1) - 1) {
				data, err := s.recoded(k)
				if err != nil {
					failed.Store(true)
					return
				}
				own := &shared[s.members[k]]
				saved.Add(int64(len(own.Data) - len(data)))
				own.Data = data
			}
		})
	}
	group.Wait()
	if failed.Load() {
		return math.MinInt / 2
	}
	return int(saved.Load())
}

// recoded returns the short series number k with its prior.
func (s *sharer) recoded(k int) ([]byte, error) {
	x, terminals, err := s.open(k)
	if err != nil {
		return nil, err
	}
	prior, err := s.priors.Of(k)
	if err != nil {
		return nil, err
	}
	return x.Recode(nil, terminals, prior)
}

// seriesCodecs returns the names of the codecs of series in ascending order.
func seriesCodecs(series []RankSeries) []string {
	names := make(map[string]bool)
	for i := range series {
		names[series[i].Codec] = true
	}
	return slices.Sorted(maps.Keys(names))
}
