package timing

import (
	"cmp"
	"fmt"
	"math"

	"github.com/reprise-trace/reprise/internal/wire"
)

// A ParseError reports where and why a block was rejected: Offset is that of
// the first byte of the offending field, Field its name in the documentation,
// and Err wraps [ErrCorrupt], [ErrLimit] or [io.ErrUnexpectedEOF].
type ParseError = wire.Error

// Causes that a [ParseError] wraps.
var (
	ErrCorrupt = wire.ErrCorrupt
	ErrLimit   = wire.ErrLimit
)

// A Value is a time or a duration: a number of nanoseconds, as the tracer of
// this module records them, or a number of seconds, as other tracers do.
type Value interface{ int64 | float64 }

// A Codec encodes a column of values of one rank: a value for each call, in the
// order of the calls. The terminals of the calls are not stored: who decodes a
// column has them from the rank's grammar. A Codec is immutable.
type Codec[V Value] interface {
	// Name returns the name of the codec and then its parameters, as in
	// "bins,epsilon=0.1".
	Name() string

	// Guarantee returns how far a decoded value is at most from what it was.
	Guarantee() Guarantee

	// NewEncoder returns an Encoder of a column.
	NewEncoder() Encoder[V]

	// NewDecoder returns a Decoder of a block. The error is a [*ParseError].
	// The Decoder may keep block, which must not change.
	NewDecoder(block []byte, o Options) (Decoder[V], error)
}

// An Encoder encodes a column on line, block after block. Each block is decoded
// without the others. An Encoder must not be used by two goroutines at once.
type Encoder[V Value] interface {
	// Append adds the value of the next call to the block, and returns what a
	// Decoder will give back for it.
	Append(terminal uint32, value V) V

	// AppendBlock ends the block, appends its encoding to dst, and begins the
	// next. It returns the extended slice.
	AppendBlock(dst []byte) []byte
}

// A Decoder decodes the values of a block in order. A Decoder must not be used
// by two goroutines at once.
type Decoder[V Value] interface {
	// Len returns the number of values in the block.
	Len() int

	// Decode sets dst to the next len(dst) values of the block, those of calls
	// with these terminals; len(terminals) must be len(dst). The error is a
	// [*ParseError], and wraps [io.ErrUnexpectedEOF] if the block has fewer
	// values. What dst holds after an error is not defined.
	Decode(dst []V, terminals []uint32) error
}

// Options configures decoders. The zero Options is the default configuration.
type Options struct {
	// MaxValues is the largest number of values to accept in a block. A Decoder
	// holds at most some hundred bytes for each.
	// Zero means DefaultMaxValues.
	MaxValues int
}

// DefaultMaxValues is the number of values to accept in a block where [Options]
// do not say it.
const DefaultMaxValues = 1 << 20

func (o Options) maxValues() int { return cmp.Or(o.MaxValues, DefaultMaxValues) }

// A Guarantee is the largest error of a decoded value relative to what it was:
// |d̂−d| ≤ g·|d| for every finite d, while NaN and ±Inf are kept to the bit.
type Guarantee float64

// Exact is the Guarantee of codecs that keep every bit.
const Exact Guarantee = 0

func (g Guarantee) String() string {
	if g == Exact {
		return "exact"
	}
	return fmt.Sprintf("relative error %g", float64(g))
}

// isFloat reports whether V is float64. It is known when the code is compiled.
func isFloat[V Value]() bool { return V(1)/2 != 0 }

// toBits returns the bits of v: of the number in two's complement or IEEE 754.
func toBits[V Value](v V) uint64 {
	if isFloat[V]() {
		return math.Float64bits(float64(v))
	}
	return uint64(int64(v))
}

// fromBits is the inverse of toBits.
func fromBits[V Value](u uint64) V {
	if isFloat[V]() {
		return V(math.Float64frombits(u))
	}
	return V(int64(u))
}
