package simgrid

import (
	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A request is what is to be waited for: the message that it is of, or both of
// MPI_Isendrecv.
type request struct {
	waits      [2]wait
	n          int // of waits
	persistent bool
}

func (r *request) add(w wait) {
	r.waits[r.n] = w
	r.n++
}

// A wait is how an action names a message: by what the action said that began it.
type wait struct{ source, destination, tag int64 }

// Numbers of SimGrid.
const (
	anySource     = -555
	anyTag        = -444
	waitAnySource = anySource - 1 // what its replay of wait finds a receive from any source by
)

// messages translates a call that sends or receives.
func (s *translator) messages(e events.Event, c *call, o *semantics.Operation) error {
	switch {
	case len(o.More) > 0:
		return s.unsupported(e, c, persistentCollective)
	case c.role.Requests == spec.Starts:
		return s.start(e, c, o)
	}
	if len(o.Messages) > len(request{}.waits) {
		return s.unsupported(e, c, "it has too many messages")
	}
	if len(o.Messages) == 0 || o.Messages[0].Blocking {
		return s.block(e, c, o.Messages)
	}
	var r request
	for _, m := range o.Messages {
		if isCancelled(m) {
			continue
		}
		w, err := s.begin(e, c, m)
		if err != nil {
			return err
		}
		r.add(w)
	}
	id, _ := o.Request(0)
	s.requests[id] = r
	return nil
}

// start begins the messages of persistent requests.
func (s *translator) start(e events.Event, c *call, o *semantics.Operation) error {
	for i, m := range o.Messages {
		if isCancelled(m) {
			continue
		}
		w, err := s.begin(e, c, m)
		if err != nil {
			return err
		}
		id, _ := o.Request(i) // persistent ones have one
		s.requests[id] = request{waits: [2]wait{w}, n: 1, persistent: true}
	}
	return nil
}

// isCancelled reports whether a receive was cancelled, as far as the trace says: no
// status tells that it got a message.
func isCancelled(m semantics.Message) bool { return m.Cancelled && m.Peer < 0 }

// block writes the messages of a call that blocks.
func (s *translator) block(e events.Event, c *call, messages []semantics.Message) error {
	if len(messages) == 1 {
		m := messages[0]
		action := "send"
		if m.Direction == semantics.Receive {
			action = "recv"
		}
		_, err := s.message(e, c, action, m)
		return err
	}
	var r request
	for _, m := range messages {
		if m.Direction == semantics.Receive {
			w, err := s.begin(e, c, m)
			if err != nil {
				return err
			}
			r.add(w)
		}
	}
	for _, m := range messages {
		if m.Direction == semantics.Send {
			if _, err := s.message(e, c, "send", m); err != nil {
				return err
			}
		}
	}
	return s.wait(r)
}

// begin writes a message that does not block.
func (s *translator) begin(e events.Event, c *call, m semantics.Message) (wait, error) {
	if m.Direction == semantics.Receive {
		return s.message(e, c, "irecv", m)
	}
	return s.message(e, c, "isend", m)
}

// message writes a message.
func (s *translator) message(e events.Event, c *call, action string, m semantics.Message) (wait, error) {
	peer, bytes := int64(m.Peer), m.Bytes
	switch {
	case m.Peer == semantics.AnySource:
		peer = anySource
	case m.Peer < 0:
		return wait{}, s.unsupported(e, c, "the trace does not say which rank of the run it is to or from")
	}
	if m.Direction == semantics.Send && bytes == semantics.Unknown {
		return wait{}, s.unsupported(e, c, "the trace does not say how many bytes it has")
	}
	tag, ok := s.tag(m)
	if !ok {
		return wait{}, s.unsupported(e, c, "the trace does not say which tag it has")
	}
	w := wait{int64(s.rank.Number), peer, tag}
	if m.Direction == semantics.Receive {
		w = wait{peer, int64(s.rank.Number), tag}
		if peer == anySource {
			w.source = waitAnySource
		}
		switch bytes {
		case semantics.Unknown:
			bytes = maxCount
		case 0:
			bytes = 1 // of 0 SimGrid takes the size from the message, and waits for it
		}
	}
	datatype, size := unitOf(bytes)
	return w, s.action(action, peer, tag, divide(bytes, size), datatype)
}

// firstTag is the greatest tag of communicators other than the world.
const firstTag = 1<<31 - 1

// tag returns the tag of an action.
func (s *translator) tag(m semantics.Message) (tag int64, ok bool) {
	switch {
	case m.Tag == semantics.AnyTag:
		return anyTag, true
	case m.Tag < 0:
		return 0, false
	case m.Communicator == nil || m.Communicator == s.model.World():
		return m.Tag, true
	}
	k := tagKey{m.Communicator, m.Tag}
	tag, ok = s.tags[k]
	if !ok {
		tag = firstTag - int64(len(s.tags))
		s.tags[k] = tag
	}
	return tag, true
}

// completion translates a call that completes requests.
func (s *translator) completion(_ events.Event, _ *call, o *semantics.Operation) error {
	for _, id := range o.Frees {
		delete(s.requests, id)
	}
	for _, id := range o.Completes {
		if err := s.complete(id); err != nil {
			return err
		}
	}
	return nil
}

// complete waits for a request, unless it is not active.
func (s *translator) complete(id int64) error {
	r, ok := s.requests[id]
	if !ok {
		return nil
	}
	if r.persistent {
		s.requests[id] = request{persistent: true}
	} else {
		delete(s.requests, id)
	}
	return s.wait(r)
}

func (s *translator) wait(r request) error {
	for _, w := range r.waits[:r.n] {
		if err := s.action("wait", w.source, w.destination, w.tag); err != nil {
			return err
		}
	}
	return nil
}
