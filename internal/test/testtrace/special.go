package testtrace

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A Chooser returns a number below n.
type Chooser func(n int) int

// SpecialCall returns a call of a function of MPI as package collect records it, whose arguments are of the
// special ones that they may have: forms chooses what the trace has of each argument and what became of the
// call, values chooses among the values of that form.
func SpecialCall(f *spec.Function, forms, values Chooser) Call {
	c := Call{Function: cst.Function{Name: f.Name}}
	add := func(name string, t cst.Type, d cst.Direction, v cst.Value) {
		c.Function.Params = append(c.Function.Params, cst.Param{Name: name, Type: t, Direction: d})
		c.Args = append(c.Args, v)
	}
	for i := range f.Params {
		p := &f.Params[i]
		t := p.Type
		if p.Form == spec.TextLists {
			t = cst.ArrayOf(t)
		}
		all := formsOf(p)
		switch form := all[forms(len(all))]; form {
		case "given":
			add(p.Name, t, p.Direction, specialOf(p, t, values))
		case "changed":
			add(p.Name, t, cst.In, specialOf(p, t, values))
			add(p.Name+"_out", t, cst.Out, specialOf(p, t, values))
		case "address":
			t = cst.Type{Kind: cst.KindPointer}
			if p.Form == spec.Array {
				t = cst.ArrayOf(t)
			}
			add(p.Name, t, p.Direction, specialOf(p, t, values))
		case "told":
			add(p.Name, cst.HandleOf(spec.PlaceholderClass), p.Direction, cst.Handle(spec.ID(p.Ignored()[0])))
			add(p.Name+"_out", t, cst.Out, specialOf(p, t, values))
		case "absent":
		default:
			add(p.Name, cst.HandleOf(spec.PlaceholderClass), p.Direction, cst.Handle(spec.ID(form)))
		}
	}
	if f.Result.Kind != 0 && !spec.RoleOf(f.Name).Clock {
		add("result", f.Result, cst.Out, specialOf(&spec.Param{Name: "result"}, f.Result, values))
	}
	outcome := spec.Succeeded
	switch forms(16) {
	case 14:
		outcome = spec.Failed
	case 15:
		outcome = spec.InFlight
	}
	if q := outcome.Param(); q.Name != "" {
		add(q.Name, q.Type, q.Direction, cst.Int(0))
	}
	return c
}

// formsOf returns what a trace may have of an argument: its value, nothing, those of before and after the
// call, an address in place of a distance, what was ignored but told all the same, or the name of what stands
// for it.
func formsOf(p *spec.Param) []string {
	forms := []string{"given"}
	if p.Asked != "" || p.Given != "" || p.Form != spec.ByValue {
		forms = append(forms, "absent")
	}
	if p.Use == spec.Distances || p.Use == spec.Target {
		forms = append(forms, "address")
	}
	if p.Form == spec.ByValue || p.Asked != "" {
		return forms
	}
	if p.Before() && p.After() && p.Element().Kind != cst.KindHandle && p.Element().Kind != cst.KindStatus {
		forms = append(forms, "changed")
	}
	if ignored := p.Ignored(); ignored != nil {
		forms = append(forms, ignored...)
		if p.Element().Kind == cst.KindStatus {
			forms = append(forms, "told")
		}
	}
	return append(forms, "NULL")
}

// specialOf returns one of the special values of an argument.
func specialOf(p *spec.Param, t cst.Type, choose Chooser) cst.Value {
	number := func(list ...int64) int64 { return list[choose(len(list))] }
	named := func(class string, ids ...int64) int64 {
		for _, c := range spec.Constants() {
			if c.Class == class && (class != "datatype" && class != "op" || slices.Contains(fewNames, c.Name)) {
				ids = append(ids, c.ID)
			}
		}
		return number(ids...)
	}
	switch t.Kind {
	case cst.KindInt:
		if p.Name == "flag" {
			return cst.Int(number(0, 1))
		}
		return cst.Int(number(0, 1, 2, -1, -32766)) // MPI_UNDEFINED
	case cst.KindRank:
		return cst.Rank(named("rank", 0, 1))
	case cst.KindTag:
		return cst.Tag(named("tag", 0, 7))
	case cst.KindPointer:
		if segment := named("pointer", 0, 1); segment < 0 {
			return cst.PointerTo(cst.Pointer{Segment: segment})
		} else {
			return cst.PointerTo(cst.Pointer{Segment: segment, Displacement: 8 * number(0, 1)})
		}
	case cst.KindHandle:
		if t.Class == "site" || t.Class == "function" {
			return cst.Handle(number(0, 1))
		}
		return cst.Handle(named(t.Class, 0, 1))
	case cst.KindString:
		return cst.String([]string{"", "a", "reprise_record"}[choose(3)])
	case cst.KindFloat:
		return cst.Float(float64(number(0, 1)))
	case cst.KindStatus:
		return cst.StatusOf(cst.Status{Source: named("rank", 0, 1), Tag: named("tag", 0, 7),
			Error: number(0, 0, spec.ID("MPI_ERR_PENDING"), 1)})
	case cst.KindBytes:
		return cst.Bytes(make([]byte, choose(3)))
	case cst.KindArray:
		list := make([]cst.Value, number(2, 0, 1, 3))
		for i := range list {
			list[i] = specialOf(p, *t.Elem, choose)
		}
		return cst.Array(list...)
	}
	panic("testtrace: a parameter of kind " + t.Kind.String())
}

// fewNames are the constants of large classes that are chosen from.
var fewNames = []string{"MPI_DATATYPE_NULL", "MPI_INT", "MPI_DOUBLE_INT", "MPI_PACKED", "MPI_LB",
	"MPI_OP_NULL", "MPI_SUM", "MPI_NO_OP", "MPI_REPLACE"}

// SpecialRanks returns calls of some functions of MPI of four ranks, between MPI_Init and MPI_Finalize, each
// several times. The functions, and the forms of their arguments, are the same on all ranks but the last.
func SpecialRanks(functions []spec.Function, forms, values Chooser) [][]Call {
	var ranks [][]Call
	var form []int // chosen
	for rank := range 4 {
		at := 0
		same := func(n int) int {
			if at++; at > len(form) || rank == 3 {
				form = append(form, forms(n))
				return form[len(form)-1]
			}
			return form[at-1] % n
		}
		calls := []Call{{Function: cst.Function{Name: "MPI_Init"}}}
		for i := range functions {
			before := at
			for range 1 + i%3 {
				at = before
				calls = append(calls, SpecialCall(&functions[i], same, values))
			}
		}
		calls = append(calls, Call{Function: cst.Function{Name: "MPI_Finalize"}})
		for i := range calls {
			calls[i].Start, calls[i].Duration = int64(1000*i+rank), 400
		}
		ranks = append(ranks, calls)
	}
	return ranks
}

// SpecialFunctions returns the functions of MPI that neither begin nor end it.
func SpecialFunctions() []spec.Function {
	return slices.DeleteFunc(slices.Clone(spec.Functions()), func(f spec.Function) bool {
		return f.Name == "MPI_Init" || f.Name == "MPI_Init_thread" || f.Name == "MPI_Finalize" || f.Name == "MPI_Abort"
	})
}
