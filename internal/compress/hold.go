package compress

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

// held has the encoders that are not in use while there are holders.
var held holding

type holding struct {
	mu      sync.Mutex
	holders int
	free    []*zstd.Encoder
}

// Hold keeps encoders for zstd until release is called. Without it, the garbage collector takes away those
// that are not in use, and the first use of a new one takes some 20 ms, as it touches 34 MB of tables.
func Hold() (release func()) {
	held.mu.Lock()
	defer held.mu.Unlock()
	held.holders++
	return sync.OnceFunc(held.release)
}

func (h *holding) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.holders--; h.holders > 0 {
		return
	}
	for _, e := range h.free {
		zstdEncoders.Put(e)
	}
	h.free = nil
}

func (h *holding) get() *zstd.Encoder {
	h.mu.Lock()
	if n := len(h.free) - 1; n >= 0 {
		defer h.mu.Unlock()
		e := h.free[n]
		h.free = h.free[:n]
		return e
	}
	h.mu.Unlock()
	return zstdEncoders.Get().(*zstd.Encoder)
}

func (h *holding) put(e *zstd.Encoder) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.holders > 0 {
		h.free = append(h.free, e)
		return
	}
	zstdEncoders.Put(e)
}
