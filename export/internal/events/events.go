// Package events goes through the calls of a trace as stretches of time, for the
// exports that show them so.
//
// [Open] takes the ranks and the stretch of time that are wanted, [Trace.Ranks] reads the
// ranks, and [Rank.All] yields their calls, in nanoseconds since the run began:
//
//	trace, err := events.Open(ctx, t, export.Options{})
//	…
//	for rank, err := range trace.Ranks() {
//		…
//		for e, err := range rank.All() {
//			fmt.Println(e.Start, e.End, rank.Name(e.Terminal), rank.Args(e.Terminal))
//		}
//	}
//
// # Times
//
// A call has the time that was recorded, or the time that its statistics or histograms
// let expect. Where there are no times, a call takes one microsecond, and begins where
// the one before it ended: times are positions then. [Rank.TimesBy] tells which it is,
// and [Rank.TimesLabel] how exact times are that were recorded.
//
// Calls come in the order in which they returned. Those of one thread lie one after
// another, or one in another, as those that a callback makes do. Where durations are not
// exact, a call ends where the next one begins at the latest, as starts are nearer to the
// truth; what a clock that was set back says otherwise is cut off at the beginning of the later call.
//
// # Cost
//
// What is held is a rank at a time, in proportion to its signatures and its grammar,
// not to its calls.
package events

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/spool"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A Choice is what options choose of a trace, and the times that the trace has.
type Choice struct {
	Trace     *trace.Trace
	Ranks     rankenc.Set
	Times     *query.Times      // nil if the trace has none
	Series    bool              // whether it has the times of every call of a rank
	Summaries [2]timing.Summary // of durations and gaps

	options export.Options
	ctx     context.Context
}

// Choose returns what o chooses of t.
func Choose(ctx context.Context, t *trace.Trace, o export.Options) (*Choice, error) {
	if in := o.Between; in != nil && (in.From < 0 || in.To < in.From) {
		return nil, fmt.Errorf("there is no time from %d to %d ns", in.From, in.To)
	}
	c := &Choice{Trace: t, Ranks: rankenc.World(t.Ranks()), options: o, ctx: ctx}
	if o.Ranks != nil {
		c.Ranks = *o.Ranks
	}
	var err error
	if c.Summaries[0], c.Summaries[1], err = t.Summaries(); err != nil {
		return nil, err
	}
	series, _, err := t.SeriesRanks()
	if err != nil {
		return nil, err
	}
	c.Series = series.Len() > 0
	if c.Series || !layout.NoSummary(&c.Summaries[0]) || !layout.NoSummary(&c.Summaries[1]) {
		c.Times, err = query.OpenTimes(t)
	}
	return c, err
}

// Numbers returns an iterator over the numbers of the ranks that were chosen and made
// calls, in ascending order.
func (c *Choice) Numbers() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, rank := range c.Trace.RankSet().All() {
			if c.Ranks.Contains(rank) && !yield(rank) {
				return
			}
		}
	}
}

// Between returns the interval that was chosen by the clock of the trace; false if all
// times are.
func (c *Choice) Between() (from, to int64, chosen bool, err error) {
	if c.options.Between == nil {
		return 0, 0, false, nil
	}
	begin := int64(0)
	if c.Times != nil {
		if begin, err = c.Times.Begin(); err != nil {
			return 0, 0, true, err
		}
	}
	return begin + c.options.Between.From, after(begin, c.options.Between.To), true, nil
}

// Done tells of so many calls.
func (c *Choice) Done(calls uint64) error {
	if c.options.Progress == nil {
		return nil
	}
	return c.options.Progress(calls)
}

// A Trace goes through the calls of what was chosen. It must not be used by two goroutines
// at once.
type Trace struct {
	choice  *Choice
	in      export.Interval
	printer *trace.Printer
	calls   uint64 // taken so far
	passed  uint64 // those and others

	names      map[*cst.Function][]string // of arguments
	categories []string                   // of functions, once they are asked for
	numbering  *query.Numbering           // of messages; nil if they have none

	moved    spool.File
	moves    map[[2]int]*spool.Stream // of calls that end later, by rank and thread
	reversed uint64
}

// Open returns what o chooses of t. When ctx is done, going through the calls ends
// with its error.
func Open(ctx context.Context, t *trace.Trace, o export.Options) (*Trace, error) {
	choice, err := Choose(ctx, t, o)
	if err != nil {
		return nil, err
	}
	in := export.Interval{From: 0, To: math.MaxInt64}
	if o.Between != nil {
		in = *o.Between
	}
	printer := t.Printer(trace.PrintOptions{Absolute: true})
	return &Trace{choice: choice, in: in, printer: printer, names: make(map[*cst.Function][]string)}, nil
}

// Choice returns what was chosen.
func (t *Trace) Choice() *Choice { return t.choice }

// Source returns the trace of which t is a choice.
func (t *Trace) Source() *trace.Trace { return t.choice.Trace }

// Ranks returns an iterator over the ranks that were chosen and made calls, in ascending
// order. An error ends it.
func (t *Trace) Ranks() iter.Seq2[*Rank, error] {
	return func(yield func(*Rank, error) bool) {
		for number := range t.choice.Numbers() {
			r, err := t.open(number)
			if !yield(r, err) || err != nil {
				return
			}
		}
		if err := t.Done(); err != nil {
			yield(nil, err)
		}
	}
}

// Done tells how many calls were taken so far. Ranks does so at its end: who goes through
// calls after that, when these are done.
func (t *Trace) Done() error { return t.choice.Done(t.calls) }

// Begin returns when the run began, by the clock of the trace, in nanoseconds; 0 if that
// is not known.
func (t *Trace) Begin() int64 {
	if t.choice.Times == nil {
		return 0
	}
	begin, err := t.choice.Times.Begin()
	if err != nil {
		return 0
	}
	return begin
}

// callsPerStep is how many calls pass between two looks at the context.
const callsPerStep = 4096

// step passes a call, which is taken or not.
func (t *Trace) step(taken bool) error {
	if taken {
		t.calls++
	}
	if t.passed++; t.passed%callsPerStep != 0 {
		return nil
	}
	if err := t.Done(); err != nil {
		return err
	}
	return t.choice.ctx.Err()
}

// A Rank is a rank that is being exported.
type Rank struct {
	*trace.Rank
	Number int
	trace  *Trace
	clock  clock
	thread []int32 // by terminal

	messages *messages // nil if they have no numbers
}

// An Event is a call.
type Event struct {
	Position   uint64
	Terminal   uint32 // of the rank
	Thread     int32
	Start, End int64 // in nanoseconds since the run began, Start ≤ End
}

// open reads a rank.
func (t *Trace) open(number int) (*Rank, error) {
	rank, err := t.choice.Trace.Rank(number)
	if err != nil {
		return nil, err
	}
	clock, err := t.openClock(rank)
	if err != nil {
		return nil, err
	}
	r := &Rank{Rank: rank, Number: number, trace: t, clock: clock, thread: make([]int32, rank.Terminals())}
	for terminal := range r.thread {
		r.thread[terminal] = int32(rank.Call(uint32(terminal)).Thread())
	}
	r.messages, err = t.numberMessages(r)
	return r, err
}

// TimesBy returns what the times of the calls are known by.
func (r *Rank) TimesBy() query.Source { return r.clock.source() }

// TimesLabel says what the times of the calls are, for a person, and how exact.
func (r *Rank) TimesLabel() string {
	return labelIn(r.trace.choice.Trace, r.clock.source(), r.clock.guarantee())
}

// End returns when the last call of the rank ends.
func (r *Rank) End() (int64, error) {
	end := int64(min(r.Len(), math.MaxInt64/perCall)) * perCall
	if c := r.clock.clock; c != nil {
		_, last, err := c.Span()
		if err != nil {
			return 0, err
		}
		end = last - r.clock.begin
	}
	return max(0, end), nil
}

// Terminals returns how many terminals there are: each stands for equal calls.
func (r *Rank) Terminals() int { return len(r.thread) }

// Threads returns an iterator over the threads that make calls, by the numbers of
// their first terminals.
func (r *Rank) Threads() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		seen := make(map[int32]bool)
		for _, thread := range r.thread {
			if !seen[thread] && !yield(thread) {
				return
			}
			seen[thread] = true
		}
	}
}

// All returns an iterator over the calls that were chosen, in the order in which they
// returned. An error ends it.
func (r *Rank) All() iter.Seq2[Event, error] {
	return r.of(func(int32) bool { return true })
}

// Of returns an iterator over those calls of All that a thread made. It goes through those
// of others, too.
func (r *Rank) Of(thread int32) iter.Seq2[Event, error] {
	return r.of(func(t int32) bool { return t == thread })
}

func (r *Rank) of(thread func(int32) bool) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) { r.events(thread, true, yield) }
}

// Ahead returns an iterator over the calls of All for who looks at them twice: they do not count as taken.
func (r *Rank) Ahead() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) { r.events(func(int32) bool { return true }, false, yield) }
}

// events yields the calls that were chosen of the threads that wanted reports, which count as taken or not.
func (r *Rank) events(wanted func(thread int32) bool, counted bool, yield func(Event, error) bool) {
	var (
		nested = make(map[int32]*nesting)
		last   *nesting // of thread
		thread int32
		in     = r.trace.in
	)
	for c, err := range r.cut(r.clock.calls(in)) {
		if err != nil {
			yield(Event{}, err)
			return
		}
		if last == nil || r.thread[c.terminal] != thread {
			thread = r.thread[c.terminal]
			if last = nested[thread]; last == nil {
				last = &nesting{mover: r.trace.mover(r.Number, thread)}
				nested[thread] = last
			}
		}
		end, err := last.of(c.position)
		if err != nil {
			yield(Event{}, err)
			return
		}
		e := Event{Position: c.position, Terminal: c.terminal, Thread: thread}
		e.Start, e.End = last.place(c.start, c.end, end)
		taken := wanted(thread) && query.Overlaps(c.start, c.end-c.start, in.From, in.To)
		if err := r.trace.step(taken && counted); err != nil {
			yield(Event{}, err)
			return
		}
		if taken && !yield(e, nil) {
			return
		}
	}
}

// A nesting keeps the calls of a thread one after another, or one in another.
type nesting struct {
	open []stretch // that no later call contains so far, in order and apart

	over, moved int64 // when the last call ended that ends later, and when it ends
	mover
}

// A stretch is a stretch of time.
type stretch struct{ start, end int64 }

// maxOpen bounds what is held: earlier calls are taken to be over for good.
const maxOpen = 256

// placed returns the times of the next call to return: it begins no earlier than the
// run, and than the end of the calls that it does not contain. It contains the calls of open from the k-th on.
func (n *nesting) placed(start, end int64) (_, _ int64, k int) {
	start = max(n.shift(start), 0)
	end = max(start, n.shift(end))
	for k = len(n.open); k > 0 && n.open[k-1].end > start; k-- {
		if n.open[k-1].start < start || n.open[k-1].end > end {
			start = n.open[k-1].end
			return start, max(start, end), k
		}
	}
	return start, end, k
}

// shift returns a time that was not before a call was over, and so is not before it is.
func (n *nesting) shift(time int64) int64 {
	if time >= n.over {
		return max(time, n.moved)
	}
	return time
}

// place takes the next call to return, which ends no earlier than at least, and returns its times.
func (n *nesting) place(start, end, least int64) (int64, int64) {
	was := end
	start, end, k := n.placed(start, max(end, least))
	if least > was {
		n.over, n.moved = was, end
	}
	n.open = n.open[:k]
	if len(n.open) == maxOpen {
		n.open = append(n.open[:0], n.open[maxOpen/2:]...)
	}
	n.open = append(n.open, stretch{start, end})
	return start, end
}
