package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// SignedPercent writes how far a time is from another.
func SignedPercent(is, from query.Nanoseconds) string {
	if from == 0 {
		return ""
	}
	return fmt.Sprintf("%+.1f %%", 100*float64(is/from-1))
}

// FirstOf returns the first five of some names, and how many there are more.
func FirstOf(names []string) string { return ListOf(names, 5) }

// ListOf returns so many of some names at most, and how many there are more.
func ListOf(names []string, most int) string {
	list := strings.Join(names[:min(len(names), most)], ", ")
	if n := len(names) - most; n > 0 {
		list += fmt.Sprintf(" and %s more", text.Count(n))
	}
	return list
}

// RankCount returns how many ranks there are, and how many of them with calls.
func RankCount(ranks, active int) string {
	line := text.Plural(ranks, "rank")
	if active < ranks {
		line += fmt.Sprintf(" (%s with calls)", text.Count(active))
	}
	return line
}

// SourceSeparator stands between the sources of a run that was merged.
const SourceSeparator = ", "

// MaxDifferences is how many differences of a kind are shown if nobody asks for all.
const MaxDifferences = 10

// OfDeadlock returns the error of a replay: if it cannot come to its end, with what says more of a run that
// was cut short.
func OfDeadlock(err error) error {
	if errors.As(err, new(*replay.DeadlockError)) {
		return fmt.Errorf(
			"the run cannot be replayed to its end, as one that was cut short, for which there is reprise hang: %w", err)
	}
	return err
}

// MaxListText is the length of the longest list of ranks that is printed whole.
const MaxListText = 200

// Listed returns a list that JSON writes as one if it is empty.
func Listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// LeftOutText says why a trace with statistics has no times of each rank, if that is known.
func LeftOutText(t *trace.Trace) string {
	if !t.Content().NoRankTimes {
		return ""
	}
	return fmt.Sprintf(", as those of each of %s would be too many", text.Plural(t.Content().Recorded.Len(), "rank"))
}

// Total returns how long calls take, 0 if that is not known.
func Total(t *query.Durations) query.Nanoseconds {
	if t == nil {
		return 0
	}
	return t.Total
}
