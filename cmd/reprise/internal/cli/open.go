package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/content"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// A damagedError is the error of a trace that is cut off, or whose parts cannot be found
// as it is damaged.
type damagedError struct {
	path string
	err  error
}

func (e damagedError) Error() string {
	if end, ok := e.cutOff(); ok {
		return fmt.Sprintf("%s: the file is cut off: it ends at byte %d, without the end of a trace", e.path, end)
	}
	return e.path + ": the file is damaged" + e.detail()
}

func (e damagedError) Unwrap() error { return e.err }

// cutOff reports whether the file does not end as a trace does, and how long it is.
func (e damagedError) cutOff() (end int64, ok bool) {
	f, err := os.Open(e.path)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, false
	}
	last := make([]byte, len(content.TraceEnd))
	f.ReadAt(last, max(0, info.Size()-int64(len(last))))
	return info.Size(), string(last) != content.TraceEnd
}

// detail returns where damage was seen, or nothing.
func (e damagedError) detail() string {
	var parse *format.ParseError
	if !errors.As(e.err, &parse) {
		return ""
	}
	return fmt.Sprintf(", as its %s at byte %d shows", parse.Field, parse.Offset)
}

// isCutOff reports whether an error is of a file whose end, which says where its parts
// are, is not what it should be.
func isCutOff(err error) bool {
	var parse *format.ParseError
	return errors.As(err, &parse) && parse.Package == "format" && (parse.Field == "footer" || parse.Field == "index") &&
		(errors.Is(err, format.ErrCorrupt) || errors.Is(err, io.ErrUnexpectedEOF))
}

// OpenTrace opens the trace at path. All its errors and those of the trace name
// the path.
func OpenTrace(ctx context.Context, path string) (*trace.Trace, error) {
	return openWith(path, trace.Options{Memory: MemoryOf(ctx)})
}

func openWith(path string, o trace.Options) (*trace.Trace, error) {
	Impatient.Store(true)
	if err := CheckSeekable(path); err != nil {
		return nil, err
	}
	tr, err := trace.Open(path, o)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil, FileError(path, err)
	case errors.Is(err, format.ErrFormat):
		return nil, fmt.Errorf("%s: %w", path, content.NoTrace(path))
	case errors.Is(err, format.ErrSmall):
		return nil, FileError(path, format.ErrSmall)
	case isCutOff(err):
		return nil, damagedError{path, err}
	}
	return tr, err
}

// OpenReadable opens the trace at path for a command, which is to use what can be read of
// it: it warns of what is damaged, and leaves that out. When the command is done, it
// fails with what damageOf returns.
func OpenReadable(cmd *cobra.Command, path string) (*trace.Trace, error) {
	tr, err := openWith(path, trace.Options{Memory: MemoryOf(cmd.Context()), LeaveOutDamage: true})
	if err != nil {
		return nil, err
	}
	warnOfDamage(cmd.ErrOrStderr(), path, tr.Damage())
	if set := tr.Content().Foreign; set.Len() > 0 {
		codec, err := tr.SeriesCodec(set.At(0))
		if err != nil {
			tr.Close()
			return nil, err
		}
		Warn(cmd.ErrOrStderr(),
			"%s: times of every call of %s are left out: reprise does not know their codec, %q; programs that import its package read them", path, text.Ranks(set), codec)
	}
	if tr.RankSet().Len() == 0 {
		if err := DamageOf(path, tr); err != nil {
			tr.Close()
			return nil, err
		}
	}
	return tr, nil
}

// maxDamages is how many damaged sections a command warns of one by one.
const maxDamages = 20

// warnOfDamage says which sections of the trace at path are damaged.
func warnOfDamage(stderr io.Writer, path string, list []trace.Damage) {
	for i, d := range list {
		if i == maxDamages {
			Warn(stderr, "%s: %s more cannot be read", path, text.Plural(len(list)-i, "section"))
			break
		}
		Warn(stderr, "%s: %s cannot be read: %v; reprise repair may save the rest", path, partOf(&d, d.Ranks), d.Err)
	}
}

// partOf says what a section holds, and of which ranks.
func partOf(d *trace.Damage, ranks rankenc.Set) string {
	if ranks.Len() == 0 || d.Err.Key == 0 && d.Err.Kind != layout.KindColumns && d.Err.Kind != layout.KindStreams { // it is of all ranks
		return d.What
	}
	return d.What + " of " + text.Ranks(ranks)
}

// Unreadable returns the ranks of a trace whose calls cannot be read.
func Unreadable(tr *trace.Trace) rankenc.Set {
	return tr.Content().Recorded.Difference(tr.RankSet())
}

// DamageOf returns the error of the trace at path if it is damaged.
func DamageOf(path string, tr *trace.Trace) error {
	var parts []string
	if ranks := Unreadable(tr); ranks.Len() > 0 {
		parts = append(parts, text.Ranks(ranks))
	}
	untimed := make(map[string]rankenc.Set)
	for _, d := range tr.Damage() {
		untimed[d.What] = untimed[d.What].Union(d.Ranks)
	}
	for _, d := range tr.Damage() {
		if what := partOf(&d, untimed[d.What]); (d.Times || d.Ranks.Len() == 0) && !slices.Contains(parts, what) {
			parts = append(parts, what)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s cannot be read; reprise repair may save the rest", path, strings.Join(parts, ", and "))
}

// CheckSeekable refuses what is not read in any order, standard input, a pipe, a
// directory, and an empty file. That there is no file is left to who opens it.
func CheckSeekable(path string) error {
	if path == "-" {
		return BadUsage(errors.New("a trace is read in any order: it cannot come from standard input"))
	}
	return FileError(path, content.Check(path))
}

// Hint returns what to add to an error of a command to say what helps, or an
// empty string.
func Hint(command string, err error) string {
	var (
		read    *simgrid.ReadError
		parse   *format.ParseError
		section *format.SectionError
		damaged damagedError
		memory  *format.MemoryError
		other   content.Error
		version *format.VersionError
	)
	switch {
	case errors.As(err, &memory) && memory.Grows:
		return fmt.Sprintf("; --memory %dMiB, or more, allows it", memory.Need>>19)
	case errors.Is(err, simgrid.ErrOutside):
		return "; --outside reads all files that are named"
	case errors.As(err, &memory):
		return fmt.Sprintf("; --memory %dMiB allows it", memory.Need>>20+1)
	case errors.As(err, &read) && read.Content != "":
		return contentHint(command, read.File, read.Content)
	case command == "cat" && errors.As(err, new(notTextError)):
		return "; reprise cat --format text, or json, writes its calls"
	case errors.As(err, &other) && command == "verify" && other.Content == content.Actions:
		return "; the trace comes first, then what it was made from"
	case errors.As(err, &other):
		return "; " + other.Hint()
	case errors.Is(err, format.ErrSmall):
		return "; make the trace again"
	case errors.As(err, &version) && command == "repair":
		return "; a later reprise wrote it, and repairs it: nothing is saved"
	case errors.As(err, &version):
		return "; a later reprise wrote it, and reads it"
	case command == "repair":
	case errors.As(err, &damaged):
		return fmt.Sprintf("; reprise repair %s -o saved.rpz saves what can be read", Quoted(damaged.path))
	case errors.As(err, &section) && (section.Kind == layout.KindPart || section.Kind == layout.KindShape): // of a part file
	case !errors.As(err, &parse) && section == nil: // not about a trace
	case errors.Is(err, format.ErrCorrupt), errors.Is(err, io.ErrUnexpectedEOF):
		return "; reprise repair may save the rest"
	}
	return ""
}

// contentHint returns how a file that holds something else than text is used.
func contentHint(command, file, content string) string {
	if file == "input" { // as package simgrid calls standard input
		file = "FILE"
	}
	file = Quoted(file)
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

// A notTextError is the error of a trace that is not one of SimGrid's.
type notTextError struct{ error }

// NotText marks an error as that of a trace which is no SimGrid trace.
func NotText(err error) error { return notTextError{err} }

func (e notTextError) Unwrap() error { return e.error }
