package merge

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// A yield says whether something is worth trying on the next of many alike: always, until it failed
// failsAtFirst times more often than each success is worth, then with longer and longer gaps, as far as it goes
// on to fail. So what never succeeds on n costs time in proportion to the square root of n, and no clock is
// asked.
type yield struct {
	failed  int // times, less what successes are worth
	waiting int // how many more are not tried
}

// What decides where gaps begin and how they grow: 250,000 columns of random numbers are fitted 6,000 times,
// and columns of which one in successWorth has an expression all get theirs.
const (
	failsAtFirst = 1 << 9
	gapGrows     = 1 << 6 // failures by which a gap grows by one
	successWorth = 1 << 6
)

// tries reports whether the next one is to be tried.
func (y *yield) tries() bool {
	if y.waiting > 0 {
		y.waiting--
		return false
	}
	return true
}

// tell says whether what was tried succeeded.
func (y *yield) tell(ok bool) {
	if ok {
		y.failed = max(y.failed-successWorth, 0)
		return
	}
	y.failed++
	y.waiting = max(y.failed-failsAtFirst, 0) / gapGrows
}

// pays reports whether n bytes, which encode some values, are at most half of what the values take as bits. The
// least value, which both have, does not count. Where it is more, an encoding of a few values may be luck.
func pays(n int, values []int64) bool {
	const head = 4
	least := slices.Min(values)
	n -= len(binary.AppendVarint(nil, least)) - 1
	width := bits.Len64(uint64(slices.Max(values)) - uint64(least))
	return 2*n <= head+(width*len(values)+7)/8
}

// A slotOf is a slot of the signatures of a function.
type slotOf struct{ function, slot int }

// slotYields are those of slots.
type slotYields map[slotOf]*yield

func (s slotYields) at(x slotOf) *yield {
	if s[x] == nil {
		s[x] = new(yield)
	}
	return s[x]
}
