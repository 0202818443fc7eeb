package format

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"testing"
)

func TestWriterErrors(t *testing.T) {
	tests := []struct {
		name  string
		o     Options
		items []item
		want  error // nil: any
	}{
		{"Twice", Options{}, []item{{1, 2, nil}, {1, 3, nil}, {1, 2, nil}}, nil},
		{"Encoding", Options{Encoding: alias}, []item{{1, 2, nil}}, ErrEncoding},
		{"Content", Options{MaxContent: 3}, []item{{1, 2, []byte("four")}}, ErrLimit},
		{"Sections", Options{MaxIndex: 6}, []item{{1, 2, nil}, {1, 3, nil}, {1, 4, nil}}, ErrLimit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := NewWriter(io.Discard, tt.o)
			last := len(tt.items) - 1
			for _, it := range tt.items[:last] {
				if err := w.Add(it.kind, it.key, it.content); err != nil {
					t.Fatal(err)
				}
			}
			err := w.Add(tt.items[last].kind, tt.items[last].key, tt.items[last].content)
			if err == nil || !errors.Is(err, cmp.Or(tt.want, err)) {
				t.Fatalf("Add = %v, want %v", err, tt.want)
			}
			if again := w.Add(9, 9, nil); again != err {
				t.Errorf("next Add = %v, want %v", again, err)
			}
			if closed := w.Close(); closed != err {
				t.Errorf("Close = %v, want %v", closed, err)
			}
		})
	}
}

func TestWriterClose(t *testing.T) {
	var buf bytes.Buffer
	w := NewWriter(&buf, Options{})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	n := buf.Len()
	if err := w.Close(); err != nil || buf.Len() != n {
		t.Errorf("second Close = %v, wrote %d bytes", err, buf.Len()-n)
	}
	if err := w.Add(1, 1, nil); err == nil {
		t.Error("Add after Close without error")
	}
	checkItems(t, open(t, buf.Bytes(), Options{}), nil)

	w = NewWriter(&buf, Options{MaxIndex: 3})
	w.Add(1<<32-1, 0, nil) // fits the count, not the bytes
	if err := w.Close(); !errors.Is(err, ErrLimit) {
		t.Errorf("Close = %v, want %v", err, ErrLimit)
	}
}

// A failingWriter accepts n bytes.
type failingWriter struct {
	n   int
	err error
}

func (f *failingWriter) Write(p []byte) (int, error) {
	if len(p) > f.n {
		return f.n, f.err
	}
	f.n -= len(p)
	return len(p), nil
}

func TestWriteFails(t *testing.T) {
	broken := errors.New("no space left")
	o := Options{Encoding: LZ4}
	for n := range len(write(t, o, samples)) {
		for _, cause := range []error{broken, nil} {
			w := NewWriter(&failingWriter{n, cause}, o)
			var first error
			for _, it := range samples {
				if err := w.Add(it.kind, it.key, it.content); first == nil {
					first = err
				} else if err != first {
					t.Fatalf("Add = %v after %v", err, first)
				}
			}
			err := w.Close()
			if first != nil && err != first {
				t.Fatalf("Close = %v after %v", err, first)
			}
			if !errors.Is(err, cmp.Or(cause, io.ErrShortWrite)) {
				t.Fatalf("after %d bytes: %v", n, err)
			}
		}
	}
}

// A failingReader fails when it is asked for the byte at offset at.
type failingReader struct {
	io.ReaderAt
	at  int64
	err error
}

func (f failingReader) ReadAt(p []byte, off int64) (int, error) {
	if off <= f.at && f.at < off+int64(len(p)) {
		return int(f.at - off), f.err
	}
	return f.ReaderAt.ReadAt(p, off)
}

// TestReadFails checks that a failure to read is reported as one, wherever it
// comes, and never as damage.
func TestReadFails(t *testing.T) {
	file := write(t, Options{}, samples)
	broken := errors.New("input/output error")
	isRead := func(err error) bool {
		var pe *ParseError
		return errors.Is(err, broken) && !errors.As(err, &pe)
	}
	// The small file is read whole by the first read of its end.
	for at := range int64(len(file)) {
		f := failingReader{bytes.NewReader(file), at, broken}
		if _, err := NewReader(f, int64(len(file)), Options{}); !isRead(err) {
			t.Fatalf("NewReader: %v", err)
		}
		if _, _, err := Salvage(f, int64(len(file)), Options{}); !isRead(err) {
			t.Fatalf("Salvage: %v", err)
		}
	}
	r := open(t, file, Options{})
	for _, s := range r.All() {
		r.r = failingReader{bytes.NewReader(file), s.Source + 3, broken}
		if _, err := r.Content(s); !isRead(err) {
			t.Fatalf("Content: %v", err)
		}
	}
	if _, err := NewReader(bytes.NewReader(file), int64(len(file))+1, Options{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("with a size too large: %v", err)
	}
}

// TestSalvageReadFails fails each read of a file that takes many.
func TestSalvageReadFails(t *testing.T) {
	content := make([]byte, 5*windowLen)
	for i := range content {
		content[i] = byte(i * i >> 8)
	}
	file := write(t, Options{Encoding: None}, []item{{1, 1, content}, {1, 2, content[1:]}})
	file[9]++ // a damaged head: the first section is searched for a marker
	broken := errors.New("input/output error")
	for at := int64(0); at < int64(len(file)); at += windowLen / 2 {
		f := failingReader{bytes.NewReader(file), at, broken}
		if _, _, err := Salvage(f, int64(len(file)), Options{}); !errors.Is(err, broken) {
			t.Fatalf("byte %d: %v", at, err)
		}
	}
}
