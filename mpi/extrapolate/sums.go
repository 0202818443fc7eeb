package extrapolate

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/cst"
)

// Where the data of ranks begins in one buffer is mostly the sum of the counts of those before: programs add them up.
// So of an array of numbers that has the sums of another one of the same call, no other rule is looked for.

// sumsBefore returns the array of a call that has, in all traces, the sums of what is before in another of its arrays,
// which has a rule; nil if it is none.
func (f *programFitter) sumsBefore(c *call, p *place, param int) *argument {
	params := f.declared.Functions()[c.fn].Params
	if t := params[param].Type; t.Kind != cst.KindArray || t.Elem.Kind != cst.KindInt {
		return nil
	}
	for i, counts := range slices.Backward(c.args) {
		if counts.rule == nil || len(counts.rule.numbers) != 1 || counts.rule.kind != cst.KindInt ||
			len(counts.rule.numbers[0].exprs) == 0 || counts.rule.numbers[0].exprs[0].constant || !sums(p, i, param) {
			continue
		}
		a := &argument{kind: cst.KindArray, length: counts.length, rule: &argument{kind: cst.KindInt}}
		a.length.what = "the length of " + params[param].Name
		n := counts.rule.numbers[0]
		n.what = fmt.Sprintf("elements of %s of %s", params[param].Name, f.declared.Functions()[c.fn].Name)
		exprs := n.exprs
		n.exprs, n.at, n.values, n.site = nil, nil, nil, 0 // it is fitted with no other
		for _, e := range exprs {
			n.exprs = append(n.exprs, e.sum(params[i].Name))
		}
		for _, v := range p.visits {
			list := v.rank.args[v.value][param]
			for k := range list.Len() {
				at := v.rank.point
				at.rounds, at.index = v.rounds, int64(k)
				n.at, n.values = append(n.at, &at), append(n.values, list.Index(k).Int())
			}
		}
		a.rule.numbers = []form{n}
		return a
	}
	return nil
}

// sums reports whether an argument of a call, in all traces, has the sums of what is before in another, and one of
// them is longer than the first two elements.
func sums(p *place, counts, param int) bool {
	const two = 2 // elements, of which any number is the sum of the first
	told := false
	for _, v := range p.visits {
		args := v.rank.args[v.value]
		of, sum := args[counts], int64(0)
		if of.Len() != args[param].Len() {
			return false
		}
		for k := range of.Len() {
			if args[param].Index(k).Int() != sum {
				return false
			}
			sum += of.Index(k).Int()
		}
		told = told || of.Len() > two && sum > 0
	}
	return told
}

// sum returns the sum of an expression in an index from the first index to before that which is asked for.
func (e expr) sum(name string) expr {
	type run struct {
		ranks, rank int64
		rounds      [maxDepth]int64
	}
	var of run // whose sums are known
	var sums []int64
	var before point
	each := e.at
	e.text = fmt.Sprintf("sum of %s before (%s)", name, e.text)
	e.constant, e.terms = false, e.terms.longer(2)
	e.uses |= usesIndex
	e.at = func(p *point) (int64, bool) {
		if own := (run{p.ranks, p.rank, p.rounds}); len(sums) == 0 || own != of {
			of, sums = own, append(sums[:0], 0)
		}
		if int64(len(sums)) <= p.index {
			before = *p
		}
		for int64(len(sums)) <= p.index {
			before.index = int64(len(sums)) - 1
			v, ok := each(&before)
			if !ok {
				return 0, false
			}
			sums = append(sums, sums[before.index]+v)
		}
		return sums[p.index], p.index >= 0
	}
	return e
}
