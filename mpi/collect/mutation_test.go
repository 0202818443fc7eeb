package collect_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/symbolic"
)

// An argument is one of a function of the trace, in its last call.
type argument struct {
	rank, position, index int
	function              *cst.Function
	args                  []cst.Value
}

// checkCompare changes every argument of the last call of each function, one at a time,
// and checks that the trace no longer is what was recorded. It leaves out arguments that
// are done.
func checkCompare(t *testing.T, r *recording, done *sync.Map) {
	t.Helper()
	calls := make(map[int][]argument)
	last := make(map[string]argument)
	for rank := range r.trace.Ranks() {
		for f, args := range callsOf(t, r.trace)(rank) {
			a := argument{rank, len(calls[rank]), 0, f, slices.Clone(args)}
			calls[rank] = append(calls[rank], a)
			for i, p := range f.Params {
				a.index = i
				last[f.Name+" "+p.Name] = a
			}
		}
	}
	for name, a := range last {
		if _, known := done.LoadOrStore(name, true); known {
			continue
		}
		changed := slices.Clone(a.args)
		other, ok := change(a.function.Params[a.index].Type, changed[a.index])
		if !ok || isName(a.function.Params[a.index].Type, changed[a.index]) {
			continue
		}
		changed[a.index] = other
		_, err := collect.Compare(context.Background(), r.spool, func(rank int) collect.Calls {
			return func(yield func(*cst.Function, []cst.Value) bool) {
				for i, c := range calls[rank] {
					args := c.args
					if rank == a.rank && i == a.position {
						args = changed
					}
					if !yield(c.function, args) {
						return
					}
				}
			}
		})
		if d := (*collect.Difference)(nil); !errors.As(err, &d) {
			t.Errorf("%s: %v instead of %v was not noticed: %v", name, other, a.args[a.index], err)
		}
	}
}

// change returns another value of a type.
func change(t cst.Type, v cst.Value) (cst.Value, bool) {
	switch v.Kind() {
	case cst.KindInt:
		return cst.Int(v.Int() + 1), true
	case cst.KindRank:
		return cst.Rank(v.Int() + 1), true
	case cst.KindTag:
		return cst.Tag(v.Int() + 1), true
	case cst.KindHandle:
		if v.Int() < 0 {
			return cst.Handle(v.Int() - 1), true
		}
		return cst.Handle(v.Int() + 1000), true
	case cst.KindPointer:
		p := v.Pointer()
		p.Displacement += 1 << 40
		return cst.PointerTo(p), true
	case cst.KindString:
		return cst.String(v.Text() + "x"), true
	case cst.KindStatus:
		s := v.Status()
		s.Source++
		return cst.StatusOf(s), true
	case cst.KindArray:
		if v.Len() == 0 {
			return v, false
		}
		var list []cst.Value
		for i := range v.Len() {
			list = append(list, v.Index(i))
		}
		other, ok := change(*t.Elem, list[len(list)-1])
		list[len(list)-1] = other
		return cst.Array(list...), ok
	}
	return v, false
}

// isName reports whether a value may be the only one to name something, so that
// another name says the same: functions and attributes that the program mentions once,
// objects that MPI has given out, and memory of which nothing is known.
func isName(t cst.Type, v cst.Value) bool {
	switch v.Kind() {
	case cst.KindHandle:
		return v.Int() >= 0 && (t.Class == "function" || t.Class == "errhandler" || t.Class == "datatype" ||
			strings.HasSuffix(t.Class, "keyval"))
	case cst.KindPointer:
		return v.Pointer().Segment <= symbolic.FirstUnknown
	}
	return false
}
