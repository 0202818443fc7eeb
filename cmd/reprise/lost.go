package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A lostRanks is the error of a trace of which some ranks cannot be read, while
// something was done with the others.
type lostRanks struct {
	path string
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
	return fmt.Sprintf("%s: %s cannot be read", l.path, rankRanges(l.ranks()))
}

// ranks returns the ranks in ascending order, not nil.
func (l *lostRanks) ranks() []int {
	ranks := make([]int, len(l.list))
	for i, r := range l.list {
		ranks[i] = r.rank
	}
	slices.Sort(ranks)
	return ranks
}

// warn writes a line for each rank.
func (l *lostRanks) warn(stderr io.Writer) {
	for _, r := range l.list {
		cause := strings.TrimPrefix(r.cause.Error(), l.path+": ")
		fmt.Fprintf(stderr, "reprise: warning: rank %d cannot be read: %s\n", r.rank, cause)
	}
}

// warnLost writes the warnings of err if ranks are lost, and returns it.
func warnLost(stderr io.Writer, err error) error {
	var l *lostRanks
	if errors.As(err, &l) {
		l.warn(stderr)
	}
	return err
}

// rankRanges returns ascending ranks as ranges, such as ranks 3-5, 9.
func rankRanges(ranks []int) string {
	var b strings.Builder
	b.WriteString("rank")
	if len(ranks) != 1 {
		b.WriteString("s")
	}
	for i := 0; i < len(ranks); {
		first := i
		for i++; i < len(ranks) && ranks[i] == ranks[i-1]+1; i++ {
		}
		if first > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " %d", ranks[first])
		if i-first > 1 {
			fmt.Fprintf(&b, "-%d", ranks[i-1])
		}
	}
	return b.String()
}
