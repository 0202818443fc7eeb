// Package simgrid writes traces as the time-independent traces of SimGrid, which
// smpirun -replay simulates on a platform of one's choice.
//
// Of a choice of ranks or times a replay fails: it waits for messages that are left out.
//
// The file docs/exports.md says what is written.
package simgrid

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/trace"
)

// Options configure [Write]. The zero Options is the default configuration.
type Options struct {
	export.Options

	// FlopsPerSecond is how much a rank computes in a second. Zero means 1e9.
	FlopsPerSecond float64
}

var errUnknown = errors.New("simgrid: the calls are neither of MPI nor actions of SimGrid")

// Write writes the calls of t that o chooses. What it holds grows with the signatures,
// the grammar and the requests of a rank, not with the number of calls.
func Write(ctx context.Context, w io.Writer, t *trace.Trace, o Options) error {
	need.That(t != nil && w != nil, "export: no trace, or nothing to write to")
	choice, err := events.Open(ctx, t, o.Options)
	if err != nil {
		return err
	}
	out := &writer{w: bufio.NewWriterSize(w, 64<<10)}
	write := out.actions
	if !isTI(t.Functions()) {
		model, err := semantics.Open(ctx, t)
		if err != nil {
			return err
		}
		if !model.Known() {
			return errUnknown
		}
		if o.FlopsPerSecond == 0 {
			o.FlopsPerSecond = 1e9
		}
		tr := &translation{writer: out, model: model, flops: o.FlopsPerSecond / 1e9, tags: make(map[tagKey]int64)}
		write = tr.rank
	}
	for rank, err := range choice.Ranks() {
		if err != nil {
			return err
		}
		if err := write(rank); err != nil {
			return err
		}
	}
	return out.w.Flush()
}

// isTI reports whether functions are actions of SimGrid.
func isTI(functions []cst.Function) bool {
	return !slices.ContainsFunc(functions, func(f cst.Function) bool {
		_, ok := simgrid.Lookup(f)
		return !ok
	})
}

// A writer writes lines.
type writer struct {
	w    *bufio.Writer
	line []byte
}

// actions writes the calls of a rank that are actions.
func (w *writer) actions(r *events.Rank) error {
	lines := make([][]byte, r.Terminals())
	for e, err := range r.All() {
		if err != nil {
			return err
		}
		line := lines[e.Terminal]
		if line == nil {
			c := r.Call(e.Terminal)
			function, _ := simgrid.Lookup(*c.Function)
			if line, err = simgrid.AppendCall(nil, simgrid.Call{Rank: r.Number, Function: function,
				Args: c.Args}); err != nil {
				return err
			}
			lines[e.Terminal] = line
		}
		if _, err := w.w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// action writes a line of a rank. The vectors follow each other at one place.
func (w *writer) action(rank int, name string, fields ...int64) error {
	b := strconv.AppendInt(w.line[:0], int64(rank), 10)
	b = append(append(b, ' '), name...)
	for _, f := range fields {
		b = strconv.AppendInt(append(b, ' '), f, 10)
	}
	if blank[name] {
		b = append(b, ' ')
	}
	w.line = append(b, '\n')
	_, err := w.w.Write(w.line)
	return err
}

// blank are the actions whose lines end in a blank.
var blank = map[string]bool{"bcast": true, "reduce": true, "allreduce": true, "scan": true, "exscan": true}
