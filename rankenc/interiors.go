package rankenc

import "slices"

// interiorsFamily is blocksFamily without the points at both ends: the first of the k blocks has one less,
// and so has the last. Such are the faces of the cells of a multipartition that solves in the interior of a
// cube only. The parameters are those of blocksFamily.
var interiorsFamily = facesFamily("product of sizes of interiors", "interior", interiorSize, (*sample).fitInteriors)

// interiorSize returns how many of the n−2 points that are not the first or the last of n are in block i of
// k.
func interiorSize(n, k, i int64) int64 {
	size := blockSize(n, k, i)
	if i == 0 {
		size--
	}
	if i == k-1 {
		size--
	}
	return size
}

// innerBlocks says which interior of a block a coordinate stands for: that of coordinate f·(x, y) + c, of n
// points in all.
type innerBlocks struct {
	f    factors
	c, n int64
}

// size returns the size of the interior for a rank.
func (b innerBlocks) size(rank, k int64) int64 {
	y := floorDiv(rank, k)
	return interiorSize(b.n, k, floorMod(b.f.of(rank-y*k, y)+b.c, k))
}

// fitInteriors calls try with parameters, if s has all ranks of a square grid and few values.
func (s *sample) fitInteriors(try func(params)) {
	const (
		least = 3 // columns
		most  = 6 // products of three sizes that follow each other
	)
	k := squareRoot(s.size)
	if k < least || int64(len(s.ranks)) != s.size {
		return
	}
	if values := s.distinct(most); len(values) < 3 || values[0] <= 0 {
		return
	}
	var found []innerBlocks
	for _, f := range blockDirections {
		if b, ok := interiorOf(residueSums(s.values, f, k), f); ok {
			found = append(found, b)
		}
	}
	for i, b := range found {
		if v := b.size(0, k); v != 0 {
			try(params{k, numberOf([2]factors{b.f, {}}), b.c, 0, b.n, s.values[0] / v})
		}
		for _, d := range found[i+1:] {
			if v := b.size(0, k) * d.size(0, k); v != 0 && b.n == d.n {
				try(params{k, numberOf([2]factors{b.f, d.f}), b.c, d.c, b.n, s.values[0] / v})
			}
		}
	}
}

// interiorOf returns the interior whose sizes sums are, times a number, with factors or their negatives.
func interiorOf(sums []int64, f factors) (innerBlocks, bool) {
	k := int64(len(sums))
	distinct := slices.Compact(slices.Sorted(slices.Values(sums)))
	if len(distinct) != 3 { // with two, they are blocks, too
		return innerBlocks{}, false
	}
	unit, n := distinct[1]-distinct[0], int64(2)
	sizes := make([]int64, k)
	for i, v := range sums {
		if v%unit != 0 {
			return innerBlocks{}, false
		}
		sizes[i] = v / unit
		n += sizes[i]
	}
	smallest := distinct[0] / unit
	for i, v := range sizes {
		for _, sign := range []int64{1, -1} {
			c := k - 1 - sign*int64(i)
			if v == smallest && areInteriors(sizes, sign, c, n) {
				return innerBlocks{factors{sign * f.x, sign * f.y}, floorMod(c, k), n}, true
			}
		}
	}
	return innerBlocks{}, false
}

// areInteriors reports whether each of sizes is that of the interior of the block sign·i+c, of n points.
func areInteriors(sizes []int64, sign, c, n int64) bool {
	k := int64(len(sizes))
	for i, v := range sizes {
		if v != interiorSize(n, k, floorMod(sign*int64(i)+c, k)) {
			return false
		}
	}
	return true
}
