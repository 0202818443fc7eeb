// Package rows gives the calls of a trace as the rows of a table with typed columns,
// for what writes tables: a row for each call, or one for each rank and signature.
//
// A [Table] says which columns there are, and [Table.Groups] yields the rows in
// portions of bounded size, rank by rank, each rank in the order of its calls. The
// calls of a rank are few different ones that repeat, so a [Group] has a code for each
// row, and most columns are functions of a code, [Column.Cell]: whoever writes the
// table works out what a cell is once for each code, not once for each row. What
// differs from row to row, the position and the times, are integers,
// [Column.AppendInts].
//
// # Columns
//
// Those of calls are
//
//	rank         int    number of the rank
//	position     int    of the call in the calls of the rank, from 0
//	start_ns     int    when the call began, by the clock of the trace, which may count
//	                    from 1970; see time_source
//	duration_ns  int    how long it took; both are missing if the trace has no times
//	time_source  text   what the times are known by: series for the times of the call
//	                    itself; statistics or histograms for an estimate from the
//	                    means of calls like it, as package query makes it
//	function     text   its name
//	call         text   the call as [reprise.Printer] writes it, with ranks relative to
//	                    the caller
//	signature    int    number of the signature of the trace: the same for calls that
//	                    are the same on all ranks, relative to these
//	thread       int    number of the thread, from 0
//
// then, if package semantics knows the functions, what the call means to others,
//
//	class         text  such as point-to-point
//	send_to       int   rank in the run of who the bytes go to
//	send_tag      int
//	send_bytes    int   of what is sent, put, or given to a collective operation
//	recv_from     int   rank in the run of who the bytes come from
//	recv_tag      int
//	recv_bytes    int   of what there is room for, is got, or comes of a collective operation
//	communicator  text  its name in the run, such as world
//	root          int   rank in the run of the root of a collective operation
//
// each missing where the call has no such thing, the trace does not say it, or the call
// has several messages in which they differ; bytes are added up: an MPI_Startall that
// sends to two ranks is one row with the bytes of both and no send_to. Then come the
// arguments, a column for each name of a parameter, in the order in which the functions
// of the trace have them:
//
//	arg_count    int    if all arguments of that name are integers, ranks and tags
//	arg_seconds  float  if all are floating-point numbers
//	arg_comm     text   otherwise
//
// missing where a function has no such parameter, and in a column of numbers where the
// argument is a null pointer or the like. Ranks are those of the communicator of the
// call. In a column of text, a string is as it is, or quoted as in Go if a character of
// it does not print or it begins with a quotation mark; an array of numbers is a JSON
// list, and all else is as a Printer writes it, but for ranks, which are numbers. Names
// of parameters are made of letters, digits and underscores, with _ for other
// characters; where two would be the same, but for case, the later one has _2 after it,
// and so on. At most [MaxArguments] have columns.
//
// Those of signatures are the same without position, start_ns, duration_ns and
// time_source, and
//
//	calls            int    of the signature by the rank
//	total_ns         int    that these took, if the trace has the times of every call,
//	mean_ns          float  and their mean
//	min_ns, max_ns   int    and the least and the most
//	all_calls        int    likewise for the calls of the signature by all ranks, if the
//	all_mean_ns      float  trace has statistics or histograms, whichever ranks and times
//	all_min_ns, all_max_ns  are chosen
//	all_gap_mean_ns  float  mean of the time from the end of the rank's call before
//
// A call has no meaning there if equal calls of the rank mean different things.
package rows

import (
	"context"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/internal/events"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/semantics"
)

// A Table is a trace as a table. Its methods may be called from several goroutines at
// once.
type Table struct {
	choice  *events.Choice
	trace   *reprise.Trace
	options export.TableOptions
	model   *semantics.Model
	all     *summaries // nil if the trace has none, or they are not wanted
	printer *reprise.Printer
	columns []*Column
	places  []places // by function, of the arguments that have columns
	free    chan *Group

	from, to int64 // when the calls are that are wanted, by the clock of the trace,
	between  bool  // if not all are
}

// New returns the table of a trace.
func New(ctx context.Context, trace *reprise.Trace, o export.TableOptions) (*Table, error) {
	t := &Table{trace: trace, options: o, printer: trace.Printer(reprise.PrintOptions{}), free: make(chan *Group, 4)}
	var err error
	if t.choice, err = events.Choose(ctx, trace, o.Options); err != nil {
		return nil, err
	}
	if t.from, t.to, t.between, err = t.choice.Between(); err != nil {
		return nil, err
	}
	if t.model, err = semantics.Open(ctx, trace); err != nil {
		return nil, err
	}
	durations, gaps := t.choice.Summaries[0], t.choice.Summaries[1]
	if o.By == export.Signatures && !(durations.IsZero() && gaps.IsZero()) {
		t.all = newSummaries(t.choice.Summaries, trace.Merged().Signatures())
	}
	t.columns = t.allColumns()
	if len(o.Columns) > 0 {
		t.columns, err = choose(t.columns, o.Columns)
	}
	return t, err
}

// Columns returns the columns. They must not be changed.
func (t *Table) Columns() []*Column { return slices.Clip(t.columns) }

// By returns what a row is.
func (t *Table) By() export.By { return t.options.By }

// Done tells that so many rows were written.
func (t *Table) Done(rows uint64) error { return t.choice.Done(rows) }

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
			return nil, &export.ColumnError{Name: name, Twice: i >= 0, Known: known}
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// A Type is the type of the values of a column.
type Type uint8

// The types. The zero Type is invalid.
const (
	Int   Type = iota + 1 // 64 bits with a sign
	Float                 // 64 bits, IEEE 754
	Text                  // UTF-8
)

// A Column is a column of a [Table].
type Column struct {
	Name     string
	Type     Type
	Optional bool // values may be missing

	// Unique says that values differ from row to row, so that [Column.AppendInts] has
	// them, and Ascending that those of a rank do not decrease. Otherwise, [Column.Cell]
	// has them.
	Unique    bool
	Ascending bool

	ints func(g *Group, begin, end int, dst []int64) []int64
	cell func(c *code) Cell
}

// A Cell is a value of a column. Which field has it, the type of the column says.
type Cell struct {
	Valid bool // false: there is no value
	Int   int64
	Float float64
	Text  string
}

func intCell(v int64) Cell     { return Cell{Valid: true, Int: v} }
func floatCell(v float64) Cell { return Cell{Valid: true, Float: v} }
func textCell(s string) Cell   { return Cell{Valid: true, Text: s} }

// Cell returns the value of a column that is not unique in the rows of a segment that
// have a code.
func (c *Column) Cell(s *Segment, number uint32) Cell { return c.cell(&s.codes[number]) }

// AppendInts appends the values of rows begin ≤ i < end of a column that is unique, and
// returns the extended slice. Of rows for which [Group.Timed] is false, those of an
// optional column are of no meaning.
func (c *Column) AppendInts(dst []int64, g *Group, begin, end int) []int64 {
	return c.ints(g, begin, end, dst)
}

// A code is what rows are that have everything in common but position and times.
type code struct {
	*source
	terminal  uint32
	operation *semantics.Operation // nil if the call means nothing, or it is not known
	sum       *sum                 // nil if rows are calls
}

// call returns the call.
func (c *code) call() reprise.Call { return c.read.Call(c.terminal) }

// allColumns returns all columns that the table can have.
func (t *Table) allColumns() []*Column {
	columns := []*Column{{Name: "rank", Type: Int, cell: func(c *code) Cell { return intCell(int64(c.rank)) }}}
	if t.options.By == export.Calls {
		columns = append(columns, t.placeColumns()...)
	}
	columns = append(columns, t.callColumns()...)
	if t.model.Known() {
		columns = append(columns, meaningColumns()...)
	}
	if t.options.By == export.Signatures {
		columns = append(columns, t.sumColumns()...)
	}
	return append(columns, t.argumentColumns(columns)...)
}

// placeColumns returns those of where a call is, and when.
func (t *Table) placeColumns() []*Column {
	columns := []*Column{{Name: "position", Type: Int, Unique: true, Ascending: true, ints: appendPositions}}
	if t.choice.Times == nil {
		return columns
	}
	return append(columns,
		&Column{Name: "start_ns", Type: Int, Unique: true, Optional: true, Ascending: true,
			ints: func(g *Group, begin, end int, dst []int64) []int64 { return append(dst, g.starts[begin:end]...) }},
		&Column{Name: "duration_ns", Type: Int, Unique: true, Optional: true,
			ints: func(g *Group, begin, end int, dst []int64) []int64 { return append(dst, g.durations[begin:end]...) }},
		&Column{Name: "time_source", Type: Text, Optional: true, cell: func(c *code) Cell {
			if c.clock == nil || c.clock.Source() == query.None {
				return Cell{}
			}
			return textCell(c.clock.Source().String())
		}})
}

// callColumns returns those of the call itself.
func (t *Table) callColumns() []*Column {
	return []*Column{
		{Name: "function", Type: Text, cell: func(c *code) Cell { return textCell(plain(c.call().Function.Name)) }},
		{Name: "call", Type: Text, cell: func(c *code) Cell { return textCell(string(t.printer.AppendCall(nil, c.call()))) }},
		{Name: "signature", Type: Int, cell: func(c *code) Cell { return intCell(int64(c.read.Signature(c.terminal))) }},
		{Name: "thread", Type: Int, cell: func(c *code) Cell { return intCell(int64(c.call().Thread())) }},
	}
}

// appendPositions appends the positions of rows.
func appendPositions(g *Group, begin, end int, dst []int64) []int64 {
	dst = slices.Grow(dst, end-begin)
	if g.positions != nil {
		for _, position := range g.positions[begin:end] {
			dst = append(dst, int64(position))
		}
		return dst
	}
	for i := range g.Segments {
		s := &g.Segments[i]
		for row := max(begin, s.Begin); row < min(end, s.End); row++ {
			dst = append(dst, int64(s.first)+int64(row-s.Begin))
		}
	}
	return dst
}
