package report

import "github.com/reprise-trace/reprise/internal/text"

// maxText is how long a text of the trace may be on the page, in characters.
const maxText = 400

// printable returns a text of the trace as it is or, if it has characters that cannot
// be seen, quoted, and cut off if it is long.
func printable(s string) string {
	return text.Cut(text.Printable(s[:min(len(s), 4*maxText)]), maxText+1)
}
