package collect

import (
	"container/heap"
	"math"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/cst"
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
	unseen    numbers // of objects that were made while recording was off
	off       *bool   // recording is off
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
	return k.create(raw)
}

// firstUnseen is the lowest id of an object that was made while recording was off.
const firstUnseen = 4294967296

// create returns the id of an object that is new.
func (k *knownObjects) create(raw int64) int64 {
	if id, ok := k.constants[raw]; ok {
		return id
	}
	if old := k.live[raw]; old != nil && old.handles > 0 {
		k.giveBack(old.id)
	}
	o := &knownObject{handles: 1}
	if *k.off {
		o.id = firstUnseen + k.unseen.take()
	} else {
		o.id = k.take()
	}
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
