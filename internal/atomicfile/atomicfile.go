// Package atomicfile writes files that are complete, or as they were before.
//
// A file is written beside its place, synced to the disk, and renamed. Several files are put in their places
// together, see [Commit], and so is a new directory, see [CreateDirectory]. What a process leaves that is
// killed in the midst of it is removed, and what it began to replace is put back, by [RemoveLeftovers].
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
)

// A File is being written, and is not yet in its place.
type File struct {
	f       *os.File
	path    string
	program bool        // it keeps the permissions with which it was created
	ended   atomic.Bool // it is in its place, or removed
}

// Create begins a file that is to be at a path, in place of one that is there.
func Create(path string) (*File, error) { return create(path, 0o666) }

// CreateProgram is [Create] of a file that may be run, whatever is there.
func CreateProgram(path string) (*File, error) {
	f, err := create(path, 0o777)
	if err == nil {
		f.program = true
	}
	return f, err
}

func create(path string, permissions fs.FileMode) (*File, error) {
	for try := 0; ; try++ {
		name := temporary(path, rand.Uint64())
		if err := failing("create", name); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, permissions)
		if err == nil {
			hold(f)
			return &File{f: f, path: path}, nil
		}
		if !errors.Is(err, fs.ErrExist) || try == 1000 {
			return nil, err
		}
	}
}

// Write writes to the file.
func (f *File) Write(p []byte) (int, error) {
	if err := failing("write", f.path); err != nil {
		n, _ := f.f.Write(p[:len(p)/2])
		return n, err
	}
	return f.f.Write(p)
}

// Commit puts the file in its place, with the permissions of one that is there unless it is a program. If
// that fails, nothing is changed.
func (f *File) Commit() error { return Commit(f) }

// prepare gives the file, unless it is a program, the permissions of the one that is there, and has it on the
// disk.
func (f *File) prepare() error {
	if info, err := os.Stat(f.path); err == nil && !f.program {
		if err := f.f.Chmod(info.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := failing("sync", f.path); err != nil {
		return err
	}
	return f.f.Sync()
}

// place renames the file, which is held until then.
func (f *File) place() error {
	if err := rename(f.f.Name(), f.path); err != nil {
		return err
	}
	f.ended.Store(true)
	_ = f.f.Close() // all of it is on the disk
	return nil
}

func rename(from, to string) error {
	if err := failing("rename", to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// Abandon removes the file, unless it is in its place. It may be called at any time, and more than
// once.
func (f *File) Abandon() {
	if f.ended.CompareAndSwap(false, true) {
		f.f.Close()
		os.Remove(f.f.Name())
	}
}

// Check returns an error if [Write] could not write a file at a path, as far as that can
// be told before. It makes a temporary file beside it, and removes it.
func Check(path string) error {
	if path == "" {
		return errors.New("it has no path")
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	f, err := Create(path)
	if err != nil {
		return err
	}
	f.Abandon()
	return nil
}

// Write makes a file at a path of what write writes, in place of one that is there, also if a symbolic link
// leads there. If that fails, nothing is changed. What is no regular file is left alone.
func Write(path string, write func(io.Writer) error) error {
	switch info, err := os.Stat(path); {
	case err != nil: // there is none, or it cannot be made
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	default:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Abandon()
	w := bufio.NewWriter(f)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Commit()
}

// temporary returns the name that a file has, with a number of its own, until it is in its place.
func temporary(path string, number uint64) string {
	return hidden(path, fmt.Sprintf("%016x", number), "new")
}
