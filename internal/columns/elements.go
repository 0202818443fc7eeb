package columns

import (
	"encoding/binary"
	"slices"
	"sort"
)

// appendElements appends n elements from one on, of a column over what elements returns. It
// is what element returns of each, decoded together.
func (c *Column) appendElements(dst []int64, from, n int) []int64 {
	if n == 0 {
		return dst
	}
	dst, values := extend(dst, n)
	switch b := c.body.(type) {
	case exprBody:
		b.fill(values, int64(from), int64(c.domain.Size))
	case *runs:
		b.fill(values, from)
	case *packed:
		unpack(values, b.bits, from, b.width)
		for i := range values {
			values[i] += b.least
		}
	case *dictionary:
		unpack(values, b.bits, from, b.width())
		for i, v := range values {
			values[i] = b.values[min(uint64(v), uint64(len(b.values)-1))]
		}
	case *deltas:
		b.fill(values, from)
	default:
		for i := range values {
			values[i] = c.element(from + i)
		}
	}
	return dst
}

// extend returns dst with n values more, and these.
func extend(dst []int64, n int) (all, values []int64) {
	begin := len(dst)
	all = slices.Grow(dst, n)[:begin+n]
	return all, all[begin:]
}

// fill sets values to those of ranks from one on.
func (b exprBody) fill(values []int64, rank, size int64) {
	v, constant := b.Constant()
	c, shift := b.Shift()
	for i := range values {
		switch {
		case constant:
			values[i] = v
		case shift:
			values[i] = rank + int64(i) + c
		default:
			values[i] = b.Eval(rank+int64(i), size)
		}
	}
}

// fill sets values to those from one on.
func (r *runs) fill(values []int64, from int) {
	k := sort.SearchInts(r.ends, from+1)
	for i := range values {
		if from+i == r.ends[k] {
			k++
		}
		values[i] = r.values[k]
	}
}

// fill sets values to those from one on.
func (b *deltas) fill(values []int64, from int) {
	v := b.at(from, 0, 0)
	for i := range values {
		at := from + i
		k := &b.blocks[at/blockLen]
		switch j := at % blockLen; {
		case j == 0:
			v = k.first
		case i > 0:
			v += k.step + int64(bitsAt(b.bits[k.offset:], (j-1)*int(k.width), k.width))
		}
		values[i] = v
	}
}

// unpack sets values to the numbers of width bits from one on.
func unpack(values []int64, data []byte, from int, width uint) {
	unpackSteps(values, data, from*int(width), int(width), width)
}

// unpackSteps sets values to numbers of width bits, of which the first begins at a bit, and
// each of the others so many bits after the one before.
func unpackSteps(values []int64, data []byte, bit, step int, width uint) {
	i := 0
	if width <= maxLoaded {
		mask := uint64(1)<<width - 1
		for ; i < len(values) && bit>>3+8 <= len(data); i++ {
			values[i] = int64(binary.LittleEndian.Uint64(data[bit>>3:]) >> (bit & 7) & mask)
			bit += step
		}
	}
	for ; i < len(values); i++ {
		values[i] = int64(bitsAt(data, bit, width))
		bit += step
	}
}

// maxLoaded is the largest width of a number that a load of 8 bytes holds, whichever bit of
// the first byte it begins at.
const maxLoaded = 57
