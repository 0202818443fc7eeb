package condense

import (
	"encoding/binary"
	"slices"

	"github.com/reprise-trace/reprise/sequitur"
)

// Groups are calls that have all in common but what may give way.
type groups struct {
	c       *Condenser
	list    []*group
	of      map[sequitur.Symbol]int // the group of each terminal
	numbers map[string]int
	roles   map[string][]role // by form
}

// A group is the calls of some terminals of a rank.
type group struct {
	roles   []role
	members []member
	places  map[sequitur.Symbol]int // of terminals in members
}

// A member is the calls of one terminal.
type member struct {
	terminal sequitur.Symbol
	count    uint64
}

// A condensedCall is calls in the condensed rank.
type condensedCall struct {
	made  sequitur.Symbol
	count uint64
}

func newGroups(c *Condenser) *groups {
	return &groups{c: c, of: make(map[sequitur.Symbol]int), numbers: make(map[string]int),
		roles: make(map[string][]role)}
}

// add adds n calls of a terminal.
func (x *groups) add(t sequitur.Symbol, n uint64) {
	k, ok := x.of[t]
	if !ok {
		k = x.find(t)
		x.of[t] = k
	}
	g := x.list[k]
	i, ok := g.places[t]
	if !ok {
		i = len(g.members)
		g.places[t] = i
		g.members = append(g.members, member{terminal: t})
	}
	g.members[i].count += n
}

// addAll adds the calls of a rule that is repeated n times.
func (x *groups) addAll(s *summary, n uint64) {
	for _, m := range s.members {
		x.add(m.terminal, m.count*n)
	}
}

// find returns the group of a terminal, which it makes if there is none.
func (x *groups) find(t sequitur.Symbol) int {
	f := &x.c.of.Forms[t]
	key := f.appendKey(nil)
	roles, ok := x.roles[string(key)]
	if !ok {
		roles = x.c.rolesOf(f)
		x.roles[string(key)] = roles
	}
	for i, v := range x.c.slots(t) {
		if roles[i] == fixed {
			key = binary.AppendVarint(key, v)
		}
	}
	k, ok := x.numbers[string(key)]
	if !ok {
		k = len(x.list)
		x.numbers[string(key)] = k
		x.list = append(x.list, &group{roles: roles, places: make(map[sequitur.Symbol]int)})
	}
	return k
}

// split makes groups of those calls that have few different values of a slot: flags, error
// codes and the like stay with the rest of their call.
func (x *groups) split() {
	list := x.list
	x.list = nil
	for _, g := range list {
		for _, part := range g.split(x.c) {
			for _, m := range part.members {
				x.of[m.terminal] = len(x.list)
			}
			x.list = append(x.list, part)
		}
	}
}

func (g *group) split(c *Condenser) []*group {
	few, most := apart, apartTogether
	if c.Names {
		few, most = apartNameless, togetherNameless
	}
	if len(g.members) <= c.Values {
		return []*group{g}
	}
	roles, together := slices.Clone(g.roles), 1
	for k, r := range roles {
		if r != summed {
			continue
		}
		if n := g.distinct(c, k, few); n <= few && n*together <= most {
			roles[k], together = fixed, n*together
		}
	}
	if together == 1 {
		return []*group{g}
	}
	var parts []*group
	numbers := make(map[string]int)
	for _, m := range g.members {
		var key []byte
		for k, v := range c.slots(m.terminal) {
			if roles[k] == fixed {
				key = binary.AppendVarint(key, v)
			}
		}
		n, ok := numbers[string(key)]
		if !ok {
			n = len(parts)
			numbers[string(key)] = n
			parts = append(parts, &group{roles: roles})
		}
		parts[n].members = append(parts[n].members, m)
	}
	return parts
}

// distinct returns how many values a slot has, or a number above most.
func (g *group) distinct(c *Condenser, slot, most int) int {
	var seen []int64
	for _, m := range g.members {
		if v := c.slots(m.terminal)[slot]; !slices.Contains(seen, v) {
			if seen = append(seen, v); len(seen) > most {
				break
			}
		}
	}
	return len(seen)
}

// calls returns what the calls of the group become.
func (g *group) calls(c *Condenser) []condensedCall {
	slices.SortFunc(g.members, func(a, b member) int {
		return slices.Compare(c.slots(a.terminal), c.slots(b.terminal))
	})
	if len(g.members) <= c.Values {
		list := make([]condensedCall, len(g.members))
		for i, m := range g.members {
			list[i] = condensedCall{c.intern(&c.of.Forms[m.terminal], c.slots(m.terminal)), m.count}
		}
		return list
	}
	return g.distributed(c)
}
