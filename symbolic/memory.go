package symbolic

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A Pointer is a symbolic address: a byte inside a memory segment.
type Pointer struct {
	Segment      int64 // symbolic id of the segment
	Displacement int64 // from the base of the segment, in bytes
	Device       int64 // as the caller numbers them
}

// FirstUnknown is the id of the first segment of addresses that lie in no memory
// the caller told of. Further ones follow downwards. Ids between it and 0 are for
// the caller to declare.
const FirstUnknown = -1024

// reach is how far from the first address of an unknown segment others belong to
// it, in bytes.
const reach = 1 << 20

// A Memory knows what is allocated, and gives symbolic ids to what calls use. The
// zero Memory knows nothing.
//
// Allocations are segments. A segment gets an id, the lowest that is free, when
// [Memory.Resolve] first meets an address in it, so that allocations which no
// recorded call uses take no ids, whoever makes them and however often. Its id is
// free again when it is freed. Events of several threads are to come in an order in
// which no address is allocated twice: an allocation counts from its return, a
// freeing from its call. Where they come in another, the later one is believed.
//
// An address in no segment is in a region, if the caller declared one: static
// data of a program, the stack of a thread, a constant such as MPI_IN_PLACE. All
// others are unknown. The first unknown address founds a segment and is its base;
// one that is no more than 1 MiB from the base of such a segment belongs to it,
// the nearest if there are several; any other founds another.
//
// # Repeating runs
//
// What a program does the same in every run has the same ids in every run: they
// depend on the order of events alone. Displacements in allocations are those of
// the program. A program's image is moved as a whole when it is loaded somewhere
// else, so displacements from the start of a region of static data repeat. Where
// a stack begins depends on the environment, too, so a region of a stack has for
// its base the first address in it that a call uses: between frames, distances
// are those of the compiled code, unless it aligns one to more than 16 bytes.
// Unknown segments have such a base, too, and repeat as far as distances up to 1
// MiB do, and the order of use. What does not repeat is whether two mappings that
// the system places apart from each other come within that distance.
type Memory struct {
	// Watch, if it is not nil, is told what becomes of each allocation that has an id, when
	// that is so.
	Watch func(Change, Segment)

	live    tree
	ids     Pool
	unknown tree // by base; ids count from 0
	regions []region
}

// A Change is something that becomes of an allocation that calls use.
type Change uint8

const (
	Used    Change = iota // it got an id, for a call uses it
	Resized               // it was reallocated
	Freed                 // it was freed, or overlapped; its id is free
)

// A Segment is an allocation with an id.
type Segment struct {
	ID     int64
	Size   uint64 // in bytes
	Device int64
}

// tell tells who watches of a change.
func (m *Memory) tell(c Change, s *segment) {
	if m.Watch != nil && s.id >= 0 {
		m.Watch(c, Segment{int64(s.id), s.size, int64(s.device)})
	}
}

// A Region is a range of addresses that is not allocated while the program runs.
type Region struct {
	Address uint64
	Size    uint64 // 1 for a constant
	Segment int64  // id, between [FirstUnknown] and 0, exclusively
	Device  int32

	// FirstUse makes the first address that is used in the region its base,
	// instead of its start.
	FirstUse bool
}

type region struct {
	Region
	base uint64
	used bool
}

// last returns the address of the last byte of a range. One without bytes has one
// nevertheless: allocating nothing yields an address as well.
func last(address, size uint64) uint64 {
	if size == 0 {
		return address
	}
	return address + min(size-1, math.MaxUint64-address)
}

// Declare adds a region. It replaces the one that had the same id, and those that it
// overlaps, so there is no more than one for each id. It panics if the id is not for
// the caller to declare.
func (m *Memory) Declare(r Region) {
	if r.Segment <= FirstUnknown || r.Segment >= 0 {
		panic(fmt.Sprintf("symbolic: region with id %d", r.Segment))
	}
	m.regions = slices.DeleteFunc(m.regions, func(old region) bool {
		return old.Segment == r.Segment || old.Address <= last(r.Address, r.Size) &&
			r.Address <= last(old.Address, old.Size)
	})
	i, _ := slices.BinarySearchFunc(m.regions, r.Address, byAddress)
	m.regions = slices.Insert(m.regions, i, region{Region: r, base: r.Address, used: !r.FirstUse})
}

func byAddress(r region, address uint64) int { return cmp.Compare(r.Address, address) }

// Allocate says that size bytes from an address on were allocated. Segments that
// overlap them are freed first: their freeing was not seen. It takes O(log n)
// time, n being the number of segments.
func (m *Memory) Allocate(address, size uint64, device int32) {
	m.allocate(address, segment{size: size, id: -1, device: device})
}

func (m *Memory) allocate(address uint64, s segment) {
	end := last(address, s.size)
	x, i := m.live.seek(address)
	if x != nil && !overlaps(x, i, address, end) && x.n < fanout {
		m.live.add(x, i, address, s)
		return
	}
	if x, i := m.live.floor(address); x != nil && last(x.keys[i], x.segments[i].size) >= address {
		m.free(x, i)
	}
	for {
		x, i := m.live.ceiling(address)
		if x == nil || x.keys[i] > end {
			break
		}
		m.free(x, i)
	}
	m.live.insert(address, s)
}

// overlaps reports whether a segment from address to end overlaps those next to
// index i of x, where it belongs.
func overlaps(x *node, i int, address, end uint64) bool {
	if y, j := x.before(i); y != nil && last(y.keys[j], y.segments[j].size) >= address {
		return true
	}
	if i == x.n {
		x, i = x.next, 0
	}
	return x != nil && x.keys[i] <= end
}

// Free says that what was allocated at an address is freed. It returns the id of
// the segment, and whether it had one: whether a call used it. An address at
// which nothing was allocated changes nothing.
func (m *Memory) Free(address uint64) (id int64, used bool) {
	x, i := m.live.floor(address)
	if x == nil || x.keys[i] != address {
		return 0, false
	}
	id = int64(x.segments[i].id)
	m.free(x, i)
	return max(id, 0), id >= 0
}

func (m *Memory) free(x *node, i int) {
	m.tell(Freed, &x.segments[i])
	if id := x.segments[i].id; id >= 0 {
		m.ids.Release(int64(id))
	}
	m.live.remove(x, i)
}

// Unmap says that size bytes from an address on are freed, which need not be what was
// allocated at once: of a segment that extends over either end the rest stays. In front, it is
// the segment, which is smaller now; behind, one of its own, which no call has used.
func (m *Memory) Unmap(address, size uint64) {
	if size == 0 {
		return
	}
	end := last(address, size)
	x, i := m.live.floor(end)
	if x == nil || last(x.keys[i], x.segments[i].size) < address {
		return
	}
	behind := segment{id: -1, device: x.segments[i].device}
	if to := last(x.keys[i], x.segments[i].size); to > end {
		behind.size = to - end
	}
	for {
		x, i := m.live.floor(end)
		if x == nil || last(x.keys[i], x.segments[i].size) < address {
			break
		}
		start, s := x.keys[i], &x.segments[i]
		if start >= address {
			m.free(x, i)
			continue
		}
		s.size = address - start
		m.tell(Resized, s)
		break
	}
	if behind.size > 0 {
		m.live.insert(end+1, behind)
	}
}

// An Allocation is what [Memory.Detach] took away. The zero Allocation is none.
type Allocation struct {
	segment
	known bool
}

// Detach says that a function begins to reallocate what was allocated at an address, and
// [Memory.Attach] that it has returned: between the two, another thread may be given the
// old memory, or give back the new. Until then the id is not free. A reallocation that
// failed, or to no bytes at all, is none: it has changed nothing or is [Memory.Free].
func (m *Memory) Detach(address uint64) Allocation {
	x, i := m.live.floor(address)
	if x == nil || x.keys[i] != address {
		return Allocation{}
	}
	a := Allocation{x.segments[i], true}
	m.live.remove(x, i)
	return a
}

// Attach says that what was detached is at an address now, with the given size. It keeps
// its id and device, for whether it moves is not the program's choice. Of the zero
// Allocation it is [Memory.Allocate] on device 0. An Allocation can be attached once.
func (m *Memory) Attach(a Allocation, address, size uint64) {
	if !a.known {
		a.segment = segment{id: -1}
	}
	a.size = size
	m.allocate(address, a.segment)
	m.tell(Resized, &a.segment)
}

// Resolve returns the symbolic form of an address that a call uses, giving an id
// to the segment if it has none. The address just behind a segment belongs to it,
// unless something else begins there. It reports whether the address is in a
// segment or region, or an unknown one. It takes O(log n) time.
func (m *Memory) Resolve(address uint64) (p Pointer, known bool) {
	x, i := m.live.floor(address)
	if x != nil && address <= last(x.keys[i], x.segments[i].size) {
		return m.inside(x, i, address), true
	}
	if r := m.region(address); r != nil {
		if !r.used {
			r.base, r.used = address, true
		}
		return Pointer{Segment: r.Segment, Displacement: int64(address - r.base), Device: int64(r.Device)}, true
	}
	if x != nil && address-x.keys[i] == x.segments[i].size {
		return m.inside(x, i, address), true
	}
	return m.outside(address), false
}

// Contains reports whether an address is in a segment or a region, as Resolve would,
// and changes nothing.
func (m *Memory) Contains(address uint64) bool {
	x, i := m.live.floor(address)
	return x != nil && address-x.keys[i] <= x.segments[i].size || m.region(address) != nil
}

// Region returns the id of the region that an address is in, and whether there is
// one. Allocations do not count.
func (m *Memory) Region(address uint64) (segment int64, ok bool) {
	if r := m.region(address); r != nil {
		return r.Segment, true
	}
	return 0, false
}

// inside returns the symbolic form of an address in a segment.
func (m *Memory) inside(x *node, i int, address uint64) Pointer {
	s := &x.segments[i]
	if s.id < 0 {
		s.id = int32(m.ids.Take())
		m.tell(Used, s)
	}
	return Pointer{Segment: int64(s.id), Displacement: int64(address - x.keys[i]), Device: int64(s.device)}
}

// region returns the region that an address is in, or nil.
func (m *Memory) region(address uint64) *region {
	i, found := slices.BinarySearchFunc(m.regions, address, byAddress)
	if !found {
		i--
	}
	if i < 0 || last(m.regions[i].Address, m.regions[i].Size) < address {
		return nil
	}
	return &m.regions[i]
}

// outside returns the symbolic form of an unknown address.
func (m *Memory) outside(address uint64) Pointer {
	distance := uint64(reach + 1)
	x, i := m.unknown.floor(address)
	if x != nil {
		distance = min(distance, address-x.keys[i])
	}
	if y, j := m.unknown.ceiling(address); y != nil && y.keys[j]-address < distance {
		x, i, distance = y, j, y.keys[j]-address
	}
	if distance > reach {
		id := m.unknown.n
		m.unknown.insert(address, segment{id: int32(id)})
		return Pointer{Segment: FirstUnknown - int64(id)}
	}
	return Pointer{Segment: FirstUnknown - int64(x.segments[i].id), Displacement: int64(address - x.keys[i])}
}
