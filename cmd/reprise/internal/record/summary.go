package record

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/diagnosis"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// mostAtEnd is of how many calls the times are read when a recording ends: that takes some tenths of a second.
const mostAtEnd = 100_000

// diagnose adds why the run of a trace took as long as it did, nothing if the trace does not tell how long that
// is. The trace is already written, so an error here becomes a problem of the summary.
func (s *Summary) diagnose(ctx context.Context, file []byte) {
	var err error
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%v", fault)
		}
		if err != nil && ctx.Err() == nil {
			s.Problems = append(s.Problems, fmt.Sprintf("why the run took as long as it did is not known: %v", err))
		}
	}()
	t, err := cli.Reopen(file)
	if err == nil {
		s.timed = seriesBytes(t) > 0
		s.Series, err = exactSeries(t)
	}
	if err == nil {
		s.Run, err = diagnosis.Open(ctx, t, diagnosis.Options{MaxCalls: mostAtEnd})
	}
}

// seriesBytes returns how many bytes the times of every call take.
func seriesBytes(t *trace.Trace) (bytes int64) {
	for _, s := range t.Sections() {
		if s.Kind == layout.KindSeries {
			bytes += s.Size
		}
	}
	return bytes
}

// exactSeries returns how many bytes the times of every call take, 0 if there are none or if they have an error.
func exactSeries(t *trace.Trace) (bytes int64, err error) {
	if bytes = seriesBytes(t); bytes == 0 {
		return 0, nil
	}
	times, err := query.OpenTimes(t)
	if err != nil {
		return 0, err
	}
	if error, err := times.Guarantee(); err != nil || error != timing.Exact {
		return 0, err
	}
	return bytes, nil
}

// printDiagnosis prints a diagnosis in lines of 80 columns. Of a run that ended early it says how long it was:
// ranks were not to stop where they did.
func printDiagnosis(w io.Writer, d *diagnosis.Diagnosis, early bool) {
	sentences := answer.RunSentences(d, "MPI")
	if !early {
		sentences = append(sentences, answers.Diagnosis(d)...)
	}
	const columns, prefix = 80, "reprise: "
	for _, s := range sentences {
		s = strings.ToLower(s[:1]) + strings.TrimSuffix(s[1:], ".") // as the other lines are
		for _, line := range text.Lines(s, columns-len(prefix)) {
			fmt.Fprintf(w, "%s%s\n", prefix, line)
		}
	}
}

// nextCommand returns the command that tells more of a run: why, if there are the times of more calls than are read
// when a recording ends.
func (s *Summary) nextCommand() string {
	path := s.Output
	switch {
	case s.Run.Waiting != nil:
		return "reprise waits " + cli.Quoted(path)
	case s.timed && s.Calls > mostAtEnd:
		return "reprise why " + cli.Quoted(path)
	}
	return "reprise report " + cli.Quoted(path) + " -o " + cli.Quoted(strings.TrimSuffix(path, ".rpz")+".html")
}
