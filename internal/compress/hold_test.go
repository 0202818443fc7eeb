package compress

import (
	"bytes"
	"runtime"
	"testing"
)

// TestHold checks that an encoder that is held survives the garbage collector, and is given back.
func TestHold(t *testing.T) {
	content := bytes.Repeat([]byte("content"), 100)
	release := Hold()
	first, _ := AppendZstd(nil, content)
	e := held.get()
	held.put(e)
	for range 3 {
		runtime.GC()
	}
	if again := held.get(); again != e {
		t.Error("another encoder")
	} else {
		held.put(again)
	}
	inner := Hold()
	release()
	release()
	if len(held.free) == 0 {
		t.Error("given back while there is a holder")
	}
	inner()
	if held.holders != 0 || held.free != nil {
		t.Errorf("%d holders, %d encoders", held.holders, len(held.free))
	}
	if second, _ := AppendZstd(nil, content); !bytes.Equal(first, second) {
		t.Error("other bytes")
	}
}
