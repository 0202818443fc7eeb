package numbers

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/wide"
)

// TestCollide checks that numbers come back whose contexts share all of four bits.
func TestCollide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(rapid.Uint64()).Draw(t, "numbers")
		contexts := rapid.SliceOfN(rapid.Uint64(), 1, modelContexts).Draw(t, "contexts")
		model := func() *Model {
			m := new(Model)
			m.Reset(0)
			m.bits, m.shift = m.bits[:4], 62
			return m
		}
		w, r := model(), model()
		w.Coder.Write(nil)
		for i, n := range list {
			contexts[0] = uint64(i)
			w.Number(0, 7, AllDigits, wide.Of(n), contexts...)
		}
		r.Coder.Read(w.Coder.Finish())
		for i, n := range list {
			contexts[0] = uint64(i)
			if got := r.Number(0, 7, AllDigits, wide.Number{}, contexts...); got != wide.Of(n) {
				t.Fatalf("number %d is %v, want %d", i, got, n)
			}
		}
		if !r.Coder.Finished() {
			t.Fatal("the number ends otherwise")
		}
	})
}
