package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
)

// A codecInfo is what info tells of the series that have one codec.
type codecInfo struct {
	Codec     string  `json:"codec"`
	Guarantee string  `json:"guarantee"`      // in words
	Error     float64 `json:"relative_error"` // of values, at most
	Ranks     string  `json:"ranks"`          // as a list
	Count     int     `json:"number_of_ranks"`
	Calls     uint64  `json:"calls"`
	Bytes     int64   `json:"content_bytes"` // of the series, before sections are compressed
}

// readSeries fills in what is known of the series of ranks, leaving out those of
// which the calls cannot be read.
func (i *timeInfo) readSeries(ctx context.Context, t *merge.Trace, timed, without rankenc.Set, path string) error {
	lost := &lostRanks{path: path, what: "the times of "}
	codecs := make(map[string]*codecInfo)
	ranks := make(map[string][]int)
	var all []int
	for _, rank := range timed.All() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, ok := without.Index(int(rank)); ok {
			continue
		}
		s, name, err := readSeries(t, int(rank))
		if err != nil {
			lost.add(int(rank), err)
			continue
		}
		if codecs[name] == nil {
			codecs[name] = &codecInfo{Codec: name}
		}
		codecs[name].add(s)
		ranks[name], all = append(ranks[name], int(rank)), append(all, int(rank))
	}
	for _, name := range slices.Sorted(maps.Keys(codecs)) {
		c := codecs[name]
		c.Ranks, c.Count = rankenc.SetOf(ranks[name]...).String(), len(ranks[name])
		i.Codecs = append(i.Codecs, *c)
	}
	i.Ranks, i.Unreadable = rankenc.SetOf(all...).String(), lost.text()
	if err := lost.err(); err != nil {
		i.errs = append(i.errs, err)
	}
	return nil
}

// readSeries returns the series of a rank, of which all can be read, and the name of
// its codec.
func readSeries(t *merge.Trace, rank int) (*timing.Series, string, error) {
	name, err := t.SeriesCodec(rank)
	if err == nil {
		err = t.CheckSeries(rank)
	}
	if err != nil {
		return nil, "", err
	}
	s, err := t.Series(rank)
	return s, name, err
}

// add counts a series.
func (c *codecInfo) add(s *timing.Series) {
	c.Calls = wire.AddSat(c.Calls, s.Len())
	c.Bytes += int64(s.Size())
	c.Guarantee, c.Error = text.Error(s.Guarantee()), float64(s.Guarantee())
}

// guaranteeText returns in words how far values are off.
func guaranteeText(g timing.Guarantee) string {
	if g == timing.Exact {
		return "exact"
	}
	return fmt.Sprintf("at most %.4g %% off", 100*float64(g))
}
