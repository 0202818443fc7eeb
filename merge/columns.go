package merge

import (
	"bytes"
	"encoding/binary"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
)

// A column holds the values that the ranks of a shape have in one slot, as runs
// that are linear in the rank: the constant and the shifted ones, of which a
// program has most, take one run however many ranks there are. Of irregular values, nearly every
// second one begins a run, so runs that are complete are kept encoded: they take some five bytes each.
//
// Invariant: the runs are what [column.push] makes of the values one by one, so
// that a column is a function of its values.
type column struct {
	complete []byte // the runs before the last, see appendRun
	last     run
}

// A run holds values first + step·(r−rank) for the ranks r from rank on, up to
// the position where the next run begins. No value overflows: if they wrapped
// around, the line through two values would depend on which two they are.
type run struct {
	position int32 // of rank, in the ranks of the shape
	rank     int32
	first    int64
	step     int64 // 0 in a run of one value
}

// at returns the value for a rank in the run.
func (r run) at(rank int) int64 { return r.first + r.step*(int64(rank)-int64(r.rank)) }

// reaches reports whether the line of r has a value for a rank above that of r.
func (r run) reaches(rank int) bool {
	room, step := uint64(math.MaxInt64-r.first), uint64(r.step)
	if r.step < 0 {
		room, step = uint64(r.first)-1<<63, -step
	}
	hi, difference := bits.Mul64(step, uint64(int64(rank)-int64(r.rank)))
	return hi == 0 && difference <= room
}

// holds reports whether the line of r has a value for a rank.
func (r run) holds(rank int, value int64) bool { return r.at(rank) == value && r.reaches(rank) }

// stepTo returns the step of a run of r's one value and another.
func (r run) stepTo(rank int, value int64) (int64, bool) {
	distance := uint64(int64(rank) - int64(r.rank))
	if value < r.first {
		difference := uint64(r.first) - uint64(value)
		return -int64(difference / distance), difference%distance == 0 && difference/distance <= 1<<63
	}
	difference := uint64(value) - uint64(r.first)
	return int64(difference / distance), difference%distance == 0 && difference/distance < 1<<63
}

// constantColumn returns the column of a value that all ranks have, of which the first is given.
func constantColumn(rank int32, value int64) column {
	return column{last: run{rank: rank, first: value}}
}

// single reports whether c has one run.
func (c *column) single() bool { return len(c.complete) == 0 }

// constant returns the value that all ranks have, if they have the same.
func (c *column) constant() (int64, bool) {
	return c.last.first, c.single() && c.last.step == 0
}

// begin returns the first run.
func (c *column) begin() run {
	if c.single() {
		return c.last
	}
	return c.values().run
}

// equal reports whether c and d have the same values, for the same ranks.
func (c *column) equal(d *column) bool {
	return c.last == d.last && bytes.Equal(c.complete, d.complete)
}

// appendKey appends what tells c from other columns of the same ranks.
func (c *column) appendKey(dst []byte) []byte {
	dst = append(wire.AppendUvarint(dst, uint64(len(c.complete))), c.complete...)
	dst = wire.AppendUvarint(wire.AppendUvarint(dst, uint64(c.last.position)), uint64(c.last.rank))
	return wire.AppendVarint(wire.AppendVarint(dst, c.last.first), c.last.step)
}

// clone returns a column that shares no memory with c.
func (c *column) clone() column { return column{slices.Clone(c.complete), c.last} }

// push adds a value for a rank above those before it, which are n.
func (c *column) push(n, rank int, value int64) {
	if n == 0 {
		*c = column{c.complete[:0], run{0, int32(rank), value, 0}}
		return
	}
	if last := &c.last; n-int(last.position) > 1 {
		if last.holds(rank, value) {
			return
		}
	} else if step, ok := last.stepTo(rank, value); ok {
		last.step = step
		return
	}
	c.add(run{int32(n), int32(rank), value, 0})
}

// add adds a run, with which the last one is complete.
func (c *column) add(r run) {
	if c.single() {
		c.complete = wire.AppendUvarint(c.complete, uint64(c.last.rank))
		c.complete = wire.AppendVarint(c.complete, c.last.first)
	}
	c.complete = appendRun(c.complete, c.last, r)
	c.last = r
}

// appendRun appends what a run is to its beginning, and the difference from that to the beginning of the
// next one: what follows it does not depend on what comes before it.
func appendRun(dst []byte, r, next run) []byte {
	length := next.position - r.position
	gaps := next.rank - r.rank - length
	head := uint64(length) << 1
	if gaps > 0 {
		head |= 1
	}
	dst = wire.AppendUvarint(dst, head)
	if gaps > 0 {
		dst = wire.AppendUvarint(dst, uint64(gaps))
	}
	if length > 1 {
		dst = wire.AppendVarint(dst, r.step)
	}
	return wire.AppendVarint(dst, next.first-r.first)
}

// concat adds the values of d, which are for ranks above those before it, which
// are n. What it takes does not depend on how many values the runs hold.
func (c *column) concat(n int, d *column, ranks spans) {
	if value, ok := d.constant(); ok && c.last.step == 0 && c.last.first == value {
		return // it goes on with the last run
	}
	v := d.values()
	for p := 0; p < ranks.len(); {
		end := min(v.end, ranks.len())
		rank := int(v.run.rank)
		if p > int(v.run.position) {
			rank = ranks.at(p)
		}
		if took := c.absorb(n+p, rank, v.run, end-p); took > 0 {
			if p += took; p == end {
				v.next()
			}
			continue
		}
		rest := run{int32(n + p), int32(rank), v.run.at(rank), 0}
		if end-p > 1 {
			rest.step = v.run.step
		}
		c.add(rest)
		if p == int(v.run.position) || end-p > 1 {
			c.addAfter(&v, n) // from here on, the runs of d are what push makes of its values
			return
		}
		v.next()
		p++
	}
}

// absorb extends the last run of c, which has n values in all, by as many as it
// can of the remaining values of r, from that for rank on, and returns how many
// that were.
func (c *column) absorb(n, rank int, r run, remaining int) int {
	last, value := &c.last, r.at(rank)
	if n-int(last.position) > 1 {
		if !last.holds(rank, value) {
			return 0
		}
	} else if step, ok := last.stepTo(rank, value); ok {
		last.step = step
	} else {
		return 0
	}
	if remaining > 1 && last.step != r.step {
		return 1
	}
	return remaining
}

// addAfter adds the runs after that at which v is, n positions farther.
func (c *column) addAfter(v *values, n int) {
	if v.end == math.MaxInt {
		return
	}
	next := v.after
	next.position += int32(n)
	c.add(next)
	c.complete = append(c.complete, v.rest...)
	c.last = v.last
	c.last.position += int32(n)
}

// appendValues appends the values for all ranks of a shape to dst.
func (c *column) appendValues(dst []int64, ranks spans) []int64 {
	v := c.values()
	dst = slices.Grow(dst, ranks.len())
	ranks.each(func(position, rank int) {
		dst = append(dst, v.at(position, rank))
	})
	return dst
}

// runs returns an iterator over the runs of a column of n values, and the position of each one's end.
func (c *column) runs(n int) iter.Seq2[run, int] {
	return func(yield func(run, int) bool) {
		for v := c.values(); yield(v.run, min(v.end, n)) && v.end != math.MaxInt; {
			v.next()
		}
	}
}

// Values reads a column at ascending positions.
type values struct {
	run   run // of the position asked for last
	end   int // where the next run begins; math.MaxInt for none
	after run // that one, without its step
	rest  []byte
	last  run
}

// values returns a reader of c.
func (c *column) values() values {
	v := values{rest: c.complete, last: c.last}
	if !c.single() {
		v.after.rank = int32(v.uvarint())
		v.after.first = v.varint()
	}
	v.next()
	return v
}

func (v *values) at(position, rank int) int64 {
	for position >= v.end {
		v.next()
	}
	return v.run.at(rank)
}

// next goes to the next run.
func (v *values) next() {
	if len(v.rest) == 0 {
		v.run, v.end = v.last, math.MaxInt
		return
	}
	v.run = v.after
	head := v.uvarint()
	length := int32(head >> 1)
	v.after.position += length
	v.after.rank += length
	if head&1 == 1 {
		v.after.rank += int32(v.uvarint())
	}
	if length > 1 {
		v.run.step = v.varint()
	}
	v.after.first += v.varint()
	v.end = int(v.after.position)
}

// uvarint reads a number.
func (v *values) uvarint() uint64 {
	if x := v.rest[0]; x < 0x80 {
		v.rest = v.rest[1:]
		return uint64(x)
	}
	x, n := binary.Uvarint(v.rest)
	v.rest = v.rest[n:]
	return x
}

// varint reads a number that may be negative.
func (v *values) varint() int64 {
	x := v.uvarint()
	return int64(x>>1) ^ -int64(x&1)
}
