package show

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
)

// A TimeInfo is what info tells of the times of calls.
type TimeInfo struct {
	Functions       []functionTimes `json:"functions"`           // durations of calls; those of most time first
	Gaps            []functionTimes `json:"gaps"`                // before calls
	Histograms      *HistogramInfo  `json:"histograms"`          // null if there are none
	LeftOut         bool            `json:"rank_times_left_out"` // those of each rank would be too many
	Codecs          []codecInfo     `json:"codecs"`              // of the times of every call
	Ranks           rankenc.Set     `json:"rank_set"`            // that have these
	Unreadable      rankenc.Set     `json:"unreadable_rank_set"` // whose times cannot be read
	Bytes           int64           `json:"series_bytes"`        // stored, of all ranks
	*query.RunTimes                 // nil if they are not known
}

// A HistogramInfo is how many histograms there are.
type HistogramInfo struct {
	Durations int  `json:"duration_histograms"`
	Gaps      int  `json:"gap_histograms"`
	ByPair    bool `json:"by_pair_of_calls"` // of a call and the rank's call before it
}

// A functionTimes is the durations of the calls of a function, or the gaps before them.
type functionTimes struct {
	Function string `json:"function"`
	Calls    uint64 `json:"calls"` // 2⁶³−1 also if they are more
	query.Durations
}

// describeTimes returns facts about the times of the trace; nil if there are none.
func describeTimes(q *cli.Question) (*TimeInfo, error) {
	t := q.Trace
	i := TimeInfo{Codecs: []codecInfo{}, LeftOut: t.Content().NoRankTimes}
	durations, gaps, err := t.Summaries()
	if err != nil {
		return nil, err
	}
	times, err := query.OpenTimes(t)
	if err != nil {
		return nil, err
	}
	ofFunctions, before := times.ByFunction()
	if i.RunTimes, err = times.Run(q.Context()); err != nil {
		return nil, err
	}
	i.Functions, i.Gaps = tableOf(ofFunctions), tableOf(before)
	i.Histograms = describeHistograms(durations.Histograms, gaps.Histograms)
	if err := i.readSeries(q); err != nil {
		return nil, err
	}
	damaged := false
	for _, d := range t.Damage() {
		damaged = damaged || d.Times
		if d.Err.Kind == layout.KindSeries {
			i.Unreadable = i.Unreadable.Union(d.Ranks.Intersection(t.RankSet()))
		}
	}
	for _, s := range q.Trace.Sections() {
		if s.Kind == layout.KindSeries {
			i.Bytes += s.Size
		}
	}
	if layout.NoSummary(&durations) && layout.NoSummary(&gaps) && i.Bytes == 0 && !damaged {
		return nil, nil
	}
	return &i, nil
}

// describeHistograms returns nil if there are no histograms. Either may be nil.
func describeHistograms(durations, gaps *timing.Histograms) *HistogramInfo {
	var i HistogramInfo
	count := func(h *timing.Histograms) (n int) {
		if h == nil {
			return 0
		}
		for p := range h.All() {
			i.ByPair = i.ByPair || p.Previous != timing.NoPrevious
		}
		return h.Len()
	}
	if i.Durations, i.Gaps = count(durations), count(gaps); i.Durations+i.Gaps == 0 {
		return nil
	}
	return &i
}

// tableOf returns what there is by function.
func tableOf(functions iter.Seq2[query.FunctionCount, *query.Durations]) []functionTimes {
	list := []functionTimes{}
	for f, d := range functions {
		list = append(list, functionTimes{f.Name, f.Calls, *d})
	}
	return list
}

// printRun prints how long the run took, if that is known.
func (i *TimeInfo) printRun(q *cli.Question) {
	if i == nil || i.RunTimes == nil {
		return
	}
	q.Printf("time: %s", text.Around(i.Run, i.Error))
	if i.Startup > 0 || i.Shutdown > 0 {
		q.Printf("; startup %s", text.Around(i.Startup, i.Error))
	}
	if i.Shutdown > 0 { // else it may have ended before MPI_Finalize
		q.Printf(", shutdown %s", text.Around(i.Shutdown, i.Error))
	}
	q.Printf("\n")
	if s := answers.SeveralWorlds(i.RunTimes); s != "" {
		q.Printf("  %s\n", s)
	}
}

// print prints tables of times.
func (i *TimeInfo) print(q *cli.Question) {
	for _, table := range []struct {
		title string
		list  []functionTimes
	}{{"<time in", i.Functions}, {"<gap before", i.Gaps}} {
		t := q.Section(table.title, "calls", "total", "mean", "?deviation", "?min", "&in rank", "max", "in rank")
		for _, f := range table.list {
			calls := text.Count(f.Calls)
			if math.IsInf(float64(f.Total), 0) {
				calls = text.AtLeast(calls)
			}
			t.Row(text.Printable(f.Function), calls, text.Duration(f.Total), text.Duration(f.Mean),
				text.Duration(f.Deviation),
				text.Duration(f.Min), text.ID(f.MinRank), text.Duration(f.Max), text.ID(f.MaxRank))
		}
		t.Close()
	}
	if h := i.Histograms; h != nil {
		of := "by signature"
		if h.ByPair {
			of = "by pair of signatures"
		}
		q.Printf("\nhistograms %s: %s of durations, %s of gaps\n", of, text.Count(h.Durations), text.Count(h.Gaps))
	}
	if i.LeftOut {
		q.Printf("\ntimes of each rank: none%s\n", cli.LeftOutText(q.Trace))
	}
	i.printCodecs(q)
}

func (i *TimeInfo) printCodecs(q *cli.Question) {
	calls, ranks := uint64(0), 0
	for _, c := range i.Codecs {
		calls, ranks = wire.AddSat(calls, c.Calls), ranks+c.Ranks.Len()
	}
	bits := ""
	if !text.Saturated(calls) && calls > 0 {
		bits = fmt.Sprintf("%.2f", 8*float64(i.Bytes)/float64(calls))
	}
	whole := i.Unreadable.Len() == 0
	t := q.Section("<times of every call", "error", "ranks", "calls", "stored", "bits per call")
	for _, c := range i.Codecs {
		cells := []any{text.Printable(c.Codec), guaranteeOf(c), text.Long(c.Ranks.String()), c.Calls}
		if len(i.Codecs) == 1 && whole {
			t.Row(append(cells, i.Bytes, bits)...)
		} else {
			t.Row(append(cells, "", "")...)
		}
	}
	if len(i.Codecs) > 1 && whole {
		t.Row("all", "", text.Plural(ranks, "rank"), calls, i.Bytes, bits)
	}
	if len(i.Codecs) > 0 && !whole {
		t.Row("unreadable", "", text.Long(i.Unreadable.String()), "", "", "")
	}
	t.Close()
	for _, c := range i.Codecs {
		if c.Starts > 0 {
			q.Printf("\nstarts of the calls of %s: at most %s off\n", text.Ranks(c.Ranks), text.Duration(c.Starts))
		}
	}
}

// A codecInfo is the series that have one codec.
type codecInfo struct {
	Codec string            `json:"codec"`          // in the words of record
	Error *timing.Guarantee `json:"relative_error"` // of values, at most; nil if this program does not know the codec

	// Starts is how far starts of calls are off, at most; nothing if there is no such bound.
	Starts query.Nanoseconds `json:"start_error_ns,omitzero"`

	Ranks rankenc.Set `json:"rank_set"`
	Calls uint64      `json:"calls"`
	Bytes int64       `json:"content_bytes"` // of the series, before sections are compressed
}

// known returns a guarantee, nil if there is none, or if the codec is not registered in the command.
func known(g timing.Guarantee) *timing.Guarantee {
	if math.IsInf(float64(g), 1) {
		return nil
	}
	return &g
}

// guaranteeOf returns the error of a codec in words.
func guaranteeOf(c codecInfo) string {
	if c.Error == nil {
		return "unknown error"
	}
	return text.Error(*c.Error)
}

// readSeries fills in facts about the series of ranks.
func (i *TimeInfo) readSeries(q *cli.Question) error {
	timed, _, err := q.Trace.SeriesRanks()
	if err != nil {
		return err
	}
	codecs := make(map[string]*codecInfo)
	ranks := make(map[string][]int)
	for _, rank := range timed.Union(q.Trace.Content().Foreign).All() {
		if err := q.Context().Err(); err != nil {
			return err
		}
		name, err := q.Trace.SeriesCodec(rank)
		if err != nil {
			return err
		}
		s, err := q.Trace.Series(rank)
		if err != nil {
			return err
		}
		c := codecs[name]
		if c == nil {
			c = &codecInfo{Error: known(s.Guarantee()), Starts: query.Nanoseconds(s.Starts())}
			codecs[name] = c
		}
		c.Calls = wire.AddSat(c.Calls, s.Len())
		c.Bytes += int64(s.Size())
		ranks[name] = append(ranks[name], rank)
	}
	for _, name := range slices.Sorted(maps.Keys(codecs)) {
		codecs[name].Ranks, codecs[name].Codec = rankenc.SetOf(ranks[name]...), layout.SeriesWords(name)
		i.Codecs = append(i.Codecs, *codecs[name])
	}
	i.Ranks = timed
	return nil
}
