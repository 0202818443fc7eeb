package sequitur

import "math"

// A flat prediction is the expansion of the open run, as runs of terminals. Once the open run, a nonterminal,
// has been matched from its beginning to its end some times, it is followed in place of the cursor: nothing
// but the position changes. When the input departs from it, the cursor is moved to where it would be.
type flat struct {
	runs     []flatRun
	descents int // levels that the cursor would descend in each repetition
}

type flatRun struct {
	symbol Symbol
	count  uint32
}

// An expansion is written down after so many repetitions in a row, if it has not too many runs, and no rules
// inside one another deeper than that.
const (
	flatAfter = 8
	minFlat   = 1 << 12 // runs, or as many as the grammar has symbols,
	maxFlat   = 1 << 28 // and these at most
	flatDepth = 64
)

// flatten begins to follow the expansion of the open run, at its beginning.
func (b *Builder) flatten() {
	if b.noFlat || b.flatLong == b.open.ref {
		return
	}
	if b.flat == nil {
		b.flat = new(flat)
	}
	b.flat.runs = b.flat.runs[:0]
	descents := b.expand(b.open.ref.rule(), min(max(minFlat, len(b.nodes)), maxFlat), flatDepth)
	if descents < 0 {
		b.flatLong = b.open.ref
		return
	}
	b.flat.descents = descents
	b.startFlat()
}

// expand adds the expansion of a rule, so that there are at most so many runs, and returns how many levels
// the cursor descends in it, a negative number if the expansion is too long.
func (b *Builder) expand(rule uint32, most, depth int) (descents int) {
	if depth == 0 {
		return -1
	}
	descents = 1
	for x := b.nodes[b.rules[rule].guard].next; b.nodes[x].count != 0; x = b.nodes[x].next {
		r, count := b.nodes[x].ref, b.count(x)
		if !r.isRule() {
			if count > math.MaxUint32 || len(b.flat.runs) == most {
				return -1
			}
			b.flat.runs = append(b.flat.runs, flatRun{Symbol(r), uint32(count)})
			continue
		}
		from := len(b.flat.runs)
		inside := b.expand(r.rule(), most, depth-1)
		once := b.flat.runs[from:]
		if inside < 0 || count > uint64(most-from)/uint64(len(once)) {
			return -1
		}
		for range count - 1 {
			b.flat.runs = append(b.flat.runs, once...)
		}
		descents += inside * int(count)
	}
	return descents
}

func (b *Builder) startFlat() {
	b.want, b.left, b.flatAt = b.flat.runs[0].symbol, uint64(b.flat.runs[0].count), 1
}

// nextFlat moves a flat prediction on: all of the run that was expected has come.
func (b *Builder) nextFlat() {
	if int(b.flatAt) == len(b.flat.runs) {
		b.open.count++
		b.credit += creditPerRun*int64(b.flatAt) - int64(b.flat.descents)
		b.startFlat()
		return
	}
	r := b.flat.runs[b.flatAt]
	b.want, b.left = r.symbol, uint64(r.count)
	b.flatAt++
}

// leaveFlat moves the cursor to where a flat prediction is.
func (b *Builder) leaveFlat() {
	at, left := b.flatAt, b.left
	if at == 0 {
		return
	}
	b.flatAt, b.left = 0, 0
	b.want = b.firstOf(b.open.ref)
	for range at - 1 {
		if b.left == 0 {
			b.goDown()
		}
		b.left = 0
		b.advance()
	}
	if left < uint64(b.flat.runs[at-1].count) {
		if b.left == 0 {
			b.goDown()
		}
		b.left = left
	}
}
