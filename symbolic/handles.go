package symbolic

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// Handles gives symbolic ids to the objects of one class, such as communicators
// or datatypes: the lowest id that is free. The zero Handles knows none. Every
// method takes constant time, and allocates only for more objects than were ever
// known at once.
//
// What a program holds of an object is a raw value, the handle, which is unique
// among the objects that exist. Several handles of one object may be out at the
// same time if the library that owns it counts references, and each of them is
// freed then. A handle may stay until the end, and it does no harm if freeing it
// is not seen: the raw value may be that of a new object later.
//
// A call that frees a handle takes time, and another thread may be given the raw
// value for a new object before it has returned. So there is [Handles.Detach] for
// when it begins, and [Handles.Free], or [Handles.Attach] if it failed, for when it
// has returned; until then the id is that of the old object.
type Handles struct {
	ids      table[object]
	detached table[uint64] // raw values by id
	pool     Pool
	unseen   Pool // of ids less firstUnseen
}

// firstUnseen is the lowest id of an object whose creation was not seen: see
// [Handles.CreateUnseen].
const firstUnseen = 1 << 32

// An object is what a raw value stands for.
type object struct {
	id   int64
	refs int64 // handles not freed yet, or 0 or detached
}

const (
	declared = 0  // in place of object.refs: a constant
	detached = -1 // the last handle is being freed
)

// Declare says that a raw value is a constant, such as MPI_COMM_WORLD, and has
// the given id for good. Several raw values may share it. The id is negative, apart from
// those of objects that are created, or Declare panics.
func (h *Handles) Declare(raw uint64, id int64) {
	if id >= 0 {
		panic(fmt.Sprintf("symbolic: constant with id %d", id))
	}
	h.forget(raw)
	*h.ids.put(raw) = object{id: id}
}

// Create returns the id of an object that was created now and has the given
// handle. If an object with that handle is known, it was freed without our seeing
// it, and its id is free before the new one is chosen. What creates an object may
// return a constant instead, such as the null handle: Create returns its id then.
func (h *Handles) Create(raw uint64) int64 { return h.create(raw, &h.pool, 0) }

// CreateUnseen is [Handles.Create] for an object whose creation is not known to who
// reads the ids. Its id, from 1<<32 on, is never that of an object that Create has made,
// so that it is not taken for one.
func (h *Handles) CreateUnseen(raw uint64) int64 { return h.create(raw, &h.unseen, firstUnseen) }

// create is Create with an id from a pool, plus first.
func (h *Handles) create(raw uint64, pool *Pool, first int64) int64 {
	if o := h.ids.find(raw); o != nil && o.refs == declared {
		return o.id
	}
	h.forget(raw)
	id := first + pool.Take()
	*h.ids.put(raw) = object{id: id, refs: 1}
	return id
}

// Acquire returns the id of an object that a call returned a handle of, which may
// be one that is known: it counts the handle, and the object is released when as
// many are freed. MPI_Comm_group is such a call. An object that is not known is
// created.
func (h *Handles) Acquire(raw uint64) int64 {
	o := h.ids.find(raw)
	if o == nil || o.refs == detached {
		return h.Create(raw)
	}
	if o.refs > 0 {
		o.refs++
	}
	return o.id
}

// Lookup returns the id of the object that has a handle, and whether it is known.
func (h *Handles) Lookup(raw uint64) (id int64, ok bool) {
	if o := h.ids.find(raw); o != nil {
		return o.id, true
	}
	return 0, false
}

// Detach returns what [Handles.Lookup] does, and counts the handle as one that is
// being freed. If it is the last of an object, the raw value still stands for that
// until another object is created with it.
func (h *Handles) Detach(raw uint64) (id int64, ok bool) {
	o := h.ids.find(raw)
	if o == nil {
		return 0, false
	}
	switch {
	case o.refs > 1:
		o.refs--
	case o.refs == 1:
		o.refs = detached
		*h.detached.put(uint64(o.id)) = raw
	}
	return o.id, true
}

// Free says that a handle with the given id, which was detached, is freed. If it was
// the last of the object, the id is free.
func (h *Handles) Free(id int64) {
	raw := h.detached.find(uint64(id))
	if raw == nil {
		return
	}
	if o := h.ids.find(*raw); o != nil && o.id == id {
		h.ids.remove(*raw)
	}
	h.detached.remove(uint64(id))
	h.release(id)
}

// Attach says that a handle with the given id, which was detached, has not been
// freed. If another object was created with the raw value meanwhile, that is
// believed, and the id is free.
func (h *Handles) Attach(raw uint64, id int64) {
	o := h.ids.find(raw)
	known := o != nil && o.id == id
	switch {
	case h.detached.find(uint64(id)) == nil:
		if known && o.refs > 0 {
			o.refs++
		}
	case known:
		o.refs = 1
		h.detached.remove(uint64(id))
	default:
		h.Free(id)
	}
}

// forget removes what is known of a raw value.
func (h *Handles) forget(raw uint64) {
	o := h.ids.find(raw)
	if o == nil {
		return
	}
	if o.id >= 0 && o.refs != detached {
		h.release(o.id)
	}
	h.ids.remove(raw)
}

// release says that an id is free.
func (h *Handles) release(id int64) {
	if id >= firstUnseen {
		h.unseen.Release(id - firstUnseen)
	} else {
		h.pool.Release(id)
	}
}

// A table maps numbers to values by open addressing with linear probing. The zero
// table is empty. Removing a key moves those behind it, so that there are no
// tombstones: a loop that adds and removes keys never allocates.
//
// Invariant: between the slot that a key hashes to and the slot that holds it,
// all slots are used, and fewer than 3/4 of all slots are.
type table[V any] struct {
	slots []slot[V] // a power of two of them, or none
	n     int
	seed  uint64 // keys come from whoever is traced
}

type slot[V any] struct {
	key   uint64
	used  bool
	value V
}

// home returns the number of the slot that key hashes to.
func (t *table[V]) home(key uint64) uint64 {
	hi, lo := bits.Mul64(key^t.seed, 0x9e3779b97f4a7c15)
	return (hi ^ lo) & uint64(len(t.slots)-1)
}

// find returns the value of key, or nil. It is valid until the next put or remove.
func (t *table[V]) find(key uint64) *V {
	if t.n == 0 {
		return nil
	}
	mask := uint64(len(t.slots) - 1)
	for i := t.home(key); t.slots[i].used; i = (i + 1) & mask {
		if t.slots[i].key == key {
			return &t.slots[i].value
		}
	}
	return nil
}

// put returns the value of key, adding a zero value if there is none. It is valid
// until the next put or remove.
func (t *table[V]) put(key uint64) *V {
	if v := t.find(key); v != nil {
		return v
	}
	if 4*(t.n+1) > 3*len(t.slots) {
		t.grow()
	}
	t.n++
	s := t.free(key)
	s.key, s.used = key, true
	return &s.value
}

// free returns the slot where key, which is not in t, belongs.
func (t *table[V]) free(key uint64) *slot[V] {
	mask := uint64(len(t.slots) - 1)
	i := t.home(key)
	for t.slots[i].used {
		i = (i + 1) & mask
	}
	return &t.slots[i]
}

func (t *table[V]) grow() {
	old := t.slots
	if old == nil {
		t.seed = rand.Uint64()
	}
	t.slots = make([]slot[V], max(8, 2*len(old)))
	for _, s := range old {
		if s.used {
			*t.free(s.key) = s
		}
	}
}

// remove removes key if it is there.
func (t *table[V]) remove(key uint64) {
	if t.n == 0 {
		return
	}
	mask := uint64(len(t.slots) - 1)
	i := t.home(key)
	for t.slots[i].key != key || !t.slots[i].used {
		if !t.slots[i].used {
			return
		}
		i = (i + 1) & mask
	}
	t.n--
	for j := (i + 1) & mask; t.slots[j].used; j = (j + 1) & mask {
		// What is in j may move to i unless its home lies behind i.
		if (j-t.home(t.slots[j].key))&mask >= (j-i)&mask {
			t.slots[i] = t.slots[j]
			i = j
		}
	}
	t.slots[i] = slot[V]{}
}
