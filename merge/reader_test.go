package merge_test

import (
	"math"
	"testing"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/rankenc"
)

// What is written is read with package reprise.
type (
	Trace = reprise.Trace
	Form  = reprise.FormCount
)

var (
	Open       = reprise.OpenContainer
	ErrCorrupt = reprise.ErrCorrupt
	ErrLimit   = reprise.ErrLimit
)

// tableOf returns the table of the signatures of a trace, in a file.
func tableOf(t testing.TB, file []byte) *layout.Table {
	t.Helper()
	trace := open(t, file)
	var sets []rankenc.Set
	for number := range trace.Shapes() {
		sets = append(sets, trace.ShapeRanks(number))
	}
	_, lists, err := layout.ReadNames(container(t, file))
	if err != nil {
		t.Fatal(err)
	}
	var table *layout.Table
	err = layout.ReadSection(container(t, file), layout.KindSignatures, 0, func(data []byte) (err error) {
		table, err = layout.ParseTable(data, trace.Functions(), sets, trace.Ranks(), lists, math.MaxUint64)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// summariesOf returns what a trace has of times by signature.
func summariesOf(trace *Trace) (layout.Summaries, error) {
	durations, gaps, err := trace.Summaries()
	return layout.Summaries{durations, gaps}, err
}
