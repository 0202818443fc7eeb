package main

import (
	"errors"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
)

// A timesSaved is which times of calls repair saved.
type timesSaved struct {
	Untimed   string     `json:"lost_times"`     // ranks of which the times of every call are lost, as a list, or "all" if nothing tells which ranks had them
	Summaries savedState `json:"time_summaries"` // statistics and histograms, if there were any

	untimed []int
	all     bool // every rank that had times has lost them, and nothing tells which these are
	damaged bool // a section of times is lost
	unread  int  // summaries that are there and cannot be read
}

// lose takes note of a section that is lost.
func (t *timesSaved) lose(kind format.Kind, key uint64) {
	switch kind {
	case merge.KindSummaries:
		t.Summaries = lost
	case merge.KindSeries:
		t.damaged, t.all = true, t.all || key == 0
	}
}

// note takes note of times that cannot be read: of a rank or, if that is −1, of what
// concerns no single rank. Package merge calls it, and goes on with the rest.
func (t *timesSaved) note(rank int, err error) error {
	var damage *merge.SectionError
	switch {
	case rank >= 0:
		t.untimed = append(t.untimed, rank)
	case errors.As(err, &damage) && damage.Kind == merge.KindSeries:
		t.all = true
	default:
		t.Summaries = lost
		t.unread++
	}
	return nil
}

// finish finds out what was lost of the times in a file after those of these ranks
// were read as far as they can be. Left says that some summaries are.
func (t *timesSaved) finish(file *format.Reader, ranks rankenc.Set, left bool) {
	if left && t.Summaries == lost {
		t.Summaries = partly
	}
	if _, ok := file.Lookup(merge.KindSeries, 0); !ok {
		for _, s := range file.All() {
			t.all = t.all || s.Kind == merge.KindSeries // of ranks that number 0 would tell
		}
	}
	if t.all {
		t.tellRanks(file, ranks)
	}
	if t.Untimed = rankenc.SetOf(t.untimed...).String(); t.all {
		t.Untimed = "all"
	}
}

// tellRanks finds out of which of some ranks all times were lost, if the file tells.
func (t *timesSaved) tellRanks(file *format.Reader, ranks rankenc.Set) {
	timed, err := merge.ReadSeriesRanks(file)
	if err != nil || timed.Len() == 0 {
		return
	}
	t.all, t.untimed = false, nil
	for _, rank := range ranks.All() { // of which there are no more than the file holds
		if _, ok := timed.Index(int(rank)); ok {
			t.untimed = append(t.untimed, int(rank))
		}
	}
}

// whole reports whether nothing is lost.
func (t *timesSaved) whole() bool { return !t.damaged && t.Untimed == "" && t.Summaries == kept }

// missing returns what is lost, in words.
func (t *timesSaved) missing() []string {
	var what []string
	switch {
	case t.all:
		what = append(what, "the times of every call")
	case t.Untimed != "":
		what = append(what, "the times of "+rankText(t.untimed))
	}
	switch t.Summaries {
	case lost:
		what = append(what, "the statistics and histograms of times")
	case partly:
		what = append(what, "some statistics and histograms of times")
	}
	return what
}
