package timing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A CodecKind is a codec of a column that comes with this module. Of a codec that is not exact there are
// as many as there are errors.
type CodecKind struct {
	Word  string // what reprise record --times and reprise codecs call it
	Kind  string // what its names begin with, up to the first comma
	About string // what it is for, in a few words
	Exact bool   // whether it keeps every bit

	// New returns the codec of a relative error epsilon, from 0.0001 to 0.5, which does not matter if it is
	// Exact. The error of grammar is [ErrUnknownCodec] in a program that does not import its package.
	New func(epsilon float64) (Codec, error)

	// open returns the codec that may be called name, or nil for none. It is nil if another package registers
	// the codec.
	open func(name string) (Codec, error)
}

// codecs has a row for each codec: NewCodec, Register, Compare, the command with its help, and the tests that
// all codecs have to pass go by it.
var codecs = []CodecKind{
	row("exponential", "bins", "the fastest", NewExponential),
	{
		Word: "hist", Kind: "hist", About: "short codes for frequent values, as Pilgrim has them",
		New: func(epsilon float64) (Codec, error) {
			return newHISTCodec(histOptions{Epsilon: epsilon})
		}, open: openHIST,
	},
	{
		Word: "grammar", Kind: "grammar", About: "small only if times repeat exactly",
		New: func(epsilon float64) (Codec, error) {
			return registeredCodec("grammar", fmt.Sprintf("grammar,epsilon=%g", epsilon))
		},
	},
	row("entropy", "entropy", "the smallest", NewEntropy),
	row("entropy-fast", "entropy-fast", "some percent larger than `entropy`, in half of its time", NewEntropyFast),
	exactRow(Zstd, "smaller than `lz4`"),
	exactRow(LZ4, "faster than `zstd`"),
}

// row returns the row of a codec whose name is its kind and its relative error.
func row(word, kind, about string, of func(epsilon float64) (Codec, error)) CodecKind {
	return CodecKind{Word: word, Kind: kind, About: about, New: of, open: func(name string) (Codec, error) {
		var epsilon float64
		if n, _ := fmt.Sscanf(name, kind+",epsilon=%g", &epsilon); n < 1 {
			return nil, nil
		}
		return of(epsilon)
	}}
}

// exactRow returns the row of a compressor.
func exactRow(c Compressor, about string) CodecKind {
	codec := &losslessCodec{c}
	return CodecKind{
		Word: c.String(), Kind: "lossless", About: about, Exact: true,
		New: func(float64) (Codec, error) { return codec, nil },
		open: func(name string) (Codec, error) {
			if name == codec.Name() {
				return codec, nil
			}
			return nil, nil
		},
	}
}

// Codecs returns the codecs that come with this module, that of package timing/grammar, too, in the order in
// which the command lists them.
func Codecs() []CodecKind { return slices.Clone(codecs) }

// newCodec returns a codec of this package that may be called name, or nil for none.
func newCodec(name string) (Codec, error) {
	kind, _, _ := strings.Cut(name, ",")
	for i := range codecs {
		if c := &codecs[i]; c.Kind == kind && c.open != nil {
			if codec, err := c.open(name); codec != nil || err != nil {
				return codec, err
			}
		}
	}
	return nil, nil
}

// isOwnKind reports whether a kind is of this package, or of what is made of several codecs.
func isOwnKind(kind string) bool {
	return slices.Contains([]string{"split", "functions", Gaps.String(), Intervals.String()}, kind) ||
		slices.ContainsFunc(codecs, func(c CodecKind) bool { return c.Kind == kind && c.open != nil })
}

// ownCodecs returns the codecs of this package, with a relative error where they are not exact.
func ownCodecs(epsilon float64) (list []Codec, err error) {
	for _, kind := range codecs {
		if kind.open == nil {
			continue
		}
		c, err := kind.New(cmp.Or(epsilon, 0.1))
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}
