package layout

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestWords(t *testing.T) {
	word := rapid.OneOf(rapid.SampledFrom([]string{"", "./app", "input", "500", "\x01"}), rapid.StringN(0, 4, 8))
	rapid.Check(t, func(t *rapid.T) {
		texts, lines := rapid.SliceOf(word).Draw(t, "texts"), []string(nil)
		for range rapid.IntRange(0, 3).Draw(t, "lines") {
			line := ""
			for i, w := range rapid.SliceOf(word).Draw(t, "words") {
				if i > 0 {
					line += " "
				}
				line += w
			}
			lines = append(lines, line)
		}
		packed, any := packWords(lines, texts)
		if !any {
			return
		}
		var got []string
		for _, line := range packed {
			line, ok := unpackWords(line, texts)
			if !ok {
				t.Fatalf("%q cannot be read", line)
			}
			got = append(got, line)
		}
		if !slices.Equal(got, lines) {
			t.Fatalf("%q became %q, by %q", lines, got, packed)
		}
	})
}
