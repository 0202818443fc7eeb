package loggps

import (
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A Computing says how long ranks compute, as [replay.Recorded] does.
type Computing interface {
	Compute(c *replay.Call) (before, within replay.Time)
}

// A Machine is a [replay.Machine] by the parameters of LogGPS. It must not be used by two replays at once.
type Machine struct {
	Parameters
	computing  Computing
	nodes      int // for cyclic mapping
	groups     map[*semantics.Communicator]*group
	operations map[*spec.Role]*operation
}

var _ replay.SteadyMachine = (*Machine)(nil)

// New returns a machine for a run of so many ranks, which compute as computing says, or not at all if
// that is nil.
func New(p Parameters, ranks int, computing Computing) (*Machine, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	p.RanksPerNode = max(p.RanksPerNode, 1)
	return &Machine{
		Parameters: p, computing: computing, nodes: max(1, (ranks+p.RanksPerNode-1)/p.RanksPerNode),
		groups: make(map[*semantics.Communicator]*group), operations: make(map[*spec.Role]*operation),
	}, nil
}

// Steady reports whether costs are always the same, as [replay.SteadyMachine] says: if ranks do not compute,
// or for means as [replay.Recorded.Means] tells.
func (m *Machine) Steady() bool {
	switch c := m.computing.(type) {
	case nil:
		return true
	case interface{ Means() bool }:
		return c.Means()
	}
	return false
}

// node returns the node of a rank.
func (m *Machine) node(rank int) int {
	if m.Cyclic {
		return rank % m.nodes
	}
	return rank / m.RanksPerNode
}

// Message returns what a message costs.
func (m *Machine) Message(message *replay.Message) replay.Cost {
	need.That(message != nil, "loggps: no message")
	link := &m.Between
	if message.From >= 0 && message.To >= 0 && m.node(message.From) == m.node(message.To) {
		link = &m.Within
	}
	return link.cost(message.Bytes)
}

// Compute returns how long a rank computes here.
func (m *Machine) Compute(c *replay.Call) (before, within replay.Time) {
	if m.computing == nil {
		return 0, 0
	}
	before, within = m.computing.Compute(c)
	before, within = m.Parameters.Compute.Of(before), m.Parameters.Compute.Of(within)
	for i := range m.OfRanks {
		if f := &m.OfRanks[i]; f.Ranks.Contains(c.Rank.Number()) {
			before, within = f.Factor.Of(before), f.Factor.Of(within)
		}
	}
	if len(m.OfFunction) > 0 {
		f := m.OfFunction[c.Rank.Call(c.Terminal).Function.Name]
		before, within = f.Of(before), f.Of(within)
	}
	return before, within
}
