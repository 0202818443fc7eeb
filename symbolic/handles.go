package symbolic

import (
	"fmt"

	"github.com/reprise-trace/reprise/internal/wordmap"
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
	ids      wordmap.Map[object]
	detached wordmap.Map[uint64] // raw values by id
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
	*h.ids.Put(raw) = object{id: id}
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
	if o := h.ids.Find(raw); o != nil && o.refs == declared {
		return o.id
	}
	h.forget(raw)
	id := first + pool.Take()
	*h.ids.Put(raw) = object{id: id, refs: 1}
	return id
}

// Acquire returns the id of an object that a call returned a handle of, which may
// be one that is known: it counts the handle, and the object is released when as
// many are freed. MPI_Comm_group is such a call. An object that is not known is
// created.
func (h *Handles) Acquire(raw uint64) int64 {
	o := h.ids.Find(raw)
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
	if o := h.ids.Find(raw); o != nil {
		return o.id, true
	}
	return 0, false
}

// Detach returns what [Handles.Lookup] does, and counts the handle as one that is
// being freed. If it is the last of an object, the raw value still stands for that
// until another object is created with it.
func (h *Handles) Detach(raw uint64) (id int64, ok bool) {
	o := h.ids.Find(raw)
	if o == nil {
		return 0, false
	}
	switch {
	case o.refs > 1:
		o.refs--
	case o.refs == 1:
		o.refs = detached
		*h.detached.Put(uint64(o.id)) = raw
	}
	return o.id, true
}

// Free says that a handle with the given id, which was detached, is freed. If it was
// the last of the object, the id is free.
func (h *Handles) Free(id int64) {
	raw := h.detached.Find(uint64(id))
	if raw == nil {
		return
	}
	if o := h.ids.Find(*raw); o != nil && o.id == id {
		h.ids.Remove(*raw)
	}
	h.detached.Remove(uint64(id))
	h.release(id)
}

// Attach says that a handle with the given id, which was detached, has not been
// freed. If another object was created with the raw value meanwhile, that is
// believed, and the id is free.
func (h *Handles) Attach(raw uint64, id int64) {
	o := h.ids.Find(raw)
	known := o != nil && o.id == id
	switch {
	case h.detached.Find(uint64(id)) == nil:
		if known && o.refs > 0 {
			o.refs++
		}
	case known:
		o.refs = 1
		h.detached.Remove(uint64(id))
	default:
		h.Free(id)
	}
}

// forget removes facts about a raw value.
func (h *Handles) forget(raw uint64) {
	o := h.ids.Find(raw)
	if o == nil {
		return
	}
	if o.id >= 0 && o.refs != detached {
		h.release(o.id)
	}
	h.ids.Remove(raw)
}

// release says that an id is free.
func (h *Handles) release(id int64) {
	if id >= firstUnseen {
		h.unseen.Release(id - firstUnseen)
	} else {
		h.pool.Release(id)
	}
}
