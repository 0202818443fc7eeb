package main

import (
	"context"
	"io"
	"os"

	"golang.org/x/term"
)

// An output is standard output. Its first error sticks, so that who prints does
// not have to look at errors: run does. Once the work is cancelled it fails,
// which ends whatever prints much.
type output struct {
	ctx context.Context
	w   io.Writer
	err error
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

// Columns returns how many columns the terminal has that is written to, or 0 if it is
// none.
func (o *output) Columns() int {
	f, ok := o.w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
