package main

import (
	"fmt"
	"math"

	"github.com/dustin/go-humanize"
)

// durationText returns nanoseconds with three digits and a unit, such as 1.25 ms.
func durationText(ns float64) string {
	if ns < 0 {
		return "-" + durationText(-ns)
	}
	unit := "s"
	for _, u := range []string{"ns", "µs", "ms"} {
		if ns < 999.5 {
			unit = u
			break
		}
		ns /= 1000
	}
	if unit == "ns" && ns == math.Trunc(ns) {
		return fmt.Sprintf("%.0f ns", ns)
	}
	return digits3(ns) + " " + unit
}

// digits3 returns a number that is not negative with three digits, more if it is
// larger.
func digits3(v float64) string {
	switch {
	case v >= 99.95:
		return humanize.CommafWithDigits(math.Round(v), 0)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// bytesText returns a number of bytes with three digits and a unit, such as 1.25 MB.
// It is exact below 1000.
func bytesText(n uint64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	v := float64(n)
	for _, unit := range []string{"B", "kB", "MB", "GB", "TB", "PB"} {
		if v < 999.5 {
			return digits3(v) + " " + unit
		}
		v /= 1000
	}
	return digits3(v) + " EB"
}
