package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/replay/loggps"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// A prediction is what predict is asked for.
type prediction struct {
	machine machineFlags
	output  string
	times   *choice // of the output
	seed    uint64
	path    bool // follow the critical path of however many calls
}

// maxFollowed is of how many calls the critical path is followed unasked. Tests change it.
var maxFollowed int64 = 20_000_000

func newPredict() *cobra.Command {
	p := &prediction{times: newChoice("statistics", "exact")}
	var q *question
	check := func() error {
		if p.output == "" && q.Flags().Changed("times") {
			return errors.New("--times is of the trace that -o writes")
		}
		return nil
	}
	q = newQuestion("predict", check, p.predict, optJSON, optAll)
	f := q.Flags()
	p.machine.addTo(f)
	f.StringVarP(&p.output, "output", "o", "", "write the predicted run to a `file`: a trace with times")
	addChoice(q.Command, p.times, "times", "times in the file")
	f.Uint64Var(&p.seed, "seed", 1, "`number` that random draws depend on")
	f.BoolVar(&p.path, "critical-path", false, fmt.Sprintf("follow the critical path even of more than %s calls", text.Count(maxFollowed)))
	return q.Command
}

// A predictAnswer is how long a run takes on another machine.
type predictAnswer struct {
	header
	Output    string             `json:"output,omitempty"`
	Machine   string             `json:"machine"` // the file; empty for the default
	Computing string             `json:"computing"`
	Time      query.Nanoseconds  `json:"run_ns"`
	Recorded  *query.Nanoseconds `json:"recorded_ns"` // null without times
	Calls     uint64             `json:"calls"`
	Messages  uint64             `json:"messages"`
	Slowest   *slowestComputing  `json:"slowest_rank,omitempty"`
	Ranks     []predictedRank    `json:"by_rank"`
	Path      *predictedPath     `json:"critical_path"` // null if it was not followed

	scaled    bool     // the means are those of each rank
	described []string // of the machine
	speed     string   // likewise
	result    *replay.Result
}

// A slowestComputing is the rank that computes longest.
type slowestComputing struct {
	Rank      int               `json:"rank"`
	Computing query.Nanoseconds `json:"computing_ns"`
	Mean      query.Nanoseconds `json:"mean_ns"` // of all ranks
}

// A predictedRank is how a rank spends its time.
type predictedRank struct {
	Rank      int               `json:"rank"`
	End       query.Nanoseconds `json:"end_ns"`
	Computing query.Nanoseconds `json:"computing_ns"`
	Sending   query.Nanoseconds `json:"sending_ns"`
	Waiting   query.Nanoseconds `json:"waiting_ns"`
}

// A predictedPath is what the end of the run depends on.
type predictedPath struct {
	Computing query.Nanoseconds `json:"computing_ns"`
	Steps     []predictedStep   `json:"signatures"`
	Ranks     []pathRank        `json:"by_rank"`
}

// A predictedStep is what the critical path has of the calls with a signature.
type predictedStep struct {
	Signature int               `json:"signature"`
	Call      string            `json:"call"`
	Calls     uint64            `json:"calls"`
	Computing query.Nanoseconds `json:"computing_ns"`
	Within    query.Nanoseconds `json:"time_ns"`
}

// A pathRank is how long the critical path is on a rank.
type pathRank struct {
	Rank      int               `json:"rank"`
	Computing query.Nanoseconds `json:"computing_ns"`
	Within    query.Nanoseconds `json:"time_ns"`
}

// shownFrom is the share of the run from which on calls of the critical path are shown unasked.
const shownFrom = 0.001

// nanoseconds returns a time in nanoseconds, rounded.
func nanoseconds(t replay.Time) query.Nanoseconds {
	return query.Nanoseconds(math.Round(float64(t) / float64(replay.Nanosecond)))
}

func (p *prediction) predict(q *question) error {
	parameters, described, err := p.machine.parameters()
	if err != nil {
		return err
	}
	if err := p.machine.checkFunctions(q, parameters.OfFunction); err != nil {
		return err
	}
	p.machine.checkRanks(q, parameters.OfRanks)
	if damagesTimes(q.trace) || unreadable(q.trace).Len() > 0 { // computing that is not known would count as none
		return damageOf(q.path, q.trace)
	}
	a := &predictAnswer{header: q.header(), Output: p.output, Machine: p.machine.file, described: described, speed: describeSpeed(parameters.Speed)}
	if p.output != "" && !q.trace.IsExact() {
		return fmt.Errorf("%s: the trace was made to fit a size: a prediction with -o needs each call as it was", q.path)
	}
	if p.output == "" {
		err = p.run(q, a, parameters, nil)
	} else {
		err = writeOutput(q.Command, p.output, []string{q.path, p.machine.file}, func(w io.Writer) error {
			written, err := newPredictedTrace(q.trace, p.times.value == "exact")
			if err != nil {
				return err
			}
			if err := p.run(q, a, parameters, written.ended); err != nil {
				return err
			}
			file, err := written.encode(q.Command, q.path)
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
	a.fill(q)
	recorded, err := query.RunTimesOf(q.Context(), q.trace)
	if err != nil {
		return err
	}
	if recorded != nil {
		a.Recorded = &recorded.Run
	}
	if p.output == "-" { // which is the trace
		q.SetOut(q.ErrOrStderr())
	}
	return q.answer(a, func() { a.print(q) })
}

// run replays the trace.
func (p *prediction) run(q *question, a *predictAnswer, parameters loggps.Parameters, ended func(c *replay.Call, start, end replay.Time)) error {
	model, err := q.model()
	if err != nil {
		return err
	}
	recorded, err := replay.NewRecorded(q.trace)
	if err != nil {
		return err
	}
	defer recorded.Close()
	recorded.Draw(p.seed)
	recorded.Speed(parameters.Speed)
	if a.Computing, err = computingOf(q); err != nil {
		return err
	}
	if a.Computing == query.Statistics.String() || a.Computing == query.Histograms.String() {
		if a.scaled, err = scaleToRanks(q, recorded); err != nil {
			return err
		}
	}
	machine, err := loggps.New(parameters, q.trace.Ranks(), recorded)
	if err != nil {
		return err
	}
	calls := q.totalCalls()
	bar := newCounter(q.Context(), q.ErrOrStderr(), "replay", calls, "calls")
	defer bar.done()
	a.result, err = replay.RunWith(q.Context(), model, machine, replay.Options{
		Ended: ended, CriticalPath: p.path || calls >= 0 && calls <= maxFollowed, Seed: p.seed,
		Progress: warnOfHours(q, bar),
	})
	if err != nil {
		return ofDeadlock(err)
	}
	return recorded.Close()
}

// scaleToRanks has the means of a rank come to the sums that the trace keeps of it, and reports whether it keeps any. Those of
// a rank with several threads do not say how long each of them computes.
func scaleToRanks(q *question, recorded *replay.Recorded) (bool, error) {
	kept, err := q.trace.RankTimes()
	if kept == nil || err != nil || hasThreads(q.trace) {
		return false, err
	}
	times, err := query.OpenTimes(q.trace)
	if err != nil {
		return false, err
	}
	recorded.Scale(func(rank *trace.Rank) iter.Seq2[uint32, replay.Mean] {
		loops := times.RankLoops(rank)
		if !loops.Scaled {
			return nil
		}
		return func(yield func(uint32, replay.Mean) bool) {
			for terminal, m := range loops.Means() {
				if !yield(terminal, replay.Mean(m)) {
					return
				}
			}
		}
	})
	return true, nil
}

// amountsOfComputing is from what it is known how long ranks compute if the trace says how much that is.
const amountsOfComputing = "amounts"

// computingOf returns from what it is known how long ranks compute, and warns if it is not.
func computingOf(q *question) (string, error) {
	times, err := query.OpenTimes(q.trace)
	if err != nil {
		return "", err
	}
	timed, _, err := q.trace.SeriesRanks()
	if err != nil {
		return "", err
	}
	durations, gaps, err := q.trace.Summaries()
	switch {
	case err != nil:
		return "", err
	case timed.Len() > 0:
		if rest := q.trace.RankSet().Difference(timed); rest.Len() > 0 && durations.Histograms == nil && !times.Summarized() {
			warn(q.ErrOrStderr(), "%s has no times of %s: their computing counts as none", q.path, text.Ranks(rest))
		}
		return query.Series.String(), nil
	case durations.Histograms != nil || gaps.Histograms != nil:
		return query.Histograms.String(), nil
	case times.Summarized():
		return query.Statistics.String(), nil
	case slices.ContainsFunc(q.trace.Functions(), semantics.HasAmount):
		return amountsOfComputing, nil
	}
	keeps := ""
	if q.trace.Run().Source == collect.Source {
		keeps = ": reprise record --times statistics, or exact, keeps times"
	}
	warn(q.ErrOrStderr(), "%s has no times: computing counts as none, and the prediction is of communication alone%s", q.path, keeps)
	return query.None.String(), nil
}

// fill sets what the result of the replay says.
func (a *predictAnswer) fill(q *question) {
	r := a.result
	a.Time, a.Calls, a.Messages, a.Ranks = nanoseconds(r.End), r.Calls, r.Messages, []predictedRank{}
	sum := 0.0
	for _, rank := range r.Ranks {
		a.Ranks = append(a.Ranks, predictedRank{rank.Rank, nanoseconds(rank.End), nanoseconds(rank.Computing), nanoseconds(rank.Sending), nanoseconds(rank.Waiting)})
		sum += float64(rank.Computing)
		if c := nanoseconds(rank.Computing); c > 0 && (a.Slowest == nil || c > a.Slowest.Computing) {
			a.Slowest = &slowestComputing{Rank: rank.Rank, Computing: c}
		}
	}
	if a.Slowest != nil {
		a.Slowest.Mean = nanoseconds(replay.Time(sum / float64(len(r.Ranks))))
	}
	if r.Path == nil {
		return
	}
	a.Path = &predictedPath{Steps: []predictedStep{}, Ranks: []pathRank{}}
	call, computing := q.calls(), replay.Time(0)
	for _, s := range r.Path.Steps {
		if computing += s.Computing; s.Computing+s.Calls == 0 {
			continue
		}
		a.Path.Steps = append(a.Path.Steps, predictedStep{s.Signature, call(s.Signature), s.Count, nanoseconds(s.Computing), nanoseconds(s.Calls)})
	}
	a.Path.Computing = nanoseconds(computing)
	slices.SortStableFunc(a.Path.Steps, func(x, y predictedStep) int {
		return cmp.Compare(y.Computing+y.Within, x.Computing+x.Within)
	})
	for _, rank := range r.Path.Ranks {
		a.Path.Ranks = append(a.Path.Ranks, pathRank{rank.Rank, nanoseconds(rank.Computing), nanoseconds(rank.Calls)})
	}
}

func (a *predictAnswer) print(q *question) {
	q.printf("%s: %s\n", text.Printable(q.path), text.Duration(a.Time))
	if a.Recorded != nil {
		q.printf("recorded: %s; predicted %s\n", text.Duration(*a.Recorded), signedPercent(a.Time, *a.Recorded))
	}
	for _, line := range a.described {
		q.printf("%s\n", line)
	}
	scaled := ""
	if a.scaled {
		scaled = ", scaled to the sums of each rank"
	}
	q.printf("computing: %s\n", map[string]string{
		amountsOfComputing:        "the amounts that the trace has, at " + a.speed + " flops",
		query.Series.String():     "the times of every call",
		query.Histograms.String(): "drawn from histograms" + scaled,
		query.Statistics.String(): "the means of each signature" + scaled,
		query.None.String():       "none, as the trace has no times",
	}[a.Computing])
	if s := a.Slowest; s != nil && len(a.Ranks) > 1 && text.Duration(s.Computing) != text.Duration(s.Mean) {
		q.printf("rank %d is the slowest: it computes %s, where the mean is %s\n", s.Rank, text.Duration(s.Computing), text.Duration(s.Mean))
	}
	q.printf("\nranks, those first that compute longest\n\n")
	t := q.table("rank", "ends", "computing", "", "sending", "", "waiting", "")
	ranks := slices.Clone(a.Ranks)
	slices.SortStableFunc(ranks, func(x, y predictedRank) int { return cmp.Compare(y.Computing, x.Computing) })
	for _, r := range ranks {
		t.Row(text.ID(r.Rank), text.Duration(r.End), text.Duration(r.Computing), text.Percent(r.Computing, r.End), text.Duration(r.Sending), text.Percent(r.Sending, r.End),
			text.Duration(r.Waiting), text.Percent(r.Waiting, r.End))
	}
	t.Close()
	if a.Path == nil {
		q.printf("\nthe critical path of more than %s calls is followed with --critical-path\n", text.Count(maxFollowed))
		return
	}
	if a.Time == 0 {
		return
	}
	longest := slices.MaxFunc(a.Path.Ranks, func(x, y pathRank) int { return cmp.Compare(x.Computing+x.Within, y.Computing+y.Within) })
	q.printf("\ncritical path: %s computing; %s of it on rank %d\n\n", text.Percent(a.Path.Computing, a.Time), text.Percent(longest.Computing+longest.Within, a.Time), longest.Rank)
	most := 0 // rows to show
	for _, s := range a.Path.Steps {
		if q.all || s.Computing+s.Within >= shownFrom*a.Time && most < maxRows {
			most++
		}
	}
	t = text.NewTable(q.OutOrStdout(), max(most, 1), "time", "", "computing", "in calls", "calls", "<signature")
	for _, s := range a.Path.Steps {
		t.Row(text.Duration(s.Computing+s.Within), text.Percent(s.Computing+s.Within, a.Time), text.Duration(s.Computing), text.Duration(s.Within), s.Calls, s.Call)
	}
	t.Close()
	if a.Output != "" && a.Output != "-" {
		q.printf("\nthe predicted run is in %s\n", text.Printable(a.Output))
	}
}
