// Package export says which calls of a trace are written for other programs. The packages
// below write them, all by the same [Options]:
//
//	chrome     Trace Event JSON, for Perfetto, about:tracing and Speedscope
//	perfetto   the binary traces of Perfetto
//	paraver    timelines for Paraver
//	otf2       archives for Vampir, Scalasca and what else reads OTF2
//	pprof      profiles for go tool pprof
//	simgrid    actions that SimGrid replays
//	csv        a table as text, by [TableOptions]
//	parquet    the same table for DuckDB, pandas, Polars and Spark
package export

import (
	"fmt"
	"strings"

	"github.com/reprise-trace/reprise/rankenc"
)

// Options choose calls of a trace. The zero Options chooses all.
type Options struct {
	// Ranks are the ranks to take. Nil means all.
	Ranks *rankenc.Set

	// Between is when the calls are that are wanted. Nil means all calls.
	Between *Interval

	// Progress is called, from time to time and at the end, with the number of calls that
	// were taken so far, or of rows. An error that it returns ends the work. Nil means none.
	Progress func(done uint64) error
}

// An Interval is a stretch of time in nanoseconds since the run began: that of the calls
// between From and To, as [query.Overlaps] has it, by the times that the trace tells.
//
// [query.Overlaps]: https://pkg.go.dev/github.com/reprise-trace/reprise/query#Overlaps
type Interval struct{ From, To int64 }

// TableOptions choose the rows and columns of a table. The zero TableOptions chooses all
// columns and a row for each call.
type TableOptions struct {
	Options
	By By

	// Columns are the names of the columns that are wanted, in that order. None means all.
	Columns []string
}

// By says what a row of a table is.
type By uint8

// What rows are.
const (
	Calls      By = iota // a call
	Signatures           // the equal calls of a rank
	Messages             // a message, of which both ends are known
)

// A ColumnError is the error of a name of a column that is not there, or given twice.
type ColumnError struct {
	Name  string
	Twice bool
	Known []string // all columns
}

func (e *ColumnError) Error() string {
	if e.Twice {
		return fmt.Sprintf("column %s is named twice", e.Name)
	}
	known := strings.Join(e.Known, ", ")
	if len(known) > maxKnown {
		known = known[:maxKnown] + "…"
	}
	return fmt.Sprintf("there is no column %q, but %s", e.Name, known)
}

// maxKnown is how many bytes of the names of columns an error has.
const maxKnown = 400
