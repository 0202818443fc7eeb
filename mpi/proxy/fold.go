package proxy

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// How calls become one that differ in numbers only. A program that calls MPI_Alltoallv in a loop with other
// arrays each time has a signature for each call, and a grammar in which nothing repeats. Here these calls
// are one, whose arguments vary, and the loop is a loop.

const (
	fewestFolded = 3       // signatures become one
	mostRows     = 8       // calls for each of them: a table has a row for each call
	mostCells    = 1 << 18 // numbers in the tables of such a call
)

// fold folds calls of a shape, if its grammar becomes smaller, and drops those that are left out, or are
// amounts of computing, which stand between others. It returns that grammar, and which calls stand for
// others.
func (g *generator) fold(shape *trace.Shape, calls map[uint32]*call) (*sequitur.Grammar, map[uint32]uint32) {
	if shape.Grammar.Len() > uint64(maxValues/shape.Ranks.Len()) {
		for _, c := range calls {
			if c.computes() {
				c.left = "computes, among too many calls"
			}
		}
		return shape.Grammar, nil
	}
	to := make(map[uint32]uint32)
	for _, class := range g.classesOf(calls) {
		if foldable(calls, class) {
			for _, n := range class {
				to[n] = class[0]
			}
		}
	}
	dropped := false
	for _, c := range calls {
		c.dropped = c.left != "" || c.computes()
		dropped = dropped || c.dropped
	}
	if len(to) == 0 && !dropped {
		return shape.Grammar, nil
	}
	list := shape.Grammar.AppendSymbols(nil)
	var b sequitur.Builder
	for _, n := range list {
		if calls[n].dropped {
			continue
		}
		if first, ok := to[n]; ok {
			n = first
		}
		b.Append(n)
	}
	grammar := b.Finish()
	if !dropped && 4*grammar.Symbols() > 3*shape.Grammar.Symbols() {
		return shape.Grammar, nil
	}
	join(calls, to, list)
	g.amounts(calls, list, to)
	for n, first := range to {
		if n != first {
			delete(calls, n)
		}
	}
	return grammar, to
}

// classesOf returns lists of calls that differ in numbers only, in ascending order.
func (g *generator) classesOf(calls map[uint32]*call) [][]uint32 {
	byKey := make(map[string]int)
	var list [][]uint32
	for _, n := range slices.Sorted(maps.Keys(calls)) {
		if c := calls[n]; c.left != "" || c.computes() {
			continue
		}
		key := string(calls[n].foldKey(binary.AppendUvarint(nil, uint64(g.trace.FunctionOf(int(n))))))
		i, ok := byKey[key]
		if !ok {
			i = len(list)
			byKey[key] = i
			list = append(list, nil)
		}
		list[i] = append(list[i], n)
	}
	return list
}

// foldKey appends what calls that become one have in common.
func (c *call) foldKey(key []byte) []byte {
	if key = append(key, 0); c.sure {
		key[len(key)-1] = 1
	}
	for i, p := range c.signature.Function.Params {
		v := c.args[i]
		element := p.Type
		for element.Kind == cst.KindArray {
			element = *element.Elem
		}
		switch {
		case element.Kind == cst.KindHandle && element.Class == "request":
			for _, list := range v.of {
				key = binary.AppendUvarint(key, uint64(elements(list[0])))
			}
			continue
		case p.Name == "flag":
		case element.Kind == cst.KindInt || element.Kind == cst.KindRank || element.Kind == cst.KindTag ||
			element.Kind == cst.KindStatus:
			if p.Direction != cst.InOut || p.Type.Kind != cst.KindArray {
				continue
			}
		case p.Type.Kind == cst.KindPointer:
			for _, list := range v.of { // of memory, or constants
				_, constant := constants["pointer"][list[0].Pointer().Segment]
				key = append(key, 0)
				if constant {
					key[len(key)-1] = 1
				}
			}
			continue
		}
		for _, list := range v.of {
			for _, x := range list {
				begin := len(key)
				key, _ = x.AppendText(key)
				key = binary.AppendUvarint(key, uint64(len(key)-begin))
			}
		}
	}
	return key
}

// foldable reports whether calls become one.
func foldable(all map[uint32]*call, class []uint32) bool {
	if len(class) < fewestFolded {
		return false
	}
	times, cells := uint64(0), 0
	for _, n := range class {
		c := all[n]
		if times += c.times; times > mostRows*uint64(len(class)) {
			return false
		}
		if n == class[0] {
			continue
		}
		size := 0
		for j, v := range c.args {
			if v.varies {
				continue
			}
			for k, list := range v.of {
				if !list[0].Equal(all[class[0]].args[j].of[k][0]) {
					size += elements(list[0])
				}
			}
		}
		if cells += size * int(min(c.times, mostRows*uint64(len(class)))); cells > mostCells {
			return false
		}
	}
	return true
}

// join makes the first call of each class one of all calls, which come in the order of a list.
func join(calls map[uint32]*call, to map[uint32]uint32, list []uint32) {
	joined := make(map[uint32]*call)
	for n, first := range to {
		c := calls[n]
		j := joined[first]
		if j == nil {
			j = &call{shape: c.shape, signature: calls[first].signature, function: c.function, ranks: c.ranks,
				sure: c.sure}
			for range c.args {
				j.args = append(j.args, &values{ranks: c.ranks, of: make([][]cst.Value, len(c.ranks))})
			}
			joined[first] = j
		}
		j.times += c.times
		j.vain = wire.AddSat(j.vain, c.vain)
		j.members = append(j.members, n)
	}
	at := make(map[uint32]int) // how many calls of a signature there were
	for _, n := range list {
		first, ok := to[n]
		if !ok {
			continue
		}
		c := calls[n]
		for i, v := range joined[first].args {
			for k, of := range c.args[i].of {
				x := of[0]
				if c.args[i].varies {
					x = of[at[n]]
				}
				v.of[k] = append(v.of[k], x)
			}
		}
		at[n]++
	}
	for first, j := range joined {
		slices.Sort(j.members)
		for i, v := range j.args {
			v.shorten(calls[first].args[i])
		}
		calls[first] = j
	}
}

// shorten makes values that do not vary from call to call those of one call, and takes the expression if all
// have it.
func (v *values) shorten(first *values) {
	for _, list := range v.of {
		for _, x := range list {
			v.varies = v.varies || !x.Equal(list[0])
		}
	}
	if v.varies {
		return
	}
	for k := range v.of {
		v.of[k] = v.of[k][:1]
	}
	v.expr = first.expr
}
