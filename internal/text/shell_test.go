package text

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// wordOf returns the word that a line is to a shell, or an error if it is anything else than one word in
// which nothing runs. In a shell that does not know $'…', such a word is another one, but nothing else.
func wordOf(line string, bash bool) (string, error) {
	var word strings.Builder
	for i := 0; i < len(line); {
		switch {
		case bash && strings.HasPrefix(line[i:], "$'"):
			end := i + 2
			for ; end < len(line) && line[end] != '\''; end++ {
				if line[end] == '\\' {
					end++
				}
			}
			if end >= len(line) {
				return "", fmt.Errorf("no end of $'")
			}
			text, err := strconv.Unquote(`"` + strings.ReplaceAll(line[i+2:end], `"`, `\"`) + `"`)
			if err != nil {
				return "", err
			}
			word.WriteString(text)
			i = end + 1
		case line[i] == '\'':
			n := strings.IndexByte(line[i+1:], '\'')
			if n < 0 {
				return "", fmt.Errorf("no end of '")
			}
			word.WriteString(line[i+1 : i+1+n])
			i += n + 2
		case line[i] == '\\' && i+1 < len(line):
			word.WriteByte(line[i+1])
			i += 2
		case line[i] == '$' && !bash && i == 0 && strings.HasPrefix(line, "$'"):
			i++
		case strings.ContainsRune("|&;<>()$`\"' \t\n*?[]#!{}^\\", rune(line[i])), i == 0 &&
			strings.ContainsRune("~=", rune(line[i])):
			return "", fmt.Errorf("%q at %d", line[i], i)
		default:
			word.WriteByte(line[i])
			i++
		}
	}
	return word.String(), nil
}

// TestShell checks that a word is one to bash, and that nothing in it runs in other shells.
func TestShell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(
			rapid.StringOf(rapid.RuneFrom([]rune("'\\$`;\n\r\t\x1b(){}|&<>\"!*?[]~=#-^ aé\u202e"))),
			rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		).Draw(t, "word")
		line := Shell(word)
		if got, err := wordOf(line, true); err != nil || got != word {
			t.Fatalf("%q is written %s, which is %q, %v", word, line, got, err)
		}
		if _, err := wordOf(line, false); err != nil {
			t.Fatalf("%q is written %s: %v", word, line, err)
		}
		if Escape(line) != line || strings.ContainsAny(line, "\n\t") {
			t.Fatalf("%q is written %q", word, line)
		}
	})
	for word, want := range map[string]string{"": "''", "-n": "-n", "~root": "'~root'", "a=~": "a=~",
		"=ls": "'=ls'", "it's": `'it'\''s'`, "'\n": `$'\x27\x0a'`} {
		if got := Shell(word); got != want {
			t.Errorf("%q is written %s, want %s", word, got, want)
		}
	}
	if got := ShellLine([]string{"mpirun", "-n", "2", "a b"}); got != "mpirun -n 2 'a b'" {
		t.Error(got)
	}
}
