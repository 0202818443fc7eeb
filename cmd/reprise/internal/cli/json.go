package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
)

// PrintJSON prints v as indented JSON.
func PrintJSON(w io.Writer, v any) error {
	e := NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// NewEncoder returns an encoder of JSON that a terminal can take: a character that is not printed, as one
// that turns the direction of writing, is written as \u and its number, which is the same to whoever reads
// it.
func NewEncoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(escaper{w})
	e.SetEscapeHTML(false)
	return e
}

// An escaper escapes characters of JSON that are not printed. Each Write has whole ones.
type escaper struct{ w io.Writer }

func (e escaper) Write(p []byte) (int, error) {
	var escaped []byte
	from := 0 // of what is as it is
	for i, r := range string(p) {
		if r < 0x7f || unicode.IsPrint(r) { // those below a space are escaped, or are between values
			continue
		}
		escaped = append(escaped, p[from:i]...)
		for _, u := range utf16.Encode([]rune{r}) {
			escaped = fmt.Appendf(escaped, "\\u%04x", u)
		}
		from = i + len(string(r))
	}
	if from > 0 {
		if _, err := e.w.Write(append(escaped, p[from:]...)); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	return e.w.Write(p)
}
