package csv

import (
	reader "encoding/csv"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestFormulaProperty checks that no field of a text begins as a formula, whatever separates fields, and that
// the text comes back.
func TestFormulaProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("=+-@'−＝;\t\n\r, \"a1.e\u00a0"))).Draw(t, "text")
		all, err := reader.NewReader(strings.NewReader(string(appendText(nil, text)) + "\n")).ReadAll()
		if text != "" && err != nil {
			t.Fatal(err)
		}
		got := withoutFormulas(text)
		if len(all) == 1 && all[0][0] != strings.ReplaceAll(got, "\r\n", "\n") {
			t.Fatalf("%q is read as %q", got, all)
		}
		if !regexp.MustCompile(`^[+-]?[0-9.]+(e[+-]?[0-9]+)?$`).MatchString(got) {
			if place := regexp.MustCompile(`(?:^|[;\t\r\n])[ \x{a0}]*[=+@−＝-]`).FindString(got); place != "" {
				t.Fatalf("%q has a formula: %q", got, place)
			}
		}
		if back := regexp.MustCompile(`(^|[;\t\r\n])'`).ReplaceAllString(got, "$1"); back != text {
			t.Fatalf("%q comes back from %q as %q", text, got, back)
		}
	})
}
