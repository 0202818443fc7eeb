package extrapolate

import (
	"slices"
	"strings"
)

// How much longer a rival is at most, in bits: it is less likely by so many powers of two. Ranks are mostly
// neighbours.
const (
	maxLonger     = 3
	maxLongerRank = 2
)

// maxSideOrLog is how much longer a rival may be, too, if one of both is an extent of a grid, and the other a
// logarithm: on few numbers of ranks, these are often the same.
const maxSideOrLog = 8

// isLogarithmOf reports whether an expression has the logarithm of the number of ranks where the shortest has an
// extent of the grid: a multiple, and a number that is added.
func (f *fitter) isLogarithmOf(shortest, e *expr) bool {
	const root = 2 // how long one is on numbers that have it
	if !shortest.side || shortest.binary || !e.binary || strings.Contains(e.text, "/") {
		return false
	}
	if shortest.coefficients == 2 && e.coefficients == 2 { // two lines through three points
		return true
	}
	if f.grid.asked || f.grid.rootBits(2) == root || f.grid.rootBits(3) == root {
		return false // of squares, and in grids of MPI, programs have extents
	}
	return slices.ContainsFunc(slices.Concat(f.extents, sizes(f.grid)), func(x feature) bool {
		return x.side && !x.binary && strings.ReplaceAll(shortest.text, x.name, "log2(N)") == e.text ||
			x.side && !x.binary && strings.ReplaceAll(shortest.text, x.name, "log2(N), rounded up") == e.text
	})
}

// weigh drops what is found and is much longer than the shortest of it.
func (f *fitter) weigh() {
	if len(f.found) == 0 {
		return
	}
	if f.role == roleGrid && slices.ContainsFunc(f.found, func(e expr) bool { return e.extent }) {
		f.found = slices.DeleteFunc(f.found, func(e expr) bool { return !e.extent })
	}
	shortest := slices.MinFunc(f.found, func(a, b expr) int { return a.bits - b.bits })
	longest := shortest.bits + maxLonger
	if f.all && !slices.Contains([]string{"N", "N-1", "(N-1-rank)"}, shortest.text) {
		return
	}
	if f.ranks {
		longest += maxLongerRank - maxLonger
	}
	f.found = slices.DeleteFunc(f.found, func(e expr) bool {
		if shortest.binary && e.side && !e.binary && e.uses == 0 || f.isLogarithmOf(&shortest, &e) {
			return e.bits > longest+maxSideOrLog
		}
		return e.bits > longest
	})
	slices.SortStableFunc(f.found, func(a, b expr) int { return a.bits - b.bits }) // the shortest has the name
}

// minConfirmed is by how many bits the values are longer at least than the expression that they are of.
const minConfirmed = 3

// confirm drops what is found if none of it is shorter than the values that it is of: of few numbers, anything is an
// expression. What is longer than one that is shorter is still its rival.
func (f *fitter) confirm() {
	known, data := make(map[int64]bool), 0
	for i, p := range f.points {
		if !known[p.ranks] {
			known[p.ranks] = true
			data += max(2, length(f.values[i])+1)
		}
	}
	if !slices.ContainsFunc(f.found, func(e expr) bool { return e.bits+minConfirmed <= data }) {
		f.found = nil
	}
}
