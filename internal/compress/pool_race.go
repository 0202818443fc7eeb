//go:build race

package compress

import "sync"

// A pool keeps coders. With the race detector, a sync.Pool forgets them at random, and to make their tables
// takes a hundred times as long as without it: most of the time of tests.
type pool struct {
	New  func() any
	mu   sync.Mutex
	free []any
}

func (p *pool) Get() any {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free) - 1
	if n < 0 {
		return p.New()
	}
	v := p.free[n]
	p.free = p.free[:n]
	return v
}

func (p *pool) Put(v any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, v)
}
