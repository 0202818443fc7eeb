package layout

import (
	"errors"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
)

// CheckMemory returns a format.MemoryError if n things that take size bytes each need more than most bytes.
func CheckMemory(what string, n, size, most uint64) error {
	if need := wire.MulSat(n, size); need > most {
		return &format.MemoryError{What: what, N: n, Need: need, Most: most}
	}
	return nil
}

// contentMemory is how many bytes of memory are counted for a byte of a section that is longer than suits the
// file.
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

// mostContent returns how long a section of a file of size bytes may be: 256 times the file, as no trace is
// as regular as that and as long, or what the memory allows if that is more.
func mostContent(size, memory int64) int64 {
	const (
		perByte = 256
		most    = 1 << 30
	)
	return max(int64(wire.LeastMemory/contentMemory), min(size, most/perByte)*perByte, memory/contentMemory)
}

// CheckContent returns a format.MemoryError if a section has so many bytes, and most are allowed.
func CheckContent(size, most int64) error {
	return CheckMemory("bytes of a section", uint64(size), contentMemory, wire.MulSat(uint64(most), contentMemory))
}

// Unread parts the error of a writer in two: that readers need more memory than they take by default for what
// was written, which wraps a [*format.MemoryError], and that it was not written.
func Unread(err error) (unread, failed error) {
	if errors.As(err, new(*format.MemoryError)) {
		return err, nil
	}
	return nil, err
}
