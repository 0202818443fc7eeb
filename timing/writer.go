package timing

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/reprise-trace/reprise/internal/blockindex"
	"github.com/reprise-trace/reprise/internal/wire"
)

// The parts of a file of values, which docs/format.md describes.
const (
	fileMagic  = "RPTV\x01\r\n\x1a"
	tailMagic  = "vtPR"
	tailLen    = 4 + 4 + len(tailMagic) // the size of the index, a checksum, and the magic
	sumLen     = 4                      // of the checksum at the end of a block
	maxIndex   = 1 << 24                // bytes
	maxEntries = maxIndex - 32          // bytes of the index before the last block
	maxName    = 1 << 12
	valueBytes = 32      // a block has at most that many for each value,
	blockBytes = 1 << 12 // and these
)

// A Writer writes values, such as the latencies of a service as they are measured, to a file that a [Reader]
// reads from any value on. It holds what the Encoder of the codec does of a block, and 4 bytes for each
// block before. A Writer must not be used by two goroutines at once.
type Writer struct {
	w        io.Writer
	encoder  Encoder
	blockLen int
	values   int // of the block in hand
	index    blockindex.Builder
	sum      uint32
	block    []byte
	most     int   // bytes of the index before the last block
	full     error // of the next value, if no more blocks can be
	err      error // sticks
}

// errClosed is that of a Writer after Close.
var errClosed = errors.New("timing: the Writer is closed")

// NewWriter returns a Writer of a file of values of a codec, and writes the beginning of the file. The file
// has the name of the codec: one that [NewCodec] does not know is an error. BlockLen is the number of
// values of a block, which is what must be decoded to read one of them: 0 means 65,536, and no more than
// 1,048,576 can be.
func NewWriter(w io.Writer, c Codec, blockLen int) (*Writer, error) {
	if c == nil {
		return nil, errNoCodec
	}
	if w == nil {
		return nil, errors.New("timing: a Writer of nothing")
	}
	if blockLen < 0 || blockLen > DefaultMaxValues {
		return nil, fmt.Errorf("timing: blocks of %d values: from 1 to %d are possible", blockLen, DefaultMaxValues)
	}
	name := c.Name()
	if len(name) > maxName {
		return nil, fmt.Errorf("timing: a codec with a name of %d bytes", len(name))
	}
	if _, err := NewCodec(name); err != nil {
		return nil, err
	}
	head := wire.AppendString([]byte(fileMagic), name)
	x := &Writer{w: w, encoder: c.NewEncoder(), blockLen: cmp.Or(blockLen, defaultBlockLen), most: maxEntries}
	x.sum = wire.Checksum(head[len(fileMagic):])
	x.write(head)
	return x, x.err
}

// Append adds a value. Terminal is the number of what the value is of, such as an endpoint or a function, for
// codecs that know the values of one better than those of all: the Reader must be told the same, and it is 0
// for all where nothing is known. The error is that of a Write of the file, which Close returns as well, or
// that there are as many blocks as a file can have, some 4 million at least: then the value is not added, and
// Close ends a file that has all before it.
func (w *Writer) Append(terminal uint32, value int64) error {
	if err := cmp.Or(w.err, w.full); err != nil {
		return err
	}
	w.encoder.Append(terminal, value)
	if w.values++; w.values == w.blockLen {
		w.endBlock()
	}
	return w.err
}

// endBlock writes the block in hand.
func (w *Writer) endBlock() {
	w.block = w.encoder.AppendBlock(w.block[:0])
	if most := mostBytes(uint64(w.values)); uint64(len(w.block)) > most {
		w.err = fmt.Errorf("timing: the codec has %d bytes for %d values, and %d can be read", len(w.block),
			w.values, most)
		return
	}
	w.block = wire.AppendUint32(w.block, wire.Checksum(w.block))
	w.index.Add(uint64(w.values), len(w.block), false)
	if w.values = 0; w.index.Size() > w.most {
		w.full = fmt.Errorf("timing: %d blocks are as many as a file can have: make them longer", w.index.Blocks())
	}
	w.write(w.block)
}

// mostBytes is how many bytes a block of so many values may have.
func mostBytes(values uint64) uint64 { return values*valueBytes + blockBytes }

func (w *Writer) write(data []byte) {
	if n, err := w.w.Write(data); err != nil {
		w.err = err
	} else if n != len(data) {
		w.err = io.ErrShortWrite
	}
}

// Close writes the values that are left, and the end of the file, without which none can be read. It does
// not close the file. A second Close is an error, as is Append after it.
func (w *Writer) Close() error {
	if w.err == nil && w.values > 0 {
		w.endBlock()
	}
	if w.err != nil {
		return w.err
	}
	index := w.index.Append(nil)
	tail := wire.AppendUint32(bytes.Clone(index), uint32(len(index)))
	tail = wire.AppendUint32(tail, wire.UpdateChecksum(w.sum, index))
	w.write(append(tail, tailMagic...))
	if w.err != nil {
		return w.err
	}
	w.err = errClosed
	return nil
}
