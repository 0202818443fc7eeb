package timing

import (
	"math"

	"github.com/reprise-trace/reprise/internal/wire"
)

// A Form says what a series holds of the start of a call.
type Form uint8

const (
	// Gaps is the time since the end of the rank's call before. It is negative
	// where calls overlap.
	Gaps Form = iota

	// Intervals is the time since the start of the rank's call before that has
	// the same terminal; in a block, of the first call with a terminal the time
	// since the start of the block.
	Intervals
)

func (f Form) String() string {
	if f == Intervals {
		return "intervals"
	}
	return "gaps"
}

// A clock places calls by their lapses. Those of a chain are placed by the one
// before in it: there is one chain of all calls, or of intervals one for each
// terminal.
type clock[V Value] struct {
	form      Form
	start     V // of the block
	terminals terminalIndex
	places    []V // of each chain: from where the lapse of its next call counts
}

// reset begins a block, the first call of which starts at a time.
func (c *clock[V]) reset(start V) {
	c.start = start
	c.terminals.reset()
	c.places = c.places[:0]
}

// chain returns the number of the chain to which the next call belongs.
func (c *clock[V]) chain(terminal uint32) int {
	if c.form == Gaps {
		return 0
	}
	return c.terminals.number(terminal)
}

// place returns from where the lapse of the next call of a chain counts. A chain
// begins at the start of the block.
func (c *clock[V]) place(chain int) V {
	if chain == len(c.places) {
		c.places = append(c.places, c.start)
	}
	return c.places[chain]
}

// set places a call of a chain.
func (c *clock[V]) set(chain int, start, duration V) {
	if c.form == Gaps {
		start += duration
	}
	c.places[chain] = start
}

// A correction moves the clock, from a call of the block on.
type correction struct {
	call   int
	amount int64 // steps as of step
}

// step returns v moved by a number of nanoseconds, or of float64 by a number of
// places in the order of all of them.
func step[V Value](v V, amount int64) V {
	if isFloat[V]() {
		return fromBits[V](ordered(ordered(toBits(v)) + uint64(amount)))
	}
	return V(int64(v) + amount)
}

// steps returns the amount for which step(v, amount) is w.
func steps[V Value](v, w V) int64 {
	if isFloat[V]() {
		return int64(ordered(toBits(w)) - ordered(toBits(v)))
	}
	return int64(w) - int64(v)
}

// ordered maps the bits of float64 to numbers in their order, in two's
// complement, with −0 before 0, and back.
func ordered(u uint64) uint64 {
	return u ^ uint64(int64(u)>>63)>>1
}

// appendCorrections appends their number, and for each the distance of its call
// from that before, or from the first of the block, less one, and its amount.
func appendCorrections(dst []byte, all []correction) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(all)))
	last := 0
	for _, c := range all {
		dst = wire.AppendUvarint(dst, uint64(c.call-last-1))
		dst = wire.AppendVarint(dst, c.amount)
		last = c.call
	}
	return dst
}

// decodeCorrections reads the corrections of a block of some calls, and returns
// their number and a Decoder of them.
func decodeCorrections(d *wire.Decoder, calls int) (n int, encoded wire.Decoder) {
	n = d.Count("corrections", 2)
	encoded = *d
	for call, i := uint64(0), 0; i < n && d.Err() == nil; i++ {
		at := d.Offset()
		call += 1 + d.UvarintMax("call", math.MaxInt32)
		if call >= uint64(calls) {
			d.Corrupt(at, "call", "correction at call %d of %d", call, calls)
		}
		at = d.Offset()
		if d.Varint("amount") == 0 && d.Err() == nil {
			d.Corrupt(at, "amount", "correction by nothing")
		}
	}
	return n, encoded
}
