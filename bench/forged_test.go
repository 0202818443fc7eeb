package bench

import "testing"

// TestForgeries checks that what claims much is small.
func TestForgeries(t *testing.T) {
	for _, f := range forgeries {
		if file, err := f.make(); err != nil || len(file) == 0 || len(file) > 200 {
			t.Errorf("%s: %d bytes, %v", f.claim, len(file), err)
		}
	}
}
