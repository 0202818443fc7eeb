package trace

import (
	"math/bits"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
)

// maxRanged is how many calls, those of all ranks with streams, are gone through for
// the values that each signature has in its streams.
const maxRanged = 1 << 20

// A signatureSlot is a slot of a signature of the trace.
type signatureSlot struct{ signature, slot int }

// ranges are the values that ranks of a shape have in slots with streams, ascending.
type ranges map[signatureSlot][]int64

// readRanges returns the ranges of each shape, or nothing if too many calls have
// streams, or some cannot be read.
func (t *Trace) readRanges() []ranges {
	var calls uint64
	all := make([]ranges, len(t.sets))
	for number, ranks := range t.sets {
		if ranks.Len() == 0 {
			continue
		}
		s, err := t.shape(number)
		if err != nil {
			return nil
		}
		if !s.template().varying && s.index == nil {
			continue
		}
		if calls = wire.AddSat(calls, wire.MulSat(s.Grammar.Len(), uint64(ranks.Len()))); calls > maxRanged {
			return nil
		}
		if all[number], err = s.ranges(); err != nil {
			return nil
		}
	}
	return all
}

// ranges returns the ranges of s.
func (s *Shape) ranges() (ranges, error) {
	of := make(ranges)
	for _, rank := range s.Ranks.All() {
		r, _, err := s.trace.expandedRank(int(rank))
		if err != nil {
			return nil, err
		}
		for terminal := range uint32(r.Terminals()) {
			of.add(r, terminal, r.flow.signatureOf(terminal))
		}
		for n := range r.flow.varied.others {
			of.add(r, n[0], int(n[1]))
		}
	}
	for slot, values := range of {
		of[slot] = distinct(values)
	}
	return of, nil
}

// add adds the values that the i-th signature of the shape of r has in the calls of a
// terminal.
func (x ranges) add(r *Rank, terminal uint32, i int) {
	var scratch layout.Template
	n := int(r.shape.signatures[i])
	for k, streams := 0, r.trace.varying(r.shape.signature(i, &scratch),
		r.flow); streams != 0; k, streams = k+1, streams&(streams-1) {
		slot := signatureSlot{n, bits.TrailingZeros64(streams)}
		x[slot] = append(x[slot], r.flow.varied.in(terminal)[k])
	}
}

// rangeOf returns the values that a slot of s with streams has in the calls of s, or, if
// they are too many to be looked at, in all calls of the function.
func (s *Signature) rangeOf(slot int) []int64 {
	all := s.trace.ranges()
	if all == nil {
		return s.streamValues(slot)
	}
	at := signatureSlot{s.Number, slot}
	if s.shape != nil {
		return all[s.shape.number][at]
	}
	var values []int64
	for _, of := range all {
		values = append(values, of[at]...)
	}
	return distinct(values)
}
