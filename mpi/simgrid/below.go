package simgrid

import (
	"errors"
	"os"
	"path/filepath"
)

// ErrOutside means that a list or a directory names something else than a regular file below it: who wrote it
// could have any file of the reader's taken for a part of the trace, or a pipe that never ends.
// [Options].Outside allows it.
var ErrOutside = errors.New("a list or a directory may name regular files below it only")

// openFile opens a file, which must be where it may be.
func (r *Reader) openFile(path string) (*os.File, error) {
	dir, named := r.below[path]
	if !named || r.options.Outside {
		return os.Open(path)
	}
	dir, name, err := nameBelow(dir, path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if info, err := root.Stat(name); err != nil || !info.Mode().IsRegular() { // before it is opened: a pipe may have no writer
		return nil, errors.Join(err, ErrOutside)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(err, ErrOutside)
	}
	return f, nil
}

// nameBelow returns a directory and the name in it of the file at path, both without symbolic links, or
// ErrOutside.
func nameBelow(dir, path string) (base, name string, err error) {
	if base, err = realPath(dir); err != nil {
		return "", "", err
	}
	if path, err = realPath(path); err != nil {
		return "", "", err
	}
	if name, err = filepath.Rel(base, path); err != nil || !filepath.IsLocal(name) {
		return "", "", ErrOutside
	}
	return base, name, nil
}

func realPath(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// refuseOutside returns ErrOutside if the file at path, which a list in dir names, is not where it may be.
func (r *Reader) refuseOutside(dir, path string) error {
	if r.options.Outside {
		return nil
	}
	base, name, err := nameBelow(dir, path)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(filepath.Join(base, name)); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, ErrOutside)
	}
	return nil
}
