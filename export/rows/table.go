package rows

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/semantics"
)

// By says what a row of a table is.
type By uint8

// What rows are.
const (
	Calls      By = iota // a call
	Signatures           // the equal calls of a rank
)

// An Interval is a span of time, in nanoseconds, by the clock of a trace.
type Interval struct{ From, To int64 }

// Options configures [New]. The zero Options is the default configuration.
type Options struct {
	By By

	// Ranks are those whose calls are wanted. None means all.
	Ranks rankenc.Set

	// Between leaves out calls that are not in it, as [query.Overlaps] has it, of ranks
	// that have times. Nil means no limit.
	Between *Interval

	// Columns are the names of the columns that are wanted, in that order. None means
	// all.
	Columns []string

	// Lost is called with a rank that cannot be read, which is left out, or whose times
	// cannot: they are then estimates, or missing, and with Between the rank is left
	// out. An error that it returns ends the rows. Nil means to end them with the error.
	Lost func(rank int, times bool, err error) error
}

// A Table is a trace as a table. Its methods may be called from several goroutines at
// once.
type Table struct {
	trace   *reprise.Trace
	options Options
	model   *semantics.Model
	times   *query.Times // nil if the trace has none
	series  bool         // whether it has the times of every call of a rank
	means   string       // what it has else: statistics, histograms or nothing
	all     *summaries   // nil if it has none, or they are not wanted
	printer *reprise.Printer
	columns []*Column
	places  []places // by function, of the arguments that have columns
	free    chan *Group
}

// New returns the table of a trace.
func New(ctx context.Context, trace *reprise.Trace, o Options) (*Table, error) {
	t := &Table{trace: trace, options: o, printer: trace.Printer(reprise.PrintOptions{}), free: make(chan *Group, 4)}
	var err error
	if t.model, err = semantics.Open(ctx, trace); err != nil {
		return nil, err
	}
	if err := t.openTimes(); err != nil {
		return nil, err
	}
	t.columns = t.allColumns()
	if len(o.Columns) > 0 {
		t.columns, err = choose(t.columns, o.Columns)
	}
	return t, err
}

// openTimes finds out which times the trace has.
func (t *Table) openTimes() error {
	durations, gaps, err := t.trace.Merged().Summaries()
	if err != nil {
		return err
	}
	ranks, _, err := t.trace.Merged().SeriesRanks()
	if err != nil {
		return err
	}
	t.series = ranks.Len() > 0
	if durations.IsZero() && gaps.IsZero() && !t.series {
		return nil
	}
	switch {
	case durations.Histograms != nil || gaps.Histograms != nil:
		t.means = query.Histograms.String()
	case !durations.IsZero() || !gaps.IsZero():
		t.means = query.Statistics.String()
	}
	if t.times, err = query.OpenTimes(t.trace); err != nil {
		return err
	}
	if t.options.By == Signatures && !(durations.IsZero() && gaps.IsZero()) {
		t.all = newSummaries([2]merge.Summary{durations, gaps}, t.trace.Merged().Signatures())
	}
	return nil
}

// Columns returns the columns. They must not be changed.
func (t *Table) Columns() []*Column { return slices.Clip(t.columns) }

// Trace returns the trace.
func (t *Table) Trace() *reprise.Trace { return t.trace }

// By returns what a row is.
func (t *Table) By() By { return t.options.By }

// Estimated returns what the times of calls are estimated from, statistics or
// histograms; nothing if the trace has those of every call, or none.
func (t *Table) Estimated() string {
	if t.series {
		return ""
	}
	return t.means
}

// A ColumnError is the error of a name of a column that is not there, or given twice.
type ColumnError struct {
	Name  string
	Twice bool
	Known []string // all columns
}

func (e *ColumnError) Error() string {
	if e.Twice {
		return fmt.Sprintf("rows: column %s is named twice", e.Name)
	}
	known := strings.Join(e.Known, ", ")
	if len(known) > maxKnown {
		known = known[:maxKnown] + "…"
	}
	return fmt.Sprintf("rows: there is no column %q, but %s", e.Name, known)
}

// maxKnown is how many bytes of the names of columns an error has.
const maxKnown = 400

// choose returns the columns with some names.
func choose(all []*Column, wanted []string) ([]*Column, error) {
	known := make([]string, len(all))
	for i, c := range all {
		known[i] = c.Name
	}
	chosen := make([]*Column, 0, len(wanted))
	for _, name := range wanted {
		i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, name) })
		if i < 0 || slices.Contains(chosen, all[i]) {
			return nil, &ColumnError{Name: name, Twice: i >= 0, Known: known}
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
