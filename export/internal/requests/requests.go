// Package requests finds the requests among the arguments of calls of MPI.
package requests

import (
	"iter"
	"strings"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
)

// Name returns the name of a function of MPI in lower case, without MPI_ and the _c of
// large counts.
func Name(function string) string {
	name := strings.TrimPrefix(function, "MPIX_")
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(name, "MPI_"), "_c"))
}

// Of returns the ids of the requests among the arguments of a call.
func Of(c reprise.Call) []int64 {
	for i, p := range c.Function.Params {
		switch {
		case isRequest(p.Type):
			return []int64{c.Args[i].Int()}
		case p.Type.Kind == cst.KindArray && isRequest(*p.Type.Elem):
			ids := make([]int64, c.Args[i].Len())
			for k := range ids {
				ids[k] = c.Args[i].Index(k).Int()
			}
			return ids
		}
	}
	return nil
}

func isRequest(t cst.Type) bool { return t.Kind == cst.KindHandle && t.Class == "request" }

// Completed returns an iterator over those requests of a call, which Of returned, that the
// call completes. Name is that of its function.
func Completed(c reprise.Call, name string, ids []int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		if v, ok := c.Arg("flag"); ok && v.Kind() == cst.KindInt && v.Int() == 0 {
			return
		}
		at := func(v cst.Value) bool {
			i := v.Int()
			return i < 0 || i >= int64(len(ids)) || yield(ids[i])
		}
		switch name {
		case "wait", "test", "waitall", "testall":
			for _, id := range ids {
				if !yield(id) {
					return
				}
			}
		case "waitany", "testany":
			if v, ok := c.Arg("index"); ok && v.Kind() == cst.KindInt {
				at(v)
			}
		case "waitsome", "testsome":
			n, ok := c.Arg("outcount")
			indices, also := c.Arg("array_of_indices")
			if !ok || !also || n.Kind() != cst.KindInt || indices.Kind() != cst.KindArray {
				return
			}
			for i := range min(int64(indices.Len()), n.Int()) {
				if !at(indices.Index(int(i))) {
					return
				}
			}
		}
	}
}
