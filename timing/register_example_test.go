package timing_test

import (
	"encoding/binary"
	"fmt"

	"github.com/reprise-trace/reprise/timing"
)

// A wholeCodec keeps whole microseconds, of times that are never negative.
type wholeCodec struct{}

func (wholeCodec) Name() string                { return "whole-microseconds" }
func (wholeCodec) Guarantee() timing.Guarantee { return 0.5 } // of times of 1 µs and more
func (wholeCodec) NewEncoder() timing.Encoder  { return new(wholeEncoder) }

func (wholeCodec) NewDecoder(block []byte, o timing.Options) (timing.Decoder, error) {
	d := &wholeDecoder{rest: block}
	for at := 0; at < len(block); d.values++ {
		_, n := binary.Uvarint(block[at:])
		if n <= 0 || o.MaxValues > 0 && d.values == o.MaxValues {
			return nil, &timing.ParseError{Package: "whole", Offset: int64(at), Field: "value", Err: timing.ErrCorrupt}
		}
		at += n
	}
	return d, nil
}

type wholeEncoder struct{ block []byte }

func (e *wholeEncoder) Append(_ uint32, v int64) int64 {
	µs := (v + 500) / 1000
	e.block = binary.AppendUvarint(e.block, uint64(µs))
	return µs * 1000
}

func (e *wholeEncoder) AppendBlock(dst []byte) []byte {
	dst = append(dst, e.block...)
	e.block = e.block[:0]
	return dst
}

type wholeDecoder struct {
	rest   []byte
	values int
}

func (d *wholeDecoder) Len() int { return d.values }

func (d *wholeDecoder) Decode(dst []int64, _ []uint32) error {
	for i := range dst {
		µs, n := binary.Uvarint(d.rest)
		dst[i], d.rest = 1000*int64(µs), d.rest[n:]
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
