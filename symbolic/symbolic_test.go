package symbolic

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// lowest returns the lowest number that is not in taken.
func lowest(taken map[int64]bool) int64 {
	var id int64
	for taken[id] {
		id++
	}
	return id
}

// drawKey draws a key of a map whose keys are numbers; there must be one.
func drawKey[V any](t *rapid.T, m map[int64]V) int64 {
	keys := make([]int64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return rapid.SampledFrom(keys).Draw(t, "key")
}

// TestPoolModel checks a Pool against a set of numbers, with many and with few.
func TestPoolModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p Pool
		taken := make(map[int64]bool)
		take := func(n int) {
			for range n {
				want := lowest(taken)
				if got := p.Take(); got != want {
					t.Fatalf("Take = %d, want %d", got, want)
				}
				taken[want] = true
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"take":     func(t *rapid.T) { take(1) },
			"takeMany": func(t *rapid.T) { take(rapid.IntRange(50, 150).Draw(t, "n")) },
			"release": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "n") {
					if len(taken) == 0 {
						return
					}
					id := drawKey(t, taken)
					p.Release(id)
					delete(taken, id)
				}
			},
			"": func(t *rapid.T) {
				id := rapid.Int64Range(-1, 6000).Draw(t, "id")
				if p.Taken(id) != taken[id] {
					t.Fatalf("Taken(%d) = %v, want %v", id, p.Taken(id), taken[id])
				}
			},
		})
	})
}

// TestPoolDeep takes so many numbers that four levels of the bitmap matter.
func TestPoolDeep(t *testing.T) {
	const n = 1 << 19
	var p Pool
	for want := range int64(n) {
		if got := p.Take(); got != want {
			t.Fatalf("Take = %d, want %d", got, want)
		}
	}
	free := []int64{3, 64, 4159, 4160, 262_207, 262_208, n - 1}
	for _, id := range slices.Backward(free) {
		p.Release(id)
	}
	for _, want := range append(free, n) {
		if got := p.Take(); got != want {
			t.Errorf("Take = %d, want %d", got, want)
		}
	}
}

// panics reports whether f panics.
func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

func TestPoolMisuse(t *testing.T) {
	var p Pool
	for range 71 {
		p.Take()
	}
	for id := range int64(70) {
		p.Release(id)
	}
	for _, id := range []int64{-1, 0, 63, 64, 71, 1000} {
		if !panics(func() { p.Release(id) }) {
			t.Errorf("Release(%d) did not panic", id)
		}
	}
}

// TestSteadyLoops checks that nothing allocates where the same things come and go.
func TestSteadyLoops(t *testing.T) {
	var (
		pool   Pool
		h      Handles
		m      Memory
		raw    uint64
		region = Region{Address: 1 << 40, Size: 1 << 20, Segment: -5, FirstUse: true}
	)
	m.Declare(region)
	loops := []struct {
		name string
		body func()
	}{
		{"Pool", func() {
			for range 100 {
				pool.Take()
			}
			for id := range int64(100) {
				pool.Release(id)
			}
		}},
		{"Handles", func() {
			raw++
			for i := range uint64(20) {
				h.Create(raw + i<<32)
			}
			for i := range uint64(20) {
				release(&h, raw+i<<32)
			}
		}},
		{"Memory", func() {
			for i := range uint64(200) {
				m.Allocate(1<<20+i*100, 100, 0)
			}
			m.Resolve(1<<20 + 777)
			m.Resolve(1<<40 + 64)
			m.Resolve(1 << 50)
			for i := range uint64(200) {
				m.Free(1<<20 + i*100)
			}
		}},
	}
	for _, l := range loops {
		t.Run(l.name, func(t *testing.T) {
			for range 5 {
				l.body()
			}
			if n := testing.AllocsPerRun(1000, l.body); n != 0 {
				t.Errorf("%v allocations in a loop", n)
			}
		})
	}
}
