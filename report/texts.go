package report

import (
	"context"
	"fmt"
	"strings"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A timelineText is what is written about the timeline.
type timelineText struct {
	About string
	Ranks string // which are shown
	Note  string
	Run   bool // it is a part of the timeline

	Figure string // its name: timeline, or other for that of a reference
}

// addTimeline adds the timeline, to which everything else must have been added: it has the
// room that is left.
func (p *page) addTimeline(ctx context.Context, tr *trace.Trace, o Options) error {
	ranks, of := chooseRanks(tr, o.Ranks)
	if len(ranks) == 0 {
		return nil
	}
	m, err := p.openTimeline(ctx, tr, ranks)
	if err != nil {
		return err
	}
	t := &timelineText{Figure: "timeline", Ranks: fmt.Sprintf("%s of %s", text.Count(len(m.shown)),
		text.Plural(of, "rank"))}
	t.Run = m.addRun()
	if len(m.shown) > 0 {
		p.Timeline, p.data.Timeline = t, m.data
	}
	if err := p.addIterations(ctx, m); err != nil {
		return err
	}
	used, err := p.bytes()
	if err != nil {
		return err
	}
	if err := m.addTimes(ctx, o.Budget-used-reserve); err != nil {
		return err
	}
	p.begin, p.length = m.begin, m.length()
	t.About = m.about()
	t.Note = strings.Join(m.notes(t.Ranks, of), " ")
	if len(m.shown) == 0 {
		p.Remarks = append(p.Remarks, t.Note)
	}
	return nil
}

// reserve is how many bytes of a page are kept for what is written last.
const reserve = 20_000

// notes says what of so many ranks is not shown, or not in full.
func (m *timelineMaker) notes(shown string, of int) []string {
	var notes []string
	if len(m.shown) < of && m.data.Served {
		notes = append(notes, fmt.Sprintf("Shown are %s; the field Ranks chooses others.", shown))
	} else if len(m.shown) < of {
		command := "report"
		if m.page.served {
			command = "view"
		}
		notes = append(notes, fmt.Sprintf("Shown are %s; the option --ranks of reprise %s chooses others.",
			shown, command))
	}
	if m.coarse.Len() > 0 {
		notes = append(notes,
			fmt.Sprintf("Hatched, for ranks %s: sums over %s, because the calls do not fit into this page. The option --budget makes the page larger; reprise view shows every call of every rank.",
				printable(m.coarse.String()), text.Duration(m.length()/float64(m.data.Bins))))
	}
	if m.lost {
		notes = append(notes, "The messages do not fit into this page: calls do not show their partners.")
	}
	if m.shortest > 0 {
		notes = append(notes, fmt.Sprintf("Waits shorter than %s do not fit into this page.",
			text.Duration(m.shortest)))
	}
	if m.leftOut > 0 {
		notes = append(notes, fmt.Sprintf("Left out, because their calls are too irregular for a page: %s.",
			text.Plural(m.leftOut, "rank")))
	}
	if m.bytes > maxTexts {
		notes = append(notes, "Arguments of some calls are left out.")
	}
	return notes
}

// about says what the times of the timeline are.
func (m *timelineMaker) about() string {
	const stacks = " Where calls are too narrow, a column shows the share of its time in calls of each function."
	switch {
	case !m.data.Timed:
		return "The trace has no times: all calls have equal width." + advice(m.trace, "to see how long they take") +
			strings.ReplaceAll(stacks, "the share of its time in calls", "the share of calls")
	case m.worst == query.Series:
		return seriesAbout(m.guarantee, m.page.times.Starts()) + stacks
	}
	return fmt.Sprintf(
		"Hatched, because it is an estimate: the trace has %s of times, not the times of every call. Each call has the mean duration of its signature, so the ranks look more regular than they were.", m.worst) + stacks
}

// seriesAbout says how exact the times of every call are, with a bound of starts unless that is 0.
func seriesAbout(g timing.Guarantee, starts int64) string {
	if g == timing.Exact {
		return "The trace has the times of every call, as they were measured."
	}
	most := percentOff(g)
	if starts > 0 {
		return fmt.Sprintf(
			"The trace has the times of every call, with an error: at most %s for durations, and for starts at most %s of the longest gap between calls nearby, and %s.", most, most, text.Duration(starts))
	}
	return fmt.Sprintf(
		"The trace has the times of every call, with an error: at most %s for durations, and for starts at most %s of the longest gap between calls nearby.", most, most)
}

// percentOff writes an error.
func percentOff(g timing.Guarantee) string { return fmt.Sprintf("%.4g %%", 100*float64(g)) }

// errorNote says how exact the times of every call are, in few words.
func errorNote(g timing.Guarantee) string {
	if g == timing.Exact {
		return "exact"
	}
	return "at most " + percentOff(g) + " off"
}

// recorded reports whether reprise record made a trace, which is asked for times.
func recorded(tr *trace.Trace) bool { return tr.Run().Source == collect.Source }

// advice says what to do about a trace without times, and what for, if there is anything
// to do.
func advice(tr *trace.Trace, purpose string) string {
	if !recorded(tr) {
		return ""
	}
	return " Record with --times statistics, or all, " + purpose + "."
}

// addUnfinished finds the ranks that did not come to MPI_Finalize.
func (p *page) addUnfinished(ctx context.Context, tr *trace.Trace, _ Options) (err error) {
	if recorded(tr) {
		p.unfinished, err = query.RanksWithout(ctx, tr, "MPI_Finalize", query.Options{})
	}
	return err
}
