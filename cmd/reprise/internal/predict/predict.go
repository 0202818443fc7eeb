package predict

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/replay/loggps"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/prediction"
)

// A predicting is what predict is asked for.
type predicting struct {
	machine machineFlags
	output  string
	times   *cli.Choice // of the output
	seed    uint64
	path    bool // follow the critical path of however many calls
}

// MaxFollowed is of how many calls the critical path is followed unasked. Tests change it.
var MaxFollowed uint64 = prediction.MaxFollowed

func NewPredict() *cobra.Command {
	p := &predicting{times: cli.NewChoice("statistics", "exact")}
	var q *cli.Question
	check := func() error {
		if p.output == "" && q.Flags().Changed("times") {
			return errors.New("--times needs -o")
		}
		return nil
	}
	q = cli.NewQuestion("predict", check, p.predict, cli.OptJSON, cli.OptAll)
	f := q.Flags()
	p.machine.addTo(f)
	f.StringVarP(&p.output, "output", "o", "", "write the predicted run to a `file`: a trace with times")
	cli.AddChoice(q.Command, p.times, "times", "times in the file")
	f.Uint64Var(&p.seed, "seed", 1, "`number` that random draws depend on")
	f.BoolVar(&p.path, "critical-path", false, fmt.Sprintf(
		"follow the critical path even of more than %s calls", text.Count(MaxFollowed)))
	return q.Command
}

// A Answer is how long a run takes on another machine.
type Answer struct {
	cli.Header
	Output  string `json:"output,omitempty"`
	Machine string `json:"machine"` // the file; empty for the default
	*prediction.Run

	described []string // of the machine
	speed     string   // of the processors, in words
}

// shownFrom is the share of the run from which on calls of the critical path are shown unasked.
const shownFrom = 0.001

func (p *predicting) predict(q *cli.Question) error {
	parameters, described, err := p.machine.parameters()
	if err != nil {
		return err
	}
	if err := p.machine.checkFunctions(q, parameters.OfFunction); err != nil {
		return err
	}
	p.machine.checkRanks(q, parameters.OfRanks)
	if cli.DamagesTimes(q.Trace) || cli.Unreadable(q.Trace).Len() > 0 { // computing that is not known would count as none
		return cli.DamageOf(q.Path, q.Trace)
	}
	a := &Answer{Header: q.Header(), Output: p.output, Machine: p.machine.file, described: described,
		speed: describeSpeed(parameters.Speed)}
	if p.output != "" && query.CheckExact(q.Trace, "predict -o") != nil {
		return fmt.Errorf(
			"%s: the trace was made to fit a size: a prediction with -o needs each call as recorded", q.Path)
	}
	if p.output == "" {
		err = p.run(q, a, parameters, nil)
	} else {
		err = cli.WriteOutput(q.Command, p.output, []string{q.Path, p.machine.file}, func(w io.Writer) error {
			written, err := newPredictedTrace(q.Trace, p.times.Value == "exact")
			if err != nil {
				return err
			}
			if err := p.run(q, a, parameters, written.ended); err != nil {
				return err
			}
			file, err := written.encode(q.Command, q.Path)
			if err != nil {
				return err
			}
			_, err = w.Write(file)
			return err
		})
	}
	if err != nil {
		return err
	}
	if a.Path != nil {
		call := q.Calls()
		for i := range a.Path.Steps {
			a.Path.Steps[i].Call = call(a.Path.Steps[i].Signature)
		}
	}
	if p.output == "-" { // which is the trace
		q.SetOut(q.ErrOrStderr())
	}
	return q.Answer(a, func() { a.print(q) })
}

// run replays the trace.
func (p *predicting) run(q *cli.Question, a *Answer, parameters loggps.Parameters,
	ended func(c *replay.Call, start, end replay.Time)) error {
	model, err := q.Model()
	if err != nil {
		return err
	}
	if err := warnOfUncounted(q); err != nil {
		return err
	}
	calls, followed := q.TotalCalls(), MaxFollowed
	if p.path {
		followed = math.MaxUint64
	}
	bar := cli.NewCounter(q.Context(), q.ErrOrStderr(), "replay", calls, "calls")
	defer bar.Done()
	a.Run, err = prediction.Open(q.Context(), model, prediction.Options{
		Machine: parameters, Seed: p.seed, MaxFollowed: followed, Ended: ended, Progress: cli.WarnOfHours(q, bar),
	})
	return cli.OfDeadlock(err)
}

// warnOfUncounted warns if the computing of ranks is not known.
func warnOfUncounted(q *cli.Question) error {
	computing, uncounted, err := prediction.ComputingOf(q.Trace)
	switch {
	case err != nil:
		return err
	case computing == query.None.String():
		keeps := ""
		if q.Trace.Run().Source == collect.Source {
			keeps = ": reprise record --times statistics, or exact, keeps times"
		}
		cli.Warn(q.ErrOrStderr(),
			"%s has no times: computing counts as none, and the prediction is of communication alone%s", q.Path, keeps)
	case uncounted.Len() > 0:
		cli.Warn(q.ErrOrStderr(), "%s has no times of %s: their computing counts as none", q.Path,
			text.Ranks(uncounted))
	}
	return nil
}

func (a *Answer) print(q *cli.Question) {
	q.Printf("%s: %s\n", text.Printable(q.Path), text.Duration(a.Time))
	if a.Recorded != nil {
		q.Printf("recorded: %s; predicted %s\n", text.Duration(*a.Recorded), cli.SignedPercent(a.Time, *a.Recorded))
	}
	for _, line := range a.described {
		q.Printf("%s\n", line)
	}
	scaled := ""
	if a.Scaled {
		scaled = ", scaled to the sums of each rank"
	}
	q.Printf("computing: %s\n", map[string]string{
		prediction.Amounts:        "the amounts that the trace has, at " + a.speed + " flops",
		query.Series.String():     "the times of every call",
		query.Histograms.String(): "drawn from histograms" + scaled,
		query.Statistics.String(): "the means of each signature" + scaled,
		query.None.String():       "none, as the trace has no times",
	}[a.Computing])
	if s := a.Slowest; s != nil && len(a.Ranks) > 1 && text.Duration(s.Computing) != text.Duration(s.Mean) {
		q.Printf("rank %d is the slowest: it computes %s, mean %s\n", s.Rank, text.Duration(s.Computing),
			text.Duration(s.Mean))
	}
	q.Printf("\nranks, those first that compute longest\n\n")
	t := q.Table("rank", "ends", "computing", "", "sending", "", "waiting", "")
	ranks := slices.Clone(a.Ranks)
	slices.SortStableFunc(ranks, func(x, y prediction.Rank) int { return cmp.Compare(y.Computing, x.Computing) })
	for _, r := range ranks {
		t.Row(text.ID(r.Rank), text.Duration(r.End), text.Duration(r.Computing),
			text.Percent(r.Computing, r.End), text.Duration(r.Sending), text.Percent(r.Sending, r.End),
			text.Duration(r.Waiting), text.Percent(r.Waiting, r.End))
	}
	t.Close()
	if a.Path == nil {
		q.Printf("\nthe critical path of more than %s calls is followed with --critical-path\n",
			text.Count(MaxFollowed))
		return
	}
	if a.Time == 0 {
		return
	}
	longest := slices.MaxFunc(a.Path.Ranks, func(x, y prediction.PathRank) int {
		return cmp.Compare(x.Computing+x.Within, y.Computing+y.Within)
	})
	q.Printf("\ncritical path: %s computing; %s of it on rank %d\n\n", text.Percent(a.Path.Computing, a.Time),
		text.Percent(longest.Computing+longest.Within, a.Time), longest.Rank)
	most := 0 // rows to show
	for _, s := range a.Path.Steps {
		if q.All || s.Computing+s.Within >= shownFrom*a.Time && most < cli.MaxRows {
			most++
		}
	}
	t = text.NewTable(q.OutOrStdout(), max(most, 1), "<signature", "time", "", "computing", "in calls", "calls")
	for _, s := range a.Path.Steps {
		t.Row(s.Call, text.Duration(s.Computing+s.Within), text.Percent(s.Computing+s.Within, a.Time),
			text.Duration(s.Computing), text.Duration(s.Within), s.Calls)
	}
	t.Close()
	if a.Output != "" && a.Output != "-" {
		q.Printf("\nthe predicted run is in %s\n", text.Printable(a.Output))
	}
}
