package collect

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
)

// A naming gathers what the numbers in the calls of a run are called.
type naming map[constantKey]bool

// add looks at the signatures of a table.
func (n naming) add(t *cst.Table) {
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
		n[k] = true
	}
}

// list returns the names.
func (n naming) list() []merge.Name {
	var list []merge.Name
	for k := range n {
		if name := nameOf(k); name != "" {
			list = append(list, merge.Name{Kind: k.kind, Class: k.class, Value: k.value, Name: name})
		}
	}
	return list
}
