package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// A Part is the options that choose a part of a run, which mean the same for every question: --phase, --loop, --from
// and --to.
type Part struct {
	phase    string
	loop     int
	From, To TimeFlag
	Times    bool // whether one of these is given
	chosen   bool // whether anything is
}

// addTimes adds the options that choose a part of a run by time.
func (p *Part) addTimes(cmd *cobra.Command) {
	p.To = math.MaxInt64
	cmd.Flags().Var(&p.From, "from", "start of the part, a `time` of the run")
	cmd.Flags().Var(&p.To, "to", "end of the part, a `time` of the run")
	cmd.Flags().Lookup("from").DefValue = "the beginning"
	cmd.Flags().Lookup("to").DefValue = "the end"
}

// add adds all options that choose a part of a run.
func (p *Part) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.phase, "phase", "",
		"only the phase with this number in profile --by region, or the region with this `name`")
	cmd.Flags().IntVar(&p.loop, "loop", 0, "only the loop with this `number` in profile --by region")
	cmd.Flags().Lookup("loop").DefValue = "all"
	p.addTimes(cmd)
}

// CheckPart returns the error of options that do not choose a part of a run.
func (q *Question) CheckPart(cmd *cobra.Command) error { return q.Part.check(cmd) }

// check returns the error of options that do not choose a part.
func (p *Part) check(cmd *cobra.Command) error {
	given := func(name string) bool { f := cmd.Flags().Lookup(name); return f != nil && f.Changed }
	p.Times = given("from") || given("to")
	p.chosen = p.Times || given("phase") || given("loop")
	switch {
	case given("phase") && given("loop"), p.Times && (given("phase") || given("loop")):
		return BadUsage(errors.New("--phase, --loop, and --from with --to do not go together: a loop is in one phase"))
	case given("phase") && p.phase == "":
		return BadUsage(errors.New("--phase needs a number or a name"))
	case given("loop") && p.loop < 1:
		return BadUsage(fmt.Errorf("no loop %s: loops have numbers from 1 on", strconv.Itoa(p.loop)))
	case p.To < p.From:
		return BadUsage(fmt.Errorf("--to %v is before --from %v", p.To.String(), p.From.String()))
	}
	return nil
}

// Until returns the end of the part by time, 2⁶³−1 for that of the run.
func (p *Part) Until() int64 {
	if !p.Times {
		return math.MaxInt64
	}
	return int64(p.To)
}

// of returns the region of the trace of a question that is chosen, nil if all of the run is.
func (p *Part) of(q *Question) (*query.Region, error) {
	if !p.chosen {
		return nil, nil
	}
	g, err := p.in(q.Context(), q.Trace)
	if err != nil {
		return nil, q.Fail(err)
	}
	return g, nil
}

// RegionsOf returns the part that is chosen of two traces, nil of both if all of the run is.
func (q *Question) RegionsOf(paths [2]string, traces [2]*trace.Trace) (regions [2]*query.Region, err error) {
	for i, t := range traces {
		if !q.Part.chosen {
			break
		}
		if regions[i], err = q.Part.in(q.Context(), t); err != nil {
			return regions, FileError(paths[i], err)
		}
	}
	return regions, nil
}

// in returns the region of a trace.
func (p *Part) in(ctx context.Context, t *trace.Trace) (*query.Region, error) {
	return query.OpenRegion(ctx, t, query.Selection{Phase: p.phase, Loop: p.loop, Between: p.Times,
		From: int64(p.From), To: int64(p.To)})
}
