// Package simgrid writes traces as the time-independent traces of SimGrid, which
// smpirun -replay simulates on a platform of one's choice.
//
// Of a choice of ranks or times a replay fails: it waits for messages that are left out.
//
// # SimGrid
//
// The calls of a trace that was made from such a trace are written as they are, rank by
// rank.
//
// # MPI
//
// The calls of a recorded MPI program become actions that SimGrid 3.32 replays:
//
//   - What a rank does from the end of one action to the beginning of the next is a
//     compute, of [Options].FlopsPerSecond: on hosts of that speed it takes the time
//     that it took. Calls that concern no other process, and those of files, count as
//     computing. In a trace without times nothing is computed.
//   - Messages are send, isend, recv and irecv, of bytes, whatever their mode. Persistent
//     requests are sent and received when they start, and MPI_Sendrecv is an irecv, a send
//     and a wait. A receive from any source names the sender if the trace says who it was.
//   - A receive that the program tried to cancel is left out, unless a status says that it
//     got a message.
//   - Each request that a call completes is a wait. Calls that test without success, and
//     those that probe, are left out.
//   - Collective operations of all processes are the action of that name. Those that do
//     not block are where they begin as if they did. The flops of reductions are not known,
//     and 0.
//   - Calls that make or free communicators, windows, files and datatypes, and that
//     synchronize windows, are left out.
//   - Tags of messages in other communicators than MPI_COMM_WORLD are numbers that stand
//     for both, as an action has no communicator.
//
// A rank begins with init and ends with finalize, whether it was recorded or not.
//
// A call that has no action is refused, with an error that names it:
// collective operations of some processes only, one-sided communication, neighbourhood
// collectives, persistent collectives, MPI_Alltoallw, and messages to a rank that is not
// known, or of a size that is not known.
//
// # Replay
//
// The file is named in a list, here in a file named list, and hosts are those of a
// platform, which may be as small as
//
//	<?xml version='1.0'?>
//	<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
//	<platform version="4.1">
//	  <cluster id="cluster" prefix="host" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us"/>
//	</platform>
//
// for 4 ranks:
//
//	printf 'host%d\n' 0 1 2 3 > hosts
//	echo run.ti > list
//	smpirun -np 4 -platform platform.xml -hostfile hosts -replay list
package simgrid

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/internal/events"
	"github.com/reprise-trace/reprise/semantics"
	"github.com/reprise-trace/reprise/ti"
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
func Write(ctx context.Context, w io.Writer, t *reprise.Trace, o Options) error {
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
		_, ok := ti.Lookup(f)
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
			function, _ := ti.Lookup(*c.Function)
			if line, err = ti.AppendCall(nil, ti.Call{Rank: r.Number, Function: function, Args: c.Args}); err != nil {
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
