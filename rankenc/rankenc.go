package rankenc

import "github.com/reprise-trace/reprise/internal/wire"

// pkg is the package name in errors.
const pkg = "rankenc"

// A ParseError reports where and why encoded bytes were rejected: Offset is
// that of the first byte of the offending field, Field its name in the package
// documentation, and Err wraps [ErrCorrupt], [ErrLimit] or
// [io.ErrUnexpectedEOF].
type ParseError = wire.Error

// Errors that a [ParseError] wraps, for use with [errors.Is]. Input that ends
// too soon wraps [io.ErrUnexpectedEOF] instead.
var (
	ErrCorrupt = wire.ErrCorrupt
	ErrLimit   = wire.ErrLimit
)

// MaxRank is the largest rank: a group has at most 2³¹−1 processes.
const MaxRank = 1<<31 - 2

// Relative returns value as seen from rank, the displacement from one to the
// other in a group of size processes: r with −size/2 < r ≤ size/2 and
// (rank + r) mod size = value. What is no rank of the group stays distinct from
// these: of a negative special value, size is subtracted, which must not
// overflow, and other values are returned as they are. A tracer that has no
// [Column] to fit may write this in place of value.
func Relative(value, rank, size int64) int64 {
	if value < 0 {
		return value - size
	}
	if value >= size {
		return value
	}
	return center(value-rank, size)
}

// Absolute returns the value of which Relative returned r, for the same rank
// and size.
func Absolute(r, rank, size int64) int64 {
	switch {
	case r < -size:
		return r + size
	case r >= size || size <= 0:
		return r
	}
	return floorMod(rank+r, size)
}
