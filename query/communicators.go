package query

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/semantics"
)

// A CommunicatorUse is what ranks do on a communicator: or on one that the trace does
// not tell. Numbers that exceed 2⁶⁴−1 are 2⁶⁴−1.
type CommunicatorUse struct {
	Communicator *semantics.Communicator `json:"communicator"` // nil if the trace does not tell
	Size         int                     `json:"members"`      // its members, those of both groups

	Ranks int    `json:"ranks"` // that make calls on it
	Calls uint64 `json:"calls"` // that send or receive messages, access memory or are collective

	Flow                       // as in Traffic
	Collectives CollectiveFlow `json:"collectives"`
}

// A CollectiveFlow is an amount of calls of collective operations.
type CollectiveFlow struct {
	Calls    uint64 `json:"calls"`
	Sent     uint64 `json:"bytes_sent"`                     // that ranks contribute, or write to files
	Received uint64 `json:"bytes_received"`                 // that they get, or read from files
	Unknown  uint64 `json:"calls_of_unknown_size,omitzero"` // of which one of these is not known and not in the sum
}

func (f *CollectiveFlow) add(calls uint64, sent, received int64) {
	f.Calls = wire.AddSat(f.Calls, calls)
	if sent < 0 || received < 0 {
		f.Unknown = wire.AddSat(f.Unknown, calls)
	}
	f.Sent = wire.AddSat(f.Sent, wire.MulSat(calls, uint64(max(sent, 0))))
	f.Received = wire.AddSat(f.Received, wire.MulSat(calls, uint64(max(received, 0))))
}

// Add adds an amount to f.
func (f *CollectiveFlow) Add(g CollectiveFlow) {
	f.Calls = wire.AddSat(f.Calls, g.Calls)
	f.Sent = wire.AddSat(f.Sent, g.Sent)
	f.Received = wire.AddSat(f.Received, g.Received)
	f.Unknown = wire.AddSat(f.Unknown, g.Unknown)
}

// OpenCommunicators counts what ranks do on each communicator: those of most calls
// first.
func OpenCommunicators(ctx context.Context, m *semantics.Model, o Options) ([]CommunicatorUse, error) {
	ranks := o.ranks(m.Trace())
	var list []CommunicatorUse
	err := o.ask(ctx, m, ranks, communicatorsQuestion(&list, ranks))
	return list, err
}

// communicatorsQuestion fills in a list.
func communicatorsQuestion(list *[]CommunicatorUse, ranks []int) question {
	found := make([]map[*semantics.Communicator]*CommunicatorUse, len(ranks))
	read := func(i int, r *semantics.Rank) { found[i] = communicatorsOf(r) }
	return question{read, func() {
		all := make(map[*semantics.Communicator]*CommunicatorUse)
		for _, own := range found {
			for c, use := range own {
				of := useOf(all, c)
				of.Ranks++
				of.Calls = wire.AddSat(of.Calls, use.Calls)
				of.Add(use.Flow)
				of.Collectives.Add(use.Collectives)
			}
		}
		*list = make([]CommunicatorUse, 0, len(all))
		for c, use := range all {
			if c != nil {
				use.Size = c.Size()
			}
			*list = append(*list, *use)
		}
		slices.SortFunc(*list, func(a, b CommunicatorUse) int {
			return cmp.Or(cmp.Compare(b.Calls, a.Calls), compareCommunicators(a.Communicator, b.Communicator))
		})
	}}
}

// compareCommunicators orders communicators by their names, none last.
func compareCommunicators(a, b *semantics.Communicator) int {
	switch {
	case a == b:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return strings.Compare(a.Name, b.Name)
}

func useOf(all map[*semantics.Communicator]*CommunicatorUse, c *semantics.Communicator) *CommunicatorUse {
	if all[c] == nil {
		all[c] = &CommunicatorUse{Communicator: c}
	}
	return all[c]
}

// communicatorsOf returns what a rank does on each communicator.
func communicatorsOf(r *semantics.Rank) map[*semantics.Communicator]*CommunicatorUse {
	all := make(map[*semantics.Communicator]*CommunicatorUse)
	for o := range r.All() {
		addUse(all, o.Operation, o.Count)
		for _, more := range o.Operation.More {
			useOf(all, more.Communicator).addCollective(more, o.Count)
		}
	}
	return all
}

// addUse adds calls of an operation to those on its communicator, and its messages to
// those on theirs.
func addUse(all map[*semantics.Communicator]*CommunicatorUse, o *semantics.Operation, count uint64) {
	switch o.Class {
	case spec.PointToPoint, spec.OneSided:
	case spec.Collective:
		useOf(all, o.Communicator).addCollective(o, count)
	default:
		if o.Communicator == nil {
			return
		}
		if o.IsCollective() {
			useOf(all, o.Communicator).addCollective(o, count)
		}
	}
	of := useOf(all, callCommunicator(o))
	of.Calls = wire.AddSat(of.Calls, count)
	for i := range o.Messages {
		m := &o.Messages[i]
		if sends(m.Direction) {
			useOf(all, m.Communicator).add(count, m.Bytes)
		}
		if fetches(m.Direction) {
			useOf(all, m.Communicator).add(count, m.Bytes)
		}
	}
}

// callCommunicator returns the communicator of a call: that of the first message if it
// has none itself.
func callCommunicator(o *semantics.Operation) *semantics.Communicator {
	if o.Communicator == nil && len(o.Messages) > 0 {
		return o.Messages[0].Communicator
	}
	return o.Communicator
}

func (u *CommunicatorUse) addCollective(o *semantics.Operation, count uint64) {
	u.Collectives.add(count, o.Sent, o.Received)
}
