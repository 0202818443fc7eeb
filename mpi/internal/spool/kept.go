package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/reprise-trace/reprise/internal/compress"
	"github.com/reprise-trace/reprise/internal/regular"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A chunk of a file of what is kept:
//
//	packed   uint32   bytes of its content as they are there
//	content  uint32   bytes of it, the same if they are not compressed
//	last     uint32   1 if the next chunk is of another segment
//	sum      uint32   CRC-32C of what precedes and of the content as it is there
//	content           the header of the segment, and folded records, compressed with LZ4
//
// Content that LZ4 would make smaller than a reader lets it claim to be is not compressed.
const (
	chunkHeader = 16
	maxUnfolded = 1 << 20 // bytes of the records of a chunk beyond those of its content
)

// maxContent returns the most bytes of content that so many compressed ones may claim.
func maxContent(packed int64) int64 { return 64<<10 + 16*packed }

// A Keeper keeps, in short, the records of the segments of one thread that are removed once they
// are read. A [KeptReader] reads them.
type Keeper struct {
	path      string
	made      bool // the file is there
	templates templates
	content   []byte // of the next chunk
	chunk     []byte // scratch
	raw       int
}

// NewKeeper returns the keeper of t in a spool directory, which holds nothing of the thread that
// another one has kept.
func (t Thread) NewKeeper(directory string) *Keeper {
	return &Keeper{path: filepath.Join(directory, keptName(t.Process, t.Thread))}
}

// Add takes records that follow those before, and what the header of their segment is now.
func (k *Keeper) Add(header, records []byte) {
	if len(k.content) == 0 {
		k.content = append(k.content, header[:headerSize]...)
	} else {
		copy(k.content, header[:headerSize])
	}
	k.content = k.templates.fold(k.content, records)
	k.raw += len(records)
}

// Len returns how many bytes of records were added since the last Flush.
func (k *Keeper) Len() int { return k.raw }

// Flush writes what was added, and whether there is more of the segment. It returns the bytes that
// were written. After an error nothing more can be kept.
func (k *Keeper) Flush(last bool) (int, error) {
	if len(k.content) == 0 {
		return 0, nil
	}
	chunk, ok := compress.AppendLZ4(append(k.chunk[:0], make([]byte, chunkHeader)...), k.content)
	if !ok || int64(len(k.content)) > maxContent(int64(len(chunk)-chunkHeader)) {
		chunk = append(chunk[:chunkHeader], k.content...)
	}
	order := binary.LittleEndian
	order.PutUint32(chunk, uint32(len(chunk)-chunkHeader))
	order.PutUint32(chunk[4:], uint32(len(k.content)))
	if last {
		order.PutUint32(chunk[8:], 1)
	}
	order.PutUint32(chunk[12:], sumOfChunk(chunk))
	k.chunk, k.content, k.raw = chunk, k.content[:0], 0
	return len(chunk), k.write(chunk)
}

func sumOfChunk(chunk []byte) uint32 {
	return wire.UpdateChecksum(wire.Checksum(chunk[:chunkHeader-4]), chunk[chunkHeader:])
}

func (k *Keeper) write(chunk []byte) error {
	flags := os.O_WRONLY | os.O_APPEND
	if !k.made {
		flags |= os.O_CREATE | os.O_EXCL
	}
	f, err := os.OpenFile(k.path, flags, 0o600)
	if err != nil {
		return err
	}
	k.made = true
	_, err = f.Write(chunk)
	return errors.Join(err, f.Close())
}

// A KeptReader reads what a [Keeper] has kept of a thread.
type KeptReader struct {
	path      string
	offset    int64
	templates templates
	chunk     []byte
	content   []byte
	records   []byte // that were read before the latest
	latest    []byte
}

// Kept returns a reader of what was kept of t in a spool directory, nil if nothing was.
func (t Thread) Kept(directory string) *KeptReader {
	path := filepath.Join(directory, keptName(t.Process, t.Thread))
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return &KeptReader{path: path}
}

// Next returns the next records, what the header of their segment was when they were kept, and whether they
// are the last of it. They are valid until the call after the next, as what a [Decoder] is told must be. No
// file is open between calls. The error is [io.EOF] at the end, also if the keeper was killed while it wrote.
func (r *KeptReader) Next() (header, records []byte, last bool, err error) {
	at := r.offset
	if err := r.read(); err != nil {
		return nil, nil, false, err
	}
	r.records, r.latest = r.latest, r.records
	if r.latest, err = r.templates.unfold(r.latest[:0], r.content[headerSize:],
		len(r.content)+maxUnfolded); err != nil {
		return nil, nil, false, keptError(r.path, at, err)
	}
	return r.content[:headerSize], r.latest, binary.LittleEndian.Uint32(r.chunk[8:]) != 0, nil
}

// More reports whether there is more that was kept.
func (r *KeptReader) More() bool {
	f, err := r.open()
	if err == nil {
		f.Close()
	}
	return !errors.Is(err, io.EOF)
}

// open opens the file, and reads the header of the next chunk. The error is [io.EOF] if that is
// not all there.
func (r *KeptReader) open() (*os.File, error) {
	f, err := regular.Open(r.path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size()-r.offset < chunkHeader {
		err = io.EOF
	}
	r.chunk = append(r.chunk[:0], make([]byte, chunkHeader)...)
	if err == nil {
		_, err = f.ReadAt(r.chunk, r.offset)
	}
	if err == nil && info.Size()-r.offset-chunkHeader < int64(binary.LittleEndian.Uint32(r.chunk)) {
		err = io.EOF
	}
	if err != nil {
		f.Close()
	}
	return f, err
}

// read reads the content of the next chunk.
func (r *KeptReader) read() error {
	f, err := r.open()
	if err != nil {
		return err
	}
	defer f.Close()
	packed, length := int64(binary.LittleEndian.Uint32(r.chunk)), int64(binary.LittleEndian.Uint32(r.chunk[4:]))
	r.chunk = append(r.chunk, make([]byte, packed)...)
	if _, err := f.ReadAt(r.chunk[chunkHeader:], r.offset+chunkHeader); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(r.chunk[12:]) != sumOfChunk(r.chunk) {
		return keptError(r.path, r.offset, fmt.Errorf("%w: the checksum is another", ErrCorrupt))
	}
	if length == packed {
		r.content = append(r.content[:0], r.chunk[chunkHeader:]...)
	} else if length > maxContent(packed) {
		return keptError(r.path, r.offset, fmt.Errorf("%w: %d bytes of content in %d", ErrLimit, length, packed))
	} else if r.content, err = compress.DecodeLZ4(r.content[:0], r.chunk[chunkHeader:], length); err != nil {
		return keptError(r.path, r.offset, err)
	}
	if len(r.content) < headerSize {
		return keptError(r.path, r.offset, io.ErrUnexpectedEOF)
	}
	r.offset += chunkHeader + packed
	return nil
}

func keptError(path string, offset int64, err error) error {
	return fmt.Errorf("%s: %w", path, parseError(offset, "chunk", err))
}

// keptName returns the name of the file of what is kept of a thread.
func keptName(p Process, thread uint32) string {
	return fmt.Sprintf("%d-%x.%d.kept", p.PID, p.Loaded, thread)
}

// parseKeptName returns the thread of which a file is what was kept.
func parseKeptName(name string) (Thread, bool) {
	stem, ok := strings.CutSuffix(name, ".kept")
	s, ok2 := parseSegmentName(stem + ".0.spool")
	return Thread{Process: s.process, Thread: s.thread}, ok && ok2
}
