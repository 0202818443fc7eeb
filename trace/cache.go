package trace

import (
	"sync"
	"sync/atomic"
)

// A cache holds what was read of a trace and can be read again, of one kind. Together they take no more than
// most bytes, but what was put there last is kept in any case. Which of the others have to go is left to
// chance, but those that were used lately stay: where ranks are read one after the other and the columns of
// each are too many, whichever was kept longest or used last is as likely to be needed.
//
// A Rank holds what was made of it, which no cache counts, and [layout.Sections] the section that was read
// last.
type cache struct {
	mu   sync.Mutex
	most int               // bytes
	size int               // of what is kept
	kept map[evictable]int // sizes, in bytes
}

// Caches are those of a trace. Each has a share of one budget, as all ranks need the shape: it must not have
// to go for the columns of one of them, however large it is. Times have half as much besides.
type caches struct {
	shapes   *cache // with what was found out about them
	columns  *cache
	grammars *cache // blocks of them, and those of ranks with the values of what advances
	times    *cache // what was decoded of them
}

// cachePart is which part of the memory that a trace may take its caches may, and maxCache the most: a program
// may hold several traces for each processor.
const (
	cachePart = 4
	maxCache  = 128 << 20
)

func newCaches(memory uint64) caches {
	all := int(min(memory/cachePart, maxCache))
	return caches{newCache(all / 2), newCache(all / 4), newCache(all / 4), newCache(all / 2)}
}

func newCache(most int) *cache { return &cache{most: most, kept: make(map[evictable]int)} }

// An evictable is what a cache may drop.
type evictable interface {
	// evict drops it, unless it was used since the call before.
	evict() bool
}

// A cached is a place for something that a cache may drop.
type cached[T any] struct {
	value atomic.Pointer[T]
	used  atomic.Bool
}

// get returns what is there, nil if that is nothing.
func (x *cached[T]) get() *T {
	v := x.value.Load()
	if v != nil && !x.used.Load() {
		x.used.Store(true)
	}
	return v
}

func (x *cached[T]) evict() bool {
	if x.used.Swap(false) {
		return false
	}
	x.value.Store(nil)
	return true
}

// Places are those of values of one kind, by key.
type places[K comparable, T any] struct {
	mu   sync.Mutex
	made map[K]*cached[T]
}

// of returns the place of a key. It is another one from time to time, as there are places for at most so many keys.
func (p *places[K, T]) of(key K, most int) *cached[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.made[key]
	if x == nil {
		if len(p.made) == most || p.made == nil {
			p.made = make(map[K]*cached[T])
		}
		x = new(cached[T])
		p.made[key] = x
	}
	return x
}

// keep puts what takes so many bytes in a place, and returns it, or what another goroutine put there.
func keep[T any](c *cache, x *cached[T], v *T, size int) *T {
	c.mu.Lock()
	defer c.mu.Unlock()
	if other := x.value.Load(); other != nil {
		return other
	}
	c.size += size
	for c.size > c.most && len(c.kept) > 0 {
		c.sweep(nil)
	}
	x.value.Store(v)
	c.kept[x] = size
	return v
}

// put puts what takes so many bytes in a place, also if it is there and took fewer. No other goroutine
// may do that at the same time.
func put[T any](c *cache, x *cached[T], v *T, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.size += size - c.kept[x]
	delete(c.kept, x)
	for c.size > c.most && len(c.kept) > 0 {
		c.sweep(nil)
	}
	x.value.Store(v)
	c.kept[x] = size
}

// sweep goes through what is kept, but for one, and drops some of it, until the rest fits.
func (c *cache) sweep(but evictable) {
	for x, size := range c.kept {
		if c.size <= c.most {
			return
		}
		if x != but && x.evict() {
			delete(c.kept, x)
			c.size -= size
		}
	}
}

// more counts so many bytes more for what is in a place, as long as it is there, if they fit: others go for
// them that were not used lately.
func more[T any](c *cache, x *cached[T], v *T, size int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x.value.Load() != v {
		return false
	}
	if c.size += size; c.size > c.most && c.kept[x]+size <= c.most {
		c.sweep(x)
	}
	if c.size > c.most {
		c.size -= size
		return false
	}
	c.kept[x] += size
	return true
}

// clear drops all.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for x := range c.kept {
		for !x.evict() {
		}
	}
	clear(c.kept)
	c.size = 0
}
