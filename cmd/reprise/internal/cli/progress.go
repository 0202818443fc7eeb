package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/reprise-trace/reprise/internal/text"
)

// ProgressAfter is how long work takes before its progress is shown. Tests change it.
var ProgressAfter = 500 * time.Millisecond

// progressEvery is how long a line of progress stays.
const progressEvery = 100 * time.Millisecond

// A Progress shows how far long work has come, in a line on standard error if that is a
// terminal, and notices that the work was cancelled. The line is taken away when the work
// is done, or the program is interrupted.
type Progress struct {
	ctx      context.Context
	terminal *os.File // nil: nothing is shown
	what     string
	things   string // that are counted, or empty if there are none
	total    int64  // of them, or −1
	begun    time.Time
	count    atomic.Uint64          // of things that are done
	said     atomic.Pointer[string] // how far it has come, if there is nothing to count
	steps    int
	told     io.Writer // shows steps; nil if it does not
	toldAt   time.Time // when it last did; not before half a second

	end    sync.Once
	stop   chan struct{}
	finish func() // of unfinished

	mu    sync.Mutex
	shown int  // columns of the line
	ended bool // nothing more is shown
}

// A progressKey is that of what a context says of progress.
type progressKey struct{}

// Shown is when the parts of a work are shown that come one after the other.
type shown struct {
	begun time.Time // of the first
	never bool
	told  io.Writer // of steps, for another process; nil if there is none
}

// Together returns a context of which progress is shown as that of one work, which begins now: each part at
// once, if those before have taken long, and none if it is to be quiet.
func Together(ctx context.Context, quiet bool) context.Context {
	return context.WithValue(ctx, progressKey{}, shown{begun: time.Now(), never: quiet})
}

// Telling returns a context whose steps of progress are written to w, a line each, for a process that
// shows them: see [Progress.Hear].
func Telling(ctx context.Context, w io.Writer) context.Context {
	return context.WithValue(ctx, progressKey{}, shown{begun: time.Now(), never: true, told: w})
}

// toldStep is what lines of steps begin with, after what a launcher writes in front of them.
const toldStep = "reprise-step\t"

// NewProgress returns a progress over total bytes, or over an unknown number of
// bytes if total is −1.
func NewProgress(ctx context.Context, stderr io.Writer, what string, total int64) *Progress {
	return NewCounter(ctx, stderr, what, total, "bytes")
}

// NewCounter returns a progress over total things, or over an unknown number if
// total is −1.
func NewCounter(ctx context.Context, stderr io.Writer, what string, total int64, things string) *Progress {
	p := &Progress{ctx: ctx, what: what, things: things, total: total, begun: time.Now(), stop: make(chan struct{})}
	together, ok := ctx.Value(progressKey{}).(shown)
	if !ok {
		together.begun = p.begun
	}
	p.told, p.toldAt = together.told, p.begun.Add(ProgressAfter-progressEvery)
	if f, ok := stderr.(*os.File); ok && !together.never && term.IsTerminal(int(f.Fd())) {
		p.begin(f, ProgressAfter-time.Since(together.begun))
	}
	return p
}

// begin has the progress shown after a time.
func (p *Progress) begin(terminal *os.File, after time.Duration) {
	finish, err := Unfinished.Begin(func() (func(), error) { return p.clear, nil })
	if err != nil {
		return
	}
	p.terminal, p.finish = terminal, finish
	if after <= 0 {
		p.draw()
	}
	next := time.NewTimer(max(after, progressEvery))
	go func() {
		defer next.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-next.C:
				p.draw()
				next.Reset(progressEvery)
			}
		}
	}()
}

// callsPerStep is how many calls pass between two looks at the clock.
const callsPerStep = 4096

// Step tells that one more call is done, and how many bytes in all. It returns
// an error if the work was cancelled.
func (p *Progress) Step(bytes uint64) error {
	if p.steps++; p.steps%callsPerStep != 0 {
		return nil
	}
	return p.At(bytes)
}

// At is step for work that looks at the clock seldom enough by itself.
func (p *Progress) At(bytes uint64) error {
	p.Show(bytes)
	return p.ctx.Err()
}

// Show tells how many things are done.
func (p *Progress) Show(done uint64) { p.count.Store(done) }

// Say tells how far work has come of which nothing can be counted, and how much of a processor's time the rest
// takes at most, negative if that is not known.
func (p *Progress) Say(step string, left time.Duration) {
	if p.told != nil && time.Since(p.toldAt) >= progressEvery {
		p.toldAt = time.Now()
		fmt.Fprintf(p.told, "%s%d\t%s\n", toldStep, left, step)
	}
	if p.terminal == nil {
		return
	}
	if left >= 0 {
		step += "  at most " + roughly(left) + " of processor left"
	}
	p.said.Store(&step)
}

// Hear shows what a line says that another process has written, and reports whether it is one of progress.
func (p *Progress) Hear(line string) bool {
	_, said, ok := strings.Cut(line, toldStep)
	if !ok {
		return false
	}
	left, step, _ := strings.Cut(said, "\t")
	if n, err := strconv.ParseInt(left, 10, 64); err == nil {
		p.Say(step, time.Duration(n))
	}
	return true
}

// JudgedAfter is how long a replay has taken when it is judged how long the whole takes, which is said if it
// is longer than saidFrom. Tests change them.
var JudgedAfter, SaidFrom = 5 * time.Second, time.Hour

// WarnOfHours returns a function that shows how many calls of a trace are replayed, and warns once if all of
// them seem to take hours.
func WarnOfHours(q *Question, p *Progress) func(calls uint64) {
	judged := p.total <= 0
	return func(calls uint64) {
		p.Show(calls)
		since := time.Since(p.begun)
		if judged || since < JudgedAfter || calls == 0 {
			return
		}
		judged = true
		if whole := since.Seconds() / float64(calls) * float64(p.total); whole > SaidFrom.Seconds() {
			Warn(q.ErrOrStderr(),
				"%s: %s calls are replayed after %s, of %s: if none of the rest can be skipped, all take some %s", q.Path,
				text.Count(int64(calls)), roughly(since), text.Count(p.total),
				roughly(time.Duration(min(whole, 9e9)*1e9)))
		}
	}
}

// Done takes the line off the screen.
func (p *Progress) Done() {
	if p.terminal == nil {
		return
	}
	p.end.Do(func() {
		close(p.stop)
		p.clear()
		p.finish()
	})
}

// clear takes the line off the screen for good.
func (p *Progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	p.ended = true
	lastShown.CompareAndSwap(p, nil)
}

// erase takes the line off the screen. The next one comes in its time.
func (p *Progress) erase() {
	if p.shown > 0 {
		fmt.Fprint(p.terminal, "\r"+strings.Repeat(" ", p.shown)+"\r")
		p.shown = 0
	}
}

// lastShown is the progress that has a line on the screen, if there is one.
var lastShown atomic.Pointer[Progress]

// beforeNotice makes room for what is written to a terminal beside the progress.
func beforeNotice() {
	if p := lastShown.Load(); p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.erase()
	}
}

// draw writes the line over the one before.
func (p *Progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	width, _, err := term.GetSize(int(p.terminal.Fd()))
	if err != nil || width == 0 {
		width = DefaultColumns
	}
	if width < 2 {
		return
	}
	line := p.line(width-1, p.count.Load(), time.Since(p.begun)) // the cursor stays in the line
	columns := len(line)                                         // which is ASCII
	if rest := min(p.shown, width-1) - columns; rest > 0 {
		line += strings.Repeat(" ", rest)
	}
	fmt.Fprint(p.terminal, "\r"+line)
	p.shown = columns
	lastShown.Store(p)
}

// line returns what to show in so many columns. A total that is exceeded was that of a
// list of files, which says nothing.
func (p *Progress) line(columns int, done uint64, since time.Duration) string {
	line := p.what
	switch {
	case p.total > 0 && done <= uint64(p.total):
		share := float64(done) / float64(p.total)
		end := fmt.Sprintf(" %3.0f %%", math.Floor(100*share))
		if left := time.Duration(float64(since) * (1/share - 1)); done > 0 && share < 1 {
			end += "  " + roughly(left) + " left"
		}
		const most = 40 // columns of the bar
		if bar := min(most, columns-len(line)-len(" []")-len("  100 %  59 min 59 s left")); bar >= 10 {
			full := int(share * float64(bar))
			line += " [" + strings.Repeat("=", full) + strings.Repeat(" ", bar-full) + "]"
		}
		line += end
	case p.things == "bytes" && done > 0:
		line += "  " + text.Bytes(done) + "  " + roughly(since)
	case p.things != "" && done > 0:
		line += "  " + text.Count(min(done, math.MaxInt64)) + " " + p.things + "  " + roughly(since)
	default:
		line += "  " + roughly(since)
	}
	if said := p.said.Load(); said != nil {
		line += "  " + *said
	}
	return line[:min(len(line), columns)]
}

// roughly writes a time in seconds, minutes or hours.
func roughly(d time.Duration) string {
	s := int64(min(math.Ceil(d.Seconds()), 1e9))
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %d min", s/3600, s/60%60)
}
