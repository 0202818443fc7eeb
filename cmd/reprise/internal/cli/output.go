package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/atomicfile"
)

// WriteOutput creates or replaces the file at path with what write writes, or
// leaves everything as it was if that fails. The path - is standard output; a
// device or a pipe is written to as it is. A file that is one of the inputs is
// refused.
func WriteOutput(cmd *cobra.Command, path string, inputs []string, write func(io.Writer) error) error {
	return WriteOutputs(cmd, []OutputFile{{path, write}}, inputs)
}

// replaced returns the path of the file that an output is to replace, without symbolic links, or nothing if
// it is written to as it is.
func replaced(path string, inputs []string) (string, error) {
	if path == "-" {
		return "", nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return path, nil
	case err != nil:
		return "", FileError(path, err)
	case info.IsDir():
		return "", FileError(path, syscall.EISDIR)
	case !info.Mode().IsRegular():
		return "", nil
	}
	if err := NotAnInput(path, inputs...); err != nil {
		return "", err
	}
	target, err := filepath.EvalSymlinks(path)
	return target, FileError(path, err)
}

// NotAnInput returns an error if an output is the same file as an input.
func NotAnInput(path string, inputs ...string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil // it is none yet
	}
	for _, in := range inputs {
		if i, err := os.Stat(in); err == nil && i.Mode().IsRegular() && os.SameFile(i, info) {
			return BadUsage(fmt.Errorf("%s is an input: the output would replace it", path))
		}
	}
	return nil
}

// An OutputFile is a file to be written.
type OutputFile struct {
	Path  string
	Write func(w io.Writer) error
}

// WriteOutputs writes files one after the other, as writeOutput does, and puts them in
// their places together when all are written.
func WriteOutputs(cmd *cobra.Command, files []OutputFile, inputs []string) error {
	targets := make([]string, len(files)) // empty for what is written to as it is
	var regular []string
	for i, f := range files {
		target, err := replaced(f.Path, inputs)
		if err != nil {
			return err
		}
		if targets[i] = target; target != "" {
			regular = append(regular, target)
		}
	}
	atomicfile.RemoveLeftovers(regular...)
	var staged replacements
	finish, err := Unfinished.Begin(func() (func(), error) { return staged.stop, nil })
	if err != nil {
		return err
	}
	defer finish()
	defer staged.abandon()
	writers := make([]io.Writer, len(files))
	for i, f := range files {
		if targets[i] != "" {
			if writers[i], err = staged.create(targets[i]); err != nil {
				return FileError(f.Path, err)
			}
		}
	}
	for i, f := range files {
		switch {
		case f.Path == "-":
			err = f.Write(cmd.OutOrStdout())
		case targets[i] == "":
			err = writeTo(f.Path, f.Write)
		default:
			err = writeBuffered(f.Path, writers[i], f.Write)
		}
		if err != nil {
			return err
		}
	}
	if err := staged.commit(); err != nil {
		return FileError(nameOf(err, files, targets), err)
	}
	return nil
}

// nameOf returns the path by which the user knows the file that an error is of.
func nameOf(err error, files []OutputFile, targets []string) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		if i := slices.Index(targets, path.Path); i >= 0 {
			return files[i].Path
		}
	}
	return files[0].Path
}

// Replacements are files that are being written.
type replacements struct {
	mu      sync.Mutex
	files   []*atomicfile.File
	stopped bool
}

func (r *replacements) create(path string) (io.Writer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return nil, context.Canceled
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, err
	}
	r.files = append(r.files, f)
	return f, nil
}

func (r *replacements) commit() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return context.Canceled
	}
	return atomicfile.Commit(r.files...)
}

func (r *replacements) abandon() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.files {
		f.Abandon()
	}
}

// stop removes the files, but waits while they are put in their places. None begins or is put there
// afterwards.
func (r *replacements) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	for _, f := range r.files {
		f.Abandon()
	}
}

// WriteDirectory writes files into a directory. If there is none, it is put in its place when write has
// written all of them, and if that fails there is none; else they are written to the one that is there,
// from which write removes what it has written if it fails, as when it is cancelled.
func WriteDirectory(ctx context.Context, path string, write func(directory string) error) error {
	path = filepath.Clean(path)
	atomicfile.RemoveLeftovers(path)
	var d *atomicfile.Directory
	finish, err := Unfinished.Begin(func() (abandon func(), err error) {
		d, err = atomicfile.CreateDirectory(path)
		return func() { d.Abandon() }, err
	})
	if errors.Is(err, fs.ErrExist) {
		return writeInto(path, write)
	}
	if err != nil {
		return FileError(path, err)
	}
	defer finish()
	defer d.Abandon()
	if err := write(d.Path()); err != nil {
		return renamed{err, d.Path(), path}
	}
	return FileError(path, d.Commit(ctx))
}

// writeInto writes files into a directory that is there. Whoever abandons that waits until it has ended.
func writeInto(directory string, write func(directory string) error) error {
	ended := make(chan struct{})
	finish, err := Unfinished.Begin(func() (undo func(), err error) { return func() { <-ended }, nil })
	if err != nil {
		return err
	}
	defer finish()
	defer close(ended)
	return write(directory)
}

// A renamed is an error in which a path has another name.
type renamed struct {
	error
	path, name string
}

func (r renamed) Error() string { return strings.ReplaceAll(r.error.Error(), r.path, r.name) }
func (r renamed) Unwrap() error { return r.error }

// IsFile reports whether an output is a file, and not a device, a pipe or standard output.
func IsFile(path string) bool {
	info, err := os.Stat(path)
	return path != "-" && (err != nil || info.Mode().IsRegular())
}

// writeTo writes to a file that is there and stays.
func writeTo(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return FileError(name, err)
	}
	defer f.Close()
	if err := writeBuffered(name, f, write); err != nil {
		return err
	}
	return FileError(name, f.Close())
}

func writeBuffered(name string, f io.Writer, write func(io.Writer) error) error {
	out := bufio.NewWriterSize(namedWriter{f, name}, 64<<10)
	if err := write(out); err != nil {
		return err
	}
	return out.Flush()
}

// A namedWriter writes to a file whose errors shall have another name.
type namedWriter struct {
	w    io.Writer
	name string
}

func (n namedWriter) Write(p []byte) (int, error) {
	c, err := n.w.Write(p)
	return c, FileError(n.name, err)
}

// FileError returns err as the error of the file of that name, whatever the name
// of the temporary file in it, or nil.
func FileError(name string, err error) error {
	var (
		path *fs.PathError
		link *os.LinkError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	case strings.HasPrefix(err.Error(), name+": "):
		return Named(err)
	}
	return Named(fmt.Errorf("%s: %w", name, err))
}

// SummaryOf returns where a command tells what it wrote: standard error, if the output
// is standard output.
func SummaryOf(cmd *cobra.Command, output string) io.Writer {
	if output == "-" {
		return cmd.ErrOrStderr()
	}
	return cmd.OutOrStdout()
}
