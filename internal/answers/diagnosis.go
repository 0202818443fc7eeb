package answers

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/diagnosis"
	"github.com/reprise-trace/reprise/query/waits"
	"github.com/reprise-trace/reprise/rankenc"
)

// evenly is from which load balance on ranks count as computing equally long.
const evenly = 0.95

// Diagnosis returns why a run took as long as it did, in sentences.
func Diagnosis(d *diagnosis.Diagnosis) (sentences []string) {
	switch {
	case d.Aborted.Len() > 0:
		return []string{"It ended early: " + Aborted(d.Aborted) + "."}
	case d.Early.Len() > 0:
		return []string{"It ended early: " + text.Ranks(d.Early) + " did not reach MPI_Finalize."}
	case d.Missing.Len() > 0:
		return []string{"Efficiencies are not known: " + text.Ranks(d.Missing) + plural(d.Missing, " has", " have") +
			" no calls in the trace."}
	case d.OffRanks.Len() > 0:
		return []string{"Efficiencies are not known: recording was off for a part of the run, on " +
			text.Ranks(d.OffRanks) + "."}
	case d.Off:
		return []string{"Efficiencies are not known: MPI_Pcontrol may have switched recording off."}
	}
	if f := d.Factors; f != nil {
		s := "Parallel efficiency " + Factor(f.Parallel) + ": load balance " + Factor(f.LoadBalance)
		if f.Serialization != nil && f.Transfer != nil {
			s += ", serialization " + Factor(*f.Serialization) + ", transfer " + Factor(*f.Transfer) + "."
		} else {
			s += ", communication " + Factor(f.Communication) + "."
		}
		sentences = append(sentences, s)
	}
	if d.Unreceived > 0 {
		sentences = append(sentences, lacksReceives(d.Unreceived))
	}
	if d.Apart > 0 {
		sentences = append(sentences, clocksDiffer(d.Apart))
	}
	const least = 0.01 // of the time of all ranks
	switch w, all := d.Waiting, float64(d.Run)*float64(d.Ranks); {
	case w != nil && float64(w.Wait) >= least*all:
		who := strings.ToUpper(text.Ranks(w.Ranks)[:1]) + text.Ranks(w.Ranks)[1:]
		s := who + plural(w.Ranks, " waits ", " wait ") + text.Around(w.Wait, w.Error) + " of " +
			text.Duration(all) + ", " +
			text.Percent(w.Caused, w.Wait) + " of that for rank " + strconv.Itoa(w.Rank)
		if w.Cause.Cost < w.Caused*9/10 {
			s += ", " + text.Duration(w.Cause.Cost) + " because it"
		} else {
			s += ", because it"
		}
		if w.Cause.InCall {
			s += " is long in " + Site(w.Cause.To)
		} else {
			s += " computes longer " + Between(w.Cause.From, &w.Cause.To)
		}
		sentences = append(sentences, s+".")
	case d.Exact && d.Unreceived == 0 && (d.Factors == nil || d.Factors.LoadBalance >= evenly):
		sentences = append(sentences, "Ranks do not wait for each other for long.")
	case d.Slowest != nil && d.Factors != nil && d.Factors.LoadBalance < evenly:
		s := "Rank " + strconv.Itoa(d.Slowest.Rank) + " computes longest, " +
			text.Around(d.Slowest.Outside, d.Slowest.Error) +
			", mean " + text.Around(d.Slowest.Mean, d.Slowest.Error)
		if d.Slowest.To != nil && d.Slowest.Time > d.Slowest.Outside/4 {
			s += "; " + text.Duration(d.Slowest.Time) + " of it " + Between(d.Slowest.From, d.Slowest.To)
		}
		sentences = append(sentences, s+".")
	case d.Slowest != nil && d.Factors != nil:
		sentences = append(sentences, "All ranks compute for about as long, "+
			text.Around(d.Slowest.Mean, d.Slowest.Error)+
			" on average.")
	}
	return sentences
}

// SeveralWorlds says what the startup of a run has that started processes later, "" for another.
func SeveralWorlds(r *query.RunTimes) string {
	if r.Worlds < 2 || r.Startup == 0 {
		return ""
	}
	return fmt.Sprintf("Calls before the last of %d MPI_COMM_WORLDs began are in the startup, not in the run.", r.Worlds)
}

// plural returns one of two words, as a set has one rank or more.
func plural(set rankenc.Set, one, more string) string {
	if set.Len() == 1 {
		return one
	}
	return more
}

// Between says where computing is: after a call, if that is known, and before another.
func Between(from, to *waits.Site) string {
	if from == nil {
		return "before " + Site(*to)
	}
	if from.Place != "" && to.Place != "" {
		return text.Printable("between " + LineOf(from.Place) + " and " + LineOf(to.Place))
	}
	return text.Printable("between " + from.Function + " and " + to.Function)
}

// Site returns a call, and its line if that is known.
func Site(s waits.Site) string {
	if s.Place == "" {
		return text.Printable(s.Function)
	}
	return text.Printable(s.Function + " " + LineOf(s.Place))
}

// LineOf returns the line of a place, without the function that it is in.
func LineOf(place string) string {
	line, _, _ := strings.Cut(place, " ")
	return line
}
