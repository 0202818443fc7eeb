package semantics

import (
	"sort"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/sequitur"
)

// maxDatatypeCalls is the largest number of calls of a rank that are gone through
// because one id is that of datatypes of several sizes.
const maxDatatypeCalls = 1 << 22

// maxDatatypeDepth is how deep datatypes that are made of others are looked at without
// going through the calls.
const maxDatatypeDepth = 16

// A sizing is the size of a datatype from a position on.
type sizing struct {
	from uint64
	size int64
}

// datatypes says how large the datatypes of a rank are that calls make.
type datatypes struct {
	rank   *mpiRank
	makers map[int64][]uint32 // terminals that make a datatype, by its id
	fixed  map[int64]int64    // sizes that are the same whenever
	varied map[int64][]sizing // others, in the order of positions
	asked  map[int64]int64    // what MPI_Type_size says; Unknown if it is not always the same
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
	d.varied = make(map[int64][]sizing)
	made := make(map[uint32][]int64)
	for id, terminals := range d.makers {
		for _, terminal := range terminals {
			made[terminal] = append(made[terminal], id)
		}
	}
	calls := uint64(0)
	for terminal, count := range d.rank.read.Occurrences() {
		if made[terminal] != nil {
			calls += count
		}
	}
	if calls > maxDatatypeCalls {
		return
	}
	now := make(map[int64]int64)
	for position, terminal := range d.rank.read.Find(0, func(s sequitur.Symbol) bool { return made[s] != nil }) {
		for _, id := range made[terminal] {
			size, _ := d.made(terminal, id, func(old int64) (int64, bool) {
				size, ok := now[old]
				return size, ok
			})
			if before, ok := now[id]; !ok || before != size {
				now[id] = size
				d.varied[id] = append(d.varied[id], sizing{position + 1, size})
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
	list := d.varied[id]
	i := sort.Search(len(list), func(i int) bool { return list[i].from > position })
	until = forever
	if i < len(list) {
		until = list[i].from
	}
	if i == 0 {
		return Unknown, 0, until
	}
	return list[i-1].size, list[i-1].from, until
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
	old, _ := args.find("oldtype", cst.KindHandle)
	oldSize := func() int64 {
		if old.Kind() == 0 {
			return Unknown
		}
		return of(old.Int())
	}
	switch spec.Base(args.function.Name) {
	case "Type_dup", "Type_create_resized":
		return oldSize(), ok
	case "Type_contiguous":
		return product(args.number("count", cst.KindInt), oldSize()), ok
	case "Type_vector", "Type_hvector", "Type_create_hvector", "Type_create_indexed_block", "Type_create_hindexed_block":
		return product(product(args.number("count", cst.KindInt), args.number("blocklength", cst.KindInt)), oldSize()), ok
	case "Type_indexed", "Type_hindexed", "Type_create_hindexed":
		sum, _ := args.sum("array_of_blocklengths")
		return product(sum, oldSize()), ok
	case "Type_create_subarray":
		extents, found := args.numbers("array_of_subsizes")
		if !found {
			return Unknown, true
		}
		n := int64(1)
		for _, extent := range extents {
			n = product(n, extent)
		}
		return product(n, oldSize()), ok
	case "Type_create_darray":
		return product(darrayElements(args), oldSize()), ok
	case "Type_create_f90_integer", "Type_create_f90_real", "Type_create_f90_complex":
		return d.told(id), true
	case "Type_create_struct", "Type_struct":
		lengths, found := args.numbers("array_of_blocklengths")
		types, also := args.numbers("array_of_types")
		if !found || !also || len(lengths) != len(types) {
			return Unknown, true
		}
		sum := int64(0)
		for i, n := range lengths {
			sum = plus(sum, product(n, of(types[i])))
		}
		return sum, ok
	}
	return Unknown, true
}

// told returns what MPI_Type_size says of a datatype that only one call makes, Unknown if it
// says nothing.
func (d *datatypes) told(id int64) int64 {
	if d.asked == nil {
		d.asked = make(map[int64]int64)
		for terminal := range uint32(d.rank.read.Terminals()) {
			if strings.HasPrefix(d.rank.model.trace.Functions()[d.rank.function(terminal)].Name, "MPI_Type_size") {
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
