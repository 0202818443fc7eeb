// Package allocated measures the bytes that tests allocate.
package allocated

import (
	"math"
	"runtime"
)

// By returns the bytes that f allocates: the least of so many times, as others may allocate meanwhile.
func By(times int, f func()) uint64 {
	least := uint64(math.MaxUint64)
	for range times {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}
