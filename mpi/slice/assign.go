package slice

// An assignment of arrays in Fortran is a call of Flang's library, with the descriptors of both: each begins with
// the address of the elements. If these are numbers, it writes those of the first, and its descriptor, as that may
// be allocated anew; of the second, it writes nothing.

// assigned returns the elements of both arrays of an assignment, and whether they are numbers only.
func (a *memory) assigned(i *instruction) (to, from *pointers, areNumbers bool) {
	first, second := a.pointsOf(i.block.of, i.operands[0]), a.pointsOf(i.block.of, i.operands[1])
	to = a.unbounded(a.load(first, 8)) // with memory that is new
	from = a.unbounded(a.load(second, 8))
	if !a.load(to, maxSize).isEmpty() || !a.load(from, maxSize).isEmpty() {
		return to, from, false
	}
	for p := range a.places(a.closure(a.join(first, second))) {
		a.depend(p.object)
		if f := p.object.function; f != nil || p.object == a.outside {
			return to, from, false // of a type that has assignments of its own
		}
	}
	return to, from, true
}

// assign adds what follows for pointers from an assignment.
func (a *memory) assign(i *instruction, e *effect) {
	if i.object == nil {
		i.object = a.newObject("memory of "+i.name, 0)
		i.object.made = i
	}
	if _, _, areNumbers := a.assigned(i); !areNumbers {
		a.confine(i, e)
		return
	}
	a.storeAll(a.pointsOf(i.block.of, i.operands[0]), 8, to(i.object.first()))
}

// accessAssigned adds what an assignment of numbers reads and writes, and reports whether it is one.
func (a *memory) accessAssigned(i *instruction, reads, writes *[]access,
	add func(*[]access, *pointers, int64, bool)) bool {
	to, from, areNumbers := a.assigned(i)
	if !areNumbers {
		return false
	}
	for k := range 2 {
		add(reads, a.pointsOf(i.block.of, i.operands[k]), maxSize, false)
	}
	add(writes, a.pointsOf(i.block.of, i.operands[0]), maxSize, false)
	add(reads, from, maxSize, false)
	add(writes, to, maxSize, false)
	return true
}
