package rankenc

import "math"

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
	return Absolute(b.displacements.at(i, rank, size), rank, size)
}

func (b relative) text() string { return b.displacements.text() + " relative to the rank" }

func (b relative) append(dst []byte) []byte {
	return b.displacements.append(append(dst, headRelative))
}
