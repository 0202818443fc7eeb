package simgrid

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/reprise-trace/reprise/internal/wire"
)

// A Writer writes a trace: as one file for all ranks, in the order of the calls, or as
// one file for each rank and a list of these files. It must not be used by two goroutines
// at once.
type Writer struct {
	dst       io.Writer       // of the one file; nil if every rank has one
	ctx       context.Context // of the files of the ranks, which may be many
	dir, name string          // of these files
	files     []textFile      // by rank, or one
	size      int             // bytes of text held
	limit     int             // of size
	line      []byte
	err       error // sticks
}

// A textFile gathers the lines of a file.
type textFile struct {
	buf     []byte // not yet written
	open    bool   // the last line has no line feed
	created bool   // by the Writer, which may remove only what it created
}

const (
	flushSize   = 64 << 10 // how many bytes a file gathers before they are handed on
	maxRankText = 64 << 20 // how much text is held for all ranks together
)

// errClosed is the error of a Writer that was closed.
var errClosed = errors.New("simgrid: writer is closed")

// NewWriter returns a Writer of one file for all ranks to w. The caller calls
// [Writer.Close] at the end, which does not close w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{dst: w, files: make([]textFile, 1), limit: flushSize}
}

// CreateRanks returns a Writer of a file for each of a number of ranks and a list of these files, in the
// names and the order that SimGrid uses: the list NAME.txt, and NAME_rank-1.txt for rank 0. They are in a
// directory, which must exist. It replaces no file. If writing fails, also as the context is done, every file
// that was created is removed. The Writer keeps no file open, and at most 64 MiB of text.
func CreateRanks(ctx context.Context, dir, name string, ranks int) (*Writer, error) {
	if !filepath.IsLocal(name) || name != filepath.Base(name) {
		return nil, fmt.Errorf("simgrid: %q is not the name of a file", name)
	}
	if ranks < 0 || ranks > defaultMaxRanks {
		return nil, fmt.Errorf("simgrid: %w: %d ranks", wire.ErrLimit, ranks)
	}
	w := &Writer{ctx: ctx, dir: dir, name: name, limit: maxRankText}
	if opened, err := appendFile(w.list(), os.O_CREATE|os.O_EXCL, nil); err != nil {
		if opened {
			os.Remove(w.list())
		}
		return nil, err
	}
	w.files = make([]textFile, ranks)
	return w, nil
}

// list returns the path of the list.
func (w *Writer) list() string { return filepath.Join(w.dir, w.name+".txt") }

// file returns the name of the file of rank.
func (w *Writer) file(rank int) string { return fmt.Sprintf("%s_rank-%d.txt", w.name, rank+1) }

// Write writes the line of c, see [AppendCall]. Failures to write stick; after a call
// that cannot be written, others can.
func (w *Writer) Write(c Call) error {
	line, err := AppendCall(w.line[:0], c)
	w.line = line
	if err != nil {
		return err
	}
	return w.WriteLine(c.Rank, line)
}

// WriteLine writes a line of a rank as [AppendCall] makes it. If the last line before lacks its line feed, as
// only the last of a file can, it gets one now.
func (w *Writer) WriteLine(rank int, line []byte) error {
	if w.err != nil {
		return w.err
	}
	n := 0
	if w.dst == nil {
		n = rank
	}
	if n < 0 || n >= len(w.files) {
		return fmt.Errorf("simgrid: %w: rank %d of %d", wire.ErrCorrupt, rank, len(w.files))
	}
	f := &w.files[n]
	before := len(f.buf)
	if f.open {
		f.buf = append(f.buf, '\n')
	}
	f.buf = append(f.buf, line...)
	f.open = !bytes.HasSuffix(line, []byte{'\n'})
	w.size += len(f.buf) - before
	switch {
	case len(f.buf) >= flushSize:
		w.flush(n)
	case w.size >= w.limit:
		for n := range w.files {
			w.flush(n)
		}
	}
	return w.err
}

// flush hands on the text held for a file. It creates the file of a rank. On failure it
// removes all of these.
func (w *Writer) flush(n int) {
	f := &w.files[n]
	if w.err != nil || (f.created || w.dst != nil) && len(f.buf) == 0 {
		return
	}
	w.size -= len(f.buf)
	if w.dst != nil {
		_, w.err = w.dst.Write(f.buf)
		f.buf = f.buf[:0]
		return
	}
	if w.ctx.Err() != nil {
		w.remove(context.Cause(w.ctx))
		return
	}
	flags := os.O_APPEND
	if !f.created {
		flags = os.O_CREATE | os.O_EXCL
	}
	opened, err := appendFile(filepath.Join(w.dir, w.file(n)), flags, f.buf)
	f.created = f.created || opened
	f.buf = nil
	if err != nil {
		w.remove(err)
	}
}

// Close writes what is held; of ranks, also an empty file for every one without calls, and
// the list.
func (w *Writer) Close() error {
	for n := range w.files {
		w.flush(n)
	}
	if w.err != nil {
		return w.err
	}
	if w.dst == nil {
		var list []byte
		for rank := range w.files {
			list = append(append(list, w.file(rank)...), '\n')
		}
		if _, err := appendFile(w.list(), os.O_APPEND, list); err != nil {
			w.remove(err)
			return w.err
		}
	}
	w.err = errClosed
	return nil
}

// Abort removes the files of all ranks, unless the Writer was closed or has failed.
func (w *Writer) Abort() {
	if w.err == nil {
		w.remove(errClosed)
	}
}

// remove removes the files of all ranks and makes err stick.
func (w *Writer) remove(err error) {
	w.err = err
	if w.dst != nil {
		return
	}
	for rank := range w.files {
		if w.files[rank].created {
			os.Remove(filepath.Join(w.dir, w.file(rank)))
		}
		w.files[rank] = textFile{}
	}
	os.Remove(w.list())
}

// appendFile opens a file, with flags besides those for writing, appends text and
// closes it. It reports whether the file was opened, which an error of writing to
// it does not change.
func appendFile(path string, flags int, text []byte) (opened bool, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|flags, 0o666)
	if err != nil {
		return false, fmt.Errorf("simgrid: %w", err)
	}
	_, err = f.Write(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return true, fmt.Errorf("simgrid: %w", err)
	}
	return true, nil
}
