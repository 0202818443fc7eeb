package ti

import (
	"bytes"
	"fmt"
	"io"

	"github.com/reprise-trace/reprise/cst"
)

// Options configures a [Reader]. The zero Options is the default configuration.
type Options struct {
	// MaxRanks is the number of ranks to accept: every rank must be less.
	// Zero means 1<<24, which is also the most.
	MaxRanks int

	// Ranks is the number of ranks of the run, those that have no lines included.
	// Every rank must be less. Zero means that it is not known, unless a list of
	// files tells.
	Ranks int

	// MaxLine is the length of the longest line to accept, in bytes, without its
	// line feed. Zero means 4<<20: the counts of an alltoallv of 65,536 ranks take
	// about 1<<20.
	MaxLine int

	// Stdin is what [Open] reads for the path "-". Nil means os.Stdin.
	Stdin io.Reader
}

const (
	defaultMaxRanks = 1 << 24
	defaultMaxLine  = 4 << 20
	blockSize       = 256 << 10 // of input read at once
	maxHeld         = 1 << 10   // lines without a rank to keep until a rank is known
)

// withDefaults returns o with the defaults filled in.
func (o Options) withDefaults() Options {
	if o.MaxRanks <= 0 || o.MaxRanks > defaultMaxRanks {
		o.MaxRanks = defaultMaxRanks
	}
	if o.Ranks > 0 {
		o.MaxRanks = min(o.MaxRanks, o.Ranks)
	}
	if o.MaxLine <= 0 {
		o.MaxLine = defaultMaxLine
	}
	return o
}

// A Reader reads the calls of a trace in the order of its lines, one file after
// the other. It must not be used by two goroutines at once.
type Reader struct {
	options Options
	files   []string // paths of the inputs
	listed  bool     // file i is that of rank i
	size    int      // number of files that a list names, 0 if there is none
	ignored []string // paths of other files in directories
	next    int      // number of files opened
	input   input    // of files[next-1]

	// buf[pos:end] is text not yet read, 0 ≤ pos ≤ end ≤ len(buf).
	buf      []byte
	pos, end int
	line     int64 // number of lines read from the open file

	rank     int      // of the last line with a rank in the open file, −1 if there is none yet
	state    *history // of that rank, nil if no line of the open file has it
	ranks    map[int]*history
	cache    cache
	held     []Call // lines of the open file to be yielded first, as soon as rank ≥ 0
	heldSize int    // bytes of their text
	heldLine int64  // number of the last of them
	place    place  // of the last call that was yielded
	stats    Stats
	foreign  Foreign // the first, if stats counts any
	err      error   // sticks
}

// A place is that of a line.
type place struct {
	file int // index of the file
	line int64
}

// NewReader returns a Reader of one file of any number of ranks, plain or
// compressed. Nothing is read before the first call of [Reader.Read].
func NewReader(r io.Reader, o Options) *Reader {
	o.Stdin = r
	return newReader(o, []string{"-"})
}

func newReader(o Options, files []string) *Reader {
	return &Reader{options: o.withDefaults(), files: files, rank: -1, ranks: make(map[int]*history)}
}

// Read returns the next call, or io.EOF after the last. Its other errors are of
// type [*SyntaxError] or [*ReadError]; all errors stick. A line whose text, after
// the rank, was read before costs no allocation while it is remembered.
func (r *Reader) Read() (Call, error) {
	for {
		if len(r.held) > 0 && r.rank >= 0 {
			return r.release(), nil
		}
		if r.err != nil {
			return Call{}, r.err
		}
		line, err := r.readLine()
		switch err {
		case io.EOF:
			err = r.nextFile()
		case nil:
			var c Call
			if c, err = r.parseLine(line); err != nil {
				break
			}
			if c.Rank >= 0 && len(r.held) == 0 {
				r.place = place{r.next - 1, r.line}
				return c, nil
			}
			r.hold(c)
		}
		if err != nil {
			r.fail(err)
		}
	}
}

// Place returns the file of the last call that [Reader.Read] returned and its line
// there, from 1; the line is zero if there was none. Standard input is called
// input.
func (r *Reader) Place() (file string, line int64) {
	if r.place.line == 0 {
		return "", 0
	}
	return r.fileName(r.place.file), r.place.line
}

// nextFile opens the next file, unless lines of the last one are still held.
func (r *Reader) nextFile() error {
	if len(r.held) > 0 {
		r.rank = r.fallback()
		return nil
	}
	return r.open()
}

// fail makes err stick. Lines still held come before it.
func (r *Reader) fail(err error) {
	r.err = err
	if r.rank < 0 {
		r.rank = r.fallback()
	}
	r.input.close()
}

// fallback is the rank of the first lines of a file if none of them has one.
func (r *Reader) fallback() int { return min(max(r.next-1, 0), r.options.MaxRanks-1) }

// hold keeps a call until the rank of the lines before it is known.
func (r *Reader) hold(c Call) {
	r.held = append(r.held, c)
	r.heldLine = r.line
	if r.rank >= 0 {
		return
	}
	r.heldSize += len(c.Args[0].Text())
	if len(r.held) == maxHeld || r.heldSize > r.options.MaxLine {
		r.rank = r.fallback()
	}
}

// release returns the first call held.
func (r *Reader) release() Call {
	c := r.held[0]
	c.Rank = r.rank
	r.place = place{r.next - 1, r.heldLine - int64(len(r.held)) + 1}
	if r.held = r.held[1:]; len(r.held) == 0 {
		r.held, r.heldSize = nil, 0
	}
	return c
}

// readLine returns the next line of the open file, with its line feed if it has
// one. The line is valid until the next call.
func (r *Reader) readLine() ([]byte, error) {
	n := bytes.IndexByte(r.buf[r.pos:r.end], '\n') + 1
	for n == 0 && r.end-r.pos <= r.options.MaxLine {
		seen := r.end - r.pos
		if err := r.fill(); err == io.EOF && seen > 0 {
			n = seen
		} else if err != nil {
			return nil, err
		} else if i := bytes.IndexByte(r.buf[r.pos+seen:r.end], '\n'); i >= 0 {
			n = seen + i + 1
		}
	}
	r.line++
	if n == 0 || n-1 > r.options.MaxLine { // the last line of a file is not longer if n > 0
		return nil, r.syntaxError(r.options.MaxLine, "%w: line is longer than %d bytes", ErrLimit, r.options.MaxLine)
	}
	line := r.buf[r.pos : r.pos+n]
	r.pos += n
	r.stats.Bytes += uint64(n)
	return line, nil
}

// syntaxError returns the error of the last line at an offset.
func (r *Reader) syntaxError(offset int, format string, args ...any) error {
	return &SyntaxError{File: r.fileName(r.next - 1), Line: r.line, Column: offset + 1, Err: fmt.Errorf(format, args...)}
}

// parseLine returns the call that line stands for.
func (r *Reader) parseLine(line []byte) (Call, error) {
	rank, n := splitRank(line)
	if n == 0 {
		return r.parseWhole(line)
	}
	if rank >= uint64(r.options.MaxRanks) {
		return Call{}, r.syntaxError(0, "%w: rank is not less than %d", ErrLimit, r.options.MaxRanks)
	}
	e, err := r.entry(line, n)
	if err != nil {
		return Call{}, err
	}
	if int(rank) != r.rank || r.state == nil {
		r.rank, r.state = int(rank), r.history(int(rank))
	}
	r.state.add(e.role, r.next-1, r.line)
	r.stats.Calls++
	if e.function == opaque {
		r.countForeign(line)
	}
	return Call{Rank: r.rank, Function: e.function, Args: e.args, ID: e.id}, nil
}

// entry returns the entry of line, which has text from byte n on.
func (r *Reader) entry(line []byte, n int) (*entry, error) {
	end := len(line) - 1
	complete := line[end] == '\n'
	if complete {
		if e := r.cache.lookup(line[n:end]); e != nil {
			return e, nil
		}
	}
	if err := r.checkText(line); err != nil {
		return nil, err
	}
	if complete {
		return r.cache.add(line[n:end]), nil
	}
	return keep(string(line[n:])), nil
}

// parseWhole returns the call that keeps a line without a rank.
func (r *Reader) parseWhole(line []byte) (Call, error) {
	if err := r.checkText(line); err != nil {
		return Call{}, err
	}
	r.stats.Calls++
	s := string(line)
	if isComment(s) {
		r.stats.Comments++
	} else {
		r.countForeign(line)
	}
	return Call{Rank: r.rank, Function: whole, Args: []cst.Value{cst.String(s)}}, nil
}

// checkText reports the first byte of line that a line cannot contain.
func (r *Reader) checkText(line []byte) error {
	s := bytes.TrimSuffix(line, []byte("\n"))
	i := badByte(s)
	switch {
	case i < 0:
		return nil
	case s[i] < 0x80:
		return r.syntaxError(i, "%w: control byte %#02x", ErrCorrupt, s[i])
	}
	return r.syntaxError(i, "%w: invalid UTF-8 at byte %#02x", ErrCorrupt, s[i])
}
