package simgrid

import (
	"fmt"
	"math"
	"strings"

	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// A translation makes actions of calls of MPI.
type translation struct {
	*writer
	model *semantics.Model
	flops float64          // per nanosecond
	tags  map[tagKey]int64 // of messages in communicators other than the world
}

// A tagKey is a tag in a communicator.
type tagKey struct {
	communicator *semantics.Communicator
	tag          int64
}

// A translator makes actions of the calls of a rank.
type translator struct {
	*translation
	rank     *events.Rank
	meaning  *semantics.Rank
	calls    []*call           // by terminal
	requests map[int64]request // by their ids
	timed    bool
	last     int64   // end of the last call that has to do with others, −1 before the first
	owed     float64 // flops that are to be computed before the next action

	collecting collectiveCall // that is being written, kept for its memory
}

// A call is what calls of a terminal have in common.
type call struct {
	trace.Call
	role *spec.Role
	data string // collective operation, in lower case
}

func (t *translation) rank(r *events.Rank) error {
	meaning, err := t.model.Of(r.Rank, r.Number)
	if err != nil {
		return err
	}
	s := &translator{
		translation: t, rank: r, meaning: meaning, calls: make([]*call, r.Terminals()),
		requests: make(map[int64]request), timed: r.TimesBy() != query.None, last: -1,
	}
	if err := t.writer.action(r.Number, "init"); err != nil {
		return err
	}
	for e, err := range r.All() {
		if err != nil {
			return err
		}
		if err := s.event(e); err != nil {
			return err
		}
	}
	return s.action("finalize")
}

// action writes what is owed, and an action.
func (s *translator) action(name string, fields ...int64) error {
	if flops := math.Round(min(s.owed, 1<<62)); flops >= 1 {
		if err := s.writer.action(s.rank.Number, "compute", int64(flops)); err != nil {
			return err
		}
	}
	s.owed = 0
	return s.writer.action(s.rank.Number, name, fields...)
}

// call returns the call that a terminal stands for.
func (s *translator) call(terminal uint32) *call {
	c := s.calls[terminal]
	if c == nil {
		c = &call{Call: s.rank.Call(terminal)}
		c.role = spec.RoleOf(c.Function.Name)
		c.data = strings.ToLower(c.role.Data)
		s.calls[terminal] = c
	}
	return c
}

// event translates a call.
func (s *translator) event(e events.Event) error {
	o := s.meaning.At(e.Position, e.Terminal)
	if o == nil {
		if s.last < 0 {
			s.last = e.End
		}
		return nil
	}
	c := s.call(e.Terminal)
	translate := (*translator).nothing
	switch o.Class {
	case spec.PointToPoint:
		translate = (*translator).messages
	case spec.Completion:
		translate = (*translator).completion
	case spec.Collective:
		translate = (*translator).collective
	case spec.OneSided:
		return s.unsupported(e, c, "SimGrid replays no one-sided communication")
	case spec.Access:
		return nil
	}
	if s.last >= 0 && s.timed {
		s.owed += float64(max(0, e.Start-s.last)) * s.flops
	}
	s.last = max(s.last, e.End)
	return translate(s, e, c, o)
}

// nothing leaves a call out.
func (s *translator) nothing(events.Event, *call, *semantics.Operation) error { return nil }

// unsupported is the error of a call that no action stands for.
func (s *translator) unsupported(e events.Event, c *call, reason string) error {
	return fmt.Errorf("simgrid: rank %d, call %d, %s: %s", s.rank.Number, e.Position, s.rank.Text(e.Terminal), reason)
}

// Types of SimGrid.
const (
	byteType   = 6
	doubleType = 0  // 8 bytes
	largeType  = 27 // 32 bytes
)

// maxCount is the greatest count that SimGrid reads.
const maxCount = 1<<31 - 1

// unitOf returns a datatype, and its size, of which so many bytes are no more elements than
// SimGrid can count.
func unitOf(bytes int64) (datatype, size int64) {
	switch {
	case bytes <= maxCount:
		return byteType, 1
	case bytes <= 8*maxCount:
		return doubleType, 8
	}
	return largeType, 32
}

// divide returns how many elements of a size so many bytes are, rounded up.
func divide(bytes, size int64) int64 { return min(bytes/size+min(bytes%size, 1), maxCount) }
