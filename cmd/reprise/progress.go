package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

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
