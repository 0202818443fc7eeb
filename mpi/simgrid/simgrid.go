// Package simgrid reads and writes the time-independent traces of SimGrid: text that
// says what every rank called, without times.
//
//	in, err := simgrid.Open([]string{"trace.txt"}, simgrid.Options{})
//	…
//	run, parts, err := simgrid.Record(in, nil)
//	…
//	err = merge.Write(file, run, parts)
//
// A [Reader] yields the lines of a trace as calls, which [Record] makes parts of, and a
// [Writer] turns calls into lines again. Every action is a [cst.Function] with named
// parameters, listed by [Functions]; [Lookup] finds the function that a trace of
// another kind names.
//
// Writing what was read from one file gives back the bytes of its text, whatever
// it holds. Of several files a [Writer] gives their texts one after the other, with
// a line feed where one is missing between them. The list that names the files,
// and comments in it, are not part of what is read.
//
// # Format
//
//	line = rank SP action *( SP field ) LF
//
// The rank is decimal, without leading zeros, and counts from 0. A field is a
// number, except for the file name of a location, which may hold blanks. Where
// the receive type of a collective operation is empty, the line ends in a blank.
// Floating-point numbers are written as C's %g, with six digits. An action of one
// name may have several forms: gather has a receive count or has none. A reader
// tries the forms of an action in the order of [Functions] and takes the first
// that writes the line as it stands.
//
// A line that a form would write but for blanks and the spelling of numbers, such as
// 1e9 for 1e+09, or without the blank at its end, is a call of the same name with one
// more parameter, text: what follows the action and a blank, and is written again.
//
// A line that ends in CR LF is the call that it is without the CR, with one more parameter, end, which is the
// CR.
//
// The number of ranks in a vector of counts is not written. It follows from the
// number of fields, which all vectors of a line share in equal parts.
//
// One file holds the lines of all ranks, in any order, or every rank has its own
// file and a list names these, one a line, in the order of the ranks. A listed
// path is relative to the list or, if nothing is there, to the working directory.
// All of these may be compressed with gzip or zstd, which is told from the
// contents.
//
// # Lines kept as they are
//
// A line that no form writes as it stands becomes a call of the function opaque,
// whose text is what follows the rank and one blank. A line that does not begin
// with a rank and a blank, such as a comment or an empty line, becomes a call of
// the function line, whose text is all of it. It belongs to the rank of the line
// before it or, at the beginning of a file, to the rank of the first line that
// has one; if there is none soon enough, to the number of the file among the
// inputs. Both texts end with the line feed of the line. Only the last line of a
// file can lack it, and is then always kept in this way.
//
// [Reader.Stats] counts both, and [Reader.Report] shows the first that is no comment.
// It lists the ranks, too, whose lines do not begin with init or do not end with finalize,
// so that part of the trace is missing, and those that have init twice.
//
// # Limits
//
// A [Reader] holds one block of its input, the distinct lines it has seen lately
// up to a fixed size, and some bytes for every rank that occurs. It refuses lines
// longer than 4 MiB, ranks from 1<<24 on, and zstd windows of more than 128 MiB; a
// window is allocated at once. The counts of an alltoallv of 65,536 ranks take about
// 1 MiB. The arguments of a
// line take at most 20 times the memory of its text. Lines with control bytes or
// invalid UTF-8 are refused.
//
// # Source
//
// The format is that of F. Desprez, G. S. Markomanolis, M. Quinson and F. Suter,
// "Assessing the Performance of MPI Applications through Time-Independent Trace
// Replay", ICPP Workshops 2011, pp. 467–476, as SimGrid 3.32 writes it.
package simgrid

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A Call is one line of a trace.
type Call struct {
	Rank     int
	Function int         // index into [Functions]
	Args     []cst.Value // one for each parameter; calls share them, so they must not be changed

	// ID is zero, or equal only for calls of one Reader with equal Function and
	// Args, and not greater than the number of calls read. A consumer may keep
	// what it derives from these under their ID.
	ID uint64
}

// A syntaxError reports the place of a line that cannot be kept.
type syntaxError struct {
	file   string
	line   int64 // from 1
	column int   // in bytes, from 1
	err    error // wraps wire.ErrCorrupt, wire.ErrLimit or the error of a listed file
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("simgrid: %s:%d:%d: %v", e.file, e.line, e.column, e.err)
}

func (e *syntaxError) Unwrap() error { return e.err }

// A ReadError reports where reading or decompressing a file failed.
type ReadError struct {
	File   string
	Offset int64 // number of bytes of text before the failure

	// Content is what the file holds if its first bytes tell that it is not the text
	// of a trace: xz or bzip2, which compressed it, or trace, for a file of package
	// merge. It is empty otherwise.
	Content string

	Err error
}

func (e *ReadError) Error() string {
	if e.Offset == 0 {
		return fmt.Sprintf("simgrid: %s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("simgrid: %s: after %d bytes of text: %v", e.File, e.Offset, e.Err)
}

func (e *ReadError) Unwrap() error { return e.Err }

// AppendCall appends the line that c stands for to dst. The line ends in a line
// feed unless c keeps the text of a line that does not.
//
// It is the inverse of [Reader.Read] for every call that a Reader yields. Of
// other calls it writes what the format can express: floating-point numbers lose
// what does not fit in six digits. It refuses a call with a negative rank or an
// unknown function, arguments that do not fit the function, arrays of one call
// that differ in length, and text that a line cannot contain.
func AppendCall(dst []byte, c Call) ([]byte, error) {
	if c.Rank < 0 {
		return dst, fmt.Errorf("simgrid: %w: rank %d", wire.ErrCorrupt, c.Rank)
	}
	if c.Function < 0 || c.Function >= len(forms) {
		return dst, fmt.Errorf("simgrid: %w: function %d of %d", wire.ErrCorrupt, c.Function, len(forms))
	}
	f := &forms[c.Function]
	if c.Function < actions {
		return appendKept(dst, c)
	}
	if err := f.check(c.Args); err != nil {
		return dst, fmt.Errorf("simgrid: %w: %s: %w", wire.ErrCorrupt, f.function.Name, err)
	}
	dst = append(strconv.AppendInt(dst, int64(c.Rank), 10), ' ')
	return append(f.append(dst, c.Args), '\n'), nil
}

// appendKept appends a line that was kept as it is.
func appendKept(dst []byte, c Call) ([]byte, error) {
	f := &forms[c.Function]
	if len(c.Args) != 1 || c.Args[0].Kind() != cst.KindString {
		return dst, fmt.Errorf("simgrid: %w: %s has one argument, a string", wire.ErrCorrupt, f.function.Name)
	}
	s := c.Args[0].Text()
	if i := badByte(strings.TrimSuffix(s, "\n")); i >= 0 {
		return dst, fmt.Errorf("simgrid: %w: %s: text has byte %#02x at %d", wire.ErrCorrupt, f.function.Name, s[i], i)
	}
	if c.Function == opaque {
		dst = append(strconv.AppendInt(dst, int64(c.Rank), 10), ' ')
	} else if s == "" {
		return dst, fmt.Errorf("simgrid: %w: %s: text is empty", wire.ErrCorrupt, f.function.Name)
	}
	return append(dst, s...), nil
}

// badByte returns the offset of the first byte of s that a line cannot contain:
// of a control character other than tab and carriage return, or of invalid UTF-8.
// It returns −1 if there is none.
func badByte[T string | []byte](s T) int {
	for i := 0; i < len(s); {
		switch b := s[i]; {
		case b < ' ' && b != '\t' && b != '\r' || b == 0x7f:
			return i
		case b < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			if r == utf8.RuneError && n == 1 {
				return i
			}
			i += n
		}
	}
	return -1
}

// splitRank returns the rank that line begins with and the length of the rank and
// the blank behind it, or zero and zero if it does not begin with both. A rank of
// more than 64 bits comes out as the largest number.
func splitRank(line []byte) (rank uint64, n int) {
	for n < len(line) && '0' <= line[n] && line[n] <= '9' {
		if rank > (math.MaxUint64-9)/10 {
			rank = math.MaxUint64
		} else {
			rank = 10*rank + uint64(line[n]-'0')
		}
		n++
	}
	if n == 0 || n == len(line) || line[n] != ' ' || n > 1 && line[0] == '0' {
		return 0, 0
	}
	return rank, n + 1
}
