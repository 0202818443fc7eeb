package text

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// All is the number of rows of a table that shows all of them.
const All = 0

// A Table writes rows in columns, which stand on the right of their columns. A first or
// last column whose title begins with < stands on the left, and its texts may be cut. A column whose title begins
// with ? is left out if there is no room, and one whose title begins with & goes with the
// column before it.
//
// On a [Terminal] no line is wider than that has columns: long texts, those of the last
// column and cells of type [Long], are cut; if there is little room for the last column,
// it has a line of its own, and so have columns for which there is none. Numbers and
// titles are never cut.
type Table struct {
	w          io.Writer
	most, rows int
	left       bool // the last column stands on the left
	name       bool // the first column stands on the left
	apart      bool // behind an empty line
	wrapped    bool // long texts of the last column take several lines
	head       []string
	lines      [][]string // of cells
	long       []bool     // by column: its cells may be cut
	optional   []bool     // by column: it may be left out
	attached   []bool     // by column: it goes with the one before
}

// A Long is the text of a cell that may be cut.
type Long string

// An ID is a number that is a name, such as that of a rank.
type ID int

// NewTable returns a table of at most so many rows with these titles, which writes
// nothing before Close, and nothing without a row. After it comes how many rows there are
// more.
func NewTable(w io.Writer, most int, titles ...string) *Table {
	n := len(titles)
	t := &Table{w: w, most: most, head: make([]string, n), long: make([]bool, n), optional: make([]bool, n),
		attached: make([]bool, n)}
	for i, title := range titles {
		t.head[i], t.optional[i] = strings.CutPrefix(title, "?")
		t.head[i], t.attached[i] = strings.CutPrefix(t.head[i], "&")
	}
	if n > 1 {
		t.head[0], t.name = strings.CutPrefix(t.head[0], "<")
		t.long[0] = t.name
	}
	if n > 0 {
		t.head[n-1], t.left = strings.CutPrefix(t.head[n-1], "<")
		t.long[n-1] = t.left
	}
	return t
}

// Apart has the table stand behind an empty line, if it has rows, and returns it.
func (t *Table) Apart() *Table {
	t.apart = true
	return t
}

// Wrapped has long texts of the last column take several lines, and returns the table: they
// are cut if these are many.
func (t *Table) Wrapped() *Table {
	t.wrapped = true
	return t
}

// Row adds a row. Integers have commas between their thousands; an [ID] has not.
func (t *Table) Row(cells ...any) {
	if t.rows++; t.most != All && t.rows > t.most {
		return
	}
	line := make([]string, len(t.head))
	for i, c := range cells {
		line[i] = cell(c)
		if _, ok := c.(Long); ok {
			t.long[i] = true
		}
	}
	t.lines = append(t.lines, line)
}

func cell(c any) string {
	switch c := c.(type) {
	case string:
		return c
	case Long:
		return string(c)
	case int:
		return Count(c)
	case int64:
		return Count(c)
	case uint64:
		return Count(c)
	case ID:
		return strconv.Itoa(int(c))
	}
	return fmt.Sprint(c)
}

// Close writes the table, and what it has left out.
func (t *Table) Close() error {
	if len(t.lines) > 0 {
		var b strings.Builder
		if t.apart {
			b.WriteString("\n")
		}
		l := t.layout(RulerOf(t.w))
		for i, cells := range l.head {
			if i == len(l.head)-1 || l.line(cells, 0, len(cells), titles) != "" {
				l.write(&b, cells, titles)
			}
		}
		for _, cells := range t.lines {
			l.write(&b, cells, l.rows)
		}
		if out := l.leftOut(t); len(out) > 0 {
			fmt.Fprintf(&b, "\n%s\n", l.ruler.Style("no room for "+strings.Join(out, ", ")+": --wide shows "+
				them(len(out)), Aside))
		}
		if _, err := io.WriteString(t.w, b.String()); err != nil {
			return err
		}
	}
	return More(t.w, t.rows, t.most)
}

// them returns the word for so many columns.
func them(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// More writes how many of some rows are not shown if at most so many are.
func More(w io.Writer, rows, most int) error {
	if most == All || rows <= most {
		return nil
	}
	_, err := fmt.Fprintf(w, "\n%s\n", RulerOf(w).style(
		fmt.Sprintf("and %s more: --all shows them", Count(rows-most)), Aside))
	return err
}
