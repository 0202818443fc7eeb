package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
)

// partFiles returns paths with the *.rpz files of a directory in its place, in
// the order of the numbers in their names.
func partFiles(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		if info, err := os.Stat(p); err != nil || !info.IsDir() {
			files = append(files, p)
			continue
		}
		entries, err := os.ReadDir(p)
		if err != nil {
			return nil, fileError(p, err)
		}
		var names []string
		for _, e := range entries {
			if name := e.Name(); !e.IsDir() && isPartName(name) {
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("%s: no files named ….rpz", p)
		}
		// Ranks that ascend are merged fastest.
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
		for _, name := range names {
			files = append(files, filepath.Join(p, name))
		}
	}
	return files, nil
}

// refuseInside returns an error if the output is to be a *.rpz file in one of the
// directories among the inputs. The next merge of that directory would take it for
// one of the parts; and if it is there already, it may be a part that is not to be
// replaced, or a merge of before that is not to be read, and nothing tells which.
func refuseInside(output string, inputs []string) error {
	if name := filepath.Base(output); output == "-" || !isPartName(name) {
		return nil
	}
	dir, err := os.Stat(filepath.Dir(output))
	if err != nil {
		return nil // left to who creates it
	}
	for _, in := range inputs {
		if info, err := os.Stat(in); err == nil && os.SameFile(info, dir) {
			return usageError{fmt.Errorf("%s is in %s, of which all *.rpz files are merged: the output needs another directory", output, in)}
		}
	}
	return nil
}

// isPartName reports whether a file of that name in a directory is a part.
func isPartName(name string) bool {
	return strings.HasSuffix(name, ".rpz") && !strings.HasPrefix(name, ".")
}

// A leafError is the error of one part. It names the file.
type leafError struct {
	path string
	error
}

func (e leafError) Unwrap() error { return e.error }

// cause returns what is wrong without the name of the file.
func (e leafError) cause() string { return strings.TrimPrefix(e.Error(), e.path+": ") }

// readLeaf reads the part file, or the trace, at path. Its errors are leafErrors.
func readLeaf(ctx context.Context, path string) (*merge.Accumulator, error) {
	var a *merge.Accumulator
	err := openPart(path, func(file *format.Reader) (err error) {
		if merge.IsPart(file) {
			a, err = merge.ReadPart(file)
			return err
		}
		a, err = readTrace(ctx, file)
		return err
	})
	return a, err
}

// openPart opens a container and calls read. Its errors are leafErrors.
func openPart(path string, read func(*format.Reader) error) error {
	if err := checkSeekable(path); err != nil {
		return leafError{path, err}
	}
	f, err := os.Open(path)
	if err != nil {
		return leafError{path, fileError(path, err)}
	}
	defer f.Close()
	err = func() error {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		file, err := format.NewReader(f, info.Size(), reprise.FileOptions(info.Size()))
		if err != nil {
			return err
		}
		return read(file)
	}()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, format.ErrFormat):
		err = noTrace(path)
	}
	return leafError{path, fileError(path, err)}
}

// openWhole opens a trace that has not lost the order of its calls.
func openWhole(file *format.Reader) (*merge.Trace, error) {
	trace, err := merge.Open(file)
	if err == nil && trace.LostInterleaving() {
		return nil, errors.New("the order of the calls of different ranks is lost; reprise repair may save the rest")
	}
	return trace, err
}

// readTrace reads all ranks of a trace. One that is lost, or whose place among the
// others is, is an error.
func readTrace(ctx context.Context, file *format.Reader) (*merge.Accumulator, error) {
	trace, err := openWhole(file)
	if err != nil {
		return nil, err
	}
	a := new(merge.Accumulator)
	if err := describeRun(a, trace.Run()); err != nil {
		return nil, err
	}
	return a, a.AddTrace(ctx, trace)
}
