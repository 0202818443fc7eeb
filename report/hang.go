package report

import (
	"context"
	"fmt"
	"strings"

	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// How many rows the table of calls that did not return has, and how many cycles of ranks that
// wait for each other are shown.
const (
	maxHangRows = 50
	maxCycles   = 5
)

// A hangText is what ranks did when the recording ended, and who waits for whom.
type hangText struct {
	About     string
	Deadlocks []string
	Table     *table
}

// addEnd adds where ranks were when the recording ended, if a recorded run did not come to its
// end: the calls that had not returned, and the last calls of other ranks.
func (p *page) addEnd(ctx context.Context, tr *trace.Trace, m *query.Match) error {
	h, err := m.Hang(ctx, query.Options{})
	if err != nil || h.InCall.Len() == 0 && p.unfinished.Len() == 0 {
		if h != nil && h.Unrecorded.Len() > 0 {
			p.Banner = "Missing: " + printable(answers.Unrecorded(h.Unrecorded)) + "."
		}
		return err
	}
	t := &hangText{About: "When the recording ended, " + answers.HangSummary(h) +
		". The command reprise hang shows the same.", Table: newTable("row", maxHangRows, "State", "Ranks", "Elapsed")}
	switch {
	case h.Deadlocked.Len() > 0:
		p.Banner = "Deadlock: " + printable(text.Ranks(h.Deadlocked)) + " can never go on."
		t.Deadlocks = append(t.Deadlocks, p.Banner)
	case h.InCall.Len() > 0:
		p.Banner = "The run did not reach its end: when the recording ended, " + answers.HangSummary(h) + "."
	default:
		p.Banner = "The run did not reach its end: ranks " + printable(p.unfinished.String()) +
			" did not reach MPI_Finalize, or it was not recorded."
	}
	if suspects := answers.HangSuspects(h); suspects != "" {
		p.Banner += " " + strings.ToUpper(suspects[:1]) + printable(suspects[1:]) + "."
	}
	for i, cycle := range h.Cycles {
		if i < maxCycles {
			t.Deadlocks = append(t.Deadlocks, answers.Cycle(cycle))
		}
	}
	answers.HangCalls(tr, h)
	for i := range h.Groups {
		g := &h.Groups[i]
		place := cell{Text: printable(answers.HangPlace(g)), Name: true, Code: true,
			Find: fmt.Sprintf("call=%d,%d", g.Ranks.At(0), g.Position)}
		if g.State == query.InCall {
			place.Note = "waits for " + printable(answers.HangWaits(g))
			for _, w := range g.Waits {
				for k := range w.Sent[:min(len(w.Sent), maxCycles)] {
					place.Note += "; " + printable(answers.HangSent(g, &w.Sent[k]))
				}
			}
		}
		t.Table.row(place, printable(g.Ranks.String()), valued(float64(g.Most), answers.HangDuration(g)))
	}
	p.Hang = t
	return nil
}
