package slice

import (
	"slices"
	"strings"
)

// The instructions by how they are read.
var (
	binary      = " add sub mul udiv sdiv urem srem shl lshr ashr and or xor fadd fsub fmul fdiv frem "
	conversions = " trunc zext sext fptrunc fpext fptoui fptosi uitofp sitofp ptrtoint inttoptr bitcast "
	qualifiers  = strings.Fields("nuw nsw exact nnan ninf nsz arcp contract afn reassoc fast inbounds")
)

// instruction reads an instruction behind what it names.
func (c *cursor) instruction(i *instruction) {
	i.op = c.word()
	for i.op == "tail" || i.op == "musttail" || i.op == "notail" {
		i.op = c.word()
	}
	switch i.op {
	case "call":
		c.call(i)
		return
	case "alloca":
		i.element = c.typ()
		i.typ = c.m.simpleType("ptr")
		if c.take(",") && c.next() != '!' && !c.takeWord("align") {
			c.operand(i)
		}
		return
	case "load":
		c.ordinary(i)
		i.typ = c.typ()
		c.want(",")
		c.operand(i)
		return
	case "store":
		c.ordinary(i)
		i.element = c.operand(i)
		c.want(",")
		c.operand(i)
		return
	case "getelementptr":
		c.qualifiers()
		i.element = c.typ()
		i.typ = c.m.simpleType("ptr")
		for c.take(",") && c.next() != '!' {
			t := c.operand(i)
			if t.kind == vectorType {
				c.failf("vectors of addresses are not supported")
			}
		}
		if len(i.operands) == 0 {
			c.failf("getelementptr has no address")
		}
		return
	case "phi":
		c.qualifiers()
		i.typ = c.typ()
		for c.take("[") {
			i.operands = append(i.operands, c.value(i.typ))
			c.want(",")
			i.labels = append(i.labels, c.name("%"))
			c.want("]")
			c.take(",")
		}
		return
	case "br":
		if c.peek() != "label" {
			c.operand(i)
			c.want(",")
			c.label(i)
			c.want(",")
		}
		c.label(i)
		return
	case "switch":
		c.operand(i)
		c.want(",")
		c.label(i)
		c.want("[")
		for c.err == nil && !c.take("]") {
			c.value(c.typ())
			c.want(",")
			c.label(i)
		}
		return
	case "ret":
		if !c.takeWord("void") {
			c.operand(i)
		}
		return
	case "unreachable":
		return
	case "icmp", "fcmp":
		c.qualifiers()
		c.word()
		t := c.pair(i)
		i.typ = c.m.simpleType("i1")
		if t.kind == vectorType {
			i.typ = &irType{kind: vectorType, length: t.length, elem: i.typ}
		}
		return
	case "select", "extractelement", "insertelement", "shufflevector":
		c.qualifiers()
		c.operand(i)
		for c.take(",") && c.next() != '!' {
			i.typ = c.operand(i)
		}
		switch {
		case len(i.operands) < 2:
			c.failf("%s has too few operands", i.op)
		case i.op == "extractelement":
			if i.typ = i.operands[0].typ.elem; i.typ == nil {
				c.failf("extractelement takes a vector")
			}
		case i.op == "insertelement":
			i.typ = i.operands[0].typ
		}
		return
	case "extractvalue", "insertvalue":
		i.typ = c.operand(i)
		if i.op == "insertvalue" {
			c.want(",")
			c.operand(i)
			return
		}
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
		return
	case "freeze", "fneg":
		c.qualifiers()
		i.typ = c.operand(i)
		return
	case "va_arg":
		c.failf("va_arg is not supported")
		return
	}
	switch word := " " + i.op + " "; {
	case strings.Contains(binary, word):
		c.qualifiers()
		i.typ = c.pair(i)
	case strings.Contains(conversions, word):
		c.operand(i)
		if !c.takeWord("to") {
			c.failf("to is expected at %q", c.rest())
		}
		i.typ = c.typ()
	default:
		c.failf("the instruction %s is not supported", i.op)
	}
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
		byval := c.attributes() != nil
		v := c.value(t)
		v.byval = byval
		i.operands = append(i.operands, v)
	})
	if c.next() == '[' {
		c.failf("operand bundles are not supported")
	}
}
