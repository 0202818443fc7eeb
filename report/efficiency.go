package report

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/efficiency"
	"github.com/reprise-trace/reprise/trace"
)

// maxPhaseRows is how many phases the table of efficiencies has.
const maxPhaseRows = 40

// An efficiencyText is what limits how well the run scales.
type efficiencyText struct {
	About string
	Table *table
	Notes []string
}

// addEfficiency adds the efficiencies of the run and its phases, if the trace has times and not too many
// calls have to be executed.
func (p *page) addEfficiency(ctx context.Context, tr *trace.Trace, _ Options) error {
	if p.model == nil || !p.model.Known() || !tr.Content().Exact {
		return nil
	}
	var r *efficiency.Run
	var err error
	if p.diagnosis != nil {
		r = p.diagnosis.Efficiency
	}
	if r == nil {
		r, err = efficiency.Open(ctx, p.model, efficiency.Options{MaxCalls: query.MaxUnasked})
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, query.ErrNoTimes), errors.Is(err, efficiency.ErrTooMany),
		errors.As(err, new(*replay.DeadlockError)) && p.Banner != "":
		return nil
	case err != nil:
		p.Efficiency = &efficiencyText{About: "Unknown: " +
			printable(strings.TrimPrefix(err.Error(), "efficiency: ")) + "."}
		return nil
	}
	e := &efficiencyText{Table: newTable("phase", maxPhaseRows+1, "Part", "Time", "Parallel", "Load balance",
		"Communication", "Serialization", "Transfer")}
	e.About = fmt.Sprintf(
		"Limits of scaling. Parallel efficiency is load balance times communication efficiency, and communication efficiency is serialization times transfer. "+
			"The time of the run is %s from MPI_Init to MPI_Finalize, and would be %s on a network that takes no time. Times are %s. The command reprise efficiency shows the same, and compares several runs.",
		text.Within(r.Time, r.TimeError), text.Within(r.Ideal, r.IdealError), answers.EfficiencyTimes(r))
	e.row(name("The run"), &r.Part)
	minor := 0
	for i := range r.Phases {
		phase := &r.Phases[i]
		if phase.Time < answers.MinorPhase*r.Time {
			minor++
			continue
		}
		e.row(cell{Text: printable(answers.Phase(phase, r.Ranks)), Name: true,
			Find: fmt.Sprintf("call=%d,%d", phase.Rank, phase.Position)}, &phase.Part)
	}
	if e.Notes = answers.EfficiencyNotes(r); minor > 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("%s of less than %s of the time left out",
			text.Plural(minor, "phase"), answers.Factor(answers.MinorPhase)))
	}
	p.Efficiency = e
	return nil
}

// row adds the efficiency of a run or a phase.
func (e *efficiencyText) row(part any, of *efficiency.Part) {
	cells := []any{part, valued(int64(math.Round(float64(of.Time))), text.Within(of.Time, of.TimeError))}
	values := [5]float64{-1, -1, -1, -1, -1}
	if f := of.Factors; f != nil {
		values[0], values[1], values[2] = f.Parallel, f.LoadBalance, f.Communication
		if f.Serialization != nil {
			values[3], values[4] = *f.Serialization, *f.Transfer
		}
	}
	for i, written := range answers.Factors(of) {
		if written == "-" {
			written = "–"
		}
		cells = append(cells, valued(values[i], written))
	}
	e.Table.row(cells...)
}
