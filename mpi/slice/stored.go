package slice

import "strings"

// An object is a piece of memory: a variable, what is allocated at one place of the program, or
// what only functions outside of the module use.
type object struct {
	name       string
	number     int
	size       int64     // 0 if it is not known
	function   *function // that it is the code of
	made       *instruction
	cells      []*cell
	readers    set // numbers of instructions of which more follows if more is stored in it
	loads      []*load
	isConstant bool // nobody writes it
	isFixed    bool // it is a constant of the module, which nobody may write
	escaped    bool // functions that are not known can reach it
	isFile     bool
	isConsole  bool // the console, or a stream to it
	writes     []write
}

// shown returns what a user is told that an object is: a variable by its name, what is allocated by the line.
func (o *object) shown() string {
	if o.made != nil && o.made.op == "call" {
		return "memory allocated at " + o.made.at().String()
	}
	name, _, _ := strings.Cut(strings.TrimLeft(o.name, "%@"), ".i") // of a function that is inlined
	return strings.TrimSuffix(name, ".addr")
}

// A cell is what is stored in some bytes of an object.
type cell struct {
	addresses
	pts *pointers // of the pool
}

// everywhere returns all addresses of an object, whatever its size.
func everywhere() addresses { return addresses{lo: -maxSize, hi: maxSize} }

// A rangeKey is bytes from places on.
type rangeKey struct {
	pts  *pointers
	size int64
}

type storeKey struct {
	rangeKey
	what *pointers
}

// A load is what is stored in ranges of bytes.
type load struct {
	pts     *pointers
	known   bool // nothing has been stored there since
	readers set  // numbers of instructions that need it
}

// touch notes that what is stored in an object has changed.
func (a *memory) touch(o *object) {
	if a.queued.addAll(o.readers) {
		a.changed = true
	}
	for _, l := range o.loads {
		if l.known {
			l.known = false
			if a.queued.addAll(l.readers) {
				a.changed = true
			}
		}
	}
}

// fill adds what is stored in a cell.
func (a *memory) fill(o *object, c *cell, pts *pointers) {
	if both := a.join(c.pts, pts); both != c.pts {
		c.pts = both
		a.touch(o)
	}
}

// store adds what is stored from a place on.
func (a *memory) store(p place, size int64, pts *pointers) {
	if pts.isEmpty() || p.object.function != nil {
		return
	}
	b, o := p.bytes(size), p.object
	for _, c := range o.cells {
		if c.contain(b) {
			a.fill(o, c, pts)
			return
		}
	}
	if len(o.cells) == maxCells {
		all := &cell{addresses: everywhere()}
		for _, c := range o.cells {
			all.pts = a.join(all.pts, c.pts)
		}
		o.cells = []*cell{all}
		a.touch(o)
		a.fill(o, all, pts)
		return
	}
	c := &cell{addresses: b}
	o.cells = append(o.cells, c)
	a.fill(o, c, pts)
}

// copyBytes stores what is in one place in another: each part where it was if that is known, otherwise anywhere.
func (a *memory) copyBytes(to, from *pointers, size int64) {
	if size >= maxSize {
		a.storeAll(to, size, a.load(from, size))
		return
	}
	target := a.one(to)
	for p := range a.places(from) {
		a.depend(p.object)
		b := p.bytes(size)
		for _, c := range p.object.cells {
			if !c.overlap(b) {
				continue
			}
			behind, length := addresses{lo: 0, hi: 1}, size
			if p.hi == p.lo+1 && c.stride == 0 { // known
				lo, hi := max(c.lo, b.lo), min(c.hi, b.hi)
				behind, length = at(lo-b.lo), hi-lo
			} else if p.stride > 0 && p.width == 1 && c.stride == p.stride && size <= p.stride {
				if offset := modulo(c.from-p.from, c.stride); offset < size { // a field of an element
					behind, length = at(offset), c.width
				}
			}
			a.storeAll(a.step(target, behind), min(length, size), c.pts)
		}
	}
}

// storeAll stores from places on.
func (a *memory) storeAll(to *pointers, size int64, pts *pointers) {
	key := storeKey{rangeKey{a.one(to), size}, a.one(pts)}
	if a.stored[key] { // and more may be there since
		return
	}
	a.stored[key] = true
	for t := range a.places(key.pts) {
		if !t.object.isFixed {
			a.store(t, size, key.what)
		}
	}
}

// load returns what is stored in ranges of bytes. More follows from the instruction at hand if more is stored
// there.
func (a *memory) load(from *pointers, size int64) *pointers {
	key := rangeKey{a.one(from), size}
	l := a.loads[key]
	if l == nil {
		l = &load{}
		a.loads[key] = l
		for p := range a.places(key.pts) {
			p.object.loads = append(p.object.loads, l)
		}
	}
	if a.current != nil {
		l.readers.add(a.current.number)
	}
	if !l.known {
		l.known = true
		pts := a.newUnion()
		for p := range a.places(key.pts) {
			b := p.bytes(size)
			for _, c := range p.object.cells {
				if c.overlap(b) {
					pts.add(c.pts)
				}
			}
		}
		l.pts = a.one(&pts.pointers)
	}
	return l.pts
}
