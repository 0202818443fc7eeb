package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/rankenc"
)

// A damage is what of a trace cannot be read, while a command used the rest.
type damage struct {
	path string
	list []damagedPart
}

// A damagedPart is what cannot be read for one cause.
type damagedPart struct {
	what  string // of the ranks, as in "the times of "; or what is unreadable, if there are none
	ranks []int
	cause string
	err   error
}

// add notes a rank that cannot be read, or what of it.
func (d *damage) add(what string, rank int, err error) {
	cause := strings.TrimPrefix(err.Error(), d.path+": ")
	for i := range d.list {
		if l := &d.list[i]; l.what == what && l.cause == cause && l.ranks != nil {
			l.ranks = append(l.ranks, rank)
			return
		}
	}
	d.list = append(d.list, damagedPart{what, []int{rank}, cause, err})
}

// addAll notes what cannot be read and is of no single rank.
func (d *damage) addAll(what string, err error) {
	d.list = append(d.list, damagedPart{what, nil, strings.TrimPrefix(err.Error(), d.path+": "), err})
}

// ranks returns the ranks of which something cannot be read: all of it if what is
// empty.
func (d *damage) ranks(what string) rankenc.Set {
	var ranks []int
	for _, l := range d.list {
		if l.what == what {
			ranks = append(ranks, l.ranks...)
		}
	}
	return rankenc.SetOf(ranks...)
}

// any reports whether anything cannot be read.
func (d *damage) any() bool { return len(d.list) > 0 }

// tell writes a warning for each cause, and returns the error of the command, nil if
// there is no damage.
func (d *damage) tell(stderr io.Writer) error {
	var what string
	for _, l := range d.list {
		name := l.what
		if l.ranks != nil {
			name += text.Ranks(rankenc.SetOf(l.ranks...))
		}
		fmt.Fprintf(stderr, "reprise: warning: %s cannot be read: %s\n", name, l.cause)
		if what == "" {
			what = name
			if l.ranks != nil {
				what = l.what + text.Ranks(d.ranks(l.what))
			}
		}
	}
	if what == "" {
		return nil
	}
	return fmt.Errorf("%s: %s cannot be read; reprise repair may save the rest", d.path, what)
}

// What of a trace cannot be read.
const (
	timesOf   = "the times of "
	summaries = "the summaries of times"
	series    = "the times of every call"
)

// A rankReader reads the ranks of a trace of which some may be damaged. Ranks of one
// shape need the same sections, except for slices of columns: once one of them
// cannot be read, it does not try the others, of which there may be a million.
type rankReader struct {
	trace  *reprise.Trace
	failed map[int]error // by shape
}

func newRankReader(trace *reprise.Trace) *rankReader {
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
