package tracer

import (
	"fmt"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
)

// Options say what a [Recorder] keeps of the times of calls besides statistics.
// The zero Options is the default configuration: nothing.
type Options struct {
	// Series is the codec with which the start and the duration of every call are
	// kept. It must be known by its name, as those are that [timing.NewCodec]
	// returns. Nil means that they are not.
	Series *timing.SeriesCodec

	// ExactIfSmall says that the trace keeps times exactly in place of those of Series, if these take less
	// than 64 kB in all ranks together. Of a thread with a complete block of calls they are not kept.
	ExactIfSmall bool

	// BlockLen is the number of calls of a block of Series. The call that ends a
	// block takes the time to encode it, some milliseconds. Zero means
	// 65,536. It is at most [timing.DefaultMaxValues], what a reader
	// accepts.
	BlockLen int

	// Concurrent says that another goroutine encodes a block while calls go on, which must not be the case in a program
	// that needs all processors. It has no effect with DurationsOf. The trace is the same.
	Concurrent bool

	// DurationsOf are codecs for the durations of functions, by their names, in
	// place of that of Series: with a smaller error, say. Who reads a trace finds in it
	// which functions these are.
	DurationsOf map[string]timing.Codec

	// Histograms says what histograms of durations and of gaps are kept, alike in all
	// processes. A trace has at most 16 bins of each, a part file those that there
	// are. Nil means none.
	Histograms *timing.HistogramOptions

	// Bounded is the size in bytes of the trace that the run is to become, see
	// [merge.Accumulator.WriteBounded]. A Recorder then holds no more than 8 symbols and bytes of signatures
	// for each of them, or 65,536 if that is more: calls that do not repeat give way while they are recorded,
	// if they would not fit the trace anyway. Zero means that all is kept.
	Bounded int64

	// Keep says what stays as it is if calls give way; see Bounded.
	Keep merge.Keep
}

// New returns a Recorder with such options. It returns an error if one is invalid.
func New(o Options) (*Recorder, error) {
	if o.BlockLen < 0 || o.BlockLen > timing.DefaultMaxValues {
		return nil, fmt.Errorf("tracer: blocks of %d calls: BlockLen is from 0 to %d", o.BlockLen,
			timing.DefaultMaxValues)
	}
	r := new(Recorder)
	if o.Bounded > 0 {
		r.bound = newBound(o.Bounded, o.Keep)
		r.table.Constant()
	}
	if s := o.Series; s != nil {
		r.table.Apart() // series are of terminals
		if len(o.DurationsOf) > 0 {
			own := *s
			var err error
			if own.Durations, err = layout.CodecByFunction(s.Durations, o.DurationsOf, r.functionOf()); err != nil {
				return nil, err
			}
			s = &own
		}
		if err := layout.CheckCodec(s); err != nil {
			return nil, err
		}
		r.times.codec, r.times.series, r.times.exactIfSmall = s.Name(), s.NewBuilder(o.BlockLen), o.ExactIfSmall
		if o.Concurrent && len(o.DurationsOf) == 0 {
			r.times.series.Concurrent()
		}
	}
	for i := range r.times.histograms {
		if o.Histograms == nil {
			break
		}
		var err error
		if r.times.histograms[i], err = timing.NewHistogramsBuilder(*o.Histograms); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// functionOf returns what returns the name of the function of a terminal.
func (r *Recorder) functionOf() func(terminal uint32) string {
	var names []string // as many as were asked for
	return func(terminal uint32) string {
		for n := uint32(len(names)); n <= terminal; n++ {
			names = append(names, r.table.Functions()[r.table.FunctionOf(n)].Name)
		}
		return names[terminal]
	}
}

// CallAt is [Recorder.Call] for a call of which the time is known: it began at
// start and took duration, in nanoseconds. The Recorder keeps statistics by
// signature of durations, and of gaps, the times from the end of the call before to
// the start, which are negative where calls overlap. It takes some 50 ns with
// statistics, and with a series what its codec does, at the end of a block.
func (r *Recorder) CallAt(fn int, start, duration int64, args ...cst.Value) {
	t, err := r.table.Intern(fn, args...)
	if err != nil {
		r.misuse.add(err)
		return
	}
	r.grammar.Append(t)
	r.times.add(t, start, duration)
	if r.bound.size > 0 {
		r.fit()
	}
}

// Times are those of the calls of a Recorder.
type times struct {
	statistics   callStatisticsList           // by terminal
	histograms   [2]*timing.HistogramsBuilder // of durations and of gaps; nil if there are none
	codec        string
	series       *timing.SeriesBuilder // nil if there is none
	exactIfSmall bool
	begin, end   int64 // of the first call, and of the last
	calls        uint64
}

type callStatistics struct{ durations, gaps timing.Statistics }

func (t *times) add(terminal uint32, start, duration int64) {
	s := t.statistics.at(terminal)
	s.durations.Add(0, duration)
	if t.calls > 0 {
		s.gaps.Add(0, start-t.end)
	} else {
		t.begin = start
	}
	if t.histograms[0] != nil {
		t.histograms[0].Append(terminal, duration)
		if t.calls > 0 {
			t.histograms[1].Append(terminal, start-t.end)
		} else {
			t.histograms[1].Skip(terminal)
		}
	}
	if t.series != nil {
		t.series.Append(terminal, start, duration)
	}
	t.end = start + duration
	t.calls++
}

// A callStatisticsList grows without being moved: where all calls are new, it is the largest
// part of a recording. Its chunks are full but the last, and have room for a number of
// elements but the first, which is moved as it grows to that.
type callStatisticsList struct {
	chunks [][]callStatistics
	n      int
}

const chunkLen = 256

// at returns the element of a terminal, which it makes if there is none.
func (l *callStatisticsList) at(terminal uint32) *callStatistics {
	for l.n <= int(terminal) {
		l.add()
	}
	return &l.chunks[terminal/chunkLen][terminal%chunkLen]
}

func (l *callStatisticsList) add() {
	chunk := l.n / chunkLen
	if chunk == len(l.chunks) {
		l.chunks = append(l.chunks, nil)
		if chunk > 0 {
			l.chunks[chunk] = make([]callStatistics, 0, chunkLen)
		}
	}
	l.chunks[chunk] = append(l.chunks[chunk], callStatistics{})
	l.n++
}

// snapshot returns what there is so far, as that of a rank.
func (t *times) snapshot(rank int) *merge.Times {
	m := t.summarize(rank, false)
	if m == nil {
		return nil
	}
	if t.histograms[0] != nil {
		m.Durations.Histograms = t.histograms[0].Finish(uint32(rank))
		m.Gaps.Histograms = t.histograms[1].Finish(uint32(rank))
	}
	if t.series != nil {
		t.addRecorded(m)
		m.Codec, m.Series = t.codec, t.series.Snapshot(nil)
	}
	return m
}

// summarize returns the statistics, as those of a rank. At the end, the list frees its chunks as they are read: it
// is as large as what is made of it.
func (t *times) summarize(rank int, ends bool) *merge.Times {
	if t.calls == 0 {
		return nil
	}
	m := merge.Times{Begin: t.begin, End: t.end}
	m.Durations.Statistics = make([]timing.Statistics, 0, t.statistics.n)
	m.Gaps.Statistics = make([]timing.Statistics, 0, t.statistics.n)
	for i, chunk := range t.statistics.chunks {
		if ends {
			t.statistics.chunks[i] = nil
		}
		for _, s := range chunk {
			for _, of := range []*timing.Statistics{&s.durations, &s.gaps} {
				if of.Count > 0 {
					of.MinRank, of.MaxRank = uint32(rank), uint32(rank)
				}
			}
			m.Durations.Statistics = append(m.Durations.Statistics, s.durations)
			m.Gaps.Statistics = append(m.Gaps.Statistics, s.gaps)
		}
	}
	return &m
}

// finish returns all there is, as that of a rank.
func (t *times) finish(rank int) *merge.Times {
	m := t.summarize(rank, true)
	if m == nil {
		return nil
	}
	t.statistics = callStatisticsList{}
	if t.histograms[0] != nil {
		m.Durations.Histograms = t.histograms[0].Finish(uint32(rank))
		m.Gaps.Histograms = t.histograms[1].Finish(uint32(rank))
	}
	if t.series != nil {
		t.addRecorded(m)
		m.Codec, m.Series = t.codec, t.series.Finish(nil)
	}
	return m
}

// addRecorded adds the calls as they were, if times may be kept exactly.
func (t *times) addRecorded(m *merge.Times) {
	if !t.exactIfSmall {
		return
	}
	m.Recorded = []*timing.Recorded{}
	if r := t.series.Recorded(); r != nil {
		m.Recorded = append(m.Recorded, r)
	}
}
