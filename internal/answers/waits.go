package answers

import (
	"strings"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/waits"
)

// Delay returns what a delay is in words.
func Delay(d *waits.Delay) string {
	switch {
	case d.InCall:
		return Site(d.To)
	case d.From == nil:
		return "before " + Site(d.To)
	case d.From.Place != "" && d.To.Place != "":
		return text.Printable("computing from " + LineOf(d.From.Place) + " to " + LineOf(d.To.Place))
	}
	return text.Printable("computing from " + d.From.Function + " to " + d.To.Function)
}

// WaitsNotes says what waits of a run are not told.
func WaitsNotes(r *waits.Run) (notes []string) {
	for _, of := range []struct {
		n    uint64
		what string
	}{
		{r.Short, "waits shorter than the error of times and clocks"},
		{r.Unknown, "messages and operations with unknown ranks"},
		{r.Outside, "messages and operations with ranks that are not in the trace"},
		{r.Unmatched, "calls whose message or operation is not in the trace"},
	} {
		if of.n > 0 {
			notes = append(notes, "not included: "+text.Count(of.n)+" "+of.what)
		}
	}
	if r.LacksReceives {
		notes = append(notes, "not known: waits for "+text.Plural(r.Unreceived, "message")+
			" of which the trace has no receive")
	}
	if len(r.Unsought) > 0 {
		notes = append(notes, "not looked for: waits for "+strings.Join(r.Unsought, ", "))
	}
	return notes
}

// SkewsNote says by how much the clocks of ranks differ, nothing if skews do not show it.
func SkewsNote(skews []query.Skew) string {
	apart := apartOf(skews)
	if apart == 0 {
		return ""
	}
	return "the clocks of ranks differ by " + text.Duration(apart) +
		" or more, as operations end on one rank before others begin them: skews and stragglers are those of the clocks"
}
