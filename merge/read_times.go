package merge

import (
	"errors"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
)

// Summaries returns what the trace has of the times of calls by signature, in
// place of the terminal: of how long they took, and of the gaps before them. They
// are of the calls of all ranks. Where a rank has equal calls under several
// signatures, the first has those of all. Means, sums and variances of statistics
// are rounded, as [timing.AppendStatisticsTable] says; all else is exact. An error
// about the file is a [*SectionError]. The result must not be changed.
func (t *Trace) Summaries() (durations, gaps Summary, err error) {
	s, err := t.summaries()
	return s[0], s[1], err
}

// readSummaries reads the section of the summaries, if there is one.
func (t *Trace) readSummaries() (summaries, error) {
	var s summaries
	if _, ok := t.file.Lookup(KindSummaries, 0); !ok {
		return s, nil
	}
	err := t.read(KindSummaries, 0, func(data []byte) (err error) {
		s, err = parseRounded(data, t.Signatures(), func(n int) uint32 { return uint32(t.FunctionOf(n)) })
		return err
	})
	return s, err
}

// parseSummaries decodes summaries over n terminals, as they are in a part file.
func parseSummaries(data []byte, n int) (summaries, error) {
	d := wire.NewDecoder("merge", data)
	has := decodeFlags(&d)
	var s summaries
	for i := range s {
		if d.Err() == nil && has(i, flagStatistics) {
			s[i].Statistics = decodeStatistics(&d, n)
		}
	}
	return s.decodeHistograms(&d, n, has)
}

// parseRounded decodes summaries over n signatures of these functions, as they are
// in a trace.
func parseRounded(data []byte, n int, function func(signature int) uint32) (summaries, error) {
	d := wire.NewDecoder("merge", data)
	has := decodeFlags(&d)
	var s summaries
	var columns []*Summary
	for i := range s {
		if d.Err() == nil && has(i, flagStatistics) {
			columns = append(columns, &s[i])
		}
	}
	if len(columns) > 0 {
		enc := d.String("statistics")
		at := d.Offset() - len(enc)
		if d.Err() != nil {
			return summaries{}, d.Err()
		}
		table, err := timing.ParseStatisticsTable(enc, n, function, len(columns))
		if err != nil {
			return summaries{}, atOffset(err, at)
		}
		for i, c := range columns {
			if c.Statistics = table[i]; len(c.Statistics) == 0 {
				d.Corrupt(at, "statistics", "none")
			}
		}
	}
	return s.decodeHistograms(&d, n, has)
}

// decodeFlags reads the flags of summaries, and returns whether durations, which
// are 0, and gaps, 1, have what a flag says.
func decodeFlags(d *wire.Decoder) (has func(i int, flag byte) bool) {
	flags := d.Byte("flags")
	if flags>>(2*summaryFlags) != 0 || d.Err() == nil && flags == 0 {
		d.Corrupt(0, "flags", "%#x", flags)
	}
	return func(i int, flag byte) bool { return flags>>(i*summaryFlags)&flag != 0 }
}

// decodeHistograms reads what comes after the statistics, and returns s with it.
func (s *summaries) decodeHistograms(d *wire.Decoder, n int, has func(i int, flag byte) bool) (summaries, error) {
	for i := range s {
		if d.Err() != nil || !has(i, flagHistograms) {
			continue
		}
		enc := d.String("histograms")
		at := d.Offset() - len(enc)
		if d.Err() != nil {
			break
		}
		h, err := timing.ParseHistograms(enc)
		if err != nil {
			return summaries{}, atOffset(err, at)
		}
		s[i].Histograms = h
		if err := s[i].checkPaths(n); err != nil {
			d.Corrupt(at, "histograms", "%v", err)
		}
	}
	d.End("histograms")
	if d.Err() != nil {
		return summaries{}, d.Err()
	}
	if s.mixed() {
		return summaries{}, corrupt("histograms by call and by pair of calls")
	}
	return *s, nil
}

// decodeStatistics reads statistics of n terminals, up to the last that has any.
func decodeStatistics(d *wire.Decoder, n int) []timing.Statistics {
	at := d.Offset()
	if n > d.Rest() {
		d.Corrupt(at, "statistics", "of %d terminals in %d bytes", n, d.Rest())
		return nil
	}
	var list []timing.Statistics
	none := 0 // of the terminals before
	for range n {
		s := decodeOneStatistics(d)
		switch {
		case s == nil:
			return nil
		case s.Count == 0:
			none++
			continue
		}
		list = append(list, make([]timing.Statistics, none+1)...)
		list[len(list)-1], none = *s, 0
	}
	if len(list) == 0 {
		d.Corrupt(at, "statistics", "none")
	}
	return list
}

// decodeOneStatistics reads the statistics of a terminal. It returns nil if that
// fails.
func decodeOneStatistics(d *wire.Decoder) *timing.Statistics {
	ahead := *d
	data := ahead.Bytes("statistics", ahead.Rest())
	s, rest, err := timing.ReadStatistics(data)
	var e *timing.ParseError
	if errors.As(err, &e) {
		d.Fail(d.Offset()+int(e.Offset), e.Field, e.Err)
		return nil
	}
	d.Bytes("statistics", len(data)-len(rest))
	return s
}

// A seriesTable says where the series of ranks are.
type seriesTable struct {
	names             []string // of the codecs
	ranks             rankenc.Set
	codec             numbers
	sections, offsets numbers
}

// SeriesRanks returns the ranks of which the trace has the times of every call,
// and the names of the codecs. An error about the file is a [*SectionError].
func (t *Trace) SeriesRanks() (ranks rankenc.Set, codecs []string, err error) {
	s, err := t.series()
	if err != nil || s == nil {
		return rankenc.Set{}, nil, err
	}
	return s.ranks, slices.Clone(s.names), nil
}

// ReadSeriesRanks returns the ranks of which a trace, or a part file, has the times of
// every call, of which the rest may be damaged. An error about the file is a
// [*SectionError].
func ReadSeriesRanks(file *format.Reader) (rankenc.Set, error) {
	var ranks rankenc.Set
	if _, ok := file.Lookup(KindSeries, 0); !ok {
		return ranks, nil
	}
	err := readSection(file, KindSeries, 0, func(data []byte) error {
		s, err := parseSeriesTable(data, maxRanks)
		if err == nil {
			ranks = s.ranks
		}
		return err
	})
	return ranks, err
}

// SeriesCodec returns the name of the codec of the times of a rank, nothing if the
// trace does not have them. An error about the file is a [*SectionError].
func (t *Trace) SeriesCodec(rank int) (string, error) {
	s, err := t.series()
	if err != nil || s == nil {
		return "", err
	}
	i, ok := s.ranks.Index(rank)
	if !ok {
		return "", nil
	}
	if k := s.codec.At(i); k >= 0 && k < int64(len(s.names)) {
		return s.names[k], nil
	}
	return "", &SectionError{KindSeries, 0, -1, corrupt("series %d has codec %d", i, s.codec.At(i))}
}

// CheckSeries returns an error if a section that holds times of a rank cannot be
// read, without decoding them. It is a [*SectionError].
func (t *Trace) CheckSeries(rank int) error {
	s, err := t.series()
	if err != nil || s == nil {
		return err
	}
	i, ok := s.ranks.Index(rank)
	if !ok {
		return nil
	}
	r, err := t.openSeries(s, i)
	for k := 0; err == nil && k < len(r.places); k++ {
		_, err = r.block(k)
	}
	return err
}

// Series returns the times of the calls of a rank, nil if the trace does not have
// them. Its terminals are those of [Trace.Part]. Blocks are read when they are
// needed. An error about the file, also of the methods of the series, is a
// [*SectionError], or a [*timing.ParseError] about a block.
func (t *Trace) Series(rank int) (*timing.Series, error) {
	s, err := t.series()
	if err != nil || s == nil {
		return nil, err
	}
	i, ok := s.ranks.Index(rank)
	if !ok {
		return nil, nil
	}
	r, err := t.openSeries(s, i)
	if err != nil {
		return nil, err
	}
	codec, err := t.codecOf(s, i, rank)
	if err != nil {
		return nil, err
	}
	series, err := codec.Open(r.index, r.block, timing.Options{})
	if err == nil && series.Len() != t.lenOf(rank) {
		err = corrupt("the series of rank %d is of %d calls, not %d", rank, series.Len(), t.lenOf(rank))
	}
	if err != nil {
		return nil, r.error(err)
	}
	return series, nil
}

// codecOf returns the codec of the i-th series of a table, that of a rank.
func (t *Trace) codecOf(s *seriesTable, i, rank int) (*timing.SeriesCodec, error) {
	name := s.names[s.codec.At(i)] // openSeries has checked it
	if !strings.Contains(name, ofFunctions) {
		c, err := knownCodecs.get(name)
		if err != nil {
			return nil, &SectionError{KindSeries, 0, -1, corrupt("%v", err)}
		}
		return c, nil
	}
	calls, err := t.Calls(rank)
	if err != nil {
		return nil, err
	}
	names := make([]string, calls.Table().Len())
	for terminal := range names {
		fn, _ := calls.Table().Signature(uint32(terminal))
		names[terminal] = t.Functions()[fn].Name
	}
	c, err := seriesCodec(name, func(terminal uint32) string { return names[terminal] })
	if err != nil {
		return nil, &SectionError{KindSeries, 0, -1, corrupt("%v", err)}
	}
	return c, nil
}

// lenOf returns the number of calls of a rank, 0 if its shape cannot be read.
func (t *Trace) lenOf(rank int) uint64 {
	number, ok := t.index.find(rank)
	if !ok {
		return 0
	}
	s, err := t.Shape(number)
	if err != nil {
		return 0
	}
	return s.Grammar.Len()
}

// readSeriesTable reads the first section of series, nil if there is none.
func (t *Trace) readSeriesTable() (*seriesTable, error) {
	if _, ok := t.file.Lookup(KindSeries, 0); !ok {
		return nil, nil
	}
	var s *seriesTable
	err := t.read(KindSeries, 0, func(data []byte) (err error) {
		s, err = parseSeriesTable(data, t.run.Ranks)
		if err == nil && int64(s.ranks.Len()) > t.seriesBytes() {
			err = corrupt("%d series in %d bytes", s.ranks.Len(), t.seriesBytes())
		}
		return err
	})
	return s, err
}

// seriesBytes returns the size of the sections that hold series: each takes a byte
// at least.
func (t *Trace) seriesBytes() int64 {
	n := int64(0)
	for _, s := range t.file.All() {
		if s.Kind == KindSeries && s.Key > 0 {
			n += s.Len
		}
	}
	return n
}

// parseSeriesTable decodes the first section of series, of a run of size ranks.
func parseSeriesTable(data []byte, size int) (*seriesTable, error) {
	d := wire.NewDecoder("merge", data)
	var s seriesTable
	last := ""
	for i := range d.Count("codecs", 1) {
		at := d.Offset()
		name := string(d.String("codec"))
		if d.Err() != nil {
			break
		}
		if i > 0 && name <= last {
			d.Corrupt(at, "codec", "%q after %q", name, last)
			break
		}
		last, s.names = name, append(s.names, name)
	}
	at := d.Offset()
	s.ranks = rankenc.DecodeSet(&d)
	n := s.ranks.Len()
	if d.Err() == nil && (n == 0 || int(s.ranks.At(n-1)) >= size) {
		d.Corrupt(at, "ranks", "%v in a run of %d", s.ranks, size)
	}
	for _, list := range []*numbers{&s.codec, &s.sections, &s.offsets} {
		if d.Err() == nil {
			*list = rankenc.DecodeColumn(&d, rankenc.Over(rankenc.World(n), n))
		}
	}
	d.End("offsets")
	if d.Err() != nil {
		return nil, d.Err()
	}
	return &s, nil
}

// A seriesReader reads the series of a rank.
type seriesReader struct {
	trace           *Trace
	index           timing.SeriesIndex
	head            []byte // the index as it is encoded
	section, offset int    // of the index
	places          []seriesPlace
}

// A seriesPlace says where a block is.
type seriesPlace struct{ section, offset, size int }

// openSeries reads the index of the i-th series.
func (t *Trace) openSeries(s *seriesTable, i int) (*seriesReader, error) {
	section, offset, codec := s.sections.At(i), s.offsets.At(i), s.codec.At(i)
	if section < 0 || offset < 0 || codec < 0 || codec >= int64(len(s.names)) || section > maxColumn || offset > maxPacked {
		return nil, &SectionError{KindSeries, 0, -1, corrupt("series %d has codec %d and is at %d of section %d", i, codec, offset, section)}
	}
	r := &seriesReader{trace: t, section: int(section), offset: int(offset)}
	err := t.readShared(KindSeries, uint64(section)+1, func(content []byte) (err error) {
		if offset >= int64(len(content)) {
			return corrupt("series %d is at %d of %d bytes", i, offset, len(content))
		}
		if r.index, err = timing.ParseSeriesIndex(content[offset:]); err != nil {
			return atOffset(err, int(offset))
		}
		head, err := itemOf(content, int(offset), r.index.IndexSize())
		r.head = slices.Clone(head)
		return err
	})
	if err != nil {
		return nil, err
	}
	p := packer{r.section, r.offset + r.index.IndexSize()}
	r.places = make([]seriesPlace, r.index.Blocks())
	for i := range r.places {
		begin, end := r.index.Range(i)
		r.places[i].size = end - begin
		r.places[i].section, r.places[i].offset = p.place(end - begin)
	}
	return r, nil
}

// error returns an error about the series.
func (r *seriesReader) error(err error) error {
	if errors.As(err, new(*SectionError)) {
		return err
	}
	return &SectionError{KindSeries, uint64(r.section) + 1, -1, err}
}

// block reads a block.
func (r *seriesReader) block(i int) ([]byte, error) {
	p := r.places[i]
	var data []byte
	err := r.trace.readShared(KindSeries, uint64(p.section)+1, func(content []byte) (err error) {
		data, err = itemOf(content, p.offset, p.size)
		return err
	})
	return data, err
}

// eachSeries calls use with the series of each rank of a table, in their order, or
// with an error about it. It checks that they are of as many calls as calls says,
// more than none, and stand one after the other, so that they take no more memory
// than the file does.
func (t *Trace) eachSeries(table *seriesTable, calls func(rank int) uint64, use func(rankSeries, error) error) error {
	var end packer // of the one before
	for i, rank := range table.ranks.All() {
		s := rankSeries{rank: int(rank)}
		r, err := t.openSeries(table, i)
		if err == nil {
			s.codec = table.names[table.codec.At(i)]
			if s.data, err = r.readAfter(&end); err == nil {
				err = checkSeries(s.codec, s.data, calls(s.rank))
			}
			if err != nil {
				err = r.error(err)
			}
		}
		if err := use(s, err); err != nil {
			return err
		}
	}
	return nil
}

// readAfter returns the series as it was when it was added, and sets end to its
// end, which is where another one may begin.
func (r *seriesReader) readAfter(end *packer) ([]byte, error) {
	if r.section < end.section || r.section == end.section && r.offset < end.offset {
		return nil, corrupt("the series is at %d of section %d, before the end of another one", r.offset, r.section)
	}
	data := slices.Clone(r.head)
	*end = packer{r.section, r.offset + len(r.head)}
	for i, p := range r.places {
		block, err := r.block(i)
		if err != nil {
			return nil, err
		}
		data = append(data, block...)
		*end = packer{p.section, p.offset + p.size}
	}
	return data, nil
}
