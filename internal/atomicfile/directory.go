package atomicfile

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
)

// A Directory is being filled, and is not yet in its place.
type Directory struct {
	d          *os.File // holds it
	name, path string

	mu        sync.Mutex
	abandoned bool
}

// CreateDirectory begins a directory that is to be at a path, where nothing may be: the error is then
// [fs.ErrExist].
func CreateDirectory(path string) (*Directory, error) {
	path = filepath.Clean(path)
	if _, err := os.Lstat(path); err == nil {
		return nil, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	name := temporary(path, rand.Uint64())
	if err := failing("create", path); err != nil {
		return nil, err
	}
	if err := os.Mkdir(name, 0o777); err != nil {
		return nil, errorOf(path, err)
	}
	d, err := os.Open(name)
	if err != nil {
		os.Remove(name)
		return nil, errorOf(path, err)
	}
	hold(d)
	return &Directory{d: d, name: name, path: path}, nil
}

// Path returns the path that the directory has until it is in its place.
func (d *Directory) Path() string { return d.name }

// Commit puts the directory in its place, with its files on the disk. If that fails, or the context is
// done before, there is nothing.
func (d *Directory) Commit(ctx context.Context) error {
	defer d.Abandon()
	entries, err := d.d.ReadDir(-1)
	if err == nil {
		err = syncAll(ctx, d.name, entries)
	}
	if err == nil {
		_ = d.d.Sync()
		err = d.place(ctx)
	}
	return errorOf(d.path, err)
}

// place puts the directory in its place, whole, unless it is abandoned.
func (d *Directory) place(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case d.abandoned:
		return context.Canceled
	}
	return rename(d.name, d.path) // which does not replace a directory
}

// syncAll has the files of a directory on the disk. It syncs many at once, which the disk writes together.
func syncAll(ctx context.Context, directory string, entries []fs.DirEntry) error {
	const together = 64
	errs := make([]error, min(together, len(entries)))
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			for n := i; n < len(entries) && errs[i] == nil; n += len(errs) {
				if errs[i] = ctx.Err(); errs[i] == nil {
					errs[i] = syncFile(filepath.Join(directory, entries[n].Name()))
				}
			}
		})
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.Join(errs...)
}

func syncFile(path string) error {
	if err := failing("sync", path); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Abandon removes the directory and what is in it, unless it is in its place. It may be called more than
// once.
func (d *Directory) Abandon() {
	d.mu.Lock()
	d.abandoned = true
	d.mu.Unlock()
	for range 3 { // as whoever fills it may not have noticed yet
		if os.RemoveAll(d.name) == nil {
			break
		}
	}
	d.d.Close()
}
