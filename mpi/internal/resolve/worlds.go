package resolve

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/mpi/spec"
)

// spawn resolves a creation of an intercommunicator with processes that it starts.
func (s *resolution) spawn(c *creation) {
	first := &s.calls[c.calls[0]]
	var started []int
	for _, n := range c.calls {
		call := &s.calls[n]
		switch list := call.more.members; {
		case len(list) == 0:
		case started != nil && !same(started, list):
			s.fail(c, c.calls, call.rank,
				fmt.Sprintf("call %d starts other processes than that of another rank", call.position))
			return
		default:
			started = list
		}
	}
	if started == nil || c.parent.Remote != nil {
		s.fail(c, c.calls, first.rank, fmt.Sprintf("call %d: which processes it starts is not recorded",
			first.position))
		return
	}
	g := &Group{Parent: c.parent, Kind: c.kind, Ordinal: c.ordinal, Class: first.class,
		Members: c.parent.Members, Remote: started}
	for i, n := range c.calls {
		if !s.fits(n, g.Class, i, len(c.calls)) {
			s.fail(c, c.calls, s.calls[n].rank, s.misfit(n, i, len(c.calls)))
			return
		}
	}
	w := work{group: g}
	for i, n := range c.calls {
		s.assign(n, g, i, false)
		w.calls, w.places = append(w.calls, n), append(w.places, int32(i))
	}
	for i, rank := range started {
		for _, n := range s.asked(rank) {
			if s.calls[n].group == nil && s.fits(n, g.Class, i, len(started)) {
				s.assign(n, g, i, true)
				w.calls, w.places = append(w.calls, n), append(w.places, int32(len(g.Members)+i))
				break
			}
		}
	}
	if len(w.calls) == g.size() {
		w.places = nil
	}
	s.add(w)
}

// orphans notes an error for each process that asks for those that started it, if these are
// not known.
func (s *resolution) orphans() {
	for rank := range s.ranks {
		for _, n := range s.ranks[rank].asked {
			if call := &s.calls[n]; call.group == nil {
				s.errs = append(s.errs, &GroupError{
					Rank: rank, Kind: call.kind, Reason: fmt.Sprintf(
						"call %d: which processes started it is not recorded", call.position),
				})
			}
		}
	}
}

// asked returns the calls of a rank of kind SpawnedBy.
func (s *resolution) asked(rank int) []int32 {
	if rank < 0 || rank >= len(s.ranks) {
		return nil
	}
	return s.ranks[rank].asked
}

// A door is what is accepted and connected at one port, by the calls of the leaders.
type door struct {
	port               string
	accepted, connects []*half
}

// Doors are those that were not opened yet, in the order in which they were found.
type doors []*door

// knock takes note of a creation of kind Accept or Connect.
func (s *resolution) knock(c *creation) {
	first := &s.calls[c.calls[0]]
	leader := first.more.leader
	if c.parent.Remote != nil || leader < 0 || leader >= len(c.calls) {
		s.fail(c, c.calls, first.rank, fmt.Sprintf("call %d: no leader %d in the parent", first.position, leader))
		return
	}
	h := &half{creation: *c, leader: c.calls[leader]}
	port := s.calls[h.leader].more.port
	i := slices.IndexFunc(s.doors, func(d *door) bool { return d.port == port })
	if i < 0 {
		i = len(s.doors)
		s.doors = append(s.doors, &door{port: port})
	}
	side := &s.doors[i].accepted
	if c.kind == spec.Connect {
		side = &s.doors[i].connects
	}
	*side = append(*side, h)
}

// openDoors pairs what met at ports, when nothing else can go on, and reports whether there
// was anything. It notes an error for what met nobody, or nobody that is known.
func (s *resolution) openDoors() bool {
	list := s.doors
	s.doors = nil
	for _, d := range list {
		if !ofOneGroup(d.accepted) || !ofOneGroup(d.connects) {
			for _, h := range slices.Concat(d.accepted, d.connects) {
				call := &s.calls[h.leader]
				s.fail(&h.creation, h.calls, call.rank,
					fmt.Sprintf("call %d: which groups met at the port is not recorded", call.position))
			}
			continue
		}
		n := min(len(d.accepted), len(d.connects))
		for i := range n {
			s.pair(d.accepted[i], d.connects[i])
		}
		for _, h := range slices.Concat(d.accepted[n:], d.connects[n:]) {
			call := &s.calls[h.leader]
			s.fail(&h.creation, h.calls, call.rank, fmt.Sprintf(
				"call %d: nobody of the run met it at the port", call.position))
		}
	}
	return len(list) > 0
}

// ofOneGroup reports whether all halves are of one group.
func ofOneGroup(list []*half) bool {
	return !slices.ContainsFunc(list, func(h *half) bool { return h.parent != list[0].parent })
}
