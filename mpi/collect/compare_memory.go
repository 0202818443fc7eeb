package collect

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi"
)

// Ids of memory that is neither allocated nor a region, and how far it extends.
const (
	firstUnknown = -1024
	unknownReach = 1 << 20
)

// A knownMemory is the memory of a process.
type knownMemory struct {
	numbers
	allocated spans
	regions   []knownRegion
	unknown   spans
	unknowns  int64
	windows   map[int64]span    // allocated with a window, by its id
	moved     map[*thread]int64 // ids of what is being reallocated
}

type knownRegion struct {
	span
	base   uint64
	moving bool // the base is the first address that is used
}

// declare takes note of a region.
func (k *knownMemory) declare(id int64, address, size uint64) {
	if id <= firstUnknown {
		return
	}
	s := span{address: address, size: size, id: id}
	k.regions = slices.DeleteFunc(k.regions, func(old knownRegion) bool {
		return old.id == id || old.address <= s.end() && s.address <= old.end()
	})
	k.regions = append(k.regions, knownRegion{s, address, id == mpi.Stack || id <= mpi.ThreadStack})
}

// allocate takes note of an allocation, whose id may be known.
func (k *knownMemory) allocate(s span) {
	for old := k.allocated.floor(s.end()); old != nil && old.end() >= s.address; old = k.allocated.floor(s.end()) {
		k.free(old.address)
	}
	k.allocated.add(s)
}

// free frees what was allocated at an address, if anything was.
func (k *knownMemory) free(address uint64) {
	s := k.allocated.floor(address)
	if s == nil || s.address != address {
		return
	}
	if s.id >= 0 {
		k.release(s.id)
	}
	k.allocated.remove(address)
}

// move follows a call of realloc: what was there is gone when it begins, and what comes
// is there when it returns.
func (k *knownMemory) move(t *thread, r *mpi.Record) {
	if t.step != second && r.Address == 0 {
		k.free(r.Old)
	} else if t.step != second {
		id := int64(-1)
		if s := k.allocated.floor(r.Old); s != nil && s.address == r.Old {
			id = s.id
			k.allocated.remove(r.Old)
		}
		if k.moved == nil {
			k.moved = make(map[*thread]int64)
		}
		k.moved[t] = id
	}
	if t.step != first && r.Address != 0 {
		k.allocate(span{address: r.Address, size: r.Size, id: k.moved[t]})
	}
}

// segment returns the allocation that an address is in, or behind, or nil.
func (k *knownMemory) segment(address uint64, behind bool) *span {
	s := k.allocated.floor(address)
	if s != nil && (s.contains(address) || behind && address-s.address == s.size) {
		return s
	}
	return nil
}

func (k *knownMemory) region(address uint64) *knownRegion {
	for i := range k.regions {
		if k.regions[i].contains(address) {
			return &k.regions[i]
		}
	}
	return nil
}

// knows reports whether an address is in memory that is known.
func (k *knownMemory) knows(address uint64) bool {
	return k.segment(address, true) != nil || k.region(address) != nil
}

// find returns the symbolic form of an address.
func (k *knownMemory) find(address uint64) cst.Value {
	s := k.segment(address, false)
	if s == nil {
		if r := k.region(address); r != nil {
			if r.moving {
				r.base, r.moving = address, false
			}
			return pointer(r.id, address-r.base)
		}
		if s = k.segment(address, true); s == nil {
			return k.outside(address)
		}
	}
	if s.id < 0 {
		s.id = k.take()
	}
	return pointer(s.id, address-s.address)
}

// outside returns the symbolic form of an address in unknown memory: from the nearest
// that was used before, unless that is too far.
func (k *knownMemory) outside(address uint64) cst.Value {
	below, above := k.unknown.floor(address), k.unknown.ceiling(address)
	if below != nil && address-below.address > unknownReach {
		below = nil
	}
	if above != nil && above.address-address > unknownReach {
		above = nil
	}
	switch {
	case below == nil && above == nil:
		id := firstUnknown - k.unknowns
		k.unknowns++
		k.unknown.add(span{address: address, id: id})
		return pointer(id, 0)
	case below == nil || above != nil && above.address-address < address-below.address:
		return pointer(above.id, address-above.address)
	}
	return pointer(below.id, address-below.address)
}

func pointer(segment int64, displacement uint64) cst.Value {
	return cst.PointerTo(cst.Pointer{Segment: segment, Displacement: int64(displacement)})
}

// made follows the memory that MPI allocates for the program, and returns it.
func (k *knownMemory) made(f *knownFunction, r *mpi.Record) span {
	switch f.base {
	case "MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared":
	default:
		return span{}
	}
	s := span{address: uint64(f.after(r, "baseptr")), size: uint64(f.before(r, "size")), id: -1}
	if r.Failed || s.address == 0 || s.size == 0 {
		return span{}
	}
	k.allocate(s)
	return s
}
