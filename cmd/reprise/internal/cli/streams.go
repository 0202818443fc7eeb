package cli

import (
	"context"
	"io"
	"os"
	"strconv"

	"github.com/rivo/uniseg"
	"golang.org/x/term"

	"github.com/reprise-trace/reprise/internal/text"
)

// An Output is standard output. Its first error sticks, so that who prints does
// not have to look at errors: run does. Once the work is cancelled it fails,
// which ends whatever prints much.
type Output struct {
	Ctx  context.Context
	W    io.Writer
	Wide bool  // lines have no end
	bare *bool // no styles; nil as long as nobody asked
	err  error
}

func (o *Output) Write(p []byte) (int, error) {
	if o.err == nil {
		o.err = o.Ctx.Err()
	}
	if o.err != nil {
		return 0, o.err
	}
	var n int
	n, o.err = o.W.Write(p)
	return n, o.err
}

// An Input is standard input. A read that waits, for a terminal or a pipe, ends
// when the work is cancelled.
type Input struct {
	Ctx  context.Context
	R    io.Reader
	buf  []byte
	left []byte // of buf, read but not yet handed on
	err  error  // sticks
}

// An amount is the result of a read.
type amount struct {
	n   int
	err error
}

func (i *Input) Read(p []byte) (int, error) {
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
func (i *Input) fill() {
	if i.buf == nil {
		i.buf = make([]byte, 64<<10)
	}
	done := make(chan amount, 1)
	go func() {
		n, err := i.R.Read(i.buf)
		done <- amount{n, err}
	}()
	select {
	case <-i.Ctx.Done():
		i.err = i.Ctx.Err()
	case a := <-done:
		i.left, i.err = i.buf[:a.n], a.err
	}
}

// A Counter counts the bytes written to it.
type Counter int64

func (c *Counter) Write(p []byte) (int, error) {
	*c += Counter(len(p))
	return len(p), nil
}

// DefaultColumns is how wide lines are that no terminal shows.
const DefaultColumns = 80

// Columns returns how many columns the lines of answers have: those of the environment, or
// of the terminal that is written to, or 80. It is 0 if lines have no end.
func (o *Output) Columns() int {
	if t, ok := o.W.(text.Terminal); ok {
		return t.Columns()
	}
	if o.Wide {
		return 0
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := o.W.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return DefaultColumns
}

// Style returns a text in a style, if what is written to shows it.
func (o *Output) Style(s string, style text.Style) string {
	if o.bare == nil {
		bare := !coloured(o.W)
		o.bare = &bare
	}
	if *o.bare {
		return s
	}
	return paint(s, style)
}

// Character measures the first character of a text.
func (o *Output) Character(s string) (bytes, columns int) {
	c, _, columns, _ := uniseg.FirstGraphemeClusterInString(s, -1)
	return len(c), columns
}
