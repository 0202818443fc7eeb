package reprise

import (
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
)

// Errors that the errors of this package wrap, for use with [errors.Is]. A file
// that was damaged gives ErrCorrupt, one that was cut off [io.ErrUnexpectedEOF]
// or ErrCorrupt, one that is something else [format.ErrFormat], and one of a
// later version a [*format.VersionError].
var (
	ErrCorrupt = wire.ErrCorrupt
	ErrLimit   = wire.ErrLimit
)

// A ParseError reports where and why a file was rejected: Offset is that of the
// first byte of the offending field in the file or, unless Package is format,
// in the content of the section that a [*merge.SectionError] around it names,
// Field the name of the field in the documentation of Package, and Err wraps
// one of the errors above.
type ParseError = wire.Error

// A Trace is an open trace. Its methods may be called from several goroutines at
// once.
type Trace struct {
	file  *format.Reader
	parts *merge.Trace
	own   *os.File // to be closed; nil if it is not ours
}

// Open opens the trace in the named file. It reads the index of the file and
// what concerns the run as a whole, no calls. Errors, those of reading a rank
// later on too, name the file.
func Open(path string) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	t, err := openFile(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t.own = f
	return t, nil
}

func openFile(f *os.File) (*Trace, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return OpenReader(f, info.Size())
}

// FileOptions returns the limits under which a file of size bytes is opened: a
// section whose content is more than 256 times as long as the whole file, and
// longer than 16 MiB, is refused with ErrLimit. No trace is as regular as that and
// as long, but a file made to exhaust memory is.
func FileOptions(size int64) format.Options {
	const most = 1 << 30
	return format.Options{MaxContent: max(16<<20, min(size, most/256)*256)}
}

// OpenReader opens the trace in the size bytes that r reads, under the limits of
// [FileOptions]. Ranks are read from r when they are asked for. A trace that has
// lost the order of the calls of different ranks is refused. Use [OpenContainer]
// for other limits, and for what is left of a trace.
func OpenReader(r io.ReaderAt, size int64) (*Trace, error) {
	file, err := format.NewReader(r, size, FileOptions(size))
	if err != nil {
		return nil, err
	}
	t, err := OpenContainer(file)
	if err == nil && t.parts.LostInterleaving() {
		return nil, &merge.SectionError{Kind: merge.KindInterleaving, Offset: -1, Err: fmt.Errorf("reprise: %w: the file has no such section", ErrCorrupt)}
	}
	return t, err
}

// OpenContainer opens the trace in a container that was opened with limits that
// the caller chose, or that [format.Salvage] found in a damaged file, of which
// [merge.Trace.LostInterleaving] says whether it lost the order of the calls of
// different ranks: they are read rank by rank then. Reading a rank holds some 40
// times the content of its sections, and as much again when its signatures are
// decoded; [format.Options] bounds that content.
func OpenContainer(file *format.Reader) (*Trace, error) {
	parts, err := merge.Open(file)
	if err != nil {
		return nil, err
	}
	return &Trace{file: file, parts: parts}, nil
}

// Close closes the file that [Open] opened. Ranks that were read stay valid.
func (t *Trace) Close() error {
	if t.own == nil {
		return nil
	}
	return t.own.Close()
}

// Merged returns the trace as package merge reads it: by shapes, which are ranks
// of the same control flow, and by signatures, which are calls of all ranks that
// make them. Its errors do not name the file.
func (t *Trace) Merged() *merge.Trace { return t.parts }

// Run describes the run.
func (t *Trace) Run() merge.Run { return t.parts.Run() }

// Ranks returns the number of ranks of the run.
func (t *Trace) Ranks() int { return t.parts.Run().Ranks }

// Active returns an iterator over the ranks that made calls, in ascending order.
func (t *Trace) Active() iter.Seq[int] {
	return func(yield func(int) bool) {
		for rank, ok := t.parts.Active(0); ok; rank, ok = t.parts.Active(rank + 1) {
			if !yield(rank) {
				return
			}
		}
	}
}

// Functions returns the functions of the calls of all ranks. The result and
// what it refers to must not be changed.
func (t *Trace) Functions() []cst.Function { return t.parts.Functions() }

// Sections returns an iterator over the sections of the file, which package
// merge describes.
func (t *Trace) Sections() iter.Seq2[int, format.Section] { return t.file.All() }

// Rank reads what a rank called. It reads nothing that concerns ranks of other
// shapes only. A rank that made no calls is empty.
func (t *Trace) Rank(rank int) (*Rank, error) {
	c, err := t.parts.Calls(rank)
	if err != nil {
		return nil, t.named(err)
	}
	r := newRank(rank, c, t.named)
	if r.series, err = t.parts.Series(rank); err != nil {
		r.loseTimes(err)
	}
	return r, nil
}

// named returns an error with the name of the file, if it is ours.
func (t *Trace) named(err error) error {
	if t.own == nil {
		return err
	}
	return fmt.Errorf("%s: %w", t.own.Name(), err)
}
