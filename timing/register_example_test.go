package timing_test

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/reprise-trace/reprise/timing"
)

// A wholeCodec keeps whole microseconds, and what is less than one becomes 0.
type wholeCodec struct{}

func (wholeCodec) Name() string                { return "whole-microseconds" }
func (wholeCodec) Guarantee() timing.Guarantee { return 1 }
func (wholeCodec) NewEncoder() timing.Encoder  { return new(wholeEncoder) }

func (wholeCodec) NewDecoder(block []byte, o timing.Options) (timing.Decoder, error) {
	d, most := &wholeDecoder{block: block}, o.MaxValues
	if most <= 0 {
		most = timing.DefaultMaxValues
	}
	for at := 0; at < len(block); d.values++ {
		_, n := binary.Varint(block[at:])
		switch {
		case n <= 0:
			return nil, &timing.ParseError{Package: "whole", Offset: int64(at), Field: "value", Err: timing.ErrCorrupt}
		case d.values == most:
			return nil, &timing.ParseError{Package: "whole", Offset: int64(at), Field: "values", Err: timing.ErrLimit}
		}
		at += n
	}
	return d, nil
}

type wholeEncoder struct{ block []byte }

func (e *wholeEncoder) Append(_ uint32, v int64) int64 {
	µs := v / 1000
	e.block = binary.AppendVarint(e.block, µs)
	return µs * 1000
}

func (e *wholeEncoder) AppendBlock(dst []byte) []byte {
	dst = append(dst, e.block...)
	e.block = e.block[:0]
	return dst
}

type wholeDecoder struct {
	block      []byte
	at, values int
}

func (d *wholeDecoder) Len() int { return d.values }

func (d *wholeDecoder) Decode(dst []int64, terminals []uint32) error {
	if len(terminals) != len(dst) {
		panic("whole: as many terminals as values are needed")
	}
	for i := range dst {
		µs, n := binary.Varint(d.block[d.at:])
		if n == 0 { // the block has fewer
			return &timing.ParseError{Package: "whole", Offset: int64(d.at), Field: "value", Err: io.ErrUnexpectedEOF}
		}
		dst[i] = 1000 * µs
		d.at += n
	}
	return nil
}

func ExampleRegister() {
	// In an init function of the package of the codec. A program that imports the package can read
	// traces, and files of a Writer, that have such columns.
	timing.Register("whole-microseconds", func(string) (timing.Codec, error) { return wholeCodec{}, nil })

	codec, err := timing.NewCodec("whole-microseconds") // as who reads a file does
	fmt.Println(codec.Name(), err)

	_, err = timing.NewCodec("whole-seconds,n=2")
	fmt.Println(err)
	// Output:
	// whole-microseconds <nil>
	// timing: unknown codec "whole-seconds,n=2": its package must be imported, and call timing.Register
}
