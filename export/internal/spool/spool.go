// Package spool keeps bytes of several streams in one temporary file, as long as they are too many for memory.
package spool

import (
	"bytes"
	"io"
	"os"
)

// A File is a temporary file. The zero File is empty; the file is made once a stream is longer than its buffer.
type File struct {
	file *os.File
	size int64
	err  error
}

// Close removes the file.
func (f *File) Close() {
	if f.file != nil {
		f.file.Close()
		os.Remove(f.file.Name())
		f.file = nil
	}
}

// A Stream keeps its last bytes in memory, and those before in a File.
type Stream struct {
	file   *File
	most   int
	buffer []byte
	parts  []part
}

// A part is a part of a File.
type part struct{ at, size int64 }

// Stream returns a new Stream that has so many bytes in memory at most, and what was written last.
func (f *File) Stream(most int) *Stream { return &Stream{file: f, most: most} }

// Write writes b to the end of s.
func (s *Stream) Write(b []byte) (int, error) {
	s.buffer = append(s.buffer, b...)
	if len(s.buffer) < s.most {
		return len(b), nil
	}
	f := s.file
	if f.file == nil && f.err == nil {
		if f.file, f.err = os.CreateTemp("", "reprise-export-*"); f.err == nil {
			os.Remove(f.file.Name()) // where a file that is open can be, nothing is left whatever happens
		}
	}
	if f.err == nil {
		_, f.err = f.file.Write(s.buffer)
	}
	s.parts = append(s.parts, part{f.size, int64(len(s.buffer))})
	f.size += int64(len(s.buffer))
	s.buffer = s.buffer[:0]
	return len(b), f.err
}

// Reader returns a reader of what was written.
func (s *Stream) Reader() io.Reader {
	readers := make([]io.Reader, 0, len(s.parts)+1)
	for _, p := range s.parts {
		readers = append(readers, io.NewSectionReader(s.file.file, p.at, p.size))
	}
	return io.MultiReader(append(readers, bytes.NewReader(s.buffer))...)
}
