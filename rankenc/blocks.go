package rankenc

import (
	"fmt"
	"math"
	"slices"
)

// blocksFamily is factor·w((a·x + b·y + c) mod k)·w((a'·x + b'·y + c') mod k), of coordinates x and y in a
// grid of k columns, with factors of −1, 0 or 1, w(i) being how many of n points are in the i-th of k blocks:
// n/k, and one more in the first n mod k. Such are the faces of the cells of a multipartition. If a' and b'
// are 0, the second width is left out. The parameters are k, the factors as those of residuesFamily, c, c', n
// and the factor.
var blocksFamily = facesFamily("product of block sizes", "block", blockSize, (*sample).fitBlocks)

// facesFamily returns the family of products of two sizes of blocks, each of which is called a word.
func facesFamily(form, word string, size func(n, k, i int64) int64, fit func(s *sample, try func(params))) family {
	return family{
		form:    form,
		params:  6,
		extents: 1,
		fit:     fit,
		eval: func(p params, rank, _ int64) int64 {
			k, f := p[0], factorsOf(p[1])
			y := floorDiv(rank, k)
			x := rank - y*k
			v := p[5] * size(p[4], k, floorMod(f[0].of(x, y)+p[2], k))
			if f[1] != (factors{}) {
				v *= size(p[4], k, floorMod(f[1].of(x, y)+p[3], k))
			}
			return v
		},
		text: func(p params) string {
			f := factorsOf(p[1])
			text := fmt.Sprintf("%d·%s(%s)", p[5], word, f[0].text(p[2]))
			if f[1] != (factors{}) {
				text += fmt.Sprintf("·%s(%s)", word, f[1].text(p[3]))
			}
			return text + fmt.Sprintf(" of %d in %d blocks", p[4], p[0])
		},
	}
}

// blockSize returns how many of n points are in block i of k.
func blockSize(n, k, i int64) int64 {
	size := floorDiv(n, k)
	if i < n-size*k {
		size++
	}
	return size
}

// fitBlocks calls try with parameters, if s has all ranks of a square grid and at most three values.
func (s *sample) fitBlocks(try func(params)) {
	const least = 3 // columns
	k := squareRoot(s.size)
	if k < least || int64(len(s.ranks)) != s.size {
		return
	}
	distinct := s.distinct(3)
	if len(distinct) < 2 || distinct[0] <= 0 {
		return
	}
	low, step := distinct[0], distinct[1]-distinct[0]
	size := low / step // of a small block
	if low%step != 0 {
		return
	}
	if len(distinct) == 2 {
		s.fitOneBlock(k, size, step, try)
		return
	}
	if size <= math.MaxInt32 && low%(size*size) == 0 && distinct[2] == low/(size*size)*(size+1)*(size+1) {
		s.fitTwoBlocks(k, size, low/(size*size), distinct, try)
	}
}

// blockDirections are the factors of coordinates of which residues are looked at. Others are the negatives of
// these, and the same blocks.
var blockDirections = [...]factors{{1, 0}, {0, 1}, {1, 1}, {1, -1}}

// fitOneBlock calls try with parameters of one width.
func (s *sample) fitOneBlock(k, size, factor int64, try func(params)) {
	large := make([]int64, len(s.values))
	for i, v := range s.values {
		large[i] = v/factor - size
	}
	for _, f := range blockDirections {
		if c, n, ok := largeBlocks(large, f, k, k); ok {
			try(params{k, numberOf([2]factors{f, {}}), c, 0, size*k + n, factor})
		}
	}
}

// fitTwoBlocks calls try with parameters of a product of two widths.
func (s *sample) fitTwoBlocks(k, size, factor int64, distinct []int64, try func(params)) {
	large := make([]int64, len(s.values)) // of the two blocks
	all := int64(0)
	for i, v := range s.values {
		switch v {
		case distinct[1]:
			large[i] = 1
		case distinct[2]:
			large[i] = 2
		}
		all += large[i]
	}
	number := all / (2 * k) // of large blocks
	if number*2*k != all {
		return
	}
	type found struct {
		f factors
		c int64
	}
	var list []found
	for _, f := range blockDirections {
		if c, n, ok := largeBlocks(large, f, k, k/2+number+1); ok && n == number {
			list = append(list, found{f, c})
		}
	}
	for i, first := range list {
		for _, second := range list[i+1:] {
			try(params{k, numberOf([2]factors{first.f, second.f}), first.c, second.c, size*k + number, factor})
		}
	}
}

// largeBlocks finds the residues of so many factors of coordinates at which large adds up to at least so
// much, which must follow each other, and returns what is to be added to get them from 0 on, and how many
// they are.
func largeBlocks(large []int64, f factors, k, least int64) (c, n int64, ok bool) {
	return oneRun(residueSums(large, f, k), func(v int64) bool { return v >= least })
}

// residueSums returns the sums of the values of all ranks of a square grid of k columns by the residue that
// factors of coordinates have, of which that of x is 0 or 1.
func residueSums(values []int64, f factors, k int64) []int64 {
	sums := make([]int64, k)
	for y := range int64(len(values)) / k {
		at := floorMod(f.of(0, y), k)
		for _, v := range values[y*k : (y+1)*k] {
			sums[at] += v
			if at += f.x; at == k {
				at = 0
			}
		}
	}
	return sums
}

// oneRun reports whether some values by residue, but not all, are such that is holds, one after the other,
// and returns what is to be added to get their residues from 0 on, and how many they are.
func oneRun(values []int64, is func(v int64) bool) (c, n int64, ok bool) {
	k, begins := int64(len(values)), 0
	for i, v := range values {
		if !is(v) {
			continue
		}
		n++
		if !is(values[(int64(i)+k-1)%k]) {
			begins++
			c = floorMod(-int64(i), k)
		}
	}
	return c, n, begins == 1
}

// distinct returns the values that s has, in ascending order, or none if they are more than most.
func (s *sample) distinct(most int) []int64 {
	var list []int64
	for i, v := range s.values {
		if i > 0 && v == s.values[i-1] {
			continue // as in most columns
		}
		if at, ok := slices.BinarySearch(list, v); !ok {
			if len(list) == most {
				return nil
			}
			list = slices.Insert(list, at, v)
		}
	}
	return list
}
