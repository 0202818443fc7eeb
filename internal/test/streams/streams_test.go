package streams

import (
	"slices"
	"testing"
)

// TestStreams checks that every stream is the same each time and has about the
// length asked for.
func TestStreams(t *testing.T) {
	names := make(map[string]bool)
	for _, st := range All {
		if names[st.Name] {
			t.Errorf("two streams are called %s", st.Name)
		}
		names[st.Name] = true
		in := st.Gen(10_000)
		if n := len(in); n < 9_000 || n > 11_000 {
			t.Errorf("%s: %d symbols, want about 10,000", st.Name, n)
		}
		if !slices.Equal(in, st.Gen(10_000)) {
			t.Errorf("%s differs from one time to the next", st.Name)
		}
	}
}

func TestNearMiss(t *testing.T) {
	in, steady := NearMiss(1000, 10, 3), Loop(1000, 10)
	for i := range in {
		if missed := in[i] != steady[i]; missed != (i%10 == 3) {
			t.Fatalf("symbol %d is %d in place of %d", i, in[i], steady[i])
		}
	}
}
