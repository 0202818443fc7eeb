package simgrid

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// An input is the text of an open file. The zero input has none.
type input struct {
	text   io.Reader // nil if there is no more
	file   *os.File  // nil if the file is not ours
	raw    *bufio.Reader
	taken  int64         // bytes of all files so far, as they are stored
	zstd   *zstd.Decoder // kept for the next file, or nil
	offset int64         // number of bytes of text read
	err    error         // of the last read, sticks
}

// maxWindow is the largest window of a zstd frame to accept, that of --long=27.
const maxWindow = 128 << 20

// open opens the next file, or returns io.EOF.
func (r *Reader) open() error {
	r.input.close()
	if r.next == len(r.files) {
		return io.EOF
	}
	path := r.files[r.next]
	r.next++
	r.pos, r.end, r.line, r.rank, r.state = 0, 0, 0, -1, nil
	src := r.options.Stdin
	if path != "-" {
		f, err := r.openFile(path)
		if err != nil {
			return readError(path, err)
		}
		r.input.file, src = f, f
	}
	if err := r.input.start(src); err != nil {
		return readError(r.fileName(r.next-1), err)
	}
	return r.refuseList()
}

// fileName returns the name of input i in messages.
func (r *Reader) fileName(i int) string {
	if i < 0 || r.files[i] == "-" {
		return "input"
	}
	return r.files[i]
}

// readError returns the error of a file of which nothing was read.
func readError(name string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	e := &ReadError{File: name, Err: err}
	if content, ok := err.(contentError); ok {
		e.Content = string(content)
	}
	return e
}

// start begins to read src, whose first bytes tell how it is compressed.
func (in *input) start(src io.Reader) error {
	if in.raw == nil {
		in.raw = bufio.NewReaderSize(nil, 64<<10)
	}
	in.raw.Reset(&counted{src, &in.taken})
	in.offset, in.err = 0, nil
	begin, err := in.raw.Peek(10)
	if err != nil && err != io.EOF {
		return err
	}
	switch {
	case bytes.HasPrefix(begin, []byte("\x1f\x8b")):
		in.text, err = gzip.NewReader(in.raw)
	case bytes.HasPrefix(begin, []byte("\x28\xb5\x2f\xfd")), len(begin) >= 4 && begin[0]>>4 == 5 &&
		string(begin[1:4]) == "\x2a\x4d\x18":
		in.text, err = in.startZstd()
	default:
		in.text, err = in.raw, otherContent(begin)
	}
	return err
}

// A counted counts the bytes that are read.
type counted struct {
	r io.Reader
	n *int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	*c.n += int64(n)
	return n, err
}

// A contentError names what a file holds instead of text, as [ReadError] does.
type contentError string

func (e contentError) Error() string {
	if e == "trace" {
		return "is a trace already"
	}
	return "compressed by " + string(e)
}

// otherContent returns an error if a file that begins so is neither text nor
// compressed in a way that is read here, but something that is often given
// instead. The beginning may be shorter than 10 bytes only if the file is.
func otherContent(begin []byte) error {
	switch s := string(begin); {
	case strings.HasPrefix(s, "\xfd7zXZ\x00"):
		return contentError("xz")
	case strings.HasPrefix(s, "BZh") && strings.HasSuffix(s, "1AY&SY"):
		return contentError("bzip2")
	case strings.HasPrefix(s, "\x8frpz\r\n\n"):
		return contentError("trace")
	}
	return nil
}

func (in *input) startZstd() (io.Reader, error) {
	if in.zstd != nil {
		return in.zstd, in.zstd.Reset(in.raw)
	}
	var err error
	in.zstd, err = zstd.NewReader(in.raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	return in.zstd, err
}

// close ends the text and closes the file.
func (in *input) close() {
	in.text = nil
	if in.file != nil {
		in.file.Close()
		in.file = nil
	}
}

// fill reads more text behind buf[pos:end], or returns io.EOF.
func (r *Reader) fill() error {
	if r.input.text == nil {
		return io.EOF
	}
	r.end = copy(r.buf, r.buf[r.pos:r.end])
	r.pos = 0
	if r.end == len(r.buf) {
		r.buf = append(r.buf, make([]byte, max(blockSize, len(r.buf)))...)
	}
	for range 100 {
		if r.input.err != nil {
			break
		}
		n, err := r.input.text.Read(r.buf[r.end:])
		r.end += n
		r.input.offset += int64(n)
		r.input.err = err
		if n > 0 {
			return nil
		}
	}
	switch r.input.err {
	case nil:
		r.input.err = io.ErrNoProgress
	case io.EOF:
		return io.EOF
	}
	return &ReadError{File: r.fileName(r.next - 1), Offset: r.input.offset, Err: r.input.err}
}

// Close releases what the Reader holds. It does not close the reader given to
// [NewReader] or in [Options].
func (r *Reader) Close() error {
	if r.err == nil {
		r.fail(os.ErrClosed)
	}
	r.input.close()
	if r.input.zstd != nil {
		r.input.zstd.Close()
		r.input.zstd = nil
	}
	return nil
}
