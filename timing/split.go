package timing

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/wire"
)

// A splitCodec is that of NewSplit.
type splitCodec struct {
	codecs []Codec
	choose func(terminal uint32) int
}

// which returns the number of the codec of a terminal.
func (c *splitCodec) which(terminal uint32) int {
	i := c.choose(terminal)
	if i < 0 || i >= len(c.codecs) {
		panic(fmt.Sprintf("timing: codec %d of %d for terminal %d", i, len(c.codecs), terminal))
	}
	return i
}

// NewSplit returns a codec that encodes a column with several: the values of a
// terminal with the codec which(terminal) of codecs, for instance those of one function
// with a smaller error. What decodes must be given the same. The error is that there are no
// codecs, one of them is nil, or which is; the codec panics if which returns another number.
func NewSplit(codecs []Codec, which func(terminal uint32) int) (Codec, error) {
	if len(codecs) == 0 || which == nil {
		return nil, errors.New("timing: a split by nothing, or into nothing")
	}
	if slices.Contains(codecs, nil) {
		return nil, errNoCodec
	}
	return &splitCodec{slices.Clone(codecs), which}, nil
}

// Name returns "split" and the names of the codecs. It does not tell what is
// encoded with which.
func (c *splitCodec) Name() string {
	names := make([]string, len(c.codecs))
	for i, codec := range c.codecs {
		names[i] = codec.Name()
	}
	return "split(" + strings.Join(names, "|") + ")"
}

// Guarantee returns the weakest guarantee of the codecs.
func (c *splitCodec) Guarantee() Guarantee {
	weakest := Exact
	for _, codec := range c.codecs {
		weakest = max(weakest, codec.Guarantee())
	}
	return weakest
}

// NewEncoder returns an Encoder of a column.
func (c *splitCodec) NewEncoder() Encoder {
	e := &splitEncoder{which: c.which}
	for _, codec := range c.codecs {
		e.encoders = append(e.encoders, codec.NewEncoder())
	}
	return e
}

type splitEncoder struct {
	which    func(terminal uint32) int
	encoders []Encoder
	scratch  []byte
}

func (e *splitEncoder) Append(terminal uint32, v int64) int64 {
	return e.encoders[e.which(terminal)].Append(terminal, v)
}

// AppendBlock appends the blocks of all codecs, each after its length.
func (e *splitEncoder) AppendBlock(dst []byte) []byte {
	for _, encoder := range e.encoders {
		e.scratch = encoder.AppendBlock(e.scratch[:0])
		dst = wire.AppendUvarint(dst, uint64(len(e.scratch)))
		dst = append(dst, e.scratch...)
	}
	return dst
}

// NewDecoder returns a Decoder of a block.
func (c *splitCodec) NewDecoder(block []byte, o Options) (Decoder, error) {
	w := wire.NewDecoder("timing", block)
	d := &splitDecoder{which: c.which, parts: make([]splitPart, len(c.codecs))}
	for i, codec := range c.codecs {
		part := w.String("part")
		if w.Err() != nil {
			return nil, w.Err()
		}
		d.parts[i].offset = w.Offset() - len(part)
		var err error
		if d.parts[i].decoder, err = codec.NewDecoder(part, o); err != nil {
			return nil, locate(err, d.parts[i].offset, "part")
		}
		n := d.parts[i].decoder.Len()
		if n > o.maxValues()-d.values {
			w.Limit(d.parts[i].offset, "part", "%d values and %d more, and the limit is %d", d.values, n, o.maxValues())
			return nil, w.Err()
		}
		d.values += n
	}
	w.End("part")
	if w.Err() != nil {
		return nil, w.Err()
	}
	return d, nil
}

type splitDecoder struct {
	which  func(terminal uint32) int
	parts  []splitPart
	values int   // in the block
	err    error // sticks: parts are not in step after it
}

// A splitPart is what one codec has in a block.
type splitPart struct {
	decoder Decoder
	offset  int
}

func (d *splitDecoder) Len() int { return d.values }

func (d *splitDecoder) Decode(dst []int64, terminals []uint32) error {
	checkTerminals(len(dst), terminals)
	for len(dst) > 0 && d.err == nil {
		k, n := d.which(terminals[0]), 1
		for n < len(dst) && d.which(terminals[n]) == k {
			n++
		}
		p := &d.parts[k]
		d.err = locate(p.decoder.Decode(dst[:n], terminals[:n]), p.offset, "part")
		dst, terminals = dst[n:], terminals[n:]
	}
	return d.err
}
