package merge_test

import (
	"math"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// What is written is read with package trace.
type (
	Trace = trace.Trace
	Form  = trace.FormCount
)

var (
	ErrCorrupt = format.ErrCorrupt
	ErrLimit   = format.ErrLimit
)

// Open opens a trace.
func Open(file *format.Reader) (*Trace, error) { return trace.OpenContainer(file, trace.Options{}) }

// argumentForms returns how the arguments of a trace are written.
func argumentForms(tr *Trace) []Form {
	arguments, _, _ := tr.Forms()
	return arguments
}

// columnForms returns how the columns of a trace are encoded.
func columnForms(tr *Trace) []Form {
	_, columns, _ := tr.Forms()
	return columns
}

// tableOf returns the table of the signatures of a trace, in a file.
func tableOf(t testing.TB, file []byte) *layout.Table {
	t.Helper()
	tr := open(t, file)
	var sets []rankenc.Set
	for number := range tr.Shapes() {
		sets = append(sets, tr.ShapeRanks(number))
	}
	_, lists, err := layout.ReadNames(container(t, file))
	if err != nil {
		t.Fatal(err)
	}
	var table *layout.Table
	err = layout.ReadSection(container(t, file), layout.KindSignatures, 0, func(data []byte) (err error) {
		table, err = layout.ParseTable(data, tr.Functions(), sets, tr.Ranks(), lists, math.MaxUint64)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// summariesOf returns what a trace has of times by signature.
func summariesOf(tr *Trace) (layout.Summaries, error) {
	durations, gaps, err := tr.Summaries()
	return layout.Summaries{durations, gaps}, err
}
