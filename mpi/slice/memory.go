package slice

import (
	"iter"
	"regexp"
	"slices"
	"strings"
)

// A memory finds where the values of a module may point to.
type memory struct {
	*pool
	m        *Module
	objects  []*object
	outside  *object            // all that functions outside of the module have
	messages *object            // in messages
	hidden   map[string]*object // state of the C library, and what constants such as MPI_IN_PLACE point to
	files    []*object          // those that are told apart, and one that stands for others
	reached  []*function
	seen     map[*function]bool

	callbacks     bool // MPI calls functions of the module
	addressed     bool // MPI is told addresses by other ways than arguments
	derived       bool // there are datatypes of the program
	errno         bool // the program reads error numbers
	ownAllocators bool // as of Options

	redirects bool // what is written to the console may go elsewhere

	buckets *pointers // those that hash tables have in themselves

	loads  map[rangeKey]*load
	stored map[storeKey]bool

	instructions []*instruction // all of the module
	current      *instruction   // of which it is found what follows
	queued       set            // numbers of instructions of which it is to be found
	changed      bool           // there are some
	err          error
}

// analyze finds what is reached from a function, and where all of its values may point to.
func (m *Module) analyze(main *function, ownAllocators bool) (*memory, error) {
	a := &memory{pool: newPool(), m: m, ownAllocators: ownAllocators,
		loads: map[rangeKey]*load{}, stored: map[storeKey]bool{},
		hidden: map[string]*object{}, seen: map[*function]bool{}}
	a.outside, a.messages = a.newObject("outside", 0), a.newObject("messages", 0)
	a.outside.escaped = true
	a.outside.cells = []*cell{{everywhere(), a.one(to(a.outside.all()))}}
	for _, name := range []string{"files", "console", "random", "errno", "constants", "library", "arguments"} {
		a.hidden[name] = a.newObject(name, 0)
	}
	a.hidden["console"].isConsole, a.hidden["arguments"].isConstant = true, true
	a.addFile("files")
	for _, f := range m.functions {
		a.redirects = a.redirects || redirection.MatchString(f.name)
		f.object = a.newObject(f.name, 0)
		f.object.function = f
	}
	for _, g := range m.globals {
		g.object = a.newObject(g.name, g.typ.bytes())
		g.object.isConstant = g.constant && !g.external
		g.object.isFixed = g.object.isConstant
	}
	for _, g := range m.globals {
		a.begin(g)
	}
	for _, f := range m.functions {
		a.link(f)
	}
	m.units = unitsOf(a.instructions)
	for _, name := range m.units.files() {
		a.addFile(name)
	}
	a.reach(main)
	for _, p := range main.params[min(1, len(main.params)):] {
		p.pts = a.join(p.pts, to(a.hidden["arguments"].all()))
	}
	a.store(a.hidden["arguments"].all(), maxSize, to(a.hidden["arguments"].all()))
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

// depend notes that what follows from the instruction at hand depends on what is stored in an object.
func (a *memory) depend(o *object) {
	if a.current != nil {
		o.readers.add(a.current.number)
	}
}

// places returns where pointers point to.
func (a *memory) places(pts *pointers) iter.Seq[place] {
	return func(yield func(place) bool) {
		if pts == nil {
			return
		}
		for n := range pts.whole.all() {
			if !yield(a.objects[n].all()) {
				return
			}
		}
		for _, p := range pts.parts {
			if !yield(p) {
				return
			}
		}
	}
}

// addFile notes that a name stands for a file.
func (a *memory) addFile(name string) {
	if a.hidden[name] == nil {
		a.hidden[name] = a.newObject(name, 0)
	}
	a.hidden[name].isFile = true
	a.files = append(a.files, a.hidden[name])
}

// state returns what a name stands for: "files" for all of them.
func (a *memory) state(name string) *pointers {
	pts := &pointers{}
	if name != "files" {
		pts.add(a.hidden[name].all())
		return pts
	}
	for _, o := range a.files {
		pts.add(o.all())
	}
	return pts
}

func (a *memory) newObject(name string, size int64) *object {
	o := &object{name: name, number: len(a.objects), size: size}
	a.objects = append(a.objects, o)
	return o
}

// redirection matches the function of the library of C++ by which a stream writes to another buffer.
var redirection = regexp.MustCompile(`^@_ZNSt9basic_ios.*5rdbufEP`)

// opaqueVariable matches variables of libraries of which a program takes nothing but the address: types of C++
// and handles of Open MPI.
var opaqueVariable = regexp.MustCompile(`^@(_ZTI|ompi_mpi_|ompi_request_null$|__dso_handle$)`)

// libraryTable matches the tables of virtual functions of the library of C++.
var libraryTable = regexp.MustCompile(`^@_ZT[TV](St|S[abdios]|NSt|N10__cxxabiv)`)

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
	case g.external && (g.name == "@_ZSt4cout" || g.name == "@_ZSt4cerr" || g.name == "@_ZSt4clog"):
		g.object.isConsole = !a.redirects
		a.store(g.object.all(), maxSize, to(a.hidden["console"].all()))
	case g.external && g.name == "@_ZSt3cin":
		a.store(g.object.all(), maxSize, to(a.hidden["files"].all()))
	case g.external && opaqueVariable.MatchString(g.name):
	case g.external && libraryTable.MatchString(g.name):
		g.object.size = 0
		a.store(g.object.all(), maxSize, to(a.hidden["library"].all()))
	case g.external:
		g.object.size = 0
		g.object.escaped = true
		a.escape(to(g.object.all()))
		a.store(g.object.all(), maxSize, to(a.outside.all()))
	default:
		for k, v := range g.init {
			if k < len(g.init)-1 { // the last one is all of them
				v.addresses = nil
				a.store(place{g.object, at(v.within)}, 8, a.pointsOf(nil, v))
				continue
			}
			v.addresses = nil
			a.store(g.object.all(), maxSize, a.pointsOf(nil, v))
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
				p.pts = a.join(p.pts, to(p.object.first()))
			}
		}
	}
}

// pointsOf returns where a value may point to.
func (a *memory) pointsOf(f *function, v value) *pointers {
	if v.local != "" {
		return f.values[v.local].value().pts
	}
	pts := &pointers{}
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
func (a *memory) addTo(n *node, pts *pointers) {
	if both := a.join(n.pts, pts); both != n.pts {
		n.pts = both
		a.again(n.users...)
	}
}

// transfer adds what follows from an instruction.
func (a *memory) transfer(i *instruction) {
	f := i.block.of
	of := func(k int) *pointers { return a.pointsOf(f, i.operands[k]) }
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
		from := of(0)
		if !a.ownAllocators && i.element.kind == namedType && nodeType.MatchString(i.element.name) {
			from = a.nodes(from)
		}
		by := step(i.element, i.operands[1:], i.isAccessed())
		if i.isRepeated() {
			by = repeated(by.lo)
		}
		if by == everywhere() {
			from = a.withoutBuckets(i, from)
		}
		a.addTo(&i.node, a.step(from, by))
		if i.isBucket() {
			a.buckets = a.join(a.buckets, i.pts)
		}
	case "load":
		if i.typ.carries() {
			a.addTo(&i.node, a.load(of(0), i.typ.bytes()))
		}
	case "store":
		a.storeAll(of(1), i.element.bytes(), of(0))
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
				a.addTo(&i.node, a.unbounded(of(k)))
			}
		}
	}
}

// isRepeated reports whether an address is one element behind that of the last iteration of a loop, or several.
func (i *instruction) isRepeated() bool {
	if len(i.operands) != 2 || !i.operands[1].isNumber || i.operands[1].number == 0 {
		return false
	}
	last, ok := i.block.of.values[i.operands[0].local].(*instruction)
	return ok && last.op == "phi" && slices.ContainsFunc(last.operands, func(v value) bool {
		return v.local == i.name
	})
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
		case target == nil:
			if e := a.codeIn(p.object); e != nil {
				a.effectOf(i, e)
			}
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

// codeIn returns the effect of a call of an address in an object that is no function, nil if there is no code.
func (a *memory) codeIn(o *object) *effect {
	switch {
	case o == a.hidden["library"]:
		return cPlusPlusEffect
	case o == a.outside:
		return unknownEffect
	}
	return nil
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
func (a *memory) escape(pts *pointers) { a.fill(a.outside, a.outside.cells[0], a.unbounded(pts)) }

// spread adds what functions that are not known may do: they store all addresses that
// they can reach in all objects that they can reach.
func (a *memory) spread() {
	reached := func() *pointers { return a.outside.cells[0].pts }
	for more := true; more; {
		before := reached()
		for n := range before.whole.all() {
			o := a.objects[n]
			if !o.escaped {
				o.escaped = true
				a.touch(o)
			}
			for _, c := range o.cells {
				a.escape(c.pts)
			}
			if f := o.function; f != nil && len(f.blocks) > 0 {
				a.expose(f, reached())
			}
		}
		more = reached() != before
	}
	for n := range reached().whole.all() {
		if o := a.objects[n]; o != a.outside {
			a.store(o.all(), maxSize, reached())
		}
	}
}

// expose notes that a function may be called by others, with arguments that point anywhere in pts.
func (a *memory) expose(f *function, pts *pointers) {
	f.whole = true
	a.reach(f)
	for _, p := range f.params {
		a.addTo(&p.node, pts)
	}
	a.escape(f.returned.pts)
}
