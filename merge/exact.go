package merge

import (
	"errors"
	"fmt"

	"github.com/reprise-trace/reprise/internal/blockindex"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/timing"
)

// exactBytes is 64 kB: how many bytes the exact times of all calls of a run take more than they may, if they are kept
// only where they are few: see [Times]. It counts series as they are encoded.
const exactBytes = 64_000

// exactTimes say which series are exact as long as those of all ranks take less than exactBytes. It is one
// decision for all, which does not depend on the order in which parts come: the sizes only add up.
type exactTimes struct {
	instead []layout.RankSeries // with an error, of the ranks that have exact ones, in no order
	bytes   int                 // of the exact ones
	over    bool                // they take too much, and all have those with an error
}

// checkRecorded checks that what was recorded is of so many calls.
func (t *Times) checkRecorded(calls uint64) error {
	n := uint64(0)
	for _, r := range t.Recorded {
		if r == nil || r.Len() == 0 {
			return errors.New("recorded times of no calls")
		}
		n += uint64(r.Len())
	}
	if len(t.Recorded) > 0 && n != calls {
		return fmt.Errorf("recorded times of %d calls, not %d", n, calls)
	}
	return nil
}

// joinRecorded returns the calls of threads that have times: nil if some are not to be kept exactly.
func joinRecorded(threads []Part) []*timing.Recorded {
	joined, tooMany := []*timing.Recorded{}, false
	for _, p := range threads {
		if p.Times.Recorded == nil {
			return nil
		}
		joined = append(joined, p.Times.Recorded...)
		tooMany = tooMany || len(p.Times.Recorded) == 0
	}
	if tooMany {
		return joined[:0]
	}
	return joined
}

// addSeries adds the series of a rank, or the exact one of what was recorded, if that is not nil.
func (a *Accumulator) addSeries(s layout.RankSeries, recorded []*timing.Recorded) {
	if recorded == nil || a.exact.over {
		a.series = append(a.series, s)
		return
	}
	if len(recorded) == 0 || len(s.Data) >= exactBytes { // more with all digits
		a.series = append(a.series, s)
		a.endExact()
		return
	}
	exact := layout.RankSeries{Rank: s.Rank}
	exact.Codec, exact.Data = exactSeries(s.Codec, recorded)
	a.series = append(a.series, exact)
	a.addExact(&exactTimes{instead: []layout.RankSeries{s}, bytes: len(exact.Data)})
}

// exactSeries returns the exact series of calls that also have one with a codec.
func exactSeries(codec string, recorded []*timing.Recorded) (name string, data []byte) {
	column, _ := timing.NewLossless(timing.Zstd)
	given, _ := layout.SeriesCodec(codec, nil) // it was checked
	c := &timing.SeriesCodec{Durations: column, Deltas: column, Form: given.Form}
	var threads [][]byte
	for _, r := range recorded {
		threads = append(threads, r.Encode(c, nil))
	}
	data, _ = blockindex.Join(threads...) // of series that were made here
	return c.Name(), data
}

// addExact adds those of other ranks, whose series a has.
func (a *Accumulator) addExact(b *exactTimes) {
	a.exact.instead = append(a.exact.instead, b.instead...)
	a.exact.bytes += b.bytes
	if a.exact.over || b.over || a.exact.bytes >= exactBytes {
		a.endExact()
	}
}

// endExact puts series with an error in the place of exact ones.
func (a *Accumulator) endExact() {
	with := make(map[int]layout.RankSeries, len(a.exact.instead))
	for _, s := range a.exact.instead {
		with[s.Rank] = s
	}
	for i, s := range a.series {
		if other, ok := with[s.Rank]; ok {
			a.series[i] = other
		}
	}
	a.exact = exactTimes{over: true}
}

// withoutExact returns an accumulator with what a has, but series with an error. It shares memory with a.
func (a *Accumulator) withoutExact() *Accumulator {
	b := *a
	b.series = append([]layout.RankSeries(nil), a.series...)
	b.endExact()
	return &b
}

// append appends the encoding of t, which has something.
func (t *exactTimes) append(dst []byte) []byte {
	for _, s := range t.instead {
		dst = wire.AppendUvarint(dst, uint64(s.Rank))
		dst = wire.AppendString(dst, s.Codec)
		dst = wire.AppendUvarint(dst, uint64(len(s.Data)))
		dst = append(dst, s.Data...)
	}
	return dst
}

// parseExact decodes the times of ranks of which calls tells the number of calls, and series the exact ones.
// None means that these take too much.
func parseExact(data []byte, calls callCounts, series []layout.RankSeries) (t exactTimes, err error) {
	exact := make(map[int]int, len(series))
	for _, s := range series {
		exact[s.Rank] = len(s.Data)
	}
	d := wire.NewDecoder("merge", data)
	t.over = d.Rest() == 0
	for last := -1; d.Err() == nil && d.Rest() > 0; {
		at := d.Offset()
		s := layout.RankSeries{Rank: int(d.UvarintMax("rank", layout.MaxRanks-1))}
		s.Codec, s.Data = string(d.String("codec")), d.String("series")
		if d.Err() != nil {
			break
		}
		size, ok := exact[s.Rank]
		if t.bytes += size; !ok || s.Rank <= last || t.bytes >= exactBytes {
			d.Corrupt(at, "rank", "%d after %d, with exact times of %d bytes", s.Rank, last, t.bytes)
			break
		}
		if err := layout.CheckSeries(s.Codec, s.Data, calls.of(s.Rank)); err != nil {
			return t, layout.Corrupt("rank %d: %v", s.Rank, err)
		}
		last = s.Rank
		t.instead = append(t.instead, s)
	}
	return t, d.Err()
}
