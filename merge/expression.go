package merge

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// An Expression says how a rank among the arguments of a call follows from the rank
// of the process that makes it. The zero Expression says that this is not known.
type Expression struct {
	Expr    rankenc.Expr
	Known   bool
	Grouped bool // Expr is of the rank in the group that the call names, not in the run

	// Rank and Size are those that Expr gives the argument for: of the process, and
	// of the group or the run.
	Rank, Size int64
}

// Expression returns the one of an argument, by the number of its parameter, of a
// terminal, terminal < c.Table().Len(). It is known of a rank, or the source of a
// status, that is written as an expression for all ranks that make the call: not if
// it is stored rank by rank or call by call, if it is in an array, or if a terminal
// stands for calls with different expressions. Any other argument has none.
func (c *Calls) Expression(terminal uint32, param int) Expression {
	n := terminal
	if c.sources != nil {
		if n = c.sources[terminal]; n == severalSources {
			return Expression{}
		}
	}
	e := c.shape.expression(int(n), param)
	if !e.Known {
		return Expression{}
	}
	g, ok := Group{c.rank, c.shape.trace.run.Ranks}, true
	if e.Grouped {
		g, ok = c.groups[terminal]
	}
	if e.Rank, e.Size = int64(g.Rank), int64(g.Size); !ok {
		return Expression{}
	}
	return e
}

// expression returns that of an argument of the i-th signature of s, without ranks.
func (s *Shape) expression(i, param int) Expression {
	if s.template().signatures != nil {
		return s.trace.expression(&s.template().signatures[i], param)
	}
	var t signatureTemplate
	s.trace.signatures.template(&t, int(s.signatures[i]))
	return s.trace.expression(&t, param)
}

func (t *Trace) expression(s *signatureTemplate, param int) Expression {
	params := t.Functions()[s.function].Params
	if kind := params[param].Type.Kind; kind != cst.KindRank && kind != cst.KindStatus {
		return Expression{}
	}
	slot := 0
	for i := range params[:param] {
		if typ := &params[i].Type; typ.Kind != cst.KindArray {
			slot += scalarSlots(*typ)
		}
	}
	if s.streams>>slot&1 != 0 {
		return Expression{}
	}
	return s.slots[slot].expression()
}

// scalarSlots returns the number of slots of an argument that is no array.
func scalarSlots(t cst.Type) int {
	n, _ := countSlots(0, t, nil)
	return n
}

func (s *slotTemplate) expression() Expression {
	switch s.written {
	case writtenConstant:
		return Expression{Expr: rankenc.Constant(s.value), Known: true}
	case writtenShift:
		return Expression{Expr: rankenc.Shift(s.value), Known: true}
	case writtenGroup, writtenExpr:
		return Expression{Expr: *s.expr, Known: true, Grouped: s.written == writtenGroup}
	}
	return Expression{}
}

// severalSources is the source of a terminal that stands for signatures of the shape
// with different expressions.
const severalSources = 1<<32 - 1

// setSource takes note of the signature of the shape, its i-th, that a terminal
// stands for. New terminals ascend.
func (c *Calls) setSource(terminal sequitur.Symbol, i int) {
	if int(terminal) == len(c.sources) {
		c.sources = append(c.sources, uint32(i))
		c.firsts = append(c.firsts, uint32(i))
		return
	}
	first := c.sources[terminal]
	if first == severalSources || int(first) == i {
		return
	}
	fn := c.shape.trace.signatures.functions[c.shape.signatures[i]]
	for param := range c.table.Functions()[fn].Params {
		if c.shape.expression(int(first), param) != c.shape.expression(i, param) {
			c.sources[terminal] = severalSources
			return
		}
	}
}
