package wordmap

import (
	"testing"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
)

// TestMap checks a table against a map, with keys that collide and with
// those that come and go.
func TestMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tab Map[int]
		want := make(map[int64]int)
		key := rapid.OneOf(rapid.Int64Range(0, 30), rapid.Map(rapid.Int64Range(0, 30), func(k int64) int64 {
			return k << 57
		}))
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(t, "n") {
					k := key.Draw(t, "key")
					v := tab.Put(uint64(k))
					if *v != want[k] {
						t.Fatalf("put(%d) has %d, want %d", k, *v, want[k])
					}
					*v = len(want) + 1
					want[k] = *v
				}
			},
			"remove": func(t *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(t, "n") {
					k := key.Draw(t, "key")
					tab.Remove(uint64(k))
					delete(want, k)
				}
			},
			"": func(t *rapid.T) {
				if tab.n != len(want) {
					t.Fatalf("n = %d, want %d", tab.n, len(want))
				}
				for k := range int64(31) {
					for _, k := range []int64{k, k << 57} {
						v := tab.Find(uint64(k))
						if w, ok := want[k]; ok != (v != nil) || ok && *v != w {
							t.Fatalf("find(%d) = %v, want %d, %v", k, v, w, ok)
						}
					}
				}
			},
		})
	})
}
