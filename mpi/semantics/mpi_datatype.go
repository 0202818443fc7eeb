package semantics

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/sequitur"
)

// maxDatatypeCalls is the largest number of calls of a rank that are gone through
// because one id is that of datatypes of several sizes.
const maxDatatypeCalls = 1 << 22

// maxDatatypeDepth is how deep datatypes that are made of others are looked at without
// going through the calls.
const maxDatatypeDepth = 16

// datatypes says how large the datatypes of a rank are that calls make.
type datatypes struct {
	rank   *mpiRank
	makers map[int64][]uint32        // terminals that make a datatype, by its id
	fixed  map[int64]int64           // sizes that are the same whenever
	varied map[int64]timeline[int64] // others
	asked  map[int64]int64           // what MPI_Type_size says; Unknown if it is not always the same
}

// newDatatypes finds the sizes of all datatypes of a rank.
func newDatatypes(r *mpiRank, makers map[int64][]uint32) *datatypes {
	d := &datatypes{rank: r, makers: makers, fixed: make(map[int64]int64)}
	if !d.fix() {
		d.walk()
	}
	return d
}

// fix finds sizes that do not depend on when the datatype is made, and reports whether
// all are so.
func (d *datatypes) fix() bool {
	for range maxDatatypeDepth {
		more := false
		for id, makers := range d.makers {
			if _, ok := d.fixed[id]; ok {
				continue
			}
			first, same := int64(Unknown), true
			for i, terminal := range makers {
				size, ok := d.made(terminal, id, func(old int64) (int64, bool) {
					size, ok := d.fixed[old]
					return size, ok
				})
				if i == 0 {
					first = size
				}
				same = same && ok && size == first
			}
			if same {
				d.fixed[id], more = first, true
			}
		}
		if !more {
			break
		}
	}
	return len(d.fixed) == len(d.makers)
}

// walk goes through the calls that make datatypes, in their order.
func (d *datatypes) walk() {
	d.varied = make(map[int64]timeline[int64])
	made := make(map[uint32][]int64)
	for id, terminals := range d.makers {
		for _, terminal := range terminals {
			made[terminal] = append(made[terminal], id)
		}
	}
	keep := func(s sequitur.Symbol) bool { return made[s] != nil }
	if d.rank.count(keep) > maxDatatypeCalls {
		return
	}
	now := make(map[int64]int64)
	for position, terminal := range d.rank.read.Find(0, keep) {
		for _, id := range made[terminal] {
			size, _ := d.made(terminal, id, func(old int64) (int64, bool) {
				size, ok := now[old]
				return size, ok
			})
			if before, ok := now[id]; !ok || before != size {
				now[id] = size
				d.varied[id] = append(d.varied[id], since[int64]{position + 1, size})
			}
		}
	}
}

// size returns the size of a datatype in the call at a position, and the positions
// between which it is that.
func (d *datatypes) size(id int64, position uint64) (size int64, from, until uint64) {
	if size, ok := d.fixed[id]; ok {
		return size, 0, forever
	}
	size, from, until, ok := d.varied[id].at(position)
	if !ok {
		size = Unknown
	}
	return size, from, until
}

// made returns the size of a datatype that a call makes, by the sizes of others that are
// made, and whether these are known as far as they matter.
func (d *datatypes) made(terminal uint32, id int64, known func(id int64) (size int64, ok bool)) (size int64, ok bool) {
	args := d.rank.arguments(terminal)
	ok = true
	of := func(id int64) int64 {
		if size, constant := d.rank.constants.sizes[id]; constant {
			return size
		}
		if d.makers[id] == nil {
			return Unknown
		}
		size, found := known(id)
		if !found {
			ok = false
			return Unknown
		}
		return size
	}
	composition := d.rank.roles[d.rank.function(terminal)].Datatype
	switch composition {
	case "":
		// It is a handle of a datatype that another call has made, or the calls that use it tell the size.
		if size, found := known(id); found && d.rank.roles[d.rank.function(terminal)].Shares {
			return size, true
		}
		return Unknown, true
	case "chosen":
		return d.told(id), true
	case "struct":
		size = args.structure("array_of_blocklengths", "array_of_types", of)
		return size, ok
	}
	if told, known := args.toldSize("oldtype", 0); known {
		return product(elementsOf(composition, args), told), true
	}
	old, found := args.find("oldtype", cst.KindHandle)
	if !found {
		return Unknown, true
	}
	size = product(elementsOf(composition, args), of(old.Int()))
	return size, ok
}

// elementsOf returns how many elements of its oldtype a datatype of a composition has.
func elementsOf(composition string, args arguments) int64 {
	switch composition {
	case "same":
		return 1
	case "contiguous":
		return args.number("count", cst.KindInt)
	case "vector":
		return product(args.number("count", cst.KindInt), args.number("blocklength", cst.KindInt))
	case "indexed":
		sum, _ := args.sum("array_of_blocklengths")
		return sum
	case "darray":
		return darrayElements(args)
	}
	extents, ok := args.numbers("array_of_subsizes")
	if !ok {
		return Unknown
	}
	n := int64(1)
	for _, extent := range extents {
		n = product(n, extent)
	}
	return n
}

// told returns what MPI_Type_size says of a datatype that only one call makes, Unknown if it
// says nothing.
func (d *datatypes) told(id int64) int64 {
	if d.asked == nil {
		d.asked = make(map[int64]int64)
		for terminal := range uint32(d.rank.read.Terminals()) {
			if d.rank.roles[d.rank.function(terminal)].TellsSize {
				d.ask(d.rank.arguments(terminal))
			}
		}
	}
	if size, ok := d.asked[id]; ok && len(d.makers[id]) == 1 {
		return size
	}
	return Unknown
}

// ask takes note of what a call of MPI_Type_size says.
func (d *datatypes) ask(args arguments) {
	v, ok := args.find("datatype", cst.KindHandle)
	size := args.number("size", cst.KindInt)
	if !ok || size < 0 {
		return
	}
	if before, ok := d.asked[v.Int()]; ok && before != size {
		size = Unknown
	}
	d.asked[v.Int()] = size
}
