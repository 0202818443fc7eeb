package main

import (
	"encoding/json"
	"io"
	"math"
	"text/tabwriter"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/timing"
)

// tooLarge is what the help of a command says of numbers that are saturated.
const tooLarge = `A sum of more than 64 bits is shown as ≥ 18,446,744,073,709,551,615, without
shares or a mean, and is 18446744073709551615 in --json.`

// printJSON prints v as indented JSON.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
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
func (n nanoseconds) String() string { return text.Duration(n) }

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

// newTable returns a writer of tables, with columns on the right.
func newTable(w io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
}

// cutName returns a name that stands among others in a line, cut off on a terminal if it
// is long.
func cutName(w io.Writer, name string) string {
	const most = 80
	if width := text.Columns(w); width > 0 {
		return text.Cut(name, min(width, most))
	}
	return name
}
