package report

import (
	"context"
	"encoding/base64"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/rankenc"
)

// PackedTimes are the times of the calls of a rank, all of them, or rows of how long they take in each span of time.
type packedTimes struct {
	calls []byte
	rows  map[int]*binRow // by thread
}

// mayFit tells whether it is worth trying to put the times of all calls of a rank in so many bytes.
func (m *timelineMaker) mayFit(t rankTrack, room int) bool {
	return m.data.Ranks[t.number].Program >= 0 && t.Len() <= maxCalls && room > 0 && t.Len()/8 <= uint64(room)
}

// pack packs the times of all calls of a rank, if these may take at most so many bytes, else rows.
func (m *timelineMaker) pack(ctx context.Context, t rankTrack, room int) (p packedTimes, err error) {
	if m.mayFit(t, room) {
		if p.calls, err = packCalls(t.Rank, m.begin); err != nil {
			return p, err
		}
	}
	if len(p.calls) == 0 || base64.StdEncoding.EncodedLen(len(p.calls)) > room {
		p.calls = nil
		p.rows, err = m.binRows(ctx, t)
	}
	return p, err
}

func (m *timelineMaker) binRows(ctx context.Context, t rankTrack) (map[int]*binRow, error) {
	class := func(terminal int) int { return m.page.classOf(t.Call(uint32(terminal)).Function.Name) }
	return binRows(ctx, t.Rank, class, m.begin, m.end, m.data.Bins)
}

// addPacked adds the times of a rank, rows if those of all calls take more than so many bytes, and returns how many
// they take.
func (m *timelineMaker) addPacked(ctx context.Context, t rankTrack, p packedTimes, room int) (used int, err error) {
	data := &m.data.Ranks[t.number]
	if used = base64.StdEncoding.EncodedLen(len(p.calls)); used > 0 && used <= room && m.mayFit(t, room) {
		data.Calls = p.calls
		return used, nil
	}
	if p.rows == nil {
		if p.rows, err = m.binRows(ctx, t); err != nil {
			return 0, err
		}
	}
	used = 0
	for _, thread := range slices.Sorted(maps.Keys(p.rows)) {
		row := rowData{Bins: p.rows[thread].packed()}
		if len(p.rows) > 1 {
			row.Thread = &thread
		}
		used += base64.StdEncoding.EncodedLen(len(row.Bins))
		data.Rows = append(data.Rows, row)
	}
	m.coarse = m.coarse.Union(rankenc.SetOf(t.Number()))
	return used, nil
}
