package layout

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/blockindex"
	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
)

// A SeriesTable says where the series of ranks are.
type SeriesTable struct {
	Names             []string // of the codecs
	Ranks             rankenc.Set
	Codec             Numbers
	sections, offsets Numbers

	Sharing Sharing
}

// ParseSeriesTable decodes the first section of series, of a run of size ranks.
func ParseSeriesTable(data []byte, size int) (*SeriesTable, error) {
	d := wire.NewDecoder("merge", data)
	var s SeriesTable
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
		last, s.Names = name, append(s.Names, name)
	}
	at := d.Offset()
	s.Ranks = DecodeRanks(&d)
	n := s.Ranks.Len()
	if d.Err() == nil && (n == 0 || int(s.Ranks.At(n-1)) >= size) {
		d.Corrupt(at, "ranks", "%s in a run of %d", s.Ranks.Abbreviated(MaxNamed), size)
	}
	for _, list := range []*Numbers{&s.Codec, &s.sections, &s.offsets} {
		if d.Err() == nil {
			*list = columns.DecodeColumn(&d, columns.Over(rankenc.World(n), n))
		}
	}
	if d.Err() == nil && d.Rest() > 0 {
		s.Sharing.Codec = int(d.UvarintMax("shared codec", uint64(max(len(s.Names)-1, 0))))
		at := d.Offset()
		s.Sharing.Trainers = int(d.UvarintMax("trainers", maxTrainers))
		if n := s.Sharing.Trainers; d.Err() == nil && (n == 0 || n&(n-1) != 0) {
			d.Corrupt(at, "trainers", "%d is no power of two", n)
		}
	}
	d.End("trainers")
	if d.Err() != nil {
		return nil, d.Err()
	}
	return &s, nil
}

// A SeriesReader reads the series of a rank.
type SeriesReader struct {
	sections        *Sections
	Index           blockindex.Index
	Head            []byte // the index as it is encoded
	section, offset int    // of the index
	Places          []seriesPlace
}

// A seriesPlace says where a block is.
type seriesPlace struct{ section, offset, size int }

// Error returns an error about the series.
func (r *SeriesReader) Error(err error) error {
	if errors.As(err, new(*format.SectionError)) {
		return err
	}
	return Damaged(KindSeries, uint64(r.section)+1, err)
}

// Block reads a block.
func (r *SeriesReader) Block(i int) ([]byte, error) {
	p := r.Places[i]
	var data []byte
	err := r.sections.ReadShared(KindSeries, uint64(p.section)+1, func(content []byte) (err error) {
		data, err = ItemOf(content, p.offset, p.size)
		return err
	})
	return data, err
}

// readAfter returns the series as it was when it was added, and sets end to its
// end, which is where another one may begin.
func (r *SeriesReader) readAfter(end *Packer) ([]byte, error) {
	if r.section < end.Section || r.section == end.Section && r.offset < end.Offset {
		return nil, Corrupt("the series is at %d of section %d, before the end of another one", r.offset, r.section)
	}
	data := slices.Clone(r.Head)
	*end = Packer{r.section, r.offset + len(r.Head)}
	for i, p := range r.Places {
		block, err := r.Block(i)
		if err != nil {
			return nil, err
		}
		data = append(data, block...)
		*end = Packer{p.section, p.offset + p.size}
	}
	return data, nil
}

// A RankSeries is the times of every call of a rank.
type RankSeries struct {
	Rank  int
	Codec string
	Data  []byte
}

// CheckSeries checks that a series, of a codec that is known, has the times of that
// many calls.
func CheckSeries(codec string, data []byte, calls uint64) error {
	c, err := KnownCodecs.Get(codec)
	if err != nil {
		return err
	}
	s, err := c.Parse(data, timing.Options{})
	if err == nil && (s.Len() != calls || calls == 0) {
		err = fmt.Errorf("a series of %d calls, not %d", s.Len(), calls)
	}
	return err
}

// AppendSeries returns the contents of sections with series of ranks: the first
// says where those of each rank are in the others. It is nothing if there are none.
func AppendSeries(ctx context.Context, all SharedSeries) [][]byte {
	series := all.Series
	if len(series) == 0 {
		return nil
	}
	var (
		names                     = seriesCodecs(series)
		ranks                     rankenc.SetBuilder
		codecs, sections, offsets []int64
		p                         Packer
		contents                  = [][]byte{nil}
	)
	place := func(item []byte) (section, offset int) {
		section, offset = p.Place(len(item))
		if section+1 == len(contents) {
			contents = append(contents, nil)
		}
		contents[section+1] = append(contents[section+1], item...)
		return section, offset
	}
	for _, s := range series {
		if ctx.Err() != nil {
			return nil
		}
		ranks.Add(s.Rank)
		codec, _ := slices.BinarySearch(names, s.Codec)
		x, _ := blockindex.Parse(s.Data) // it was checked
		section, offset := place(s.Data[:x.HeadSize()])
		codecs, sections, offsets = append(codecs, int64(codec)), append(sections, int64(section)),
			append(offsets, int64(offset))
		for i := range x.Blocks() {
			begin, end := x.Range(i)
			place(s.Data[begin:end])
		}
	}
	head := AppendTexts(nil, names)
	head, _ = ranks.Finish().AppendBinary(head)
	for _, numbers := range [][]int64{codecs, sections, offsets} {
		head = AppendNumbers(head, numbers)
	}
	if all.Sharing.Trainers > 0 {
		head = wire.AppendUvarint(head, uint64(all.Sharing.Codec))
		head = wire.AppendUvarint(head, uint64(all.Sharing.Trainers))
	}
	contents[0] = head
	return contents
}

// AddSeries adds the sections of series to a file.
func AddSeries(out *format.Writer, contents [][]byte) error {
	for i, c := range contents {
		if err := out.Add(KindSeries, uint64(i), c); err != nil {
			return err
		}
	}
	return nil
}

// SeriesTable reads the first section of series, of a run of size ranks: nil if there are
// no series. If there are others without the first, the error is a [*format.SectionError].
func (x *Sections) SeriesTable(size int) (*SeriesTable, error) {
	if x.OrphanSeries() {
		return nil, Damaged(KindSeries, 0, Corrupt("the file has no such section"))
	}
	if _, ok := x.File.Lookup(KindSeries, 0); !ok {
		return nil, nil
	}
	var s *SeriesTable
	err := x.Read(KindSeries, 0, func(data []byte) (err error) {
		s, err = ParseSeriesTable(data, size)
		if err == nil && int64(s.Ranks.Len()) > x.seriesBytes() {
			err = Corrupt("%d series in %d bytes", s.Ranks.Len(), x.seriesBytes())
		}
		return err
	})
	return s, err
}

// OrphanSeries reports whether the file has sections of series without the first, so that
// nothing tells whose they are.
func (x *Sections) OrphanSeries() bool {
	if _, ok := x.File.Lookup(KindSeries, 0); ok {
		return false
	}
	for _, s := range x.File.All() {
		if s.Kind == KindSeries {
			return true
		}
	}
	return false
}

// LostSeries returns the ranks of the series of a run of size ranks if the first section
// of series can be read, but they cannot be in the others.
func (x *Sections) LostSeries(size int) rankenc.Set {
	var ranks rankenc.Set
	err := x.Read(KindSeries, 0, func(data []byte) error {
		s, err := ParseSeriesTable(data, size)
		if err == nil && int64(s.Ranks.Len()) > x.seriesBytes() {
			ranks = s.Ranks
		}
		return err
	})
	if err != nil {
		return rankenc.Set{}
	}
	return ranks
}

// seriesBytes returns the size of the sections that hold series: each takes a byte
// at least.
func (x *Sections) seriesBytes() int64 {
	n := int64(0)
	for _, s := range x.File.All() {
		if s.Kind == KindSeries && s.Key > 0 {
			n += s.Len
		}
	}
	return n
}

// RanksOf returns the ranks that have their series, or some of it, in the section with a
// key, key > 0. Series stand one after the other.
func (s *SeriesTable) RanksOf(key uint64) rankenc.Set {
	section := int64(min(key-1, MaxColumn))
	n := s.Ranks.Len()
	first := sort.Search(n, func(i int) bool { return s.sections.At(i) >= section })
	end := sort.Search(n, func(i int) bool { return s.sections.At(i) > section })
	if first > 0 && (first == end || s.offsets.At(first) > 0) {
		first-- // it goes on in the section
	}
	return s.between(first, end)
}

// between returns the ranks of the series from one number to another, which it excludes.
func (s *SeriesTable) between(first, end int) rankenc.Set {
	list := make([]int, 0, end-first)
	for i := first; i < end; i++ {
		list = append(list, s.Ranks.At(i))
	}
	return rankenc.SetOf(list...)
}

// WithoutSeries returns the ranks whose series, or some of it, is in sections that the
// file does not have.
func (x *Sections) WithoutSeries(s *SeriesTable) rankenc.Set {
	var keys []int64
	for _, f := range x.File.All() {
		if f.Kind == KindSeries {
			keys = append(keys, int64(min(f.Key, math.MaxInt64)))
		}
	}
	slices.Sort(keys)
	n := s.Ranks.Len()
	last := x.lastSection(s)
	if whole := keys[len(keys)-1] == int64(len(keys)-1); whole && last < keys[len(keys)-1] {
		return rankenc.Set{}
	}
	var ranks []int
	for i := range n {
		from, to := s.sections.At(i), last
		if i+1 < n {
			if to = s.sections.At(i + 1); to > from && s.offsets.At(i+1) == 0 {
				to--
			}
		}
		begin, _ := slices.BinarySearch(keys, from+1)
		end, _ := slices.BinarySearch(keys, to+2)
		if int64(end-begin) < to-from+1 {
			ranks = append(ranks, s.Ranks.At(i))
		}
	}
	return rankenc.SetOf(ranks...)
}

// lastSection returns the last section of the last series, as far as the file tells.
func (x *Sections) lastSection(s *SeriesTable) int64 {
	last := s.Ranks.Len() - 1
	if r, err := x.OpenSeries(s, last); err == nil && len(r.Places) > 0 {
		return int64(r.Places[len(r.Places)-1].section)
	}
	return s.sections.At(last)
}

// OpenSeries reads the index of the i-th series.
func (x *Sections) OpenSeries(s *SeriesTable, i int) (*SeriesReader, error) {
	section, offset, codec := s.sections.At(i), s.offsets.At(i), s.Codec.At(i)
	if section < 0 || offset < 0 || codec < 0 || codec >= int64(len(s.Names)) || section > MaxColumn ||
		offset > MaxPacked {
		return nil, Damaged(KindSeries, 0, Corrupt("series %d has codec %d and is at %d of section %d", i,
			codec, offset, section))
	}
	r := &SeriesReader{sections: x, section: int(section), offset: int(offset)}
	err := x.ReadShared(KindSeries, uint64(section)+1, func(content []byte) (err error) {
		if offset >= int64(len(content)) {
			return Corrupt("series %d is at %d of %d bytes", i, offset, len(content))
		}
		if r.Index, err = blockindex.Parse(content[offset:]); err != nil {
			return AtOffset(err, int(offset))
		}
		head, err := ItemOf(content, int(offset), r.Index.HeadSize())
		r.Head = slices.Clone(head)
		return err
	})
	if err != nil {
		return nil, err
	}
	p := Packer{r.section, r.offset + r.Index.HeadSize()}
	r.Places = make([]seriesPlace, r.Index.Blocks())
	for i := range r.Places {
		begin, end := r.Index.Range(i)
		r.Places[i].size = end - begin
		r.Places[i].section, r.Places[i].offset = p.Place(end - begin)
	}
	return r, nil
}

// EachSeries calls use with the series of each rank of a table, in their order, or
// with an error about it. It checks that they are of as many calls as calls says,
// more than none, and stand one after the other, so that they take no more memory
// than the file does.
func (x *Sections) EachSeries(table *SeriesTable, calls func(rank int) uint64,
	use func(RankSeries, error) error) error {
	var end Packer // of the one before
	for i, rank := range table.Ranks.All() {
		s := RankSeries{Rank: int(rank)}
		r, err := x.OpenSeries(table, i)
		if err == nil {
			s.Codec = table.Names[table.Codec.At(i)]
			if s.Data, err = r.readAfter(&end); err == nil {
				err = CheckSeries(s.Codec, s.Data, calls(s.Rank))
			}
			if err != nil {
				err = r.Error(err)
			}
		}
		if err := use(s, err); err != nil {
			return err
		}
	}
	return nil
}
