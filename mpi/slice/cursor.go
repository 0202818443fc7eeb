package slice

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxDepth is how deep types and constants may be nested.
const maxDepth = 50

// A cursor reads parts of a text. The first failure sticks.
type cursor struct {
	m     *Module
	text  string
	at    int
	depth int
	err   error

	pointed int64 // how many bytes are at the argument whose attributes were read last, 0 if that is not said
}

func (c *cursor) failf(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *cursor) space() {
	for c.at < len(c.text) && strings.IndexByte(" \t\n", c.text[c.at]) >= 0 {
		c.at++
	}
}

// next returns the byte that comes next, 0 at the end.
func (c *cursor) next() byte {
	c.space()
	if c.at >= len(c.text) || c.err != nil {
		return 0
	}
	return c.text[c.at]
}

// take takes a mark if it is next.
func (c *cursor) take(mark string) bool {
	if c.next() == 0 || !strings.HasPrefix(c.text[c.at:], mark) {
		return false
	}
	c.at += len(mark)
	return true
}

func (c *cursor) want(mark string) {
	if !c.take(mark) {
		c.failf("%q is expected at %q", mark, c.rest())
	}
}

// rest returns what is next, for messages.
func (c *cursor) rest() string {
	rest := c.text[min(c.at, len(c.text)):]
	return rest[:min(len(rest), 40)]
}

func isWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("-$._", b) >= 0
}

// peek returns the word that is next, empty if there is none.
func (c *cursor) peek() string {
	c.next()
	end := c.at
	for end < len(c.text) && isWord(c.text[end]) {
		end++
	}
	return c.text[c.at:end]
}

// word takes a word.
func (c *cursor) word() string {
	w := c.peek()
	c.at += len(w)
	return w
}

// takeWord takes a word if it is next.
func (c *cursor) takeWord(word string) bool {
	if c.next() == 0 || c.peek() != word {
		return false
	}
	c.at += len(word)
	return true
}

// name takes a name behind its mark, % or @, and returns both.
func (c *cursor) name(mark string) string {
	if !c.take(mark) {
		c.failf("a name with %s is expected at %q", mark, c.rest())
		return ""
	}
	if c.at < len(c.text) && c.text[c.at] == '"' {
		start := c.at - 1
		c.quoted()
		return c.text[start:c.at]
	}
	start := c.at - 1
	if c.at < len(c.text) && !isWord(c.text[c.at]) {
		c.failf("a name is expected at %q", c.rest())
	}
	c.word()
	return c.text[start:c.at]
}

// quoted takes a string in quotation marks.
func (c *cursor) quoted() {
	c.want(`"`)
	end := strings.IndexByte(c.text[c.at:], '"')
	if end < 0 {
		c.failf("a string has no end")
		return
	}
	c.at += end + 1
}

func (c *cursor) number() int64 {
	w := c.word()
	n, err := strconv.ParseInt(w, 10, 64)
	if err != nil {
		c.failf("a number is expected at %q", w+c.rest())
	}
	return n
}

// skipGroup takes what is between a bracket that is next and the one that closes it.
func (c *cursor) skipGroup() {
	depth := 0
	for c.err == nil {
		switch c.next() {
		case 0:
			c.failf("a bracket is not closed")
			return
		case '"':
			c.quoted()
			continue
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		c.at++
		if depth == 0 {
			return
		}
	}
}

func (c *cursor) enter() bool {
	if c.depth++; c.depth > maxDepth {
		c.failf("types or constants are nested more than %d deep", maxDepth)
	}
	return c.err == nil
}

// list takes what is separated by commas up to a mark.
func (c *cursor) list(mark string, one func()) {
	if c.take(mark) {
		return
	}
	for c.err == nil {
		one()
		if !c.take(",") {
			c.want(mark)
			return
		}
	}
}

// typ takes a type.
func (c *cursor) typ() *irType {
	t := c.typeHead()
	for c.err == nil && c.next() == '(' {
		c.skipGroup()
		t = &irType{kind: functionType, elem: t}
	}
	return t
}

var void = &irType{kind: voidType, align: 1}

func (c *cursor) typeHead() *irType {
	defer func() { c.depth-- }()
	if !c.enter() {
		return void
	}
	switch c.next() {
	case '%':
		return c.m.namedType(c.name("%"))
	case '[', '<':
		if c.text[c.at] == '<' && strings.HasPrefix(strings.TrimLeft(c.text[c.at+1:], " "), "{") {
			c.at++
			t := c.structure(true)
			c.want(">")
			return t
		}
		t, end := &irType{kind: arrayType}, "]"
		if c.text[c.at] == '<' {
			t, end = &irType{kind: vectorType}, ">"
		}
		c.at++
		if c.takeWord("vscale") {
			c.failf("vectors of a size that is not known are not supported")
		}
		if t.length = c.number(); t.length < 0 {
			c.failf("an array has %d elements", t.length)
		}
		if !c.takeWord("x") {
			c.failf("x is expected at %q", c.rest())
		}
		t.elem = c.typ()
		c.want(end)
		return t
	case '{':
		return c.structure(false)
	}
	w := c.word()
	if c.takeWord("addrspace") {
		c.failf("address spaces are not supported")
	}
	if t := c.m.simpleType(w); t != nil {
		return t
	}
	c.failf("%q is no type that is known, before %q", w, c.rest())
	return void
}

func (c *cursor) structure(packed bool) *irType {
	t := &irType{kind: structType, packed: packed}
	c.want("{")
	c.list("}", func() { t.fields = append(t.fields, c.typ()) })
	return t
}

// simpleType returns a type by its name, nil if there is none.
func (m *Module) simpleType(name string) *irType {
	if t, ok := m.types[name]; ok {
		return t
	}
	t, ok := simpleTypes[name]
	if !ok {
		if !strings.HasPrefix(name, "i") {
			return nil
		}
		bits, err := strconv.ParseInt(name[1:], 10, 64)
		if err != nil || bits <= 0 || bits > 1<<23 {
			return nil
		}
		t = irType{kind: intType, bits: bits}
	}
	t.name = name
	m.types[name] = &t
	return &t
}

// namedType returns the type of a name, which may be defined later.
func (m *Module) namedType(name string) *irType {
	t := m.types[name]
	if t == nil {
		t = &irType{kind: namedType, name: name}
		m.types[name] = t
	}
	return t
}

// attributes takes the attributes of a parameter or a result, and returns the type of byval.
func (c *cursor) attributes() (byval *irType) {
	for c.err == nil {
		at := c.at
		w := c.word()
		switch w {
		case "byval", "sret", "elementtype", "inalloca", "preallocated", "byref":
			c.want("(")
			t := c.typ()
			c.want(")")
			if w == "byval" {
				byval = t
			}
			if w == "sret" {
				c.pointed = t.bytes()
			}
			continue
		case "dereferenceable":
			c.want("(")
			c.pointed = c.number()
			c.want(")")
			continue
		case "align", "dereferenceable_or_null", "allocsize", "memory":
			if c.next() == '(' {
				c.skipGroup()
			} else {
				c.number()
			}
			continue
		}
		if !slices.Contains(plainAttributes, w) {
			c.at = at
			return byval
		}
	}
	return byval
}

var plainAttributes = strings.Fields(
	"noundef nonnull signext zeroext inreg noalias nocapture readonly readnone writeonly returned " +
		"immarg nofree nest swiftself swifterror swiftasync allocalign allocptr noext")

// linkage and other words that may stand before the type of a function or of what a call returns.
var headWords = strings.Fields(
	"private internal available_externally linkonce weak common appending extern_weak linkonce_odr " +
		"weak_odr external dso_local dso_preemptable default hidden protected dllimport dllexport ccc fastcc coldcc tailcc " +
		"unnamed_addr local_unnamed_addr thread_local tail musttail notail nnan ninf nsz arcp contract afn reassoc fast")

func (c *cursor) head() (words []string) {
	for c.err == nil {
		at := c.at
		w := c.word()
		if !slices.Contains(headWords, w) {
			c.at = at
			break
		}
		words = append(words, w)
		if w == "thread_local" && c.next() == '(' {
			c.skipGroup()
		}
	}
	c.attributes()
	return words
}

// value takes a value of a type.
func (c *cursor) value(t *irType) (v value) {
	defer func() { c.depth-- }()
	if !c.enter() {
		return value{typ: void}
	}
	c.space()
	v = value{typ: t, at: c.at}
	defer func() {
		if v.end = c.at; c.err == nil {
			v.text = c.text[v.at:v.end]
		}
	}()
	add := func(part value) {
		if part.global != "" {
			v.addresses = append(v.addresses, value{global: part.global, offset: part.offset,
				unbounded: part.unbounded, within: part.within})
		}
		for _, a := range part.addresses {
			a.within = sum(a.within, part.within)
			v.addresses = append(v.addresses, a)
		}
	}
	switch c.next() {
	case '%':
		v.local = c.name("%")
	case '@':
		v.global = c.name("@")
	case 'c':
		if strings.HasPrefix(c.text[c.at:], `c"`) {
			c.at++
			c.quoted()
			return v
		}
		c.failf("%q is no constant that is known", c.peek())
	case '[', '{', '<':
		open := c.text[c.at]
		end := map[byte]string{'[': "]", '{': "}", '<': ">"}[open]
		c.at++
		if open == '<' && c.next() == '{' {
			c.at++
			end = "}"
			defer c.want(">")
		}
		n := int64(0)
		c.list(end, func() {
			part := c.value(c.typ())
			part.within = t.part(n)
			add(part)
			n++
		})
	default:
		c.constant(&v, add)
	}
	return v
}

// constant takes a number, a word that stands for one, or an expression.
func (c *cursor) constant(v *value, add func(value)) {
	w := c.word()
	if w == "" {
		c.failf("a value is expected at %q", c.rest())
		return
	}
	if n, err := strconv.ParseInt(w, 10, 64); err == nil {
		v.number, v.isNumber = n, true
		return
	}
	switch w {
	case "null", "false":
		v.isNumber = true
	case "true":
		v.number, v.isNumber = 1, true
	case "zeroinitializer", "undef", "poison", "none":
	case "getelementptr":
		c.addressConstant(v, add)
	case "blockaddress":
		c.err = cmp.Or(c.err, c.m.labelError(c.rest()))
	case "dso_local_equivalent", "no_cfi", "asm":
		c.failf("%s is not supported", w)
	default:
		known := slices.Contains(expressions, w)
		for known && slices.Contains(flags, c.peek()) {
			c.word()
		}
		switch {
		case c.next() != '(':
			c.float(w)
		case known:
			c.expression(v, w, add)
		default:
			c.failf("%q is no expression that is known", w)
		}
	}
}

// float takes what follows the first word of a number of floating point.
func (c *cursor) float(w string) {
	if !strings.HasPrefix(w, "0x") && (w[0] < '0' || w[0] > '9') && w[0] != '-' {
		c.failf("%q is no value that is known", w)
		return
	}
	if c.take("+") { // as in 1.000000e+00
		c.word()
	}
}

// addressConstant takes what follows getelementptr: the address of a part of a global is one with an offset,
// unless the part is one of several.
func (c *cursor) addressConstant(v *value, add func(value)) {
	c.takeWord("inbounds")
	c.want("(")
	element := c.typ()
	c.want(",")
	base := c.value(c.typ())
	var indices []value
	for c.take(",") {
		c.takeWord("inrange")
		indices = append(indices, c.value(c.typ()))
	}
	c.want(")")
	if c.err != nil {
		return
	}
	by := step(element, indices, false)
	if base.global != "" && by.hi == by.lo+1 && !base.unbounded {
		v.global, v.offset = base.global, base.offset+by.lo
		return
	}
	add(base.anywhere())
}

// expression takes the operands of an expression. A conversion of the address of a global is that
// address; what else is computed of addresses may be any place in what they point to.
func (c *cursor) expression(v *value, operator string, add func(value)) {
	c.want("(")
	var parts []value
	for more := true; more; more = c.take(",") {
		parts = append(parts, c.value(c.typ()))
		if c.takeWord("to") {
			c.typ()
		}
	}
	c.want(")")
	first := parts[0]
	v.constant = operator == "inttoptr" && first.isNumber && first.number != 0
	conversion := operator == "bitcast" || operator == "ptrtoint" || operator == "inttoptr"
	if conversion && first.global != "" {
		v.global, v.offset, v.unbounded = first.global, first.offset, first.unbounded
		return
	}
	for _, p := range parts {
		if !conversion {
			p = p.anywhere()
		}
		add(p)
	}
}

// anywhere returns v as addresses of any place in what it points to.
func (v value) anywhere() value {
	v.unbounded = true
	for i := range v.addresses {
		v.addresses[i].unbounded = true
	}
	return v
}

var expressions = strings.Fields(
	"ptrtoint inttoptr bitcast trunc zext sext add sub mul xor and or shl lshr ashr icmp select")

var flags = strings.Fields("nuw nsw exact eq ne slt sle sgt sge ult ule ugt uge inbounds")
