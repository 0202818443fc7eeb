package columns

import "math"

// Relative returns value as seen from rank, the displacement from one to the
// other in a group of size processes: r with −size/2 < r ≤ size/2 and
// (rank + r) mod size = value. What is no rank of the group stays distinct from
// these: of a negative special value, size is subtracted, which must not
// overflow, and other values are returned as they are. A tracer that writes ranks
// before those of other processes are known may write this in place of value.
func Relative(value, rank, size int64) int64 {
	if value < 0 {
		return value - size
	}
	if value >= size {
		return value
	}
	return center(value-rank, size)
}

// absolute returns the value of which Relative returned r, for the same rank
// and size.
func absolute(r, rank, size int64) int64 {
	switch {
	case r < -size:
		return r + size
	case r >= size || size <= 0:
		return r
	}
	return floorMod(rank+r, size)
}

// floorMod returns v modulo n, n > 0, in 0 … n−1.
func floorMod(v, n int64) int64 {
	if v %= n; v < 0 {
		v += n
	}
	return v
}

// center returns the number congruent to v modulo n, n > 0, of smallest
// magnitude, and the positive one of two.
func center(v, n int64) int64 {
	if v = floorMod(v, n); v > n/2 {
		v -= n
	}
	return v
}

// relative are ranks as [Relative] returns them.
type relative struct{ displacements body }

// newRelative returns an encoding of values of less than limit bytes, or nil.
func newRelative(ranks, values []int64, size int64, limit int) body {
	displacements := make([]int64, len(values))
	for i, v := range values {
		if v < math.MinInt64+size {
			return nil
		}
		displacements[i] = Relative(v, ranks[i], size)
	}
	b, n := smallestPlain(displacements, nil, limit-1)
	if b == nil || n >= limit-1 {
		return nil
	}
	return relative{b}
}

func (b relative) at(i int, rank, size int64) int64 {
	return absolute(b.displacements.at(i, rank, size), rank, size)
}

func (b relative) text() string { return b.displacements.text() + " relative to the rank" }

func (b relative) append(dst []byte) []byte {
	return b.displacements.append(append(dst, headRelative))
}
