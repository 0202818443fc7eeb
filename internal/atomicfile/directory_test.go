package atomicfile

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestPlaceAbandoned has a directory abandoned, or its work cancelled, when all of its files are on the
// disk: it is not put in its place, as it may be removed at the same time.
func TestPlaceAbandoned(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		ctx       context.Context
		abandoned bool
		there     bool
	}{{t.Context(), false, true}, {t.Context(), true, false}, {done, false, false}} {
		path := filepath.Join(t.TempDir(), "d")
		d, err := CreateDirectory(path)
		if err != nil {
			t.Fatal(err)
		}
		d.abandoned = tt.abandoned
		err = d.place(tt.ctx)
		if _, e := os.Stat(path); (err == nil) != tt.there || (e == nil) != tt.there {
			t.Errorf("abandoned %v, %v: %v, %v", tt.abandoned, tt.ctx.Err(), err, e)
		}
		d.Abandon()
	}
}
