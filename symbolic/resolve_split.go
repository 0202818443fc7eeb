package symbolic

import (
	"cmp"
	"fmt"
	"slices"
)

// A chosen is a caller that got a result from a creation.
type chosen struct {
	call   int32
	place  int32
	remote bool
	color  int64
	key    int64
}

// partition resolves a creation that makes an object for each color.
func (s *resolution) partition(c *creation) {
	var list []chosen
	recorded := c.kind != Split // where keys do not decide
	for i, n := range c.calls {
		call := &s.calls[n]
		if call.class == "" {
			continue
		}
		recorded = recorded && call.size != 0
		list = append(list, chosen{n, c.places[i], int(c.places[i]) >= len(c.parent.Members), call.color, call.key})
	}
	for i := range list {
		switch {
		case recorded:
			list[i].key = int64(s.calls[list[i].call].want)
		case c.kind == Topology:
			list[i].key = 0
		}
		if c.kind == Topology || c.kind == Create && c.parent.Remote != nil {
			list[i].color = 0
		}
	}
	slices.SortFunc(list, func(a, b chosen) int {
		if a.color != b.color {
			return cmp.Compare(a.color, b.color)
		}
		if a.remote != b.remote {
			return cmp.Compare(a.place, b.place)
		}
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.place, b.place))
	})
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].color == list[0].color {
			n++
		}
		s.one(c, list[:n])
		list = list[n:]
	}
}

// one makes a group of those with one color, in their order.
func (s *resolution) one(c *creation, list []chosen) {
	var (
		g     = &Group{Parent: c.parent, Kind: c.kind, Ordinal: c.ordinal, Color: list[0].color, Class: s.calls[list[0].call].class}
		w     = work{group: g, calls: make([]int32, len(list))}
		first = len(list)
	)
	if i := slices.IndexFunc(list, func(m chosen) bool { return m.remote }); i >= 0 {
		first = i
	}
	for i, m := range list {
		w.calls[i] = m.call
	}
	if c.parent.Remote != nil && (first == 0 || first == len(list)) {
		s.fail(c, w.calls, s.calls[w.calls[0]].rank, fmt.Sprintf("color %d is in one group only", g.Color))
		return
	}
	for i, m := range list {
		rank, size := i, first
		if m.remote {
			rank, size = i-first, len(list)-first
		}
		if !s.fits(m.call, g.Class, rank, size) {
			s.fail(c, w.calls, s.calls[m.call].rank, s.misfit(m.call, rank, size))
			return
		}
	}
	g.Members = s.members(list[:first], c.parent.Members)
	if first < len(list) {
		g.Remote = s.members(list[first:], c.parent.Remote)
	}
	for i, m := range list {
		if m.remote {
			i -= first
		}
		s.assign(m.call, g, i, m.remote)
	}
	s.add(w)
}

// members returns the ranks in the run of callers: if they are all of a list, that.
func (s *resolution) members(list []chosen, all []int) []int {
	ranks := make([]int, len(list))
	for i, m := range list {
		ranks[i] = int(s.calls[m.call].rank)
	}
	if slices.Equal(ranks, all) {
		return all
	}
	return ranks
}

// createMembers makes of the members that callers named what partition asks for:
// the color, which is the first of them, and the recorded rank and size.
func (s *resolution) createMembers(c *creation) bool {
	type key struct {
		leader int
		remote bool
	}
	type named struct {
		members []int
		index   map[int]int // of each in members
	}
	groups := make(map[key]named)
	for i, n := range c.calls {
		call := &s.calls[n]
		if call.class == "" || len(call.more.members) == 0 {
			continue
		}
		place, members, remote := int(c.places[i]), call.more.members, false
		if first := len(c.parent.Members); place >= first {
			place, remote = place-first, true
		}
		k := key{members[0], remote}
		g, ok := groups[k]
		if !ok {
			g = named{members, make(map[int]int, len(members))}
			for i, m := range members {
				g.index[m] = i
			}
			groups[k] = g
		}
		rank, in := g.index[place]
		if !in || !same(members, g.members) {
			s.fail(c, c.calls, call.rank, fmt.Sprintf("call %d names other members than those of its group do", call.position))
			return false
		}
		if !s.fits(n, call.class, rank, len(members)) {
			s.fail(c, c.calls, call.rank, s.misfit(n, rank, len(members)))
			return false
		}
		call.color, call.want, call.size = int64(members[0]), int32(rank), int32(len(members))
	}
	return true
}

// same reports whether lists are equal, at once if they are one.
func same(a, b []int) bool {
	if len(a) > 0 && len(a) == len(b) && &a[0] == &b[0] {
		return true
	}
	return slices.Equal(a, b)
}
