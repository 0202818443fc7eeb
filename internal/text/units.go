// Package text writes numbers with their units and tables, as the
// command and the report show them: one way for each, so that a reader learns
// it once.
package text

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
)

// A number is what shares are computed of.
type number interface {
	~int | ~int64 | ~uint64 | ~float64
}

// Saturated reports whether n is the number that stands for all larger ones, too.
func Saturated(n uint64) bool { return n == math.MaxUint64 }

// AtLeast marks the text of a number as a lower bound.
func AtLeast(text string) string { return "≥ " + strings.TrimPrefix(text, "≥ ") }

// Count writes a number with commas between its thousands, marked if it is
// saturated.
func Count[N ~int | ~int64 | ~uint64](n N) string {
	if n < 0 {
		return "-" + commas(strconv.FormatUint(-uint64(n), 10))
	}
	text := commas(strconv.FormatUint(uint64(n), 10))
	if Saturated(uint64(n)) {
		return AtLeast(text)
	}
	return text
}

// commas puts commas between the thousands of digits.
func commas(digits string) string {
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// Plural writes a number of things, such as 1 rank or 2 ranks.
func Plural[N ~int | ~int64 | ~uint64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Count(n) + " " + thing + "s"
}

// Shapes writes a number of shapes, and how many programs they are if there are several shapes and
// that is known.
func Shapes(shapes, programs int) string {
	if shapes < 2 || programs == 0 {
		return Plural(shapes, "shape")
	}
	return Plural(shapes, "shape") + " of " + Plural(programs, "program")
}

// Percent writes the share of a part in the whole: nothing if there is no whole,
// or if one of the two is saturated or not finite.
func Percent[N number](part, whole N) string {
	p, w := float64(part), float64(whole)
	switch {
	case whole <= 0 || isSaturated(part) || isSaturated(whole) || math.IsInf(p, 0) || math.IsInf(w, 0):
		return ""
	case part > 0 && p < w/2000:
		return "< 0.1 %"
	}
	return fmt.Sprintf("%.1f %%", 100*p/w)
}

// maxShareError is the error from which on a share is not written: then it is anywhere in half of what it can be.
const maxShareError = 0.25

// Efficiency writes a share as per cent, and how far it may be off unless that is less than its digits tell, such as
// 97 % ± 2 %: ≈ 97 % if that is not known, which is +Inf, and a dash if it is more than a quarter of the whole.
func Efficiency(share, off float64) string {
	digits, unit := 0, 100.0
	switch {
	case math.IsInf(off, 1):
		return fmt.Sprintf("≈ %.0f %%", 100*share)
	case off > maxShareError:
		return "-"
	case off < 0.0005:
		return Percent(share, 1)
	case off < 0.01:
		digits, unit = 1, 1000
	}
	written := math.Round(share*unit) / unit
	off = math.Ceil((off+math.Abs(written-share))*unit-1e-9) / unit // of what is written
	return fmt.Sprintf("%.*f %% ± %.*f %%", digits, 100*written, digits, 100*off)
}

// Change writes how much more b is than a, in per cent of a and with its sign: nothing if a is nothing, or if one
// of the two is saturated or not finite.
func Change[N number](a, b N) string {
	x, y := float64(a), float64(b)
	if a <= 0 || isSaturated(a) || isSaturated(b) || math.IsInf(x, 0) || math.IsInf(y, 0) {
		return ""
	}
	change := 100 * (y - x) / x
	switch {
	case a == b:
		return "0 %"
	case math.Abs(change) < 0.05:
		return "< 0.1 %"
	case math.Abs(change) >= 1000:
		return fmt.Sprintf("%+.0f %%", change)
	}
	return fmt.Sprintf("%+.1f %%", change)
}

func isSaturated[N number](n N) bool {
	u, ok := any(n).(uint64)
	return ok && Saturated(u)
}

// Ratio writes how many times smaller than a text a size is: a dash if one of
// them is nothing, or the text is saturated.
func Ratio(text, size uint64) string {
	if text == 0 || size == 0 || Saturated(text) {
		return "-"
	}
	return ThreeDigits(float64(text)/float64(size)) + ":1"
}

// ThreeDigits writes a number that is not negative with three digits, or with all that
// stand before the point.
func ThreeDigits(v float64) string {
	switch {
	case v >= 99.95:
		return commas(strconv.FormatFloat(v, 'f', 0, 64))
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// Duration writes nanoseconds with three digits and a unit, such as 1.25 ms: a
// dash if they are infinite, which stands for a time that is not known.
func Duration[N ~int64 | ~float64](ns N) string {
	v, sign := float64(ns), ""
	if v < 0 {
		v, sign = -v, "-"
	}
	if math.IsInf(v, 0) {
		return "-"
	}
	unit := "s"
	for _, u := range []string{"ns", "µs", "ms"} {
		if v < 999.5 {
			unit = u
			break
		}
		v /= 1000
	}
	if unit == "ns" && v == math.Trunc(v) {
		return fmt.Sprintf("%s%.0f ns", sign, v)
	}
	return sign + ThreeDigits(v) + " " + unit
}

// Around writes nanoseconds like Duration, and how far they may be off if that is more than 1/20
// of them, such as 1.74 s ± 212 ms: ≤ 212 ms if they are 0, and ≈ 1.74 s if it is not known.
func Around[N ~int64 | ~float64](ns, off N) string { return around(ns, off, 1.0/20) }

// Within is Around, but writes also smaller errors, if they change one of the digits.
func Within[N ~int64 | ~float64](ns, off N) string { return around(ns, off, 1.0/2000) }

// around writes an error that is more than a share.
func around[N ~int64 | ~float64](ns, off N, share float64) string {
	switch {
	case math.IsInf(float64(ns), 0) || float64(off) <= float64(ns)*share:
		return Duration(ns)
	case math.IsInf(float64(off), 0):
		return "≈ " + Duration(ns)
	case ns == 0:
		return "≤ " + Duration(off)
	}
	return Duration(ns) + " ± " + Duration(off)
}

// Bytes writes a number of bytes with three digits and a unit, such as 1.25 MB. It
// is exact below 1000, and marked if it is saturated.
func Bytes[N ~int64 | ~uint64](n N) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n)/1000, "kB"
	for _, larger := range []string{"MB", "GB", "TB", "PB", "EB"} {
		if v < 999.5 {
			break
		}
		v, unit = v/1000, larger
	}
	text := ThreeDigits(v) + " " + unit
	if Saturated(uint64(n)) {
		return AtLeast(text)
	}
	return text
}

// Error writes how far values may be from what they were.
func Error(g timing.Guarantee) string {
	if g == timing.Exact {
		return "exact"
	}
	return fmt.Sprintf("at most %.4g %% off", 100*float64(g))
}

// maxList is the length of the longest list of ranks that is written whole.
const maxList = 200

// Ranks names the ranks of a set: rank 7, or ranks 3-5, 8-14:2. A list that is
// long is cut off.
func Ranks(set rankenc.Set) string {
	if set.Len() == 1 {
		return "rank " + set.String()
	}
	return "ranks " + set.Abbreviated(maxList)
}

// CutList returns a list that is separated by commas, cut off after an element if
// it is longer than most bytes.
func CutList(list string, most int) string {
	if len(list) <= most {
		return list
	}
	if end := strings.LastIndex(list[:most], ", "); end >= 0 {
		most = end + len(", ")
	}
	return list[:most] + "…"
}

// Printable returns a text of a file as it is or, if a terminal or a browser might
// take it for more than text, quoted.
func Printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
		return strconv.Quote(s)
	}
	return s
}

// Escape returns a text of lines without what a terminal might take for more than text: each such character
// is written as in a string of Go. Lines behind the first are indented, as one may come from a name that has
// it: it is not to look like one of ours.
func Escape(s string) string {
	odd := func(r rune) bool {
		return !unicode.IsPrint(r) && r != '\n' && r != '\t' || r == unicode.ReplacementChar
	}
	s = strings.ReplaceAll(s, "\n", "\n  ")
	if !strings.ContainsFunc(s, odd) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if odd(r) {
			quoted := strconv.Quote(s[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// Cut returns a text with at most so many characters, the last being … if it was
// longer.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// KnownBytes writes the bytes of messages, of some of which the size is unknown.
func KnownBytes(bytes, unknown, messages uint64) string {
	switch unknown {
	case 0:
		return Bytes(bytes)
	case messages:
		return "unknown"
	}
	return AtLeast(Bytes(bytes))
}
