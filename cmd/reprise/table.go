package main

import (
	"bytes"
	"io"
	"os"
	"text/tabwriter"
	"unicode/utf8"

	"golang.org/x/term"
)

// columns returns how many columns the terminal has that is written to, or 0 if it is
// none.
func columns(w io.Writer) int {
	o, ok := w.(*output)
	if !ok {
		return 0
	}
	f, ok := o.w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// newTable returns a writer of tables, with columns on the right but for the last, a text
// behind a tab and two spaces. An empty line ends a table. On a terminal, lines are cut
// off at its width; in files and pipes they are whole.
func newTable(w io.Writer) *tabwriter.Writer {
	if width := columns(w); width > 0 {
		w = &lineCutter{w: w, width: width}
	}
	return tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
}

// minText is how many columns of the last column of a table are shown on a terminal that
// has no room for them.
const minText = 40

// A lineCutter cuts the lines of tables.
type lineCutter struct {
	w     io.Writer
	width int
	text  int    // where the last column begins; 0 before the first line of a table
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
		c.line = append(c.line, p[:end]...)
		if _, err := c.w.Write(append(c.cut(c.line), '\n')); err != nil {
			return 0, err
		}
		c.line, p = c.line[:0], p[end+1:]
	}
}

// cut cuts a line off.
func (c *lineCutter) cut(line []byte) []byte {
	switch {
	case len(line) == 0:
		c.text = 0
	case c.text == 0:
		c.text = utf8.RuneCount(line[:bytes.LastIndex(line, []byte("  "))+1]) + 1
	}
	return cutRunes(line, max(c.width, c.text+minText))
}

// cutRunes cuts a text off that has more runes than most.
func cutRunes(text []byte, most int) []byte {
	if utf8.RuneCount(text) <= most {
		return text
	}
	end := 0
	for range most - 1 {
		_, size := utf8.DecodeRune(text[end:])
		end += size
	}
	return append(text[:end:end], "…"...)
}

// cutName returns a name that stands among others in a line, cut off on a terminal if it
// is long.
func cutName(w io.Writer, name string) string {
	const most = 80
	if width := columns(w); width > 0 {
		return string(cutRunes([]byte(name), min(width, most)))
	}
	return name
}
