package proxy

import (
	"fmt"
	"strings"
)

// quote returns a string of C with the bytes of text. What is not printable is written in octal,
// and so are question marks, which could make a trigraph.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~' || c == '?':
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// maxComment is the most bytes of a text in a comment.
const maxComment = 100

// comment returns a comment of C with text, in which all bytes that could end it or mean
// something else are replaced.
func comment(text string) string {
	var b strings.Builder
	b.WriteString("/* ")
	for i := range min(len(text), maxComment) {
		switch c := text[i]; {
		case c < ' ' || c > '~' || c == '?' || c == '\\' || c == '*':
			b.WriteByte('_')
		case c == '/' && i > 0 && text[i-1] == '/':
			b.WriteByte('_')
		default:
			b.WriteByte(c)
		}
	}
	b.WriteString(" */")
	return b.String()
}

// identifier returns a name in C made of text: lower case, letters, digits and underscores.
func identifier(text string) string {
	var b strings.Builder
	for i := range min(len(text), maxComment) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			b.WriteByte(c)
		case c >= 'A' && c <= 'Z':
			b.WriteByte(c + 'a' - 'A')
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}
