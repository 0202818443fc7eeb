// Package csv writes the calls of a trace as comma-separated values: a row for each
// call, for each rank and signature, or for each message, with the columns of package rows.
//
// The first line has the names of the columns. Fields are separated by commas and lines
// end with a line feed. Text that contains a comma, a quotation mark or a line break, or
// begins or ends with a space, is in quotation marks, with the quotation marks in it
// doubled, as in RFC 4180. Nothing is a missing value, and a pair of quotation marks
// empty text. Integers are decimal, floats as short as they can be without losing a
// bit, or NaN, +Inf or -Inf. Times are as in RFC 3339, in UTC with nanoseconds, and lists of
// integers as in JSON.
//
// Text that a spreadsheet would take for a formula has an apostrophe before it: text that begins with =, +, −
// or @, or after spaces, and is no number. So has what follows a semicolon, a tab or a line break in a text,
// which a spreadsheet may take for the end of a field, and so has an apostrophe in these places. A reader
// that takes one apostrophe away at the beginning of a text, and after each semicolon, tab and line break in
// it, has the text again.
//
// What does not differ from call to call, all but position, times and numbers, is put into words
// once for each different call of a rank, up to some megabytes of text.
package csv

import (
	"bufio"
	"context"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/rows"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/trace"
)

// Write writes the table of a trace as comma-separated values. If ctx is cancelled, or
// there is an error, some rows are missing.
func Write(ctx context.Context, w io.Writer, tr *trace.Trace, o export.TableOptions) error {
	need.That(tr != nil && w != nil, "export: no trace, or nothing to write to")
	t, err := rows.New(ctx, tr, o)
	if err != nil {
		return err
	}
	f := newFile(w, t)
	for i, c := range t.Columns() {
		if i > 0 {
			f.w.WriteByte(',')
		}
		f.w.Write(appendText(nil, c.Name))
	}
	f.w.WriteByte('\n')
	var done uint64
	for g, err := range t.Groups(ctx) {
		if err != nil {
			return err
		}
		for begin := 0; begin < g.Len(); begin += batch {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			end := min(begin+batch, g.Len())
			if err := f.rows(g, begin, end); err != nil {
				return err
			}
			if err := t.Done(done + uint64(end)); err != nil {
				return err
			}
		}
		done += uint64(g.Len())
		g.Release()
	}
	return f.w.Flush()
}

// batch is how many rows are written between two looks at whether that was cancelled.
const batch = 1 << 14

// maxKept is how many bytes of the texts of one rank are kept.
const maxKept = 16 << 20

// A file is what rows are written to.
type file struct {
	w      *bufio.Writer
	pieces []piece
	ints   [][]int64 // of each piece that is unique, but for lists, those of a batch
	there  [][]bool  // the same, of the group: whether there are values, nil if all are

	// Of the rows of a segment, what pieces are by code: nil for what is not known, or
	// not kept.
	group   *rows.Group
	segment int
	texts   [][][]byte // by piece
	kept    int

	scratch []byte
}

// A piece is a column that is unique, or those between two such columns.
type piece struct {
	unique  *rows.Column
	columns []*rows.Column
}

func newFile(w io.Writer, t *rows.Table) *file {
	f := &file{w: bufio.NewWriterSize(w, 64<<10)}
	for _, c := range t.Columns() {
		last := len(f.pieces) - 1
		switch {
		case c.Unique:
			f.pieces = append(f.pieces, piece{unique: c})
		case last >= 0 && f.pieces[last].unique == nil:
			f.pieces[last].columns = append(f.pieces[last].columns, c)
		default:
			f.pieces = append(f.pieces, piece{columns: []*rows.Column{c}})
		}
	}
	f.ints, f.there, f.texts = make([][]int64, len(f.pieces)), make([][]bool, len(f.pieces)),
		make([][][]byte, len(f.pieces))
	return f
}

// rows writes rows begin ≤ i < end of a group.
func (f *file) rows(g *rows.Group, begin, end int) error {
	for i, p := range f.pieces {
		if p.unique != nil && p.unique.Type != rows.List {
			f.ints[i], f.there[i] = p.unique.AppendInts(f.ints[i][:0], g, begin, end), p.unique.There(g)
		}
	}
	for row := begin; row < end; row++ {
		f.locate(g, row)
		line := f.scratch[:0]
		for i := range f.pieces {
			if i > 0 {
				line = append(line, ',')
			}
			switch p := &f.pieces[i]; {
			case p.unique == nil:
				line = f.appendTexts(line, i, g.Codes()[row])
			case p.unique.Type == rows.List:
				line = appendList(line, p.unique.List(g, row))
			case f.there[i] != nil && !f.there[i][row]:
			case p.unique.Type == rows.Time:
				line = time.Unix(0, f.ints[i][row-begin]).UTC().AppendFormat(line, timeLayout)
			default:
				line = strconv.AppendInt(line, f.ints[i][row-begin], 10)
			}
		}
		line = append(line, '\n')
		f.scratch = line
		if _, err := f.w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// timeLayout is that of RFC 3339 with nanoseconds.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

// appendList appends a list of integers as JSON has it, nothing if it is empty.
func appendList(dst []byte, list []int64) []byte {
	switch len(list) {
	case 0:
		return dst
	case 1:
		return append(strconv.AppendInt(append(dst, '['), list[0], 10), ']')
	}
	dst = append(dst, `"[`...)
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = strconv.AppendInt(dst, v, 10)
	}
	return append(dst, `]"`...)
}

// locate finds the segment of a row, which is not before that of the last one.
func (f *file) locate(g *rows.Group, row int) {
	switch {
	case f.group != g || row == 0:
		f.group, f.segment = g, 0
	case row < g.Segments[f.segment].End:
		return
	default:
		f.segment++
	}
	f.kept = 0
	for i := range f.texts {
		f.texts[i] = append(f.texts[i][:0], make([][]byte, g.Segments[f.segment].Codes)...)
	}
}

// appendTexts appends what a piece is in rows with a code.
func (f *file) appendTexts(dst []byte, piece int, number uint32) []byte {
	known := &f.texts[piece][number]
	if *known != nil {
		return append(dst, *known...)
	}
	begin := len(dst)
	s := &f.group.Segments[f.segment]
	for i, c := range f.pieces[piece].columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendCell(dst, c.Type, c.Cell(s, number))
	}
	if n := len(dst) - begin; n > 0 && f.kept+n <= maxKept {
		*known = append([]byte(nil), dst[begin:]...)
		f.kept += n
	}
	return dst
}

func appendCell(dst []byte, t rows.Type, c rows.Cell) []byte {
	switch {
	case !c.Valid:
		return dst
	case t == rows.Int:
		return strconv.AppendInt(dst, c.Int, 10)
	case t == rows.Float:
		return strconv.AppendFloat(dst, c.Float, 'g', -1, 64)
	}
	return appendText(dst, c.Text)
}

// appendText appends a field of text.
func appendText(dst []byte, s string) []byte {
	s = withoutFormulas(s)
	if s != "" && s[0] != ' ' && s[len(s)-1] != ' ' && !strings.ContainsAny(s, ",;\t\"\r\n") {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for i := range len(s) {
		if s[i] == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, s[i])
	}
	return append(dst, '"')
}

// separators are what ends a field where a spreadsheet is told so, or guesses.
const separators = ";\t\r\n"

// withoutFormulas returns text with an apostrophe before each place that a spreadsheet would take for the
// beginning of a formula.
func withoutFormulas(s string) string {
	if !strings.ContainsAny(s, "=+-@'−＝＋－＠") || number.MatchString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		if startsFormula(s) {
			b.WriteByte('\'')
		}
		end := strings.IndexAny(s, separators) + 1
		if end == 0 {
			end = len(s)
		}
		b.WriteString(s[:end])
		s = s[end:]
	}
	return b.String()
}

// number matches what spreadsheets take for a number, whatever sign it has.
var number = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?$`)

// startsFormula reports whether a field is a formula for a spreadsheet, which may leave out spaces, or begins
// with an apostrophe.
func startsFormula(field string) bool {
	if strings.HasPrefix(field, "'") {
		return true
	}
	c, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(field, func(c rune) bool {
		return !strings.ContainsRune(separators, c) && (unicode.IsSpace(c) || !unicode.IsPrint(c))
	}))
	return strings.ContainsRune("=+-@−＝＋－＠", c)
}
