package rows

import (
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// senders are the ranks that sent messages, of which some are kept.
type senders struct {
	ranks   map[int]*sender
	cursors map[cursorKey]*cursor
}

// A sender is a rank that sent messages.
type sender struct {
	rank  *semantics.Rank
	clock *query.Clock // nil if there are no times
}

// timed reports whether there are times.
func (s *sender) timed() bool { return s.clock != nil && s.clock.Source() != query.None }

// Limits of what is kept.
const (
	maxSenders = 256
	maxCursors = 256
)

// sender returns a rank that sent a message.
func (f *filler) sender(rank int) (*sender, error) {
	if s := f.senders.ranks[rank]; s != nil {
		return s, nil
	}
	r, err := f.numbering.Rank(f.ctx, rank)
	if err != nil {
		return nil, err
	}
	s := &sender{rank: r}
	if f.choice.Times != nil {
		if s.clock, err = f.choice.Times.Clock(r.Rank); err != nil {
			return nil, err
		}
	}
	if len(f.senders.ranks) >= maxSenders {
		f.senders.close()
	}
	if f.senders.ranks == nil {
		f.senders.ranks, f.senders.cursors = make(map[int]*sender), make(map[cursorKey]*cursor)
	}
	f.senders.ranks[rank] = s
	return s, nil
}

// close forgets all.
func (s *senders) close() {
	clear(s.cursors)
	s.ranks = nil
}

// A cursorKey is what is sent on one channel: the calls that do so stand in ascending order.
type cursorKey struct {
	from, to     int
	communicator *semantics.Communicator
	tag          int64
}

// A cursor reads the times of every call of a rank onwards.
type cursor struct {
	times    *trace.TimeReader
	position uint64 // of the call that is next
}

// maxPassed is how many calls are passed rather than found anew.
const maxPassed = 1 << 13

// time returns when the call at a position began that sent a message of a key.
func (s *senders) time(from *sender, k messageKey, position uint64) (timing.Time, error) {
	if !from.timed() {
		return timing.Time{}, nil
	}
	if from.clock.Source() != query.Series {
		start, duration, err := from.clock.Time(position)
		return timing.Time{Start: start, Duration: duration}, err
	}
	m := &k.sent.Messages[k.numberOfSent]
	key := cursorKey{k.from, m.Peer, m.Communicator, m.Tag}
	c := s.cursors[key]
	if c == nil || position < c.position || position-c.position > maxPassed {
		if c == nil && len(s.cursors) >= maxCursors {
			clear(s.cursors)
		}
		c = &cursor{from.rank.ReadTimes(position), position}
		s.cursors[key] = c
	}
	for {
		t, err := c.times.Next()
		if c.position++; err != nil || c.position > position {
			return t, err
		}
	}
}
