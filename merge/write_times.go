package merge

import (
	"cmp"
	"context"
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
)

// Flags of summaries: what there is. Those of gaps are shifted by summaryFlags.
const (
	flagStatistics byte = 1 << iota
	flagHistograms

	summaryFlags = 2 // bits
)

// flags says what there is.
func (s *summaries) flags() byte {
	var flags byte
	for i := range s {
		f := byte(0)
		if len(s[i].Statistics) > 0 {
			f |= flagStatistics
		}
		if s[i].Histograms != nil {
			f |= flagHistograms
		}
		flags |= f << (i * summaryFlags)
	}
	return flags
}

// append appends the encoding of s, which is over n terminals, as it is in a part
// file.
func (s *summaries) append(dst []byte, n int) []byte {
	dst = append(dst, s.flags())
	for i := range s {
		if len(s[i].Statistics) == 0 {
			continue
		}
		var none timing.Statistics
		for t := range n {
			of := &none
			if t < len(s[i].Statistics) {
				of = &s[i].Statistics[t]
			}
			dst, _ = of.AppendBinary(dst)
		}
	}
	return s.appendHistograms(dst)
}

// appendRounded appends the encoding of s, which is over n signatures of these
// functions, as it is in a trace.
func (s *summaries) appendRounded(dst []byte, n int, function func(signature int) uint32) []byte {
	dst = append(dst, s.flags())
	var columns [][]timing.Statistics
	for i := range s {
		if len(s[i].Statistics) > 0 {
			columns = append(columns, s[i].Statistics)
		}
	}
	if len(columns) > 0 {
		table := timing.AppendStatisticsTable(nil, n, function, columns...)
		dst = wire.AppendUvarint(dst, uint64(len(table)))
		dst = append(dst, table...)
	}
	return s.appendHistograms(dst)
}

func (s *summaries) appendHistograms(dst []byte) []byte {
	for i := range s {
		if h := s[i].Histograms; h != nil {
			enc, _ := h.MarshalBinary()
			dst = wire.AppendUvarint(dst, uint64(len(enc)))
			dst = append(dst, enc...)
		}
	}
	return dst
}

// histogramBins is the number of bins that histograms have in a trace, at most. In
// a part file they have more, as what is merged of them must not depend on the
// order.
const histogramBins = 2 * timing.DefaultHistogramBins

// summaries returns those of all signatures.
func (m *model) summaries(placed []placedTimes) summaries {
	numbers := make([][]uint32, len(m.shapes)) // of the signatures of each terminal
	for i, s := range m.shapes {
		numbers[i] = make([]uint32, len(s.forms))
	}
	for n, s := range m.signatures {
		for _, u := range s.uses {
			numbers[u.shape][u.terminal] = uint32(n)
		}
	}
	var all summaries
	for i, s := range m.shapes {
		own := s.times.rename(numbers[i])
		all.merge(&own)
	}
	for _, p := range placed {
		for i, s := range m.shapes {
			if s.ranks.contains(p.rank) {
				own := p.times.rename(p.signatures(s.grammar, numbers[i]))
				all.merge(&own)
			}
		}
	}
	for i := range all {
		if h := all[i].Histograms; h != nil {
			all[i].Histograms = h.Reduce(histogramBins)
		}
	}
	return all
}

// appendSeries returns the contents of sections with series of ranks: the first
// says where those of each rank are in the others. It is nothing if there are none.
func appendSeries(ctx context.Context, series []rankSeries) [][]byte {
	if len(series) == 0 {
		return nil
	}
	series = slices.SortedFunc(slices.Values(series), func(x, y rankSeries) int { return x.rank - y.rank })
	var (
		names                     []string
		ranks                     rankenc.SetBuilder
		codecs, sections, offsets []int64
		p                         packer
		contents                  = [][]byte{nil}
	)
	for _, s := range series {
		names = append(names, s.codec)
	}
	slices.SortFunc(names, cmp.Compare)
	names = slices.Compact(names)
	place := func(item []byte) (section, offset int) {
		section, offset = p.place(len(item))
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
		ranks.Add(s.rank)
		codec, _ := slices.BinarySearch(names, s.codec)
		x, _ := timing.ParseSeriesIndex(s.data) // it was checked
		section, offset := place(s.data[:x.IndexSize()])
		codecs, sections, offsets = append(codecs, int64(codec)), append(sections, int64(section)), append(offsets, int64(offset))
		for i := range x.Blocks() {
			begin, end := x.Range(i)
			place(s.data[begin:end])
		}
	}
	head := appendTexts(nil, names)
	head, _ = ranks.Finish().AppendBinary(head)
	for _, numbers := range [][]int64{codecs, sections, offsets} {
		head = appendNumbers(head, numbers)
	}
	contents[0] = head
	return contents
}

// addSeries adds the sections of series to a file.
func addSeries(out *format.Writer, contents [][]byte) error {
	for i, c := range contents {
		if err := out.Add(KindSeries, uint64(i), c); err != nil {
			return err
		}
	}
	return nil
}
