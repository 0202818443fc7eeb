package testtrace

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// A Recording records calls of MPI as package collect does.
type Recording struct{ tracer.Recorder }

// MPI records as many calls that are the same, with arguments as pairs of a name and a value: a
// number, the name of a constant, a list of these, or a status. Others have no argument. The
// first pair may be the thread.
func (r *Recording) MPI(count int, name string, pairs ...any) {
	f, args := mpiCall(name, pairs...)
	for fn := r.Declare(f); count > 0; count-- {
		r.Call(fn, args...)
	}
}

// MPICall returns a call of MPI as [Recording.MPI] records it, of which the times are to be set.
func MPICall(name string, pairs ...any) Call {
	f, args := mpiCall(name, pairs...)
	return Call{Function: f, Args: args}
}

// mpiCall returns a function with the parameters that have a value, and these.
func mpiCall(name string, pairs ...any) (cst.Function, []cst.Value) {
	n, ok := spec.Lookup(name)
	if !ok {
		panic(name + " is no function of MPI")
	}
	f := cst.Function{Name: name}
	var args []cst.Value
	for i := 0; i < len(pairs); i += 2 {
		k := slices.IndexFunc(spec.Functions()[n].Params, func(p spec.Param) bool { return p.Name == pairs[i] })
		p := cst.Param{Name: pairs[i].(string), Type: cst.Type{Kind: cst.KindInt}, Direction: cst.Out}
		if k >= 0 {
			p.Type, p.Direction = spec.Functions()[n].Params[k].Type, spec.Functions()[n].Params[k].Direction
		} else if isSizeOf(p.Name, f.Params) {
			if _, several := pairs[i+1].([]any); several {
				p.Type = cst.ArrayOf(p.Type)
			}
		} else if p.Name == trace.ThreadParam {
			p.Direction = cst.In
		} else if p.Name != spec.Failed.Param().Name && p.Name != spec.InFlight.Param().Name {
			panic(fmt.Sprintf("%s has no parameter %s", name, p.Name))
		}
		if s, ok := pairs[i+1].(string); ok && s == "ignored" {
			p.Type = cst.HandleOf("constant")
		}
		f.Params = append(f.Params, p)
		args = append(args, value(p.Type, pairs[i+1]))
	}
	return f, args
}

// isSizeOf reports whether a name is that of the sizes of one of some parameters: see [spec.SizeParam].
func isSizeOf(name string, params []cst.Param) bool {
	return slices.ContainsFunc(params, func(p cst.Param) bool { return spec.SizeParam(p.Name) == name })
}

func value(t cst.Type, v any) cst.Value {
	switch v := v.(type) {
	case []any:
		var values []cst.Value
		for _, e := range v {
			values = append(values, value(*t.Elem, e))
		}
		return cst.Array(values...)
	case cst.Status:
		return cst.StatusOf(v)
	case cst.Value:
		return v
	case string:
		return number(t, constant(v))
	}
	return number(t, int64(v.(int)))
}

func number(t cst.Type, n int64) cst.Value {
	switch t.Kind {
	case cst.KindHandle:
		return cst.Handle(n)
	case cst.KindRank:
		return cst.Rank(n)
	case cst.KindTag:
		return cst.Tag(n)
	case cst.KindPointer:
		return cst.PointerTo(cst.Pointer{Segment: n})
	}
	return cst.Int(n)
}

// constant returns the id of a constant; −3 if it is ignored.
func constant(name string) int64 {
	next := make(map[string]int64)
	for _, c := range spec.Constants() {
		if next[c.Class]--; c.Name == name {
			return next[c.Class]
		}
	}
	if name != "ignored" {
		panic(name + " is no constant of MPI")
	}
	return -3
}
