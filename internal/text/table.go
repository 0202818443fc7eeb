package text

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// A Terminal is a writer that knows how many columns it has, 0 if it has no end.
type Terminal interface {
	io.Writer
	Columns() int
}

// Columns returns the number of columns of a terminal, and 0 of anything else.
func Columns(w io.Writer) int {
	if t, ok := w.(Terminal); ok {
		return t.Columns()
	}
	return 0
}

// All is the number of rows of a table that shows all of them.
const All = 0

// A Table writes rows in columns, which stand on the right of their columns. A
// last column whose title begins with < stands on the left, and is cut off at the
// width of a terminal; in files and pipes it is whole.
type Table struct {
	w          io.Writer
	tab        *tabwriter.Writer
	most, rows int
	left       bool // the last column stands on the left
	begun      bool
	head       []string
}

// NewTable returns a table of at most so many rows with these titles, which writes
// nothing before its first row. After it comes how many rows there are more.
func NewTable(w io.Writer, most int, titles ...string) *Table {
	t := &Table{w: w, most: most, head: titles}
	if n := len(titles); n > 0 {
		titles[n-1], t.left = strings.CutPrefix(titles[n-1], "<")
	}
	out := w
	if width := Columns(w); width > 0 && t.left {
		out = &lineCutter{w: w, width: width}
	}
	t.tab = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	return t
}

// Row writes a row. Integers have commas between their thousands; an [ID] has not.
func (t *Table) Row(cells ...any) {
	if t.rows++; t.most != All && t.rows > t.most {
		return
	}
	if !t.begun {
		t.begun = true
		line := make([]any, len(t.head))
		for i, title := range t.head {
			line[i] = title
		}
		t.line(line)
	}
	t.line(cells)
}

// An ID is a number that is a name, such as that of a rank.
type ID int

// line writes the cells of a row. What is written is kept until Close, which has
// its errors.
func (t *Table) line(cells []any) {
	for i, c := range cells {
		text := cell(c)
		if i == len(cells)-1 && t.left {
			fmt.Fprintf(t.tab, "  %s", text)
			break
		}
		fmt.Fprintf(t.tab, "%s\t", text)
	}
	fmt.Fprintln(t.tab)
}

func cell(c any) string {
	switch c := c.(type) {
	case string:
		return c
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
	if err := t.tab.Flush(); err != nil {
		return err
	}
	return More(t.w, t.rows, t.most)
}

// More writes how many of some rows are not shown if at most so many are.
func More(w io.Writer, rows, most int) error {
	if most == All || rows <= most {
		return nil
	}
	_, err := fmt.Fprintf(w, "\nand %s more: --all shows them\n", Count(rows-most))
	return err
}

// minText is how many columns of the last column of a table are shown on a terminal
// that has no room for them.
const minText = 40

// A lineCutter cuts the lines of a table.
type lineCutter struct {
	w     io.Writer
	width int
	text  int    // where the last column begins; 0 before the first line
	line  []byte // so far
}

func (c *lineCutter) Write(p []byte) (int, error) {
	n := len(p)
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			c.line = append(c.line, p...)
			return n, nil
		}
		line := string(append(c.line, p[:end]...))
		c.line, p = c.line[:0], p[end+1:]
		if c.text == 0 {
			c.text = utf8.RuneCountInString(line[:strings.LastIndex(line, "  ")+1]) + 1
		}
		if _, err := io.WriteString(c.w, Cut(line, max(c.width, c.text+minText))+"\n"); err != nil {
			return 0, err
		}
	}
}
