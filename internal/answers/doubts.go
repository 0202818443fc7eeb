package answers

import (
	"context"
	"strings"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// Doubts returns what a trace that was made of an archive lacks for questions about waits, in the words of a
// diagnosis. It costs what matching messages does, and the times of some collective operations.
func Doubts(ctx context.Context, t *trace.Trace) ([]string, error) {
	model, err := semantics.Open(ctx, t)
	if err != nil || !model.Known() {
		return nil, err
	}
	match, err := query.OpenMatch(ctx, model, query.Options{})
	if err != nil {
		return nil, err
	}
	var doubts []string
	unreceived := uint64(0)
	for _, u := range match.Unmatched {
		if u.Direction == semantics.Send {
			unreceived += u.Count
		}
	}
	if replay.LacksReceives(match.Messages, unreceived) {
		doubts = append(doubts, lacksReceives(unreceived))
	}
	if len(t.Run().Origin.Times) == 0 { // else it is not the clocks
		times, err := query.OpenTimes(t)
		if err != nil {
			return nil, err
		}
		skews, err := match.Skew(ctx, times, query.Options{})
		if err != nil {
			return nil, err
		}
		if apart := apartOf(skews); apart > 0 {
			doubts = append(doubts, clocksDiffer(apart))
		}
	}
	for i, d := range doubts { // no sentences
		doubts[i] = strings.ToLower(d[:1]) + strings.TrimSuffix(d[1:], ".")
	}
	return doubts, nil
}

func lacksReceives(unreceived uint64) string {
	return "Waits for messages are not known: the trace has no receive of " + text.Plural(unreceived, "message") + "."
}

func clocksDiffer(apart query.Nanoseconds) string {
	return "It is not known who waits: the clocks of ranks differ by at least " + text.Duration(apart) + "."
}

// apartOf returns how far the clocks of ranks differ at least, 0 if skews do not show that they do.
func apartOf(skews []query.Skew) (apart query.Nanoseconds) {
	for i := range skews {
		apart = max(apart, skews[i].Apart)
	}
	return apart
}
