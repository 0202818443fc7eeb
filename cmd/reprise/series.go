package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
)

// A seriesTable is what number 0 of the time series of a trace, or of a part file,
// says: which ranks have a series, with which codec, and where.
type seriesTable struct {
	codecs            []string // names
	ranks             rankenc.Set
	codec             rankenc.Column // of each rank, its place in codecs
	sections, offsets rankenc.Column // where the series begins; the section is less 1
	damaged           []damagedSection
}

// A damagedSection is one of series that cannot be read.
type damagedSection struct {
	section int64 // less 1, as in a seriesTable
	err     error
}

// readSeriesTable returns the table of a file, nil if there are no series, and checks
// the checksums of all sections of series. What the table has is as package merge
// documents it, and was checked by opening the trace.
func readSeriesTable(ctx context.Context, file *format.Reader) (*seriesTable, error) {
	section, ok := file.Lookup(merge.KindSeries, 0)
	if !ok {
		return nil, nil
	}
	content, err := file.Content(section)
	if err != nil {
		return nil, err
	}
	var t seriesTable
	d := wire.NewDecoder("merge", content)
	for range d.Count("codecs", 1) {
		t.codecs = append(t.codecs, string(d.String("codec")))
	}
	t.ranks = rankenc.DecodeSet(&d)
	n := t.ranks.Len()
	for _, list := range []*rankenc.Column{&t.codec, &t.sections, &t.offsets} {
		if d.Err() == nil {
			*list = rankenc.DecodeColumn(&d, rankenc.Over(rankenc.World(n), int64(n)))
		}
	}
	if d.Err() != nil {
		return nil, d.Err()
	}
	for _, s := range file.All() {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if s.Kind != merge.KindSeries || s.Key == 0 {
			continue
		}
		if content, err = file.AppendContent(content[:0], s); err != nil {
			t.damaged = append(t.damaged, damagedSection{int64(s.Key - 1), &merge.SectionError{Kind: s.Kind, Key: s.Key, Offset: s.Offset, Err: err}})
		}
	}
	slices.SortFunc(t.damaged, func(a, b damagedSection) int { return cmp.Compare(a.section, b.section) })
	return &t, nil
}

// damage returns the error of the first damaged section that the i-th series has a
// part in, or nil. A series ends where the one after it begins.
func (t *seriesTable) damage(i int) error {
	begin := t.sections.At(i)
	n, _ := slices.BinarySearchFunc(t.damaged, begin, func(d damagedSection, s int64) int { return cmp.Compare(d.section, s) })
	if n == len(t.damaged) {
		return nil
	}
	d := t.damaged[n]
	if i+1 < t.ranks.Len() && d.section > begin {
		if next := t.sections.At(i + 1); d.section > next || d.section == next && t.offsets.At(i+1) == 0 {
			return nil
		}
	}
	return d.err
}

// A codecInfo is what info tells of the series that have one codec.
type codecInfo struct {
	Codec     string  `json:"codec"`
	Guarantee string  `json:"guarantee"`      // in words
	Error     float64 `json:"relative_error"` // of values, at most; −1 if there is no bound
	Ranks     string  `json:"ranks"`          // as a list
	Count     int     `json:"number_of_ranks"`
	Calls     uint64  `json:"calls"`
	Bytes     int64   `json:"content_bytes"` // of the series, before sections are compressed
}

// readSeries fills in what is known of the series in a table, leaving out ranks of
// which the calls cannot be read.
func (i *timeInfo) readSeries(ctx context.Context, t *merge.Trace, table *seriesTable, without rankenc.Set, path string) error {
	lost := &lostRanks{path: path, what: "the times of "}
	list := make([]codecInfo, len(table.codecs))
	ranks := make([][]int, len(table.codecs))
	for n, rank := range table.ranks.All() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, ok := without.Index(int(rank)); ok {
			continue
		}
		var s *timing.Series[int64]
		err := table.damage(n)
		if err == nil {
			s, err = t.Series(int(rank))
		}
		if err != nil {
			lost.add(int(rank), err)
			continue
		}
		codec := table.codec.At(n) // opening the series has checked it
		list[codec].add(s)
		ranks[codec] = append(ranks[codec], int(rank))
	}
	for n := range list {
		list[n].Codec, list[n].Ranks, list[n].Count = table.codecs[n], rankSet(ranks[n]).String(), len(ranks[n])
	}
	i.Codecs = slices.DeleteFunc(list, func(c codecInfo) bool { return c.Count == 0 })
	i.Ranks, i.Unreadable = rankSet(slices.Concat(ranks...)).String(), lost.text()
	if err := lost.err(); err != nil {
		i.errs = append(i.errs, err)
	}
	return nil
}

// add counts a series.
func (c *codecInfo) add(s *timing.Series[int64]) {
	c.Calls = wire.AddSat(c.Calls, s.Len())
	c.Bytes += int64(s.Size())
	c.Guarantee, c.Error = guaranteeText(s.Guarantee()), float64(s.Guarantee())
	if s.Guarantee() == timing.NoBound {
		c.Error = -1
	}
}

// guaranteeText returns in words how far values are off.
func guaranteeText(g timing.Guarantee) string {
	switch g {
	case timing.Exact:
		return "exact"
	case timing.NoBound:
		return "no bound"
	}
	return fmt.Sprintf("at most %.4g %% off", 100*float64(g))
}
