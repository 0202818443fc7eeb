package events

import (
	"iter"
	"math"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/query"
)

// A Rank is a rank that is being exported.
type Rank struct {
	*reprise.Rank
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
	rank, err := t.trace.Rank(number)
	if err != nil {
		return nil, err
	}
	clock, err := openClock(t.ctx, t.times, rank)
	if err != nil {
		return nil, err
	}
	r := &Rank{Rank: rank, Number: number, trace: t, clock: clock, thread: make([]int32, rank.Table().Len())}
	for terminal := range r.thread {
		r.thread[terminal] = int32(rank.Call(uint32(terminal)).Thread())
	}
	r.messages, err = t.numberMessages(r)
	return r, err
}

// TimesBy returns what the times of the calls are known by.
func (r *Rank) TimesBy() query.Source { return r.clock.source() }

// TimesLabel says what the times of the calls are, for a person, and how exact.
func (r *Rank) TimesLabel() string { return Label(r.clock.source(), r.clock.guarantee()) }

// End returns when the last call of the rank ends.
func (r *Rank) End() (int64, error) {
	end := int64(min(r.Len(), math.MaxInt64/perCall)) * perCall
	if c := r.clock.clock; c != nil {
		_, last, err := c.Span()
		if err != nil && r.LostTimes() == nil {
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
	return func(yield func(Event, error) bool) {
		if !r.events(thread, yield) {
			return
		}
		if err := r.LostTimes(); err != nil {
			if err = r.trace.lose(r.Number, true, err); err != nil {
				yield(Event{}, err)
			}
		}
	}
}

// events yields the calls that were chosen of the threads that wanted reports, and reports
// whether there may be more to yield.
func (r *Rank) events(wanted func(thread int32) bool, yield func(Event, error) bool) bool {
	var (
		nested = make(map[int32]*nesting)
		last   *nesting // of thread
		thread int32
		in     = *r.trace.options.Between
	)
	for position, c := range r.clock.calls(in) {
		if last == nil || r.thread[c.terminal] != thread {
			thread = r.thread[c.terminal]
			if last = nested[thread]; last == nil {
				last = &nesting{}
				nested[thread] = last
			}
		}
		e := Event{Position: position, Terminal: c.terminal, Thread: thread}
		e.Start, e.End = last.place(c.start, c.end)
		taken := wanted(thread) && query.Overlaps(c.start, c.end-c.start, in.From, in.To)
		if err := r.trace.step(taken); err != nil {
			yield(Event{}, err)
			return false
		}
		if taken && !yield(e, nil) {
			return false
		}
	}
	return true
}

// A nesting keeps the calls of a thread one after another, or one in another.
type nesting struct {
	open []stretch // that no later call contains so far, in order and apart
}

// A stretch is a stretch of time.
type stretch struct{ start, end int64 }

// maxOpen bounds what is held: earlier calls are taken to be over for good.
const maxOpen = 256

// place returns the times of the next call to return: it begins no earlier than the
// run, and than the end of the calls that it does not contain.
func (n *nesting) place(start, end int64) (int64, int64) {
	start = max(start, 0)
	end = max(start, end)
	for k := len(n.open) - 1; k >= 0 && n.open[k].end > start; k-- {
		if n.open[k].start < start || n.open[k].end > end {
			start = n.open[k].end
			end = max(start, end)
			break
		}
		n.open = n.open[:k]
	}
	if len(n.open) == maxOpen {
		n.open = append(n.open[:0], n.open[maxOpen/2:]...)
	}
	n.open = append(n.open, stretch{start, end})
	return start, end
}
