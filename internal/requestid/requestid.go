// Package requestid joins what a request of a traced program is known by, a pool and a number within it, to
// one number, as traces have it.
package requestid

import (
	"fmt"
	"math/bits"
)

// Join returns the id that stands for a number within a pool, and the
// number of the pool. In groups of 3 bits from the least significant on, it holds
// the digits of index to the base 4, each with a fourth, above it, that is set if
// another group follows; each further group begins where the shorter ones end,
// so that no index has two forms. The rest is the number of the pool. It is thus
// 8·pool + index for an index below 4, and differences of pools remain visible.
// It panics if a number is negative or both together exceed 63 bits.
func Join(pool, index int64) int64 {
	if pool < 0 || index < 0 {
		panic(fmt.Sprintf("requestid: request %d of pool %d", index, pool))
	}
	var (
		groups uint64
		shift  uint
	)
	for rest := uint64(index); ; rest = rest>>2 - 1 {
		groups |= rest & 3 << shift
		if rest < 4 {
			break
		}
		groups |= 4 << shift
		shift += 3
	}
	shift += 3
	if bits.Len64(uint64(pool))+int(shift) > 63 {
		panic(fmt.Sprintf("requestid: request %d of pool %d has no id", index, pool))
	}
	return pool<<shift | int64(groups)
}

// Split returns the number of the pool that an id of a request is from, and
// the number within it. For what is no such id, such as a constant, it returns −1
// and −1.
func Split(id int64) (pool, index int64) {
	if id < 0 {
		return -1, -1
	}
	rest := uint64(id)
	base := uint64(0) // indices that have fewer groups
	for shift := 0; shift < 2*21; shift += 2 {
		index |= int64(rest & 3 << shift)
		more := rest&4 != 0
		rest >>= 3
		if !more {
			return int64(rest), index + int64(base)
		}
		base += 4 << shift
	}
	return -1, -1
}
