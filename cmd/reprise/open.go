package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/ti"
)

// errNoTrace is the cause of an error of a file that is something else.
var errNoTrace = errors.New("not a trace")

// errActions is the cause of an error of a file that is SimGrid's text of a trace.
var errActions = fmt.Errorf("%w", errNoTrace)

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
	switch {
	case string(end) == traceEnd:
		return errBeginning
	case hasActions(path):
		return errActions
	}
	return errNoTrace
}

// hasActions reports whether a file, or those that it lists, begins with actions of
// SimGrid.
func hasActions(path string) bool {
	r, err := ti.Open([]string{path}, ti.Options{})
	if err != nil {
		return false
	}
	defer r.Close()
	const most = 100 // lines, which may be comments
	for range most {
		if _, err := r.Read(); err != nil {
			return false
		}
		if s := r.Stats(); s.Calls > s.Comments+s.Foreign {
			return true
		}
	}
	return false
}

// A damagedError is the error of a trace that is cut off, or whose parts cannot be found
// as it is damaged.
type damagedError struct {
	path string
	err  error
}

func (e damagedError) Error() string { return e.path + ": the file is cut off or damaged" }

func (e damagedError) Unwrap() error { return e.err }

// detail returns where that was seen, in parentheses, or nothing.
func (e damagedError) detail() string {
	var parse *reprise.ParseError
	if !errors.As(e.err, &parse) {
		return ""
	}
	return fmt.Sprintf(" (%s at offset %d)", parse.Field, parse.Offset)
}

// isCutOff reports whether an error is of a file whose end, which says where its parts
// are, is not what it should be.
func isCutOff(err error) bool {
	var parse *reprise.ParseError
	return errors.As(err, &parse) && parse.Package == "format" && (parse.Field == "footer" || parse.Field == "index") &&
		(errors.Is(err, reprise.ErrCorrupt) || errors.Is(err, io.ErrUnexpectedEOF))
}

// openTrace opens the trace at path. All its errors and those of the trace name
// the path.
func openTrace(path string) (*reprise.Trace, error) {
	if err := checkSeekable(path); err != nil {
		return nil, err
	}
	trace, err := reprise.Open(path)
	switch {
	case errors.Is(err, format.ErrFormat):
		return nil, fmt.Errorf("%s: %w", path, noTrace(path))
	case isCutOff(err):
		return nil, damagedError{path, err}
	}
	return trace, err
}

// openReadable opens the trace at path for a command, which is to use what can be read of
// it: it warns of what is damaged, and leaves that out. When the command is done, it
// fails with what damageOf returns.
func openReadable(cmd *cobra.Command, path string) (*reprise.Trace, error) {
	trace, err := openTrace(path)
	if err != nil {
		return nil, err
	}
	warnOfDamage(cmd.ErrOrStderr(), path, trace.Damage())
	if err = trace.LeaveOutDamage(cmd.Context()); err == nil && trace.RankSet().Len() == 0 {
		err = damageOf(path, trace)
	}
	if err != nil {
		trace.Close()
		return nil, err
	}
	return trace, nil
}

// maxDamages is how many damaged sections a command warns of one by one.
const maxDamages = 20

// warnOfDamage says which sections of the trace at path are damaged.
func warnOfDamage(stderr io.Writer, path string, list []reprise.Damage) {
	for i, d := range list {
		if i == maxDamages {
			warn(stderr, "%s: %s more cannot be read", path, text.Plural(len(list)-i, "section"))
			break
		}
		warn(stderr, "%s: %s cannot be read: %v; reprise repair may save the rest", path, partOf(&d, d.Ranks), &d)
	}
}

// partOf says what a section holds, and of which ranks.
func partOf(d *reprise.Damage, ranks rankenc.Set) string {
	if ranks.Len() == 0 || d.Key == 0 && d.Kind != layout.KindColumns && d.Kind != layout.KindStreams { // it is of all ranks
		return d.What
	}
	return d.What + " of " + text.Ranks(ranks)
}

// unreadable returns the ranks of a trace whose calls cannot be read.
func unreadable(trace *reprise.Trace) rankenc.Set {
	return trace.RecordedRanks().Difference(trace.RankSet())
}

// damageOf returns the error of the trace at path if it is damaged.
func damageOf(path string, trace *reprise.Trace) error {
	var parts []string
	if ranks := unreadable(trace); ranks.Len() > 0 {
		parts = append(parts, text.Ranks(ranks))
	}
	untimed := make(map[string]rankenc.Set)
	for _, d := range trace.Damage() {
		untimed[d.What] = untimed[d.What].Union(d.Ranks)
	}
	for _, d := range trace.Damage() {
		if what := partOf(&d, untimed[d.What]); (d.Times || d.Ranks.Len() == 0) && !slices.Contains(parts, what) {
			parts = append(parts, what)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s cannot be read; reprise repair may save the rest", path, strings.Join(parts, ", and "))
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

// hint returns what to add to an error of a command to say what helps, or an
// empty string.
func hint(command string, err error) string {
	var (
		read    *ti.ReadError
		parse   *reprise.ParseError
		section *merge.SectionError
		damaged damagedError
	)
	switch {
	case errors.As(err, &read) && read.Content != "":
		return contentHint(command, read.File, read.Content)
	case command == "cat" && errors.As(err, new(notTextError)):
		return "; reprise cat --format text, or json, writes its calls"
	case command == "repair":
	case errors.Is(err, errBeginning):
		return "; if it was one, reprise repair may save the rest"
	case errors.Is(err, errNoTrace) && command == "verify":
		return ": the trace comes first, then what it was made from"
	case errors.Is(err, errActions):
		return ": compress it first"
	case errors.Is(err, errNoTrace):
		return ": reprise record makes one of an MPI program, reprise compress of SimGrid's text"
	case errors.As(err, &damaged):
		return "; reprise repair may save the rest" + damaged.detail()
	case errors.As(err, &section) && (section.Kind == layout.KindPart || section.Kind == layout.KindShape): // of a part file
	case !errors.As(err, &parse) && section == nil: // not about a trace
	case errors.Is(err, reprise.ErrCorrupt), errors.Is(err, io.ErrUnexpectedEOF):
		return "; reprise repair may save the rest"
	}
	return ""
}

// contentHint returns how a file that holds something else than text is used.
func contentHint(command, file, content string) string {
	if file == "input" { // as package ti calls standard input
		file = "FILE"
	}
	rest := "compress - -o OUT.rpz"
	if command == "verify" {
		rest = "verify TRACE.rpz -"
	}
	switch {
	case content == "trace" && command == "verify":
		return fmt.Sprintf(": two traces are compared by diff, as in reprise diff TRACE.rpz %s", file)
	case content == "trace":
		return fmt.Sprintf(": reprise info %s describes it, reprise cat %s writes its text", file, file)
	case content == "bzip2":
		return fmt.Sprintf(": decompress it first, for instance bzip2 -dc %s | reprise %s", file, rest)
	}
	return fmt.Sprintf(": decompress it first, for instance %s -dc %s | reprise %s", content, file, rest)
}
