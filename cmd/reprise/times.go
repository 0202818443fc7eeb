package main

import (
	"fmt"

	"github.com/reprise-trace/reprise"
)

// isTimed reports whether a trace has the times of every call of some rank.
func isTimed(trace *reprise.Trace) (bool, error) {
	ranks, _, err := trace.Merged().SeriesRanks()
	return ranks.Len() > 0, err
}

// appendTime appends the start and the duration of a call, in seconds, each with a
// tab.
func appendTime(dst []byte, c reprise.Call) []byte {
	if !c.Timed {
		return append(dst, "-\t-\t"...)
	}
	dst = append(appendSeconds(dst, c.Start), '\t')
	return append(appendSeconds(dst, c.Duration), '\t')
}

// appendSeconds appends nanoseconds as seconds.
func appendSeconds(dst []byte, ns int64) []byte {
	n := uint64(ns)
	if ns < 0 {
		n = -n
		dst = append(dst, '-')
	}
	return fmt.Appendf(dst, "%d.%09d", n/1e9, n%1e9)
}
