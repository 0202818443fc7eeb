package timing

import (
	"cmp"
	"fmt"

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

// A Codec encodes a column of values of one rank, in nanoseconds: a value for each
// call, in the order of the calls. The terminals of the calls are not stored: who decodes a
// column has them from the rank's grammar. A Codec is immutable.
type Codec interface {
	// Name returns the name of the codec and then its parameters, as in
	// "bins,epsilon=0.1".
	Name() string

	// Guarantee returns how far a decoded value is at most from what it was.
	Guarantee() Guarantee

	// NewEncoder returns an Encoder of a column.
	NewEncoder() Encoder

	// NewDecoder returns a Decoder of a block. The error is a [*ParseError].
	// The Decoder may keep block, which must not change.
	NewDecoder(block []byte, o Options) (Decoder, error)
}

// An Encoder encodes a column on line, block after block. Each block is decoded
// without the others. An Encoder must not be used by two goroutines at once.
type Encoder interface {
	// Append adds the value of the next call to the block, and returns what a
	// Decoder will give back for it.
	Append(terminal uint32, value int64) int64

	// AppendBlock ends the block, appends its encoding to dst, and begins the
	// next. It returns the extended slice.
	AppendBlock(dst []byte) []byte
}

// A Decoder decodes the values of a block in order. A Decoder must not be used
// by two goroutines at once.
type Decoder interface {
	// Len returns the number of values in the block.
	Len() int

	// Decode sets dst to the next len(dst) values of the block, those of calls
	// with these terminals; len(terminals) must be len(dst). The error is a
	// [*ParseError], and wraps [io.ErrUnexpectedEOF] if the block has fewer
	// values. What dst holds after an error is not defined.
	Decode(dst []int64, terminals []uint32) error
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
// |d̂−d| ≤ g·|d| for every d.
type Guarantee float64

// Exact is the Guarantee of codecs that keep every bit.
const Exact Guarantee = 0

func (g Guarantee) String() string {
	if g == Exact {
		return "exact"
	}
	return fmt.Sprintf("relative error %g", float64(g))
}
