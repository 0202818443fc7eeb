package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/internal/text"
)

// A table is rows in columns, which the page sorts by a click on a title.
type table struct {
	Caption string
	Narrow  bool
	Columns []column
	Rows    [][]cell

	things     string // what rows are, such as "call"
	most, more int    // rows that are shown at most, and that are left out
}

type column struct {
	Title string
	Sort  bool // rows come in its order, the largest first
	Name  bool // its cells stand on the left
}

// A cell is shown as Text with a Note below, and is sorted by Value, or by Text if that is
// nil.
type cell struct {
	Text, Note string
	Value      any
	Name, Code bool // stands on the left; is a call

	// Find says which calls of the timeline it is about: function=NAME, signature=NUMBER,
	// text=TEXT for those that have it in their words, or call=RANK,POSITION.
	Find string
}

// newTable returns a table of at most so many rows of things. The title of the column
// by which they are sorted begins with ↓.
func newTable(things string, most int, titles ...string) *table {
	t := &table{things: things, most: most}
	for _, title := range titles {
		title, sorted := strings.CutPrefix(title, "↓")
		t.Columns = append(t.Columns, column{Title: title, Sort: sorted})
	}
	return t
}

// More says how many rows are left out.
func (t *table) More() string {
	if t.more == 0 {
		return ""
	}
	return fmt.Sprintf("… and %s more", text.Plural(t.more, t.things))
}

// Types of what stands in cells.
type (
	name  string  // text on the left
	order int     // a number that is a name, such as that of a rank
	nanos float64 // a time
)

// row adds a row: a cell each, or what one is made of.
func (t *table) row(cells ...any) {
	if len(t.Rows) == t.most {
		t.more++
		return
	}
	row := make([]cell, len(cells))
	for i, c := range cells {
		switch c := c.(type) {
		case cell:
			row[i] = c
		case name:
			row[i] = cell{Text: string(c), Name: true}
		case order:
			row[i] = cell{Text: fmt.Sprint(int(c)), Value: int(c)}
		case nanos:
			row[i] = cell{Text: text.Duration(c), Value: strconv.FormatFloat(float64(c), 'f', -1, 64)}
		case uint64:
			row[i] = cell{Text: text.Count(c), Value: c}
		case int:
			row[i] = cell{Text: text.Count(c), Value: c}
		case string:
			row[i] = cell{Text: c}
		default:
			panic(fmt.Sprintf("a cell of a table is of type %T", c))
		}
	}
	for i := range row {
		t.Columns[i].Name = t.Columns[i].Name || row[i].Name
	}
	t.Rows = append(t.Rows, row)
}

// valued is a cell of a text that is sorted by a number.
func valued(value any, text string) cell { return cell{Text: text, Value: value} }

// shown returns t, or nil if it has no rows.
func (t *table) shown() *table {
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// maxText is how long a text of the trace may be on the page, in characters.
const maxText = 400

// printable returns a text of the trace as it is or, if it has characters that cannot
// be seen, quoted, and cut off if it is long.
func printable(s string) string {
	return text.Cut(text.Printable(s[:min(len(s), 4*maxText)]), maxText+1)
}
