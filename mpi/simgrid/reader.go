package simgrid

import (
	"bytes"
	"fmt"
	"io"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
)

// Options configures a [Reader]. The zero Options is the default configuration.
type Options struct {
	// Ranks is the number of ranks of the run, those that have no lines included.
	// Every rank must be less. Zero means that it is not known, unless a list of
	// files tells.
	Ranks int

	// Bounded is the size in bytes of the trace that [Record] records for: see [tracer.Options].
	// Zero means that all is kept.
	Bounded int64

	// Memory is how many bytes what [Record] holds may take. Zero means 512 MiB or, if that is more, 512
	// times what was read of the files as they are stored.
	Memory int64

	// Outside lets lists and directories name files that are not regular files below them, as pipes are, and
	// what symbolic links lead to elsewhere.
	Outside bool

	// Stdin is what [Open] reads for the path "-". Nil means os.Stdin.
	Stdin io.Reader

	maxRanks int // the number of ranks to accept: every rank must be less
	maxLine  int // the length of the longest line to accept, without its line feed
}

const (
	defaultMaxRanks = 1 << 24
	defaultMaxLine  = 4 << 20
	blockSize       = 256 << 10 // of input read at once
	maxHeld         = 1 << 10   // lines without a rank to keep until a rank is known
)

// withDefaults returns o with the defaults filled in.
func (o Options) withDefaults() Options {
	if o.maxRanks == 0 {
		o.maxRanks = defaultMaxRanks
	}
	if o.Ranks > 0 {
		o.maxRanks = min(o.maxRanks, o.Ranks)
	}
	if o.maxLine == 0 {
		o.maxLine = defaultMaxLine
	}
	return o
}

// A Reader reads the calls of a trace in the order of its lines, one file after
// the other. It must not be used by two goroutines at once.
type Reader struct {
	options Options
	files   []string          // paths of the inputs
	below   map[string]string // of files that a list or a directory names: the directory that they must be in
	listed  bool              // file i is that of rank i
	size    int               // number of files that a list names, 0 if there is none
	ignored []string          // paths of other files in directories
	next    int               // number of files opened
	input   input             // of files[next-1]

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
	foreign  string // the first, if stats counts any
	err      error  // sticks
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
	return &Reader{options: o.withDefaults(), files: files, rank: -1, ranks: make(map[int]*history),
		below: make(map[string]string)}
}

// Read returns the next call, or io.EOF after the last. All errors stick: that a file
// cannot be read is a [*ReadError]. A line whose text, after the rank, was read before
// costs no allocation while it is remembered.
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
func (r *Reader) fallback() int { return min(max(r.next-1, 0), r.options.maxRanks-1) }

// hold keeps a call until the rank of the lines before it is known.
func (r *Reader) hold(c Call) {
	r.held = append(r.held, c)
	r.heldLine = r.line
	if r.rank >= 0 {
		return
	}
	r.heldSize += len(c.Args[0].Text())
	if len(r.held) == maxHeld || r.heldSize > r.options.maxLine {
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
	for n == 0 && r.end-r.pos <= r.options.maxLine {
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
	if n == 0 || n-1 > r.options.maxLine { // the last line of a file is not longer if n > 0
		return nil, r.syntaxError(r.options.maxLine, "%w: line is longer than %d bytes", wire.ErrLimit,
			r.options.maxLine)
	}
	line := r.buf[r.pos : r.pos+n]
	r.pos += n
	r.stats.Bytes += uint64(n)
	return line, nil
}

// syntaxError returns the error of the last line at an offset.
func (r *Reader) syntaxError(offset int, format string, args ...any) error {
	return &syntaxError{r.fileName(r.next - 1), r.line, offset + 1, fmt.Errorf(format, args...)}
}

// parseLine returns the call that line stands for.
func (r *Reader) parseLine(line []byte) (Call, error) {
	rank, n := splitRank(line)
	if n == 0 {
		return r.parseWhole(line)
	}
	if rank >= uint64(r.options.maxRanks) {
		return Call{}, r.syntaxError(0, "%w: rank is not less than %d", wire.ErrLimit, r.options.maxRanks)
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
		return r.syntaxError(i, "%w: control byte %#02x", wire.ErrCorrupt, s[i])
	}
	return r.syntaxError(i, "%w: invalid UTF-8 at byte %#02x", wire.ErrCorrupt, s[i])
}

// An entry is the outcome of parsing what follows the rank on a line.
type entry struct {
	function int
	args     []cst.Value
	id       uint64
	role     role
}

// parse returns the entry of a line's text s, from behind the rank and the blank
// to before the line feed.
func parse(s string) *entry {
	for _, i := range byWord[firstWord(s)] {
		if args, ok := forms[i].parse(s); ok {
			return &entry{function: i, args: args, role: roleOf(s)}
		}
	}
	return keep(s + "\n")
}

// keep returns the entry that keeps s as it is.
func keep(s string) *entry {
	return &entry{function: opaque, args: []cst.Value{cst.String(s)}, role: roleOf(s)}
}

// A cache maps the text of lines, without rank and line feed, to their entries.
// It begins anew when it is full. The zero cache is empty and ready for use.
type cache struct {
	entries map[string]*entry
	size    int    // bytes of text and arguments
	id      uint64 // of the last entry added
}

const (
	maxCacheEntries = 1 << 16
	maxCacheSize    = 64 << 20
	valueSize       = 32 // bytes of a cst.Value
)

// lookup returns the entry of text, or nil.
func (c *cache) lookup(text []byte) *entry { return c.entries[string(text)] }

// add parses text and returns its entry. An entry that would take more than its
// share of the cache is not kept and has no id.
func (c *cache) add(text []byte) *entry {
	s := string(text)
	e := parse(s)
	size := len(s) + valueSize*(2+bytes.Count(text, []byte(" ")))
	if size > maxCacheSize/64 {
		return e
	}
	if c.entries == nil || len(c.entries) == maxCacheEntries || c.size > maxCacheSize-size {
		c.entries, c.size = make(map[string]*entry), 0
	}
	c.id++
	e.id = c.id
	c.entries[s] = e
	c.size += size
	return e
}
