package layout

import (
	"errors"
	"fmt"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A MemoryError reports that a trace takes more memory than it may. It wraps [ErrLimit]. Readers that are given as much
// as it needs read the trace. One that a writer gives is of a trace that was written in full, and that readers refuse
// which are not given more memory than they take by default.
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

func (e *MemoryError) Unwrap() error { return ErrLimit }

// CheckMemory returns a MemoryError if n things that take size bytes each need more than most bytes.
func CheckMemory(what string, n, size, most uint64) error {
	if need := wire.MulSat(n, size); need > most {
		return &MemoryError{What: what, N: n, Need: need, Most: most}
	}
	return nil
}

// contentMemory is how many bytes of memory are counted for a byte of a section that is longer than suits the file.
const contentMemory = 1 << 5

// FileOptions are those for a file of size bytes that may take so much memory, zero for what suits its size.
func FileOptions(size, memory int64) format.Options {
	const indexPart = 8 // of the memory, that which an index may take
	o := format.Options{Memory: memory, MaxContent: mostContent(size, memory)}
	if memory > 0 {
		o.MaxIndex = max(64<<20, memory/indexPart)
	}
	return o
}

// mostContent returns how long a section of a file of size bytes may be: 256 times the file, as no trace is as regular as
// that and as long, or what the memory allows if that is more.
func mostContent(size, memory int64) int64 {
	const (
		perByte = 256
		most    = 1 << 30
	)
	return max(int64(wire.LeastMemory/contentMemory), min(size, most/perByte)*perByte, memory/contentMemory)
}

// CheckContent returns a MemoryError if a section has so many bytes, and most are allowed.
func CheckContent(size, most int64) error {
	return CheckMemory("bytes of a section", uint64(size), contentMemory, wire.MulSat(uint64(most), contentMemory))
}

// Unread parts the error of a writer in two: that readers need more memory than they take by default for what was
// written, which wraps a [*MemoryError], and that it was not written.
func Unread(err error) (unread, failed error) {
	if errors.As(err, new(*MemoryError)) {
		return err, nil
	}
	return nil, err
}
