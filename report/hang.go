package report

import (
	"context"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
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

// addHang adds the calls that had not returned when the recording ended.
func (p *page) addHang(ctx context.Context, trace *reprise.Trace, m *query.Match) error {
	h, err := m.Hang(ctx, query.Options{})
	if err != nil || h.InCall.Len() == 0 {
		return err
	}
	t := &hangText{About: "When the recording ended, " + text.HangSummary(h) + ". The command reprise hang says the same.", Table: newTable("row", maxHangRows, "Place", "Ranks", "For")}
	banner := t.About
	if h.Deadlocked.Len() > 0 {
		banner = "Deadlock: " + printable(text.Ranks(h.Deadlocked)) + " can never go on."
		t.Deadlocks = append(t.Deadlocks, banner)
	}
	for i, cycle := range h.Cycles {
		if i < maxCycles {
			t.Deadlocks = append(t.Deadlocks, text.Cycle(cycle))
		}
	}
	p.Remarks = append(p.Remarks, banner)
	text.HangCalls(trace, h)
	for i := range h.Groups {
		g := &h.Groups[i]
		place := cell{Text: printable(text.HangPlace(g)), Name: true, Code: true}
		if g.State == query.InCall {
			place.Note = "waits for " + printable(text.HangWaits(g))
			for _, w := range g.Waits {
				for k := range w.Sent[:min(len(w.Sent), maxCycles)] {
					place.Note += "; " + printable(text.HangSent(g, &w.Sent[k]))
				}
			}
		}
		t.Table.row(place, printable(g.Ranks.String()), valued(float64(g.Most), text.HangDuration(g)))
	}
	p.Hang = t
	return nil
}
