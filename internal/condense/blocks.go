package condense

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"github.com/reprise-trace/reprise/internal/layout"
)

// distributed returns calls that have the values of each slot as a distribution: in ascending
// order, in blocks of calls that have the mean of theirs.
func (g *group) distributed(c *Condenser) []condensedCall {
	f := &c.of.Forms[g.members[0].terminal]
	total := uint64(0)
	for _, m := range g.members {
		total += m.count
	}
	sizes := blockSizes(total, uint64(c.Values))
	columns := make([][]int64, f.Slots)
	first := c.slots(g.members[0].terminal)
	for k := range columns {
		columns[k] = g.column(c, k, sizes)
		if slices.ContainsFunc(g.members, func(m member) bool { return c.slots(m.terminal)[k] != first[k] }) {
			c.Params[f.Function] |= 1 << c.paramOf(f, k)
		}
	}
	if k := layout.SiteSlot(&c.functions[f.Function], f.Lengths); k >= 0 {
		moved := *f
		moved.Place = layout.Place(columns[k][0])
		f = &moved
	}
	var list []condensedCall
	slots := make([]int64, f.Slots)
	for i, n := range sizes {
		for k := range slots {
			slots[k] = columns[k][i]
		}
		made := c.intern(f, slots)
		if k := len(list) - 1; k >= 0 && list[k].made == made {
			list[k].count += n
		} else {
			list = append(list, condensedCall{made, n})
		}
	}
	return list
}

// blockSizes returns how many of some calls each block has: nearly the same number in all of them. The
// last is in pieces of 1, 2, 4 and so on and a rest, so that any number of its calls are some of the
// pieces.
func blockSizes(calls, blocks uint64) []uint64 {
	blocks = min(blocks, calls)
	sizes := make([]uint64, 0, blocks+8)
	for i := range blocks - 1 {
		size := calls / blocks
		if i < calls%blocks {
			size++
		}
		sizes = append(sizes, size)
	}
	rest := calls / blocks
	for piece := uint64(1); rest > 0; piece *= 2 {
		piece = min(piece, rest)
		sizes = append(sizes, piece)
		rest -= piece
	}
	return sizes
}

// column returns the value of a slot in each block.
func (g *group) column(c *Condenser, slot int, sizes []uint64) []int64 {
	values := make([]countedValue, len(g.members))
	for i, m := range g.members {
		values[i] = countedValue{c.slots(m.terminal)[slot], m.count}
	}
	switch g.roles[slot] {
	case summed:
		slices.SortFunc(values, func(a, b countedValue) int { return cmp.Compare(a.value, b.value) })
		return integerBlocks(values, sizes, c.Values)
	case measured:
		slices.SortFunc(values, func(a, b countedValue) int {
			x, y := math.Float64frombits(uint64(a.value)), math.Float64frombits(uint64(b.value))
			return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.value, b.value))
		})
		return floatBlocks(values, sizes)
	}
	least := slices.MinFunc(values, func(a, b countedValue) int { return cmp.Compare(a.value, b.value) })
	return slices.Repeat([]int64{least.value}, len(sizes))
}

// A countedValue is a value that some calls have.
type countedValue struct {
	value int64
	count uint64
}

// takeCalls calls f for the values of the next n calls, and returns the rest. It changes values.
func takeCalls(values []countedValue, n uint64, f func(value int64, count uint64)) []countedValue {
	for n > 0 {
		k := min(n, values[0].count)
		f(values[0].value, k)
		n -= k
		if values[0].count -= k; values[0].count == 0 {
			values = values[1:]
		}
	}
	return values
}

// integerBlocks returns a value for each block, so that their sum over all calls is that of the
// values, which ascend. Values of blocks but the last are rounded down, to a power of two that
// is small beside the range, and what that leaves counts in the blocks after, as far as they can have
// it: no value is below the least of all, or above the greatest.
func integerBlocks(values []countedValue, sizes []uint64, blocks int) []int64 {
	least, width := values[0].value, uint64(values[len(values)-1].value)-uint64(values[0].value)
	step := uint64(1)
	for step <= width/uint64(finestOfBlock*blocks) {
		step *= 2
	}
	var p product
	left, calls := new(big.Int), uint64(0) // above the least, in blocks that have no value yet
	for _, v := range values {
		left.Add(left, p.of(uint64(v.value)-uint64(least), v.count))
		calls += v.count
	}
	made := make([]int64, 0, len(sizes))
	equal := min(blocks, len(sizes)) - 1 // blocks but the last
	var sum, mean, more big.Int
	for _, n := range sizes[:equal] {
		values = takeCalls(values, n, func(value int64, count uint64) {
			sum.Add(&sum, p.of(uint64(value)-uint64(least), count))
		})
		calls -= n
		v := uint64(0)
		if sum.Sign() > 0 {
			v = min(mean.Div(&sum, p.of(n, 1)).Uint64()/step*step, width)
		}
		more.Sub(left, p.of(width, calls)) // than all blocks after can have
		if more.Sign() > 0 {
			more.Add(&more, p.of(n-1, 1))
			v = max(v, more.Div(&more, p.of(n, 1)).Uint64())
		}
		sum.Sub(&sum, p.of(v, n))
		left.Sub(left, p.of(v, n))
		made = append(made, int64(uint64(least)+v))
	}
	mean.DivMod(left, p.of(calls, 1), &more)
	each, above := mean.Uint64(), more.Uint64()
	pieces := make([]int64, len(sizes)-equal)
	for i := len(pieces) - 1; i >= 0; i-- {
		pieces[i] = int64(uint64(least) + each)
		if n := sizes[equal+i]; n <= above {
			above -= n
			pieces[i]++
		}
	}
	return append(made, pieces...)
}

// A product is one of two numbers of 64 bits, with room for it.
type product struct{ a, b big.Int }

// of returns a·b, which holds until the next call.
func (p *product) of(a, b uint64) *big.Int {
	p.a.SetUint64(a)
	if b == 1 {
		return &p.a
	}
	return p.a.Mul(&p.a, p.b.SetUint64(b))
}

// floatBlocks returns a value for each block: the mean of those of its calls.
func floatBlocks(values []countedValue, sizes []uint64) []int64 {
	made := make([]int64, len(sizes))
	for i, n := range sizes {
		mean := 0.0
		values = takeCalls(values, n, func(value int64, count uint64) {
			mean += math.Float64frombits(uint64(value)) * (float64(count) / float64(n))
		})
		made[i] = int64(math.Float64bits(mean))
	}
	return made
}
