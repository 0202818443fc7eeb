package slice

import (
	"iter"
	"slices"
	"strings"
)

// effectOf adds what follows for pointers from a call of a function that is not of the module.
func (a *memory) effectOf(i *instruction, e *effect) {
	f := i.block.of
	of := func(k int) *pointers {
		if k >= len(i.operands) {
			return nil
		}
		return a.pointsOf(f, i.operands[k])
	}
	switch e.result {
	case newResult:
		if i.object == nil {
			i.object = a.newObject("memory of "+i.name, 0)
			i.object.made = i
		}
		a.addTo(&i.node, to(i.object.first()))
		if e.name == "realloc" {
			a.copyBytes(i.pts, a.unbounded(of(0)), maxSize)
		}
	case firstResult:
		a.addTo(&i.node, a.unbounded(of(0)))
	case secondResult:
		a.addTo(&i.node, a.unbounded(of(1)))
	case outsideResult:
		a.depend(a.outside)
		a.addTo(&i.node, a.outside.cells[0].pts)
	case argumentsResult:
		a.addTo(&i.node, to(a.hidden["arguments"].all()))
	case filesResult:
		a.addTo(&i.node, to(a.hidden["files"].all()))
	case reachedResult:
		a.confine(i, e)
	case textResult:
		a.retext(i, e)
	case linkedResult:
		a.relink(i, e)
	case arrayResult:
		a.fillArray(i)
	case assignResult:
		a.assign(i, e)
	case errnoResult:
		a.errno = true
		a.addTo(&i.node, to(a.hidden["errno"].first()))
	}
	if e.copies && e.result != linkedResult && e.result != textResult {
		a.copyBytes(of(0), of(1), i.length())
	}
	if e.name == "llvm.va_start" && f.rest != nil {
		for p := range a.places(of(0)) {
			a.store(p.object.all(), maxSize, to(f.rest.all()))
		}
	}
	if strings.HasPrefix(e.name, "strto") {
		for p := range a.places(of(1)) {
			a.store(p, 8, a.unbounded(of(0)))
		}
	}
	if e.name == "MPI_Aint_add" || e.name == "MPI_Aint_diff" {
		a.addTo(&i.node, a.unbounded(of(0)))
		a.addTo(&i.node, a.unbounded(of(1)))
	}
	if e.name == "MPI_Type_get_contents" { // addresses that MPI was told
		a.depend(a.outside)
		a.storeAll(a.unbounded(of(5)), maxSize, a.outside.cells[0].pts)
	}
	if e.name == "MPI_Get_address" || e.name == "MPI_Address" {
		a.addressed = true
	}
	if e.mpi != nil && strings.HasPrefix(e.name, "MPI_Type_") && e.name != "MPI_Type_contiguous" &&
		e.name != "MPI_Type_size" {
		a.derived = true // elements may be below the address
	}
	a.displacements(i, e)
	for k := range i.operands {
		switch letter := e.argument(k); {
		case e.unknown || letter == 'b' && e.mpi != nil && e.group == "":
			a.escape(of(k))
		case letter == 'c':
			a.callback(i, e, of(k))
		case letter == 'R' || letter == 'B':
			a.copyBytes(to(a.messages.all()), a.unbounded(of(k)), maxSize)
			fallthrough
		case letter == 'W':
			a.copyBytes(a.unbounded(of(k)), to(a.messages.all()), maxSize)
			if a.callbacks {
				a.escape(of(k))
			}
		}
	}
}

// confine adds what a function does that may store all that its arguments reach, and memory that is new, in all
// of that, and may call the functions in it.
func (a *memory) confine(i *instruction, e *effect) {
	if i.object == nil {
		i.object = a.newObject("memory of "+i.name, 0)
		i.object.made = i
	}
	from := to(i.object.all())
	for k, v := range i.operands {
		pts := a.pointsOf(i.block.of, v)
		if e.argument(k) == 'w' || v.pointed > 0 && v.pointed < 8 { // a number
			continue
		}
		if i.isAddress() {
			a.addTo(&i.node, pts)
		}
		from = a.join(from, pts)
	}
	all := a.closure(from)
	for p := range a.places(all) {
		a.depend(p.object)
		switch f := p.object.function; {
		case p.object == a.outside:
			a.escape(all)
		case f == nil && !p.object.isConstant:
			a.store(p.object.all(), maxSize, all)
		case f == nil:
		case len(f.blocks) > 0:
			a.connect(i, f)
			a.expose(f, all)
		}
	}
	if i.isAddress() {
		a.addTo(&i.node, all)
	}
}

// fillArray adds what a function of Fortran does that notes memory that is new in its first argument. The elements
// may be those of what the other arguments reach.
func (a *memory) fillArray(i *instruction) {
	if i.object == nil {
		i.object = a.newObject("memory of "+i.name, 0)
		i.object.made = i
	}
	var from *pointers
	for _, v := range i.operands[min(1, len(i.operands)):] {
		from = a.join(from, a.pointsOf(i.block.of, v))
	}
	all := a.closure(from)
	for p := range a.places(all) {
		a.depend(p.object)
	}
	a.store(i.object.all(), maxSize, all)
	if len(i.operands) > 0 {
		a.storeAll(a.pointsOf(i.block.of, i.operands[0]), maxSize, to(i.object.first()))
	}
}

// isAddress reports whether the result of a call may be an address, and is no number or nothing.
func (i *instruction) isAddress() bool { return i.typ.hasAddress() }

func (t *irType) hasAddress() bool {
	switch t = t.resolved(); t.kind {
	case intType, floatType, voidType:
		return false
	case structType:
		return slices.ContainsFunc(t.fields, (*irType).hasAddress)
	case arrayType, vectorType:
		return t.elem.hasAddress()
	}
	return true
}

// displacements notes that MPI is told addresses by what a datatype is made of.
func (a *memory) displacements(i *instruction, e *effect) {
	if e.mpi == nil || e.role.Datatype == "" {
		return
	}
	for k, p := range e.mpi.Declared() {
		if k >= len(i.operands) || p.Name != "array_of_displacements" {
			continue
		}
		if in := a.load(a.pointsOf(i.block.of, i.operands[k]), maxSize); !in.isEmpty() {
			a.addressed = true
			a.escape(in)
		}
	}
}

// callback notes that a function that a call is given is called: by the C library with what the
// other arguments point to, by MPI at any time with any data.
func (a *memory) callback(i *instruction, e *effect, functions *pointers) {
	if e.mpi != nil {
		own := false // not one such as MPI_COMM_DUP_FN
		for p := range a.places(functions) {
			own = own || p.object.function == nil || len(p.object.function.blocks) > 0
		}
		if own && !a.callbacks {
			a.callbacks = true
			a.again(a.instructions...)
		}
		a.escape(functions)
		return
	}
	var pts *pointers
	for k := range i.operands {
		pts = a.join(pts, a.unbounded(a.pointsOf(i.block.of, i.operands[k])))
	}
	for p := range a.places(functions) {
		if g := p.object.function; g != nil && len(g.blocks) > 0 {
			a.connect(i, g)
			a.expose(g, pts)
		}
	}
}

// length returns how many bytes a call copies or sets.
func (i *instruction) length() int64 {
	if strings.HasPrefix(i.callee.global, "@mem") || strings.HasPrefix(i.callee.global, "@llvm.mem") {
		if len(i.operands) > 2 && i.operands[2].isNumber {
			return max(i.operands[2].number, 0)
		}
	}
	return maxSize
}

// An access is bytes that an instruction reads or writes: some from each of the places that pointers point
// to.
type access struct {
	pts  *pointers // of the pool
	size int64
	data bool // of a message, or a status
}

// ranges returns the bytes of memory that accesses of a size are of: those of variables, not of functions or
// of what stands for constants.
func (a *memory) ranges(pts *pointers, size int64) iter.Seq2[*object, addresses] {
	return func(yield func(*object, addresses) bool) {
		for p := range a.places(pts) {
			if p.object.function == nil && p.object != a.hidden["constants"] && !yield(p.object, p.bytes(size)) {
				return
			}
		}
	}
}

// accesses returns what an instruction reads and writes itself, without the functions of the
// module that it calls.
func (a *memory) accesses(i *instruction) (reads, writes []access) {
	f := i.block.of
	add := func(list *[]access, pts *pointers, size int64, data bool) {
		if pts = a.one(pts); pts != nil {
			*list = append(*list, access{pts, size, data})
		}
	}
	switch i.op {
	case "load":
		add(&reads, a.pointsOf(f, i.operands[0]), i.typ.bytes(), false)
	case "store":
		add(&writes, a.pointsOf(f, i.operands[1]), i.element.bytes(), false)
	case "call":
		for p := range a.places(a.pointsOf(f, i.callee)) {
			switch target := p.object.function; {
			case target != nil && len(target.blocks) > 0:
				for k := len(target.params); target.rest != nil && k < len(i.operands); k++ {
					if i.operands[k].byval {
						add(&reads, a.pointsOf(f, i.operands[k]), maxSize, false)
					}
				}
				for k, p := range target.params {
					if p.object != nil && k < len(i.operands) {
						add(&reads, a.pointsOf(f, i.operands[k]), p.object.size, false)
						add(&writes, to(p.object.all()), 0, false)
					}
				}
			case target != nil:
				e, _ := effectOfName(target.name, i)
				a.accessesOf(i, e, &reads, &writes, add)
			default:
				if e := a.codeIn(p.object); e != nil {
					a.accessesOf(i, e, &reads, &writes, add)
				}
			}
		}
	}
	return reads, writes
}

func (a *memory) accessesOf(i *instruction, e *effect, reads, writes *[]access,
	add func(*[]access, *pointers, int64, bool)) {
	f := i.block.of
	everything := func(list *[]access, data bool) { add(list, a.outside.cells[0].pts, maxSize, data) }
	for _, name := range e.hidden {
		add(reads, a.state(name), 0, false)
		add(writes, a.state(name), 0, false)
	}
	if a.errno && (e.unknown || e.confined || library[e.name] != nil) {
		add(writes, to(a.hidden["errno"].first()), 4, false)
	}
	if e.unknown {
		for _, list := range []*[]access{reads, writes} {
			everything(list, false)
			for _, o := range []string{"files", "console", "random", "errno"} {
				add(list, a.state(o), 0, false)
			}
		}
		return
	}
	if e.result == textResult {
		a.accessTexts(i, e, reads, writes, add)
		return
	}
	if e.result == linkedResult {
		add(reads, a.linked(i), linkBytes, false)
		if e.copies {
			add(writes, a.linked(i), linkBytes, false)
		}
		return
	}
	if e.result == assignResult && a.accessAssigned(i, reads, writes, add) {
		return
	}
	if e.name == "realloc" || e.confined {
		add(writes, i.pts, maxSize, false)
	}
	inPlace, isBottom := false, false
	for k, v := range i.operands {
		letter := e.argument(k)
		pts := a.pointsOf(f, v)
		size := i.length()
		if letter == 'x' && v.pointed > 0 && v.pointed < 8 { // a number
			add(reads, pts, v.pointed, false)
			add(writes, pts, v.pointed, false)
			continue
		}
		if letter == 'w' && v.pointed > 0 && e.confined {
			size = v.pointed
		}
		isData := letter < 'a' && letter != '-'
		if isData {
			given := a.one(pts)
			pts = a.withoutConstants(given)
			inPlace = inPlace || letter == 'R' && (given == nil || pts != given)
			if a.derived {
				pts = a.unbounded(pts)
			}
			isBottom = given.isEmpty() || e.fortran && pts.isEmpty()
		}
		if isData && letter != 'S' && (isBottom || a.addressed) {
			if letter != 'W' {
				everything(reads, true)
			}
			if letter != 'R' {
				everything(writes, true)
			}
		}
		switch letter {
		case 'v':
			add(reads, a.closure(pts), maxSize, false)
		case 'x':
			all := a.closure(pts)
			add(reads, all, maxSize, false)
			written := &pointers{}
			for p := range a.places(all) {
				if !p.object.isConstant {
					written.add(p)
				}
			}
			add(writes, written, maxSize, false)
		case 'i':
			add(reads, pts, 4, false)
		case 'o':
			add(writes, pts, 4, false)
		case 'h':
			add(reads, pts, 8, false)
			add(writes, pts, 8, false)
		case 'p':
			if v.pointed > 0 {
				size = v.pointed
			}
			add(reads, pts, size, false)
			add(writes, pts, size, false)
		case 'f':
			a.accessFile(pts, reads, writes, add)
		case 'r', 'b', 'n', 'R', 'B':
			add(reads, pts, size, isData)
		}
		switch letter {
		case 'w', 'b', 'n', 'W', 'B', 'S':
			add(writes, pts, size, isData)
		}
		if letter == 'W' && inPlace {
			add(reads, pts, size, true)
		}
		if letter == 'b' && e.mpi != nil && e.group == "" && !pts.isEmpty() {
			everything(reads, false)
			everything(writes, false)
		}
	}
}

// accessFile adds what a function of the C library does to a file: it is one of those that are known as
// files, even if the program has it of a function that is not known, or all of them.
func (a *memory) accessFile(pts *pointers, reads, writes *[]access, add func(*[]access, *pointers, int64, bool)) {
	files := pts.isEmpty()
	for p := range a.places(pts) {
		files = files || p.object != a.hidden["console"]
		add(writes, to(p), maxSize, false)
		add(reads, to(p), maxSize, false)
	}
	if files {
		add(reads, a.state("files"), 0, false)
		add(writes, a.state("files"), 0, false)
	}
}

// withoutConstants returns pointers of the pool but for those to what stands for MPI_IN_PLACE and its like.
func (a *memory) withoutConstants(pts *pointers) *pointers {
	others, ok := a.plain[pts]
	if !ok {
		all := &pointers{}
		for p := range a.places(pts) {
			if p.object != a.hidden["constants"] && !fortranConstant(p.object.name) {
				all.add(p)
			}
		}
		others = a.one(all)
		a.plain[pts] = others
	}
	return others
}

// fortranConstant reports whether a global variable, with its @, is one of those whose addresses stand for
// MPI_IN_PLACE, MPI_STATUS_IGNORE and their like in Fortran. They must be those of the library.
func fortranConstant(name string) bool {
	return strings.HasPrefix(name, "@mpipriv") || strings.HasPrefix(name, "@mpifcmb") ||
		strings.HasPrefix(name, "@mpi_fortran_")
}

// closure returns all that can be reached from places, but for the console, which keeps no address.
func (a *memory) closure(from *pointers) *pointers {
	others := &pointers{}
	for p := range a.places(from) {
		if !p.object.isConsole {
			others.add(p.object.all())
		}
	}
	all := a.one(others)
	for {
		more := a.newUnion()
		more.add(all)
		for p := range a.places(all) {
			for _, c := range p.object.cells {
				more.add(a.one(a.unbounded(c.pts)))
			}
		}
		before := all
		if all = a.one(&more.pointers); all == before {
			return all
		}
	}
}
