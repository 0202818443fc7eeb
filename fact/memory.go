package fact

import "slices"

// An object is a piece of memory: a variable, what is allocated at one place of the program, or
// what only functions outside of the module use.
type object struct {
	name     string
	number   int
	size     int64     // 0 if it is not known
	function *function // that it is the code of
	made     *instruction
	cells    []*cell
	escaped  bool // functions that are not known can reach it
	writes   []write
}

// A cell is what is stored in the bytes [lo, hi) of an object.
type cell struct {
	lo, hi int64
	pts    pointers
}

// A write is an instruction that writes to bytes [lo, hi) of an object.
type write struct {
	lo, hi int64
	by     *instruction
	data   bool // of a message, or a status: what only an operation that is executed writes
}

// A place is the addresses [lo, hi) of an object.
type place struct {
	object *object
	lo, hi int64
}

// Pointers are where a value may point to.
type pointers []place

// Bounds of what is kept apart.
const (
	maxPlaces = 12 // in an object, of one value
	maxCells  = 64
)

// add adds a place, and reports whether it was missing.
func (p *pointers) add(at place) bool {
	if n := at.object.size; n > 0 {
		if at.lo, at.hi = max(at.lo, 0), min(at.hi, n+1); at.lo >= at.hi {
			at.lo, at.hi = 0, n+1
		}
	} else {
		at.lo, at.hi = clamp(at.lo), max(clamp(at.hi), clamp(at.lo)+1)
	}
	count := 0
	for _, q := range *p {
		if q.object == at.object {
			if q.lo <= at.lo && at.hi <= q.hi {
				return false
			}
			count++
		}
	}
	if count == maxPlaces {
		*p = slices.DeleteFunc(*p, func(q place) bool { return q.object == at.object })
		at = at.object.all()
	}
	*p = append(*p, at)
	return true
}

// all returns all addresses of an object.
func (o *object) all() place {
	if o.size > 0 {
		return place{o, 0, o.size + 1}
	}
	return place{o, -maxSize, maxSize}
}

func (p *pointers) addAll(others pointers) (changed bool) {
	for _, q := range others {
		changed = p.add(q) || changed
	}
	return changed
}

// bytes returns the range of bytes that an access of a size from a place on touches.
func (p place) bytes(size int64) (lo, hi int64) { return p.lo, sum(p.hi-1, size) }

// A memory finds where the values of a module may point to.
type memory struct {
	m        *Module
	objects  []*object
	outside  *object            // all that functions outside of the module have
	messages *object            // in messages
	hidden   map[string]*object // state of the C library
	reached  []*function
	seen     map[*function]bool

	callbacks bool // MPI calls functions of the module
	addressed bool // MPI is told addresses by other ways than arguments
	derived   bool // there are datatypes of the program

	changed bool
	err     error
}

// analyze finds what is reached from a function, and where all of its values may point to.
func (m *Module) analyze(main *function) (*memory, error) {
	a := &memory{m: m, hidden: map[string]*object{}, seen: map[*function]bool{}}
	a.outside, a.messages = a.newObject("outside", 0), a.newObject("messages", 0)
	a.outside.escaped = true
	a.outside.cells = []*cell{{-maxSize, maxSize, pointers{a.outside.all()}}}
	for _, name := range []string{"files", "console", "random"} {
		a.hidden[name] = a.newObject(name, 0)
	}
	for _, f := range m.functions {
		f.object = a.newObject(f.name, 0)
		f.object.function = f
	}
	for _, g := range m.globals {
		g.object = a.newObject(g.name, g.typ.bytes())
	}
	for _, g := range m.globals {
		a.begin(g)
	}
	a.reach(main)
	for _, p := range main.params {
		p.pts.add(a.outside.all())
	}
	for a.changed = true; a.changed && a.err == nil; {
		a.changed = false
		for k := 0; k < len(a.reached); k++ {
			for _, b := range a.reached[k].blocks {
				for _, i := range b.instructions {
					a.transfer(i)
				}
			}
		}
		a.spread()
	}
	return a, a.err
}

func (a *memory) newObject(name string, size int64) *object {
	o := &object{name: name, number: len(a.objects), size: size}
	a.objects = append(a.objects, o)
	return o
}

// begin stores what a variable begins with.
func (a *memory) begin(g *global) {
	switch {
	case g.name == "@stdout" || g.name == "@stderr":
		a.store(g.object.all(), maxSize, pointers{a.hidden["console"].all()})
	case g.name == "@stdin":
		a.store(g.object.all(), maxSize, pointers{a.hidden["files"].all()})
	case g.external:
		g.object.size = 0
		g.object.escaped = true
		a.outside.cells[0].pts.add(g.object.all())
		a.store(g.object.all(), maxSize, pointers{a.outside.all()})
	default:
		for _, v := range g.init {
			a.store(g.object.all(), maxSize, unbounded(a.pointsOf(nil, v)))
		}
	}
}

func (a *memory) reach(f *function) {
	if !a.seen[f] && len(f.blocks) > 0 {
		a.seen[f], a.changed = true, true
		a.reached = append(a.reached, f)
		if f.variadic {
			f.rest = a.newObject("arguments of "+f.name, 0)
		}
		for _, p := range f.params {
			if p.byval != nil {
				p.object = a.newObject(p.name, p.byval.bytes())
				p.pts.add(place{p.object, 0, 1})
			}
		}
	}
}

// pointsOf returns where a value may point to.
func (a *memory) pointsOf(f *function, v value) pointers {
	if v.local != "" {
		return *f.values[v.local].points()
	}
	var pts pointers
	for _, at := range append(v.addresses, v) {
		if at.global == "" {
			continue
		}
		var o *object
		switch named := a.m.named[at.global].(type) {
		case *global:
			o = named.object
		case *function:
			o = named.object
		}
		if p := (place{o, at.offset, at.offset + 1}); at.unbounded {
			pts.add(o.all())
		} else {
			pts.add(p)
		}
	}
	return pts
}

// carries reports whether a value of a type can hold an address.
func (t *irType) carries() bool {
	switch t = t.resolved(); t.kind {
	case intType, ptrType:
		return true
	case arrayType, vectorType:
		return t.elem.carries()
	case structType:
		return slices.ContainsFunc(t.fields, (*irType).carries)
	}
	return false
}

func (a *memory) addTo(p *pointers, others pointers) {
	if p.addAll(others) {
		a.changed = true
	}
}

// unbounded returns the objects of places.
func unbounded(pts pointers) pointers {
	var all pointers
	for _, p := range pts {
		all.add(p.object.all())
	}
	return all
}

// load returns what is stored in a range of bytes.
func (a *memory) load(p place, size int64) pointers {
	var pts pointers
	lo, hi := p.bytes(size)
	for _, c := range p.object.cells {
		if c.lo < hi && lo < c.hi {
			pts.addAll(c.pts)
		}
	}
	return pts
}

// store adds what is stored from a place on.
func (a *memory) store(p place, size int64, pts pointers) {
	if len(pts) == 0 || p.object.function != nil {
		return
	}
	lo, hi := p.bytes(size)
	o := p.object
	for _, c := range o.cells {
		if c.lo <= lo && hi <= c.hi {
			a.addTo(&c.pts, pts)
			return
		}
	}
	if len(o.cells) == maxCells {
		all := &cell{lo: -maxSize, hi: maxSize}
		for _, c := range o.cells {
			all.pts.addAll(c.pts)
		}
		o.cells = []*cell{all}
		a.addTo(&all.pts, pts)
		return
	}
	o.cells = append(o.cells, &cell{lo: lo, hi: hi, pts: slices.Clone(pts)})
	a.changed = true
}

// copyBytes stores what is in one place in another. Where in it, is not kept.
func (a *memory) copyBytes(to, from pointers, size int64) {
	for _, f := range from {
		pts := a.load(f, size)
		for _, t := range to {
			a.store(t, size, pts)
		}
	}
}

// transfer adds what follows from an instruction.
func (a *memory) transfer(i *instruction) {
	f := i.block.of
	of := func(k int) pointers { return a.pointsOf(f, i.operands[k]) }
	switch i.op {
	case "alloca":
		if i.object == nil {
			size := i.element.bytes()
			if len(i.operands) > 0 {
				if size = 0; i.operands[0].isNumber && i.operands[0].number > 0 {
					size = product(i.element.bytes(), i.operands[0].number)
				}
			}
			i.object = a.newObject(i.name, size)
			i.object.made = i
		}
		a.addTo(&i.pts, pointers{{i.object, 0, 1}})
	case "getelementptr":
		lo, hi := step(i.element, i.operands[1:])
		for _, p := range of(0) {
			a.addTo(&i.pts, pointers{{p.object, clamp(p.lo + lo), clamp(p.hi + hi - 1)}})
		}
	case "load":
		if i.typ.carries() {
			for _, p := range of(0) {
				a.addTo(&i.pts, a.load(p, i.typ.bytes()))
			}
		}
	case "store":
		pts := of(0)
		for _, p := range of(1) {
			a.store(p, i.element.bytes(), pts)
		}
	case "ret":
		if len(i.operands) > 0 {
			a.addTo(&f.returnNodes, of(0))
		}
	case "call":
		a.call(i)
	case "icmp", "fcmp", "br", "switch", "unreachable":
	case "phi", "select", "freeze", "bitcast", "ptrtoint", "inttoptr":
		for k := range i.operands {
			a.addTo(&i.pts, of(k))
		}
	default:
		if i.typ.carries() {
			for k := range i.operands {
				a.addTo(&i.pts, unbounded(of(k)))
			}
		}
	}
}

// call adds what follows from a call.
func (a *memory) call(i *instruction) {
	f := i.block.of
	for _, p := range a.pointsOf(f, i.callee) {
		switch target := p.object.function; {
		case target == nil && p.object.escaped:
			a.effectOf(i, unknownEffect)
		case target == nil:
		case len(target.blocks) == 0:
			e, err := effectOfName(target.name, i)
			if err != nil && a.err == nil {
				a.err = err
			}
			a.effectOf(i, e)
		default:
			a.invoke(i, target)
		}
	}
}

// invoke passes the arguments of a call on to a function.
func (a *memory) invoke(i *instruction, target *function) {
	a.connect(i, target)
	for k, v := range i.operands {
		pts := a.pointsOf(i.block.of, v)
		if k >= len(target.params) {
			if target.rest != nil {
				a.store(target.rest.all(), maxSize, pts)
			}
			continue
		}
		if p := target.params[k]; p.object != nil {
			a.copyBytes(pointers{p.object.all()}, pts, p.object.size)
		} else {
			a.addTo(&p.pts, pts)
		}
	}
	a.addTo(&i.pts, target.returnNodes)
}

// connect notes that a call may be one of a function.
func (a *memory) connect(i *instruction, target *function) {
	if !slices.Contains(i.targets, target) {
		i.targets = append(i.targets, target)
		target.callers = append(target.callers, i)
		a.changed = true
	}
	a.reach(target)
}

// escape notes that functions that are not known can reach what pointers point to.
func (a *memory) escape(pts pointers) { a.addTo(&a.outside.cells[0].pts, unbounded(pts)) }

// spread adds what functions that are not known may do: they store all addresses that
// they can reach in all objects that they can reach.
func (a *memory) spread() {
	all := &a.outside.cells[0].pts
	for k := 0; k < len(*all); k++ {
		o := (*all)[k].object
		if !o.escaped {
			o.escaped, a.changed = true, true
		}
		for _, c := range o.cells {
			a.addTo(all, unbounded(c.pts))
		}
		if f := o.function; f != nil && len(f.blocks) > 0 {
			a.expose(f, *all)
		}
	}
	for _, p := range slices.Clone(*all) {
		if p.object != a.outside {
			a.store(p.object.all(), maxSize, *all)
		}
	}
}

// expose notes that a function may be called by others, with arguments that point anywhere in pts.
func (a *memory) expose(f *function, pts pointers) {
	f.whole = true
	a.reach(f)
	for _, p := range f.params {
		a.addTo(&p.pts, pts)
	}
	a.escape(f.returnNodes)
}
