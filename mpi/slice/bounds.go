package slice

import "regexp"

// A bound is the numbers that a value may be, from least to most. Those of more than 32 bits count as any.
type bound struct{ least, most int64 }

const (
	leastNumber = -1 << 31
	mostNumber  = 1<<31 - 1
)

func anyNumber() bound { return bound{leastNumber, mostNumber} }

func (b bound) isNone() bool { return b.least > b.most }

// within returns numbers that may have wrapped around.
func within(least, most int64) bound {
	if least < leastNumber || most > mostNumber {
		return anyNumber()
	}
	return bound{least, most}
}

func (b bound) or(c bound) bound { return bound{min(b.least, c.least), max(b.most, c.most)} }

func (b bound) and(c bound) bound { return bound{max(b.least, c.least), min(b.most, c.most)} }

// bounds returns the numbers that an argument of an instruction may be. Values that are computed of themselves
// grow or shrink by what is added in each iteration. Seen are values that are being looked at.
func (s *slicer) bounds(i *instruction, v value, seen map[operand]bool) bound {
	if v.isNumber {
		return within(v.number, v.number)
	}
	source, ok := i.block.of.values[v.local]
	if !ok || seen[source] {
		return anyNumber()
	}
	seen[source] = true
	defer delete(seen, source)
	b := anyNumber()
	switch source := source.(type) {
	case *param:
		b = s.boundsOfParam(source, seen)
	case *instruction:
		b = s.boundsOf(source, seen)
	}
	return b.and(conditionsOn(i.block, v))
}

func (s *slicer) boundsOfParam(p *param, seen map[operand]bool) bound {
	if p.of.whole || p.of.early || len(p.of.callers) == 0 {
		return anyNumber()
	}
	var all bound
	for k, call := range p.of.callers {
		if p.number >= len(call.operands) {
			return anyNumber()
		}
		if b := s.bounds(call, call.operands[p.number], seen); k == 0 {
			all = b
		} else {
			all = all.or(b)
		}
	}
	return all
}

func (s *slicer) boundsOf(i *instruction, seen map[operand]bool) bound {
	of := func(k int) bound { return s.bounds(i, i.operands[k], seen) }
	if i.typ.kind != intType {
		return anyNumber()
	}
	switch i.op {
	case "phi":
		return s.boundsOfPhi(i, seen)
	case "select":
		return of(1).or(of(2))
	case "zext":
		if b := of(0); b.least >= 0 {
			return b
		}
	case "sext", "freeze":
		return of(0)
	case "add", "sub", "mul":
		if i.wraps() {
			break
		}
		a, b := of(0), of(1)
		switch i.op {
		case "add":
			return within(a.least+b.least, a.most+b.most)
		case "sub":
			return within(a.least-b.most, a.most-b.least)
		}
		if a.least >= 0 && b.least >= 0 {
			return within(a.least*b.least, a.most*b.most)
		}
	case "srem", "urem":
		if n := i.operands[1]; n.isNumber && n.number > 0 {
			if a := of(0); a.least >= 0 || i.op == "urem" {
				return within(0, min(n.number-1, max(a.most, 0)))
			}
			return within(1-n.number, n.number-1)
		}
	case "and":
		if n := i.operands[1]; n.isNumber && n.number >= 0 {
			return within(0, n.number)
		}
	}
	return anyNumber()
}

var noSignedWrap = regexp.MustCompile(` = (add|sub|mul) (nuw )?nsw `)

// wraps reports whether a computation of signed numbers may overflow and go on.
func (i *instruction) wraps() bool { return !noSignedWrap.MatchString(i.text) }

// boundsOfPhi returns the bounds of a value that may be that of the last iteration and something added.
func (s *slicer) boundsOfPhi(i *instruction, seen map[operand]bool) bound {
	var all bound
	first, grows, shrinks := true, false, false
	for _, v := range i.operands {
		if v.local == i.name {
			continue
		}
		if step, ok := i.block.of.values[v.local].(*instruction); ok && step.op == "add" &&
			step.operands[0].local == i.name && step.operands[1].isNumber && !step.wraps() {
			grows, shrinks = grows || step.operands[1].number > 0, shrinks || step.operands[1].number < 0
			continue
		}
		if b := s.bounds(i, v, seen); first {
			all, first = b, false
		} else {
			all = all.or(b)
		}
	}
	if first {
		return anyNumber()
	}
	if grows {
		all.most = mostNumber
	}
	if shrinks {
		all.least = leastNumber
	}
	return all
}

// conditionsOn returns the numbers that a value may be in a block, by the branches that were taken on the way.
func conditionsOn(b *block, v value) bound {
	of := anyNumber()
	for _, test := range b.of.values[v.local].value().users {
		end := test.block.last()
		if test.op != "icmp" || test.operands[0].local != v.local || !test.operands[1].isNumber || end.op != "br" ||
			len(end.operands) != 1 || end.operands[0].local != test.name || len(test.block.succ) != 2 ||
			test.block == b || b.of.blocks[0].leadsTo(b, test.block) {
			continue
		}
		relation := comparison.FindStringSubmatch(test.text)
		first, other := test.block.succ[0], test.block.succ[1]
		if first.name != end.labels[0] {
			first, other = other, first
		}
		holds, fails := first.leadsTo(b, test.block), other.leadsTo(b, test.block)
		if relation != nil && holds != fails {
			of = of.and(related(relation[1], test.operands[1].number, holds))
		}
	}
	return of
}

// leadsTo reports whether there is a way from one block to another without a third one.
func (b *block) leadsTo(to, without *block) bool {
	stack, seen := []*block{b}, map[*block]bool{without: true}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[at] {
			continue
		}
		if at == to {
			return true
		}
		seen[at] = true
		stack = append(stack, at.succ...)
	}
	return false
}

// related returns the numbers for which a comparison with another number holds, or does not.
func related(relation string, n int64, holds bool) bound {
	if !holds {
		opposite := map[string]string{"slt": "sge", "sge": "slt", "sgt": "sle", "sle": "sgt", "ne": "eq"}
		relation = opposite[relation]
	}
	switch relation {
	case "slt":
		return bound{leastNumber, n - 1}
	case "sle":
		return bound{leastNumber, n}
	case "sgt":
		return bound{n + 1, mostNumber}
	case "sge":
		return bound{n, mostNumber}
	case "eq":
		return bound{n, n}
	}
	return anyNumber()
}
