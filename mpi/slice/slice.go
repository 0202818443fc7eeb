package slice

import (
	"maps"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/need"
)

// Options configures [Cut]. The zero Options is the default configuration.
type Options struct {
	// AnySource and AnyTag are the values of MPI_ANY_SOURCE and MPI_ANY_TAG, if Wildcards is set.
	// Otherwise all receives may be from any source.
	AnySource, AnyTag int64
	Wildcards         bool

	// OwnAllocators is set if containers of the library of C++ may have their elements in memory of the program's.
	// Otherwise each element is an allocation.
	OwnAllocators bool

	// ExecuteAll executes all operations, as if one of them depended on which messages come first.
	ExecuteAll bool
}

// A Slice is what is needed of a module.
type Slice struct {
	m        *Module
	memory   *memory
	executed map[string]bool // groups of operations
	readers  map[string]*Needed
	open     *instruction   // a call for which all operations are executed, nil if there is none
	openFor  string         // why
	calls    []*instruction // of MPI
	sources  []Source
}

// A reason is why an instruction is needed.
type reason struct {
	by  *instruction
	how string
}

// A slicer finds what is needed.
type slicer struct {
	*Slice
	options    Options
	order      *order
	queue      []*instruction
	got        map[*instruction]bool // calls of which what they receive is needed
	sent       map[*instruction]bool // calls of which what they send is needed
	transfers  map[transferKey]transfer
	read       map[readKey]bool
	written    map[access]*writers
	before     map[access][]written
	searches   int                  // for what is before
	parts      map[*instruction]int // of copies, how many are needed
	frees      []*instruction
	roots      []*instruction            // needed in any case
	probes     map[string][]*instruction // by number
	anySources []anySource
	probing    bool   // what is needed is found several times
	trial      *trial // of what may not be needed, nil if there is none
}

// Cut finds what is needed of a module, which must not be used for anything else. An error is an
// *Error that names what is not supported.
func Cut(m *Module, o Options) (*Slice, error) {
	s, err := newSlicer(m, o)
	if err != nil {
		return nil, err
	}
	s.note()
	s.prove()
	s.begin()
	for s.drain(); s.keepFrees(); s.drain() {
	}
	return s.Slice, nil
}

// newSlicer analyzes a module.
func newSlicer(m *Module, o Options) (*slicer, error) {
	need.That(m != nil && !m.cut, "slice: no module, or one that was cut")
	m.cut = true
	main, ok := m.named["@main"].(*function)
	if !ok || len(main.blocks) == 0 {
		main, ok = m.named["@_QQmain"].(*function) // of Fortran
	}
	if !ok || len(main.blocks) == 0 {
		return nil, &Error{What: "the program has no main: all of its sources must be given"}
	}
	for _, f := range m.defined() {
		f.control()
		for _, b := range f.blocks {
			for _, i := range b.instructions {
				if i.op == "call" {
					f.calls = append(f.calls, i)
				}
			}
		}
	}
	a, err := m.analyze(main, o.OwnAllocators)
	if err != nil {
		return nil, err
	}
	return &slicer{
		Slice: &Slice{m: m, memory: a, executed: map[string]bool{}, readers: map[string]*Needed{}}, options: o,
		order: newOrder(a), got: map[*instruction]bool{}, sent: map[*instruction]bool{},
		transfers: map[transferKey]transfer{}, read: map[readKey]bool{}, written: map[access]*writers{},
		before: map[access][]written{}, probes: map[string][]*instruction{}, parts: map[*instruction]int{},
	}, nil
}

// note notes what writes, and what is needed in any case.
func (s *slicer) note() {
	for _, f := range s.memory.reached {
		for _, b := range f.blocks {
			for _, i := range b.instructions {
				i.effects = s.effectsOf(i)
				_, writes := s.memory.accesses(i)
				for _, w := range writes {
					s.noteWrite(w, i)
				}
				for _, e := range i.effects {
					if e.mpi != nil {
						s.calls = append(s.calls, i)
					}
					if e.kept {
						s.roots = append(s.roots, i)
					}
					if number, ok := strings.CutPrefix(e.name, probe); ok {
						s.probes[number] = append(s.probes[number], i)
					}
					if e.frees {
						s.frees = append(s.frees, i)
					}
				}
			}
		}
	}
	for _, i := range s.calls { // when all that writes is known
		for _, e := range i.effects {
			if e.mpi != nil {
				s.classify(i, e)
			}
		}
	}
}

// begin notes what is needed in any case.
func (s *slicer) begin() {
	for _, i := range s.roots {
		if slices.ContainsFunc(i.effects, (*effect).communicates) {
			s.executeAll(i, "it may be one that communicates")
		}
	}
	if s.options.ExecuteAll && s.open == nil && len(s.calls) > 0 {
		s.executeAll(s.calls[0], "it is asked for")
	}
	for _, f := range s.memory.reached {
		if f.early {
			s.needWhole(f, nil, "runs before the program or after it")
		}
	}
	for _, i := range s.roots {
		how := "ends the program"
		for _, e := range i.effects {
			switch {
			case e.mpi != nil:
				how = "is a call of MPI"
			case e.unknown:
				how = "is a call of a function that is not known"
			}
		}
		s.need(i, nil, how)
		s.needCalls(i.block.of, i)
	}
	if s.memory.callbacks {
		for _, i := range s.calls {
			for _, e := range i.effects {
				s.needData(e, i, i)
			}
		}
	}
}

// effectsOf returns the effects of the functions that are not of the module and that a call may be of.
func (s *slicer) effectsOf(i *instruction) []*effect {
	if i.op != "call" {
		return nil
	}
	var list []*effect
	for p := range s.memory.places(s.memory.pointsOf(i.block.of, i.callee)) {
		switch target := p.object.function; {
		case target != nil && len(target.blocks) == 0:
			e, _ := effectOfName(target.name, i)
			list = append(list, e)
		case target == nil:
			if e := s.memory.codeIn(p.object); e != nil {
				list = append(list, e)
			}
		}
	}
	return list
}

// classify notes a call that depends on which messages come first, or receives from any source.
func (s *slicer) classify(i *instruction, e *effect) {
	if e.open {
		s.executeAll(i, "what it returns depends on which messages come first")
	}
	if e.role.Receives == nil {
		return
	}
	may := func(name string, wildcard int64) bool {
		v, ok := e.ofParameter(i, name)
		if !ok || !e.fortran || !s.options.Wildcards {
			return ok && !isExcluded(i, v, wildcard) && s.mayBe(i, v, wildcard, map[operand]bool{})
		}
		return s.mayHold(i, v, wildcard)
	}
	switch {
	case may(e.role.Receives.Tag, s.options.AnyTag):
		s.executeAll(i, "what it returns depends on which messages come first")
	case may(e.role.Receives.Peer, s.options.AnySource):
		s.anySources = append(s.anySources, anySource{i, e})
	}
}

// executeAll notes that all operations are executed for a call.
func (s *slicer) executeAll(i *instruction, why string) {
	switch {
	case s.open != nil:
		return
	case s.trial != nil:
		s.trial.costs = true
		return
	}
	s.open, s.openFor = i, why
	for _, i := range s.calls {
		for _, e := range i.effects {
			if e.group != "" {
				s.executed[e.group] = true
			}
		}
	}
}

// mayBe reports whether a value is written in the program to be a wildcard, also where it comes from another
// function. One that is computed may turn out to be one: the library that stands in for MPI ends the program
// then.
func (s *slicer) mayBe(i *instruction, v value, wildcard int64, seen map[operand]bool) bool {
	if !s.options.Wildcards || v.isNumber {
		return !s.options.Wildcards || v.number == wildcard
	}
	source, ok := i.block.of.values[v.local]
	if !ok || seen[source] {
		return false
	}
	seen[source] = true
	among := func(at *instruction, list []value) bool {
		return slices.ContainsFunc(list, func(v value) bool { return s.mayBe(at, v, wildcard, seen) })
	}
	switch source := source.(type) {
	case *param:
		return slices.ContainsFunc(source.of.callers, func(call *instruction) bool {
			return source.number < len(call.operands) && among(call, call.operands[source.number:source.number+1])
		})
	case *instruction:
		if source.op == "phi" || source.op == "select" {
			return among(source, source.operands)
		}
		for _, f := range source.targets {
			for _, b := range f.blocks {
				if end := b.last(); end.op == "ret" && among(end, end.operands) {
					return true
				}
			}
		}
	}
	return false
}

// mayHold reports whether the program stores a wildcard where an argument of Fortran is.
func (s *slicer) mayHold(i *instruction, v value, wildcard int64) bool {
	for p := range s.memory.places(s.memory.pointsOf(i.block.of, v)) {
		b := p.bytes(4)
		for _, w := range p.object.writes {
			if w.overlap(b) && slices.ContainsFunc(w.by, func(i *instruction) bool {
				return i.op == "store" && s.mayBe(i, i.operands[0], wildcard, map[operand]bool{})
			}) {
				return true
			}
		}
	}
	return false
}

// need notes that an instruction is needed.
func (s *slicer) need(i *instruction, by *instruction, how string) {
	if !i.kept {
		s.set(&i.kept)
		i.why = &reason{by, how}
		s.queue = append(s.queue, i)
		if s.trial != nil && s.addsData(i) {
			s.trial.costs = true
		}
	}
}

func (s *slicer) drain() {
	for len(s.queue) > 0 {
		i := s.queue[0]
		s.queue = s.queue[1:]
		s.follow(i)
	}
}

// follow notes what an instruction needs that is needed itself.
func (s *slicer) follow(i *instruction) {
	for _, b := range i.block.controls {
		s.need(b.last(), i, "decides whether it runs")
	}
	switch i.op {
	case "call":
		s.followCall(i)
		return
	case "ret":
		if i.block.of.resultUsed || i.block.of.whole {
			s.needOperands(i)
		}
		return
	case "phi":
		for _, name := range i.labels {
			from := slices.IndexFunc(i.block.pred, func(b *block) bool { return b.name == name })
			if from < 0 {
				continue
			}
			b := i.block.pred[from]
			if len(b.succ) > 1 {
				s.need(b.last(), i, "decides which value it has")
			}
			for _, c := range b.controls {
				s.need(c.last(), i, "decides which value it has")
			}
		}
	case "store":
		s.needCalls(i.block.of, i)
	}
	s.needOperands(i)
	if reads, _ := s.memory.accesses(i); i.op == "load" {
		s.needReads(i, reads)
	}
}

// followCall notes what a call needs.
func (s *slicer) followCall(i *instruction) {
	s.needValue(i, i.callee, "is the function that is called")
	for _, f := range i.targets {
		if f.whole {
			s.needWhole(f, i, "may call it")
		}
		if f.needed {
			s.needCalls(i.block.of, i)
		}
		for _, p := range f.params {
			if p.needed || f.whole || p.object != nil {
				s.needArgument(i, p)
			}
		}
	}
	for _, f := range i.targets {
		if f.restNeeded {
			s.needRest(i, f)
		}
	}
	for _, e := range i.effects {
		if e.chain {
			for _, part := range i.block.of.calls {
				if slices.ContainsFunc(part.operands, func(v value) bool { return v.local == i.name }) {
					s.need(part, i, "is a part of its statement")
				}
			}
		}
		if f := i.block.of; e.name == "llvm.va_start" && !f.restNeeded {
			s.set(&f.restNeeded)
			for _, c := range f.callers {
				if c.kept {
					s.needRest(c, f)
				}
			}
		}
		for _, v := range i.operands {
			s.needValue(i, v, "is an argument")
		}
		if e.unknown || e.mpi != nil && s.memory.callbacks {
			for _, f := range s.memory.reached {
				if f.whole {
					s.needWhole(f, i, "may call it")
				}
			}
		}
	}
	if len(i.effects) == 0 {
		return
	}
	reads, writes := s.memory.accesses(i)
	if len(writes) > 0 {
		s.needCalls(i.block.of, i)
	}
	for _, r := range reads {
		if (!r.data || s.sent[i]) && !i.isCopy() {
			s.needReads(i, []access{r})
		}
	}
}

// needRest notes that the arguments of a call are needed that have no parameter.
func (s *slicer) needRest(i *instruction, f *function) {
	for _, v := range i.operands[min(len(f.params), len(i.operands)):] {
		s.needValue(i, v, "is an argument")
		if v.byval {
			reads, _ := s.memory.accesses(i)
			s.needReads(i, reads)
		}
	}
}

// needWhole notes that a function may be called by others: all of it is needed.
func (s *slicer) needWhole(f *function, by *instruction, how string) {
	for _, b := range f.blocks {
		for _, i := range b.instructions {
			s.need(i, by, how)
		}
	}
	if !f.resultUsed {
		s.set(&f.resultUsed)
	}
}

// needOperands notes that all operands are needed.
func (s *slicer) needOperands(i *instruction) {
	for _, v := range i.operands {
		s.needValue(i, v, "uses it")
	}
}

// needValue notes that a value is needed.
func (s *slicer) needValue(by *instruction, v value, how string) {
	if v.local == "" {
		return
	}
	switch from := by.block.of.values[v.local].(type) {
	case *param:
		s.needParam(from)
	case *instruction:
		s.need(from, by, how)
		for _, f := range from.targets {
			if f.resultUsed {
				continue
			}
			s.set(&f.resultUsed)
			for _, b := range f.blocks {
				if i := b.last(); i.op == "ret" {
					s.need(i, from, "returns its result")
					s.needOperands(i)
				}
			}
		}
	}
}

// needParam notes that a parameter is needed, and so the arguments of the calls that are.
func (s *slicer) needParam(p *param) {
	if p.needed {
		return
	}
	s.set(&p.needed)
	for _, i := range p.of.callers {
		if i.kept {
			s.needArgument(i, p)
		}
	}
}

// needArgument notes that the argument of a call is needed that a parameter stands for.
func (s *slicer) needArgument(i *instruction, p *param) {
	if p.number >= len(i.operands) {
		return
	}
	s.needValue(i, i.operands[p.number], "is an argument")
	if p.object != nil {
		reads, _ := s.memory.accesses(i)
		s.needReads(i, reads)
	}
}

// needCalls notes that a function is needed for what it does, and so all calls of it.
func (s *slicer) needCalls(f *function, by *instruction) {
	if f.needed {
		return
	}
	s.set(&f.needed)
	for _, i := range f.callers {
		if s.memory.seen[i.block.of] {
			s.need(i, by, "is in a function that it calls")
			s.needCalls(i.block.of, i)
		}
	}
}

// keepFrees notes that memory is freed that is allocated, and reports whether there was any.
func (s *slicer) keepFrees() (found bool) {
	for _, i := range s.frees {
		if len(i.operands) == 0 {
			continue
		}
		for p := range s.memory.places(s.memory.pointsOf(i.block.of, i.operands[0])) {
			made := p.object.made // it is freed where it begins
			if made != nil && made.op == "call" && made.kept && !i.kept && p.contain(at(0)) {
				s.need(i, made, "allocates what it frees")
				s.needCalls(i.block.of, i)
				found = true
			}
		}
	}
	return found
}

// A Needed is a group of operations of which the data is needed: Reader reads what a call at Call received.
type Needed struct {
	Group  string   `json:"operation"`
	Call   Position `json:"received_at"`
	Reader Position `json:"read_at"`
}

// Needed returns the groups of operations of which the data is needed, in the order of their names.
func (s *Slice) Needed() []Needed {
	var list []Needed
	for _, group := range slices.Sorted(maps.Keys(s.readers)) {
		list = append(list, *s.readers[group])
	}
	return list
}

// executedGroups returns the groups of operations that are executed: "messages" for those between two
// processes, and the names of collective operations on data, such as Allreduce.
func (s *Slice) executedGroups() []string { return slices.Sorted(maps.Keys(s.executed)) }
