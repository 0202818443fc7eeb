package semantics_test

import (
	"reflect"
	"strings"
	"testing"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
)

// meant are the functions of MPI that mean something or make objects.
var meant = func() []spec.Function {
	var list []spec.Function
	for _, f := range spec.Functions() {
		for _, word := range []string{"end", "ecv", "Start", "Wait", "Test", "Comm_", "Type_", "cast",
			"ather", "catter", "Reduce", "Win_", "Put", "Get", "probe", "free", "ancel", "File_"} {
			if strings.Contains(f.Name, word) {
				list = append(list, f)
				break
			}
		}
	}
	return list
}()

// drawValue draws a value of a type, with numbers that are often equal.
func drawValue(t *rapid.T, typ cst.Type) cst.Value {
	small := func() int64 {
		return rapid.OneOf(rapid.Int64Range(-3, 4), rapid.SampledFrom(
			[]int64{-9, -33, 8, 16, 1 << 62, -1 << 63})).Draw(t, "n")
	}
	switch typ.Kind {
	case cst.KindFloat:
		return cst.Float(1)
	case cst.KindString:
		return cst.String("s")
	case cst.KindBytes:
		return cst.Bytes(nil)
	case cst.KindRank:
		return cst.Rank(small())
	case cst.KindTag:
		return cst.Tag(small())
	case cst.KindHandle:
		return cst.Handle(small())
	case cst.KindPointer:
		return cst.PointerTo(cst.Pointer{Segment: small()})
	case cst.KindStatus:
		return cst.StatusOf(cst.Status{Source: small(), Tag: small()})
	case cst.KindArray:
		var elems []cst.Value
		for range rapid.IntRange(0, 3).Draw(t, "elems") {
			elems = append(elems, drawValue(t, *typ.Elem))
		}
		return cst.Array(elems...)
	}
	return cst.Int(small())
}

// testAnything checks that calls that no program makes mean the same one by one as
// together, whatever that is.
func testAnything(t *rapid.T) {
	var parts []merge.Part
	ranks := rapid.IntRange(1, 3).Draw(t, "ranks")
	functions := rapid.SliceOfN(rapid.SampledFrom(meant), 1, 5).Draw(t, "functions")
	for rank := range ranks {
		var r recording
		for range rapid.IntRange(0, 12).Draw(t, "calls") {
			f := rapid.SampledFrom(functions).Draw(t, "function")
			made := cst.Function{Name: f.Name}
			var args []cst.Value
			for _, p := range f.Params {
				q := cst.Param{Name: p.Name, Type: p.Type, Direction: p.Direction}
				switch rapid.IntRange(0, 19).Draw(t, "odd") {
				case 0:
					continue
				case 1:
					q.Type = cst.ArrayOf(cst.ArrayOf(cst.Type{Kind: cst.KindInt}))
				case 2:
					q.Type = cst.ArrayOf(cst.Type{Kind: cst.KindFloat})
				}
				made.Params = append(made.Params, q)
				args = append(args, drawValue(t, q.Type))
			}
			r.Call(r.Declare(made), args...)
		}
		parts = append(parts, r.Finish(rank))
	}
	m := modelOf(t, written(t, merge.Run{Ranks: ranks}, parts))
	for rank := range ranks {
		r, err := m.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		each(t, m, rank, func(position uint64, c trace.Call, o *semantics.Operation) {
			if o == nil {
				return
			}
			for _, message := range o.Messages {
				if message.Peer < semantics.NoPeer || message.Peer >= ranks ||
					message.Bytes < semantics.Unknown || message.Elements < semantics.Unknown {
					t.Fatalf("%s means %s", c, text(o))
				}
			}
			checkExchange(t, r, position, c, o, ranks)
			if o.Root < -1 || o.Root >= ranks || o.Sent < semantics.Unknown || o.Received < semantics.Unknown {
				t.Fatalf("%s means %s", c, text(o))
			}
		})
	}
}

// checkExchange checks that what a call exchanges is with ranks that there are, and is the same
// wherever the call means the same.
func checkExchange(t *rapid.T, r *semantics.Rank, position uint64, c trace.Call, o *semantics.Operation, ranks int) {
	x := r.Exchange(o)
	if at, ok := semantics.ExchangeAt(r, o, position, c.Terminal); ok && !reflect.DeepEqual(at, x) {
		t.Fatalf("%s exchanges %+v, but at %d %+v", c, x, position, at)
	}
	members := len(x.Peers)
	switch x.With {
	case semantics.Nobody, semantics.SomeUnknown:
		return
	case semantics.EachOther, semantics.EachHigher:
		members = len(o.Communicator.Members(x.Group))
	}
	for _, peer := range x.Peers {
		if peer < 0 || peer >= ranks {
			t.Fatalf("%s exchanges %+v", c, x)
		}
	}
	if members == 0 || x.Blocks != nil && len(x.Blocks) != members || x.Bytes < semantics.Unknown {
		t.Fatalf("%s exchanges %+v with %d members", c, x, members)
	}
}

func TestAnything(t *testing.T) { rapid.Check(t, testAnything) }

func FuzzAnything(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testAnything)) }
