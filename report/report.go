package report

import (
	"context"
	"io"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// DefaultBudget is how many bytes a page may have for the timeline to hold the times of all
// calls, if nothing else is asked for.
const DefaultBudget = 5_000_000

// Options configures [Write]. The zero Options is the default configuration.
type Options struct {
	// Name is what the trace is called on the page, such as the name of its file.
	// The empty name means "trace".
	Name string

	// Bytes is the size of the file of the trace. Zero means that the page does not
	// tell it.
	Bytes int64

	// Ranks are those of the timeline, at most 256. Nil means some of each shape.
	Ranks *rankenc.Set

	// Region is what the timeline shows at first, and what a section is about: what ranks do there, and why. The rest of the page is about the run. Nil means the run.
	Region *query.Region

	// Reference is a trace that the page compares the trace with. Nil means none.
	Reference *Reference

	// Budget is how many bytes the page may have for the timeline to hold the times of all
	// calls, where the trace has them; what does not fit is drawn more coarsely. Zero means
	// [DefaultBudget]. What else is on a page is bounded, too, and takes up to some 4 MB.
	Budget int

	// Progress, unless it is nil, is called with what is done, and of how many ranks
	// that is done, by one goroutine at a time.
	Progress func(what string, ranks int)
}

// Write writes a page about a trace. Of one that was opened with
// [trace.Options.LeaveOutDamage], the page says what it lacks.
func Write(ctx context.Context, w io.Writer, tr *trace.Trace, o Options) error {
	need.That(w != nil, "report: nothing to write to")
	need.That(o.Reference == nil || o.Reference.Trace != nil, "report: a reference without a trace")
	p, err := gather(ctx, tr, o.filled(), false)
	if err != nil {
		return err
	}
	return p.write(w)
}

// filled returns the options with what zero stands for.
func (o Options) filled() Options {
	if o.Name == "" {
		o.Name = "trace"
	}
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	return o
}

// gather puts together what the page is about. If it is served, it has no times of calls:
// it asks for them.
func gather(ctx context.Context, tr *trace.Trace, o Options, served bool) (*page, error) {
	need.That(tr != nil, "report: no trace")
	p := &page{Title: printable(o.Name), trace: tr, served: served, searched: make(map[int]*semantics.Rank),
		region: o.Region}
	p.addNodes(tr)
	for _, part := range []struct {
		what string
		add  func(context.Context, *trace.Trace, Options) error
	}{
		{"times", p.addTimes},
		{"functions", p.addFunctions},
		{"ends", p.addUnfinished},
		{"diagnosis", p.addDiagnosis},
		{"messages", p.addCommunication},
		{"imbalance", p.addImbalance},
		{"waits", p.addWaits},
		{"efficiency", p.addEfficiency},
		{"loops", p.addLoops},
		{"reference", p.addReference},
		{"region", p.addRegion},
		{"timeline", p.addTimeline},
	} {
		if o.Progress != nil {
			p.progress = func(ranks int) { o.Progress(part.what, ranks) }
		}
		if err := part.add(ctx, tr, o); err != nil {
			return nil, err
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
	}
	p.summarize(tr, o)
	return p, nil
}

// maxNodeRanges is how many ranges of ranks a page has of all nodes.
const maxNodeRanges = 1 << 12

// addNodes adds which ranks are on which node, if several have clocks of their own.
func (p *page) addNodes(tr *trace.Trace) {
	var nodes [][]int
	n := 0
	for _, c := range tr.Run().Clocks {
		var node []int
		for first, last := range c.Ranks.Ranges() {
			if n++; n > maxNodeRanges {
				return
			}
			node = append(node, first, last)
		}
		nodes = append(nodes, node)
	}
	if len(nodes) > 1 {
		p.data.Nodes = nodes
	}
}

// query returns the options of a query.
func (p *page) query() query.Options { return query.Options{Progress: p.progress} }

// addTimes opens what the trace has of times.
func (p *page) addTimes(ctx context.Context, tr *trace.Trace, _ Options) error {
	var err error
	if p.times, err = query.OpenTimes(tr); err != nil {
		return err
	}
	if p.run, err = p.times.Run(ctx); err != nil {
		return err
	}
	series, _, err := tr.SeriesRanks()
	if err != nil {
		return err
	}
	p.hasSeries = series.Len() > 0 && series.Equal(tr.RankSet())
	p.guarantee, err = p.times.Guarantee()
	return err
}
