package reprise

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/atomicfile"
	"github.com/reprise-trace/reprise/merge"
)

// Merge merges part files, which processes wrote with package tracer, to a trace at the
// path out, in place of what is there. Of a directory among the parts it takes all files
// whose names end in .rpz, but neither those that begin with a dot nor out. Each rank must be in one of
// the files only. If Merge fails, out is as it was.
//
// The order of parts does not matter: the same parts give the same bytes. Merge uses all
// cores. For a context, progress, or parts in memory, see [merge.Tree].
func Merge(out string, parts ...string) error {
	var files []string
	dir, _ := os.Stat(filepath.Dir(out)) // an error is left to who writes there
	for _, path := range parts {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			files = append(files, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return err
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
			return fmt.Errorf("reprise: %s: no part files, whose names end in .rpz", path)
		}
	}
	if len(files) == 0 {
		return fmt.Errorf("reprise: %s: no parts to merge", out)
	}
	all, err := merge.Tree(context.Background(), len(files), func(_ context.Context, i int) (*merge.Accumulator, error) {
		a, err := readPart(files[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", files[i], err)
		}
		return a, nil
	}, merge.TreeOptions{})
	if err != nil {
		return err
	}
	return atomicfile.Write(out, func(w io.Writer) error { return all.Write(w) })
}

// readPart reads a part file.
func readPart(path string) (*merge.Accumulator, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, err := format.NewReader(f, info.Size(), FileOptions(info.Size()))
	if err != nil {
		return nil, err
	}
	return merge.ReadPart(file)
}
