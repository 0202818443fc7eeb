package answers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// HangCalls sets the calls of groups: as the rank made it if there is one, and otherwise as
// the trace has it for all that make it.
func HangCalls(tr *trace.Trace, h *query.Hang) {
	p := tr.Printer(trace.PrintOptions{})
	for i := range h.Groups {
		g := &h.Groups[i]
		if g.Signature < 0 {
			continue
		}
		s := tr.Signature(g.Signature)
		g.Call = text.Printable(s.Function.Name)
		r, err := tr.Folded(g.Ranks.At(0), nil)
		if err != nil {
			continue
		}
		if g.Ranks.Len() == 1 {
			g.Call = string(p.AppendCall(nil, r.CallAt(g.Position)))
		} else if call, err := p.Signature(r, s); err == nil {
			g.Call = call
		}
	}
}

// HangSummary says how many ranks were where.
func HangSummary(a *query.Hang) string {
	parts := []string{text.Plural(a.InCall.Len(), "rank") + " " + were(a.InCall.Len()) + " in calls"}
	if n := a.Outside.Len(); n > 0 {
		parts = append(parts, text.Count(n)+" outside MPI")
	}
	if n := a.Ended.Len(); n > 0 {
		parts = append(parts, text.Count(n)+" after MPI_Finalize")
	}
	return strings.Join(parts, ", ")
}

// Unrecorded says of which ranks nothing was recorded.
func Unrecorded(ranks rankenc.Set) string {
	return "all calls of " + text.Ranks(ranks) + ": nothing was recorded of " + itOrThem(ranks)
}

// Aborted says which ranks called MPI_Abort.
func Aborted(ranks rankenc.Set) string { return text.Ranks(ranks) + " called MPI_Abort" }

func itOrThem(ranks rankenc.Set) string {
	if ranks.Len() == 1 {
		return "it"
	}
	return "them"
}

// HangSuspects says which ranks ended the run, or else what ranks without a record may have to do with a run that
// hangs, "" if there are none.
func HangSuspects(a *query.Hang) string {
	var aborting []rankenc.Set
	for _, g := range a.Groups {
		if slices.ContainsFunc(g.Waits, func(w query.HangWait) bool { return w.For == query.ForEnd }) {
			aborting = append(aborting, g.Ranks)
		}
	}
	if ranks := (rankenc.Set{}).Union(aborting...); ranks.Len() > 0 {
		return Aborted(ranks) + ", which ended the run"
	}
	if a.Unrecorded.Len() == 0 {
		return ""
	}
	return "nothing was recorded of " + text.Ranks(a.Unrecorded) + ", which may be the cause of waits for " +
		itOrThem(a.Unrecorded)
}

// Cycle writes ranks that wait for each other, of many the first and the last.
func Cycle(cycle []int) string {
	const most = 12
	var b strings.Builder
	for i, rank := range cycle {
		if i == most-2 && len(cycle) > most {
			fmt.Fprintf(&b, "… %s more → ", text.Count(len(cycle)-most+1))
		}
		if i < most-2 || i == len(cycle)-1 || len(cycle) <= most {
			fmt.Fprintf(&b, "%d → ", rank)
		}
	}
	return b.String() + strconv.Itoa(cycle[0])
}

// HangPlace says where ranks of a group were.
func HangPlace(g *query.HangGroup) string {
	thread := ""
	if g.Thread > 0 {
		thread = fmt.Sprintf("thread %d: ", g.Thread)
	}
	switch {
	case g.State == query.Ended:
		return "after MPI_Finalize"
	case g.State == query.Outside:
		return "outside MPI, after " + g.Call
	}
	return thread + "in " + g.Call
}

// HangDuration says how long ranks had been in their calls; nothing if it is not known.
func HangDuration(g *query.HangGroup) string {
	if g.State != query.InCall || g.Source == query.None || g.Most == 0 {
		return ""
	}
	least, most := text.Duration(int64(g.Least)), text.Duration(int64(g.Most))
	if least == most {
		return most
	}
	return least + " to " + most
}

// HangWaits says what ranks of a group wait for.
func HangWaits(g *query.HangGroup) string {
	var parts []string
	for _, w := range g.Waits {
		parts = append(parts, waitText(g, &w))
	}
	switch {
	case len(parts) == 0:
		return "an unknown event"
	case g.Any:
		return strings.Join(parts, ", or ")
	}
	return strings.Join(parts, ", and ")
}

func waitText(g *query.HangGroup, w *query.HangWait) string {
	ranks := text.Ranks(w.Ranks)
	if w.Any && w.Ranks.Len() > 1 {
		ranks = "any of " + ranks
	}
	if !w.Any && w.For != query.ForMembers && g.Ranks.Len() > 1 && w.Ranks.Len() > 1 {
		which := "another of "
		if g.Ranks.Difference(w.Ranks).Len() > 0 {
			which = "one of "
		}
		ranks = which + ranks
	}
	var b strings.Builder
	switch w.For {
	case query.ForMessage:
		fmt.Fprintf(&b, "a message from %s", ranks)
	case query.ForReceiver:
		fmt.Fprintf(&b, "%s to receive", ranks)
	case query.ForMembers:
		fmt.Fprintf(&b, "%s to make the call", ranks)
	case query.ForEnd:
		b.WriteString("the launcher to end the run")
	}
	if w.For != query.ForMembers && w.For != query.ForEnd && w.Tag != semantics.AnyTag {
		fmt.Fprintf(&b, ", tag %d", w.Tag)
	}
	if w.Communicator != nil && w.Communicator.Name != "world" {
		fmt.Fprintf(&b, ", on %s", w.Communicator.Name)
	}
	if w.Perhaps {
		b.WriteString(", perhaps")
	}
	if w.Ended.Len() > 0 {
		fmt.Fprintf(&b, " (%s after MPI_Finalize)", text.Ranks(w.Ended))
	}
	return b.String()
}

// HangSent tells of a message that was sent to a rank of a group that waits for another one.
func HangSent(g *query.HangGroup, c *query.Channel) string {
	return fmt.Sprintf(
		"rank %d was sent a message from rank %d with tag %d on %s, which it does not receive: is that the one?",
		g.Ranks.At(0), c.Source, c.Tag, c.Communicator.Name)
}

func were(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
