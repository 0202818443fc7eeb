package main

import (
	"context"
	"fmt"
	"io"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/chrome"
	"github.com/reprise-trace/reprise/export/paraver"
	"github.com/reprise-trace/reprise/export/perfetto"
	"github.com/reprise-trace/reprise/export/simgrid"
	"github.com/reprise-trace/reprise/internal/text"
)

func exportPerfetto(x *exporting, w io.Writer) error { return exportEvents(x, w, perfetto.Write) }
func exportChrome(x *exporting, w io.Writer) error   { return exportEvents(x, w, chrome.Write) }

func exportParaver(x *exporting, w io.Writer) error {
	o, err := x.events()
	if err != nil {
		return err
	}
	m, err := paraver.Write(x.ctx, w, x.trace, o)
	if m.Sent > 0 {
		note := fmt.Sprintf("%s are written", text.Plural(m.Written, "communication"))
		if m.Written == 1 {
			note = "1 communication is written"
		}
		if m.Written < m.Sent {
			note += fmt.Sprintf(", of %s that calls send: the others are left out", text.Plural(m.Sent, "message"))
		}
		x.notes = append(x.notes, note)
	}
	return err
}

func exportParaverConfig(x *exporting, w io.Writer) error { return paraver.WriteConfig(w, x.trace) }

func exportParaverRows(x *exporting, w io.Writer) error {
	return paraver.WriteRows(x.ctx, w, x.trace, x.chosen())
}

func exportSimGrid(x *exporting, w io.Writer) error {
	o, err := x.events()
	if err != nil {
		return err
	}
	if isTI(x.trace) {
		x.notes = nil
	} else if timed, err := isTimedAtAll(x.trace); err == nil && !timed {
		x.notes = []string{"the trace has no times: nothing is computed between the calls"}
	}
	if !x.all && x.ranks.Len() < x.trace.Ranks() || x.window.set {
		x.notes = append(x.notes, "messages and collective operations may lack partners that were left out: a replay waits for them")
	}
	return simgrid.Write(x.ctx, w, x.trace, simgrid.Options{Options: o})
}

// exportEvents writes the calls as write has them.
func exportEvents(x *exporting, w io.Writer, write func(context.Context, io.Writer, *reprise.Trace, export.Options) error) error {
	o, err := x.events()
	if err != nil {
		return err
	}
	return write(x.ctx, w, x.trace, o)
}

// chosen returns what is chosen.
func (x *exporting) chosen() export.Options {
	o := export.Options{Lost: x.lose, Progress: func(calls uint64) error { x.progress(calls); return nil }}
	if !x.all {
		o.Ranks = &x.ranks
	}
	if x.window.set {
		o.Between = &export.Interval{From: int64(x.window.from), To: int64(x.window.to)}
	}
	return o
}

// events returns what is chosen, and takes note of what the times are.
func (x *exporting) events() (export.Options, error) {
	o := x.chosen()
	timed, err := isTimedAtAll(x.trace)
	if err != nil {
		return o, err
	}
	series, _, err := x.trace.Merged().SeriesRanks()
	switch {
	case err != nil:
		return o, err
	case !timed:
		x.notes = append(x.notes, "the trace has no times: times are positions of calls, in microseconds")
	case series.Len() == 0:
		x.notes = append(x.notes, "times are estimates from the means of calls that are alike")
	}
	return o, nil
}
