package otf2

import (
	"encoding/binary"
	"fmt"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/timing"
)

// hiddenCodec encodes numbers that are in no argument.
func hiddenCodec() timing.Codec {
	c, err := timing.NewLossless(timing.Zstd)
	need.That(err == nil, "otf2: no codec")
	return c
}

// hiddenBlock is how many numbers are encoded together.
const hiddenBlock = 1 << 16

// A hidden is numbers of calls that are in no argument: times of events in them, and numbers of requests. They are
// encoded as they come.
type hidden struct {
	encoder timing.Encoder // nil before the first
	n       int            // in the block
	blocks  [][]byte
}

func (h *hidden) add(v int64) {
	if h.encoder == nil {
		h.encoder = hiddenCodec().NewEncoder()
	}
	h.encoder.Append(0, v)
	if h.n++; h.n == hiddenBlock {
		h.end()
	}
}

func (h *hidden) end() {
	if h.n > 0 {
		h.blocks, h.n = append(h.blocks, h.encoder.AppendBlock(nil)), 0
	}
}

// appendTo appends all numbers.
func (h *hidden) appendTo(dst []byte) []byte {
	h.end()
	dst = binary.AppendUvarint(dst, uint64(len(h.blocks)))
	for _, b := range h.blocks {
		dst = append(binary.AppendUvarint(dst, uint64(len(b))), b...)
	}
	return dst
}

// A hiddenReader reads the numbers of a hidden.
type hiddenReader struct {
	blocks  [][]byte
	decoder timing.Decoder
	left    int // in the block
	values  []int64
	err     error
}

// next returns the next number, and 0 after an error, which sticks.
func (h *hiddenReader) next() int64 {
	if h == nil {
		return 0
	}
	for len(h.values) == 0 && h.err == nil {
		h.fill()
	}
	if h.err != nil {
		return 0
	}
	v := h.values[0]
	h.values = h.values[1:]
	return v
}

func (h *hiddenReader) fill() {
	if h.left == 0 {
		if len(h.blocks) == 0 {
			h.err = fmt.Errorf("otf2: %w: numbers end early", format.ErrCorrupt)
			return
		}
		if h.decoder, h.err = hiddenCodec().NewDecoder(h.blocks[0], timing.Options{}); h.err != nil {
			return
		}
		h.blocks, h.left = h.blocks[1:], h.decoder.Len()
		return
	}
	n := min(h.left, 1<<12)
	h.values = make([]int64, n)
	h.err = h.decoder.Decode(h.values, make([]uint32, n))
	h.left -= n
}
