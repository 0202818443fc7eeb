package text

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A Terminal is a writer that knows how wide its lines shall be, and how wide texts are.
type Terminal interface {
	io.Writer

	// Columns returns how many columns lines have, 0 if they have no end.
	Columns() int

	// Character returns the length in bytes of the first character of a text, as people
	// see characters, and how many columns it takes.
	Character(s string) (bytes, columns int)

	// Style returns a text with what shows it in a style, or as it is. That is of the form
	// ESC [ … m, and takes no columns.
	Style(s string, style Style) string
}

// A Style is what a text is, so that it may look different.
type Style int

// Styles.
const (
	Title   Style = iota // of a column
	Share                // of a number in the whole
	Aside                // what is said about an answer
	Warning              // the beginning of one
	Failure              // the beginning of an error
)

// A Ruler measures and cuts texts for the lines of a writer.
type Ruler struct {
	columns   int
	character func(s string) (bytes, columns int)
	style     func(s string, style Style) string
}

// RulerOf returns the ruler for what is written to w. Lines have no end unless w is a
// [Terminal].
func RulerOf(w io.Writer) Ruler {
	if t, ok := w.(Terminal); ok {
		return Ruler{t.Columns(), t.Character, t.Style}
	}
	return Ruler{0, func(s string) (int, int) {
		_, n := utf8.DecodeRuneInString(s)
		return n, 1
	}, func(s string, _ Style) string { return s }}
}

// Columns returns how many columns lines have, 0 if they have no end.
func (r Ruler) Columns() int { return r.columns }

// Style returns s as the terminal shows what has a style.
func (r Ruler) Style(s string, style Style) string { return r.style(s, style) }

// Width returns how many columns a text takes.
func (r Ruler) Width(s string) int {
	if isASCII(s) {
		return len(s)
	}
	width := 0
	for len(s) > 0 {
		n, columns := r.character(s)
		width, s = width+columns, s[n:]
	}
	return width
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf || s[i] < ' ' {
			return false
		}
	}
	return true
}

// Cut returns a text that takes at most so many columns: as it is, or with … for its middle. What stands
// behind is its end from its last comma on, such as the site of a call, or if there is no room for that and
// for the name of a call, the text in it, or the first word of this. Of a text without commas it is the last
// words.
func (r Ruler) Cut(s string, columns int) string {
	if r.Width(s) <= columns {
		return s
	}
	if columns < 1 {
		return ""
	}
	comma := strings.LastIndex(s, ", ")
	if comma < 0 {
		end := r.lastWords(s, (columns-1)/3)
		return r.withEnd(s, end, columns)
	}
	end, name := s[comma+len(", "):], r.Width(s[:strings.IndexByte(s, '(')+1])
	for _, short := range []func(string) string{valueOf, firstWord} {
		if w := r.Width(end); w > (columns-1)*2/3 || w > columns-1-name {
			end = short(end)
		}
	}
	if r.Width(end) > (columns-1)*2/3 {
		end = r.suffix(s, (columns-1)/3)
	}
	return r.withEnd(s, end, columns)
}

// withEnd returns the beginning of a text, …, and an end in so many columns.
func (r Ruler) withEnd(s, end string, columns int) string {
	return strings.TrimSuffix(r.prefix(s, columns-1-r.Width(end)), "…") + "…" + end
}

// valueOf returns an argument that is a text without its name.
func valueOf(argument string) string {
	if _, value, ok := strings.Cut(argument, `="`); ok {
		return value
	}
	return argument
}

// firstWord returns the first word of several.
func firstWord(s string) string {
	if word, _, several := strings.Cut(s, " "); several {
		return word + "…"
	}
	return s
}

// prefix returns the beginning of a text that takes at most so many columns.
func (r Ruler) prefix(s string, columns int) string {
	at := 0
	for at < len(s) {
		n, width := r.character(s[at:])
		if columns -= width; columns < 0 {
			break
		}
		at += n
	}
	return s[:at]
}

// suffix returns the end of a text that takes at most so many columns.
func (r Ruler) suffix(s string, columns int) string {
	width := r.Width(s)
	for width > columns {
		n, w := r.character(s)
		s, width = s[n:], width-w
	}
	return s
}

// lastWords returns the last words of a text that take at most so many columns, or the end of the
// last one.
func (r Ruler) lastWords(s string, columns int) string {
	end := r.suffix(s, columns)
	if strings.HasSuffix(s[:len(s)-len(end)], " ") {
		return end
	}
	if _, words, ok := strings.Cut(end, " "); ok && words != "" {
		return words
	}
	return end
}

// A Folder is a [Terminal] that breaks long lines between words. What follows on the next
// line is indented by two columns more than the line.
type Folder struct {
	w     *bufio.Writer
	ruler Ruler
	line  []byte // that has not ended
}

// NewFolder returns a Folder that writes to w, with its columns.
func NewFolder(w io.Writer) *Folder { return &Folder{w: bufio.NewWriter(w), ruler: RulerOf(w)} }

// Columns is that of the writer below.
func (f *Folder) Columns() int { return f.ruler.columns }

// Character is that of the writer below.
func (f *Folder) Character(s string) (bytes, columns int) { return f.ruler.character(s) }

// Style is that of the writer below.
func (f *Folder) Style(s string, style Style) string { return f.ruler.Style(s, style) }

func (f *Folder) Write(p []byte) (int, error) {
	if f.ruler.columns == 0 {
		return f.w.Write(p)
	}
	n := len(p)
	for {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			f.line = append(f.line, p...)
			return n, nil
		}
		f.line = append(f.line, p[:end]...)
		if err := f.fold(string(f.line)); err != nil {
			return 0, err
		}
		f.line, p = f.line[:0], p[end+1:]
	}
}

// Close writes what is left.
func (f *Folder) Close() error {
	f.w.Write(f.line) // whose error sticks
	f.line = nil
	return f.w.Flush()
}

// fold writes a line as one or more.
func (f *Folder) fold(line string) error {
	if f.width(line) > f.ruler.columns {
		line = strings.Join(wrap(line, f.ruler.columns, f.width), "\n")
	}
	f.w.WriteString(line)
	return f.w.WriteByte('\n')
}

// Lines breaks a text between words into lines of so many columns, as far as words are not longer. Those after
// the first are indented by two.
// A number and its unit stay together.
func Lines(s string, columns int) []string {
	lines := wrap(unit.ReplaceAllString(s, "$1\u00a0$2"), columns, utf8.RuneCountInString)
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "\u00a0", " ")
	}
	return lines
}

// unit is a space between a number and its unit.
var unit = regexp.MustCompile(`(\d) (%|[nµm]?s\b)`)

// wrap breaks a text between words into lines of so many columns: one, if it is indented by
// half of them or more. Those behind the first are indented by two columns more.
func wrap(text string, columns int, width func(string) int) []string {
	rest := strings.TrimLeft(text, " ")
	indent := len(text) - len(rest)
	if indent+2 > columns/2 {
		return []string{text}
	}
	var lines []string
	line, used := strings.Repeat(" ", indent), indent
	for i, word := range strings.Split(rest, " ") {
		w := width(word)
		switch {
		case i == 0:
		case used+1+w > columns:
			lines = append(lines, line)
			line, used = strings.Repeat(" ", indent+2), indent+2
		default:
			line, used = line+" ", used+1
		}
		line, used = line+word, used+w
	}
	return append(lines, line)
}

// escape is what shows a style.
var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// width returns how many columns a text takes that may have styles.
func (f *Folder) width(s string) int {
	if strings.Contains(s, "\x1b") {
		s = escape.ReplaceAllString(s, "")
	}
	return f.ruler.Width(s)
}
