package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/atomicfile"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/regular"
)

// Files merges part files, which processes wrote with package tracer, to a trace at the path out, in place of
// what is there. Of a directory among the parts it takes all files whose names end in .rpz, but neither those
// that begin with a dot nor out. Each rank must be in one of the files only, and all must be of one run, as
// far as they say that. If Files fails, out is as it was, unless the error wraps a [*format.MemoryError]:
// then out is the trace, which readers refuse that are not given as much memory as that says. An error that
// is about parts names all that cannot be read: it joins a [*PartError] of each.
//
// Memory bounds what a part may take, as that of trace.Options does for a trace: 0 is the default.
//
// The order of parts does not matter: the same parts give the same bytes. Files uses all cores. It does not
// align the clocks of several machines: AlignFile of package query does that for the trace, as the command
// does. For a context, progress, or parts in memory, see [Tree].
func Files(out string, memory int64, parts ...string) error {
	files, err := PartFiles(out, memory, parts...)
	if err != nil {
		return err
	}
	all, err := Tree(context.Background(), len(files), func(_ context.Context, i int) (*Accumulator, error) {
		a, err := readPartAt(files[i], memory)
		if err != nil {
			return nil, &PartError{files[i], err}
		}
		return a, nil
	}, TreeOptions{})
	var damaged *PartError
	if errors.As(err, &damaged) { // others may be, too
		return cmp.Or(errors.Join(unreadable(memory, files)...), err)
	}
	if err != nil {
		return err
	}
	var unread error
	err = atomicfile.Write(out, func(w io.Writer) (err error) {
		unread, err = layout.Unread(all.Write(w))
		return err
	})
	if err == nil && unread != nil {
		err = fmt.Errorf("%s: %w", out, unread)
	}
	return err
}

// PartFiles returns the paths of the files that [Files] merges, or the error that it gives for what
// they say of ranks and runs: it does not read their calls, unless there is such an error. It is
// for those who then merge on an engine of their own, as package beam does.
func PartFiles(out string, memory int64, parts ...string) ([]string, error) {
	var files []string
	var wrong []error
	dir, _ := os.Stat(filepath.Dir(out)) // an error is left to who writes there
	for _, path := range parts {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			files = append(files, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			wrong = append(wrong, &PartError{path, err})
			continue
		}
		n := len(files)
		for _, e := range entries {
			name := e.Name()
			isOut := name == filepath.Base(out) && os.SameFile(info, dir)
			if strings.HasSuffix(name, ".rpz") && !strings.HasPrefix(name, ".") && !isOut {
				files = append(files, filepath.Join(path, name))
			}
		}
		if len(files) == n {
			wrong = append(wrong, &PartError{path, errors.New("no part files, whose names end in .rpz")})
		}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(append(wrong, unreadable(memory, files)...)...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("merge: %s: no parts to merge", out)
	}
	return files, checkParts(files, memory)
}

// A PartError is the error of a file that is to be merged and cannot be read. Errors about the output are
// never PartErrors.
type PartError struct {
	Path string
	Err  error // why; what the system says of a file has its path, too, and is an [*fs.PathError]
}

// Error returns the path and the cause.
func (e *PartError) Error() string {
	if of, ok := e.Err.(*fs.PathError); ok && of.Path == e.Path {
		return e.Path + ": " + fmt.Sprint(of.Err)
	}
	return e.Path + ": " + fmt.Sprint(e.Err)
}

func (e *PartError) Unwrap() error { return e.Err }

// checkParts returns the [*PartError]s of all files that cannot be read, joined, or an error if part files are
// of different runs, or two of them have a rank.
func checkParts(files []string, memory int64) error {
	var wrong []error
	var others []string
	var shared layout.SharedRanks
	origins := make([]format.Origin, len(files))
	for i, path := range files {
		err := withContainer(path, memory, func(file *format.Reader) error {
			_, ranks, err := ReadPartRanks(file)
			if err != nil {
				return err
			}
			shared.Add(ranks)
			origins[i], err = layout.ReadOrigin(file)
			return err
		})
		if err != nil {
			wrong = append(wrong, &PartError{path, err})
		} else {
			others = append(others, path)
		}
	}
	if len(wrong) > 0 { // of the others, only what they say of ranks and runs was looked at
		return errors.Join(append(wrong, unreadable(memory, others)...)...)
	}
	if runs := layout.SplitRuns(origins); len(runs) > 1 {
		a, b := runs[0][0], runs[1][0]
		return fmt.Errorf("merge: parts of %d runs: %s is of %s, %s of %s", len(runs),
			files[a], runOf(origins[a]), files[b], runOf(origins[b]))
	}
	if ranks := shared.Ranks(); ranks.Len() > 0 {
		return errShared(files, memory, ranks.At(0))
	}
	return nil
}

// unreadable returns the [*PartError]s of all files that cannot be read to their end.
func unreadable(memory int64, files []string) (list []error) {
	for _, path := range files {
		if _, err := readPartAt(path, memory); err != nil {
			list = append(list, &PartError{path, err})
		}
	}
	return list
}

// errShared returns the error that a rank is in two of some files.
func errShared(files []string, memory int64, rank int) error {
	var in []string
	for _, path := range files {
		err := withContainer(path, memory, func(file *format.Reader) error {
			_, ranks, err := ReadPartRanks(file)
			if err == nil && ranks.Contains(rank) {
				in = append(in, path)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if len(in) == 2 {
			break
		}
	}
	return fmt.Errorf("merge: rank %d is in %s", rank, strings.Join(in, " and in "))
}

// runOf returns what tells a run from others.
func runOf(o format.Origin) string {
	if len(o.Runs) == 0 {
		return fmt.Sprintf("a run of %d ranks", o.World)
	}
	return "run " + strings.Join(o.Runs, ", ")
}

// readPartAt reads the part file at a path.
func readPartAt(path string, memory int64) (a *Accumulator, err error) {
	err = withContainer(path, memory, func(file *format.Reader) error {
		a, err = ReadPart(file)
		return err
	})
	return a, err
}

// withContainer opens a part file and calls read.
func withContainer(path string, memory int64, read func(*format.Reader) error) error {
	f, err := regular.Open(path)
	if errors.Is(err, regular.ErrIrregular) {
		return regular.ErrIrregular
	} else if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := format.NewReader(f, info.Size(), layout.FileOptions(info.Size(), memory))
	if err != nil {
		return err
	}
	return read(file)
}
