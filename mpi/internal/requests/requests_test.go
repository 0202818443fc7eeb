package requests

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/requestid"
	"github.com/reprise-trace/reprise/internal/test/misuse"
	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
)

// TestRequestsSharedHandle checks what MPICH and Open MPI do: all operations that
// are complete when the call returns have one handle.
func TestRequestsSharedHandle(t *testing.T) {
	const shared, null = 0x2c00, 0x2c01
	var q Requests
	q.Declare(null, -1)
	for range 3 { // iterations of a loop have the same ids
		a := q.Create(shared, []byte("isend to 1"), false)
		b := q.Create(shared, []byte("isend to 2"), false)
		c := q.Create(99, []byte("irecv from 1"), false)
		d := q.Create(shared, []byte("isend to 1"), false)
		if got, want := []int64{a, b, c, d}, []int64{0, 8, 16, 1}; !slices.Equal(got, want) {
			t.Fatalf("created %v, want %v", got, want)
		}
		// MPI_Waitany of all but the first two, which completes the last.
		q.Leave(q.Enter(nil, shared)[0], true)
		ids := q.Enter(nil, shared, 99, null, shared)
		if want := []int64{b, c, -1, d}; !slices.Equal(ids, want) {
			t.Fatalf("entered %v, want %v", ids, want)
		}
		for i, complete := range []bool{false, false, false, true} {
			q.Leave(ids[i], complete)
		}
		// MPI_Waitall in another order.
		ids = q.Enter(nil, 99, shared, null)
		if want := []int64{c, b, -1}; !slices.Equal(ids, want) {
			t.Fatalf("entered %v, want %v", ids, want)
		}
		for _, id := range ids {
			q.Leave(id, true)
		}
		if q.byID.Len() != 0 || len(q.pools) != 3 {
			t.Fatalf("%d requests, %d pools left", q.byID.Len(), len(q.pools))
		}
	}
}

// TestRequestsThreads checks that a handle that the library used again while the
// wait that completed the first request had not returned is not confused with it.
func TestRequestsThreads(t *testing.T) {
	var q Requests
	a := q.Create(5, []byte("irecv"), false)
	waited := q.Enter(nil, 5)                // thread 1 waits …
	b := q.Create(5, []byte("isend"), false) // … the library frees 5, thread 2 is given it …
	tested := q.Enter(nil, 5)                // … and tests it, before thread 1 is back
	if waited[0] != a || tested[0] != b {
		t.Fatalf("waited for %d, tested %d, want %d, %d", waited[0], tested[0], a, b)
	}
	q.Leave(b, false)
	q.Leave(a, true)
	if id, ok := q.Lookup(5); id != b || !ok {
		t.Errorf("Lookup = %d, %v, want %d", id, ok, b)
	}
}

// TestRequestsLook has a thread that looks at a request which another waits for.
func TestRequestsLook(t *testing.T) {
	var q Requests
	a := q.Create(5, []byte("grequest_start"), false)
	waited := q.Enter(nil, 5)
	if looked := q.Look(nil, 5); !slices.Equal(looked, waited) {
		t.Fatalf("looked at %v, want %v", looked, waited)
	}
	q.Leave(a, true)
	if q.byID.Len() != 0 {
		t.Errorf("%d requests left", q.byID.Len())
	}
	shared := []int64{q.Create(7, []byte("isend"), false), q.Create(7, []byte("isend"), false)}
	if looked := q.Look(nil, 7, 7, 7); !slices.Equal(looked, append(shared, shared[1])) {
		t.Errorf("looked at %v, want %v and the last again", looked, shared)
	}
	if looked := q.Look(nil, 7); looked[0] != shared[0] {
		t.Errorf("looked at %v, want the first of %v", looked, shared)
	}
	if entered := q.Enter(nil, 7, 7); !slices.Equal(entered, shared) {
		t.Errorf("entered %v, want %v", entered, shared)
	}
	unseen := q.Look(nil, 6)
	if entered := q.Enter(nil, 6); !slices.Equal(entered, unseen) {
		t.Errorf("entered %v, want %v", entered, unseen)
	}
}

// TestRequestsDrop checks that requests with a handle that is shared stay.
func TestRequestsDrop(t *testing.T) {
	var q Requests
	key := []byte("isend")
	q.Create(5, key, false)
	q.Drop(5)
	if q.byID.Len() != 0 {
		t.Fatalf("%d requests, want none", q.byID.Len())
	}
	ids := []int64{q.Create(5, key, false), q.Create(5, key, false)}
	q.Drop(5)
	if entered := q.Enter(nil, 5, 5); !slices.Equal(entered, ids) {
		t.Errorf("entered %v, want %v", entered, ids)
	}
	a := q.Create(6, key, false)
	q.Share(6)
	q.Drop(6)
	if id, ok := q.Lookup(6); id != a || !ok {
		t.Errorf("Lookup = %d, %v, want %d", id, ok, a)
	}
}

// TestRequestsKeysCollide checks keys whose hashes are equal.
func TestRequestsKeysCollide(t *testing.T) {
	var q Requests
	q.Create(1, []byte("a"), false)
	*q.byKey.Put(maphash.String(q.seed, "b")) = 1 // as if it was that of "a", too
	for i, key := range []string{"b", "a", "b"} {
		if got, want := q.Create(2, []byte(key), false), []int64{8, 1, 9}[i]; got != want {
			t.Errorf("request of %q is %d, want %d", key, got, want)
		}
	}
}

func TestRequestsPersistent(t *testing.T) {
	var q Requests
	p := q.Create(5, []byte("send_init"), true)
	for range 3 {
		q.Leave(q.Enter(nil, 5)[0], true)
		if id, ok := q.Lookup(5); id != p || !ok {
			t.Fatalf("Lookup = %d, %v, want %d", id, ok, p)
		}
	}
	q.Free(q.Enter(nil, 5)[0])
	if _, ok := q.Lookup(5); ok || q.byID.Len() != 0 {
		t.Error("known after it was freed")
	}
	if unseen := q.Enter(nil, 5, 5); !slices.Equal(unseen, []int64{8, 9}) {
		t.Errorf("requests of unseen calls are %v", unseen)
	}
	for _, id := range []int64{p, 7, 1 << 40} {
		if !panics(func() { q.Leave(id, false) }) {
			t.Errorf("Leave(%d) did not panic", id)
		}
	}
}

// TestRequestsPools checks persistent receives from any source, and a collective that
// does not block: what the call asked for that made a request is known by its pool.
func TestRequestsPools(t *testing.T) {
	const anySource = -2
	var q Requests
	asked := make(map[int64]int64) // source, by pool
	wild := q.Create(70, []byte("recv_init from any source"), true)
	given := q.Create(71, []byte("recv_init from 4"), true)
	reduce := q.Create(72, []byte("iallreduce"), false)
	for id, source := range map[int64]int64{wild: anySource, given: 4} {
		pool, _ := requestid.Split(id)
		asked[pool] = source
	}
	if ids := q.Enter(nil, 72); ids[0] != reduce {
		t.Fatalf("waits for %d, want %d", ids[0], reduce)
	}
	q.Leave(reduce, true)
	for range 5 {
		ids := q.Enter(nil, 71, 70) // MPI_Waitall
		for i, want := range []int64{4, anySource} {
			pool, _ := requestid.Split(ids[i])
			if source, ok := asked[pool]; !ok || source != want {
				t.Errorf("request %d asked for source %d, %v, want %d", i, source, ok, want)
			}
			q.Leave(ids[i], true)
		}
	}
}

// modelRequest is a request in the model of TestRequestsModel.
type modelRequest struct {
	raw, id    int64
	persistent bool
	entered    bool
}

// TestRequestsModel checks Requests against a list in the order of creation.
func TestRequestsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			q     Requests
			list  []modelRequest
			pools []string
			taken = make(map[int64]bool)
			calls [][]int64 // ids that entered calls that did not return

			shared = make(map[int64]bool) // raw values
		)
		q.Declare(100, -7)
		ready := func(raw int64) int {
			return slices.IndexFunc(list, func(r modelRequest) bool { return r.raw == raw && !r.entered })
		}
		first := func(raw int64) int {
			i := ready(raw)
			for k := 0; i < 0 && k < len(list); k++ {
				if last := len(list) - 1 - k; list[last].raw == raw {
					i = last
				}
			}
			return i
		}
		create := func(raw int64, key string, persistent bool) int64 {
			shared[raw] = shared[raw] || ready(raw) >= 0
			pool := slices.Index(pools, key)
			if pool < 0 {
				pool = len(pools)
				pools = append(pools, key)
			}
			index := int64(0)
			for taken[requestid.Join(int64(pool), index)] {
				index++
			}
			id := requestid.Join(int64(pool), index)
			taken[id] = true
			list = append(list, modelRequest{raw: raw, id: id, persistent: persistent})
			return id
		}
		t.Repeat(map[string]func(*rapid.T){
			"create": func(t *rapid.T) {
				raw := rapid.Int64Range(0, 4).Draw(t, "raw")
				key := rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "key")
				persistent := rapid.Bool().Draw(t, "persistent")
				if got := q.Create(100, []byte(key), persistent); got != -7 {
					t.Fatalf("a constant is %d", got)
				}
				if got, want := q.Create(uint64(raw), []byte(key), persistent),
					create(raw, key, persistent); got != want {
					t.Fatalf("created %d, want %d", got, want)
				}
			},
			"enter": func(t *rapid.T) {
				raws := rapid.SliceOfN(rapid.OneOf(rapid.Uint64Range(0, 5), rapid.Just(uint64(100))), 1,
					6).Draw(t, "raws")
				var want []int64
				for _, raw := range raws {
					if raw == 100 {
						want = append(want, -7)
						continue
					}
					i := ready(int64(raw))
					if i < 0 {
						create(int64(raw), "", false)
						i = len(list) - 1
					}
					list[i].entered = true
					want = append(want, list[i].id)
				}
				if got := q.Enter([]int64{1, 2}, raws...); !slices.Equal(got[2:], want) {
					t.Fatalf("entered %v, want %v", got[2:], want)
				}
				calls = append(calls, want)
			},
			"leave": func(t *rapid.T) {
				if len(calls) == 0 {
					return
				}
				c := rapid.IntRange(0, len(calls)-1).Draw(t, "call")
				for _, id := range calls[c] {
					outcome := rapid.SampledFrom([]string{"pending", "complete", "freed"}).Draw(t, "outcome")
					if outcome == "freed" {
						q.Free(id)
					} else {
						q.Leave(id, outcome == "complete")
					}
					i := slices.IndexFunc(list, func(r modelRequest) bool { return r.id == id })
					if i < 0 {
						continue
					}
					list[i].entered = false
					if outcome == "freed" || outcome == "complete" && !list[i].persistent {
						delete(taken, id)
						list = slices.Delete(list, i, i+1)
					}
				}
				calls = slices.Delete(calls, c, c+1)
			},
			"look": func(t *rapid.T) {
				raw := rapid.Int64Range(0, 5).Draw(t, "raw")
				got := q.Look([]int64{1}, uint64(raw), 100)
				i := first(raw)
				if i < 0 {
					create(raw, "", false)
					i = len(list) - 1
				}
				if want := []int64{1, list[i].id, -7}; !slices.Equal(got, want) {
					t.Fatalf("looked at %v, want %v", got, want)
				}
			},
			"share": func(t *rapid.T) {
				raw := rapid.Int64Range(0, 5).Draw(t, "raw")
				q.Share(uint64(raw))
				shared[raw] = true
			},
			"drop": func(t *rapid.T) {
				raw := rapid.Int64Range(0, 5).Draw(t, "raw")
				q.Drop(uint64(raw))
				if shared[raw] {
					return
				}
				for i := ready(raw); i >= 0; i = ready(raw) {
					delete(taken, list[i].id)
					list = slices.Delete(list, i, i+1)
				}
			},
			"": func(t *rapid.T) {
				if q.byID.Len() != len(list) || len(q.pools) != len(pools) || q.lines.Len() > len(list) {
					t.Fatalf("%d requests, %d pools, %d lines, want %d, %d", q.byID.Len(), len(q.pools),
						q.lines.Len(), len(list), len(pools))
				}
				if id, ok := q.Lookup(100); id != -7 || !ok {
					t.Fatalf("a constant is %d, %v", id, ok)
				}
				for raw := range int64(6) {
					id, ok := q.Lookup(uint64(raw))
					if i := first(raw); ok != (i >= 0) || ok && id != list[i].id {
						t.Fatalf("Lookup(%d) = %d, %v, want entry %d of %v", raw, id, ok, i, list)
					}
				}
			},
		})
	})
}

// panics reports whether f panics.
func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// TestSteadyLoop checks that nothing allocates where the same requests come and go.
func TestSteadyLoop(t *testing.T) {
	var (
		q    Requests
		raw  uint64
		ids  []int64
		keys = [][]byte{[]byte("send"), []byte("receive")}
	)
	loop := func() {
		raw++
		for i := range uint64(20) {
			q.Create(raw+i/2<<32, keys[i%2], false)
		}
		for i := range uint64(20) {
			ids = q.Enter(ids[:0], raw+i/2<<32)
			q.Leave(ids[0], true)
		}
	}
	for range 5 {
		loop()
	}
	if n := testing.AllocsPerRun(1000, loop); n != 0 {
		t.Errorf("%v allocations in a loop", n)
	}
}

// TestMisuse calls the package as it must not be called.
func TestMisuse(t *testing.T) {
	misuse.Panic(t, "requests", map[string]func(){
		"leaving with a request not entered":  func() { new(Requests).Leave(0, true) },
		"leaving with a large request":        func() { new(Requests).Leave(math.MaxInt64, true) },
		"freeing a request that is not there": func() { new(Requests).Free(0) },
		"freeing a large request":             func() { new(Requests).Free(math.MaxInt64) },
	})
	misuse.Harmless(t, map[string]func(){
		"empty tables": func() {
			var q Requests
			q.Drop(7)
			q.Lookup(7)
			q.Look(nil, 7)
			q.Enter(nil)
		},
	})
}

// BenchmarkRequests begins requests and waits for each, with keys of 32 bytes:
// the same few, those of a loop over 1,000 tags, and a new one each time.
func BenchmarkRequests(b *testing.B) {
	for _, bs := range []struct {
		name string
		keys uint64
	}{{"4", 4}, {"1000", 1000}, {"New", 1 << 62}} {
		b.Run("keys="+bs.name, func(b *testing.B) {
			b.ReportAllocs()
			var (
				q   Requests
				key [32]byte
				ids []int64
				k   uint64
			)
			for b.Loop() {
				for i := range uint64(100) {
					binary.LittleEndian.PutUint64(key[:], k)
					if k++; k == bs.keys {
						k = 0
					}
					q.Create(0x2c00_0000+i&^1, key[:], false)
				}
				for i := range uint64(100) {
					ids = q.Enter(ids[:0], 0x2c00_0000+i&^1)
					q.Leave(ids[0], true)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(100*b.N), "ns/event")
			b.ReportMetric(0, "ns/op")
		})
	}
}
