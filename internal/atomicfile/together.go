package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Commit puts files in their places, as [File.Commit] does. If that fails, nothing is
// changed, and the error is of the file that failed, by the path that [Create] was given.
//
// Several files of one directory are put there together. What is there is kept under a second name until all
// are in their places, and a list says so: if the process is killed between two of them, [RemoveLeftovers]
// puts back what was there, but not over what somebody has written since. Others that do the same in that
// directory wait. Files of several directories are put back if one fails, but not if the process is killed.
func Commit(files ...*File) error {
	for _, f := range files {
		defer f.Abandon()
	}
	for _, f := range files {
		if err := f.prepare(); err != nil {
			return errorOf(f.path, err)
		}
	}
	switch len(files) {
	case 0:
		return nil
	case 1:
		return errorOf(files[0].path, files[0].place())
	}
	return commitTogether(files)
}

// errorOf returns an error as one of a path.
func errorOf(path string, err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return &fs.PathError{Op: p.Op, Path: path, Err: p.Err}
	case errors.As(err, &l):
		return &fs.PathError{Op: l.Op, Path: path, Err: l.Err}
	}
	return err
}

// A swap is files that are about to be replaced together.
type swap struct {
	directory string
	number    string // in the names of what it keeps
	list      string // path of the list, empty if the files are in several directories
	members   []member
}

// A member is a file that is replaced.
type member struct {
	path string
	old  bool   // there is one
	by   uint64 // number on the disk of the one that replaces it, 0 if it is not known
}

func commitTogether(files []*File) (err error) {
	s, release, err := newSwap(files)
	if err != nil {
		return err
	}
	defer release()
	for i, f := range files {
		if err = s.keep(s.members[i]); err == nil {
			err = f.place()
		}
		if err != nil {
			return s.failed(f, err)
		}
	}
	syncDirectory(s.directory)
	if err := s.forget(); err != nil {
		return s.failed(files[0], err)
	}
	for _, m := range s.members {
		if failing("clean", m.path) == nil {
			os.Remove(s.kept(m))
		}
	}
	return nil
}

// failed puts back what was there, as a file could not be put in its place, and returns the error.
func (s *swap) failed(f *File, err error) error {
	if e := s.undo(); e != nil {
		return &fs.PathError{Op: "commit", Path: f.path, Err: fmt.Errorf("%w; %w", err, e)}
	}
	return errorOf(f.path, err)
}

// newSwap waits for others in the directory, and writes the list of the files.
func newSwap(files []*File) (s *swap, release func(), err error) {
	s = &swap{directory: filepath.Dir(files[0].path), number: numberOf(files[0].f.Name())}
	one := true
	for _, f := range files {
		m := member{path: f.path}
		if _, err := os.Lstat(f.path); err == nil {
			m.old = true
		}
		if info, err := f.f.Stat(); err == nil {
			m.by = numberOnDisk(info)
		}
		s.members = append(s.members, m)
		one = one && filepath.Dir(f.path) == s.directory
	}
	if !one {
		return s, func() {}, nil
	}
	directory, err := os.Open(s.directory)
	if err != nil {
		return nil, nil, errorOf(files[0].path, err)
	}
	wait(directory)
	list, err := s.write()
	if err != nil {
		directory.Close()
		return nil, nil, errorOf(files[0].path, err)
	}
	syncDirectory(s.directory)
	return s, func() { list.Close(); directory.Close() }, nil
}

// write writes the list, which is held until it is closed.
func (s *swap) write() (*os.File, error) {
	f, err := Create(s.members[0].path)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, m := range s.members {
		what := "none"
		if m.old {
			what = "old"
		}
		fmt.Fprintf(&b, "%s %d %q\n", what, m.by, filepath.Base(m.path))
	}
	list := hidden(s.members[0].path, s.number, "list")
	if _, err = f.Write(b.Bytes()); err == nil {
		err = f.f.Sync()
	}
	if err == nil {
		err = rename(f.f.Name(), list)
	}
	if err != nil {
		f.Abandon()
		return nil, err
	}
	s.list = list
	return f.f, nil
}

// readSwap reads the list of a swap.
func readSwap(list string) (*swap, error) {
	base, number, ok := cutHidden(filepath.Base(list), "list")
	info, err := os.Lstat(list)
	if err != nil || !ok || info.Size() > 1<<20 {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	text, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	s := &swap{directory: filepath.Dir(list), number: number, list: list}
	for line := range strings.Lines(string(text)) {
		var what, name string
		var by uint64
		if _, err := fmt.Sscanf(line, "%s %d %q\n", &what, &by, &name); err != nil ||
			name != filepath.Base(name) || !filepath.IsLocal(name) || what != "old" && what != "none" {
			return nil, fs.ErrInvalid
		}
		s.members = append(s.members, member{filepath.Join(s.directory, name), what == "old", by})
	}
	if len(s.members) == 0 || stem(s.members[0].path) != base {
		return nil, fs.ErrInvalid
	}
	return s, nil
}

// kept returns the second name of what a member replaces.
func (s *swap) kept(m member) string { return hidden(m.path, s.number, "old") }

// keep gives what a member replaces its second name, where files have no two names the only one.
func (s *swap) keep(m member) error {
	if !m.old {
		return nil
	}
	if err := failing("link", m.path); err != nil {
		return err
	}
	if os.Link(m.path, s.kept(m)) == nil {
		return nil
	}
	return os.Rename(m.path, s.kept(m))
}

// undo puts back what was there, as far as it was replaced. If it cannot, the list stays, for the next
// command.
func (s *swap) undo() error {
	for _, m := range s.members {
		if err := s.undoOne(m); err != nil {
			return fmt.Errorf("%s cannot be put back: what was there is %s: %w", m.path, s.kept(m), err)
		}
	}
	return s.forget()
}

func (s *swap) undoOne(m member) error {
	info, err := os.Lstat(m.path)
	other := err == nil && m.by != 0 && numberOnDisk(info) != m.by // than the one that replaces it
	switch {
	case !m.old && other:
		return nil
	case !m.old:
		return remove(m.path)
	case other: // what was there before, or what somebody has written since
		return remove(s.kept(m))
	}
	err = rename(s.kept(m), m.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was not yet kept
	}
	if err != nil {
		return err
	}
	return remove(s.kept(m)) // which stays if both are names of one file
}

// forget removes the list.
func (s *swap) forget() error {
	if s.list == "" {
		return nil
	}
	return remove(s.list)
}

// remove removes a file if it is there.
func remove(path string) error {
	if err := failing("remove", path); err != nil {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// syncDirectory has the names of a directory on the disk, if it can.
func syncDirectory(path string) {
	if d, err := os.Open(path); err == nil {
		_ = d.Sync()
		d.Close()
	}
}
