package merge

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/big"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// A role says what becomes of a slot in the calls of a group.
type role uint8

const (
	fixed    role = iota // all calls of the group have the same
	summed               // integers: their sum is kept
	measured             // floats: their mean is, but for rounding
	taken                // any one of those that there are: where things are, and what they are called
)

// Groups are calls that have all in common but what may give way.
type groups struct {
	c       *condenser
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

func newGroups(c *condenser) *groups {
	return &groups{c: c, of: make(map[sequitur.Symbol]int), numbers: make(map[string]int), roles: make(map[string][]role)}
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
	f := &x.c.of.forms[t]
	key := appendForm(nil, f)
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

func (g *group) split(c *condenser) []*group {
	few, most := 4, 16 // values of a slot, and of several together
	if c.names {
		few, most = 2, 4
	}
	if len(g.members) <= c.values {
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
func (g *group) distinct(c *condenser, slot, most int) int {
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
func (g *group) calls(c *condenser) []condensedCall {
	slices.SortFunc(g.members, func(a, b member) int { return slices.Compare(c.slots(a.terminal), c.slots(b.terminal)) })
	if len(g.members) <= c.values {
		list := make([]condensedCall, len(g.members))
		for i, m := range g.members {
			list[i] = condensedCall{c.intern(&c.of.forms[m.terminal], c.slots(m.terminal)), m.count}
		}
		return list
	}
	return g.distributed(c)
}

// distributed returns calls that have the values of each slot as a distribution: in ascending
// order, in blocks of calls that have the mean of theirs.
func (g *group) distributed(c *condenser) []condensedCall {
	f := &c.of.forms[g.members[0].terminal]
	total := uint64(0)
	for _, m := range g.members {
		total += m.count
	}
	sizes := blockSizes(total, uint64(c.values))
	columns := make([][]int64, f.slots)
	first := c.slots(g.members[0].terminal)
	for k := range columns {
		columns[k] = g.column(c, k, sizes)
		if slices.ContainsFunc(g.members, func(m member) bool { return c.slots(m.terminal)[k] != first[k] }) {
			c.params[f.function] |= 1 << c.paramOf(f, k)
		}
	}
	if k := f.siteSlot(c.functions); k >= 0 {
		moved := *f
		moved.place = layout.Place(columns[k][0])
		f = &moved
	}
	var list []condensedCall
	slots := make([]int64, f.slots)
	for i, n := range sizes {
		for k := range slots {
			slots[k] = columns[k][i]
		}
		made := c.intern(f, slots)
		if k := len(list) - 1; k >= 0 && list[k].made == made {
			list[k].count += n
		} else {
			list = append(list, condensedCall{made, n})
		}
	}
	return list
}

// blockSizes returns how many of some calls each block has: nearly the same number in all of them. The
// last is in pieces of 1, 2, 4 and so on and a rest, so that any number of its calls are some of the
// pieces.
func blockSizes(calls, blocks uint64) []uint64 {
	blocks = min(blocks, calls)
	sizes := make([]uint64, 0, blocks+8)
	for i := range blocks - 1 {
		size := calls / blocks
		if i < calls%blocks {
			size++
		}
		sizes = append(sizes, size)
	}
	rest := calls / blocks
	for piece := uint64(1); rest > 0; piece *= 2 {
		piece = min(piece, rest)
		sizes = append(sizes, piece)
		rest -= piece
	}
	return sizes
}

// column returns the value of a slot in each block.
func (g *group) column(c *condenser, slot int, sizes []uint64) []int64 {
	values := make([]countedValue, len(g.members))
	for i, m := range g.members {
		values[i] = countedValue{c.slots(m.terminal)[slot], m.count}
	}
	switch g.roles[slot] {
	case summed:
		slices.SortFunc(values, func(a, b countedValue) int { return cmp.Compare(a.value, b.value) })
		return integerBlocks(values, sizes, c.values)
	case measured:
		slices.SortFunc(values, func(a, b countedValue) int {
			return cmp.Or(cmp.Compare(math.Float64frombits(uint64(a.value)), math.Float64frombits(uint64(b.value))), cmp.Compare(a.value, b.value))
		})
		return floatBlocks(values, sizes)
	}
	least := slices.MinFunc(values, func(a, b countedValue) int { return cmp.Compare(a.value, b.value) })
	return slices.Repeat([]int64{least.value}, len(sizes))
}

// A countedValue is a value that some calls have.
type countedValue struct {
	value int64
	count uint64
}

// takeCalls calls f for the values of the next n calls, and returns the rest. It changes values.
func takeCalls(values []countedValue, n uint64, f func(value int64, count uint64)) []countedValue {
	for n > 0 {
		k := min(n, values[0].count)
		f(values[0].value, k)
		n -= k
		if values[0].count -= k; values[0].count == 0 {
			values = values[1:]
		}
	}
	return values
}

// integerBlocks returns a value for each block, so that their sum over all calls is that of the
// values, which ascend. Values of blocks but the last are rounded down, to a power of two that
// is small beside the range, and what that leaves counts in the blocks after, as far as they can have
// it: no value is below the least of all, or above the greatest.
func integerBlocks(values []countedValue, sizes []uint64, blocks int) []int64 {
	least, width := values[0].value, uint64(values[len(values)-1].value)-uint64(values[0].value)
	step := uint64(1)
	for step <= width/uint64(16*blocks) {
		step *= 2
	}
	var p product
	left, calls := new(big.Int), uint64(0) // above the least, in blocks that have no value yet
	for _, v := range values {
		left.Add(left, p.of(uint64(v.value)-uint64(least), v.count))
		calls += v.count
	}
	made := make([]int64, 0, len(sizes))
	equal := min(blocks, len(sizes)) - 1 // blocks but the last
	var sum, mean, more big.Int
	for _, n := range sizes[:equal] {
		values = takeCalls(values, n, func(value int64, count uint64) {
			sum.Add(&sum, p.of(uint64(value)-uint64(least), count))
		})
		calls -= n
		v := uint64(0)
		if sum.Sign() > 0 {
			v = min(mean.Div(&sum, p.of(n, 1)).Uint64()/step*step, width)
		}
		more.Sub(left, p.of(width, calls)) // than all blocks after can have
		if more.Sign() > 0 {
			more.Add(&more, p.of(n-1, 1))
			v = max(v, more.Div(&more, p.of(n, 1)).Uint64())
		}
		sum.Sub(&sum, p.of(v, n))
		left.Sub(left, p.of(v, n))
		made = append(made, int64(uint64(least)+v))
	}
	mean.DivMod(left, p.of(calls, 1), &more)
	each, above := mean.Uint64(), more.Uint64()
	pieces := make([]int64, len(sizes)-equal)
	for i := len(pieces) - 1; i >= 0; i-- {
		pieces[i] = int64(uint64(least) + each)
		if n := sizes[equal+i]; n <= above {
			above -= n
			pieces[i]++
		}
	}
	return append(made, pieces...)
}

// A product is one of two numbers of 64 bits, with room for it.
type product struct{ a, b big.Int }

// of returns a·b, which holds until the next call.
func (p *product) of(a, b uint64) *big.Int {
	p.a.SetUint64(a)
	if b == 1 {
		return &p.a
	}
	return p.a.Mul(&p.a, p.b.SetUint64(b))
}

// floatBlocks returns a value for each block: the mean of those of its calls.
func floatBlocks(values []countedValue, sizes []uint64) []int64 {
	made := make([]int64, len(sizes))
	for i, n := range sizes {
		mean := 0.0
		values = takeCalls(values, n, func(value int64, count uint64) {
			mean += math.Float64frombits(uint64(value)) * (float64(count) / float64(n))
		})
		made[i] = int64(math.Float64bits(mean))
	}
	return made
}

// rolesOf returns the roles of the slots of a form.
func (c *condenser) rolesOf(f *form) []role {
	function := &c.functions[f.function]
	roles := make([]role, 0, f.slots)
	lengths := f.lengths
	for k, p := range function.Params {
		begin := len(roles)
		roles = c.appendRoles(roles, p.Type, &lengths, c.handles[f.function], false)
		if k >= layout.MaxBoundedParams || k == 0 && p.Name == threadParam {
			for i := range roles[begin:] {
				roles[begin+i] = fixed
			}
		}
	}
	if f.grouped {
		roles = append(roles, fixed, fixed)
	}
	return roles
}

// requestClass is the class of handles of requests.
const requestClass = "request"

// threadParam is the name of the first parameter of functions that say which thread calls.
const threadParam = "thread"

// appendRoles appends those of a value of type t. Handles says that they stay, but those of requests.
func (c *condenser) appendRoles(roles []role, t cst.Type, lengths *[]int, handles, element bool) []role {
	name := fixed // role of what calls are called
	if c.names {
		name = taken
	}
	switch t.Kind {
	case cst.KindInt:
		return append(roles, summed)
	case cst.KindFloat:
		return append(roles, measured)
	case cst.KindTag, cst.KindString, cst.KindBytes:
		return append(roles, name)
	case cst.KindHandle:
		switch {
		case t.Class == layout.Site.Type.Class && !c.sites:
			return append(roles, fixed)
		case handles && t.Class != requestClass && t.Class != layout.Site.Type.Class:
			return append(roles, fixed)
		}
		return append(roles, name)
	case cst.KindPointer:
		return append(roles, taken, taken, taken)
	case cst.KindStatus:
		if element {
			return append(roles, name, name, name)
		}
		return append(roles, fixed, name, fixed)
	case cst.KindArray:
		n := (*lengths)[0]
		*lengths = (*lengths)[1:]
		for range n {
			roles = c.appendRoles(roles, *t.Elem, lengths, handles, true)
		}
		return roles
	}
	return append(roles, fixed)
}

// paramOf returns the parameter that a slot of a form is of.
func (c *condenser) paramOf(f *form, slot int) int {
	lengths, end := f.lengths, 0
	for k, p := range c.functions[f.function].Params {
		if end, _ = layout.CountSlots(end, p.Type, &lengths); slot < end {
			return k
		}
	}
	return 0
}

// appendForm appends what tells a form from others of the same accumulator.
func appendForm(key []byte, f *form) []byte {
	key = wire.AppendUvarint(key, uint64(f.function))
	for _, n := range f.lengths {
		key = wire.AppendUvarint(key, uint64(n))
	}
	if f.grouped {
		return append(key, 1)
	}
	return append(key, 0)
}
