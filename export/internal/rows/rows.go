// Package rows gives the calls of a trace as the rows of a table with typed columns,
// for what writes tables: a row for each call, for each rank and signature, or for each message.
//
// A [Table] says which columns there are, and [Table.Groups] yields the rows in
// portions of bounded size, rank by rank, each rank in the order of its calls. The
// calls of a rank are few different ones that repeat, so a [Group] has a code for each
// row, and most columns are functions of a code, [Column.Cell]: whoever writes the
// table works out what a cell is once for each code, not once for each row. What
// differs from row to row, such as the position and the times, are integers,
// [Column.AppendInts], or lists of them, [Column.List].
//
// The file docs/exports.md lists the columns.
package rows

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// A Table is a trace as a table. Its methods may be called from several goroutines at
// once.
type Table struct {
	choice  *events.Choice
	trace   *trace.Trace
	options export.TableOptions
	model   *semantics.Model
	all     *summaries // nil if the trace has none, or they are not wanted
	printer *trace.Printer
	sites   query.Sites
	run     []events.Fact
	columns []*Column
	places  []places // by function, of the arguments that have columns
	free    chan *Group

	numbering *query.Numbering // of messages and collective operations; nil if it is not wanted
	runBegin  int64            // of the run, by the clock of the trace
	epoch     int64            // when that was, in nanoseconds since 1970,
	dated     bool             // if that is known

	from, to int64 // when the calls are that are wanted, by the clock of the trace,
	between  bool  // if not all are
}

// New returns the table of a trace.
func New(ctx context.Context, tr *trace.Trace, o export.TableOptions) (*Table, error) {
	t := &Table{trace: tr, options: o, printer: tr.Printer(trace.PrintOptions{}), sites: query.SitesOf(tr),
		free: make(chan *Group, 4)}
	var err error
	if t.choice, err = events.Choose(ctx, tr, o.Options); err != nil {
		return nil, err
	}
	if t.from, t.to, t.between, err = t.choice.Between(); err != nil {
		return nil, err
	}
	if t.model, err = semantics.Open(ctx, tr); err != nil {
		return nil, err
	}
	durations, gaps := t.choice.Summaries[0], t.choice.Summaries[1]
	if o.By == export.Signatures && !(layout.NoSummary(&durations) && layout.NoSummary(&gaps)) {
		t.all = newSummaries(t.choice.Summaries, tr.Signatures())
	}
	if t.run, err = t.choice.Run(); err != nil {
		return nil, err
	}
	if err := t.date(); err != nil {
		return nil, err
	}
	t.columns = t.allColumns()
	if len(o.Columns) > 0 {
		if t.columns, err = choose(t.columns, o.Columns); err != nil {
			return nil, err
		}
	}
	return t, t.number(ctx)
}

// number has messages and collective operations numbered if a column needs it.
func (t *Table) number(ctx context.Context) (err error) {
	if t.model.Known() && slices.ContainsFunc(t.columns, func(c *Column) bool { return c.numbered }) {
		t.numbering, err = query.OpenNumbering(ctx, t.model, query.Options{Ranks: &t.choice.Ranks})
	}
	return err
}

// date finds out when the run began.
func (t *Table) date() (err error) {
	if t.choice.Times == nil {
		return nil
	}
	if t.runBegin, err = t.choice.Times.Begin(); err != nil {
		return err
	}
	began, err := t.choice.Began()
	if t.dated = !began.IsZero(); t.dated {
		t.epoch = began.UnixNano()
	}
	return err
}

// Columns returns the columns. They must not be changed.
func (t *Table) Columns() []*Column { return slices.Clip(t.columns) }

// Run returns facts about the run.
func (t *Table) Run() []events.Fact { return t.run }

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
	Time                  // nanoseconds since 1970, in UTC: a column that is unique
	List                  // of integers: see [Column.List]
)

// A Column is a column of a [Table].
type Column struct {
	Name     string
	Type     Type
	Optional bool // values may be missing

	// Unique says that values differ from row to row, so that [Column.AppendInts] has
	// them, or [Column.List]. Otherwise, [Column.Cell] has them.
	Unique bool

	numbered bool // needs a Numbering
	ints     func(g *Group, begin, end int, dst []int64) []int64
	there    func(g *Group) []bool // of a column that is unique and optional, but for lists
	lists    func(g *Group) *lists
	cell     func(c *code) Cell
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
// no list, and returns the extended slice. Of rows for which [Column.There] is false, those
// of an optional column are of no meaning.
func (c *Column) AppendInts(dst []int64, g *Group, begin, end int) []int64 {
	return c.ints(g, begin, end, dst)
}

// There returns for each row whether a column that is unique has a value: nil if all have
// one. It must not be changed.
func (c *Column) There(g *Group) []bool {
	if c.there == nil {
		return nil
	}
	return c.there(g)
}

// List returns the list of a row: nothing if it has none. It must not be changed.
func (c *Column) List(g *Group, row int) []int64 { return c.lists(g).of(row) }

// A code is what rows are that have everything in common but what is unique.
type code struct {
	*source
	terminal  uint32
	operation *semantics.Operation // nil if the call means nothing, or it is not known
	sum       *sum                 // nil unless rows are sums
	message   *message             // nil unless rows are messages
}

// call returns the call.
func (c *code) call() trace.Call { return c.read.Call(c.terminal) }

// allColumns returns all columns that the table can have.
func (t *Table) allColumns() []*Column {
	if t.options.By == export.Messages {
		return t.messageColumns()
	}
	columns := []*Column{{Name: "rank", Type: Int, cell: func(c *code) Cell { return intCell(int64(c.rank)) }}}
	if t.options.By == export.Calls {
		columns = append(columns, t.placeColumns()...)
	}
	columns = append(columns, t.callColumns()...)
	if t.model.Known() {
		columns = append(columns, meaningColumns()...)
		if t.options.By == export.Calls {
			columns = append(columns, numberColumns()...)
		}
	}
	if t.options.By == export.Signatures {
		columns = append(columns, t.sumColumns()...)
	}
	return append(columns, t.argumentColumns(columns)...)
}

// placeColumns returns those of where a call is, and when.
func (t *Table) placeColumns() []*Column {
	columns := []*Column{{Name: "position", Type: Int, Unique: true, ints: appendPositions}}
	if t.choice.Times == nil {
		return columns
	}
	timed := func(g *Group) []bool { return g.timed }
	if t.dated {
		columns = append(columns, &Column{Name: "start", Type: Time, Unique: true, Optional: true, there: timed,
			ints: func(g *Group, begin, end int, dst []int64) []int64 {
				return appendShifted(dst, g.starts[begin:end], t.epoch)
			}})
	}
	return append(columns,
		&Column{Name: "start_ns", Type: Int, Unique: true, Optional: true, there: timed,
			ints: func(g *Group, begin, end int, dst []int64) []int64 { return append(dst, g.starts[begin:end]...) }},
		&Column{Name: "duration_ns", Type: Int, Unique: true, Optional: true, there: timed,
			ints: func(g *Group, begin, end int, dst []int64) []int64 {
				return append(dst, g.durations[begin:end]...)
			}},
		&Column{Name: "time_source", Type: Text, Optional: true, cell: func(c *code) Cell {
			if c.clock == nil || c.clock.Source() == query.None {
				return Cell{}
			}
			return textCell(c.clock.Source().String())
		}})
}

// appendShifted appends values that are so much more.
func appendShifted(dst, values []int64, by int64) []int64 {
	for _, v := range values {
		dst = append(dst, add(v, by))
	}
	return dst
}

// add returns a + b, or what of 64 bits is next to it.
func add(a, b int64) int64 {
	switch sum := a + b; {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	default:
		return sum
	}
}

// since returns the time after the run began, in the same way.
func (t *Table) since(time int64) int64 {
	if t.runBegin == math.MinInt64 {
		return add(add(time, math.MaxInt64), 1)
	}
	return add(time, -t.runBegin)
}

// callColumns returns those of the call itself.
func (t *Table) callColumns() []*Column {
	return []*Column{
		{Name: "function", Type: Text, cell: func(c *code) Cell { return textCell(plain(c.call().Function.Name)) }},
		{Name: "call", Type: Text, cell: func(c *code) Cell {
			return textCell(t.printer.Canonical(c.read.Signature(c.terminal)))
		}},
		{Name: "signature", Type: Int, cell: func(c *code) Cell {
			return intCell(int64(c.read.Signature(c.terminal)))
		}},
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
