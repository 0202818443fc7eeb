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
	"github.com/reprise-trace/reprise/rankenc"
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
			if name := e.Name(); !e.IsDir() && strings.HasSuffix(name, ".rpz") && !strings.HasPrefix(name, ".") {
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

// A leafError is the error of one part. It names the file.
type leafError struct{ error }

func (e leafError) Unwrap() error { return e.error }

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
		return leafError{err}
	}
	f, err := os.Open(path)
	if err != nil {
		return leafError{err}
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
		err = errNoTrace
	}
	return leafError{fileError(path, err)}
}

// readTrace reads all ranks of a trace. One that is lost, or whose place among the
// others is, is an error.
func readTrace(ctx context.Context, file *format.Reader) (*merge.Accumulator, error) {
	trace, err := merge.Open(file)
	if err != nil {
		return nil, err
	}
	if trace.LostInterleaving() {
		return nil, errors.New("the order of the calls of different ranks is lost; reprise repair may save the rest")
	}
	a := new(merge.Accumulator)
	if err := describeRun(a, trace.Run()); err != nil {
		return nil, err
	}
	for rank, ok := trace.Active(0); ok; rank, ok = trace.Active(rank + 1) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := trace.Part(rank)
		if err == nil {
			err = a.Add(p)
		}
		if err != nil {
			return nil, err
		}
	}
	return a, nil
}

// ranksOf returns the ranks of a part file or of a trace that made calls.
func ranksOf(file *format.Reader) (rankenc.Set, error) {
	if merge.IsPart(file) {
		a, err := merge.ReadPart(file)
		if err != nil {
			return rankenc.Set{}, err
		}
		return a.RankSet(), nil
	}
	trace, err := merge.Open(file)
	if err != nil {
		return rankenc.Set{}, err
	}
	return trace.RankSet(), nil
}

// A stretch is consecutive ranks of one file.
type stretch struct{ first, last, file int }

// findTwice returns an error about a rank that is in two of the files, or nil.
func findTwice(ctx context.Context, paths []string) error {
	var stretches []stretch
	for i, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := openPart(path, func(file *format.Reader) error {
			ranks, err := ranksOf(file)
			for first, last := range ranks.Ranges() {
				stretches = append(stretches, stretch{first, last, i})
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	slices.SortFunc(stretches, func(a, b stretch) int { return cmp.Or(a.first-b.first, a.file-b.file) })
	for i := 1; i < len(stretches); i++ {
		if a, b := stretches[i-1], stretches[i]; b.first <= a.last {
			files := []string{paths[min(a.file, b.file)], paths[max(a.file, b.file)]}
			return fmt.Errorf("rank %d is in %s and in %s", b.first, files[0], files[1])
		}
	}
	return nil
}
