package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/reprise-trace/reprise/internal/text"
)

// escapes are the styles of a terminal, by the numbers of ECMA-48.
var escapes = map[text.Style]string{text.Title: "1", text.Share: "36", text.Aside: "2", text.Warning: "33",
	text.Failure: "31"}

// coloured reports whether what is written to shows styles: a terminal that can, unless the
// environment has NO_COLOR (see no-color.org).
func coloured(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" {
		return false
	}
	name := os.Getenv("TERM")
	return name != "" && name != "dumb" && term.IsTerminal(int(f.Fd()))
}

// paint returns a text in a style.
func paint(s string, style text.Style) string {
	if s == "" {
		return s
	}
	return "\x1b[" + escapes[style] + "m" + s + "\x1b[0m"
}

// Notice writes a line about the work of reprise, the beginning of which has a style.
func Notice(w io.Writer, begin string, style text.Style, rest string) {
	if coloured(w) {
		begin = paint(begin, style)
	}
	beforeNotice()
	fmt.Fprintf(w, "%s %s\n", begin, text.Escape(rest))
}

// Warn writes a warning.
func Warn(stderr io.Writer, format string, args ...any) {
	Notice(stderr, "reprise: warning:", text.Warning, fmt.Sprintf(format, args...))
}
