package ti

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
)

// Causes that a [SyntaxError] and the errors of [AppendCall] wrap, for use with
// [errors.Is].
var (
	ErrCorrupt = wire.ErrCorrupt
	ErrLimit   = wire.ErrLimit
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

// A SyntaxError reports the place of a line that cannot be kept.
type SyntaxError struct {
	File   string
	Line   int64 // from 1
	Column int   // in bytes, from 1
	Err    error // wraps ErrCorrupt, ErrLimit or the error of a listed file
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("ti: %s:%d:%d: %v", e.File, e.Line, e.Column, e.Err)
}

func (e *SyntaxError) Unwrap() error { return e.Err }

// A ReadError reports where reading or decompressing a file failed.
type ReadError struct {
	File   string
	Offset int64 // number of bytes of text before the failure
	Err    error
}

func (e *ReadError) Error() string {
	if e.Offset == 0 {
		return fmt.Sprintf("ti: %s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("ti: %s: after %d bytes of text: %v", e.File, e.Offset, e.Err)
}

func (e *ReadError) Unwrap() error { return e.Err }

// A ContentError is the cause of a [ReadError] of a file that holds something
// other than the text of a trace, which its first bytes tell.
type ContentError struct {
	Content string // xz or bzip2, which compressed it, or trace, for a file of package merge
}

func (e *ContentError) Error() string {
	if e.Content == "trace" {
		return "is a trace already"
	}
	return "compressed by " + e.Content
}

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
		return dst, fmt.Errorf("ti: %w: rank %d", ErrCorrupt, c.Rank)
	}
	if c.Function < 0 || c.Function >= len(forms) {
		return dst, fmt.Errorf("ti: %w: function %d of %d", ErrCorrupt, c.Function, len(forms))
	}
	f := &forms[c.Function]
	if c.Function < actions {
		return appendKept(dst, c)
	}
	if err := f.check(c.Args); err != nil {
		return dst, fmt.Errorf("ti: %w: %s: %w", ErrCorrupt, f.function.Name, err)
	}
	dst = append(strconv.AppendInt(dst, int64(c.Rank), 10), ' ')
	return append(f.append(dst, c.Args), '\n'), nil
}

// appendKept appends a line that was kept as it is.
func appendKept(dst []byte, c Call) ([]byte, error) {
	f := &forms[c.Function]
	if len(c.Args) != 1 || c.Args[0].Kind() != cst.KindString {
		return dst, fmt.Errorf("ti: %w: %s has one argument, a string", ErrCorrupt, f.function.Name)
	}
	s := c.Args[0].Text()
	if i := badByte(strings.TrimSuffix(s, "\n")); i >= 0 {
		return dst, fmt.Errorf("ti: %w: %s: text has byte %#02x at %d", ErrCorrupt, f.function.Name, s[i], i)
	}
	if c.Function == opaque {
		dst = append(strconv.AppendInt(dst, int64(c.Rank), 10), ' ')
	} else if s == "" {
		return dst, fmt.Errorf("ti: %w: %s: text is empty", ErrCorrupt, f.function.Name)
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
