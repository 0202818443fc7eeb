package slice

import (
	"slices"
	"strings"
)

// An instructionReader reads what stands behind the opcode of an instruction.
type instructionReader func(c *cursor, i *instruction)

// instructionReaders has those of all instructions that are supported, by opcode.
var instructionReaders = readersOf(map[string]instructionReader{
	"call":           (*cursor).call,
	"alloca":         (*cursor).alloca,
	"load":           (*cursor).load,
	"store":          (*cursor).store,
	"getelementptr":  (*cursor).address,
	"phi":            (*cursor).phi,
	"br":             (*cursor).branch,
	"switch":         (*cursor).cases,
	"ret":            (*cursor).result,
	"unreachable":    func(*cursor, *instruction) {},
	"icmp fcmp":      (*cursor).comparison,
	"select":         (*cursor).choice,
	"shufflevector":  (*cursor).choice,
	"extractelement": (*cursor).extractElement,
	"insertelement":  (*cursor).insertElement,
	"extractvalue":   (*cursor).extractValue,
	"insertvalue":    (*cursor).insertValue,
	"freeze fneg":    (*cursor).unary,
	"add sub mul udiv sdiv urem srem shl lshr ashr and or xor fadd fsub fmul fdiv frem":   (*cursor).binary,
	"trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint inttoptr bitcast": (*cursor).conversion,
})

// readersOf returns readers by each of the opcodes in a key.
func readersOf(list map[string]instructionReader) map[string]instructionReader {
	readers := make(map[string]instructionReader)
	for opcodes, read := range list {
		for _, opcode := range strings.Fields(opcodes) {
			readers[opcode] = read
		}
	}
	return readers
}

// qualifiers may stand behind an opcode.
var qualifiers = strings.Fields("nuw nsw exact nnan ninf nsz arcp contract afn reassoc fast inbounds")

// instruction reads an instruction behind what it names.
func (c *cursor) instruction(i *instruction) {
	i.op = c.word()
	for i.op == "tail" || i.op == "musttail" || i.op == "notail" {
		i.op = c.word()
	}
	read := instructionReaders[i.op]
	if read == nil {
		c.failf("the instruction %s is not supported", i.op)
		return
	}
	read(c, i)
}

func (c *cursor) alloca(i *instruction) {
	i.element = c.typ()
	i.typ = c.m.simpleType("ptr")
	if c.take(",") && c.next() != '!' && !c.takeWord("align") {
		c.operand(i)
	}
}

func (c *cursor) load(i *instruction) {
	c.ordinary(i)
	i.typ = c.typ()
	c.want(",")
	c.operand(i)
}

func (c *cursor) store(i *instruction) {
	c.ordinary(i)
	i.element = c.operand(i)
	c.want(",")
	c.operand(i)
}

func (c *cursor) address(i *instruction) {
	c.qualifiers()
	i.element = c.typ()
	i.typ = c.m.simpleType("ptr")
	for c.take(",") && c.next() != '!' {
		if c.operand(i).kind == vectorType {
			c.failf("vectors of addresses are not supported")
		}
	}
	if len(i.operands) == 0 {
		c.failf("getelementptr has no address")
	}
}

func (c *cursor) phi(i *instruction) {
	c.qualifiers()
	i.typ = c.typ()
	for c.take("[") {
		i.operands = append(i.operands, c.value(i.typ))
		c.want(",")
		i.labels = append(i.labels, c.name("%"))
		c.want("]")
		c.take(",")
	}
}

func (c *cursor) branch(i *instruction) {
	if c.peek() != "label" {
		c.operand(i)
		c.want(",")
		c.label(i)
		c.want(",")
	}
	c.label(i)
}

func (c *cursor) cases(i *instruction) {
	c.operand(i)
	c.want(",")
	c.label(i)
	c.want("[")
	for c.err == nil && !c.take("]") {
		c.value(c.typ())
		c.want(",")
		c.label(i)
	}
}

func (c *cursor) result(i *instruction) {
	if !c.takeWord("void") {
		c.operand(i)
	}
}

func (c *cursor) comparison(i *instruction) {
	c.qualifiers()
	c.word()
	t := c.pair(i)
	i.typ = c.m.simpleType("i1")
	if t.kind == vectorType {
		i.typ = &irType{kind: vectorType, length: t.length, elem: i.typ}
	}
}

// choice reads operands with their types. The result has the type of the last.
func (c *cursor) choice(i *instruction) {
	c.qualifiers()
	c.operand(i)
	for c.take(",") && c.next() != '!' {
		i.typ = c.operand(i)
	}
	if len(i.operands) < 2 {
		c.failf("%s has too few operands", i.op)
	}
}

func (c *cursor) extractElement(i *instruction) {
	if c.choice(i); c.err != nil {
		return
	}
	if i.typ = i.operands[0].typ.elem; i.typ == nil {
		c.failf("extractelement takes a vector")
	}
}

func (c *cursor) insertElement(i *instruction) {
	if c.choice(i); c.err == nil {
		i.typ = i.operands[0].typ
	}
}

func (c *cursor) extractValue(i *instruction) {
	i.typ = c.operand(i)
	for c.take(",") && c.next() != '!' {
		t, n := i.typ.resolved(), c.number()
		switch {
		case t.kind == arrayType:
			i.typ = t.elem
		case t.kind == structType && n >= 0 && n < int64(len(t.fields)):
			i.typ = t.fields[n]
		default:
			c.failf("extractvalue takes a part that is not there")
			return
		}
	}
}

func (c *cursor) insertValue(i *instruction) {
	i.typ = c.operand(i)
	c.want(",")
	c.operand(i)
}

func (c *cursor) unary(i *instruction) {
	c.qualifiers()
	i.typ = c.operand(i)
}

func (c *cursor) binary(i *instruction) {
	c.qualifiers()
	i.typ = c.pair(i)
}

func (c *cursor) conversion(i *instruction) {
	c.operand(i)
	if !c.takeWord("to") {
		c.failf("to is expected at %q", c.rest())
	}
	i.typ = c.typ()
}

// operand reads a type and a value, and returns the type.
func (c *cursor) operand(i *instruction) *irType {
	t := c.typ()
	i.operands = append(i.operands, c.value(t))
	return t
}

// pair reads a type and two values.
func (c *cursor) pair(i *instruction) *irType {
	t := c.operand(i)
	c.want(",")
	i.operands = append(i.operands, c.value(t))
	return t
}

func (c *cursor) label(i *instruction) {
	if !c.takeWord("label") {
		c.failf("label is expected at %q", c.rest())
	}
	i.labels = append(i.labels, c.name("%"))
}

func (c *cursor) qualifiers() {
	for slices.Contains(qualifiers, c.peek()) && c.err == nil {
		c.word()
	}
}

// ordinary takes volatile, and refuses accesses that are atomic.
func (c *cursor) ordinary(i *instruction) {
	c.takeWord("volatile")
	if c.takeWord("atomic") {
		c.failf("atomic operations are not supported")
	}
}

// call reads a call behind its first words.
func (c *cursor) call(i *instruction) {
	c.head()
	i.typ = c.typ()
	if i.typ.kind == functionType {
		i.typ = i.typ.elem
	}
	if c.peek() == "asm" {
		c.failf("assembly is not supported")
		return
	}
	i.callee = c.value(c.m.simpleType("ptr"))
	if strings.HasPrefix(i.callee.global, "@llvm.dbg.") {
		return
	}
	c.want("(")
	c.list(")", func() {
		t := c.typ()
		if t.name == "metadata" {
			c.failf("calls with metadata are not supported")
			return
		}
		c.pointed = 0
		byval := c.attributes() != nil
		pointed := c.pointed
		v := c.value(t)
		v.byval, v.pointed = byval, pointed
		i.operands = append(i.operands, v)
	})
	if c.next() == '[' {
		c.failf("operand bundles are not supported")
	}
}
