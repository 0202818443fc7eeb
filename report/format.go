package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Numbers are written here as by format.js, which a test compares.

// significant writes a number with three digits, or more in front of the point.
func significant(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// scaled returns a number in the largest of the units, each 1000 times the one before,
// of which it is at least one.
func scaled(v float64, units ...string) (float64, string) {
	i := 0
	for ; i < len(units)-1 && math.Abs(v) >= 999.5; i++ {
		v /= 1000
	}
	return v, units[i]
}

// duration writes nanoseconds.
func duration(ns float64) string {
	sign := ""
	if ns < 0 {
		sign, ns = "−", -ns
	}
	v, unit := scaled(ns, "ns", "µs", "ms", "s")
	switch {
	case unit == "ns" && v < 10 && v != math.Round(v):
		return fmt.Sprintf("%s%.1f ns", sign, v)
	case unit == "ns":
		return fmt.Sprintf("%s%.0f ns", sign, v)
	case v >= 1000:
		return sign + count(uint64(math.Round(v))) + " " + unit
	}
	return sign + significant(v) + " " + unit
}

// size writes a number of bytes.
func size(n float64) string {
	v, unit := scaled(n, "B", "kB", "MB", "GB", "TB", "PB", "EB")
	if unit == "B" {
		return count(uint64(v)) + " B"
	}
	return significant(v) + " " + unit
}

// count writes a number with commas between its thousands.
func count(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// plural writes a number of things, such as 1 rank or 2 ranks.
func plural(n uint64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return count(n) + " " + thing + "s"
}

// percent writes how much of the whole a part is.
func percent(part, whole float64) string {
	if whole <= 0 {
		return ""
	}
	if part > 0 && part < whole/2000 {
		return "< 0.1 %"
	}
	return fmt.Sprintf("%.1f %%", 100*part/whole)
}

// maxText is how long a text of the trace may be on the page, in characters.
const maxText = 400

// printable returns a text of the trace as it is or, if it has characters that cannot
// be seen, quoted, and cut off if it is long.
func printable(s string) string {
	cut := false
	if len(s) > 4*maxText {
		s, cut = s[:4*maxText], true
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		s = strconv.Quote(s)
	}
	if r := []rune(s); len(r) > maxText {
		s, cut = string(r[:maxText]), true
	}
	if cut {
		return s + "…"
	}
	return s
}
