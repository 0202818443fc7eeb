package answer

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/diagnosis"
	"github.com/reprise-trace/reprise/trace"
)

func NewWhy() *cobra.Command {
	var series bool
	q := cli.NewQuestion("why", nil, func(q *cli.Question) error { return why(q, series) }, cli.OptJSON, cli.OptRegion)
	cli.AddSeries(q, &series)
	return q.Command
}

// A Why is why a run took as long as it did.
type Why struct {
	cli.Header
	*diagnosis.Diagnosis
	Sentences []string `json:"sentences"`
	Next      string   `json:"next"` // what shows more
}

func why(q *cli.Question, series bool) error {
	a := &Why{Header: q.Header(), Sentences: []string{}}
	o := diagnosis.Options{Region: q.Region, MaxCalls: query.MaxUnasked}
	if series {
		o.MaxCalls = 1<<64 - 1
	}
	bar := cli.NewCounter(q.Context(), q.ErrOrStderr(), "diagnosis of "+q.Path, q.TotalCalls(), "calls")
	o.Progress = bar.Show
	var err error
	a.Diagnosis, err = diagnosis.Open(q.Context(), q.Trace, o)
	bar.Done()
	if err != nil {
		return err
	}
	if a.Diagnosis != nil {
		a.Sentences = append(a.Sentences, RunSentences(a.Diagnosis, callsOf(q.Trace))...)
		a.Sentences = append(a.Sentences, answers.Diagnosis(a.Diagnosis)...)
	}
	a.Next = NextCommand(q.Trace, a.Diagnosis, q.Path)
	return q.Answer(a, func() {
		if a.Diagnosis == nil {
			q.Printf("%s: how long the run took is not known from the times of this trace\n", text.Printable(q.Path))
		}
		for _, s := range a.Sentences {
			q.Printf("%s\n", s)
		}
		q.Printf("Next: %s\n", a.Next)
	})
}

// callsOf returns what the calls of a trace are.
func callsOf(t *trace.Trace) string {
	if slices.ContainsFunc(t.Functions(), func(f cst.Function) bool { return strings.HasPrefix(f.Name, "MPI_") }) {
		return "MPI"
	}
	return "recorded calls"
}

// RunSentences say how long a run took, and which share of that was in calls.
func RunSentences(d *diagnosis.Diagnosis, calls string) []string {
	s := "Ran " + text.Around(d.Run, d.Error)
	if d.Share != nil {
		s += ", " + text.Percent(d.Share.Mean, 1) + " in " + calls
	}
	list := []string{s + "."}
	switch {
	case d.Startup > 0 && d.Shutdown > 0:
		list = append(list, "Besides, startup took "+text.Duration(d.Startup)+" and shutdown "+
			text.Duration(d.Shutdown)+".")
	case d.Startup > 0:
		list = append(list, "Besides, startup took "+text.Duration(d.Startup)+".")
	}
	if s := answers.SeveralWorlds(&d.RunTimes); s != "" {
		list = append(list, s)
	}
	return list
}

// NextCommand returns the command that tells more of a run than a diagnosis, or what to record for it.
func NextCommand(t *trace.Trace, d *diagnosis.Diagnosis, path string) string {
	file := cli.Quoted(path)
	switch {
	case d != nil && d.Early.Len() > 0:
		return "reprise hang " + file
	case d != nil && (d.Missing.Len() > 0 || d.Off):
		return "reprise profile " + file
	case d != nil && (d.Apart > 0 || d.Unreceived > 0):
		return "reprise match " + file
	case d != nil && d.Waiting != nil:
		return "reprise waits " + file
	case d != nil && d.Series && !d.Exact:
		return "reprise waits --series " + file
	case (d == nil || !d.Series) && t.Run().Source == collect.Source:
		return "reprise record --times all, then reprise waits, to see who waits for whom"
	}
	return "reprise profile " + file
}
