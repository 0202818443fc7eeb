package timing

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

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
	// Decoder will give back for it. Any int64 may come: a gap is negative where
	// calls overlap.
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
	// with these terminals; len(terminals) must be len(dst), or Decode panics. The error is a
	// [*ParseError], and wraps [io.ErrUnexpectedEOF] if the block has fewer
	// values. What dst holds after an error is not defined.
	Decode(dst []int64, terminals []uint32) error
}

// Options configures decoders. The zero Options is the default configuration.
type Options struct {
	// MaxValues is the largest number of values to accept in a block. A Decoder
	// holds at most some hundred bytes for each.
	// Zero and less mean DefaultMaxValues.
	MaxValues int

	// Move, if it is there, returns what a time of a series becomes, as of another clock. It moves
	// the starts and the ends of calls, and no deltas. Several goroutines may call it at once. A
	// later time must not become an earlier one.
	Move func(time int64) int64
}

// DefaultMaxValues is the number of values to accept in a block where [Options]
// do not say it.
const DefaultMaxValues = 1 << 20

func (o Options) maxValues() int { return cmp.Or(max(o.MaxValues, 0), DefaultMaxValues) }

// A Guarantee is the largest error of a decoded value relative to what it was:
// |d̂−d| ≤ g·|d| for every d. A codec whose error is absolute, such as one that rounds
// to microseconds, says 1 if small values become 0.
type Guarantee float64

// Exact is the Guarantee of codecs that keep every bit.
const Exact Guarantee = 0

func (g Guarantee) String() string {
	if g == Exact {
		return "exact"
	}
	return fmt.Sprintf("relative error %g", float64(g))
}

// ParseSeriesCodec returns the codec of series whose Name is name. The codecs in
// it come from the function codec, such as [NewCodec] or one that knows others, too.
func ParseSeriesCodec(name string, codec func(name string) (Codec, error)) (*SeriesCodec, error) {
	parts := strings.Split(name, ";")
	if len(parts) == 3 {
		word, starts, _ := strings.Cut(parts[0], startsName)
		for _, form := range []Form{Gaps, Intervals} {
			if word != form.String() {
				continue
			}
			durations, err := codec(parts[1])
			if err != nil {
				return nil, err
			}
			deltas, err := codec(parts[2])
			if err != nil {
				return nil, err
			}
			c, err := NewSeriesCodec(durations, deltas, form)
			if err != nil {
				return nil, err
			}
			c.Starts, _ = strconv.ParseInt(starts, 10, 64)
			if !strings.HasPrefix(c.Name(), parts[0]+";") {
				break
			}
			return c, nil
		}
	}
	return nil, fmt.Errorf("timing: no codec of series is called %q", name)
}

// lowTerminals is the number of terminals that are found by index. Terminals
// are dense where a trace numbers its signatures; others are found by hashing.
const lowTerminals = 1 << 16

// A terminalIndex numbers terminals from 0 in the order of first use. The zero
// index is empty. What it holds follows from the terminals it was asked for.
type terminalIndex struct {
	low  []int32 // number+1; 0 for none
	high map[uint32]int32
	used []uint32 // the terminals in order
}

// number returns the number of a terminal, which is the next new one if it was
// not used before.
func (x *terminalIndex) number(terminal uint32) int {
	if terminal < uint32(len(x.low)) && x.low[terminal] != 0 {
		return int(x.low[terminal]) - 1
	}
	return x.add(terminal)
}

func (x *terminalIndex) add(terminal uint32) int {
	if terminal < lowTerminals {
		if n := int(terminal) + 1; n > len(x.low) {
			x.low = append(x.low, make([]int32, max(n, min(2*len(x.low), lowTerminals))-len(x.low))...)
		}
		x.used = append(x.used, terminal)
		x.low[terminal] = int32(len(x.used))
		return len(x.used) - 1
	}
	if i, ok := x.high[terminal]; ok {
		return int(i)
	}
	if x.high == nil {
		x.high = make(map[uint32]int32)
	}
	i := len(x.used)
	x.high[terminal] = int32(i)
	x.used = append(x.used, terminal)
	return i
}

// len returns how many terminals were used.
func (x *terminalIndex) len() int { return len(x.used) }

// reset forgets all terminals.
func (x *terminalIndex) reset() {
	for _, t := range x.used {
		if t < lowTerminals {
			x.low[t] = 0
		}
	}
	clear(x.high)
	x.used = x.used[:0]
}
