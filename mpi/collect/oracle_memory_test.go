package collect

import (
	"container/heap"
	"math"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
)

// numbers hands out the lowest number that is free.
type numbers struct {
	free numberHeap // below next
	next int64
}

func (n *numbers) lowest() int64 {
	if len(n.free) > 0 {
		return n.free[0]
	}
	return n.next
}

func (n *numbers) take() int64 {
	if len(n.free) > 0 {
		return heap.Pop(&n.free).(int64)
	}
	n.next++
	return n.next - 1
}

func (n *numbers) release(id int64) { heap.Push(&n.free, id) }

type numberHeap []int64

func (h numberHeap) Len() int           { return len(h) }
func (h numberHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h numberHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *numberHeap) Push(x any)        { *h = append(*h, x.(int64)) }
func (h *numberHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// knownObjects are the objects of one class.
type knownObjects struct {
	numbers
	unseen    numbers // of objects that were made out of sight
	nobody    bool    // no call makes such objects
	constants map[int64]int64
	live      map[int64]*knownObject // by handle
}

type knownObject struct {
	id      int64
	handles int  // that no call frees or has freed
	gone    bool // a call that freed the last has returned
}

// find returns the id of an object. One that is not known was made out of sight.
func (k *knownObjects) find(raw int64) int64 {
	if id, ok := k.constants[raw]; ok {
		return id
	}
	if o := k.live[raw]; o != nil {
		return o.id
	}
	if k.nobody {
		return k.create(raw)
	}
	return k.add(raw, func() int64 { return firstUnseen + k.unseen.take() })
}

// firstUnseen is the lowest id of an object that was made out of sight.
const firstUnseen = 4294967296

// create returns the id of an object that is new.
func (k *knownObjects) create(raw int64) int64 { return k.add(raw, k.take) }

// add gives an object that is new the next id.
func (k *knownObjects) add(raw int64, next func() int64) int64 {
	if id, ok := k.constants[raw]; ok {
		return id
	}
	if old := k.live[raw]; old != nil && old.handles > 0 {
		k.giveBack(old.id)
	}
	o := &knownObject{id: next(), handles: 1}
	if k.live == nil {
		k.live = make(map[int64]*knownObject)
	}
	k.live[raw] = o
	return o.id
}

func (k *knownObjects) giveBack(id int64) {
	if id < firstUnseen {
		k.release(id)
	} else {
		k.unseen.release(id - firstUnseen)
	}
}

// share returns the id of an object of which a call returned a further handle.
func (k *knownObjects) share(raw int64) int64 {
	o := k.live[raw]
	if o == nil || o.handles == 0 {
		return k.create(raw)
	}
	o.handles++
	return o.id
}

// A freeingCall is a call that frees an object or memory and has not returned.
type freeingCall struct {
	function, depth int
	raw             int64
	object          *knownObject // nil for a constant, and for memory
	value           cst.Value
}

// free follows a call that begins to free a handle.
func (k *knownObjects) free(raw int64) (*knownObject, cst.Value) {
	id := k.find(raw)
	o := k.live[raw]
	if o != nil && o.handles > 0 {
		o.handles--
	}
	return o, cst.Handle(id)
}

// freed says whether a call has freed the handle that it was given.
func (k *knownObjects) freed(c *freeingCall, done bool) {
	o := c.object
	switch {
	case o == nil || o.gone:
	case o.handles > 0 && !done:
		o.handles++
	case o.handles > 0:
	case done || k.live[c.raw] != o:
		o.gone = true
		k.giveBack(o.id)
		if k.live[c.raw] == o {
			delete(k.live, c.raw)
		}
	default:
		o.handles = 1
	}
}

// A span is a range of memory.
type span struct {
	address, size uint64
	id            int64 // −1 if it has none
	device        int
}

// contains reports whether an address is in s. Allocating nothing yields an address,
// too.
func (s span) contains(address uint64) bool {
	return address >= s.address && address-s.address < max(s.size, 1)
}

// end returns the last address of s.
func (s span) end() uint64 {
	return s.address + min(max(s.size, 1)-1, math.MaxUint64-s.address)
}

// spans are ranges that do not overlap, by address, in chunks, that none is long to
// add to.
type spans struct{ chunks [][]span }

const spanChunk = 256

// before returns where the last span is that begins at an address or below, or −1.
func (s *spans) before(address uint64) (chunk, i int) {
	above := func(x span) bool { return x.address > address }
	chunk = sort.Search(len(s.chunks), func(k int) bool { return above(s.chunks[k][0]) }) - 1
	if chunk < 0 {
		return -1, -1
	}
	c := s.chunks[chunk]
	return chunk, sort.Search(len(c), func(k int) bool { return above(c[k]) }) - 1
}

// floor returns the last span that begins at an address or below, or nil.
func (s *spans) floor(address uint64) *span {
	if chunk, i := s.before(address); chunk >= 0 {
		return &s.chunks[chunk][i]
	}
	return nil
}

// ceiling returns the first span that begins above an address, or nil.
func (s *spans) ceiling(address uint64) *span {
	chunk, i := s.before(address)
	if chunk >= 0 && i+1 < len(s.chunks[chunk]) {
		return &s.chunks[chunk][i+1]
	}
	if chunk+1 < len(s.chunks) {
		return &s.chunks[chunk+1][0]
	}
	return nil
}

func (s *spans) add(x span) {
	chunk, i := s.before(x.address)
	if chunk < 0 {
		if len(s.chunks) == 0 {
			s.chunks = append(s.chunks, nil)
		}
		chunk = 0
	}
	c := slices.Insert(s.chunks[chunk], i+1, x)
	s.chunks[chunk] = c
	if len(c) > spanChunk {
		s.chunks = slices.Insert(s.chunks, chunk+1, slices.Clone(c[spanChunk/2:]))
		s.chunks[chunk] = c[:spanChunk/2]
	}
}

// remove removes the span that begins at an address.
func (s *spans) remove(address uint64) {
	chunk, i := s.before(address)
	if c := slices.Delete(s.chunks[chunk], i, i+1); len(c) > 0 {
		s.chunks[chunk] = c
	} else {
		s.chunks = slices.Delete(s.chunks, chunk, chunk+1)
	}
}

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

	silent bool         // what becomes of memory is told by a call of MPI
	told   []knownEvent // what became of it, and no trace was asked for yet
}

type knownRegion struct {
	span
	base   uint64
	moving bool // the base is the first address that is used
}

// A knownEvent is something that became of an allocation that calls use.
type knownEvent struct {
	function string
	id, size int64
	device   int
}

func (k *knownMemory) tell(function string, s span) {
	if s.id >= 0 && !k.silent {
		k.told = append(k.told, knownEvent{function, s.id, int64(s.size), s.device})
	}
}

// args returns the arguments that a trace has for an event.
func (e knownEvent) args() []cst.Value {
	at := cst.PointerTo(cst.Pointer{Segment: e.id, Device: int64(e.device)})
	switch e.function {
	case "malloc":
		return []cst.Value{cst.Int(e.size), at}
	case "realloc":
		return []cst.Value{at, cst.Int(e.size)}
	}
	return []cst.Value{at}
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
	k.regions = append(k.regions, knownRegion{s, address, id == spool.Stack || id <= spool.ThreadStack})
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
		k.tell("free", *s)
		k.release(s.id)
	}
	k.allocated.remove(address)
}

// unmap frees a range, which may be parts of what was allocated.
func (k *knownMemory) unmap(address, size uint64) {
	if size == 0 {
		return
	}
	gone := span{address: address, size: size}
	var rest []span
	for s := k.allocated.floor(gone.end()); s != nil && s.end() >= address; s = k.allocated.floor(gone.end()) {
		old := *s
		if old.end() > gone.end() {
			rest = append(rest, span{gone.end() + 1, old.end() - gone.end(), -1, old.device})
		}
		if old.address >= address {
			k.free(old.address)
			continue
		}
		s.size = address - s.address
		k.tell("realloc", *s)
		break
	}
	for _, s := range rest {
		k.allocated.add(s)
	}
}

// move follows a call of realloc: what was there is gone when it begins, and what comes
// is there when it returns.
func (k *knownMemory) move(t *thread, r *spool.Record) {
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
		s := span{address: r.Address, size: r.Size, id: k.moved[t]}
		k.allocate(s)
		k.tell("realloc", s)
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
		k.tell("malloc", *s)
	}
	return cst.PointerTo(cst.Pointer{Segment: s.id, Displacement: int64(address - s.address), Device: int64(s.device)})
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
func (k *knownMemory) made(f *knownFunction, r *spool.Record) span {
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
	k.silent = true
	return s
}
