package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/ti"
)

// A notTextError is the error of a trace that is not one of SimGrid's.
type notTextError struct{ error }

func (e notTextError) Unwrap() error { return e.error }

// newConverter returns a function that turns calls of a trace into those of
// package ti, or a notTextError if the trace has functions that SimGrid's traces
// have not.
func newConverter(trace *reprise.Trace) (func(reprise.Call) ti.Call, error) {
	for _, f := range trace.Functions() {
		if _, ok := ti.Lookup(f); !ok {
			return nil, notTextError{fmt.Errorf("a SimGrid trace cannot hold the function %s", text.Printable(f.Name))}
		}
	}
	numbers := make(map[*cst.Function]int)
	return func(c reprise.Call) ti.Call {
		n, ok := numbers[c.Function]
		if !ok {
			n, _ = ti.Lookup(*c.Function)
			numbers[c.Function] = n
		}
		return ti.Call{Rank: c.Rank, Function: n, Args: c.Args}
	}, nil
}

// split writes one file a rank, and their list, into a directory, which it makes
// if it is not there. The file of a rank that cannot be read is empty, and the
// error is then a *lostRanks. If it fails for another reason, nothing stays.
func split(cmd *cobra.Command, trace *reprise.Trace, path string, o catOptions) error {
	toTI, err := newConverter(trace)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	ended := make(chan struct{})
	finish, err := unfinished.begin(func() (undo func(), err error) {
		return func() { <-ended }, nil // which is soon, as writing notices that it was cancelled
	})
	if err != nil {
		return err
	}
	defer finish()
	defer close(ended)
	made := os.Mkdir(o.split, 0o777) == nil // if there is no directory, creating files says why
	err = splitInto(cmd, trace, path, o, toTI)
	if err != nil && made {
		os.Remove(o.split) // which it cannot be unless it is empty
	}
	return warnLost(cmd.ErrOrStderr(), err)
}

func splitInto(cmd *cobra.Command, trace *reprise.Trace, path string, o catOptions, toTI func(reprise.Call) ti.Call) error {
	name := strings.TrimSuffix(filepath.Base(path), ".rpz")
	w, err := ti.CreateRanks(o.split, name, trace.Ranks())
	if err != nil {
		return err
	}
	defer w.Abort()
	bar := newProgress(cmd.Context(), cmd.ErrOrStderr(), "cat", -1)
	defer bar.done()
	err = copyCalls(cmd.Context(), trace, path, o, func(_ uint64, c reprise.Call) error {
		if err := w.Write(toTI(c)); err != nil {
			return err
		}
		return bar.step(0)
	})
	if err != nil && !errors.As(err, new(*lostRanks)) {
		return err
	}
	if e := w.Close(); e != nil {
		return e
	}
	return err
}
