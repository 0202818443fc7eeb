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
	"github.com/reprise-trace/reprise/sequitur"
)

// Errors that the errors of this package wrap, for use with [errors.Is]. A file
// that is no trace, or was cut off or changed, gives ErrCorrupt, and one of a
// later version a [*format.VersionError].
var (
	ErrCorrupt = wire.ErrCorrupt
	ErrLimit   = wire.ErrLimit
)

// A Trace is an open trace. Its methods may be called from several goroutines at
// once.
type Trace struct {
	file   *format.Reader
	parts  *merge.Trace
	closer io.Closer // nil if the file is not ours
}

// Open opens the trace in the named file. It reads the index of the file and
// what concerns the run as a whole, no calls.
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
	t.closer = f
	return t, nil
}

func openFile(f *os.File) (*Trace, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return OpenReader(f, info.Size())
}

// OpenReader opens the trace in the size bytes that r reads.
func OpenReader(r io.ReaderAt, size int64) (*Trace, error) {
	file, err := format.NewReader(r, size, format.Options{})
	if err != nil {
		return nil, err
	}
	parts, err := merge.Open(file)
	if err != nil {
		return nil, err
	}
	return &Trace{file: file, parts: parts}, nil
}

// Close closes the file that [Open] opened. Ranks that were read stay valid.
func (t *Trace) Close() error {
	if t.closer == nil {
		return nil
	}
	return t.closer.Close()
}

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

// A Call is one call of a rank.
type Call struct {
	Rank     int
	Function *cst.Function // must not be changed
	Args     []cst.Value   // one for each parameter; shared, must not be changed
	Terminal uint32        // equal calls of one rank have one terminal
}

// String returns the call as it is written in listings.
func (c Call) String() string { return string(cst.AppendCall(nil, *c.Function, c.Args)) }

// A Rank is what one rank of a run called. Its methods may be called from
// several goroutines at once.
type Rank struct {
	part      merge.Part
	functions []cst.Function
}

// Rank reads what a rank called. It reads the sections of this rank only.
func (t *Trace) Rank(rank int) (*Rank, error) {
	p, err := t.parts.Part(rank)
	if err != nil {
		return nil, err
	}
	return &Rank{part: p, functions: t.parts.Functions()}, nil
}

// Len returns the number of calls.
func (r *Rank) Len() uint64 { return r.part.Grammar.Len() }

// Grammar returns the sequence of calls as a grammar over terminals.
func (r *Rank) Grammar() *sequitur.Grammar { return r.part.Grammar }

// Table returns the signatures of the terminals. It must not be changed. Its
// counts are zero; [sequitur.Grammar.Occurrences] has them.
func (r *Rank) Table() *cst.Table { return r.part.Table }

// Call returns the call that a terminal stands for. It panics unless terminal is
// less than r.Table().Len().
func (r *Rank) Call(terminal uint32) Call {
	fn, args := r.part.Table.Signature(terminal)
	return Call{Rank: r.part.Rank, Function: &r.functions[fn], Args: args, Terminal: terminal}
}

// Calls returns an iterator over the positions and calls of the rank, in order.
func (r *Rank) Calls() iter.Seq2[uint64, Call] { return r.CallsFrom(0) }

// CallsFrom is like [Rank.Calls] but begins at a position, which costs as much
// as finding one call, not as reading those before it. The iterator decodes
// each signature once and keeps it.
func (r *Rank) CallsFrom(position uint64) iter.Seq2[uint64, Call] {
	return func(yield func(uint64, Call) bool) {
		calls := callCache{rank: r}
		for at, s := range r.part.Grammar.From(position) {
			if !yield(at, calls.call(uint32(s))) {
				return
			}
		}
	}
}

// A callCache decodes the signatures of a rank once.
type callCache struct {
	rank  *Rank
	calls []Call // by terminal; Function is nil if it is not decoded
}

func (c *callCache) call(terminal uint32) Call {
	if c.calls == nil {
		c.calls = make([]Call, c.rank.part.Table.Len())
	}
	call := &c.calls[terminal]
	if call.Function == nil {
		*call = c.rank.Call(terminal)
	}
	return *call
}
