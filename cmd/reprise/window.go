package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/collect"
)

// A timeFlag is a time in a run, since its first call began: a duration, such as 1.5s or
// 20ms, or a number of seconds.
type timeFlag time.Duration

func (f *timeFlag) String() string { return time.Duration(*f).String() }

func (f *timeFlag) Type() string { return "time" }

// errBefore is the error of a time at which no rank was anywhere.
var errBefore = errors.New("is before the first call")

func (f *timeFlag) Set(text string) error {
	d, err := time.ParseDuration(text)
	if s, e := strconv.ParseFloat(text, 64); err != nil && e == nil {
		if d = time.Duration(math.Round(s * 1e9)); math.Abs(s) < float64(math.MaxInt64)/1e9 {
			err = nil
		}
	}
	switch {
	case err != nil:
		return errors.New("is no time, such as 1.5s, 20ms or 0.02")
	case d < 0:
		return errBefore
	}
	*f = timeFlag(d)
	return nil
}

// A window is the part of a run that the options --from and --to choose.
type window struct {
	from, to timeFlag
	set      bool // whether one is given
}

// addWindow adds the options that choose a part of a run.
func addWindow(cmd *cobra.Command, w *window) {
	w.to = math.MaxInt64
	cmd.Flags().Var(&w.from, "from", "from this `time` of the run on")
	cmd.Flags().Var(&w.to, "to", "up to this `time` of the run")
	cmd.Flags().Lookup("from").DefValue = "the beginning"
	cmd.Flags().Lookup("to").DefValue = "the end"
}

// check returns what is wrong with w.
func (w *window) check(cmd *cobra.Command) error {
	w.set = cmd.Flags().Changed("from") || cmd.Flags().Changed("to")
	if w.to < w.from {
		return usageError{fmt.Errorf("--to %v is before --from %v", w.to.String(), w.from.String())}
	}
	return nil
}

// addTime returns a time since the run began by the clock of the trace.
func addTime(begin int64, t timeFlag) int64 {
	if t == math.MaxInt64 || begin > 0 && int64(t) > math.MaxInt64-begin {
		return math.MaxInt64
	}
	return begin + int64(t)
}

// errNoTimes is the error of a trace without times of which something about times is
// asked.
func errNoTimes(trace *reprise.Trace, path string) error {
	if trace.Run().Source == collect.Source {
		return fmt.Errorf("%s: the trace has no times: reprise record --times statistics, or all, keeps them", path)
	}
	return fmt.Errorf("%s: the trace has no times", path)
}

// estimatedThreads is what the help says of times that are estimates, in the calls of
// several threads.
const estimatedThreads = `Estimates put the calls of all threads of a rank one after the other: those of
several threads that overlap may be missed, or come late.`

// threadsNote says so of a trace.
const threadsNote = "the calls of several threads are estimated one after the other: those that overlap may be missed"

// hasThreads reports whether functions of a trace say which thread called them, as those
// do that others than the first call.
func hasThreads(trace *reprise.Trace) bool {
	return slices.ContainsFunc(trace.Functions(), func(f cst.Function) bool {
		return len(f.Params) > 0 && f.Params[0].Name == reprise.ThreadParam && f.Params[0].Type.Kind == cst.KindInt
	})
}
