package symbolic

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

// perEvent reports the time per event of the loop that just ended.
func perEvent(b *testing.B, events int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
	b.ReportMetric(0, "ns/op")
}

var benchLive = []int{1000, 1_000_000}

// addresses returns n start addresses that are 256 apart, in random order.
func addresses(n int) []uint64 {
	rnd := rand.New(rand.NewPCG(1, 2))
	list := make([]uint64, n)
	for i, k := range rnd.Perm(n) {
		list[i] = 1<<32 + uint64(k)<<8
	}
	return list
}

// live returns a Memory with segments at addresses, and the bytes it takes for
// each.
func live(list []uint64) (*Memory, float64) {
	var (
		m             = new(Memory)
		before, after runtime.MemStats
	)
	runtime.GC()
	runtime.ReadMemStats(&before)
	for _, a := range list {
		m.Allocate(a, 200, 0)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	return m, float64(after.HeapAlloc-before.HeapAlloc) / float64(len(list))
}

// BenchmarkMemory frees, allocates and resolves at random among many segments.
func BenchmarkMemory(b *testing.B) {
	for _, n := range benchLive {
		list := addresses(n)
		m, size := live(list)
		const events = 1 << 10
		i := 0
		next := func() uint64 {
			if i++; i == n {
				i = 0
			}
			return list[i]
		}
		b.Run(fmt.Sprintf("op=FreeAllocate/live=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for range events {
					a := next()
					m.Free(a)
					m.Allocate(a, 200, 0)
				}
			}
			perEvent(b, 2*events)
			b.ReportMetric(size, "B/segment")
		})
		b.Run(fmt.Sprintf("op=Resolve/live=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for range events {
					if p, _ := m.Resolve(next() + 100); p.Displacement != 100 {
						b.Fatal(p)
					}
				}
			}
			perEvent(b, events)
		})
		b.Run(fmt.Sprintf("op=Pair/live=%d", n), func(b *testing.B) { // as a program does most
			b.ReportAllocs()
			for b.Loop() {
				for range events {
					m.Allocate(1<<32+208, 32, 0)
					m.Free(1<<32 + 208)
				}
			}
			perEvent(b, 2*events)
		})
	}
}

// BenchmarkMemoryFill allocates in random and in ascending order and frees all.
func BenchmarkMemoryFill(b *testing.B) {
	const n = 1 << 18
	random := addresses(n)
	ascending := make([]uint64, n)
	for i := range ascending {
		ascending[i] = 1<<32 + uint64(i)<<8
	}
	for _, bs := range []struct {
		name string
		list []uint64
	}{{"Random", random}, {"Ascending", ascending}} {
		b.Run("order="+bs.name, func(b *testing.B) {
			_, size := live(bs.list)
			for b.Loop() {
				var m Memory
				for _, a := range bs.list {
					m.Allocate(a, 200, 0)
				}
				for _, a := range bs.list {
					m.Free(a)
				}
			}
			perEvent(b, 2*n)
			b.ReportMetric(size, "B/segment")
		})
	}
}

func BenchmarkPool(b *testing.B) {
	for _, n := range []int64{10, 1_000_000} {
		b.Run(fmt.Sprintf("taken=%d", n), func(b *testing.B) {
			var p Pool
			for range n {
				p.Take()
			}
			b.ReportAllocs()
			id := int64(0)
			for b.Loop() {
				for range 1000 {
					if id += 7919; id >= n {
						id %= n
					}
					p.Release(id)
					p.Take()
				}
			}
			perEvent(b, 2000)
		})
	}
}

func BenchmarkHandles(b *testing.B) {
	for _, n := range []uint64{10, 100_000} {
		var h Handles
		for i := range n {
			h.Create(0x4c00_0000 + i)
		}
		b.Run(fmt.Sprintf("op=Lookup/known=%d", n), func(b *testing.B) {
			i := uint64(0)
			for b.Loop() {
				for range 1000 {
					if i += 7919; i >= n {
						i %= n
					}
					if _, ok := h.Lookup(0x4c00_0000 + i); !ok {
						b.Fatal(i)
					}
				}
			}
			perEvent(b, 1000)
		})
		b.Run(fmt.Sprintf("op=CreateRelease/known=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			i := uint64(0)
			for b.Loop() {
				for range 1000 {
					i++
					h.Create(i)
					release(&h, i)
				}
			}
			perEvent(b, 2000)
		})
	}
}
