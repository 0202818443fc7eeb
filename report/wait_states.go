package report

import (
	"encoding/base64"
	"encoding/binary"
	"slices"

	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/waits"
)

// addWaits adds the calls that waited, of ranks whose calls are in the page, as far as they take at most so many
// bytes: the longest. It returns how many bytes they take.
func (m *timelineMaker) addWaits(room int) int {
	run := m.page.waiting()
	if run == nil {
		return 0
	}
	var times []query.Nanoseconds
	for _, t := range m.shown {
		if m.data.Ranks[t.number].Calls != nil {
			for _, c := range run.Calls[t.Number()] {
				times = append(times, c.Wait)
			}
		}
	}
	slices.SortFunc(times, func(a, b query.Nanoseconds) int { return int(b - a) })
	for n := len(times); n > 0; n /= 2 {
		if used := m.packWaits(run, times[n-1]); used <= room {
			if m.shortest = times[n-1]; n == len(times) {
				m.shortest = 0
			}
			return used
		}
	}
	m.data.Kinds = nil
	return 0
}

// addKinds adds the kinds of waits that a page may ask for.
func (m *timelineMaker) addKinds() {
	if run := m.page.waiting(); run != nil {
		for _, v := range run.Victims { // those of most waiting first
			if !slices.Contains(m.data.Kinds, v.Kind) {
				m.data.Kinds = append(m.data.Kinds, v.Kind)
			}
		}
	}
}

// packWaits sets the waits of ranks that take at least so long, and returns how many bytes they take.
func (m *timelineMaker) packWaits(run *waits.Run, least query.Nanoseconds) (used int) {
	for _, t := range m.shown {
		data := &m.data.Ranks[t.number]
		if data.Waits = nil; data.Calls == nil {
			continue
		}
		list := slices.DeleteFunc(slices.Clone(run.Calls[t.Number()]), func(c waits.Call) bool {
			return c.Wait < least
		})
		data.Waits = m.packed(list)
		used += base64.StdEncoding.EncodedLen(len(data.Waits))
	}
	return used
}

// packed returns waits as waits.js reads them: deflated varints. First how many there are, then columns: positions,
// each as the difference to the one before, numbers in timelineData.Kinds, nanoseconds, and the ranks that were
// waited for.
func (m *timelineMaker) packed(list []waits.Call) []byte {
	var columns [4][]byte
	add := func(column int, v uint64) { columns[column] = binary.AppendUvarint(columns[column], v) }
	last := uint64(0)
	for _, c := range list {
		kind := slices.Index(m.data.Kinds, c.Kind)
		if kind < 0 {
			kind = len(m.data.Kinds)
			m.data.Kinds = append(m.data.Kinds, c.Kind)
		}
		add(0, c.Position-last)
		add(1, uint64(kind))
		add(2, uint64(c.Wait))
		add(3, uint64(c.For))
		last = c.Position
	}
	return deflated(append([][]byte{binary.AppendUvarint(nil, uint64(len(list)))}, columns[:]...)...)
}
