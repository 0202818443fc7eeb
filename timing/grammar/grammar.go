// Package grammar implements a codec for the times of calls that folds the
// symbols of exponential bins into a context-free grammar: a loop whose rounds
// take the same time is small however often it runs.
//
//	codec, err := grammar.New(0.01) // within 1 %
//	blocks := timing.Column[time.Duration]{Values: latencies}.Encode(codec)
//
// A program that imports it knows the codec by its name, as [timing.Register] says.
//
// It is the codec of [timing] for who has times that repeat. Real times hardly
// do; then it is larger and slower than the others. docs/format.md describes the
// encoding.
//
// # Limits
//
// A block of n bytes can stand for [timing.Options.MaxValues] values, of which a
// decoder holds none: its memory is in proportion to n.
//
// # Source
//
// The codec is the CFG-based one of C. Wang, Y. Guo, P. Balaji and M. Snir,
// "Near-Lossless MPI Tracing and Proxy Application Autogeneration", TPDS 34(1),
// 2023, §2.3.2, but for its bins, of which there are half as many, and for the
// grammar, whose symbols have counts.
package grammar

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/reprise-trace/reprise/internal/bins"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

func init() {
	timing.Register("grammar", func(name string) (timing.Codec, error) {
		var epsilon float64
		if _, err := fmt.Sscanf(name, "grammar,epsilon=%g", &epsilon); err != nil {
			return nil, err
		}
		return New(epsilon)
	})
}

type codec struct{ bins *bins.Bins }

// New returns the codec of relative error epsilon, from 0.0001 to
// 0.5.
func New(epsilon float64) (timing.Codec, error) {
	b, err := bins.New(epsilon)
	if err != nil {
		return nil, err
	}
	return &codec{b}, nil
}

// Name returns "grammar" and the relative error.
func (c *codec) Name() string { return fmt.Sprintf("grammar,epsilon=%g", c.bins.Epsilon()) }

// Guarantee returns the relative error.
func (c *codec) Guarantee() timing.Guarantee { return timing.Guarantee(c.bins.Epsilon()) }

// NewEncoder returns an Encoder of a column.
func (c *codec) NewEncoder() timing.Encoder { return &encoder{bins: c.bins} }

type encoder struct {
	bins    *bins.Bins
	builder sequitur.Builder
}

func (e *encoder) Append(_ uint32, v int64) int64 {
	s := e.bins.Symbol(v)
	e.builder.Append(sequitur.Symbol(s<<1 ^ s>>31))
	return e.bins.Value(s)
}

func (e *encoder) AppendBlock(dst []byte) []byte {
	dst, _ = e.builder.Finish().AppendBinary(dst) // never fails
	return dst
}

// NewDecoder returns a Decoder of a block.
func (c *codec) NewDecoder(block []byte, o timing.Options) (timing.Decoder, error) {
	limit := uint64(cmp.Or(max(o.MaxValues, 0), timing.DefaultMaxValues))
	g, err := sequitur.Parse(block, sequitur.Options{
		MaxLen: limit, Terminals: uint64(2*c.bins.Max() + 1), Plain: true,
	})
	if err != nil {
		return nil, inBlock(err)
	}
	return &decoder{bins: c.bins, values: int(g.Len()), walker: g.Walk(0), size: len(block)}, nil
}

// inBlock returns an error of the grammar as one of the block.
func inBlock(err error) error {
	var e *sequitur.ParseError
	if !errors.As(err, &e) {
		return err
	}
	return &timing.ParseError{Package: "timing", Offset: e.Offset, Field: "grammar, " + e.Field, Err: e.Err}
}

type decoder struct {
	bins   *bins.Bins
	values int // in the block
	walker *sequitur.Walker
	run    sequitur.Run // what is left of it
	size   int          // of the block
}

func (d *decoder) Decode(dst []int64, terminals []uint32) error {
	if len(terminals) != len(dst) {
		panic(fmt.Sprintf("timing: %d terminals of %d values", len(terminals), len(dst)))
	}
	for len(dst) > 0 {
		if d.run.Count == 0 {
			if d.run = d.walker.Next(); d.run.Count == 0 {
				return &timing.ParseError{Package: "timing", Offset: int64(d.size), Field: "values",
					Err: io.ErrUnexpectedEOF}
			}
		}
		n := int(min(d.run.Count, uint64(len(dst))))
		v := d.bins.Value(int32(d.run.Symbol>>1) ^ -int32(d.run.Symbol&1))
		for i := range dst[:n] {
			dst[i] = v
		}
		d.run.Count -= uint64(n)
		dst = dst[n:]
	}
	return nil
}

func (d *decoder) Len() int { return d.values }
