package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"github.com/dustin/go-humanize"
)

// comma returns n with commas between its thousands, marked if it is saturated.
func comma(n uint64) string {
	text := humanize.BigComma(new(big.Int).SetUint64(n))
	if saturated(n) {
		return atLeast(text)
	}
	return text
}

// tooLarge is what the help of a command says of numbers that are saturated.
const tooLarge = `A sum of more than 64 bits is shown as ≥ 18,446,744,073,709,551,615, without
shares or a mean, and is 18446744073709551615 in --json.`

// saturated reports whether n is the number that stands for all that are larger, too.
func saturated(n uint64) bool { return n == math.MaxUint64 }

// atLeast returns a number as text, marked as one that may be larger.
func atLeast(text string) string { return "≥ " + strings.TrimPrefix(text, "≥ ") }

// percent returns how much of the whole a part is, nothing if there is no whole or one
// of them is saturated.
func percent(part, whole uint64) string {
	if whole == 0 || saturated(whole) || saturated(part) {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

// plural returns a number of things, such as 1 rank or 2 ranks.
func plural(n uint64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return comma(n) + " " + thing + "s"
}

// ratio returns how many times smaller than text a size is.
func ratio(text, size uint64) string {
	if text == 0 || size == 0 {
		return "-"
	}
	r := float64(text) / float64(size)
	if r < 100 {
		return fmt.Sprintf("%.1f:1", r)
	}
	return comma(uint64(min(r, 1<<63))) + ":1"
}

// printable returns s, which comes from a file, as it is or, if a terminal might
// take it for more than text, quoted.
func printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return strconv.Quote(s)
	}
	return s
}

// printJSON prints v as indented JSON.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
