package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/atomicfile"
)

// writeOutput creates or replaces the file at path with what write writes, or
// leaves everything as it was if that fails. The path - is standard output; a
// device or a pipe is written to as it is. A file that is one of the inputs is
// refused.
func writeOutput(cmd *cobra.Command, path string, inputs []string, write func(io.Writer) error) error {
	if path == "-" {
		return write(cmd.OutOrStdout())
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return replace(path, path, write)
	case err != nil:
		return fileError(path, err)
	case info.IsDir():
		return fileError(path, syscall.EISDIR)
	case !info.Mode().IsRegular():
		return writeTo(path, write)
	}
	if err := notAnInput(path, inputs...); err != nil {
		return err
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fileError(path, err)
	}
	return replace(path, target, write)
}

// notAnInput returns an error if an output is the same file as an input.
func notAnInput(path string, inputs ...string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil // it is none yet
	}
	for _, in := range inputs {
		if i, err := os.Stat(in); err == nil && i.Mode().IsRegular() && os.SameFile(i, info) {
			return usageError{fmt.Errorf("%s is an input: the output would replace it", path)}
		}
	}
	return nil
}

// An outputFile is a file to be written.
type outputFile struct {
	path  string
	write func(w io.Writer) error
}

// writeOutputs writes files one after the other, as [writeOutput] does, and puts them in
// their places when all are written.
func writeOutputs(cmd *cobra.Command, files []outputFile, inputs []string) error {
	var begin func(writers []io.Writer) error
	begin = func(writers []io.Writer) error {
		if i := len(writers); i < len(files) {
			return writeOutput(cmd, files[i].path, inputs, func(w io.Writer) error { return begin(append(writers, w)) })
		}
		for i, f := range files {
			if err := f.write(writers[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return begin(nil)
}

// isFile reports whether an output is a file, and not a device, a pipe or standard output.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return path != "-" && (err != nil || info.Mode().IsRegular())
}

// replace puts a new file in the place of target, which messages call name. The
// new file has the permissions of the old one.
func replace(name, target string, write func(io.Writer) error) error {
	atomicfile.RemoveLeftovers(target)
	var f *atomicfile.File
	finish, err := unfinished.begin(func() (abandon func(), err error) {
		f, err = atomicfile.Create(target)
		return func() { f.Abandon() }, err
	})
	if err != nil {
		return fileError(name, err)
	}
	defer finish()
	defer f.Abandon()
	if err := writeBuffered(name, f, write); err != nil {
		return err
	}
	return fileError(name, f.Commit())
}

// writeTo writes to a file that is there and stays.
func writeTo(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return fileError(name, err)
	}
	defer f.Close()
	if err := writeBuffered(name, f, write); err != nil {
		return err
	}
	return fileError(name, f.Close())
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
	return c, fileError(n.name, err)
}

// fileError returns err as the error of the file of that name, whatever the name
// of the temporary file in it, or nil.
func fileError(name string, err error) error {
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
		return named(err)
	}
	return named(fmt.Errorf("%s: %w", name, err))
}

// summaryOf returns where a command tells what it wrote: standard error, if the output
// is standard output.
func summaryOf(cmd *cobra.Command, output string) io.Writer {
	if output == "-" {
		return cmd.ErrOrStderr()
	}
	return cmd.OutOrStdout()
}
