package timing

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/reprise-trace/reprise/internal/blockindex"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A Reader reads the values of a file of a [Writer]. It holds the index of the file, some 20 bytes for each
// block, and what reads a value holds its block. It is immutable, and its methods may be called from
// several goroutines at once.
type Reader struct {
	file      io.ReaderAt
	codec     Codec
	index     blockindex.Index
	blocks    int64 // where they begin
	terminals func(dst []uint32, first uint64)
	options   Options
}

// NewReader returns a Reader of a file of a size. It reads the beginning and the end of the file. Terminals
// sets dst to those of the values from first on, as they were appended; nil means that all are 0. Only
// MaxValues of the options is used. The error is one of the file, of [NewCodec] if the codec is not known,
// or a [*ParseError].
func NewReader(file io.ReaderAt, size int64, terminals func(dst []uint32, first uint64), o Options) (*Reader, error) {
	need.That(file != nil, "timing: a Reader of no file")
	r := &Reader{file: file, terminals: terminals, options: o}
	if terminals == nil {
		r.terminals = func(dst []uint32, _ uint64) { clear(dst) }
	}
	name, err := r.readHead(size)
	if err != nil {
		return nil, err
	}
	if err := r.readTail(size, name); err != nil {
		return nil, err
	}
	r.codec, err = NewCodec(name)
	return r, err
}

// readHead returns the name of the codec, and sets where blocks begin.
func (r *Reader) readHead(size int64) (name string, err error) {
	head := make([]byte, max(min(size, int64(len(fileMagic)+3+maxName)), 0))
	if err := readAt(r.file, head, 0); err != nil {
		return "", err
	}
	d := wire.NewDecoder("timing", head)
	if magic := d.Bytes("magic", len(fileMagic)); d.Err() == nil && string(magic) != fileMagic {
		d.Corrupt(0, "magic", "this is no file of values, or one of another version")
	}
	name = string(d.String("codec"))
	r.blocks = int64(d.Offset())
	return name, d.Err()
}

// readTail reads the index, of a file with a codec of that name.
func (r *Reader) readTail(size int64, name string) error {
	var buffer [tailLen]byte
	at := size - int64(tailLen)
	if at < r.blocks {
		return fileError(size, "end", io.ErrUnexpectedEOF)
	}
	if err := readAt(r.file, buffer[:], at); err != nil {
		return err
	}
	d := wire.NewDecoder("timing", buffer[:])
	length, sum := int64(d.Uint32("index")), d.Uint32("checksum")
	switch {
	case string(buffer[d.Offset():]) != tailMagic:
		return fileError(at, "end", fmt.Errorf("%w: the file does not end as one that was closed", io.ErrUnexpectedEOF))
	case length > maxIndex:
		return fileError(at, "index", fmt.Errorf("%w: %d bytes", ErrLimit, length))
	case length > at-r.blocks:
		return fileError(at, "index", fmt.Errorf("%w: %d bytes in a file of %d", ErrCorrupt, length, size))
	}
	begin := at - length
	index := make([]byte, length)
	if err := readAt(r.file, index, begin); err != nil {
		return err
	}
	if wire.UpdateChecksum(wire.Checksum(wire.AppendString(nil, name)), index) != sum {
		return fileError(begin, "checksum", ErrCorrupt)
	}
	x, err := blockindex.Parse(index)
	switch {
	case err != nil:
		return locate(err, int(begin), "index")
	case len(x.Pieces()) > 1 || x.HeadSize() != len(index) || int64(x.Size()-x.HeadSize()) != begin-r.blocks:
		return fileError(begin, "index", fmt.Errorf("%w: it is not of the blocks of the file", ErrCorrupt))
	}
	r.index = x
	return nil
}

// fileError is an error of the file at an offset.
func fileError(offset int64, field string, err error) error {
	return &ParseError{Package: "timing", Offset: offset, Field: field, Err: err}
}

// readAt fills data.
func readAt(r io.ReaderAt, data []byte, offset int64) error {
	n, err := r.ReadAt(data, offset)
	switch {
	case n == len(data):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return fileError(offset+int64(n), "file", io.ErrUnexpectedEOF)
	}
	return err
}

// Len returns the number of values.
func (r *Reader) Len() uint64 { return r.index.Len() }

// Codec returns the codec of the values: its Name and its Guarantee, say.
func (r *Reader) Codec() Codec { return r.codec }

// At returns value i, which must be below Len, or At panics. It reads the block of the value, and decodes
// it up to the value: who reads several in order is faster with [Reader.From]. The error is one of the file
// or of the codec, or a [*ParseError].
func (r *Reader) At(i uint64) (int64, error) {
	if i >= r.Len() {
		panic(fmt.Sprintf("timing: value %d of %d", i, r.Len()))
	}
	for v, err := range r.From(i) {
		return v, err
	}
	return 0, io.ErrUnexpectedEOF // of no file
}

// From returns an iterator over the values from value i on, in order; there are none from Len on. Finding
// the first costs what At does. After an error, which is as those of [Reader.At], it ends. One block is
// held at once.
func (r *Reader) From(i uint64) iter.Seq2[int64, error] {
	return func(yield func(int64, error) bool) {
		var (
			values    [portionLen]int64
			terminals [portionLen]uint32
		)
		for next := i; next < r.Len(); {
			block, first := r.index.Find(next)
			d, err := r.block(block)
			if err != nil {
				yield(0, err)
				return
			}
			for end := r.index.First(block + 1); first < end; {
				n := int(min(end-first, portionLen))
				r.terminals(terminals[:n], first)
				if err := d.Decode(values[:n], terminals[:n]); err != nil {
					yield(0, locate(err, r.place(block), "block"))
					return
				}
				for k := max(next, first) - first; k < uint64(n); k++ {
					if next++; !yield(values[k], nil) {
						return
					}
				}
				first += uint64(n)
			}
		}
	}
}

// place returns where a block is in the file.
func (r *Reader) place(block int) int {
	begin, _ := r.index.Range(block)
	return int(min(r.blocks+int64(begin-r.index.HeadSize()), math.MaxInt))
}

// block returns a Decoder of a block.
func (r *Reader) block(i int) (Decoder, error) {
	begin, end := r.index.Range(i)
	place, size, values := r.place(i), uint64(end-begin), r.index.First(i+1)-r.index.First(i)
	switch {
	case values > uint64(r.options.maxValues()):
		return nil, fileError(int64(place), "block", fmt.Errorf("%w: %d values", ErrLimit, values))
	case size > mostBytes(values)+sumLen:
		return nil, fileError(int64(place), "block", fmt.Errorf("%w: %d bytes for %d values", ErrLimit, size, values))
	case size < sumLen:
		return nil, fileError(int64(place), "block", fmt.Errorf("%w: %d bytes", ErrCorrupt, size))
	}
	data := make([]byte, size)
	if err := readAt(r.file, data, int64(place)); err != nil {
		return nil, err
	}
	data, sum := data[:size-sumLen], wire.NewDecoder("timing", data[size-sumLen:])
	if sum.Uint32("checksum") != wire.Checksum(data) {
		return nil, fileError(int64(place), "block, checksum", ErrCorrupt)
	}
	d, err := r.codec.NewDecoder(data, r.options)
	if err != nil {
		return nil, locate(err, place, "block")
	}
	if n := d.Len(); n < 0 || uint64(n) != values {
		return nil, fileError(int64(place), "block, values",
			fmt.Errorf("%w: %d in a block of %d", ErrCorrupt, n, values))
	}
	return d, nil
}
