package merge

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/rankenc"
)

// A column holds the values that the ranks of a shape have in one slot, as runs
// that are linear in the rank: the constant and the shifted ones, of which a
// program has most, take one run however many ranks there are.
//
// Invariant: the runs are what [column.push] makes of the values one by one, so
// that a column is a function of its values.
type column []run

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

// push adds a value for a rank above those before it, which are n.
func (c *column) push(n, rank int, value int64) {
	if k := len(*c) - 1; k >= 0 {
		last := &(*c)[k]
		if n-int(last.position) > 1 {
			if last.holds(rank, value) {
				return
			}
		} else if step, ok := last.stepTo(rank, value); ok {
			last.step = step
			return
		}
	}
	*c = append(*c, run{int32(n), int32(rank), value, 0})
}

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

// concat adds the values of d, which are for ranks above those before it, which
// are n. What it takes does not depend on how many values the runs hold.
func (c *column) concat(n int, d column, ranks spans) {
	for i, r := range d {
		end := ranks.len()
		if i+1 < len(d) {
			end = int(d[i+1].position)
		}
		for p := int(r.position); p < end; {
			rank := int(r.rank)
			if p > int(r.position) {
				rank = ranks.at(p)
			}
			if took := c.absorb(n+p, rank, r, end-p); took > 0 {
				p += took
				continue
			}
			rest := run{int32(n + p), int32(rank), r.at(rank), 0}
			if end-p > 1 {
				rest.step = r.step
			}
			*c = append(slices.Grow(*c, len(d)-i), rest)
			if p == int(r.position) || end-p > 1 {
				// From here on, the runs of d are what push makes of its values.
				for _, r := range d[i+1:] {
					r.position += int32(n)
					*c = append(*c, r)
				}
				return
			}
			p++
		}
	}
}

// absorb extends the last run of c, which has n values in all, by as many as it
// can of the remaining values of r, from that for rank on, and returns how many
// that were.
func (c *column) absorb(n, rank int, r run, remaining int) int {
	k := len(*c) - 1
	if k < 0 {
		return 0
	}
	last, value := &(*c)[k], r.at(rank)
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

// appendValues appends the values for all ranks of a shape to dst.
func (c column) appendValues(dst []int64, ranks spans) []int64 {
	v := values{column: c}
	dst = slices.Grow(dst, ranks.len())
	ranks.each(func(position, rank int) {
		dst = append(dst, v.at(position, rank))
	})
	return dst
}

// Values reads a column at ascending positions.
type values struct {
	column column
	run    int // the run of the position asked for last
}

func (v *values) at(position, rank int) int64 {
	for v.run+1 < len(v.column) && int(v.column[v.run+1].position) <= position {
		v.run++
	}
	return v.column[v.run].at(rank)
}

// Spans are ranks as runs of consecutive ones, ascending, as long as they can
// be.
type spans []span

// A span is the ranks from first on, up to the next gap.
type span struct {
	first, last int32
	position    int32 // number of ranks before
}

// len returns the number of ranks.
func (s spans) len() int {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1].end()
}

// end returns the number of ranks before the end of the span.
func (s span) end() int { return int(s.position) + int(s.last-s.first) + 1 }

// last returns the last rank, or −1 if there is none.
func (s spans) last() int {
	if len(s) == 0 {
		return -1
	}
	return int(s[len(s)-1].last)
}

// at returns the rank at a position.
func (s spans) at(position int) int {
	i := sort.Search(len(s), func(i int) bool { return int(s[i].position) > position }) - 1
	return int(s[i].first) + position - int(s[i].position)
}

// contains reports whether rank is one of s.
func (s spans) contains(rank int) bool {
	i := sort.Search(len(s), func(i int) bool { return int(s[i].first) > rank }) - 1
	return i >= 0 && rank <= int(s[i].last)
}

// add returns s with the ranks from first to last, which lie above all others.
func (s spans) add(first, last int) spans {
	if n := len(s); n > 0 && int(s[n-1].last)+1 == first {
		s[n-1].last = int32(last)
		return s
	}
	return append(s, span{int32(first), int32(last), int32(s.len())})
}

// each calls f for each rank, with its position.
func (s spans) each(f func(position, rank int)) {
	for _, p := range s {
		for r := p.first; ; r++ {
			f(int(p.position+r-p.first), int(r))
			if r == p.last {
				break
			}
		}
	}
}

// set returns the ranks as a set.
func (s spans) set() rankenc.Set {
	var b rankenc.SetBuilder
	for _, p := range s {
		b.AddRange(int(p.first), int(p.last))
	}
	return b.Finish()
}

// A piece is consecutive ranks that come from one of two shapes.
type piece struct {
	second      bool
	position    int // in that shape
	first, last int
}

// interleave returns the ranks of s and t in ascending order, and the first
// rank that is in both, or −1.
func interleave(s, t spans) (pieces []piece, twice int) {
	add := func(second bool, p span, first, last int) {
		pieces = append(pieces, piece{second, int(p.position) + first - int(p.first), first, last})
	}
	next := 0 // no rank below it is still to come
	for len(s) > 0 || len(t) > 0 {
		second := len(s) == 0 || len(t) > 0 && max(int(t[0].first), next) < max(int(s[0].first), next)
		mine, other := &s, &t
		if second {
			mine, other = other, mine
		}
		p := (*mine)[0]
		first, last := max(int(p.first), next), int(p.last)
		if len(*other) > 0 {
			o := max(int((*other)[0].first), next)
			if o == first {
				return nil, first
			}
			last = min(last, o-1)
		}
		add(second, p, first, last)
		if next = last + 1; last == int(p.last) {
			*mine = (*mine)[1:]
		}
	}
	return pieces, -1
}

// union returns the ranks of s and t, of which none is in both, and whether
// that holds. It may use the memory of s, but not that of t.
func (s spans) union(t spans) (union spans, disjoint bool) {
	if len(s) > 0 && len(t) > 0 && s.last() < int(t[0].first) {
		union = slices.Grow(s, len(t))
		for _, p := range t {
			union = union.add(int(p.first), int(p.last))
		}
		return union, true
	}
	pieces, twice := interleave(s, t)
	if twice >= 0 {
		return nil, false
	}
	for _, p := range pieces {
		union = union.add(p.first, p.last)
	}
	return union, true
}

// unionOf returns the ranks of all of list, and the first that is twice in them,
// or −1. It takes time in proportion to the spans, and to sort them.
func unionOf(list []spans) (union spans, twice int) {
	for _, s := range list {
		union = append(union, s...)
	}
	slices.SortFunc(union, func(p, q span) int { return cmp.Compare(p.first, q.first) })
	all := union
	union = union[:0] // is never longer than what was read of all
	last := int32(-1)
	for _, p := range all {
		if p.first <= last {
			return nil, int(p.first)
		}
		last = p.last
		union = union.add(int(p.first), int(p.last))
	}
	return union, -1
}
