package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// TestEscapedJSON checks that JSON has only what is printed, and says the same.
func TestEscapedJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []string
		for _, s := range rapid.SliceOf(
			rapid.SliceOf(rapid.SampledFrom(
				[]rune("aä\"\\\n\x00\x1b\x7f\u0085\u200e\u202e\u2028\u2067\U000e0041\U0001f600")))).Draw(t, "texts") {
			list = append(list, string(s))
		}
		var out bytes.Buffer
		if err := PrintJSON(&out, list); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexFunc(out.String(), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
			t.Fatalf("%q has %q", out.String(), out.String()[i:])
		}
		var got []string
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(list) {
			t.Fatalf("%q, want %q", got, list)
		}
		for i := range got {
			if got[i] != list[i] {
				t.Errorf("%q, want %q", got[i], list[i])
			}
		}
	})
}
