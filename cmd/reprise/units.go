package main

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/dustin/go-humanize"

	"github.com/reprise-trace/reprise/timing"
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

// Nanoseconds are a time, infinite if it is that of more calls than can be told apart.
type nanoseconds float64

// timeOf returns a time that comes from statistics.
func timeOf(s *timing.Statistics, ns float64) nanoseconds {
	if s.Count == math.MaxInt64 {
		return nanoseconds(math.Inf(1))
	}
	return nanoseconds(ns)
}

func (n nanoseconds) known() bool { return !math.IsInf(float64(n), 1) }

// String returns n as durationText does, or - if it is not known.
func (n nanoseconds) String() string {
	if !n.known() {
		return "-"
	}
	return durationText(float64(n))
}

// share returns how much of the whole n is, nothing if that is not known.
func (n nanoseconds) share(whole nanoseconds) string {
	if !n.known() || !whole.known() || whole == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n/whole))
}

// milliseconds and microseconds return n as these, to three digits after the point.
func (n nanoseconds) milliseconds() string { return (n / 1e3).microseconds() }

func (n nanoseconds) microseconds() string {
	if !n.known() {
		return "-"
	}
	return thousandths(wholeText(float64(n)))
}

// MarshalJSON writes null if n is not known.
func (n nanoseconds) MarshalJSON() ([]byte, error) {
	if !n.known() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *nanoseconds) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = nanoseconds(math.Inf(1))
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
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
// It is exact below 1000, and marked if it is saturated.
func bytesText(n uint64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case saturated(n):
		return atLeast(digits3(float64(n)/1e18) + " EB")
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
