package symbolic

import (
	"testing"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
)

// release frees a handle, as a process does whose calls are known one after another.
func release(h *Handles, raw uint64) (id int64, ok bool) {
	if id, ok = h.Detach(raw); ok {
		h.Free(id)
	}
	return id, ok
}

// TestHandlesModel checks Handles against maps.
func TestHandlesModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Handles
		h.Declare(1000, -1)
		h.Declare(1001, -1)
		h.Declare(1002, -2)
		type known struct{ id, refs int64 }
		ids := map[int64]known{1000: {-1, 0}, 1001: {-1, 0}, 1002: {-2, 0}}
		taken := make(map[int64]bool)
		draw := func(t *rapid.T) int64 {
			return rapid.OneOf(rapid.Int64Range(0, 20), rapid.Int64Range(1000, 1002)).Draw(t, "raw")
		}
		forget := func(raw int64) {
			delete(taken, ids[raw].id)
			delete(ids, raw)
		}
		createFrom := func(raw, id int64) int64 {
			if o, ok := ids[raw]; ok && o.refs == 0 {
				return o.id
			} else if ok {
				forget(raw)
			}
			for taken[id] {
				id++
			}
			taken[id], ids[raw] = true, known{id, 1}
			return id
		}
		create := func(raw int64) int64 { return createFrom(raw, 0) }
		t.Repeat(map[string]func(*rapid.T){
			"create": func(t *rapid.T) {
				raw := draw(t)
				if got, want := h.Create(uint64(raw)), create(raw); got != want {
					t.Fatalf("Create(%d) = %d, want %d", raw, got, want)
				}
			},
			"create unseen": func(t *rapid.T) {
				raw := draw(t)
				if got, want := h.CreateUnseen(uint64(raw)), createFrom(raw, firstUnseen); got != want {
					t.Fatalf("CreateUnseen(%d) = %d, want %d", raw, got, want)
				}
			},
			"acquire": func(t *rapid.T) {
				raw := draw(t)
				o, ok := ids[raw]
				want := o.id
				if !ok {
					want = create(raw)
				} else if o.refs > 0 {
					ids[raw] = known{o.id, o.refs + 1}
				}
				if got := h.Acquire(uint64(raw)); got != want {
					t.Fatalf("Acquire(%d) = %d, want %d", raw, got, want)
				}
			},
			"release": func(t *rapid.T) {
				raw := draw(t)
				o, known := ids[raw]
				id, ok := release(&h, uint64(raw))
				if id != o.id || ok != known {
					t.Fatalf("release(%d) = %d, %v, want %d, %v", raw, id, ok, o.id, known)
				}
				if o.refs == 1 {
					forget(raw)
				} else if o.refs > 1 {
					o.refs--
					ids[raw] = o
				}
			},
			"": func(t *rapid.T) {
				raw := draw(t)
				id, ok := h.Lookup(uint64(raw))
				if o, known := ids[raw]; id != o.id || ok != known || h.ids.Len() != len(ids) {
					t.Fatalf("Lookup(%d) = %d, %v of %d, want %d, %v of %d", raw, id, ok, h.ids.Len(), o.id,
						known, len(ids))
				}
			},
		})
	})
}

// TestHandlesDetached has handles that are used again while the call that frees them
// has not returned, and calls that fail.
func TestHandlesDetached(t *testing.T) {
	var h Handles
	h.Declare(1, -4)
	for _, raw := range []uint64{10, 11, 12} {
		h.Create(raw)
	}
	h.Acquire(12)
	for _, tt := range []struct {
		name string
		got  func() int64
		want int64
	}{
		{"detached", func() int64 { id, _ := h.Detach(10); return id }, 0},
		{"callback", func() int64 { id, _ := h.Lookup(10); return id }, 0},
		{"used again", func() int64 { return h.Create(10) }, 3},
		{"not free yet", func() int64 { return h.Create(13) }, 4},
		{"free", func() int64 { h.Free(0); return h.Create(14) }, 0},
		{"still used again", func() int64 { id, _ := h.Lookup(10); return id }, 3},
		{"failed", func() int64 { id, _ := h.Detach(11); h.Attach(11, id); return h.Create(15) }, 5},
		{"failed, known", func() int64 { id, _ := h.Lookup(11); return id }, 1},
		{"failed, used again", func() int64 { h.Detach(11); h.Create(11); h.Attach(11, 1); return h.Create(16) }, 1},
		{"acquired after", func() int64 { h.Detach(16); return h.Acquire(16) }, 7},
		{"one of two", func() int64 { id, _ := h.Detach(12); h.Free(id); return h.Create(17) }, 8},
		{"one of one", func() int64 { id, _ := h.Detach(12); h.Free(id); return h.Create(18) }, 2},
		{"two of two, one fails", func() int64 {
			h.Acquire(18)
			h.Detach(18)
			h.Detach(18)
			h.Attach(18, 2)
			h.Free(2)
			return h.Create(19)
		}, 9},
		{"the other", func() int64 { release(&h, 18); return h.Create(20) }, 2},
		{"constant", func() int64 { id, _ := h.Detach(1); h.Free(id); h.Attach(1, id); return h.Create(1) }, -4},
	} {
		if got := tt.got(); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	if _, ok := h.Detach(99); ok {
		t.Error("an unknown handle was detached")
	}
}

// TestHandlesReused checks a handle that is created again while it is known: the
// id of the old object is free before one is chosen.
func TestHandlesReused(t *testing.T) {
	var h Handles
	h.Create(10)
	h.Create(11)
	h.Create(12)
	h.Acquire(12)
	release(&h, 10)
	for i, want := range []int64{0, 0, 2} { // 12 leaves 2 for 0, then 0 for 0
		if got := h.Create([]uint64{12, 12, 13}[i]); got != want {
			t.Errorf("creation %d: %d, want %d", i, got, want)
		}
	}
	if id, ok := h.Lookup(11); id != 1 || !ok {
		t.Errorf("Lookup = %d, %v", id, ok)
	}
}

func TestHandlesDeclare(t *testing.T) {
	var h Handles
	if got := h.Create(7); got != 0 {
		t.Errorf("first id %d, want 0", got)
	}
	h.Declare(7, -3)
	if got := h.Create(9); got != 0 {
		t.Errorf("id %d after an object became a constant, want 0", got)
	}
	if !panics(func() { h.Declare(1, 1) }) {
		t.Error("a constant has the id of an object")
	}
}
