package main

import (
	"context"
	"io"
	"os"
	"strconv"

	"github.com/rivo/uniseg"
	"golang.org/x/term"

	"github.com/reprise-trace/reprise/internal/text"
)

// An output is standard output. Its first error sticks, so that who prints does
// not have to look at errors: run does. Once the work is cancelled it fails,
// which ends whatever prints much.
type output struct {
	ctx  context.Context
	w    io.Writer
	wide bool  // lines have no end
	bare *bool // no styles; nil as long as nobody asked
	err  error
}

func (o *output) Write(p []byte) (int, error) {
	if o.err == nil {
		o.err = o.ctx.Err()
	}
	if o.err != nil {
		return 0, o.err
	}
	var n int
	n, o.err = o.w.Write(p)
	return n, o.err
}

// An input is standard input. A read that waits, for a terminal or a pipe, ends
// when the work is cancelled.
type input struct {
	ctx  context.Context
	r    io.Reader
	buf  []byte
	left []byte // of buf, read but not yet handed on
	err  error  // sticks
}

// An amount is the result of a read.
type amount struct {
	n   int
	err error
}

func (i *input) Read(p []byte) (int, error) {
	if len(i.left) == 0 && i.err == nil {
		i.fill()
	}
	n := copy(p, i.left)
	if i.left = i.left[n:]; n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, i.err
}

// fill reads into buf. If the work is cancelled meanwhile, the read goes on and
// buf belongs to it.
func (i *input) fill() {
	if i.buf == nil {
		i.buf = make([]byte, 64<<10)
	}
	done := make(chan amount, 1)
	go func() {
		n, err := i.r.Read(i.buf)
		done <- amount{n, err}
	}()
	select {
	case <-i.ctx.Done():
		i.err = i.ctx.Err()
	case a := <-done:
		i.left, i.err = i.buf[:a.n], a.err
	}
}

// A counter counts the bytes written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// defaultColumns is how wide lines are that no terminal shows.
const defaultColumns = 80

// Columns returns how many columns the lines of answers have: those of the environment, or
// of the terminal that is written to, or 80. It is 0 if lines have no end.
func (o *output) Columns() int {
	if t, ok := o.w.(text.Terminal); ok {
		return t.Columns()
	}
	if o.wide {
		return 0
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := o.w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return defaultColumns
}

// Style returns a text in a style, if what is written to shows it.
func (o *output) Style(s string, style text.Style) string {
	if o.bare == nil {
		bare := !coloured(o.w)
		o.bare = &bare
	}
	if *o.bare {
		return s
	}
	return paint(s, style)
}

// Character measures the first character of a text.
func (o *output) Character(s string) (bytes, columns int) {
	c, _, columns, _ := uniseg.FirstGraphemeClusterInString(s, -1)
	return len(c), columns
}
