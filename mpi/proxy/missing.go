package proxy

import (
	"maps"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// How calls are left out at some times, and made at others. Ids are used again: what a call needs may have
// been made by a call that is left out, or on other ranks only, and later by one that is not.

// An object is what an id stands for on a rank.
type object struct {
	class string
	id    int64
}

// needs reports whether a call needs the objects of a class: completing no request is no error.
func (c *call) needs(class string) bool {
	if class != "request" {
		return true
	}
	switch spec.RoleOf(c.signature.Function.Name).Requests {
	case spec.Starts, spec.Cancels, spec.Releases:
		return true
	}
	return false
}

// follow counts for all calls how often an object is not there that they need, and leaves out those that are
// never made. It reports whether it found some.
func (g *generator) follow() (bool, error) {
	found, budget := false, uint64(maxValues)
	for number, calls := range g.calls {
		doubtful := g.doubtfulOf(calls)
		for _, c := range calls {
			c.missed, c.lacks, c.maybe = 0, nil, false
		}
		if len(doubtful) == 0 {
			continue
		}
		shape, err := g.trace.Shape(number)
		if err != nil {
			return false, err
		}
		if ranks := uint64(shape.Ranks.Len()); shape.Grammar.Len() > budget/ranks {
			for c, lacks := range doubtful {
				c.missed, c.lacks, c.maybe = wire.MulSat(c.times, ranks), lacks, true
			}
			continue
		}
		budget -= shape.Grammar.Len() * uint64(shape.Ranks.Len())
		list := shape.Grammar.AppendSymbols(nil)
		for k := range shape.Ranks.Len() {
			if err := g.ctx.Err(); err != nil {
				return false, err
			}
			g.followRank(calls, g.folded[number], list, k)
		}
		for c := range doubtful {
			if c.missed > 0 && c.missed == wire.MulSat(c.times, uint64(len(c.ranks))) {
				c.left, found = c.misses(), true
				c.missed, c.lacks = 0, nil
			}
		}
	}
	return found, nil
}

// atStart returns the objects that are there before the first call.
func (g *generator) atStart() map[object]bool {
	there := make(map[object]bool)
	for id := range g.foreign {
		there[object{"errhandler", id}] = true
	}
	return there
}

// doubtfulOf returns the calls of a shape that may need an object that was not made, and the classes of these
// objects.
func (g *generator) doubtfulOf(calls map[uint32]*call) map[*call]map[string]bool {
	made, lost := g.atStart(), make(map[object]bool)
	doubtful := make(map[*call]map[string]bool)
	for again := true; again; { // what such calls make may not be there either
		again = false
		for _, c := range calls {
			c.uses(func(class string, id int64, makes bool) {
				o := object{class, id}
				switch without := c.left != "" || doubtful[c] != nil; {
				case makes && without && !lost[o]:
					lost[o], again = true, true
				case makes && c.left == "" && !made[o]:
					made[o], again = true, true
				}
			})
		}
		for _, c := range calls {
			c.uses(func(class string, id int64, makes bool) {
				o := object{class, id}
				if makes || c.left != "" || !isObject(id) || !c.needs(class) || made[o] && !lost[o] {
					return
				}
				if doubtful[c] == nil {
					doubtful[c], again = make(map[string]bool), true
				}
				doubtful[c][class] = true
			})
		}
	}
	return doubtful
}

// followRank goes through a list of calls of the k-th rank of a shape.
func (g *generator) followRank(calls map[uint32]*call, folded map[uint32]uint32, list []uint32, k int) {
	there := g.atStart()
	at := make(map[*call]int)
	for _, n := range list {
		if first, ok := folded[n]; ok {
			n = first
		}
		c := calls[n]
		i := at[c]
		at[c]++
		each := func(use func(class string, id int64, makes bool)) {
			c.handles(func(p *spec.Param, v *values) {
				eachHandle(p, v.of[k][min(i, len(v.of[k])-1)], use)
			})
		}
		made := c.left == ""
		each(func(class string, id int64, makes bool) {
			if makes || c.left != "" || !isObject(id) || !c.needs(class) || there[object{class, id}] {
				return
			}
			if made = false; c.lacks == nil {
				c.lacks = make(map[string]bool)
			}
			c.lacks[class] = true
		})
		if c.left == "" && !made {
			c.missed++
		}
		each(func(class string, id int64, makes bool) {
			if makes {
				there[object{class, id}] = made
			}
		})
	}
}

// misses says which objects a call needs that are not there at some times.
func (c *call) misses() string {
	what := "an object of class " + strings.Join(slices.Sorted(maps.Keys(c.lacks)), " and one of class ")
	if c.maybe {
		return "may need " + what + " that is not made, and is made where it is there"
	}
	return "needs " + what + " that is not made"
}

// guard adds conditions for objects that a call needs and that may not be there.
func (s *statement) guard(p *spec.Param, class, text string) {
	if condition := text + " != " + nulls[class]; s.lacks[class] && p.Direction != cst.Out &&
		!slices.Contains(s.needed, condition) {
		s.needed = append(s.needed, condition)
	}
}
