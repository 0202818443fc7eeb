package fact

import (
	"iter"
	"slices"
	"strings"
)

// An object is a piece of memory: a variable, what is allocated at one place of the program, or
// what only functions outside of the module use.
type object struct {
	name     string
	number   int
	size     int64     // 0 if it is not known
	function *function // that it is the code of
	made     *instruction
	cells    []*cell
	readers  set  // numbers of instructions whose pointers depend on what is stored in it
	escaped  bool // functions that are not known can reach it
	writes   []write
}

// A cell is what is stored in the bytes [lo, hi) of an object.
type cell struct {
	lo, hi int64
	pts    pointers
}

// A write is an instruction that writes to bytes of an object.
type write struct {
	addresses
	by   *instruction
	data bool // of a message, or a status: what only an operation that is executed writes
}

// A memory finds where the values of a module may point to.
type memory struct {
	m        *Module
	objects  []*object
	outside  *object            // all that functions outside of the module have
	messages *object            // in messages
	hidden   map[string]*object // state of the C library, and what constants such as MPI_IN_PLACE point to
	reached  []*function
	seen     map[*function]bool

	callbacks bool // MPI calls functions of the module
	addressed bool // MPI is told addresses by other ways than arguments
	derived   bool // there are datatypes of the program
	errno     bool // the program reads error numbers

	instructions []*instruction // all of the module
	current      *instruction   // of which it is found what follows
	queued       set            // numbers of instructions of which it is to be found
	changed      bool           // there are some
	found        bool           // all that follows
	err          error
}

// analyze finds what is reached from a function, and where all of its values may point to.
func (m *Module) analyze(main *function) (*memory, error) {
	a := &memory{m: m, hidden: map[string]*object{}, seen: map[*function]bool{}}
	a.outside, a.messages = a.newObject("outside", 0), a.newObject("messages", 0)
	a.outside.escaped = true
	a.outside.cells = []*cell{{-maxSize, maxSize, to(a.outside.all())}}
	for _, name := range []string{"files", "console", "random", "errno", "constants"} {
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
	for _, f := range m.functions {
		a.link(f)
	}
	a.reach(main)
	for _, p := range main.params {
		p.pts.add(a.outside.all())
	}
	for a.changed && a.err == nil {
		a.changed = false
		for k := 0; k < len(a.reached); k++ {
			for _, b := range a.reached[k].blocks {
				for _, i := range b.instructions {
					if a.queued.has(i.number) {
						a.queued.remove(i.number)
						a.current = i
						a.transfer(i)
					}
				}
			}
		}
		a.current = nil
		a.spread()
	}
	a.found = true
	return a, a.err
}

// link notes which instructions use the values of a function.
func (a *memory) link(f *function) {
	for _, b := range f.blocks {
		for _, i := range b.instructions {
			i.number = len(a.instructions)
			a.instructions = append(a.instructions, i)
			for _, v := range append(slices.Clip(i.operands), i.callee) {
				if v.local != "" {
					n := f.values[v.local].value()
					n.users = append(n.users, i)
				}
			}
		}
	}
}

// again notes that what follows from instructions is to be found again.
func (a *memory) again(list ...*instruction) {
	for _, i := range list {
		if a.seen[i.block.of] {
			a.queued.add(i.number)
			a.changed = true
		}
	}
}

// touch notes that what is stored in an object has changed.
func (a *memory) touch(o *object) {
	if a.queued.addAll(o.readers) {
		a.changed = true
	}
}

// depend notes that what follows from the instruction at hand depends on what is stored in an object.
func (a *memory) depend(o *object) {
	if a.current != nil {
		o.readers.add(a.current.number)
	}
}

// places returns where pointers point to. They may change meanwhile, until all is found.
func (a *memory) places(pts pointers) iter.Seq[place] {
	parts := pts.parts
	if !a.found {
		parts = slices.Clone(parts)
	}
	return func(yield func(place) bool) {
		for n := range pts.whole.all() {
			if !yield(a.objects[n].all()) {
				return
			}
		}
		for _, p := range parts {
			if !yield(p) {
				return
			}
		}
	}
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
		a.store(g.object.all(), maxSize, to(a.hidden["console"].all()))
	case g.name == "@stdin":
		a.store(g.object.all(), maxSize, to(a.hidden["files"].all()))
	case g.name == "@llvm.global_ctors" || g.name == "@llvm.global_dtors":
		for _, v := range g.init {
			pts := a.pointsOf(nil, v)
			a.escape(pts)
			for p := range a.places(pts) {
				if f := p.object.function; f != nil {
					f.early = true
				}
			}
		}
	case g.external:
		g.object.size = 0
		g.object.escaped = true
		a.outside.cells[0].pts.add(g.object.all())
		a.store(g.object.all(), maxSize, to(a.outside.all()))
	default:
		for _, v := range g.init {
			a.store(g.object.all(), maxSize, unbounded(a.pointsOf(nil, v)))
		}
	}
}

func (a *memory) reach(f *function) {
	if !a.seen[f] && len(f.blocks) > 0 {
		a.seen[f] = true
		a.reached = append(a.reached, f)
		for _, b := range f.blocks {
			a.again(b.instructions...)
		}
		if f.variadic {
			f.rest = a.newObject("arguments of "+f.name, 0)
		}
		for _, p := range f.params {
			if p.byval != nil {
				p.object = a.newObject(p.name, p.byval.bytes())
				p.pts.add(p.object.first())
			}
		}
	}
}

// pointsOf returns where a value may point to.
func (a *memory) pointsOf(f *function, v value) pointers {
	if v.local != "" {
		return f.values[v.local].value().pts
	}
	var pts pointers
	if v.constant {
		pts.add(a.hidden["constants"].all())
	}
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
		if p := (place{o, addresses{lo: at.offset, hi: at.offset + 1}}); at.unbounded {
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
	case intType, ptrType, floatType: // a union may have an address and a floating-point number
		return true
	case arrayType, vectorType:
		return t.elem.carries()
	case structType:
		return slices.ContainsFunc(t.fields, (*irType).carries)
	}
	return false
}

// addTo adds where a value may point to.
func (a *memory) addTo(n *node, pts pointers) {
	if n.pts.addAll(pts) {
		a.again(n.users...)
	}
}

// fill adds what is stored in a cell.
func (a *memory) fill(o *object, c *cell, pts pointers) {
	if c.pts.addAll(pts) {
		a.touch(o)
	}
}

// load adds what is stored in a range of bytes.
func (a *memory) load(to *pointers, p place, size int64) {
	a.depend(p.object)
	b := p.bytes(size)
	for _, c := range p.object.cells {
		if c.lo < b.hi && b.lo < c.hi {
			to.addAll(c.pts)
		}
	}
}

// store adds what is stored from a place on.
func (a *memory) store(p place, size int64, pts pointers) {
	if pts.isEmpty() || p.object.function != nil {
		return
	}
	b := p.bytes(size)
	lo, hi, o := b.lo, b.hi, p.object
	for _, c := range o.cells {
		if c.lo <= lo && hi <= c.hi {
			a.fill(o, c, pts)
			return
		}
	}
	if len(o.cells) == maxCells {
		all := &cell{lo: -maxSize, hi: maxSize}
		for _, c := range o.cells {
			all.pts.addAll(c.pts)
		}
		o.cells = []*cell{all}
		a.touch(o)
		a.fill(o, all, pts)
		return
	}
	c := &cell{lo: lo, hi: hi}
	o.cells = append(o.cells, c)
	a.fill(o, c, pts)
}

// copyBytes stores what is in one place in another. Where in it, is not kept.
func (a *memory) copyBytes(to, from pointers, size int64) {
	var pts pointers
	for f := range a.places(from) {
		a.load(&pts, f, size)
	}
	for t := range a.places(to) {
		a.store(t, size, pts)
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
		a.addTo(&i.node, to(i.object.first()))
	case "getelementptr":
		by := step(i.element, i.operands[1:], i.isAccessed())
		var pts pointers
		for p := range a.places(of(0)) {
			pts.add(place{p.object, p.plus(by)})
		}
		a.addTo(&i.node, pts)
	case "load":
		if i.typ.carries() {
			var pts pointers
			for p := range a.places(of(0)) {
				a.load(&pts, p, i.typ.bytes())
			}
			a.addTo(&i.node, pts)
		}
	case "store":
		pts := of(0)
		for p := range a.places(of(1)) {
			a.store(p, i.element.bytes(), pts)
		}
	case "ret":
		if len(i.operands) > 0 {
			a.addTo(&f.returned, of(0))
		}
	case "call":
		a.call(i)
	case "icmp", "fcmp", "br", "switch", "unreachable":
	case "phi", "select", "freeze", "bitcast", "ptrtoint", "inttoptr":
		for k := range i.operands {
			a.addTo(&i.node, of(k))
		}
	default:
		if i.typ.carries() && !strings.HasPrefix(i.op, "f") { // arithmetic of floating-point numbers makes no addresses
			for k := range i.operands {
				a.addTo(&i.node, unbounded(of(k)))
			}
		}
	}
}

// isAccessed reports whether an address is of nothing but what is read and written there, or a part of that.
func (i *instruction) isAccessed() bool {
	return !slices.ContainsFunc(i.users, func(u *instruction) bool {
		switch u.op {
		case "load":
			return false
		case "store":
			return u.operands[0].local == i.name
		case "getelementptr":
			return len(u.operands) < 2 || !u.operands[1].isNumber || u.operands[1].number != 0
		}
		return true
	})
}

// call adds what follows from a call.
func (a *memory) call(i *instruction) {
	f := i.block.of
	for p := range a.places(a.pointsOf(f, i.callee)) {
		switch target := p.object.function; {
		case target == nil && p.object.escaped:
			a.effectOf(i, unknownEffect)
		case target == nil:
			a.depend(p.object)
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
			switch {
			case target.rest == nil:
			case v.byval:
				a.copyBytes(to(target.rest.all()), pts, maxSize)
			default:
				a.store(target.rest.all(), maxSize, pts)
			}
			continue
		}
		if p := target.params[k]; p.object != nil {
			a.copyBytes(to(p.object.all()), pts, p.object.size)
		} else {
			a.addTo(&p.node, pts)
		}
	}
	a.addTo(&i.node, target.returned.pts)
}

// connect notes that a call may be one of a function.
func (a *memory) connect(i *instruction, target *function) {
	if !slices.Contains(i.targets, target) {
		i.targets = append(i.targets, target)
		target.callers = append(target.callers, i)
		target.returned.users = append(target.returned.users, i)
	}
	a.reach(target)
}

// escape notes that functions that are not known can reach what pointers point to.
func (a *memory) escape(pts pointers) { a.fill(a.outside, a.outside.cells[0], unbounded(pts)) }

// spread adds what functions that are not known may do: they store all addresses that
// they can reach in all objects that they can reach.
func (a *memory) spread() {
	reached := &a.outside.cells[0].pts
	for more := true; more; {
		before := reached.whole.count()
		for _, n := range slices.Collect(reached.whole.all()) {
			o := a.objects[n]
			if !o.escaped {
				o.escaped = true
				a.touch(o)
			}
			for _, c := range o.cells {
				a.escape(c.pts)
			}
			if f := o.function; f != nil && len(f.blocks) > 0 {
				a.expose(f, *reached)
			}
		}
		more = reached.whole.count() > before
	}
	for n := range reached.whole.all() {
		if o := a.objects[n]; o != a.outside {
			a.store(o.all(), maxSize, *reached)
		}
	}
}

// expose notes that a function may be called by others, with arguments that point anywhere in pts.
func (a *memory) expose(f *function, pts pointers) {
	f.whole = true
	a.reach(f)
	for _, p := range f.params {
		a.addTo(&p.node, pts)
	}
	a.escape(f.returned.pts)
}
