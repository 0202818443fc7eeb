package main

import (
	"context"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/rivo/uniseg"
	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/reprise-trace/reprise/internal/text"
)

// An output is standard output. Its first error sticks, so that who prints does
// not have to look at errors: run does. Once the work is cancelled it fails,
// which ends whatever prints much.
type output struct {
	ctx  context.Context
	w    io.Writer
	wide bool // lines have no end
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

// Character measures the first character of a text.
func (o *output) Character(s string) (bytes, columns int) {
	c, _, columns, _ := uniseg.FirstGraphemeClusterInString(s, -1)
	return len(c), columns
}

// A progress shows how far long work has come, on standard error if that is a
// terminal, and notices that the work was cancelled.
type progress struct {
	ctx    context.Context
	stderr io.Writer
	what   string
	things string                   // that are counted, or empty if there are none
	total  int64                    // of them, or −1
	bar    *progressbar.ProgressBar // nil: nothing is shown
	steps  int
}

// newProgress returns a progress over total bytes, or over an unknown number of
// bytes if total is −1.
func newProgress(ctx context.Context, stderr io.Writer, what string, total int64) *progress {
	return newCounter(ctx, stderr, what, total, "bytes")
}

// newCounter returns a progress over total things, or over an unknown number if
// total is −1.
func newCounter(ctx context.Context, stderr io.Writer, what string, total int64, things string) *progress {
	p := &progress{ctx: ctx, stderr: stderr, what: what, things: things, total: total}
	if f, ok := stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.begin()
	}
	return p
}

func (p *progress) begin() {
	options := []progressbar.Option{
		progressbar.OptionSetDescription(p.what),
		progressbar.OptionSetWriter(p.stderr),
		progressbar.OptionSetRenderBlankState(true),
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionClearOnFinish(),
	}
	switch p.things {
	case "":
	case "bytes":
		options = append(options, progressbar.OptionShowBytes(true))
	default:
		options = append(options, progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(p.things))
	}
	p.bar = progressbar.NewOptions64(p.total, options...)
}

// callsPerStep is how many calls pass between two looks at the clock.
const callsPerStep = 4096

// step tells that one more call is done, and how many bytes in all. It returns
// an error if the work was cancelled.
func (p *progress) step(bytes uint64) error {
	if p.steps++; p.steps%callsPerStep != 0 {
		return nil
	}
	return p.at(bytes)
}

// at is step for work that looks at the clock seldom enough by itself.
func (p *progress) at(bytes uint64) error {
	p.show(bytes)
	return p.ctx.Err()
}

// show moves the bar. A total that is exceeded was that of a list of files, which
// says nothing.
func (p *progress) show(done uint64) {
	if p.bar == nil {
		return
	}
	if p.total >= 0 && done > uint64(p.total) {
		p.done()
		p.total = -1
		p.begin()
	}
	p.bar.Set64(int64(done))
}

// done takes the bar off the screen.
func (p *progress) done() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
