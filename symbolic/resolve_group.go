package symbolic

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
)

// A caller is a call of kind CreateGroup.
type caller struct {
	call  int32
	place int32
	nth   int32 // of the caller's with the same members and tag
}

// A meeting is all calls with the same members and tag.
type meeting struct {
	members []int // ranks in the parent
	callers []caller
}

// createGroups resolves all creations on a group that only those call who will be
// members. Those with the same members and tag meet in the order of each caller.
func (s *resolution) createGroups(w work) {
	var (
		meetings []*meeting
		known    = make(map[string]*meeting)
		keys     = make(map[*int][]byte) // of members that are shared
		key      []byte
	)
	for i, n := range w.calls {
		place := w.place(i)
		ordinal := int64(0)
		for n = s.calls[n].child; n != none; n = s.calls[n].sibling {
			c := &s.calls[n]
			if c.kind != CreateGroup {
				continue
			}
			c.key = ordinal
			ordinal++
			if len(c.more.members) == 0 || c.class == "" || w.group.Remote != nil {
				s.fail(&creation{parent: w.group, kind: c.kind, ordinal: int(c.key)}, []int32{n}, c.rank, fmt.Sprintf("call %d has no members or no result, or is on an intercommunicator", c.position))
				continue
			}
			key = appendKey(key[:0], c.more, keys)
			m := known[string(key)]
			if m == nil {
				m = &meeting{members: c.more.members}
				known[string(key)] = m
				meetings = append(meetings, m)
			}
			nth := int32(0)
			if k := len(m.callers); k > 0 && m.callers[k-1].place == place {
				nth = m.callers[k-1].nth + 1
			}
			m.callers = append(m.callers, caller{n, place, nth})
		}
	}
	for _, m := range meetings {
		s.meet(w, m)
	}
}

// appendKey appends what tells members and a tag from others.
func appendKey(dst []byte, m *more, keys map[*int][]byte) []byte {
	dst = binary.AppendVarint(dst, m.tag)
	dst = binary.AppendUvarint(dst, uint64(len(m.members)))
	list, ok := keys[&m.members[0]]
	if !ok || len(list) != 8*len(m.members) {
		list = nil
		for _, rank := range m.members {
			list = binary.LittleEndian.AppendUint64(list, uint64(rank))
		}
		keys[&m.members[0]] = list
	}
	return append(dst, list...)
}

// meet resolves all creations with the same members and tag.
func (s *resolution) meet(w work, m *meeting) {
	sorted := slices.Clone(m.members)
	slices.Sort(sorted)
	slices.SortStableFunc(m.callers, func(a, b caller) int { return cmp.Compare(a.nth, b.nth) })
	for len(m.callers) > 0 {
		n := 1
		for n < len(m.callers) && m.callers[n].nth == m.callers[0].nth {
			n++
		}
		s.together(w, m.members, sorted, m.callers[:n])
		m.callers = m.callers[n:]
	}
}

// together resolves one creation by callers who all named the given members.
func (s *resolution) together(w work, members, sorted []int, callers []caller) {
	first := &s.calls[callers[0].call]
	calls := make([]int32, len(callers))
	for i, c := range callers {
		calls[i] = c.call
	}
	c := &creation{parent: w.group, kind: CreateGroup, ordinal: int(first.key)}
	for i, place := range sorted {
		switch {
		case place < 0 || place >= len(w.group.Members) || i > 0 && place == sorted[i-1]:
			s.fail(c, calls, first.rank, fmt.Sprintf("call %d names rank %d of %d, or twice", first.position, place, len(w.group.Members)))
			return
		case i == len(callers) || place < int(callers[i].place):
			s.fail(c, calls, int32(w.group.Members[place]), fmt.Sprintf("no such call, but rank %d has one, call %d", first.rank, first.position))
			return
		case place > int(callers[i].place):
			call := &s.calls[callers[i].call]
			s.fail(c, calls, call.rank, fmt.Sprintf("call %d names members that the caller is not among", call.position))
			return
		}
	}
	if len(callers) > len(sorted) {
		call := &s.calls[callers[len(sorted)].call]
		s.fail(c, calls, call.rank, fmt.Sprintf("call %d names members that the caller is not among", call.position))
		return
	}
	at := make(map[int]int32, len(callers)) // call of each place
	for _, c := range callers {
		at[int(c.place)] = c.call
	}
	g := &Group{Parent: w.group, Kind: CreateGroup, Class: first.class, Color: int64(members[0]), Ordinal: int(s.calls[at[members[0]]].key)}
	c.ordinal = g.Ordinal
	for i, place := range members {
		n := at[place]
		calls[i] = n
		if !s.fits(n, g.Class, i, len(members)) {
			s.fail(c, calls, s.calls[n].rank, s.misfit(n, i, len(members)))
			return
		}
		g.Members = append(g.Members, int(s.calls[n].rank))
	}
	for i, n := range calls {
		s.assign(n, g, i, false)
	}
	s.add(work{group: g, calls: calls})
}
