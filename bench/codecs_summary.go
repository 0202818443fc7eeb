package bench

import (
	"encoding"
	"fmt"
	"io"

	"github.com/reprise-trace/reprise/internal/recorded"
	"github.com/reprise-trace/reprise/timing"
)

// A summary is what is kept of the values of each signature where not each of
// them is.
type summary struct {
	name string

	// add returns what is kept of the values of a column, a summary for each
	// signature.
	add func(in column) []encoding.BinaryAppender
}

var summaries = []summary{{"statistics", addStatistics}}

func addStatistics(in column) []encoding.BinaryAppender {
	var (
		byTerminal []*timing.Statistics
		list       []encoding.BinaryAppender
	)
	for i, v := range in.values {
		t := int(in.terminals[i])
		for len(byTerminal) <= t {
			byTerminal = append(byTerminal, nil)
		}
		if byTerminal[t] == nil {
			byTerminal[t] = new(timing.Statistics)
			list = append(list, byTerminal[t])
		}
		byTerminal[t].Add(0, v)
	}
	return list
}

// summaryTable reports size and time of what is kept by signature.
func summaryTable(w io.Writer, ranks []*recorded.Rank) error {
	ranks, _ = longAndShort(ranks)
	fmt.Fprintf(w, "\n### Kept for each signature, of runs of 10,000 calls and more\n\nThere is no value for each call; a signature of a rank has so many bytes, however often it is called.\n\n| | column | values | signatures of ranks | B/signature | bytes/value | ns/value | range |\n|---|---|---|---|---|---|---|---|\n")
	var tasks []task
	for _, s := range summaries {
		for kind := range kinds[:2] {
			in := columns(ranks, kind)
			tasks = append(tasks, task{s.name, calls(ranks), func() {
				for _, c := range in {
					s.add(c)
				}
			}})
		}
	}
	results := measure(tasks)
	for i, s := range summaries {
		for kind, k := range kinds[:2] {
			signatures, size := 0, 0
			for _, c := range columns(ranks, kind) {
				for _, kept := range s.add(c) {
					data, err := kept.AppendBinary(nil)
					if err != nil {
						return err
					}
					signatures++
					size += len(data)
				}
			}
			fmt.Fprintf(w, "| %s | %s | %d | %d | %.1f | %.3f | %s |\n", s.name, k.name, calls(ranks), signatures,
				float64(size)/float64(max(signatures, 1)), float64(size)/float64(max(calls(ranks), 1)), results[2*i+kind].cells())
		}
	}
	return nil
}
