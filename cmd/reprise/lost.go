package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
)

// A rankReader reads the ranks of a trace of which some may be lost. Ranks of one
// shape need the same sections, except for slices of columns: once one of them
// cannot be read, it does not try the others, of which there may be a million.
type rankReader struct {
	trace  *merge.Trace
	failed map[int]error // by shape
}

func newRankReader(trace *merge.Trace) *rankReader {
	return &rankReader{trace, make(map[int]error)}
}

// attempt calls read for a rank, unless all of its shape must fail as it did
// before.
func (r *rankReader) attempt(rank int, read func() error) error {
	shape, ok := r.trace.ShapeOf(rank)
	if !ok {
		return read()
	}
	if err := r.failed[shape]; err != nil {
		return err
	}
	err := read()
	if err != nil && !r.trace.OfSlice(err) {
		r.failed[shape] = err
	}
	return err
}

// rank reads a rank of a trace.
func (r *rankReader) rank(trace *reprise.Trace, rank int) (read *reprise.Rank, err error) {
	err = r.attempt(rank, func() error {
		read, err = trace.Rank(rank)
		return err
	})
	return read, err
}

// A lostRanks is the error of a trace of which some ranks cannot be read, while
// something was done with the others.
type lostRanks struct {
	path string
	what string // that is lost of them, as in "the times of "; empty if it is all
	list []lostRank
}

type lostRank struct {
	rank  int
	cause error
}

func (l *lostRanks) add(rank int, cause error) { l.list = append(l.list, lostRank{rank, cause}) }

// err returns l, or nil if no rank is lost.
func (l *lostRanks) err() error {
	if len(l.list) == 0 {
		return nil
	}
	return l
}

func (l *lostRanks) Error() string {
	return fmt.Sprintf("%s: %s%s cannot be read", l.path, l.what, rankText(l.ranks()))
}

func (l *lostRanks) ranks() []int {
	ranks := make([]int, len(l.list))
	for i, r := range l.list {
		ranks[i] = r.rank
	}
	return ranks
}

// others returns those of some ranks that are not lost.
func (l *lostRanks) others(ranks rankenc.Set) rankenc.Set {
	return ranks.Difference(rankenc.SetOf(l.ranks()...))
}

// warn writes a line for each cause.
func (l *lostRanks) warn(stderr io.Writer) {
	byCause := make(map[string][]int)
	var causes []string
	for _, r := range l.list {
		cause := strings.TrimPrefix(r.cause.Error(), l.path+": ")
		if byCause[cause] == nil {
			causes = append(causes, cause)
		}
		byCause[cause] = append(byCause[cause], r.rank)
	}
	for _, cause := range causes {
		fmt.Fprintf(stderr, "reprise: warning: %s%s cannot be read: %s\n", l.what, rankText(byCause[cause]), cause)
	}
}

// lostSummaries and lostSeries are the errors of a trace of which what says all times of a
// kind cannot be read.
func lostSummaries(path string, err error) error {
	return fmt.Errorf("%s: the summaries of times cannot be read: %w", path, err)
}

func lostSeries(path string, err error) error {
	return fmt.Errorf("%s: the times of every call cannot be read: %w", path, err)
}

// warnLost writes the warnings of err if ranks are lost, and returns it.
func warnLost(stderr io.Writer, err error) error {
	var l *lostRanks
	if errors.As(err, &l) {
		l.warn(stderr)
	}
	return err
}

// An unreadable is the error of a trace of which several things cannot be read,
// while something was done with the rest.
type unreadable []error

// err returns u, or nil if there is nothing.
func (u unreadable) err() error {
	if len(u) == 0 {
		return nil
	}
	return u
}

func (u unreadable) Error() string { return u[0].Error() }

func (u unreadable) Unwrap() error { return u[0] }

// warnUnreadable writes warnings of all that an unreadable has and its message does
// not say, and returns err.
func warnUnreadable(stderr io.Writer, err error) error {
	var u unreadable
	errors.As(err, &u)
	for i, e := range u {
		if errors.As(e, new(*lostRanks)) {
			warnLost(stderr, e)
		} else if i > 0 {
			fmt.Fprintf(stderr, "reprise: warning: %v\n", e)
		}
	}
	return err
}

// text returns the ranks as a list, such as 3-5, 8-14:2.
func (l *lostRanks) text() string { return rankenc.SetOf(l.ranks()...).String() }

// rankText returns ranks as a list, such as rank 7 or ranks 3-5, 8-14:2.
func rankText(ranks []int) string { return text.Ranks(rankenc.SetOf(ranks...)) }

// maxListText is the length of the longest list of ranks that is printed whole.
const maxListText = 200

func setText(ranks rankenc.Set) string {
	if ranks.Len() == 1 {
		return "rank " + ranks.String()
	}
	return "ranks " + text.CutList(ranks.String(), maxListText)
}

// cutList returns a list that is separated by commas, cut off after an element if
// it is longer than most.
func cutList(list string, most int) string {
	if len(list) <= most {
		return list
	}
	if end := strings.LastIndex(list[:most], ", "); end >= 0 {
		most = end + len(", ")
	}
	return list[:most] + "…"
}
