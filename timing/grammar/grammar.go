package grammar

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// A Codec is a [timing.Codec] that folds the symbols of a column into a grammar.
type Codec[V timing.Value] struct{ bins *timing.Bins[V] }

// New returns a codec of relative error epsilon, which must be one that
// [timing.NewBins] accepts.
func New[V timing.Value](epsilon float64) (*Codec[V], error) {
	b, err := timing.NewBins[V](epsilon)
	if err != nil {
		return nil, err
	}
	return &Codec[V]{b}, nil
}

// Name returns "grammar" and the relative error.
func (c *Codec[V]) Name() string { return fmt.Sprintf("grammar,epsilon=%g", c.bins.Epsilon()) }

// Guarantee returns the relative error.
func (c *Codec[V]) Guarantee() timing.Guarantee { return timing.Guarantee(c.bins.Epsilon()) }

// NewEncoder returns an Encoder of a column.
func (c *Codec[V]) NewEncoder() timing.Encoder[V] { return &encoder[V]{bins: c.bins} }

// escape is the terminal of values that escape the bins.
func (c *Codec[V]) escape() sequitur.Symbol { return sequitur.Symbol(2*c.bins.Max() + 1) }

// canEscape reports whether values can escape the bins: those of float64 can.
func canEscape[V timing.Value]() bool { return V(1)/2 != 0 }

type encoder[V timing.Value] struct {
	bins    *timing.Bins[V]
	builder sequitur.Builder
	escapes []V
}

func (e *encoder[V]) Append(_ uint32, v V) V {
	s := e.bins.Symbol(v)
	if s == timing.Escape {
		e.builder.Append(sequitur.Symbol(2*e.bins.Max() + 1))
		e.escapes = append(e.escapes, v)
		return v
	}
	e.builder.Append(sequitur.Symbol(s<<1 ^ s>>31))
	return e.bins.Value(s)
}

func (e *encoder[V]) AppendBlock(dst []byte) []byte {
	if canEscape[V]() {
		dst = wire.AppendUvarint(dst, uint64(len(e.escapes)))
		for _, v := range e.escapes {
			dst = wire.AppendUint64(dst, math.Float64bits(float64(v)))
		}
	}
	e.escapes = e.escapes[:0]
	dst, _ = e.builder.Finish().AppendBinary(dst) // never fails
	return dst
}

// NewDecoder returns a Decoder of a block.
func (c *Codec[V]) NewDecoder(block []byte, o timing.Options) (timing.Decoder[V], error) {
	d := wire.NewDecoder("timing", block)
	dec := &decoder[V]{bins: c.bins, escape: c.escape(), size: len(block)}
	terminals := uint64(c.escape())
	if canEscape[V]() {
		dec.escapes = d.Bytes("escapes", 8*d.Count("escapes", 8))
		terminals++
	}
	if d.Err() != nil {
		return nil, d.Err()
	}
	limit := uint64(cmp.Or(o.MaxValues, timing.DefaultMaxValues))
	g, err := sequitur.Parse(block[d.Offset():], sequitur.Options{MaxLen: limit, Terminals: terminals})
	if err != nil {
		return nil, inBlock(err, d.Offset())
	}
	if err := c.checkEscapes(&d, g, dec.escapes); err != nil {
		return nil, err
	}
	dec.values, dec.walker = int(g.Len()), g.Walk(0)
	return dec, nil
}

// inBlock returns an error of the grammar that begins at an offset of a block as
// one of the block.
func inBlock(err error, offset int) error {
	var e *sequitur.ParseError
	if !errors.As(err, &e) {
		return err
	}
	return &timing.ParseError{Package: "timing", Offset: int64(offset) + e.Offset, Field: "grammar, " + e.Field, Err: e.Err}
}

// checkEscapes checks that the values which the grammar leaves out are there,
// and could not have been in it.
func (c *Codec[V]) checkEscapes(d *wire.Decoder, g *sequitur.Grammar, escapes []byte) error {
	n := uint64(len(escapes) / 8)
	for s, count := range g.Occurrences() {
		if s == c.escape() {
			if count != n {
				d.Corrupt(0, "escapes", "%d, and %d in the grammar", n, count)
			}
			n = 0
		}
	}
	if n > 0 {
		d.Corrupt(0, "escapes", "%d, and none in the grammar", n)
	}
	for rest := escapes; len(rest) > 0; rest = rest[8:] {
		if v := V(math.Float64frombits(binary.LittleEndian.Uint64(rest))); c.bins.Symbol(v) != timing.Escape {
			d.Corrupt(d.Offset()-len(rest), "escapes", "%v has a bin", v)
		}
	}
	return d.Err()
}

type decoder[V timing.Value] struct {
	bins    *timing.Bins[V]
	values  int // in the block
	walker  *sequitur.Walker
	run     sequitur.Run // what is left of it
	escape  sequitur.Symbol
	escapes []byte // that are left
	size    int    // of the block
}

func (d *decoder[V]) Decode(dst []V, _ []uint32) error {
	for len(dst) > 0 {
		if d.run.Count == 0 {
			if d.run = d.walker.Next(); d.run.Count == 0 {
				return &timing.ParseError{Package: "timing", Offset: int64(d.size), Field: "values", Err: io.ErrUnexpectedEOF}
			}
		}
		n := int(min(d.run.Count, uint64(len(dst))))
		d.fill(dst[:n])
		d.run.Count -= uint64(n)
		dst = dst[n:]
	}
	return nil
}

func (d *decoder[V]) Len() int { return d.values }

// fill sets dst to values of the run.
func (d *decoder[V]) fill(dst []V) {
	if d.run.Symbol == d.escape {
		for i := range dst {
			dst[i] = V(math.Float64frombits(binary.LittleEndian.Uint64(d.escapes)))
			d.escapes = d.escapes[8:]
		}
		return
	}
	s := int32(d.run.Symbol>>1) ^ -int32(d.run.Symbol&1)
	v := d.bins.Value(s)
	for i := range dst {
		dst[i] = v
	}
}
