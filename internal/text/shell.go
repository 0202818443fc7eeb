package text

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plainWord matches words that no shell takes for more.
var plainWord = regexp.MustCompile(`^[\pL\pN_./+:@%,-][\pL\pN_./+:@%=,~-]*$`)

// Shell returns a word as a shell takes it, in quotes if need be: of the form of bash if there is in it what
// a terminal might take for more than text. In no shell does any of it run.
func Shell(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	if Printable(word) == word {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for len(word) > 0 {
		r, n := utf8.DecodeRuneInString(word)
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case unicode.IsPrint(r) && r != unicode.ReplacementChar && r != '\'': // which would end the quotes of other shells
			b.WriteString(word[:n])
		default:
			for _, c := range []byte(word[:n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		}
		word = word[n:]
	}
	return "$'" + b.String() + "'"
}

// ShellFile returns the name of a file as a shell, and a command as a name, take it.
func ShellFile(name string) string {
	if strings.HasPrefix(name, "-") && name != "-" {
		name = "./" + name
	}
	return Shell(name)
}

// Quoted returns a text in quotes as [Shell] has it, for sentences that somebody may paste with the commands
// beside them.
func Quoted(s string) string {
	if word := Shell(s); word != s {
		return word
	}
	return "'" + s + "'"
}

// ShellLine returns the words of a command as a shell takes them.
func ShellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = Shell(word)
	}
	return strings.Join(quoted, " ")
}
