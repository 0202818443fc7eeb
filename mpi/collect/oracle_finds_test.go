package collect

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// TestKnownFunctions compares what the collector and Compare know of each function of
// the table: both work it out for themselves.
func TestKnownFunctions(t *testing.T) {
	roles := map[operation][]role{
		number: {plain, displacing, aiming}, float: {plain}, rank: {plain}, tag: {plain}, object: {used},
		created: {made},
		shared:  {returned}, freed: {freeing}, request: {waitedFor}, began: {startedHere}, address: {memory, bare},
		status: {outcomes}, code: {errorCode}, text: {plain},
	}
	for i := range plans {
		f, k := &plans[i], &knownFunctions[i]
		if f.makesRequest && f.persistent != k.persistent() || f.takesRequests != (k.requests >= 0) {
			t.Errorf("%s: persistent %v, takes requests %v", f.Name, f.persistent, f.takesRequests)
		}
		if f.takesRequests && f.looks != looking(k) {
			t.Errorf("%s: looks %v", f.Name, f.looks)
		}
		for j := range f.params {
			q, role := &f.params[j], k.roles[j]
			if !slices.Contains(roles[q.operation], role) ||
				(q.Use == spec.Distances) != (role == displacing) || (q.Use == spec.Target) != (role == aiming) ||
				q.operation == address && (q.Use == spec.Word) != (role == bare) {
				t.Errorf("%s: %s has operation %d and role %d", f.Name, q.Name, q.operation, k.roles[j])
			}
		}
	}
}

// everything is a spool of calls with arguments of all kinds.
func everything() *spoolWriter {
	w := newSpoolWriter(0, 0)
	noInfo := int(constantValue("MPI_INFO_NULL"))
	w.allocate(10, 0x10000000, 1000)
	region := int64(spool.Static)
	w.words(recordRegion, 0, 0, 0x20000000, 0x10000, uint64(region))
	w.call(50, "MPI_Isend", 0x10000008, 1, integers, 1, 1, world, 7000)
	w.call(100, "MPI_Irecv", 0x20000010, 1, integers, anySource, 2, world, 7100)
	w.call(200, "MPI_Waitall", 2, changes{words{7000, 7100}, words{int64(noRequest), int64(noRequest)}},
		results{{-5555, 77}, {3, 2}})
	w.call(300, "MPI_Comm_set_name", world, "a name")
	w.call(400, "MPI_Comm_spawn", "program", lines{"-x", "y"}, 2, noInfo, 0, world, 9000, words{0, 0}, members{0, 2})
	w.call(500, "MPI_Comm_spawn_multiple", 2, lines{"one", "two"}, lists{{"a", "b"}, {}}, words{1, 2},
		words{int64(noInfo), 9100}, 0, world, 9200, words{0, 0, 0}, members{0, 3})
	w.call(600, "MPI_Dims_create", 6, 2, changes{words{0, 0}, words{3, 2}})
	w.result(700, "MPI_Wtick", math.Float64bits(1e-9))
	w.result(800, "MPI_Aint_diff", 8, 0x10000010, 0x10000008)
	w.call(900, "MPI_Type_create_hindexed", 2, words{1, 1}, words{0x10000000, 0x10000008}, integers, 9300)
	w.call(1000, "MPI_Type_create_hindexed", 2, words{1, 1}, words{0, 8}, integers, 9400)
	w.failed(1100, 6, "MPI_Bcast", 0x10000000, 1, integers, 100, world)
	w.failed(1150, 6, "MPI_Comm_dup", world, 9500)
	w.call(1160, "MPI_Error_string", 1006, "not so", 6)
	w.call(1170, "MPI_Send", 0x10000000, 1, integers, -777, -888, world)
	w.call(1180, "MPI_Irecv", 0x20000010, 1, integers, anySource, 2, world, 7200)
	w.call(1185, "MPI_Irecv", 0x20000010, 1, integers, 3, anyTag, world, 7300)
	w.call(1190, "MPI_Waitsome", 2, changes{words{7200, 7300}, words{int64(noRequest), int64(noRequest)}}, 2,
		words{1, 0}, results{{3, 5}, {4, 2}})
	w.call(1195, "MPI_Waitall", 0, words{}, ignored{})
	w.call(1200, "MPI_Comm_free", changes{9000, int(constantValue("MPI_COMM_NULL"))})
	return w
}

// variants returns values of the same type that differ from v in one place.
func variants(v cst.Value) []cst.Value {
	switch v.Kind() {
	case cst.KindInt:
		return []cst.Value{cst.Int(v.Int() + 1), cst.Int(v.Int() - 1)}
	case cst.KindRank:
		return []cst.Value{cst.Rank(v.Int() + 1), cst.Rank(v.Int() - 1)}
	case cst.KindTag:
		return []cst.Value{cst.Tag(v.Int() + 1), cst.Tag(v.Int() - 1)}
	case cst.KindHandle:
		return []cst.Value{cst.Handle(v.Int() + 1), cst.Handle(v.Int() - 1), cst.Handle(v.Int() + 8)}
	case cst.KindFloat:
		return []cst.Value{cst.Float(math.Nextafter(v.Float(), 1))}
	case cst.KindString:
		return []cst.Value{cst.String(v.Text() + "x"), cst.String("")}
	case cst.KindPointer:
		p := v.Pointer()
		return []cst.Value{
			cst.PointerTo(cst.Pointer{Segment: p.Segment + 1, Displacement: p.Displacement}),
			cst.PointerTo(cst.Pointer{Segment: p.Segment, Displacement: p.Displacement + 8}),
			cst.PointerTo(cst.Pointer{Segment: p.Segment, Displacement: p.Displacement, Device: 1}),
		}
	case cst.KindStatus:
		s := v.Status()
		return []cst.Value{
			cst.StatusOf(cst.Status{Source: s.Source + 1, Tag: s.Tag, Error: s.Error}),
			cst.StatusOf(cst.Status{Source: s.Source, Tag: s.Tag + 1, Error: s.Error}),
			cst.StatusOf(cst.Status{Source: s.Source, Tag: s.Tag, Error: s.Error + 1}),
		}
	case cst.KindArray:
		var elements []cst.Value
		for k := range v.Len() {
			elements = append(elements, v.Index(k))
		}
		list := []cst.Value{cst.Array(append(slices.Clone(elements), cst.String("bogus"))...)}
		for k, e := range elements {
			list = append(list, cst.Array(slices.Delete(slices.Clone(elements), k, k+1)...))
			for _, other := range variants(e) {
				changed := slices.Clone(elements)
				changed[k] = other
				list = append(list, cst.Array(changed...))
			}
		}
		return list
	}
	return nil
}

// TestCompareSees changes every value in the calls of a trace in turn, and whatever else
// there is in a call. Compare finds each of them, where it is.
func TestCompareSees(t *testing.T) {
	directory := t.TempDir()
	everything().write(t, directory)
	part := partOf(t, directory)
	find := func(position int, what string, calls Calls) {
		t.Helper()
		n, err := Compare(t.Context(), directory, func(int) Calls { return calls })
		var d *Difference
		switch {
		case position < 0 && err != nil:
			t.Errorf("%s: %v", what, err)
		case position >= 0 && (!errors.As(err, &d) || d.Position != uint64(position) || n != d.Position):
			t.Errorf("call %d, %s: found %v", position, what, err)
		}
	}
	find(-1, "unchanged", callsOf(part, nil))
	n := 0
	for f, args := range callsOf(part, nil) {
		call := string(cst.AppendCall(nil, *f, args))
		change := func(what string, change func(f *cst.Function, args []cst.Value)) {
			find(n, call+": "+what, callsOf(part, func(k int, f *cst.Function, args []cst.Value) {
				if k == n {
					change(f, args)
				}
			}))
		}
		change("name", func(f *cst.Function, _ []cst.Value) { f.Name += "x" })
		for i, p := range f.Params {
			for _, v := range variants(args[i]) {
				change("value of "+p.Name, func(_ *cst.Function, args []cst.Value) { args[i] = v })
			}
			change("name of "+p.Name, func(f *cst.Function, _ []cst.Value) { f.Params[i].Name += "x" })
			change("type of "+p.Name, func(f *cst.Function, _ []cst.Value) { f.Params[i].Type = cst.ArrayOf(p.Type) })
			change("direction of "+p.Name, func(f *cst.Function, _ []cst.Value) {
				f.Params[i].Direction = (p.Direction + 1) % 3
			})
			if p.Type.Kind == cst.KindHandle {
				change("class of "+p.Name, func(f *cst.Function, _ []cst.Value) { f.Params[i].Type.Class += "x" })
			}
		}
		find(n, call+": one argument more", edited(part, n,
			func(f *cst.Function, args []cst.Value) (*cst.Function, []cst.Value) {
				more := append(slices.Clone(f.Params), cst.Param{Name: "more", Type: cst.Type{Kind: cst.KindInt}})
				return &cst.Function{Name: f.Name, Params: more}, append(args, cst.Int(0))
			}))
		if len(args) > 0 {
			find(n, call+": one argument less", edited(part, n,
				func(f *cst.Function, args []cst.Value) (*cst.Function, []cst.Value) {
					return &cst.Function{Name: f.Name, Params: f.Params[1:]}, args[1:]
				}))
		}
		find(n, call+": without the call", edited(part, n, nil))
		n++
	}
	find(n, "one call more", func(yield func(*cst.Function, []cst.Value) bool) {
		callsOf(part, nil)(yield)
		yield(&cst.Function{Name: "MPI_Wtime"}, nil)
	})
}

// edited returns the calls of a part with another in place of call n, or none.
func edited(part merge.Part, n int, edit func(*cst.Function, []cst.Value) (*cst.Function, []cst.Value)) Calls {
	return func(yield func(*cst.Function, []cst.Value) bool) {
		k := 0
		for f, args := range callsOf(part, nil) {
			switch k++; {
			case k-1 != n:
			case edit == nil:
				continue
			default:
				f, args = edit(f, args)
			}
			if !yield(f, args) {
				return
			}
		}
	}
}
