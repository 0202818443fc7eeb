package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/reprise-trace/reprise/internal/memory"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/parallel"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/rankenc"
)

// ErrTooLong means that the run would take longer than a [Time] can be.
var ErrTooLong = errors.New("replay: the run takes longer than 2⁶³ picoseconds, some 106 days")

// ErrTooMany means that more than 2²⁰ messages and requests are open at once, and 2¹⁶ for
// each rank of the trace: messages that are sent and not received, and the like.
var ErrTooMany = errors.New(
	"replay: too many messages are sent that nobody receives, or requests begun that nobody completes")

// A Result is what a replay came to.
type Result struct {
	End   Time   // when the last rank ended
	Calls uint64 // of all ranks

	Messages    uint64 // that were sent and received
	Collectives uint64 // operations, each once for all members

	// Unreceived are messages to ranks of the trace that nobody had received at the end.
	// Unknown are messages and operations of which the trace does not say who takes part: the
	// calls did not wait for them. Outside are messages to ranks that are not in the trace.
	Unreceived, Unknown, Outside uint64

	Ranks []RankResult // that are in the trace, in ascending order
	Path  *Path        // nil if [Options] do not ask for it
}

// LacksReceives reports whether receives are missing in a trace, of which a replay has received so many messages, and
// so many not: more than a hundredth as many. Then it is not known how ranks wait for messages.
func LacksReceives(messages, unreceived uint64) bool {
	const some = 100
	return unreceived > messages/some
}

// A RankResult is how a rank spent its time. Those of several threads are added up.
type RankResult struct {
	Rank int
	End  Time

	Computing Time // between calls, and within those that do nothing to other ranks
	Sending   Time // busy with messages that it sends
	Waiting   Time // the rest of the time in calls
}

// An Event is the end of a call or, if Message is set, the arrival of a message.
type Event struct {
	At    Time
	Start Time // when the call started, or the message was sent

	Call    Call     // that ended; of a message, the call that sends it
	Message *Message // that arrived, at the receiver, which has posted its receive; nil for calls

	Receive Call // of a message, the call that receives it: that which posted the receive
}

// Run replays a trace and returns what came of it. It ends with a [*DeadlockError] if calls wait
// for what never happens, with the cause of ctx if that is done, and with [ErrTooLong] and
// [ErrTooMany]. With any error but those of reading the trace, it returns what came before, too.
func Run(ctx context.Context, model *semantics.Model, m Machine) (*Result, error) {
	return RunWith(ctx, model, m, Options{})
}

// Options say what else a replay tells. The zero Options are nothing else.
type Options struct {
	// Ended, unless it is nil, is called with each call when it ends, and when it started: for those of a
	// thread in their order, but not for those of different threads in the order of time. The Call is valid
	// until it returns.
	Ended func(c *Call, start, end Time)

	// EndedAt, unless it is nil, returns the positions of the calls of a rank, ascending, that Ended is
	// called with, and with no others. Then loops between these are skipped on a [SteadyMachine].
	EndedAt func(r *semantics.Rank) []uint64

	// Sum, unless it is nil, returns what the Machine adds up of a rank in Compute: of skipped iterations it
	// grows by as much as of those that are executed, if that depends on what the times depend on that
	// Compute returns.
	Sum func(r *semantics.Rank) *Time

	// CriticalPath asks for the Path of the Result. It takes some two to three times as long, and memory in
	// proportion to the ranks, times them and the signatures.
	CriticalPath bool

	// Progress, unless it is nil, is called every some thousand calls with how many are executed so far, or
	// skipped. They may become fewer, where too many were skipped.
	Progress func(calls uint64)

	// Seed is what the order depends on of calls of which the trace, made to fit a size, does not keep it.
	Seed uint64
}

// RunWith is [Run], and tells what the Options ask for.
func RunWith(ctx context.Context, model *semantics.Model, m Machine, o Options) (*Result, error) {
	need.That(model != nil && m != nil, "replay: no model or no machine")
	e, err := newEngine(ctx, model, m, nil)
	if err != nil {
		return nil, err
	}
	e.ended, e.some = o.Ended, o.EndedAt != nil
	for _, r := range e.ranks {
		if e.some {
			r.told = o.EndedAt(r.calls)
		}
		if o.Sum != nil {
			r.sum = o.Sum(r.calls)
		}
	}
	e.progress = o.Progress
	if e.paths, e.seed = o.CriticalPath, o.Seed; e.paths {
		e.summed = make([]int32, model.Trace().Signatures()+len(e.ranks))
	}
	err = e.run(nil)
	return e.result(), err
}

// Events replays a trace and returns an iterator over what happens, in the order of time: the
// ends of calls and the arrivals of messages. At one time they are in the order in which the replay
// comes to them, which is the same each time. An error ends it, as those of [Run]. Events are valid
// until the next. It takes several times as long as [Run], and comes to the same.
func Events(ctx context.Context, model *semantics.Model, m Machine) iter.Seq2[*Event, error] {
	need.That(model != nil && m != nil, "replay: no model or no machine")
	return func(yield func(*Event, error) bool) {
		e, err := newEngine(ctx, model, m, nil)
		if err == nil {
			stopped := false
			err = e.run(func(event *Event) bool {
				stopped = !yield(event, nil)
				return !stopped
			})
			if stopped {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// An engine replays a trace.
type engine struct {
	ctx     context.Context
	model   *semantics.Model
	machine Machine

	ranks    []*rank
	byNumber map[int]*rank
	strands  []*strand
	channels map[channelKey]*channel
	comms    map[commKey]*comm

	// What channels and comms have, in the order in which it was made.
	channelList []*channel
	commList    []*comm

	locks map[lockKey]*lock // that ranks may wait for

	unordered bool // there are ranks with threads that share what they use, in an order that is not known
	drawn     bool // the order of some calls is drawn
	seed      uint64
	ordered   bool // strands go on in the order of their clocks
	ready     queue
	later     timeQueue
	rounds    *rounds // nil if loops are not skipped
	surveys   uint64  // of the state
	steps     int
	parked    []*strand // that have sent far ahead, see patience

	progress func(calls uint64) // of Options; nil for none
	calls    uint64             // that are executed, or skipped
	tellAt   uint64             // how many there are when progress is called next

	ended func(c *Call, start, end Time) // of Options; nil for none
	some  bool                           // ended is called with some calls, those that ranks have as told
	paths bool                           // are followed

	recording Recording // nil if there is none
	trails    *trails
	waited    Waited  // that is told
	unmatched uint64  // calls that wait for what never comes, in a recording
	summed    []int32 // where sums of signatures and ranks are, see [engine.sumUp]

	emit   func(*Event) bool
	event  Event    // that is told
	events []*Event // of arrivals, that were told
	now    Time     // ordered: of what happens
	err    error

	sequence uint64 // of sends
	open     int    // ends of messages without the other, and requests
	most     int    // that open may be
	spare    []*request

	messages, collectives, unknown, outside uint64
}

// rankMemory is what is held for a rank at least, in bytes.
const rankMemory = 5 << 10

// newEngine returns an engine, with the times of a recording unless that is nil.
func newEngine(ctx context.Context, model *semantics.Model, m Machine, o Recording) (*engine, error) {
	e := &engine{
		ctx: ctx, model: model, machine: m, recording: o,
		byNumber: make(map[int]*rank), channels: make(map[channelKey]*channel), comms: make(map[commKey]*comm),
	}
	if !model.Known() {
		return nil, errors.New(
			"replay: it is not known what the functions of the trace mean: they are neither MPI's nor SimGrid's")
	}
	all := model.Trace().Content().Recorded
	if err := memory.Check(model.Trace(), "ranks", uint64(all.Len()), rankMemory); err != nil {
		return nil, err
	}
	opened, err := openRanks(ctx, model, all)
	if err != nil {
		return nil, err
	}
	for i, number := range all.All() {
		r := newRank(e, number, opened[i])
		r.index = len(e.ranks)
		e.ranks = append(e.ranks, r)
		e.byNumber[number] = r
		for _, s := range r.strands {
			s.index = int32(len(e.strands))
			e.strands = append(e.strands, s)
		}
		e.ordered = e.ordered || len(r.strands) > 1
	}
	e.most = 1<<20 + len(e.ranks)<<16
	e.findLocks()
	e.ordered = e.ordered || len(e.locks) > 0
	unordered := model.Trace().Run().ThreadsUnordered
	told, shared := false, false // threads of ranks are; they use the same channel, communicator or request
	for _, r := range e.ranks {
		e.ordered = e.ordered || r.choosesMessages()
		if len(r.strands) > 1 {
			r.findForeign()
			switch {
			case e.drawn:
			case unordered:
				told, shared = true, shared || len(r.sharedTurns()) > 0 || r.handsOver()
			default:
				r.findTurns()
			}
		}
	}
	e.unordered = unordered && (!told || shared)
	return e, nil
}

// openRanks opens ranks, several at once.
func openRanks(ctx context.Context, model *semantics.Model, ranks rankenc.Set) ([]*semantics.Rank, error) {
	opened := make([]*semantics.Rank, ranks.Len())
	return opened, parallel.Each(ctx, 0, len(opened), func(i int) (err error) {
		if opened[i], err = model.Rank(ranks.At(i)); err != nil {
			return fmt.Errorf("replay: rank %d: %w", ranks.At(i), err)
		}
		return nil
	})
}

// errStopped ends a replay whose events nobody wants any more.
var errStopped = errors.New("replay: stopped")

// fail ends the replay.
func (e *engine) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// result returns what came of the replay.
func (e *engine) result() *Result {
	res := &Result{Messages: e.messages, Collectives: e.collectives, Unknown: e.unknown, Outside: e.outside}
	res.Unreceived = e.unreceived()
	for _, r := range e.ranks {
		total := RankResult{Rank: r.number}
		for _, s := range r.strands {
			res.Calls += s.calls
			total.End = max(total.End, s.clock)
			total.Computing = add(total.Computing, s.computing)
			total.Sending = add(total.Sending, s.sending)
			total.Waiting = add(total.Waiting, s.waiting)
		}
		res.End = max(res.End, total.End)
		res.Ranks = append(res.Ranks, total)
	}
	if e.paths {
		res.Path = e.criticalPath()
	}
	return res
}

// unreceived returns how many messages are sent and not received.
func (e *engine) unreceived() (n uint64) {
	for _, c := range e.channels {
		if c.tag != postTag && c.tag != completeTag {
			n += uint64(c.sends.len())
		}
	}
	return n
}
