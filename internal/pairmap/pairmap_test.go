package pairmap

import (
	"testing"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
)

func TestMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type pair struct {
			a uint64
			b uint32
		}
		var m Map
		want := make(map[pair]uint32)
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			p := pair{rapid.Uint64Range(0, 20).Draw(t, "a") << rapid.IntRange(0, 59).Draw(t, "shift"),
				rapid.Uint32Range(0, 3).Draw(t, "b")}
			n, ok := m.Get(p.a, p.b)
			if number, known := want[p]; ok != known || ok && n != number {
				t.Fatalf("%v: %d, %v, want %d, %v", p, n, ok, number, known)
			}
			want[p] = rapid.Uint32Max(1<<32-2).Draw(t, "number")
			m.Put(p.a, p.b, want[p])
		}
		for p, number := range want {
			if n, ok := m.Get(p.a, p.b); !ok || n != number {
				t.Fatalf("%v: %d, %v, want %d", p, n, ok, number)
			}
		}
	})
}

func BenchmarkMap(b *testing.B) {
	var m Map
	for i := range uint64(1 << 12) {
		m.Put(i*i, uint32(i%7), uint32(i))
	}
	for i := uint64(0); b.Loop(); i = (i + 611_953) % (1 << 12) {
		m.Get(i*i, uint32(i%7))
	}
}
