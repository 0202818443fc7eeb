package query

import (
	"context"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/semantics"
)

// A pairing matches what arrives at one rank on one communicator, where receives do not
// tell the source or the tag, or the trace not the tag that messages have. It is a flow from
// sends to the receives that can get them.
type pairing struct {
	network network
	ends    []*end  // that take part
	nodes   []int32 // of ends
	outer   []int32 // numbers of the edges from the source, or to the sink, by end
	same    []int32 // numbers of the edges between ends of one channel
}

// A pattern is what a receive tells of its channel.
type pattern struct {
	source int
	tag    int64
}

func newPairing(ends []*end) *pairing {
	p := &pairing{network: network{from: make([][]int32, 2)}}
	receives := make(map[pattern]int32) // nodes
	bySource := make(map[int][]int32)
	for _, e := range ends {
		if e.direction != semantics.Receive {
			continue
		}
		node := p.add(e)
		p.outer = append(p.outer, p.network.edge(node, sink, e.left-e.cancelled))
		receives[pattern{e.channel.Source, e.channel.Tag}] = node
		bySource[e.channel.Source] = append(bySource[e.channel.Source], node)
	}
	anySource := int32(0) // the node that leads to all receives from any source
	for _, e := range ends {
		if e.direction != semantics.Send {
			continue
		}
		node := p.add(e)
		p.outer = append(p.outer, p.network.edge(source, node, e.left))
		if e.channel.Tag >= 0 {
			p.link(node, e.channel, receives)
			continue
		}
		for _, receive := range bySource[e.channel.Source] {
			edge := p.network.link(node, receive)
			if receive == receives[pattern{e.channel.Source, e.channel.Tag}] {
				p.same = append(p.same, edge)
			}
		}
		if anySource == 0 {
			anySource = p.network.node()
			for _, receive := range bySource[semantics.AnySource] {
				p.network.link(anySource, receive)
			}
		}
		p.network.link(node, anySource)
	}
	return p
}

// add adds an end, and returns its node.
func (p *pairing) add(e *end) int32 {
	node := p.network.node()
	p.ends, p.nodes = append(p.ends, e), append(p.nodes, node)
	return node
}

// link adds edges from a send with a tag to the receives that can get it.
func (p *pairing) link(node int32, c Channel, receives map[pattern]int32) {
	for _, source := range []int{c.Source, semantics.AnySource} {
		for _, tag := range []int64{c.Tag, semantics.AnyTag, semantics.NoTag} {
			receive, ok := receives[pattern{source, tag}]
			if !ok {
				continue
			}
			edge := p.network.link(node, receive)
			if source == c.Source && tag == c.Tag {
				p.same = append(p.same, edge)
			}
		}
	}
}

// maximize matches as many as can be, and those receives last that the program tried to
// cancel.
func (p *pairing) maximize(ctx context.Context) error {
	n := &p.network
	for _, e := range p.same { // first, so that as few as can be are guessed
		n.through(e)
	}
	if err := n.maximize(ctx); err != nil {
		return err
	}
	cancelled := false
	for i, e := range p.ends {
		if e.direction == semantics.Receive && e.cancelled > 0 {
			n.edges[p.outer[i]].left += e.cancelled
			cancelled = true
		}
	}
	if !cancelled {
		return nil
	}
	return n.maximize(ctx)
}

// apply tells ends and m what is matched.
func (p *pairing) apply(m *Match) {
	n := &p.network
	same := uint64(0)
	for _, e := range p.same {
		same = wire.AddSat(same, n.flow(e))
	}
	all := uint64(0)
	for i, e := range p.ends {
		flow := n.flow(p.outer[i])
		e.left -= flow
		if e.direction == semantics.Send {
			all = wire.AddSat(all, flow)
		}
	}
	m.Messages = wire.AddSat(m.Messages, all)
	m.Assumed = wire.AddSat(m.Assumed, all-same)
}

// unmatched returns what is left of ends. What could as well be left of others is told of
// all of them.
func (p *pairing) unmatched(ends []*end) []Unmatched {
	groups := p.groups()
	var list []Unmatched
	at := make(map[int32]int) // numbers in list, by group
	for _, e := range ends {
		group, ok := groups[e]
		if !ok {
			if e.left > 0 {
				list = append(list, Unmatched{Channel: e.channel, Direction: e.direction, Rank: e.rank(), Count: e.left, Matched: e.count - e.left})
			}
			continue
		}
		i, ok := at[group]
		if !ok {
			i = len(list)
			at[group] = i
			list = append(list, Unmatched{Channel: e.channel, Direction: e.direction, Rank: e.rank()})
		}
		u := &list[i]
		u.Count = wire.AddSat(u.Count, e.left)
		u.Matched = e.count - e.left // if it stays the only one
		u.Among = append(u.Among, e.channel)
	}
	for i := range list {
		if u := &list[i]; len(u.Among) == 1 {
			u.Among = nil
		} else if len(u.Among) > 1 {
			u.Matched = 0
		}
	}
	return list
}

// groups numbers the ends, of the flow, of which messages may be left, by what of them could
// be left in place of what.
func (p *pairing) groups() map[*end]int32 {
	groups := make(map[*end]int32)
	if len(p.ends) == 0 {
		return groups
	}
	for _, direction := range []semantics.Direction{semantics.Send, semantics.Receive} {
		var begin []int32
		for i, e := range p.ends {
			if e.direction == direction && e.left > 0 {
				begin = append(begin, p.nodes[i])
			}
		}
		in := p.network.reach(begin, direction == semantics.Receive)
		number := p.network.components(in)
		for i, e := range p.ends {
			if e.direction == direction && in[p.nodes[i]] {
				groups[e] = number[p.nodes[i]]
			}
		}
	}
	return groups
}
