package query

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/timing"
)

// A LateSender is how long blocking receives wait for messages of which the sends begin after them. That is
// the wait state of this name of F. Wolf and B. Mohr, "Automatic performance analysis of hybrid MPI/OpenMP
// applications", Journal of Systems Architecture 49(10–11), 2003. It goes by the clocks of the recording:
// where those of two machines may be off by as much, a receive does not wait.
type LateSender struct {
	Signature int    `json:"signature"`      // of the receives, in the trace
	Call      string `json:"call,omitempty"` // in words, which who prints it has to set

	Receives uint64 `json:"receives"` // about: messages that such calls receive
	Sampled  int    `json:"sampled"`  // those that were looked at
	Late     int    `json:"late"`     // of these, that began before the send

	// Wait is about how long all Receives wait, in nanoseconds: each from its beginning to
	// that of the send, or to its own end if that is before.
	Wait Nanoseconds `json:"wait_ns"`

	// Sender is the rank that made those that were looked at wait most, the lowest if there
	// are several, and SenderShare its share of how long they did.
	Sender      int     `json:"sender"`
	SenderShare float64 `json:"sender_share"`

	// Guarantee is the weakest of the times of the ranks.
	Guarantee timing.Guarantee `json:"relative_error"`

	// StartError is how many nanoseconds each start may be off at most, as that of [Skew]: a
	// wait that is shorter than twice as long may be none.
	StartError *int64 `json:"start_error_ns,omitzero"`
}

// maxReceives is how many receives are looked at for late senders, of all channels, unless
// minSamples of each are more.
const maxReceives = 1 << 19

// LateSenders returns how long the blocking receives wait for late senders, by the call
// that receives, those that wait longest first: where both ranks have the times of every
// call, and the trace tells which message it is. Of a channel of many messages it looks at
// some, of which each is drawn from an equal part of all, so that they are 524,288 on all
// channels, and 16 at least on each; channels are left out where there are too many. It costs
// what [Match.Skew] does.
func (m *Match) LateSenders(ctx context.Context, times *Times, o Options) ([]LateSender, error) {
	need.That(times != nil, "query: no times")
	channels, err := m.receives(ctx, times, o, nil)
	if err != nil {
		return nil, err
	}
	clocks, err := times.clocks()
	if err != nil {
		return nil, err
	}
	list := lateSenders(channels, clocks)
	for i := range list {
		list[i].StartError = times.knownStartError(list[i].Guarantee, minTime, maxTime)
	}
	return list, nil
}

// receives returns channels with receives, and the times of some of their messages: blocking receives of all
// ranks, or, if chosen is not nil, those that a later call completes as well, of messages between ranks for
// which it says so.
func (m *Match) receives(ctx context.Context, times *Times, o Options,
	chosen func(from, to int) bool) ([]*lateChannel, error) {
	timed, _, err := times.trace.SeriesRanks()
	if err != nil {
		return nil, err
	}
	o.Progress = nil
	ranks, err := o.ranks(times.trace, rankMemory)
	if err != nil {
		return nil, err
	}
	ranks = slices.DeleteFunc(ranks, func(rank int) bool { return !timed.Contains(rank) })
	found := make([][]*lateChannel, len(ranks))
	err = o.each(ctx, len(ranks), func(i int) (err error) {
		found[i], err = m.lateChannels(ctx, ranks[i], ranks, chosen)
		return err
	})
	if err != nil {
		return nil, err
	}
	channels := slices.Concat(found...)
	most := uint64(max(minSamples, m.maxReceives/max(1, len(channels))))
	ends := make(map[int][]*lateChannel)
	channels = channels[:min(len(channels), maxSkewStarts/int(most))]
	for _, c := range channels {
		c.draw(most)
		ends[c.destination] = append(ends[c.destination], c)
		if c.source != c.destination {
			ends[c.source] = append(ends[c.source], c)
		}
	}
	err = o.each(ctx, len(ranks), func(i int) error { return m.lateTimes(ctx, ranks[i], ends[ranks[i]]) })
	return channels, err
}

// A lateChannel is a channel on which a rank has receives.
type lateChannel struct {
	completed           bool // receives that a later call completes count as well, and end where it ends
	source, destination int
	sends, receives     messageKey
	count               uint64
	samples             []uint64
	signatures          []int // of the receives by sample; −1 if it does not count or its send is not known
	sent, received      []callTime
	off                 [2]timing.Guarantee
}

// lateChannels returns the channels on which a rank has receives from others, see [Match.receives].
func (m *Match) lateChannels(ctx context.Context, rank int, ranks []int,
	chosen func(from, to int) bool) ([]*lateChannel, error) {
	r, err := m.read(ctx, rank)
	if err != nil {
		return nil, err
	}
	var list []*lateChannel
	all, seen := r.messages(), make(map[messageKey]bool)
	for _, o := range r.list {
		for i := range o.Operation.Messages {
			x := &o.Operation.Messages[i]
			k := keyOf(x)
			if !x.Blocking && chosen == nil || k.direction != semantics.Receive || k.communicator == nil ||
				k.peer < 0 || k.tag == semantics.AnyTag || seen[k] {
				continue
			}
			if chosen != nil && (!chosen(k.peer, rank) || all.cancelled[k] > 0) {
				continue
			}
			seen[k] = true
			_, known := slices.BinarySearch(ranks, k.peer)
			if known && m.exact(Channel{k.communicator, k.peer, rank, k.tag}) {
				list = append(list, &lateChannel{source: k.peer, destination: rank, receives: k,
					completed: chosen != nil,
					sends:     messageKey{k.communicator, semantics.Send, rank, k.tag}, count: all.counts[k]})
			}
		}
	}
	return list, nil
}

// draw draws the messages that are looked at.
func (c *lateChannel) draw(most uint64) {
	c.samples = sampled(c.count, most)
	n := len(c.samples)
	c.signatures, c.sent, c.received = make([]int, n), make([]callTime, n), make([]callTime, n)
	for i := range c.sent {
		c.signatures[i], c.sent[i].start = -1, maxTime
	}
}

// lateTimes finds out when a rank makes the calls of the messages of its channels.
func (m *Match) lateTimes(ctx context.Context, rank int, channels []*lateChannel) error {
	if len(channels) == 0 {
		return nil
	}
	r, err := m.read(ctx, rank)
	if err != nil {
		return err
	}
	var wanted []*callTime
	for _, c := range channels {
		for i, number := range c.samples {
			if c.source == rank {
				if position, _ := r.index(c.sends).find(number); position < r.rank.Len() {
					c.sent[i].position = position
					wanted = append(wanted, &c.sent[i])
				}
			}
			if c.destination == rank {
				position, nth := r.index(c.receives).find(number)
				c.signatures[i], c.received[i].position = r.receive(position, c.receives, nth, c.completed)
				wanted = append(wanted, &c.received[i])
			}
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
	if err := readTimes(r.rank.Rank, wanted); err != nil {
		return err
	}
	for _, c := range channels {
		for i, end := range []int{c.source, c.destination} {
			if end == rank {
				c.off[i] = r.rank.Series().Guarantee()
			}
		}
	}
	return nil
}

// maxCompletion is how many calls after a receive that does not block are looked at for the one that
// completes it.
const maxCompletion = 256

// receive returns the signature and the position of the call that waits for the message of a key that is the
// nth of the call at a position: that call, or if completed is set the one that completes it. The signature
// is −1 if there is none.
func (r *matchRank) receive(position uint64, k messageKey, nth uint64, completed bool) (signature int, end uint64) {
	terminal := r.rank.Walk(position).Next().Symbol
	o := r.rank.At(position, terminal)
	for i := range o.Messages {
		if keyOf(&o.Messages[i]) != k {
			continue
		}
		if nth > 0 {
			nth--
			continue
		}
		if o.Messages[i].Blocking {
			return r.rank.Signature(terminal), position
		}
		if request, ok := o.Request(i); ok && completed {
			return r.completion(position, request)
		}
		break
	}
	return -1, position
}

// completion returns the signature and the position of the call that completes the request that the call at a
// position begins.
func (r *matchRank) completion(begun uint64, request int64) (signature int, end uint64) {
	w, position := r.rank.Walk(begun+1), begun+1
	for run := w.Next(); run.Count > 0; run = w.Next() {
		for range run.Count {
			if position-begun > maxCompletion {
				return -1, begun
			}
			if o := r.rank.At(position, run.Symbol); o != nil && slices.Contains(o.Completes, request) {
				if began, _, ok := r.rank.Begun(request, position); ok && began == begun {
					return r.rank.Signature(run.Symbol), position
				}
				return -1, begun
			}
			position++
		}
	}
	return -1, begun
}

// lateSenders sums up what was looked at. A wait that may come from the clocks alone is none.
func lateSenders(channels []*lateChannel, clocks clockErrors) []LateSender {
	type sum struct {
		LateSender
		receives, waited float64 // waited by those that were looked at
		bySender         map[int]float64
	}
	sums := make(map[int]*sum)
	for _, c := range channels {
		each := float64(c.count) / float64(len(c.samples))
		for i, n := range c.signatures {
			if n < 0 || c.sent[i].start == maxTime {
				continue
			}
			s := sums[n]
			if s == nil {
				s = &sum{LateSender: LateSender{Signature: n}, bySender: make(map[int]float64)}
				sums[n] = s
			}
			s.Sampled++
			s.receives += each
			s.Guarantee = max(s.Guarantee, c.off[0], c.off[1])
			received, sent := clocks.onClock(c.destination, c.received[i].start, c.source, c.sent[i].start)
			wait := min(elapsed(received, sent), float64(c.received[i].duration))
			if wait > 0 && !clocks.explain(c.source, c.sent[i].start, c.destination, c.received[i].start, wait) {
				s.Late++
				s.Wait += Nanoseconds(each * wait)
				s.waited += wait
				s.bySender[c.source] += wait
			}
		}
	}
	var list []LateSender
	for _, s := range sums {
		s.Receives, s.Sender = uint64(math.Round(s.receives)), -1
		for rank, wait := range s.bySender {
			if share := wait / s.waited; share > s.SenderShare || share == s.SenderShare && rank < s.Sender {
				s.Sender, s.SenderShare = rank, share
			}
		}
		list = append(list, s.LateSender)
	}
	slices.SortFunc(list, func(a, b LateSender) int {
		return cmp.Or(cmp.Compare(b.Wait, a.Wait), cmp.Compare(a.Signature, b.Signature))
	})
	return list
}
