package proxy

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// How large buffers are: as large as the counts, datatypes and sizes of the calls that use them say at most.

// A reach is a bound on how far from an address data lies, in bytes.
type reach struct {
	bytes    uint64
	negative bool // before the address, too
	unknown  bool
}

// most returns the larger of two.
func (r reach) most(s reach) reach {
	return reach{max(r.bytes, s.bytes), r.negative || s.negative, r.unknown || s.unknown}
}

// A room is what a buffer has before and after its address.
type room struct {
	before, after uint64
	unknown       bool
}

// pairs are datatypes of two parts, with a gap between these or behind them.
var pairs = []string{"MPI_FLOAT_INT", "MPI_DOUBLE_INT", "MPI_LONG_INT", "MPI_SHORT_INT", "MPI_LONG_DOUBLE_INT"}

// predefined returns the reach of a predefined datatype.
func predefined(id int64) reach {
	name := constants["datatype"][id]
	i := slices.IndexFunc(spec.Constants(), func(c spec.Constant) bool { return c.Name == name })
	if i < 0 {
		return reach{}
	}
	size := spec.Constants()[i].Size()
	switch {
	case size < 0:
		return reach{bytes: 32}
	case slices.Contains(pairs, name):
		return reach{bytes: 2 * uint64(size)}
	}
	return reach{bytes: uint64(size)}
}

// maxRounds is how often datatypes of datatypes are looked at: those that still grow are not known.
const maxRounds = 16

// findReaches finds out how far datatypes reach. Ids are used again: it is the most of all that have one.
func (g *generator) findReaches() {
	g.reaches = make(map[int64]reach)
	for round, again := 0, true; again; round++ {
		again = false
		for _, shape := range g.calls {
			for _, c := range shape {
				made := c.argument("newtype")
				if c.left != "" || c.function == nil || made == nil || spec.RoleOf(c.function.Name).Datatype == "" {
					continue
				}
				r := g.reachOfMade(c)
				r.unknown = r.unknown || round > maxRounds
				made.each(func(x cst.Value) {
					before, known := g.reaches[x.Int()]
					if after := before.most(r); !known || after != before && !before.unknown {
						g.reaches[x.Int()], again = after, true
					}
				})
			}
		}
	}
}

// reachOf returns how far the datatypes of a call reach.
func (g *generator) reachOf(c *call) reach {
	var r reach
	c.uses(func(class string, id int64, makes bool) {
		switch known, ok := g.reaches[id]; {
		case class != "datatype" || makes:
		case !isObject(id):
			r = r.most(predefined(id))
		case ok:
			r = r.most(known)
		default:
			r.unknown = true
		}
	})
	return r
}

// reachOfMade returns how far the datatype reaches that a call makes.
func (g *generator) reachOfMade(c *call) reach {
	old := g.reachOf(c)
	name := c.function.Name
	distance, negative := c.most("array_of_displacements", "stride", "lb")
	block, _ := c.most("array_of_blocklengths", "blocklength")
	count, _ := c.most("count")
	inBytes := strings.Contains(name, "_h") || strings.Contains(name, "struct")
	r := old
	r.negative = old.negative || negative
	if t := c.typeOf("array_of_displacements"); t.Elem != nil && t.Elem.Kind == cst.KindPointer {
		r.unknown = true
	}
	switch spec.RoleOf(name).Datatype {
	case "same":
		extent, backwards := c.most("extent")
		r.bytes = max(old.bytes, wire.AddSat(distance, extent))
		r.negative = r.negative || backwards
	case "contiguous":
		r.bytes = wire.MulSat(count, old.bytes)
	case "vector", "indexed", "struct":
		if spec.RoleOf(name).Datatype == "vector" {
			distance = wire.MulSat(count, distance)
		}
		if inBytes {
			// the end of a struct may be aligned
			r.bytes = wire.AddSat(wire.AddSat(distance, wire.MulSat(block, old.bytes)), 16)
			break
		}
		r.bytes = wire.MulSat(wire.AddSat(distance, block), old.bytes)
	case "subarray", "darray":
		r.bytes = wire.MulSat(max(c.product("array_of_sizes"), c.product("array_of_gsizes")), old.bytes)
	case "chosen":
		r.bytes = 32
	default:
		r.unknown = true
	}
	return r
}

// most returns the largest number that arguments of some names have, whatever its sign, and whether there are
// negative ones.
func (c *call) most(names ...string) (n uint64, negative bool) {
	for _, name := range names {
		if v := c.argument(name); v != nil {
			v.each(func(x cst.Value) {
				eachNumber(x, func(x cst.Value) {
					if x.Kind() == cst.KindInt {
						n, negative = max(n, magnitude(x.Int())), negative || x.Int() < 0
					}
				})
			})
		}
	}
	return n, negative
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// product returns the largest product of the numbers in an array.
func (c *call) product(name string) uint64 {
	return c.joined(name, 1, wire.MulSat)
}

// sum returns the largest sum of the numbers in an array.
func (c *call) sum(name string) uint64 { return c.joined(name, 0, wire.AddSat) }

func (c *call) joined(name string, first uint64, join func(a, b uint64) uint64) uint64 {
	most := uint64(0)
	if v := c.argument(name); v != nil {
		v.each(func(x cst.Value) {
			n := first
			eachNumber(x, func(x cst.Value) { n = join(n, magnitude(x.Int())) })
			most = max(most, n)
		})
	}
	return most
}

// memoryOf returns how far from its addresses a call may use memory.
func (g *generator) memoryOf(c *call) reach {
	r := g.reachOf(c)
	count, _ := c.most("count", "incount", "outcount", "origin_count", "result_count", "sendcount", "recvcount")
	if _, ok := c.parameter("count"); !ok && count == 0 {
		count = 1
	}
	if n, _ := c.most("partitions"); n > 0 {
		count = wire.MulSat(count, n)
	}
	role := spec.RoleOf(c.function.Name)
	for _, a := range []spec.Amount{role.Gives, role.Gets} {
		switch a.Parts {
		case "", "once":
		case "neighbours":
			count = wire.MulSat(count, uint64(max(g.size, g.mostArray, 64)))
		default:
			count = wire.MulSat(count, uint64(g.size))
		}
	}
	distance, negative := c.most("displs", "sdispls", "rdispls")
	for _, name := range []string{"sendcounts", "recvcounts"} {
		count = max(count, c.sum(name))
	}
	sizes, _ := c.most("size", "insize", "outsize")
	r.bytes = wire.AddSat(wire.AddSat(sizes, distance), wire.MulSat(wire.AddSat(count, distance), r.bytes))
	r.negative = r.negative || negative
	if c.fits != nil {
		r.unknown = r.unknown || c.fits.unknown
		r.bytes = max(r.bytes, c.fits.bytes)
	}
	return r
}

// parameter returns a parameter of a function.
func (c *call) parameter(name string) (spec.Param, bool) {
	for _, p := range c.function.Declared() {
		if p.Name == name {
			return p, true
		}
	}
	return spec.Param{}, false
}

// findRoom finds out how large buffers are.
func (g *generator) findRoom() {
	g.findReaches()
	sent := reach{}
	for _, shape := range g.calls {
		for _, c := range shape {
			if c.left == "" && c.function != nil && spec.RoleOf(c.function.Name).Sends != nil {
				r := g.reachOf(c)
				n, _ := c.most("count", "sendcount")
				parts, _ := c.most("partitions")
				r.bytes = wire.MulSat(wire.MulSat(n, max(parts, 1)), r.bytes)
				sent = sent.most(r)
			}
		}
	}
	g.room = make([]room, len(g.buffers))
	for _, shape := range g.calls {
		for _, c := range shape {
			if c.left != "" || c.function == nil {
				continue
			}
			if c.fits = nil; c.fromAnywhere() && c.smallerThan(sent) {
				c.fits = &sent
				c.uses(func(class string, id int64, _ bool) {
					if class == "datatype" && isObject(id) {
						c.fits = &reach{unknown: true}
					}
				})
			}
			for one := range c.each() {
				r := g.memoryOf(one)
				for _, v := range one.args {
					v.each(func(x cst.Value) { g.makeRoom(x, r) })
				}
			}
		}
	}
}

// bounds reports whether an argument of a parameter may say how much memory is used at an address.
func bounds(p *cst.Param) bool {
	switch p.Type.Kind {
	case cst.KindPointer, cst.KindRank, cst.KindTag, cst.KindStatus:
		return false
	}
	return p.Name != "offset"
}

// each returns the calls of all ranks one after the other: a single one if the arguments that bound their memory
// do not vary from call to call.
func (c *call) each() iter.Seq[*call] {
	return func(yield func(*call) bool) {
		times := 1
		for j, v := range c.args {
			if !bounds(&c.signature.Function.Params[j]) {
				continue
			}
			for _, list := range v.of {
				times = max(times, len(list))
			}
		}
		if times == 1 {
			yield(c)
			return
		}
		for i := range times {
			one := *c
			one.args = make([]*values, len(c.args))
			for j, v := range c.args {
				one.args[j] = &values{ranks: v.ranks}
				for _, list := range v.of {
					at := min(i, len(list)-1)
					one.args[j].of = append(one.args[j].of, list[at:at+1])
				}
			}
			if !yield(&one) {
				return
			}
		}
	}
}

// makeRoom makes room for a use of memory at an address.
func (g *generator) makeRoom(x cst.Value, r reach) {
	switch x.Kind() {
	case cst.KindArray:
		for i := range x.Len() {
			if x.Index(i).Kind() == cst.KindPointer { // parts of datatypes
				g.makeRoom(x.Index(i), reach{unknown: true})
			}
		}
	case cst.KindPointer:
		i := g.buffers.place(x.Pointer())
		if i < 0 || g.buffers[i].segment != x.Pointer().Segment {
			return
		}
		d, ok := g.buffers.displacement(x.Pointer())
		if !ok {
			return
		}
		at := &g.room[i]
		if r.negative {
			at.before = max(at.before, wire.AddSat(r.bytes, uint64(max(-d, 0))))
		}
		at.before = max(at.before, uint64(max(-d, 0)))
		at.after = max(at.after, wire.AddSat(r.bytes, uint64(max(d, 0))))
		at.unknown = at.unknown || r.unknown
	}
}

// fromAnywhere reports whether a call receives from any source.
func (c *call) fromAnywhere() bool {
	name := spec.Base(c.function.Name)
	v := c.argument("source")
	if name != "Recv" && name != "Irecv" || v == nil || c.argument("count") == nil || c.argument("datatype") == nil {
		return false
	}
	anywhere := false
	v.each(func(x cst.Value) { anywhere = anywhere || isAny(x) })
	return anywhere
}

// smallerThan reports whether a receive may have less room than the largest message needs.
func (c *call) smallerThan(sent reach) bool {
	smallest := uint64(math.MaxUint64)
	c.argument("datatype").each(func(x cst.Value) {
		if isObject(x.Int()) {
			smallest = 0
			return
		}
		smallest = min(smallest, predefined(x.Int()).bytes)
	})
	least := int64(math.MaxInt64)
	c.argument("count").each(func(x cst.Value) { least = min(least, x.Int()) })
	return sent.unknown || wire.MulSat(uint64(max(least, 0)), smallest) < sent.bytes
}

// fewBuffers is how many buffers have a line each.
const fewBuffers = 8

// reserve adds the lines that make buffers.
func (g *generator) reserve(b *body) {
	var cells []string
	for i, r := range g.room {
		switch name := constants["pointer"][g.buffers[i].segment]; {
		case name != "":
			cells = append(cells, name)
		case r.unknown || r.before > math.MaxInt64 || r.after > math.MaxInt64:
			cells = append(cells, "UNKNOWN, UNKNOWN")
		default:
			cells = append(cells, fmt.Sprintf("%d, %d", r.before, r.after))
		}
	}
	if len(cells) > fewBuffers {
		rows := make([]string, len(cells))
		for i, c := range cells {
			if rows[i] = "{" + c + "}"; !strings.Contains(c, ",") {
				rows[i] = "{0, 0}"
			}
		}
		b.add("static const long long room[][2] = { /* bytes before and after the address of a buffer */",
			"    "+strings.ReplaceAll(wrap(rows), "\n", "\n    ")+"};",
			fmt.Sprintf("for (int i = 0; i < %d; i++)", len(cells)), "    buffer[i] = reserve(room[i][0], room[i][1]);")
	}
	for i, c := range cells {
		switch {
		case !strings.Contains(c, ","):
			b.add(fmt.Sprintf("buffer[%d] = %s;", i, c))
		case len(cells) <= fewBuffers:
			b.add(fmt.Sprintf("buffer[%d] = reserve(%s);", i, c))
		}
	}
}
