package trace

import (
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// Summaries returns what the trace has of the times of calls by signature, in
// place of the terminal: of how long they took, and of the gaps before them. They
// are of the calls of all ranks. Where a rank has equal calls under several
// signatures, the first has those of all. Means, sums and variances of statistics
// are rounded, as [timing.AppendStatisticsTable] says; all else is exact. The result
// must not be changed.
func (t *Trace) Summaries() (durations, gaps timing.Summary, err error) {
	s, err := t.spread()
	return s[0], s[1], err
}

// readSummaries reads the section of the summaries, if there is one.
func (t *Trace) readSummaries() (layout.Summaries, error) {
	var s layout.Summaries
	if !t.sections.Has(layout.KindSummaries) {
		return s, nil
	}
	err := t.sections.Read(layout.KindSummaries, 0, func(data []byte) (err error) {
		s, err = layout.ParseRounded(data, t.Signatures(), func(n int) uint32 { return uint32(t.FunctionOf(n)) })
		return err
	})
	return s, err
}

// readRankTimes reads the section of the times of ranks, if there is one.
func (t *Trace) readRankTimes() (*layout.RankTimes, error) {
	return layout.ReadRankTimes(t.file, len(t.Functions()), t.recorded())
}

// SeriesRanks returns the ranks of which the trace has the times of every call,
// and the names of the codecs.
func (t *Trace) SeriesRanks() (ranks rankenc.Set, codecs []string, err error) {
	s, err := t.series()
	if err != nil || s == nil {
		return rankenc.Set{}, nil, err
	}
	return s.Ranks.Difference(t.untimed).Difference(t.foreign), slices.Clone(s.Names), nil
}

// foreignRanks returns the ranks whose times of every call are in a codec that this program does not know.
func (t *Trace) foreignRanks() rankenc.Set {
	var foreign rankenc.SetBuilder
	s, err := t.series()
	if err != nil || s == nil {
		return rankenc.Set{}
	}
	unknown := make([]bool, len(s.Names))
	for k, name := range s.Names {
		unknown[k] = !layout.KnownCodec(name)
	}
	if !slices.Contains(unknown, true) {
		return rankenc.Set{}
	}
	for i, rank := range s.Ranks.All() {
		if k := s.Codec.At(i); k >= 0 && k < int64(len(unknown)) && unknown[k] {
			foreign.Add(rank)
		}
	}
	return foreign.Finish()
}

// SeriesCodec returns the name of the codec of the times of a rank, nothing if the
// trace does not have them.
func (t *Trace) SeriesCodec(rank int) (string, error) {
	s, err := t.series()
	if err != nil || s == nil {
		return "", err
	}
	i, ok := s.Ranks.Index(rank)
	if !ok || t.untimed.Contains(rank) {
		return "", nil
	}
	if k := s.Codec.At(i); k >= 0 && k < int64(len(s.Names)) {
		return s.Names[k], nil
	}
	return "", layout.Damaged(layout.KindSeries, 0, layout.Corrupt("series %d has codec %d", i, s.Codec.At(i)))
}

// Series returns the times of the calls of a rank, nil if the trace does not have them. They are those of the
// clock of the first rank, if [merge.Run] says how to align others with it. Its terminals are those of
// [Trace.Rank]. Blocks are read when they are needed. An error about the file, also of the methods of the
// series, is a [*format.SectionError], or a [*timing.ParseError] about a block.
func (t *Trace) Series(rank int) (*timing.Series, error) {
	number, ok := t.index.find(rank)
	if !ok {
		return nil, nil
	}
	s, err := t.shape(number)
	if err != nil {
		return nil, err
	}
	return t.seriesOf(rank, s.Grammar.Len(), func() (*Rank, error) {
		r, _, err := t.readRank(rank)
		return r, err
	})
}

// openSeries returns the times of the calls of a rank that was read.
func (t *Trace) openSeries(r *Rank) (*timing.Series, error) {
	if r.shape == nil || t.foreign.Contains(r.number) {
		return nil, nil
	}
	return t.seriesOf(r.number, r.Len(), func() (*Rank, error) { return r, nil })
}

// seriesOf returns the times of the calls of a rank, which are so many. Read reads the
// rank, if that is necessary.
func (t *Trace) seriesOf(rank int, calls uint64, read func() (*Rank, error)) (*timing.Series, error) {
	s, err := t.series()
	if err != nil || s == nil {
		return nil, err
	}
	i, ok := s.Ranks.Index(rank)
	if !ok || t.untimed.Contains(rank) {
		return nil, nil
	}
	r, err := t.sections.OpenSeries(s, i)
	if err != nil {
		return nil, err
	}
	codec, err := t.codecOf(s.Names[s.Codec.At(i)], read) // OpenSeries has checked it
	if err != nil {
		return nil, err
	}
	if n := r.Index.Len(); n != calls {
		return nil, r.Error(layout.Corrupt("the series of rank %d is of %d calls, not %d", rank, n, calls))
	}
	prior, err := t.sharedPrior(i, r)
	if err != nil {
		return nil, err
	}
	return codec.Open(r.Head, r.Block, prior, t.alignmentOf(rank))
}

// alignmentOf returns what makes the times of a rank those of the clock of the first.
func (t *Trace) alignmentOf(rank int) timing.Options {
	if c := t.run.ClockOf(rank); c >= 0 {
		return timing.Options{Move: layout.MoveTimes(&t.run.Clocks[c])}
	}
	return timing.Options{}
}

// codecOf returns the codec with a name, of the series of a rank that read reads.
func (t *Trace) codecOf(name string, read func() (*Rank, error)) (*timing.SeriesCodec, error) {
	if !strings.Contains(name, layout.OfFunctions) {
		c, err := layout.KnownCodecs.Get(name)
		if err != nil {
			return nil, layout.Damaged(layout.KindSeries, 0, layout.Corrupt("%v", err))
		}
		return c, nil
	}
	r, err := read()
	if err != nil {
		return nil, err
	}
	c, err := layout.SeriesCodec(name, func(terminal uint32) string {
		return t.Functions()[r.functionOf(r.recorded, terminal)].Name
	})
	if err != nil {
		return nil, layout.Damaged(layout.KindSeries, 0, layout.Corrupt("%v", err))
	}
	return c, nil
}

// Series returns the times of the calls as they are encoded, nil if the trace does
// not have them.
func (r *Rank) Series() *timing.Series { return r.series }

// Times returns an iterator over the times of the calls from a position on, in
// order: none if the trace does not have them. Finding the position costs decoding
// what is before it in its block. Errors are as those of [Rank.Calls].
func (r *Rank) Times(position uint64) iter.Seq2[timing.Time, error] {
	return func(yield func(timing.Time, error) bool) {
		for t := r.ReadTimes(position); t.more(); {
			if !yield(t.Next()) {
				return
			}
		}
	}
}

// ReadTimes returns what reads the same times one by one, for who goes through several ranks at once.
func (r *Rank) ReadTimes(position uint64) *TimeReader {
	if r.series == nil || position >= r.Len() {
		return &TimeReader{rank: r, at: r.Len()}
	}
	return newTimeReader(r, position)
}

// setTime sets the time of a call to the next one of t.
func (r *Rank) setTime(call *Call, t *TimeReader) error {
	at, err := t.read()
	if err != nil {
		return r.trace.named(err)
	}
	call.Timed, call.Start, call.Duration = true, at.Start, at.Duration
	return nil
}

// A TimeReader reads the times of the calls of a rank in order. It must not be used by two goroutines at once.
type TimeReader struct {
	rank  *Rank
	at    uint64       // position of the next call
	weave *weave       // nil if times stand as the calls do
	times *threadTimes // if so

	threads []*threadTimes // otherwise, by thread; nil before the first call of one
	walk    *sequitur.Walker
	run     sequitur.Run // what is left of it
}

func newTimeReader(r *Rank, position uint64) *TimeReader {
	t := &TimeReader{rank: r, at: position, weave: r.weaveOf()}
	if t.weave == nil {
		t.times = newThreadTimes(r, position)
		return t
	}
	t.threads, t.walk = make([]*threadTimes, len(t.weave.firsts)-1), r.Walk(position)
	return t
}

// Seek moves on to a position, which must not be before that of the next call. It decodes no blocks that are
// before its own, and none again.
func (t *TimeReader) Seek(position uint64) {
	need.That(t != nil && (position >= t.at || t.rank.series == nil), "trace: times are read in order")
	if t.rank.series == nil {
		return
	}
	if t.at = position; t.weave == nil {
		t.times.seek(position)
		return
	}
	t.walk, t.run = t.rank.Walk(position), sequitur.Run{}
	for thread, times := range t.threads {
		if times != nil {
			times.seek(t.placeOf(thread))
		}
	}
}

// placeOf returns the place of the next call of a thread in the series.
func (t *TimeReader) placeOf(thread int) uint64 {
	return t.weave.firsts[thread] + t.weave.calls[thread]().before(t.at)
}

// more reports whether there are calls left.
func (t *TimeReader) more() bool { return t.at < t.rank.Len() }

// Next returns the time of the next call, or the error [io.EOF] if there is none. Errors are those of [Rank.Calls].
func (t *TimeReader) Next() (timing.Time, error) {
	if !t.more() {
		return timing.Time{}, io.EOF
	}
	at, err := t.read()
	if err != nil {
		err = t.rank.trace.named(err)
	}
	return at, err
}

// read returns the time of the next call. There must be one.
func (t *TimeReader) read() (timing.Time, error) {
	if t.weave == nil {
		t.at++
		return t.times.read()
	}
	if t.run.Count == 0 {
		t.run = t.walk.Next()
	}
	t.run.Count--
	thread := t.weave.threads[t.run.Symbol]
	if t.threads[thread] == nil {
		t.threads[thread] = newThreadTimes(t.rank, t.placeOf(thread))
	}
	t.at++
	return t.threads[thread].read()
}

// threadTimes read the times of a series in order.
type threadTimes struct {
	rank     *Rank
	series   *timing.Series
	at       uint64          // of the next time
	walk     *threadWalker   // nil where it does not stand at the next call
	recorded *recordedWalker // nil if calls have the terminals that times are of
	next     int             // block
	block    *timing.SeriesDecoder
	place    *cached[decodedBlock]
	adds     *decodedBlock  // what was decoded of it; nil if there is no room
	kept     *blockUnpacker // its times, if they are there
	done     uint64         // calls of block that were decoded
	err      error          // why block cannot be read
	left     uint64         // calls of block
	skip     uint64         // calls to be left out

	times     []timing.Time // decoded, and not read; of no value if there is an error
	buffer    [256]timing.Time
	terminals [256]uint32
}

// newThreadTimes returns one at the n-th time.
func newThreadTimes(r *Rank, n uint64) *threadTimes {
	t := &threadTimes{rank: r, series: r.series, at: n}
	if r.recorded != r.flow {
		t.recorded = &recordedWalker{rank: r}
	}
	if n < r.series.Len() {
		block, first := r.series.Find(n)
		t.next, t.skip = block, n-first
	}
	return t
}

// seek moves on to the n-th time, without decoding the blocks that are before its own.
func (t *threadTimes) seek(n uint64) {
	if n >= t.series.Len() {
		t.skip += n - t.at
		t.at = n
		return
	}
	if _, first := t.series.Find(n); first > t.at {
		*t = *newThreadTimes(t.rank, n)
		return
	}
	t.skip += n - t.at
	t.at = n
}

// read returns the next time. There must be one.
func (t *threadTimes) read() (timing.Time, error) {
	t.at++
	for uint64(len(t.times)) <= t.skip {
		t.skip -= uint64(len(t.times))
		t.decode()
	}
	at := t.times[t.skip]
	t.times, t.skip = t.times[t.skip+1:], 0
	if t.err != nil {
		return timing.Time{}, t.err
	}
	return at, nil
}

// decode decodes the next times, or sets t.err.
func (t *threadTimes) decode() {
	if t.left == 0 {
		t.open()
	}
	n := int(min(t.left, uint64(len(t.buffer))))
	t.left -= uint64(n)
	t.times = t.buffer[:n]
	if t.kept != nil {
		t.kept.next(t.times)
		return
	}
	for i := range n {
		position, terminal := t.walk.next()
		if t.recorded != nil {
			terminal = t.recorded.terminal(position)
		}
		t.terminals[i] = terminal
	}
	if t.err == nil {
		t.err = t.block.Decode(t.times, t.terminals[:n])
	}
	if t.err == nil {
		t.keep()
	}
}

// open opens the next block.
func (t *threadTimes) open() {
	first := t.series.First(t.next)
	t.left = t.series.First(t.next+1) - first
	t.place = t.rank.trace.decoded.of(blockOf{t.rank.number, t.next}, maxDecodedBlocks)
	t.adds = t.place.get()
	if packed, whole := t.adds.whole(t.left); whole {
		t.kept, t.walk, t.err = &blockUnpacker{packed: packed}, nil, nil
		t.next++
		return
	}
	if t.adds == nil {
		t.adds = keep(t.rank.trace.caches.times, t.place, new(decodedBlock), decodedOverhead)
	}
	t.kept, t.done = nil, 0
	if t.walk == nil {
		t.walk = newThreadWalker(t.rank, first)
	}
	t.block, t.err = t.series.Block(t.next)
	t.next++
}

// keep keeps the times that were decoded last, as long as there is room for those of the block.
func (t *threadTimes) keep() {
	if t.adds == nil {
		return
	}
	if size := t.adds.add(t.times, t.done); size > 0 && !more(t.rank.trace.caches.times, t.place, t.adds, size) {
		t.adds.leave()
		t.adds = nil
	}
	t.done += uint64(len(t.times))
}
