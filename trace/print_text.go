package trace

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/requestid"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/symbolic"
)

// implied is the source or the tag of a status that the call tells already.
const implied = -9

// Types of numbers that are parts of a value.
var (
	intType     = cst.Type{Kind: cst.KindInt}
	rankType    = cst.Type{Kind: cst.KindRank}
	tagType     = cst.Type{Kind: cst.KindTag}
	pointerType = cst.Type{Kind: cst.KindPointer}
)

func sortedKeys(m map[int64]string) []int64 { return slices.Sorted(maps.Keys(m)) }

// call writes the call.
func (p *printing) call() { p.list(p.argument) }

// list writes the name of the function and its arguments, each of which write writes.
func (p *printing) list(write func(i int)) {
	params := p.function.Params
	result := len(params) - 1
	if result >= 0 && (params[result].Name != "result" || params[result].Direction != cst.Out) {
		result = -1
	}
	p.title(p.function.Name)
	p.dst = append(p.dst, '(')
	for i := range params {
		if i == result {
			break
		}
		if i > 0 {
			p.dst = append(p.dst, ", "...)
		}
		p.title(params[i].Name)
		p.dst = append(p.dst, '=')
		write(i)
	}
	p.dst = append(p.dst, ')')
	if result >= 0 {
		p.dst = append(p.dst, " = "...)
		write(result)
	}
}

// argument writes the i-th argument.
func (p *printing) argument(i int) {
	if text, ok := p.advance(i); ok {
		p.dst = append(p.dst, text...)
		return
	}
	p.value(&p.function.Params[i].Type, p.args[i], i)
}

// value writes v, of type t, which is the i-th argument, or −1 if it is in an array.
func (p *printing) value(t *cst.Type, v cst.Value, i int) {
	switch t.Kind {
	case cst.KindInt, cst.KindTag:
		p.number(t, v.Int())
	case cst.KindRank:
		p.rankValue(v.Int(), i)
	case cst.KindHandle:
		p.handle(t, v.Int())
	case cst.KindPointer:
		p.pointer(v.Pointer())
	case cst.KindStatus:
		p.status(v.Status(), i)
	case cst.KindArray:
		p.dst = append(p.dst, '[')
		for k := range v.Len() {
			if k > 0 {
				p.dst = append(p.dst, ' ')
			}
			p.value(t.Elem, v.Index(k), -1)
		}
		p.dst = append(p.dst, ']')
	default:
		p.dst, _ = v.AppendText(p.dst)
	}
}

// named writes the name of a number, if it has one.
func (p *printing) named(t *cst.Type, v int64) bool {
	name, ok := p.name(t, v)
	if ok {
		p.word(name)
	}
	return ok
}

func (p *printing) number(t *cst.Type, v int64) {
	if !p.named(t, v) {
		p.dst = strconv.AppendInt(p.dst, v, 10)
	}
}

func (p *printing) handle(t *cst.Type, id int64) {
	if p.named(t, id) {
		return
	}
	if pool, index := requestid.Split(id); t.Class == requestClass && pool >= 0 {
		p.request(pool, index)
		return
	}
	class := t.Class
	if class == "" {
		class = "handle"
	}
	p.numbered(class, id)
}

// numbered writes a word and a number.
func (p *printing) numbered(word string, n int64) {
	p.word(word)
	p.dst = strconv.AppendInt(append(p.dst, '#'), n, 10)
}

func (p *printing) request(pool, index int64) {
	made, ok := requestPool{}, false
	if p.pools != nil {
		made, ok = p.pools()[pool]
	}
	if ok {
		p.numbered(made.maker, int64(made.n))
	} else {
		p.numbered(requestClass, pool)
	}
	if index > 0 {
		p.dst = strconv.AppendInt(append(p.dst, '.'), index, 10)
	}
}

func (p *printing) pointer(a cst.Pointer) {
	name, ok := p.name(&pointerType, a.Segment)
	switch {
	case ok:
		p.word(name)
	case a.Segment >= 0:
		p.numbered("heap", a.Segment)
	case a.Segment <= symbolic.FirstUnknown:
		p.numbered("memory", symbolic.FirstUnknown-a.Segment)
	default:
		p.numbered("segment", a.Segment)
	}
	if !ok || a.Displacement != 0 {
		p.plus(a.Displacement)
	}
	if a.Device != 0 {
		p.dst = strconv.AppendInt(append(p.dst, '@'), a.Device, 10)
	}
}

// plus writes a number with its sign.
func (p *printing) plus(n int64) {
	if n >= 0 {
		p.dst = append(p.dst, '+')
	}
	p.dst = strconv.AppendInt(p.dst, n, 10)
}

func (p *printing) status(s cst.Status, i int) {
	p.dst = append(p.dst, '{')
	begin := len(p.dst)
	field := func(name string) {
		if len(p.dst) > begin {
			p.dst = append(p.dst, ", "...)
		}
		p.dst = append(append(p.dst, name...), '=')
	}
	if s.Source != implied {
		field("source")
		p.rankValue(s.Source, i)
	}
	if s.Tag != implied {
		field("tag")
		p.number(&tagType, s.Tag)
	}
	if s.Error != 0 {
		field("error")
		p.number(&intType, s.Error)
	}
	p.dst = append(p.dst, '}')
}

// rankValue writes a rank in the i-th argument, by the expression that yields it if
// that is known.
func (p *printing) rankValue(v int64, i int) {
	if p.named(&rankType, v) {
		return
	}
	var e knownExpression
	if i >= 0 && v >= 0 && p.of != nil && !p.options.Absolute {
		e = p.of.expression(p.terminal, i)
	}
	if !e.known {
		p.dst = strconv.AppendInt(p.dst, v, 10)
		return
	}
	self := "rank"
	if !e.grouped && p.namesGroup() {
		self = "world"
	}
	if _, shift := e.expr.Shift(); !shift && (self == "world" || isOpaque(e.expr)) {
		p.dst = strconv.AppendInt(p.dst, v, 10)
		return
	}
	if form := formOf(e.expr); form == ringForm || form == xorForm {
		shift, text := rankenc.Shift(v-e.rank).String(), e.expr.String()
		if form == xorForm || text != "("+shift+") mod N" {
			p.dst = append(p.dst, text...)
			return
		}
	}
	if p.dst = append(p.dst, self...); v != e.rank {
		p.plus(v - e.rank) // which is true for this rank at least
	}
}

// Forms of expressions that are written as they are.
const (
	ringForm = "(rank+c) mod N"
	xorForm  = "rank xor c"
)

// isOpaque reports whether an expression says nothing of who is whose neighbour, so
// that the number is clearer.
func isOpaque(e rankenc.Expr) bool {
	switch formOf(e) {
	case "constant", "a·rank+b", "sum of 2 digits", "sum of 3 digits":
		return true
	}
	return false
}

// namesGroup reports whether the call names a group of processes that the program
// made: a communicator, window or file.
func (p *printing) namesGroup() bool {
	for i := range p.function.Params {
		param := &p.function.Params[i]
		switch param.Type.Class {
		case "comm", "win", "file":
			if param.Type.Kind == cst.KindHandle && p.args[i].Int() >= 0 {
				return true
			}
		}
	}
	return false
}

// title writes the name of a function or a parameter, quoted unless it looks like one.
func (p *printing) title(name string) { p.quoted(name, isWord(name)) }

// word writes a name that stands where a value does: quoted, unless it cannot be
// mistaken for something else. It may come from a file.
func (p *printing) word(name string) {
	p.quoted(name, isWord(name) && name != "rank" && name != "world" && name != "N")
}

func (p *printing) quoted(name string, plain bool) {
	if plain {
		p.dst = append(p.dst, name...)
	} else {
		p.dst = strconv.AppendQuote(p.dst, name)
	}
}

func isWord(name string) bool {
	for i, r := range name {
		switch {
		case r|0x20 >= 'a' && r|0x20 <= 'z':
		case r == '_' || unicode.IsLetter(r) && r != utf8.RuneError:
		case i > 0 && (unicode.IsDigit(r) || strings.ContainsRune(".:/", r)):
		default:
			return false
		}
	}
	return name != ""
}

// A knownExpression says how a rank among the arguments of a call follows from the rank
// of the process that makes it. The zero one says that this is not known.
type knownExpression struct {
	expr    rankenc.Expr
	known   bool
	grouped bool  // expr is of the rank in the group that the call names, not in the run
	rank    int64 // of the process, in the group or the run
}

// expression returns that of an argument of the calls of a terminal, by the number of
// its parameter. It is known of a rank, or the source of a status, that is written as an
// expression for all ranks that make the call: not if it is stored rank by rank or call
// by call, if it is in an array, or if the terminal stands for calls with different
// expressions.
func (r *Rank) expression(terminal uint32, param int) knownExpression {
	if r.flow.several[terminal] {
		return knownExpression{}
	}
	var scratch layout.Template
	e := r.trace.expression(r.shape.signature(r.flow.signatureOf(terminal), &scratch), param)
	if e.rank = int64(r.number); e.grouped {
		g, ok := r.group(terminal)
		if e.rank = int64(g.Rank); !ok {
			return knownExpression{}
		}
	}
	return e
}

// expression returns that of an argument of a signature, without the rank.
func (t *Trace) expression(s *layout.Template, param int) knownExpression {
	params := t.Functions()[s.Function].Params
	if kind := params[param].Type.Kind; kind != cst.KindRank && kind != cst.KindStatus {
		return knownExpression{}
	}
	slot := 0
	for i := range params[:param] {
		if typ := &params[i].Type; typ.Kind != cst.KindArray {
			slot += layout.ScalarSlots(*typ)
		}
	}
	v := valueOf(&s.Values[slot], s.Streams>>slot&1 != 0)
	known := v.Form == Constant || v.Form == Expression
	return knownExpression{expr: v.Expr, known: known, grouped: v.InGroup}
}
