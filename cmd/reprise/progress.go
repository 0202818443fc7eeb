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
	ctx   context.Context
	bar   *progressbar.ProgressBar // nil: nothing is shown
	steps int
}

// newProgress returns a progress over total bytes, or over an unknown number of
// bytes if total is −1.
func newProgress(ctx context.Context, stderr io.Writer, what string, total int64) *progress {
	p := &progress{ctx: ctx}
	if f, ok := stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetDescription(what),
			progressbar.OptionSetWriter(stderr),
			progressbar.OptionShowBytes(true),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish())
	}
	return p
}

// callsPerStep is how many calls pass between two looks at the clock.
const callsPerStep = 4096

// step tells that one more call is done, and how many bytes in all. It returns
// an error if the work was cancelled.
func (p *progress) step(bytes uint64) error {
	if p.steps++; p.steps%callsPerStep != 0 {
		return nil
	}
	if p.bar != nil {
		p.bar.Set64(int64(bytes))
	}
	return p.ctx.Err()
}

// done takes the bar off the screen.
func (p *progress) done() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
