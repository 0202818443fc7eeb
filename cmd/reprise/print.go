package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"unicode"

	"github.com/dustin/go-humanize"
)

// comma returns n with commas between its thousands.
func comma(n uint64) string { return humanize.BigComma(new(big.Int).SetUint64(n)) }

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
