// Package traceos records what a program does with files.
//
//	files := traceos.New(process)
//	f, err := files.Open("data.txt")
//	…
//	n, err := f.Read(buffer)
//
// A [File] is an [os.File] whose reads, writes and the like are calls of os.read, os.write
// and so on: with the file as a handle, the sizes, and the error. Handles are used again
// after a file is closed, so that a loop over files is one loop. Calls that are under way
// at once are of different threads.
package traceos

import (
	"io"
	"io/fs"
	"os"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/tracer"
)

type file struct{} // the class of handles

type handle = tracer.Handle[file]

var (
	open   = tracer.Func5[string, int, int, handle, string]("os.open", "path", "flags", "mode", "out file", "out error")
	read   = tracer.Func4[handle, int, int, string]("os.read", "file", "bytes", "out read", "out error")
	readAt = tracer.Func5[handle, int, int64, int, string]("os.readat", "file", "bytes", "offset", "out read",
		"out error")
	write = tracer.Func3[handle, int, string]("os.write", "file", "bytes", "out error")
	wrAt  = tracer.Func4[handle, int, int64, string]("os.writeat", "file", "bytes", "offset", "out error")
	seek  = tracer.Func5[handle, int64, int, int64, string]("os.seek", "file", "offset", "whence",
		"out position", "out error")
	sync   = tracer.Func2[handle, string]("os.sync", "file", "out error")
	shut   = tracer.Func2[handle, string]("os.close", "file", "out error")
	remove = tracer.Func2[string, string]("os.remove", "path", "out error")
	rename = tracer.Func3[string, string, string]("os.rename", "from", "to", "out error")
)

// none is the handle of a file that could not be opened.
const none handle = -1

// Files opens files whose use is recorded.
type Files struct{ process *tracer.Process }

// New returns Files that record in a process.
func New(p *tracer.Process) Files { return Files{p} }

// call calls do on a thread of its own.
func (s Files) call(do func(t *tracer.Thread, begun tracer.Moment)) {
	thread := s.process.Thread()
	defer thread.Release()
	do(thread, thread.Begin())
}

// text returns the text of an error, "" for none, without the path: that is an argument.
func text(err error) string {
	switch e := err.(type) {
	case nil:
		return ""
	case *fs.PathError:
		return e.Err.Error()
	case *os.LinkError:
		return e.Err.Error()
	}
	return err.Error()
}

// Open is [os.Open].
func (s Files) Open(path string) (*File, error) { return s.OpenFile(path, os.O_RDONLY, 0) }

// Create is [os.Create].
func (s Files) Create(path string) (*File, error) {
	return s.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// OpenFile is [os.OpenFile].
func (s Files) OpenFile(path string, flags int, mode fs.FileMode) (f *File, err error) {
	s.call(func(t *tracer.Thread, begun tracer.Moment) {
		var of *os.File
		id := none
		if of, err = os.OpenFile(path, flags, mode); err == nil {
			id = handle(s.process.Object("file"))
			f = &File{of, s, id}
		}
		open.End(t, begun, path, flags, int(mode), id, text(err))
	})
	return f, err
}

// Remove is [os.Remove].
func (s Files) Remove(path string) (err error) {
	s.call(func(t *tracer.Thread, begun tracer.Moment) {
		err = os.Remove(path)
		remove.End(t, begun, path, text(err))
	})
	return err
}

// Rename is [os.Rename].
func (s Files) Rename(from, to string) (err error) {
	s.call(func(t *tracer.Thread, begun tracer.Moment) {
		err = os.Rename(from, to)
		rename.End(t, begun, from, to, text(err))
	})
	return err
}

// A File is an [os.File] that records Read, ReadAt, Write, WriteAt, WriteString, ReadFrom,
// WriteTo, Seek, Sync and Close. Other methods are those of the os.File, and are not
// recorded.
type File struct {
	*os.File
	files Files
	id    handle
}

// call calls do with the file on a thread of its own. In place of nil, which an open that failed
// returned, it is one of which os says that it is none.
func (f *File) call(do func(f *File, t *tracer.Thread, begun tracer.Moment)) {
	if f == nil {
		f = &File{id: none}
	}
	f.files.call(func(t *tracer.Thread, begun tracer.Moment) { do(f, t, begun) })
}

// Read is [os.File.Read].
func (f *File) Read(b []byte) (n int, err error) {
	f.call(func(f *File, t *tracer.Thread, begun tracer.Moment) {
		n, err = f.File.Read(b)
		read.End(t, begun, f.id, len(b), n, text(err))
	})
	return n, err
}

// ReadAt is [os.File.ReadAt].
func (f *File) ReadAt(b []byte, offset int64) (n int, err error) {
	f.call(func(f *File, t *tracer.Thread, begun tracer.Moment) {
		n, err = f.File.ReadAt(b, offset)
		readAt.End(t, begun, f.id, len(b), offset, n, text(err))
	})
	return n, err
}

// Write is [os.File.Write].
func (f *File) Write(b []byte) (n int, err error) {
	f.call(func(f *File, t *tracer.Thread, begun tracer.Moment) {
		n, err = f.File.Write(b)
		write.End(t, begun, f.id, len(b), text(err))
	})
	return n, err
}

// WriteString is [os.File.WriteString].
func (f *File) WriteString(s string) (n int, err error) { return f.Write([]byte(s)) }

// WriteAt is [os.File.WriteAt].
func (f *File) WriteAt(b []byte, offset int64) (n int, err error) {
	f.call(func(f *File, t *tracer.Thread, begun tracer.Moment) {
		n, err = f.File.WriteAt(b, offset)
		wrAt.End(t, begun, f.id, len(b), offset, text(err))
	})
	return n, err
}

// ReadFrom copies what r has to the file, by way of Write.
func (f *File) ReadFrom(r io.Reader) (int64, error) {
	need.That(r != nil, "traceos: nothing to read from")
	return io.Copy(struct{ io.Writer }{f}, r)
}

// WriteTo copies what is left of the file to w, by way of Read.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	need.That(w != nil, "traceos: nothing to write to")
	return io.Copy(w, struct{ io.Reader }{f})
}

// Seek is [os.File.Seek].
func (f *File) Seek(offset int64, whence int) (at int64, err error) {
	f.call(func(f *File, t *tracer.Thread, begun tracer.Moment) {
		at, err = f.File.Seek(offset, whence)
		seek.End(t, begun, f.id, offset, whence, at, text(err))
	})
	return at, err
}

// Sync is [os.File.Sync].
func (f *File) Sync() (err error) {
	f.call(func(f *File, t *tracer.Thread, begun tracer.Moment) {
		err = f.File.Sync()
		sync.End(t, begun, f.id, text(err))
	})
	return err
}

// Close is [os.File.Close]. The handle is free after it.
func (f *File) Close() (err error) {
	f.call(func(f *File, t *tracer.Thread, begun tracer.Moment) {
		err = f.File.Close()
		shut.End(t, begun, f.id, text(err))
		if err == nil {
			f.files.process.Release("file", int64(f.id))
		}
	})
	return err
}
