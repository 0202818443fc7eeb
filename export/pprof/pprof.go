package pprof

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
)

// MaxRanks is how many ranks have samples of their own.
const MaxRanks = 1024

// Options configures [Write]. The zero Options is the default configuration.
type Options struct {
	// Ranks are those whose calls are wanted. None means all.
	Ranks rankenc.Set

	// Between leaves out calls that are not in it, as [query.Clock.Positions] has it, of
	// ranks that have times. What is partly in it counts as a whole. Nil means no limit.
	Between *Interval

	// Lost is called with a rank that cannot be read, which is left out, or whose times
	// cannot, which are then missing. An error that it returns ends the work. Nil means
	// to end it with the error.
	Lost func(rank int, times bool, err error) error

	// Progress is called with the number of calls that are in the profile so far. Nil
	// means none.
	Progress func(calls uint64)
}

// An Interval is a span of time, in nanoseconds, by the clock of a trace.
type Interval struct{ From, To int64 }

// Write writes the profile of a trace, compressed by gzip as pprof has it.
func Write(ctx context.Context, w io.Writer, trace *reprise.Trace, o Options) error {
	b := &builder{ctx: ctx, trace: trace, options: o, printer: trace.Printer(reprise.PrintOptions{}), index: make(map[key]int), ranks: make(map[int]*rankenc.SetBuilder)}
	b.tree.nodes = []node{{}}
	if err := b.openTimes(); err != nil {
		return err
	}
	ranks := 0
	for rank := range trace.Active() {
		if b.wants(rank) {
			ranks++
		}
	}
	b.byRank = ranks <= MaxRanks
	for rank := range trace.Active() {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if !b.wants(rank) {
			continue
		}
		if err := b.rank(rank); err != nil {
			return err
		}
		if o.Progress != nil {
			o.Progress(b.calls)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	p, err := b.profile()
	if err != nil {
		return err
	}
	z := gzip.NewWriter(w)
	if err := p.WriteUncompressed(z); err != nil {
		return err
	}
	return z.Close()
}

// A builder makes a profile.
type builder struct {
	ctx     context.Context
	trace   *reprise.Trace
	options Options
	printer *reprise.Printer
	times   *query.Times // nil if the trace has none
	byRank  bool         // whether ranks have samples of their own

	tree    tree
	samples []sample
	index   map[key]int                 // of samples
	ranks   map[int]*rankenc.SetBuilder // by shape, those that are in samples, if not byRank
	calls   uint64

	begin, end int64 // of all clocks, if begun
	begun      bool
}

// A key tells samples apart.
type key struct {
	node           int
	function, call string
	who            int // rank or, if not byRank, shape
}

// A sample is calls in a nest of loops.
type sample struct {
	key
	calls, time int64
}

// openTimes finds out whether the trace has times.
func (b *builder) openTimes() error {
	durations, gaps, err := b.trace.Merged().Summaries()
	if err != nil {
		return err
	}
	ranks, _, err := b.trace.Merged().SeriesRanks()
	if err != nil || durations.IsZero() && gaps.IsZero() && ranks.Len() == 0 {
		return err
	}
	b.times, err = query.OpenTimes(b.trace)
	return err
}

func (b *builder) wants(rank int) bool {
	return b.options.Ranks.Len() == 0 || b.options.Ranks.Contains(rank)
}

// lose tells of a rank that cannot be read, or whose times cannot.
func (b *builder) lose(rank int, times bool, err error) error {
	if b.options.Lost == nil || b.ctx.Err() != nil {
		return err
	}
	return b.options.Lost(rank, times, err)
}

// add adds calls to a sample.
func (b *builder) add(k key, calls, time int64) {
	i, ok := b.index[k]
	if !ok {
		i = len(b.samples)
		b.index[k] = i
		b.samples = append(b.samples, sample{key: k})
	}
	b.samples[i].calls += calls
	b.samples[i].time += time
}

// labels returns the ranks of each shape that are in samples, as text.
func (b *builder) labels() map[int]string {
	labels := make(map[int]string, len(b.ranks))
	for shape, ranks := range b.ranks {
		labels[shape] = ranks.Finish().String()
	}
	return labels
}

// profile returns the profile of the samples.
func (b *builder) profile() (*profile.Profile, error) {
	ranks := b.labels()
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "calls", Unit: "count"}}}
	if b.times != nil {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: "time", Unit: "nanoseconds"})
		p.DefaultSampleType = "time"
		p.DurationNanos = b.end - b.begin
	}
	frames := make(map[string]*profile.Location)
	frame := func(name string) *profile.Location {
		if frames[name] == nil {
			f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name, SystemName: name}
			frames[name] = &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
			p.Function, p.Location = append(p.Function, f), append(p.Location, frames[name])
		}
		return frames[name]
	}
	for i := range b.samples {
		s := &b.samples[i]
		out := &profile.Sample{Value: []int64{s.calls}, Location: []*profile.Location{frame(s.function)}}
		if b.times != nil {
			out.Value = append(out.Value, s.time)
		}
		for n := s.node; n > 0; n = b.tree.nodes[n].parent {
			out.Location = append(out.Location, frame(b.tree.nodes[n].name))
		}
		if b.byRank { // a label that is the number 0 would be none
			out.Label = map[string][]string{"rank": {strconv.Itoa(s.who)}, "call": {s.call}}
		} else {
			out.Label = map[string][]string{"ranks": {ranks[s.who]}}
		}
		p.Sample = append(p.Sample, out)
	}
	p.Comments = []string{fmt.Sprintf("%d calls", b.calls)}
	return p, nil
}
