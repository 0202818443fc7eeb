package format

import "fmt"

// A MemoryError reports that what is read of a file takes more memory than [Options].Memory allows. It wraps
// [ErrLimit]. Readers that are given as much as it needs read the file. One that a writer gives, such as
// merge.Write or tracer.Process.Close, is of a trace that was written in full, and that readers refuse which
// are not given more memory than they take by default.
type MemoryError struct {
	What string // that takes the memory, such as signatures
	N    uint64 // of these
	Need uint64 // an estimate of their memory, in bytes
	Most uint64 // allowed

	Grows bool // there may be more of them, and Need is what those so far take
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("%d %s take some %d MiB of memory, more than %d MiB", e.N, e.What, mebibytes(e.Need), e.Most>>20)
}

// mebibytes rounds up, so that who gives as much gives enough.
func mebibytes(n uint64) uint64 { return n>>20 + min(n&(1<<20-1), 1) }

// Unwrap returns [ErrLimit].
func (e *MemoryError) Unwrap() error { return ErrLimit }
