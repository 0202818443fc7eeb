package slice

import (
	"regexp"
	"slices"
)

// maxNumbers is how many numbers an argument may be for which they are told apart.
const maxNumbers = 16

// ofParameter returns an argument of a call of MPI by the name of the parameter.
func (e *effect) ofParameter(i *instruction, name string) (v value, ok bool) {
	if name == "" {
		return v, false
	}
	for k, p := range e.mpi.Declared() {
		if p.Name == name && k < len(i.operands) {
			return i.operands[k], true
		}
	}
	return v, false
}

// numbers returns the numbers that an argument of a call of MPI may be, if they are constants of the program.
func (s *slicer) numbers(i *instruction, e *effect, name string) (list []int64, ok bool) {
	v, ok := e.ofParameter(i, name)
	if !ok {
		return nil, false
	}
	if !e.fortran {
		ok = s.constants(i, v, map[operand]bool{}, &list)
		return list, ok && len(list) <= maxNumbers
	}
	for p := range s.memory.places(s.memory.pointsOf(i.block.of, v)) {
		b := p.bytes(4)
		if g, ok := s.m.named[p.object.name].(*global); ok {
			begins := g.init[len(g.init)-1:]
			if g.external || len(begins) == 0 || !begins[0].isNumber || b.lo != 0 {
				return nil, false
			}
			list = append(list, begins[0].number)
		}
		for _, w := range p.object.writes {
			if !w.overlap(b) {
				continue
			}
			for _, by := range w.by {
				if by.op != "store" || !s.constants(by, by.operands[0], map[operand]bool{}, &list) {
					return nil, false
				}
			}
		}
	}
	return list, len(list) > 0 && len(list) <= maxNumbers
}

// constants adds the numbers that a value may be, and reports whether all of them are constants.
func (s *slicer) constants(i *instruction, v value, seen map[operand]bool, list *[]int64) bool {
	if v.isNumber {
		if !slices.Contains(*list, v.number) {
			*list = append(*list, v.number)
		}
		return true
	}
	source, ok := i.block.of.values[v.local]
	if !ok || len(*list) > maxNumbers {
		return false
	}
	if seen[source] {
		return true
	}
	seen[source] = true
	all := func(at *instruction, values []value) bool {
		return !slices.ContainsFunc(values, func(v value) bool { return !s.constants(at, v, seen, list) })
	}
	switch source := source.(type) {
	case *param:
		if source.of.whole || source.of.early || len(source.of.callers) == 0 {
			return false
		}
		return !slices.ContainsFunc(source.of.callers, func(call *instruction) bool {
			return source.number >= len(call.operands) || !all(call, call.operands[source.number:source.number+1])
		})
	case *instruction:
		switch source.op {
		case "phi":
			return all(source, source.operands)
		case "select":
			return all(source, source.operands[1:])
		}
	}
	return false
}

// The kinds of numbers that datatypes are of, by the names of variables of Open MPI and the numbers of MPICH.
// Those of different kinds are in no message together.
var kinds = map[string]string{
	"@ompi_mpi_double": "double", "@ompi_mpi_float": "float", "@ompi_mpi_int": "integer", "@ompi_mpi_long": "integer",
	"@ompi_mpi_unsigned": "integer", "@ompi_mpi_unsigned_long": "integer", "@ompi_mpi_long_long_int": "integer",
	"@ompi_mpi_short": "integer", "@ompi_mpi_int32_t": "integer", "@ompi_mpi_int64_t": "integer",
}

var kindsOfMPICH = map[int64]string{
	0x4c00080b: "double", 0x4c00040a: "float", 0x4c000405: "integer", 0x4c000807: "integer", 0x4c000406: "integer",
	0x4c000808: "integer", 0x4c000809: "integer", 0x4c000203: "integer", 0x4c00081f: "double", 0x4c00041c: "float",
	0x4c00041b: "integer",
}

// kind returns the kind of the numbers that a call sends or receives, empty if it is not known.
func (s *slicer) kind(i *instruction, e *effect, name string) string {
	v, ok := e.ofParameter(i, name)
	if !ok {
		return ""
	}
	if v.global != "" && !e.fortran {
		return kinds[v.global]
	}
	list, ok := s.numbers(i, e, name)
	if !ok {
		return ""
	}
	of := ""
	for _, n := range list {
		kind := kindsOfMPICH[n]
		if kind == "" || of != "" && of != kind {
			return ""
		}
		of = kind
	}
	return of
}

// A transfer is what is known of the messages that a call sends or receives, or of a collective operation.
type transfer struct {
	numbers []int64 // tags, or roots
	known   bool    // all of them are
	tags    bound   // of messages
	kind    string
}

func (s *slicer) transfer(i *instruction, e *effect, sends bool) transfer {
	key := transferKey{i, e, sends}
	if t, ok := s.transfers[key]; ok {
		return t
	}
	t := transfer{tags: anyNumber()}
	switch role := e.role; {
	case e.group != "messages":
		t.numbers, t.known = s.numbers(i, e, "root")
		if t.kind = s.kind(i, e, "datatype"); t.kind == "" {
			// of two, one may not matter, as with MPI_IN_PLACE
			if of := s.kind(i, e, "sendtype"); of == s.kind(i, e, "recvtype") {
				t.kind = of
			}
		}
	case sends:
		t.numbers, t.known = s.numbers(i, e, role.Sends.Tag)
		t.tags = s.tags(i, e, role.Sends.Tag)
		t.kind = s.kind(i, e, role.Sends.Type)
	default:
		t.numbers, t.known = s.numbers(i, e, role.Receives.Tag)
		t.tags = s.tags(i, e, role.Receives.Tag)
		t.kind = s.kind(i, e, role.Receives.Type)
	}
	// a root below 0 is one of two groups
	t.known = t.known && !slices.ContainsFunc(t.numbers, func(n int64) bool { return n < 0 })
	t.known = t.known && s.options.Wildcards && !slices.Contains(t.numbers, s.options.AnyTag)
	s.transfers[key] = t
	return t
}

// tags returns the tags that a call in C may give, any number if one may be a wildcard.
func (s *slicer) tags(i *instruction, e *effect, name string) bound {
	v, ok := e.ofParameter(i, name)
	if !ok || e.fortran || !s.options.Wildcards {
		return anyNumber()
	}
	b := s.bounds(i, v, map[operand]bool{})
	if b.least <= s.options.AnyTag && s.options.AnyTag <= b.most {
		return anyNumber()
	}
	return b
}

type transferKey struct {
	i     *instruction
	e     *effect
	sends bool
}

// mayGive reports whether what a call sends may be what another one receives.
func (s *slicer) mayGive(from *instruction, sent *effect, to *instruction, got *effect) bool {
	if sent.group != got.group {
		return false
	}
	if sent.group == "messages" {
		if sent.role.Sends == nil {
			return false
		}
		if got.role.Receives == nil || got.role.Receives.Tag == "" {
			return true
		}
	}
	a, b := s.transfer(from, sent, true), s.transfer(to, got, false)
	if a.kind != "" && b.kind != "" && a.kind != b.kind {
		return false
	}
	if a.tags.and(b.tags).isNone() {
		return false
	}
	return !a.known || !b.known || slices.ContainsFunc(a.numbers, func(n int64) bool {
		return slices.Contains(b.numbers, n)
	})
}

// needData notes that what a call receives is needed: what all calls send that it may receive.
func (s *slicer) needData(e *effect, i, reader *instruction) {
	if e.group == "" || s.got[i] {
		return
	}
	if s.trial != nil {
		s.trial.costs = true
		return
	}
	s.got[i], s.executed[e.group] = true, true
	if s.readers[e.group] == nil {
		s.readers[e.group] = &Needed{e.group, i.at(), reader.at()}
	}
	for _, from := range s.calls {
		if !s.sent[from] && slices.ContainsFunc(from.effects, func(f *effect) bool {
			return f.mpi != nil && f.group != "" && s.mayGive(from, f, i, e)
		}) {
			s.sent[from] = true
			reads, _ := s.memory.accesses(from)
			s.needReads(from, reads)
		}
	}
}

// isExcluded reports whether a condition before a call says that a value is not a number.
func isExcluded(i *instruction, v value, number int64) bool {
	if v.local == "" {
		return false
	}
	b := i.block
	for range i.block.of.blocks {
		if len(b.pred) != 1 {
			break
		}
		name := b.name
		b = b.pred[0]
		end := b.last()
		if end.op != "br" || len(end.operands) != 1 || len(end.labels) != 2 || end.labels[0] == end.labels[1] {
			continue
		}
		test, ok := i.block.of.values[end.operands[0].local].(*instruction)
		if !ok || test.op != "icmp" || test.operands[0].local != v.local || !test.operands[1].isNumber {
			continue
		}
		holds, known := compare(test.text, number, test.operands[1].number)
		if known && holds != (end.labels[0] == name) {
			return true
		}
	}
	return false
}

var comparison = regexp.MustCompile(` = icmp (\w+) `)

// compare returns whether a comparison of signed numbers in the text of an instruction holds, and whether that
// is known.
func compare(text string, a, b int64) (holds, known bool) {
	found := comparison.FindStringSubmatch(text)
	if found == nil {
		return false, false
	}
	switch found[1] {
	case "eq":
		return a == b, true
	case "ne":
		return a != b, true
	case "slt":
		return a < b, true
	case "sle":
		return a <= b, true
	case "sgt":
		return a > b, true
	case "sge":
		return a >= b, true
	}
	return false, false
}
