package programs

import (
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"
)

// TestReplay runs every program to its end.
func TestReplay(t *testing.T) {
	for _, ranks := range sizes {
		for _, p := range tier.Some(All(ranks), 3) {
			t.Run(p.Name, func(t *testing.T) { replay(t, p) })
		}
	}
}

// A process is a rank that runs. Messages arrive as soon as they are sent;
// receives that wait for one keep the process from going on.
type process struct {
	calls       []call // still to come
	open        []call // receives that have not found their messages, in order
	receiving   bool   // the last of these blocks the process
	arrived     []sent
	collectives []call // that the process has come to
	entered     bool   // the last of these, and not left it
}

type sent struct {
	from       int
	count, tag int64
}

func replay(t *testing.T, p Program) {
	ranks := make([]process, p.Ranks)
	for rank, part := range p.Parts() {
		ranks[rank].calls = expand(part)
	}
	for moved := true; moved; {
		moved = false
		for rank := range ranks {
			for len(ranks[rank].calls) > 0 && step(t, ranks, rank) {
				ranks[rank].calls = ranks[rank].calls[1:]
				moved = true
			}
		}
	}
	for rank, r := range ranks {
		if len(r.calls) > 0 || len(r.open) > 0 || len(r.arrived) > 0 {
			t.Fatalf("rank %d: %d calls left, the first %v, %d receives open, %d messages not received",
				rank, len(r.calls), r.calls, len(r.open), len(r.arrived))
		}
	}
}

// step makes the next call of a rank and reports whether it is done.
func step(t *testing.T, ranks []process, rank int) bool {
	r := &ranks[rank]
	c := r.calls[0]
	switch c.fn {
	case mpiSend, mpiIsend:
		ranks[c.peer()].arrived = append(ranks[c.peer()].arrived, sent{rank, c.count(), c.tag()})
	case mpiIrecv:
		r.open = append(r.open, c)
	case mpiRecv:
		if !r.receiving {
			r.open = append(r.open, c)
		}
		r.receiving = !r.receive(t)
		return !r.receiving
	case mpiWaitall, mpiWait:
		return r.receive(t)
	case mpiIprobe:
		arrived := func(m sent) bool { return m.tag == c.args[1].Int() }
		return c.args[3].Int() == 0 || slices.ContainsFunc(r.arrived, arrived)
	case mpiTest:
		return c.args[1].Int() == 0 || r.receive(t)
	case mpiAllreduce, mpiAlltoallv:
		return collect(t, ranks, rank)
	}
	return true
}

// receive gives messages to the open receives and reports whether all have one.
func (r *process) receive(t *testing.T) bool {
	for len(r.open) > 0 {
		c := r.open[0]
		at := -1
		for i, m := range r.arrived {
			if m.tag == c.tag() && (c.peer() == anySource || c.peer() == m.from) {
				at = i
				break
			}
		}
		if at < 0 {
			return false
		}
		if got, room := r.arrived[at].count, c.count(); got != room && room != 1<<countBits || got > room {
			t.Fatalf("a message of %d for %v", got, c)
		}
		r.arrived = append(r.arrived[:at], r.arrived[at+1:]...)
		r.open = r.open[1:]
	}
	return true
}

// collect reports whether all ranks have come to the collective call that rank
// is at.
func collect(t *testing.T, ranks []process, rank int) bool {
	r := &ranks[rank]
	k := len(r.collectives)
	if r.entered {
		k--
	} else {
		r.collectives = append(r.collectives, r.calls[0])
		r.entered = true
	}
	for other := range ranks {
		o := &ranks[other]
		if len(o.collectives) <= k {
			return false
		}
		agree(t, r.collectives[k], o.collectives[k], rank, other)
	}
	r.entered = false
	return true
}

// agree checks that two ranks make the same collective call, and that one sends
// the other as much as that receives.
func agree(t *testing.T, c, d call, rank, other int) {
	if c.fn != d.fn {
		t.Fatalf("rank %d calls %s, rank %d %s", rank, functions[c.fn].Name, other, functions[d.fn].Name)
	}
	if c.fn != mpiAlltoallv {
		return
	}
	const sendCounts, receiveCounts = 1, 5
	if got, want := c.args[sendCounts].Index(other).Int(), d.args[receiveCounts].Index(rank).Int(); got != want {
		t.Fatalf("rank %d sends %d to %d, which receives %d", rank, got, other, want)
	}
}
