package cli

import (
	"runtime"
	"syscall"
	"unsafe"
)

// LargePages lets Linux give pages of 2 MB to so many bytes of the heap, which is empty yet. Each page of 4 kB costs
// 2 µs when it is touched first: compress touches 40,000 of them for an archive of 100,000 events, a quarter of its
// time. Of what is not touched nothing is taken.
func LargePages(bytes int) {
	const page = 2 << 20
	heap := make([]byte, bytes+page)
	heap = heap[-uintptr(unsafe.Pointer(unsafe.SliceData(heap)))&(page-1):]
	_ = syscall.Madvise(heap[:bytes&^(page-1)], syscall.MADV_HUGEPAGE) // without them, it takes longer
	heap = nil
	runtime.GC() // from here on, what is allocated is there
}
