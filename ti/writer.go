package ti

import "io"

// flushSize is how many bytes a writer gathers before it hands them on.
const flushSize = 64 << 10

// lines gathers the lines of one file.
type lines struct {
	buf  []byte // not yet written
	open bool   // the last line has no line feed
}

// add appends the line of c. If the last line lacks its line feed, as only the
// last of a file can, it gets one now.
func (l *lines) add(c Call) error {
	n := len(l.buf)
	if l.open {
		l.buf = append(l.buf, '\n')
	}
	buf, err := AppendCall(l.buf, c)
	if err != nil {
		l.buf = l.buf[:n]
		return err
	}
	l.buf, l.open = buf, buf[len(buf)-1] != '\n'
	return nil
}

// A Writer writes a trace as one file for all ranks, in the order of the calls.
// It must not be used by two goroutines at once.
type Writer struct {
	dst   io.Writer
	lines lines
	err   error // sticks
}

// NewWriter returns a Writer to w. The caller calls [Writer.Flush] at the end.
func NewWriter(w io.Writer) *Writer { return &Writer{dst: w} }

// Write writes the line of c, see [AppendCall]. Errors of the underlying writer
// stick; after a call that cannot be written, others can.
func (w *Writer) Write(c Call) error {
	if w.err != nil {
		return w.err
	}
	if err := w.lines.add(c); err != nil {
		return err
	}
	if len(w.lines.buf) >= flushSize {
		return w.Flush()
	}
	return nil
}

// Flush hands on everything written so far.
func (w *Writer) Flush() error {
	if w.err != nil || len(w.lines.buf) == 0 {
		return w.err
	}
	_, w.err = w.dst.Write(w.lines.buf)
	w.lines.buf = w.lines.buf[:0]
	return w.err
}
