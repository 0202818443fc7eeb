package merge

import (
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// ReadPartRanks returns the number of ranks of the run that a part file is of, as
// far as the file says that, and the ranks of which it has calls. It checks the
// sections of the shapes for damage, but does not parse the calls in them. An
// error about the file is a [*SectionError].
func ReadPartRanks(file *format.Reader) (size int, ranks rankenc.Set, err error) {
	p := partReader{file: file}
	if err := p.readHead(); err != nil {
		return 0, rankenc.Set{}, err
	}
	var list []spans
	left := maxPartRanks
	for i := range p.shapes {
		err := layout.ReadSection(file, layout.KindShape, uint64(i), func(data []byte) error {
			d := shapeParser{Decoder: wire.NewDecoder("merge", data), a: &p.a, most: left}
			s := d.ranks()
			left -= s.len()
			list = append(list, s)
			return d.Err()
		})
		if err != nil {
			return 0, rankenc.Set{}, err
		}
	}
	all, twice := unionOf(list)
	if twice >= 0 {
		return 0, rankenc.Set{}, &layout.SectionError{Kind: layout.KindPart, Key: 0, Offset: -1, Err: layout.Corrupt("rank %d is of two shapes", twice)}
	}
	return max(p.a.size, all.last()+1), all.set(), nil
}

// ReadSeriesRanks returns the ranks of which a trace, or a part file, has the times of
// every call, of which the rest may be damaged. An error about the file is a
// [*SectionError].
func ReadSeriesRanks(file *format.Reader) (rankenc.Set, error) {
	var ranks rankenc.Set
	if _, ok := file.Lookup(layout.KindSeries, 0); !ok {
		return ranks, nil
	}
	err := layout.ReadSection(file, layout.KindSeries, 0, func(data []byte) error {
		s, err := layout.ParseSeriesTable(data, layout.MaxRanks)
		if err == nil {
			ranks = s.Ranks
		}
		return err
	})
	return ranks, err
}
