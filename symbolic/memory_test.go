package symbolic

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// check fails unless t is a valid tree of the given start addresses in order.
func (tr *tree) check(t rapid.TB, want []uint64) {
	t.Helper()
	var (
		got    []uint64
		leaves []*node
		walk   func(x *node, depth int, lo, hi uint64) int
	)
	walk = func(x *node, depth int, lo, hi uint64) int {
		if lastLeaf := x.kids == nil && x.next == nil; x.n < least && x != tr.root && !lastLeaf ||
			x.n == 0 && x != tr.root {
			t.Fatalf("%d entries at depth %d", x.n, depth)
		}
		if x.kids == nil {
			for _, k := range x.keys[:x.n] {
				if k < lo || k > hi {
					t.Fatalf("key %x is not in %x … %x", k, lo, hi)
				}
			}
			got, leaves = append(got, x.keys[:x.n]...), append(leaves, x)
			return 1
		}
		if x.n < 2 || depth > 0 && lo > 0 && x.keys[0] != lo {
			t.Fatalf("%d kids at depth %d, first key %x in %x …", x.n, depth, x.keys[0], lo)
		}
		height := 0
		for i, kid := range x.kids[:x.n] {
			from, to := lo, hi
			if i > 0 {
				from = x.keys[i]
			}
			if i+1 < x.n {
				to = x.keys[i+1] - 1
			}
			h := walk(kid, depth+1, from, to)
			if height != 0 && h != height {
				t.Fatalf("leaves at different depths")
			}
			height = h
		}
		return height + 1
	}
	if tr.root != nil {
		walk(tr.root, 0, 0, math.MaxUint64)
	}
	if !slices.Equal(got, want) || tr.n != len(want) {
		t.Fatalf("%d of %d keys, want %d", len(got), tr.n, len(want))
	}
	for i, x := range leaves {
		if i > 0 && x.prev != leaves[i-1] || i == 0 && x.prev != nil ||
			i+1 < len(leaves) && x.next != leaves[i+1] || i+1 == len(leaves) && x.next != nil {
			t.Fatalf("leaf %d is not linked to its neighbours", i)
		}
	}
}

// TestTreeModel checks a tree against a sorted slice, in phases that fill and
// empty it, up to a height of 3.
func TestTreeModel(t *testing.T) {
	for seed := range uint64(12) {
		var (
			rnd  = rand.New(rand.NewPCG(seed, 2))
			tr   tree
			keys []uint64
			next uint64
		)
		for phase := range 12 {
			target := []int{6000, 10, 3000, 0, 300, 5000}[(phase+int(seed))%6]
			for len(keys) != target {
				grow := len(keys) < target != (rnd.IntN(8) == 0)
				if !grow && len(keys) == 0 {
					continue
				}
				if grow {
					k := rnd.Uint64N(1 << 20)
					switch seed % 3 {
					case 0: // ascending
						next += 1 + rnd.Uint64N(3)
						k = next
					case 1: // descending
						next -= 1 + rnd.Uint64N(3)
						k = next
					}
					i, found := slices.BinarySearch(keys, k)
					if !found {
						tr.insert(k, segment{size: k})
						keys = slices.Insert(keys, i, k)
					}
					continue
				}
				i := rnd.IntN(len(keys))
				if seed%4 == 3 { // from one side
					i = min(i, rnd.IntN(3))
				}
				tr.remove(tr.floor(keys[i]))
				keys = slices.Delete(keys, i, i+1)
			}
			tr.check(t, keys)
			for range 300 {
				checkPlaces(t, &tr, keys, rnd.Uint64N(1<<20+1<<10))
				if len(keys) > 0 {
					checkPlaces(t, &tr, keys, keys[rnd.IntN(len(keys))]+uint64(rnd.IntN(3))-1)
				}
			}
		}
	}
}

// checkPlaces checks what the tree of keys has next to k.
func checkPlaces(t *testing.T, tr *tree, keys []uint64, k uint64) {
	t.Helper()
	i, found := slices.BinarySearch(keys, k)
	if x, j := tr.ceiling(k); (x != nil) != (i < len(keys)) || x != nil && x.keys[j] != keys[i] {
		t.Fatalf("ceiling of %x is wrong", k)
	}
	if !found {
		i--
	}
	x, j := tr.floor(k)
	if (x != nil) != (i >= 0) || x != nil && (x.keys[j] != keys[i] || x.segments[j].size != keys[i]) {
		t.Fatalf("floor of %x is wrong", k)
	}
}

// modelSegment is a segment in the model of TestMemoryModel.
type modelSegment struct {
	start, size uint64
	id, device  int64
}

func (s modelSegment) bytes() uint64 { return max(s.size, 1) }

// TestMemoryModel checks a Memory against a list of segments, with allocations
// that overlap, zero sizes, reallocation and unmapping of parts, and what it tells of changes:
// who only watches knows all segments that have an id.
func TestMemoryModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			m     Memory
			list  []modelSegment
			taken = make(map[int64]bool)
			base  = rapid.SampledFrom([]uint64{0, 1 << 40, math.MaxUint64 - 400}).Draw(t, "base")
			seen  = make(map[int64]Segment)
		)
		m.Watch = func(c Change, s Segment) {
			old, known := seen[s.ID]
			switch {
			case known != (c != Used):
				t.Fatalf("change %d of %+v, which is known: %v", c, s, known)
			case c == Freed && old != s || c == Resized && old.Device != s.Device:
				t.Fatalf("change %d of %+v, which was %+v", c, s, old)
			}
			if seen[s.ID] = s; c == Freed {
				delete(seen, s.ID)
			}
		}
		address := func(t *rapid.T) uint64 { return base + rapid.Uint64Range(0, 400).Draw(t, "address") }
		drop := func(i int) {
			if list[i].id >= 0 {
				delete(taken, list[i].id)
			}
			list = slices.Delete(list, i, i+1)
		}
		at := func(start uint64) int {
			return slices.IndexFunc(list, func(s modelSegment) bool { return s.start == start })
		}
		allocate := func(s modelSegment) {
			for i := len(list) - 1; i >= 0; i-- {
				o := list[i]
				if s.start-o.start < o.bytes() || o.start-s.start < s.bytes() { // wraps to a large number if negative
					drop(i)
				}
			}
			list = append(list, s)
		}
		// may go beyond all addresses
		size := func(t *rapid.T) uint64 { return rapid.Uint64Range(0, 60).Draw(t, "size") }
		t.Repeat(map[string]func(*rapid.T){
			"allocate": func(t *rapid.T) {
				for range rapid.IntRange(1, 10).Draw(t, "n") {
					s := modelSegment{start: address(t), id: -1, device: rapid.Int64Range(0, 2).Draw(t, "device")}
					s.size = size(t)
					m.Allocate(s.start, s.size, int32(s.device))
					allocate(s)
				}
			},
			"free": func(t *rapid.T) {
				a := address(t)
				if len(list) > 0 && rapid.Bool().Draw(t, "known") {
					a = rapid.SampledFrom(list).Draw(t, "segment").start
				}
				id, used := m.Free(a)
				i := at(a)
				if used != (i >= 0 && list[i].id >= 0) || used && id != list[i].id {
					t.Fatalf("Free(%x) = %d, %v", a, id, used)
				}
				if i >= 0 {
					drop(i)
				}
			},
			"reallocate": func(t *rapid.T) {
				from, to := address(t), address(t)
				if len(list) > 0 {
					from = rapid.SampledFrom(list).Draw(t, "segment").start
				}
				s := modelSegment{start: to, id: -1, size: size(t)}
				m.Attach(m.Detach(from), to, s.size)
				if i := at(from); i >= 0 {
					s.id, s.device = list[i].id, list[i].device
					list = slices.Delete(list, i, i+1)
				}
				allocate(s)
			},
			"unmap": func(t *rapid.T) {
				from, n := address(t), rapid.Uint64Range(0, 100).Draw(t, "bytes")
				m.Unmap(from, n)
				to := from + n - 1
				if to < from {
					to = math.MaxUint64
				}
				for i := len(list) - 1; i >= 0 && n > 0; i-- {
					o := list[i]
					end := o.start + min(o.bytes()-1, math.MaxUint64-o.start)
					if end < from || o.start > to {
						continue
					}
					if o.start >= from {
						drop(i)
					} else {
						list[i].size = from - o.start
					}
					if end > to {
						list = append(list, modelSegment{to + 1, end - to, -1, o.device})
					}
				}
			},
			"resolve": func(t *rapid.T) {
				a := address(t)
				i := slices.IndexFunc(list, func(s modelSegment) bool { return a-s.start < s.bytes() })
				if i < 0 {
					i = slices.IndexFunc(list, func(s modelSegment) bool { return a-s.start == s.size })
				}
				got, known := m.Resolve(a)
				if known != (i >= 0) {
					t.Fatalf("Resolve(%x) = %v, %v, want segment %d", a, got, known, i)
				}
				if !known {
					return
				}
				s := &list[i]
				if s.id < 0 {
					s.id = lowest(taken)
					taken[s.id] = true
				}
				if want := (Pointer{s.id, int64(a - s.start), s.device}); got != want {
					t.Fatalf("Resolve(%x) = %v, want %v", a, got, want)
				}
			},
			"": func(t *rapid.T) {
				var starts []uint64
				used := make(map[int64]Segment)
				for _, s := range list {
					starts = append(starts, s.start)
					if s.id >= 0 {
						used[s.id] = Segment{s.id, s.size, s.device}
					}
				}
				if !maps.Equal(seen, used) {
					t.Fatalf("who watches knows %v, not %v", seen, used)
				}
				slices.Sort(starts)
				m.live.check(t, starts)
				if free := m.ids.Take(); m.live.n != len(list) || free != lowest(taken) {
					t.Fatalf("%d segments, %d is free, want %d, %d", m.live.n, free, len(list), lowest(taken))
				} else {
					m.ids.Release(free)
				}
			},
		})
	})
}

// TestMemoryLazy checks that allocations that no call uses take no ids, and that
// ids are free for others after the segment is.
func TestMemoryLazy(t *testing.T) {
	var m Memory
	for round := range uint64(3) {
		for i := range uint64(1000) {
			m.Allocate(round<<30+i<<10, 1<<10, 0)
		}
		for want, i := range []uint64{700, 3, 512} {
			p, _ := m.Resolve(round<<30 + i<<10 + 16)
			if p != (Pointer{int64(want), 16, 0}) {
				t.Errorf("round %d: %v, want %d+16", round, p, want)
			}
		}
		used := 0
		for i := range uint64(1000) {
			if _, ok := m.Free(round<<30 + i<<10); ok {
				used++
			}
		}
		if used != 3 {
			t.Errorf("round %d: %d used segments freed, want 3", round, used)
		}
	}
}

// TestMemoryOutside checks regions, constants and unknown addresses, twice with
// everything at other addresses: what is recorded is the same.
func TestMemoryOutside(t *testing.T) {
	for _, move := range []uint64{0, 0x7f3_1000} {
		image, stack, mapped := 0x5555_0000_0000+move, 0x7ffc_0000_0000+3*move, 0x7f00_0000_0000-move
		var m Memory
		m.Declare(Region{Address: 0, Size: 1, Segment: -1})
		m.Declare(Region{Address: math.MaxUint64, Size: 1, Segment: -2})
		m.Declare(Region{Address: image, Size: 1 << 16, Segment: -10, Device: 1})
		m.Declare(Region{Address: stack - 1<<23, Size: 1 << 23, Segment: -11, FirstUse: true})
		m.Allocate(image+1<<16-64, 32, 0) // a segment in a region goes first
		tests := []struct {
			name    string
			address uint64
			want    Pointer
			known   bool
		}{
			{"Null", 0, Pointer{-1, 0, 0}, true},
			{"InPlace", math.MaxUint64, Pointer{-2, 0, 0}, true},
			{"Static", image + 40, Pointer{-10, 40, 1}, true},
			{"StackFirst", stack - 5000, Pointer{-11, 0, 0}, true},
			{"StackCallee", stack - 5096, Pointer{-11, -96, 0}, true},
			{"StackCaller", stack - 4000, Pointer{-11, 1000, 0}, true},
			{"Heap", image + 1<<16 - 60, Pointer{0, 4, 0}, true},
			{"RegionBehindHeap", image + 1<<16 - 32, Pointer{-10, 1<<16 - 32, 1}, true},
			{"BehindRegion", image + 1<<16, Pointer{FirstUnknown, 0, 0}, false},
			{"Mapped", mapped, Pointer{FirstUnknown - 1, 0, 0}, false},
			{"MappedBefore", mapped - 1<<20, Pointer{FirstUnknown - 1, -1 << 20, 0}, false},
			{"MappedFar", mapped + 1<<20 + 1<<19, Pointer{FirstUnknown - 2, 0, 0}, false},
			{"MappedMiddle", mapped + 3<<18, Pointer{FirstUnknown - 1, 3 << 18, 0}, false},
			{"MappedNearer", mapped + 3<<18 + 1, Pointer{FirstUnknown - 2, 1 - 3<<18, 0}, false},
			{"AgainKnown", mapped, Pointer{FirstUnknown - 1, 0, 0}, false},
			{"NotRoundTheEnd", 1, Pointer{FirstUnknown - 3, 0, 0}, false},
			{"NotRoundTheEndEither", math.MaxUint64 - 1, Pointer{FirstUnknown - 4, 0, 0}, false},
		}
		for _, tt := range tests {
			if got, known := m.Resolve(tt.address); got != tt.want || known != tt.known {
				t.Errorf("move %x: %s: %v, %v, want %v, %v", move, tt.name, got, known, tt.want, tt.known)
			}
		}
	}
}

// TestMemoryDeclare checks that a region replaces those that it overlaps.
func TestMemoryDeclare(t *testing.T) {
	var m Memory
	for i := range int64(5) {
		m.Declare(Region{Address: uint64(1000 * i), Size: 1000, Segment: -1 - i})
	}
	m.Declare(Region{Address: 1999, Size: 1002, Segment: -9})
	for address, want := range map[uint64]int64{999: -1, 1000: FirstUnknown, 1998: FirstUnknown, 1999: -9,
		3000: -9, 3001: FirstUnknown, 4000: -5, 4999: -5} {
		if p, _ := m.Resolve(address); p.Segment != want {
			t.Errorf("%d is in %d, want %d", address, p.Segment, want)
		}
	}
	for _, id := range []int64{0, 7, FirstUnknown} {
		if !panics(func() { m.Declare(Region{Address: 1, Size: 1, Segment: id}) }) {
			t.Errorf("id %d was declared", id)
		}
	}
}

// TestMemoryDeclareAgain checks that a region replaces the one of its id.
func TestMemoryDeclareAgain(t *testing.T) {
	var m Memory
	for i := range uint64(1000) {
		m.Declare(Region{Address: 1<<40 + i<<30, Size: 1 << 20, Segment: -512, FirstUse: true})
		if p, known := m.Resolve(1<<40 + i<<30 + 400); !known || p != (Pointer{Segment: -512}) {
			t.Fatalf("in stack %d: %v, %v", i, p, known)
		}
	}
	if len(m.regions) != 1 {
		t.Errorf("%d regions, want 1", len(m.regions))
	}
	if id, ok := m.Region(1<<40 + 999<<30); id != -512 || !ok {
		t.Errorf("Region = %d, %v", id, ok)
	}
	if id, ok := m.Region(1 << 40); ok {
		t.Errorf("the region that was replaced is %d", id)
	}
}

// TestMemoryDetached has memory that another thread is given while it is reallocated.
func TestMemoryDetached(t *testing.T) {
	var m Memory
	segment := func(address uint64) int64 { p, _ := m.Resolve(address); return p.Segment }
	m.Allocate(1000, 100, 3)
	m.Allocate(2000, 100, 0)
	if a, b := segment(1000), segment(2000); a != 0 || b != 1 {
		t.Fatalf("segments %d and %d", a, b)
	}
	moved := m.Detach(1000) // one thread moves 1000 to 2000 …
	m.Allocate(1000, 100, 0)
	other := segment(1000)
	m.Free(2000) // … while another is given 1000, and gives back 2000
	m.Attach(moved, 2000, 200)
	if p, _ := m.Resolve(2150); p != (Pointer{0, 150, 3}) || other != 2 || segment(1000) != 2 {
		t.Errorf("%v, %d, %d", p, other, segment(1000))
	}
	m.Attach(m.Detach(5000), 6000, 8)
	if got := segment(6000); got != 1 {
		t.Errorf("what was not known is %d, want 1", got)
	}
}
