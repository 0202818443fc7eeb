package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/format"
)

// errNoTrace is the cause of an error of a file that is something else.
var errNoTrace = errors.New("not a trace")

// errBeginning is the cause of an error of a file that does not begin as a trace,
// but by its end or its name is one.
var errBeginning = errors.New("does not begin as a trace does")

// traceEnd is what a trace ends in.
const traceEnd = "\x8fzpr"

// noTrace returns the cause of an error of a file that does not begin as a trace.
func noTrace(path string) error {
	if strings.HasSuffix(path, ".rpz") {
		return errBeginning
	}
	f, err := os.Open(path)
	if err != nil {
		return errNoTrace
	}
	defer f.Close()
	end := make([]byte, len(traceEnd))
	if info, err := f.Stat(); err == nil {
		f.ReadAt(end, max(0, info.Size()-int64(len(end))))
	}
	if string(end) == traceEnd {
		return errBeginning
	}
	return errNoTrace
}

// openTrace opens the trace at path. All its errors and those of the trace name
// the path.
func openTrace(path string) (*reprise.Trace, error) {
	if err := checkSeekable(path); err != nil {
		return nil, err
	}
	trace, err := reprise.Open(path)
	if errors.Is(err, format.ErrFormat) {
		return nil, fmt.Errorf("%s: %w", path, noTrace(path))
	}
	return trace, err
}

// checkSeekable refuses what is not read in any order, standard input, a pipe, a
// directory, and an empty file. That there is no file is left to who opens it.
func checkSeekable(path string) error {
	if path == "-" {
		return usageError{errors.New("a trace is read in any order: it cannot come from standard input")}
	}
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: is not a regular file", path)
	case info.Size() == 0:
		return fmt.Errorf("%s: not a trace: the file is empty", path)
	}
	return nil
}

// openRank reads a rank of the trace at path, or says which ranks there are.
func openRank(trace *reprise.Trace, path string, rank int) (*reprise.Rank, error) {
	switch n := trace.Ranks(); {
	case n == 0:
		return nil, fmt.Errorf("%s: there is no rank %d: the trace has no ranks", path, rank)
	case rank >= n:
		return nil, fmt.Errorf("%s: there is no rank %d: the trace has ranks 0 to %d", path, rank, n-1)
	}
	return trace.Rank(rank)
}
