package ti

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A RankWriter writes a trace as one file for each rank and a list of these
// files, in the names and the order that SimGrid uses: the list NAME.txt, and
// NAME_rank-1.txt for rank 0. It keeps no file open, and at most 64 MiB of text.
// It must not be used by two goroutines at once.
type RankWriter struct {
	dir, name string
	ranks     []rankFile
	size      int // bytes of text held
	limit     int // of size
	err       error
}

// A rankFile is the file of one rank.
type rankFile struct {
	lines   lines
	created bool // by the RankWriter, which may remove only what it created
}

// errClosed is the error of a RankWriter that was closed.
var errClosed = errors.New("ti: writer is closed")

// maxRankText is how much text a RankWriter holds for all ranks together.
const maxRankText = 64 << 20

// CreateRanks returns a RankWriter of a number of ranks to files in a directory,
// which must exist. It replaces no file. If writing fails, every file that was
// created is removed.
func CreateRanks(dir, name string, ranks int) (*RankWriter, error) {
	if !filepath.IsLocal(name) || name != filepath.Base(name) {
		return nil, fmt.Errorf("ti: %q is not the name of a file", name)
	}
	if ranks < 0 || ranks > defaultMaxRanks {
		return nil, fmt.Errorf("ti: %w: %d ranks", ErrLimit, ranks)
	}
	w := &RankWriter{dir: dir, name: name, limit: maxRankText}
	if opened, err := appendFile(w.list(), os.O_CREATE|os.O_EXCL, nil); err != nil {
		if opened {
			os.Remove(w.list())
		}
		return nil, err
	}
	w.ranks = make([]rankFile, ranks)
	return w, nil
}

// list returns the path of the list.
func (w *RankWriter) list() string { return filepath.Join(w.dir, w.name+".txt") }

// file returns the name of the file of rank.
func (w *RankWriter) file(rank int) string { return fmt.Sprintf("%s_rank-%d.txt", w.name, rank+1) }

// Write writes the line of c to the file of its rank, see [AppendCall]. Failures
// to write stick; after a call that cannot be written, others can.
func (w *RankWriter) Write(c Call) error {
	if w.err != nil {
		return w.err
	}
	if c.Rank < 0 || c.Rank >= len(w.ranks) {
		return fmt.Errorf("ti: %w: rank %d of %d", ErrCorrupt, c.Rank, len(w.ranks))
	}
	l := &w.ranks[c.Rank].lines
	before := len(l.buf)
	if err := l.add(c); err != nil {
		return err
	}
	w.size += len(l.buf) - before
	switch {
	case len(l.buf) >= flushSize:
		w.flush(c.Rank)
	case w.size >= w.limit:
		for rank := range w.ranks {
			w.flush(rank)
		}
	}
	return w.err
}

// flush appends the text held for rank to its file, and creates the file. On
// failure it removes all files.
func (w *RankWriter) flush(rank int) {
	f := &w.ranks[rank]
	if w.err != nil || f.created && len(f.lines.buf) == 0 {
		return
	}
	flags := os.O_APPEND
	if !f.created {
		flags = os.O_CREATE | os.O_EXCL
	}
	opened, err := appendFile(filepath.Join(w.dir, w.file(rank)), flags, f.lines.buf)
	f.created = f.created || opened
	w.size -= len(f.lines.buf)
	f.lines.buf = nil
	if err != nil {
		w.remove(err)
	}
}

// Close writes what is held, an empty file for every rank without calls, and the
// list.
func (w *RankWriter) Close() error {
	if w.err != nil {
		return w.err
	}
	var list []byte
	for rank := range w.ranks {
		w.flush(rank)
		list = append(append(list, w.file(rank)...), '\n')
	}
	if w.err != nil {
		return w.err
	}
	if _, err := appendFile(w.list(), os.O_APPEND, list); err != nil {
		w.remove(err)
		return w.err
	}
	w.err = errClosed
	return nil
}

// Abort removes all files, unless the RankWriter was closed or has failed.
func (w *RankWriter) Abort() {
	if w.err == nil {
		w.remove(errClosed)
	}
}

// remove removes all files and makes err stick.
func (w *RankWriter) remove(err error) {
	w.err = err
	for rank := range w.ranks {
		if w.ranks[rank].created {
			os.Remove(filepath.Join(w.dir, w.file(rank)))
		}
		w.ranks[rank] = rankFile{}
	}
	os.Remove(w.list())
}

// appendFile opens a file, with flags besides those for writing, appends text and
// closes it. It reports whether the file was opened, which an error of writing to
// it does not change.
func appendFile(path string, flags int, text []byte) (opened bool, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|flags, 0o666)
	if err != nil {
		return false, fmt.Errorf("ti: %w", err)
	}
	_, err = f.Write(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return true, fmt.Errorf("ti: %w", err)
	}
	return true, nil
}
