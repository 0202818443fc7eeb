package collect

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
)

// A naming gathers what the numbers in the calls of a run are called.
type naming map[constantKey]string

// add looks at the signatures of a process.
func (n naming) add(p *process, t *cst.Table) {
	for _, name := range p.numerals {
		n.numeral(name, t)
	}
	for _, name := range p.errors {
		n.failure(name, t)
	}
	for fn, args := range t.All() {
		for i, p := range t.Functions()[fn].Params {
			n.value(p.Type, args[i])
		}
	}
}

func (n naming) value(t cst.Type, v cst.Value) {
	k := constantKey{kind: t.Kind, class: t.Class}
	switch t.Kind {
	case cst.KindArray:
		for i := range v.Len() {
			n.value(*t.Elem, v.Index(i))
		}
		return
	case cst.KindHandle, cst.KindRank, cst.KindTag:
		k.value = v.Int()
	case cst.KindPointer:
		k.value = v.Pointer().Segment
	case cst.KindStatus:
		s := v.Status()
		n.value(cst.Type{Kind: cst.KindRank}, cst.Rank(s.Source))
		n.value(cst.Type{Kind: cst.KindTag}, cst.Tag(s.Tag))
		return
	}
	if k.value < 0 {
		n[k] = nameOf(k)
	}
}

// numeral looks for a number that has a name.
func (n naming) numeral(name merge.Name, t *cst.Table) {
	for fn, args := range t.All() {
		for i, p := range t.Functions()[fn].Params {
			if p.Type.Kind == cst.KindInt && args[i].Int() == name.Value {
				n[constantKey{kind: cst.KindInt, value: name.Value}] = name.Name
				return
			}
		}
	}
}

// failure looks for a class of errors that has a name.
func (n naming) failure(name merge.Name, t *cst.Table) {
	for fn, args := range t.All() {
		params := t.Functions()[fn].Params
		if k := len(params) - 1; k < 0 || params[k].Name != "error" || params[k].Direction != cst.Out {
			continue
		} else if args[k].Int() == name.Value || slices.ContainsFunc(args, func(v cst.Value) bool { return hasError(v, name.Value) }) {
			n[constantKey{kind: name.Kind, class: name.Class, value: name.Value}] = name.Name
			return
		}
	}
}

// hasError reports whether one of several statuses is of a class of errors.
func hasError(v cst.Value, class int64) bool {
	if v.Kind() != cst.KindArray {
		return false
	}
	for i := range v.Len() {
		if e := v.Index(i); e.Kind() == cst.KindStatus && e.Status().Error == class {
			return true
		}
	}
	return false
}

// list returns the names.
func (n naming) list() []merge.Name {
	var list []merge.Name
	for k, name := range n {
		if name != "" {
			list = append(list, merge.Name{Kind: k.kind, Class: k.class, Value: k.value, Name: name})
		}
	}
	return list
}
