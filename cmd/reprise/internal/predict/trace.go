package predict

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/compress"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/blockindex"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A predictedTrace is a trace with the times of a replay in place of its own.
type predictedTrace struct {
	trace *trace.Trace
	exact *timing.SeriesCodec // of the times of every call; nil for statistics alone
	ranks map[int]*predictedTimes
}

// predictedTimes are the times of the calls of a rank.
type predictedTimes struct {
	durations, gaps []timing.Statistics // by terminal of the part
	calls           *sequitur.Grammar   // over these, nil if they are those of the rank
	err             error
	end             int64
	threads         map[int]*predictedThread
	order           []*predictedThread
}

// A predictedThread is what was last of a thread, and the times of its calls.
type predictedThread struct {
	number     int
	next       uint64 // position after its last call
	disordered bool   // calls did not come in the order of their positions
	end        int64
	series     *timing.SeriesBuilder
}

func newPredictedTrace(t *trace.Trace, exact bool) (*predictedTrace, error) {
	p := &predictedTrace{trace: t, ranks: make(map[int]*predictedTimes)}
	if exact {
		codec, err := timing.NewLossless(timing.Zstd)
		if err == nil {
			p.exact, err = timing.NewSeriesCodec(codec, codec, timing.Gaps)
		}
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// errThreads is the error of times of every call that are not in the order of the positions.
var errThreads = errors.New(
	"the calls of a thread do not end in the order in which they stand in the trace: --times exact cannot keep their times, --times statistics can")

// ended adds a call.
func (p *predictedTrace) ended(c *replay.Call, start, end replay.Time) {
	from, to := int64(start/replay.Nanosecond), int64(end/replay.Nanosecond)
	r := p.timesOf(c)
	if r.err != nil {
		return
	}
	terminal := c.Terminal
	if r.calls != nil {
		terminal = r.calls.At(c.Position)
	}
	rank := uint32(c.Rank.Number())
	t := r.threads[c.Thread]
	if t == nil {
		t = &predictedThread{number: c.Thread, next: c.Position}
		if p.exact != nil {
			t.series = p.exact.NewBuilder(0)
		}
		r.threads[c.Thread] = t
		r.order = append(r.order, t)
	} else {
		r.gaps[terminal].Add(rank, from-t.end)
	}
	r.durations[terminal].Add(rank, to-from)
	t.end, r.end = to, max(r.end, to)
	if p.exact != nil {
		t.disordered = t.disordered || c.Position < t.next
		t.series.Append(terminal, from, to-from)
	}
	t.next = c.Position + 1
}

// timesOf returns the times of the rank of a call. Calls in which something advances have one terminal in its part,
// and one for each value in the replay.
func (p *predictedTrace) timesOf(c *replay.Call) *predictedTimes {
	number := c.Rank.Number()
	r := p.ranks[number]
	if r != nil {
		return r
	}
	r = &predictedTimes{threads: make(map[int]*predictedThread)}
	p.ranks[number] = r
	part, err := p.trace.Part(number)
	if r.err = err; err != nil {
		return r
	}
	n := part.Table.Len()
	r.durations, r.gaps = make([]timing.Statistics, n), make([]timing.Statistics, n)
	if part.Streams != nil || n != c.Rank.Terminals() {
		r.calls = part.Grammar
	}
	return r
}

// predictedBy returns the command line that a prediction is of, without what does not matter to what is
// predicted.
func predictedBy(cmd *cobra.Command, path string) string {
	line := []string{"reprise", "predict", path}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "output" && f.Name != "json" && f.Name != "all" {
			line = append(line, "--"+f.Name+"="+f.Value.String())
		}
	})
	return text.ShellLine(line)
}

// encode returns the trace, which says that it is a prediction, and of what.
func (p *predictedTrace) encode(cmd *cobra.Command, path string) ([]byte, error) {
	run := p.trace.Run()
	run.Interleaving = nil
	layout.MergeOrigin(&run.Origin, format.Origin{Commands: []string{predictedBy(cmd, path)}})
	a := new(merge.Accumulator)
	for _, rank := range p.trace.Content().Recorded.All() {
		part, err := p.part(rank)
		if err == nil {
			err = a.Add(part)
		}
		if err != nil {
			return nil, fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	if err := a.Describe(run); err != nil {
		return nil, err
	}
	return compress.EncodeTrace(cmd, a, false, 0)
}

// part returns the part of a rank with its times.
func (p *predictedTrace) part(number int) (merge.Part, error) {
	part, err := p.trace.Part(number)
	times := p.ranks[number]
	if err != nil || times == nil {
		return part, err
	}
	if times.err != nil {
		return part, times.err
	}
	part.Times = &merge.Times{End: times.end}
	part.Times.Durations.Statistics, part.Times.Gaps.Statistics = times.durations, times.gaps
	if p.exact == nil {
		return part, nil
	}
	var list [][]byte
	slices.SortFunc(times.order, func(a, b *predictedThread) int { return cmp.Compare(a.number, b.number) })
	for _, t := range times.order {
		if t.disordered {
			return part, errThreads
		}
		list = append(list, t.series.Finish(nil))
	}
	part.Times.Codec = p.exact.Name()
	part.Times.Series, err = blockindex.Join(list...)
	return part, err
}
