package slice

import (
	"slices"
	"strings"
)

// A Source is a receive from any source that only one process can send to, as is proved: all calls that may
// send to it have a receiver that is the rank of the sender moved by what is the same for all processes, once
// for the whole run.
type Source struct {
	Position
	Function string   `json:"function"`
	Sender   Position `json:"sent_at"`   // the call that sends
	Receiver Position `json:"sent_to"`   // where the receiver is computed
	Tags     []int64  `json:"with_tags"` // of the receive
}

// Sources returns the receives from any source that only one process can send to.
func (s *Slice) Sources() []Source { return slices.Clone(s.sources) }

// An anySource is a receive from any source, with a tag that is known.
type anySource struct {
	i *instruction
	e *effect
}

// prove finds which process sends to the receives from any source. If it is not proved for one of them, all
// operations are executed for it.
func (s *slicer) prove() {
	if s.open != nil || len(s.anySources) == 0 {
		return
	}
	s.probing = true
	for _, r := range s.anySources {
		source, ok := s.onlySource(r.i, r.e)
		if !ok {
			s.sources = nil
			s.restart()
			s.executeAll(r.i, "what it returns depends on which messages come first")
			return
		}
		s.sources = append(s.sources, source)
	}
	s.restart()
	s.executed["messages"] = true
}

// restart notes that nothing is needed yet.
func (s *slicer) restart() {
	s.clear()
	clear(s.executed)
	s.probing = false
}

func (s *slicer) onlySource(i *instruction, e *effect) (Source, bool) {
	t := s.transfer(i, e, false)
	comm, ok := s.communicator(i, e)
	if !t.known || !ok {
		return Source{}, false
	}
	var to *instruction
	found := Source{Position: i.at(), Function: e.name, Tags: t.numbers}
	for _, from := range s.calls {
		for _, f := range from.effects {
			if f.mpi == nil || f.group == "" || !s.mayGive(from, f, i, e) {
				continue
			}
			other, ok := s.communicator(from, f)
			if !ok || other != comm || f.role.Persistent {
				return found, false
			}
			list, ok := s.origins(from, f, f.role.Sends.Peer)
			if !ok {
				return found, false
			}
			for _, o := range list {
				if o.v.isNumber && o.v.number < 0 { // to nobody
					continue
				}
				at, isInstruction := o.at.block.of.values[o.v.local].(*instruction)
				if !isInstruction || to != nil && at != to {
					return found, false
				}
				if to == nil && (s.order.precedes(at, at) || !s.isMoved(at, comm)) {
					return found, false
				}
				to, found.Sender, found.Receiver = at, from.at(), at.at()
			}
		}
	}
	return found, to != nil
}

// communicator returns what says which communicator a call uses, if that is a constant.
func (s *slicer) communicator(i *instruction, e *effect) (string, bool) {
	v, ok := e.ofParameter(i, "comm")
	if !ok {
		return "", false
	}
	if e.fortran {
		list, ok := s.numbers(i, e, "comm")
		if !ok || len(list) != 1 {
			return "", false
		}
		v = value{isNumber: true, number: list[0], text: "of Fortran"}
	}
	return v.text, v.isNumber || v.global != ""
}

// An origin is a value that another one may be, where it is used.
type origin struct {
	at *instruction
	v  value
}

// origins returns what an argument of a call of MPI may be, through variables and functions.
func (s *slicer) origins(i *instruction, e *effect, name string) (list []origin, ok bool) {
	v, ok := e.ofParameter(i, name)
	if !ok {
		return nil, false
	}
	seen := map[operand]bool{}
	if e.fortran {
		ok = s.stored(i, s.memory.pointsOf(i.block.of, v), 4, seen, &list)
	} else {
		ok = s.follows(i, v, seen, &list)
	}
	return list, ok && len(list) <= maxNumbers
}

// follows adds what a value may be, and reports whether that is known.
func (s *slicer) follows(i *instruction, v value, seen map[operand]bool, list *[]origin) bool {
	source, ok := i.block.of.values[v.local]
	if !ok {
		*list = append(*list, origin{i, v})
		return v.isNumber
	}
	if seen[source] {
		return true
	}
	seen[source] = true
	all := func(at *instruction, values []value) bool {
		return !slices.ContainsFunc(values, func(v value) bool { return !s.follows(at, v, seen, list) })
	}
	switch source := source.(type) {
	case *param:
		f := source.of
		return !f.whole && !f.early && len(f.callers) > 0 &&
			!slices.ContainsFunc(f.callers, func(call *instruction) bool {
				return source.number >= len(call.operands) || !all(call, call.operands[source.number:source.number+1])
			})
	case *instruction:
		switch source.op {
		case "phi", "sext", "zext", "trunc", "freeze":
			return all(source, source.operands)
		case "select":
			return all(source, source.operands[1:])
		case "load":
			return s.stored(source, s.memory.pointsOf(source.block.of, source.operands[0]),
				source.typ.bytes(), seen, list)
		}
		*list = append(*list, origin{source, value{local: source.name}})
	}
	return true
}

// stored adds what an instruction may read from memory.
func (s *slicer) stored(reader *instruction, pts *pointers, size int64, seen map[operand]bool, list *[]origin) bool {
	for p := range s.memory.places(pts) {
		b := p.bytes(size)
		begins := false // the value that it begins with cannot be read
		for _, w := range p.object.writes {
			if !w.overlap(b) {
				continue
			}
			for _, by := range w.by {
				begins = begins || by.isAlways() && !s.order.precedes(reader, by)
				switch {
				case by.op == "store":
					if !s.follows(by, by.operands[0], seen, list) {
						return false
					}
				case slices.ContainsFunc(by.effects, func(e *effect) bool {
					return e.name == "MPI_Comm_rank" || e.name == "MPI_Comm_size"
				}):
					*list = append(*list, origin{by, value{local: by.name}})
				default:
					return false
				}
			}
		}
		if begins || p.object.made != nil && p.object.made.op == "alloca" {
			continue // reading it before is an error of the program
		}
		g, ok := s.m.named[p.object.name].(*global)
		if !ok || g.external || len(g.init) == 0 || !g.init[len(g.init)-1].isNumber {
			return false
		}
		*list = append(*list, origin{reader, g.init[len(g.init)-1]})
	}
	return !pts.isEmpty()
}

// isAlways reports whether an instruction runs in each run of the program.
func (i *instruction) isAlways() bool {
	for range maxDepth {
		f := i.block.of
		if len(i.block.controls) > 0 {
			return false
		}
		if f.name == "@main" || f.name == "@_QQmain" {
			return true
		}
		if len(f.callers) == 0 {
			return false
		}
		i = f.callers[0]
	}
	return false
}

// isMoved reports whether what an instruction computes is different for each process: its rank and something
// that is the same for all, added, subtracted or combined bit by bit, perhaps modulo the number of processes.
func (s *slicer) isMoved(i *instruction, comm string) bool {
	if (i.op == "srem" || i.op == "urem") && len(i.operands) == 2 {
		of, ok := i.block.of.values[i.operands[0].local].(*instruction)
		return ok && s.is(i, i.operands[1], "MPI_Comm_size", comm) && of.op != "xor" && s.isMoved(of, comm)
	}
	if len(i.operands) != 2 || i.op != "add" && i.op != "sub" && i.op != "xor" {
		return s.is(i, value{local: i.name}, "MPI_Comm_rank", comm)
	}
	first, second := i.operands[0], i.operands[1]
	if i.op != "sub" && s.isUniform(i, first) {
		first, second = second, first
	}
	if !s.isUniform(i, second) {
		return false
	}
	if s.is(i, first, "MPI_Comm_rank", comm) {
		return true
	}
	of, ok := i.block.of.values[first.local].(*instruction)
	return ok && (of.op == "add" || of.op == "sub") && i.op != "xor" && s.isMoved(of, comm)
}

// is reports whether a value is what a function of MPI says of a communicator.
func (s *slicer) is(i *instruction, v value, function, comm string) bool {
	var list []origin
	if !s.follows(i, v, map[operand]bool{}, &list) || len(list) == 0 {
		return false
	}
	return !slices.ContainsFunc(list, func(o origin) bool {
		return !slices.ContainsFunc(o.at.effects, func(e *effect) bool {
			of, ok := s.communicator(o.at, e)
			return e.name == function && ok && of == comm
		})
	})
}

// isUniform reports whether a value is the same for all processes: it depends on constants and on the number
// of processes only.
func (s *slicer) isUniform(i *instruction, v value) bool {
	if v.local == "" {
		return v.isNumber
	}
	s.clear()
	s.needHere(i, v, map[*instruction]bool{})
	s.drain()
	for _, f := range s.memory.reached {
		if slices.ContainsFunc(f.params, func(p *param) bool { return p.needed && (f.whole || len(f.callers) == 0) }) {
			return false
		}
		for _, b := range f.blocks {
			for _, i := range b.instructions {
				if i.kept && i.op == "call" && slices.ContainsFunc(i.effects, func(e *effect) bool {
					return !e.isUniform()
				}) {
					return false
				}
			}
		}
	}
	return true
}

// needHere notes that a value is needed where it is computed, whatever decides whether it is.
func (s *slicer) needHere(i *instruction, v value, seen map[*instruction]bool) {
	source, ok := i.block.of.values[v.local].(*instruction)
	if !ok || source.op == "phi" || source.op == "call" {
		s.needValue(i, v, "")
		return
	}
	if seen[source] {
		return
	}
	seen[source] = true
	for _, v := range source.operands {
		s.needHere(source, v, seen)
	}
	if source.op == "load" {
		reads, _ := s.memory.accesses(source)
		s.needReads(source, reads)
	}
}

// isUniform reports whether a function returns the same for the same arguments in all processes.
func (e *effect) isUniform() bool {
	return e.name == "MPI_Comm_size" || e.mpi == nil && len(e.hidden) == 0 && e.result == valueResult && !e.unknown &&
		!e.ends && (strings.HasPrefix(e.name, "llvm.") || strings.Trim(e.arguments, "-") == "" && !varies[e.name])
}

// varies has functions of values that are not the same in all processes.
var varies = map[string]bool{"getpid": true, "getppid": true, "clock": true, "sysconf": true, "usleep": true,
	"sleep": true}
