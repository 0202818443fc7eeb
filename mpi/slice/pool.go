package slice

import "slices"

// A pool has pointers, those to the same places once. Most values and cells of a program that hold addresses
// point to the same places as others, so that comparing is comparing addresses, and most unions are known.
type pool struct {
	known  map[uint64][]*pointers // by hash
	count  int
	joins  []join // some that are known
	steps  map[stepKey]*pointers
	plain  map[*pointers]*pointers // without what stands for constants
	unions int
}

// A join is a union: if p or q was not in the pool, it is none.
type join struct{ p, q, both *pointers }

type stepKey struct {
	from *pointers
	by   addresses
}

const maxJoins = 1 << 15

func newPool() *pool {
	return &pool{known: map[uint64][]*pointers{}, joins: make([]join, maxJoins),
		steps: map[stepKey]*pointers{}, plain: map[*pointers]*pointers{}}
}

// one returns the pointers of the pool that are the same, nil if they point nowhere. p must not be changed
// afterwards.
func (c *pool) one(p *pointers) *pointers {
	if p.isEmpty() {
		return nil
	}
	if p.number > 0 {
		return p
	}
	hash := p.hash()
	for _, q := range c.known[hash] {
		if slices.Equal(p.whole, q.whole) && slices.Equal(p.parts, q.parts) {
			return q
		}
	}
	c.count++
	p.number = c.count
	c.known[hash] = append(c.known[hash], p)
	return p
}

func (p *pointers) hash() uint64 {
	h := uint64(len(p.whole))
	add := func(word uint64) { h = (h ^ word ^ h>>29) * 0x9e3779b97f4a7c15 }
	for _, word := range p.whole {
		add(word)
	}
	for k := range p.parts {
		q := &p.parts[k]
		add(uint64(q.object.number)<<32 ^ uint64(q.lo))
		add(uint64(q.hi) ^ uint64(q.stride)<<40 ^ uint64(q.from)<<20 ^ uint64(q.width))
	}
	return h ^ h>>32
}

// join returns all places of both; p if there is none that it lacks.
func (c *pool) join(p, q *pointers) *pointers {
	p, q = c.one(p), c.one(q)
	switch {
	case q == nil || p == q:
		return p
	case p == nil:
		return q
	}
	known := &c.joins[(uint(p.number)*0x9e3779b1^uint(q.number)*0x85ebca77)>>7%maxJoins]
	if known.p != p || known.q != q {
		both := p
		if !p.hasAll(q) {
			both = &pointers{whole: slices.Clone(p.whole), parts: p.parts}
			both.addAll(q)
			both = c.one(both)
		}
		*known = join{p, q, both}
	}
	return known.both
}

// unbounded returns pointers to all of the objects of places.
func (c *pool) unbounded(pts *pointers) *pointers {
	if pts == nil || len(pts.parts) == 0 {
		return pts
	}
	pts = c.one(pts)
	if pts.objects == nil {
		all := &pointers{whole: slices.Clone(pts.whole)}
		for _, q := range slices.Backward(pts.parts) {
			all.whole.add(q.object.number)
		}
		pts.objects = c.one(all)
	}
	return pts.objects
}

// step returns the places that are a step behind others.
func (a *memory) step(from *pointers, by addresses) *pointers {
	if from = a.one(from); from == nil {
		return nil
	}
	key := stepKey{from, by}
	behind, ok := a.steps[key]
	if !ok {
		behind = &pointers{}
		for p := range a.places(from) {
			behind.add(place{p.object, p.plus(by)})
		}
		behind = a.one(behind)
		a.steps[key] = behind
	}
	return behind
}

// A union is pointers of a pool together, while they are collected.
type union struct {
	pointers
	number int
}

func (c *pool) newUnion() *union {
	c.unions++
	return &union{number: c.unions}
}

// add adds pointers, which must be of the pool, if they are not in it already.
func (u *union) add(p *pointers) {
	if p != nil && p.mark != u.number {
		p.mark = u.number
		u.addAll(p)
	}
}
