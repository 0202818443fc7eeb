package proxy

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mutate"
)

var (
	stringLiteral = regexp.MustCompile(`^"(?:[ !#-\x5b\x5d-~]|\\"|\\\\|\\[0-7]{3})*"$`)
	aComment      = regexp.MustCompile(`^/\* [ -~]* \*/$`)
	aName         = regexp.MustCompile(`^[a-z0-9_]*$`)
)

// FuzzText writes texts of a trace as a string, a comment and a name: none of them ends before its
// end, or holds a trigraph or a new line.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", `"; system("x"); "`, "*/ int x; /*", "??/\"", "\\\n", "a\x00b", "//*/",
		"%s\r\n", "é"} {
		f.Add(s)
	}
	mutate.Fuzz(f, func(t *testing.T, s string) {
		q := quote(s)
		if !stringLiteral.MatchString(q) || strings.Contains(q, "??") {
			t.Errorf("%q is written as %s", s, q)
		}
		if back, err := strconv.Unquote(q); err != nil || back != s {
			t.Errorf("%s is %q, not %q: %v", q, back, s, err)
		}
		if c := comment(s); !aComment.MatchString(c) || strings.Contains(c[2:len(c)-2], "*") ||
			strings.ContainsAny(c, "?\\") {
			t.Errorf("%q is written as %s", s, c)
		}
		if name := identifier(s); !aName.MatchString(name) {
			t.Errorf("%q is named %s", s, name)
		}
	})
}
