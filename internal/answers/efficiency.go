package answers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/efficiency"
	"github.com/reprise-trace/reprise/timing"
)

// Factor writes an efficiency.
func Factor(f float64) string { return text.Percent(f, 1) }

// Factors writes efficiencies with how far they may be off: parallel, load balance, communication, serialization,
// and transfer; a dash for one that is not known.
func Factors(p *efficiency.Part) (list [5]string) {
	f, e := p.Factors, p.Errors
	for i := range list {
		list[i] = "-"
	}
	if f == nil {
		return list
	}
	if e == nil {
		unknown := math.Inf(1)
		e = &efficiency.Factors{Parallel: unknown, LoadBalance: unknown, Communication: unknown,
			Serialization: &unknown, Transfer: &unknown}
	}
	list[0], list[1] = text.Efficiency(f.Parallel, e.Parallel), text.Efficiency(f.LoadBalance, e.LoadBalance)
	if list[2] = text.Efficiency(f.Communication, e.Communication); f.Serialization != nil {
		list[3] = text.Efficiency(*f.Serialization, *e.Serialization)
		list[4] = text.Efficiency(*f.Transfer, *e.Transfer)
	}
	return list
}

// ScalingFactor writes an efficiency that compares two runs, with how far it may be off.
func ScalingFactor(f float64, errors *efficiency.Scaling, of func(errors *efficiency.Scaling) float64) string {
	if errors == nil {
		return text.Efficiency(f, math.Inf(1))
	}
	return text.Efficiency(f, of(errors))
}

// Speedup writes a speedup, with how far it may be off.
func Speedup(s *efficiency.Scaling) string {
	switch {
	case s.Errors == nil:
		return fmt.Sprintf("≈ %.2f", s.Speedup)
	case s.Errors.Speedup < 0.005:
		return fmt.Sprintf("%.2f", s.Speedup)
	}
	return fmt.Sprintf("%.2f ± %.2f", s.Speedup, math.Ceil(100*s.Errors.Speedup+0.5)/100)
}

// maxPhaseFunctions is how many functions the name of a phase has.
const maxPhaseFunctions = 3

// Trips returns how often a loop goes round, or ranks come to a region.
func Trips(g *query.Region) string {
	trips := text.Count(g.MinTrips)
	if g.MinTrips < g.MaxTrips {
		trips += "…" + text.Count(g.MaxTrips)
	}
	return trips
}

// Region names a region in a list of them: by its number, and the function that it is in or, where that is not known,
// its trip count and its most frequent functions. A loop is indented by how many loops it is in.
func Region(g *query.Region) string {
	name := g.Name
	if name == "" {
		var names []string
		for i, f := range g.Functions {
			if i == maxPhaseFunctions {
				names = append(names, "…")
				break
			}
			names = append(names, f.Name)
		}
		name = Trips(g) + " × " + strings.Join(names, ", ")
	}
	name = text.Printable(name)
	switch g.Kind {
	case query.PhaseRegion:
		return fmt.Sprintf("%d %s", g.Number, name)
	case query.LoopRegion:
		return fmt.Sprintf("%sloop %d %s", strings.Repeat("  ", g.Depth), g.Number, name)
	}
	return name
}

// Phase names a phase of a run of so many ranks.
func Phase(p *efficiency.Phase, ranks int) string {
	name := Region(p.Region)
	if p.Name != "" {
		name += ", " + Trips(p.Region) + " ×"
	}
	if p.Ranks.Len() < ranks {
		name += " on " + text.Ranks(p.Ranks)
	}
	return name
}

// MinorPhase is below which share of the time of the run a phase is only shown if all are.
const MinorPhase = 0.01

// EfficiencyTimes says what the times of efficiencies are.
func EfficiencyTimes(r *efficiency.Run) string {
	switch {
	case r.Source == query.Series:
		return TimesOfCalls(r.Guarantee, r.TimesInArchive)
	case r.Scaled:
		return "from " + r.Source.String() +
			", scaled to the sums of each rank: what has ≈ is an estimate"
	}
	return "from " + r.Source.String() +
		" of the calls of all ranks: the load balance is unknown, what has ≈ is an estimate"
}

// TimesOfCalls says how exact the times of every call are, which were those of an archive that says what its times
// are unless inArchive is empty.
func TimesOfCalls(g timing.Guarantee, inArchive []string) string {
	if len(inArchive) > 0 && g == timing.Exact {
		return "from the times of every call in the archive: " + strings.Join(inArchive, "; ")
	}
	return "from the times of every call, " + text.Error(g)
}

// EfficiencyNotes are what is to be known of efficiencies besides the times.
func EfficiencyNotes(r *efficiency.Run) []string {
	var notes []string
	longer := 0
	for i := range r.Phases {
		if r.Phases[i].Longer {
			longer++
		}
	}
	inexact := ""
	if r.Source != query.Series || r.Guarantee != 0 {
		inexact = ", or times are too inexact"
	}
	switch {
	case r.Longer:
		notes = append(notes,
			"transfer counts as 100 %: the ideal run takes longer than the recorded one, because ranks wait there for others that they did not wait for, or clocks of ranks differ"+inexact)
	case longer > 0:
		notes = append(notes,
			fmt.Sprintf("transfer counts as 100 %% in %s: ranks reach it at times further apart in the ideal run%s", text.Plural(longer, "phase"), inexact))
	}
	if r.Factors == nil {
		notes = append(notes, "no rank has a known computing time: there are no efficiencies")
	}
	if factors := Factors(&r.Part); r.Errors != nil && r.Factors.Transfer != nil && slices.Contains(factors[:], "-") {
		notes = append(notes,
			"-: may be off by more than 25 %, as times are not exact; record --times exact tells it")
	}
	if r.Unphased {
		notes = append(notes, "phases are unknown: the control flows of the ranks are too long to compare")
	}
	if r.LacksReceives {
		notes = append(notes, "serialization and transfer are not known: the trace has no receive of "+
			text.Plural(r.Unreceived, "message")+", for which the ideal run does not wait")
	}
	if n := r.Unknown + r.Outside; n > 0 {
		notes = append(notes,
			fmt.Sprintf("the ideal run does not wait for %s with unknown ranks: the ideal time may be too short", text.Count(n)+" messages or operations"))
	}
	return notes
}
