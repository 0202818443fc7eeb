package main

import (
	"errors"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
)

// A timesSaved is which times of calls repair saved.
type timesSaved struct {
	Untimed   string     `json:"lost_times"`     // ranks of which the times of every call are lost, as a list, or "all" if nothing tells which ranks had them
	Summaries savedState `json:"time_summaries"` // statistics and histograms, if there were any

	untimed []int
	all     bool // every rank that had times has lost them, and nothing tells which these are
	damaged bool // a section of times is lost
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

// saveTimes adds the times that can be read to a, and takes note of the others. Ranks
// of which the calls are lost are not among these.
func (t *timesSaved) saveTimes(trace *merge.Trace, file *format.Reader, a *merge.Accumulator) error {
	err := a.AddTimes(trace, func(rank int, _ error) error {
		t.untimed = append(t.untimed, rank)
		return nil
	})
	var damage *merge.SectionError
	switch {
	case errors.As(err, &damage): // of what all of them need
		if _, _, err := trace.Summaries(); err != nil {
			t.Summaries = lost
		}
		ranks, _, err := trace.SeriesRanks()
		t.all = err != nil
		for _, rank := range ranks.All() {
			if _, ok := a.RankSet().Index(int(rank)); ok {
				t.untimed = append(t.untimed, int(rank))
			}
		}
	case err != nil:
		return err
	}
	if _, ok := file.Lookup(merge.KindSeries, 0); !ok {
		for _, s := range file.All() {
			t.all = t.all || s.Kind == merge.KindSeries // of ranks that number 0 would tell
		}
	}
	if t.Untimed = rankSet(t.untimed).String(); t.all {
		t.Untimed = "all"
	}
	return nil
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
	if t.Summaries == lost {
		what = append(what, "the statistics and histograms of times")
	}
	return what
}
