package text

import (
	"slices"
	"strings"
)

const (
	// between is how many columns of a terminal are in front of each column of a table.
	between = 2

	// indent is that of what a row has on lines of its own, beyond between.
	indent = 4

	// minText is how many columns the last column of a table has at least, or it has a
	// line of its own.
	minText = 40

	// minName is how many columns the first column has if it stands on the left, and there is no other way to
	// have each row in a line.
	minName = 24

	// minLong is how many columns another column of long texts has at least.
	minLong = 16
)

// A layout is where the cells of a table stand.
type layout struct {
	ruler  Ruler
	head   [][]string // lines of titles
	widths []int
	out    []bool // the columns that are left out
	folds  []int  // the columns before which a line begins, but for the first
	left   bool   // the last column stands on the left
	name   bool   // the first column stands on the left
	narrow bool   // and has little room
	wraps  bool   // and takes several lines
}

// layout finds room for the columns.
func (t *Table) layout(r Ruler) *layout {
	l := &layout{ruler: r, head: [][]string{t.head}, out: make([]bool, len(t.head)), left: t.left, name: t.name,
		wraps: t.wrapped}
	l.measure(t)
	if r.columns == 0 || l.fit(t, false) {
		return l
	}
	l.foldTitles()
	l.measure(t)
	if l.fit(t, false) {
		return l
	}
	long := t.left && l.widths[len(l.widths)-1] > minText
	if !long && l.leaveOut(t, false) || t.left && l.leaveOut(t, true) {
		return l
	}
	if l.narrow = t.name; l.narrow && l.leaveOut(t, false) {
		return l
	}
	l.fold(t)
	return l
}

// leaveOut leaves out columns, as many as it takes, and reports whether the others fit.
func (l *layout) leaveOut(t *Table, own bool) bool {
	clear(l.out)
	if l.fit(t, own) {
		return true
	}
	for i := range t.head {
		if t.optional[i] {
			l.out[i] = true
			for k := i + 1; k < len(t.head) && t.attached[k]; k++ {
				l.out[k] = true
			}
			if l.fit(t, own) {
				return true
			}
		}
	}
	return false
}

// measure sets the widths to those of the longest cells.
func (l *layout) measure(t *Table) {
	l.widths = make([]int, len(t.head))
	for _, lines := range [][][]string{l.head, t.lines} {
		for _, cells := range lines {
			for i, c := range cells {
				l.widths[i] = max(l.widths[i], l.ruler.Width(c))
			}
		}
	}
}

// foldTitles breaks titles of several words into two lines.
func (l *layout) foldTitles() {
	lines := [][]string{make([]string, len(l.head[0])), make([]string, len(l.head[0]))}
	folded := false
	for i, title := range l.head[0] {
		lines[1][i] = title
		if before, after, ok := strings.Cut(title, " "); ok && before != "" &&
			!(l.left && i == len(l.head[0])-1) && !(l.name && i == 0) {
			lines[0][i], lines[1][i], folded = before, after, true
		}
	}
	if folded {
		l.head = lines
	}
}

// fit makes columns of long texts narrow enough for a line, the last column having a line
// of its own or not, and reports whether it can.
func (l *layout) fit(t *Table, own bool) bool {
	last := len(l.widths) - 1
	columns := len(l.widths)
	if own {
		columns = last
	}
	room := l.ruler.columns
	var long, widths []int
	for i, width := range l.widths[:columns] {
		switch {
		case l.out[i]:
			continue
		case t.long[i]:
			long, widths = append(long, i), append(widths, width)
		default:
			room -= width
		}
		room -= between
	}
	if !share(widths, room) {
		return false
	}
	for k, i := range long {
		if widths[k] < l.least(i) {
			return false
		}
	}
	for k, i := range long {
		l.widths[i] = widths[k]
	}
	if own {
		l.folds = []int{last}
		l.widths[last] = min(l.widths[last], max(l.ruler.columns-between-indent, l.title(last)))
	}
	return true
}

// least returns how narrow a column of long texts may be.
func (l *layout) least(i int) int {
	least := minLong
	switch {
	case l.narrow && i == 0:
		least = minName
	case l.name && i == 0, l.left && i == len(l.widths)-1:
		least = minText
	}
	return min(l.widths[i], max(least, l.title(i)))
}

// title returns the width of the title of a column.
func (l *layout) title(i int) int {
	width := 0
	for _, line := range l.head {
		width = max(width, l.ruler.Width(line[i]))
	}
	return width
}

// share makes the largest widths smaller, until they fit into some room together.
func share(widths []int, room int) bool {
	sum := 0
	for _, w := range widths {
		sum += w
	}
	for sum > room {
		largest, next := 0, 0
		for _, w := range widths {
			switch {
			case w > largest:
				largest, next = w, largest
			case w < largest:
				next = max(next, w)
			}
		}
		if largest == 0 {
			return false
		}
		for i, w := range widths {
			if w == largest && sum > room {
				by := min(largest-next, sum-room)
				widths[i], sum = w-by, sum-by
			}
		}
	}
	return true
}

// fold begins lines where there is no more room for the next column.
func (l *layout) fold(t *Table) {
	used, start := 0, 0
	for i := range l.widths {
		if l.out[i] {
			continue
		}
		width := l.widths[i]
		if t.long[i] {
			width = min(l.least(i), max(l.title(i), l.ruler.columns-indent-between))
		}
		if used > start && used+between+width > l.ruler.columns {
			l.folds = append(l.folds, i)
			used, start = indent, indent
		}
		if l.left && i == len(l.widths)-1 {
			width = min(l.widths[i], max(width, l.ruler.columns-used-between))
		}
		l.widths[i] = width
		used += between + width
	}
}

// write writes the cells of a row, a line for each fold that has any.
func (l *layout) write(b *strings.Builder, cells []string, styles func(column int) (Style, bool)) {
	cells, more := l.wrapped(cells)
	first := 0
	for n := 0; n <= len(l.folds); n++ {
		end := len(cells)
		if n < len(l.folds) {
			end = l.folds[n]
		}
		line := l.line(cells, first, end, styles)
		switch {
		case line == "" && len(l.folds) > 0:
		case n > 0:
			b.WriteString(strings.Repeat(" ", indent) + line + "\n")
		default:
			b.WriteString(line + "\n")
		}
		first = end
	}
	for _, line := range more {
		b.WriteString(strings.Repeat(" ", l.start()) + line + "\n")
	}
}

// maxLines is how many lines a text takes, or some more if its words are long.
const maxLines = 4

// wrapped returns cells with the first line of the last one, and the other lines.
func (l *layout) wrapped(cells []string) (first, more []string) {
	last := len(cells) - 1
	width := 0
	if last >= 0 {
		width = l.widths[last]
	}
	if !l.wraps || width < minLong || l.ruler.Width(cells[last]) <= width {
		return cells, nil
	}
	lines := wrap(l.ruler.Cut(cells[last], maxLines*width), width, l.ruler.Width)
	for i, line := range lines {
		lines[i] = l.ruler.Cut(line, width)
	}
	cells = slices.Clone(cells)
	cells[last] = lines[0]
	return cells, lines[1:]
}

// start returns where the last column begins.
func (l *layout) start() int {
	first, start := 0, between
	if n := len(l.folds); n > 0 {
		first, start = l.folds[n-1], between+indent
	}
	for i := first; i < len(l.widths)-1; i++ {
		if !l.out[i] {
			start += between + l.widths[i]
		}
	}
	return start
}

// titles is the styles of a line of titles.
func titles(int) (Style, bool) { return Title, true }

// rows is the styles of other lines: columns without a title have shares.
func (l *layout) rows(column int) (Style, bool) { return Share, column > 0 && l.title(column) == 0 }

// line returns some of the cells of a row.
func (l *layout) line(cells []string, first, end int, styles func(column int) (Style, bool)) string {
	var line strings.Builder
	for i := first; i < end; i++ {
		if l.out[i] {
			continue
		}
		c := l.ruler.Cut(cells[i], l.widths[i])
		pad := strings.Repeat(" ", max(0, l.widths[i]-l.ruler.Width(c)))
		if l.left && i == len(cells)-1 {
			pad = ""
		}
		if style, ok := styles(i); ok && c != "" {
			c = l.ruler.Style(c, style)
		}
		if i == 0 && l.name {
			pad, c = "", c+pad
		}
		line.WriteString("  " + pad + c)
	}
	return strings.TrimRight(line.String(), " ")
}

// leftOut returns the titles of the columns that are left out, and of which column each is.
func (l *layout) leftOut(t *Table) []string {
	var titles []string
	for i, out := range l.out {
		switch {
		case !out || t.attached[i]:
		case t.head[i] == "":
			titles = append(titles, "share of "+t.head[max(0, i-1)])
		default:
			titles = append(titles, t.head[i])
		}
	}
	return titles
}
