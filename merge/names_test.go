package merge_test

import (
	"github.com/reprise-trace/reprise/internal/test/allocated"
	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/internal/test/tier"
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
)

// genName draws names of which some are of one number.
var genName = rapid.Custom(func(t *rapid.T) format.Name {
	n := format.Name{Kind: rapid.SampledFrom([]cst.Kind{cst.KindInt, cst.KindRank, cst.KindTag,
		cst.KindHandle, cst.KindPointer}).Draw(t, "kind")}
	if n.Kind == cst.KindHandle {
		n.Class = rapid.SampledFrom([]string{"", "comm", "datatype", "\xff", "site"}).Draw(t, "class")
	}
	n.Value = rapid.OneOf(rapid.Int64Range(-5, 5), rapid.Int64(),
		rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64})).Draw(t, "value")
	n.Name = rapid.SampledFrom([]string{
		"MPI_COMM_WORLD", "a", "b", "\x80", strings.Repeat("n", cst.MaxName),
		"a.c:7 f", "a.c:7 f #2", "a.c:7 f #3", "a.c:12 f", "a.c:0 f", "a.c:07 f", "a.c:1234567890",
		"a.cc:7 a::f", "a.cc:9 a::f", ":1", ":2", ":2 #2", ":1 #02",
		"f+0x1f", "f+0x20", "f+0x20 #2", "f+0x01", "f+0xfffffff", "f+0x10000000",
		strings.Repeat("n", 61) + ":98", strings.Repeat("n", 61) + ":99", strings.Repeat("n", 61) + ":100",
	}).Draw(t, "name")
	return n
})

func drawNames(t *rapid.T) []format.Name {
	return rapid.SliceOfN(genName, 0, 6).Draw(t, "names")
}

// inOrder returns names as a trace has them.
func inOrder(list []format.Name) []format.Name {
	list = slices.Clone(list)
	slices.SortFunc(list, func(n, m format.Name) int {
		if c := layout.CompareNames(n, m); c != 0 {
			return c
		}
		return strings.Compare(n.Name, m.Name)
	})
	return slices.CompactFunc(list, func(n, m format.Name) bool { return layout.CompareNames(n, m) == 0 })
}

// testNames encodes names, and compares what is read.
func testNames(t *rapid.T) {
	list := inOrder(rapid.SliceOfN(genName, 1, 50).Draw(t, "names"))
	lists := layout.NewHandleLists(list, func(class string, yield func(int64) bool) {
		if class == "comm" {
			yield(rapid.Int64().Draw(t, "used"))
		}
	})
	enc := layout.AppendNames([]byte("before"), list, lists)[len("before"):]
	got, read, err := layout.ParseNames(enc)
	if err != nil || !slices.Equal(got, list) || !reflect.DeepEqual(read, lists) {
		t.Fatalf("%x is read as %v, %v, want %v", enc, got, err, list)
	}
	for n := range enc {
		if part, _, err := layout.ParseNames(enc[:n]); err == nil && len(part) >= len(list) {
			t.Fatalf("the first %d of %d bytes are read as %v", n, len(enc), part)
		}
	}
}

func TestNames(t *testing.T) { rapid.Check(t, testNames) }

// FuzzNames checks that what is accepted is encoded as it was, and sound.
func FuzzNames(f *testing.F) {
	f.Add([]byte(forgedNames))
	f.Add(layout.AppendNames(nil,
		[]format.Name{{Kind: cst.KindTag, Class: "", Value: math.MinInt64, Name: "a"},
			{Kind: cst.KindTag, Class: "", Value: math.MaxInt64, Name: "b"},
			{Kind: cst.KindPointer, Class: "", Value: -2, Name: "MPI_IN_PLACE"}}, nil))
	places := []format.Name{{Kind: cst.KindHandle, Class: "site", Value: 1 << 50, Name: "a.c:7 f"},
		{Kind: cst.KindHandle, Class: "site", Value: 1<<50 + 1, Name: "a.c:7 f #2"},
		{Kind: cst.KindHandle, Class: "site", Value: 1<<50 + 9, Name: "a.c:5 f"}}
	f.Add(layout.AppendNames(nil, places, layout.NewHandleLists(places, func(string, func(int64) bool) {})))
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		list, lists, err := layout.ParseNames(data)
		if err != nil {
			return
		}
		if got := layout.AppendNames(nil, list, lists); !bytes.Equal(got, data) {
			t.Fatalf("encoded differently\nin  %x\nout %x", data, got)
		}
		if err := layout.CheckNames(list); err != nil || !slices.IsSortedFunc(list, layout.CompareNames) ||
			len(list) == 0 {
			t.Fatalf("accepted %v: %v", list, err)
		}
	})
}

// TestDescribeNames checks which of several names counts, and which cannot be one.
func TestDescribeNames(t *testing.T) {
	var a Accumulator
	for _, name := range []string{"b", "c", "a", "b"} {
		if err := a.Describe(
			Run{Names: []format.Name{{Kind: cst.KindTag, Class: "", Value: 1, Name: name}}}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := open(t, traceFile(t, &a)).Run().Names,
		[]format.Name{{Kind: cst.KindTag, Class: "", Value: 1, Name: "a"}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	tests := []struct {
		name format.Name
		want string
	}{
		{format.Name{Kind: cst.KindFloat, Name: "x"}, "a name of kind float"},
		{format.Name{Name: "x"}, "a name of kind invalid"},
		{format.Name{Kind: cst.KindRank, Class: "comm", Name: "x"}, `a name of class "comm" of kind rank`},
		{format.Name{Kind: cst.KindHandle, Class: strings.Repeat("c", cst.MaxName+1), Name: "x"},
			"a name of a class of 4097 bytes"},
		{format.Name{Kind: cst.KindInt}, "a name that is empty"},
		{format.Name{Kind: cst.KindInt, Name: strings.Repeat("n", cst.MaxName+1)}, "a name of 4097 bytes"},
	}
	for _, tt := range tests {
		var b Accumulator
		err := b.Describe(
			Run{Ranks: 3, Names: []format.Name{{Kind: cst.KindTag, Class: "", Value: 1, Name: "good"}, tt.name}})
		if err == nil || err.Error() != "merge: "+tt.want {
			t.Errorf("err = %v, want %s", err, tt.want)
		}
		if !bytes.Equal(partFile(t, &b), partFile(t, new(Accumulator))) {
			t.Errorf("%s: something was added", tt.want)
		}
	}
}

// TestManyNames checks that no more names are kept than a file may have.
func TestManyNames(t *testing.T) {
	tier.Long(t, "a million names")
	list := make([]format.Name, layout.MaxNames)
	for i := range list {
		list[i] = format.Name{Kind: cst.KindHandle, Class: "comm", Value: int64(i), Name: "n"}
	}
	var a, b Accumulator
	if err := a.Describe(Run{Names: list}); err != nil {
		t.Fatal(err)
	}
	if err := a.Describe(Run{Names: list[7:8]}); err != nil {
		t.Error(err)
	}
	more := []format.Name{{Kind: cst.KindTag, Class: "", Value: 0, Name: "t"}}
	const want = "merge: more than 1048576 names"
	if err := a.Describe(Run{Names: more}); err == nil || err.Error() != want {
		t.Errorf("err = %v, want %s", err, want)
	}
	if err := b.Describe(Run{Names: more}); err != nil {
		t.Fatal(err)
	}
	if err := a.Merge(&b); err == nil || err.Error() != want {
		t.Errorf("err = %v, want %s", err, want)
	}
	enc := layout.AppendNames(nil, list, nil)
	if got, _, err := layout.ParseNames(enc); err != nil || len(got) != layout.MaxNames {
		t.Errorf("%d names, %v", len(got), err)
	}
	if _, _, err := layout.ParseNames(layout.AppendNames(nil,
		append(list, format.Name{Kind: cst.KindPointer, Class: "", Value: 0, Name: "n"}), nil)); err == nil {
		t.Error("a name too many was read")
	}
}

// TestNoNames checks that a trace without names has no section of them.
func TestNoNames(t *testing.T) {
	a := accumulate(t, Run{Ranks: 1}, []Part{oneCall(0, barrier)})
	for _, file := range [][]byte{traceFile(t, a), partFile(t, a)} {
		for _, s := range contents(t, file) {
			if s.kind == layout.KindNames {
				t.Errorf("the file has %q", s.content)
			}
		}
	}
	if names := open(t, traceFile(t, a)).Run().Names; names != nil {
		t.Errorf("%v", names)
	}
}

// TestAddTraceNames checks that the names of a trace come with its ranks.
func TestAddTraceNames(t *testing.T) {
	names := []format.Name{{Kind: cst.KindRank, Class: "", Value: -1, Name: "MPI_ANY_SOURCE"}}
	trace := open(t, write(t, Run{Ranks: 9, Source: "s", Names: names}, []Part{oneCall(0, barrier)}))
	var a Accumulator
	if err := trace.AddTo(context.Background(), &a); err != nil {
		t.Fatal(err)
	}
	checkRun(t, open(t, traceFile(t, &a)).Run(), Run{Ranks: 1, Names: names})
}

func TestRefuseNames(t *testing.T) {
	long := strings.Repeat("n", cst.MaxName+1)
	tests := []struct {
		name, content string
		want          error
		text          string
	}{
		{"Empty", "", io.ErrUnexpectedEOF, "kind at offset 0"},
		{"NoKind", "\x00\x00\x00\x02a", format.ErrCorrupt, "kind at offset 0: corrupt input: a name of kind invalid"},
		{"KindOfNoNumber", "\x02\x00\x00\x02a", format.ErrCorrupt,
			"kind at offset 0: corrupt input: a name of kind float"},
		{"KindTwice", "\x05\x00\x00\x02a" + "\x05\x00\x02\x02a", format.ErrCorrupt,
			`kind at offset 5: corrupt input: rank "" follows rank ""`},
		{"KindsDescend", "\x06\x00\x00\x02a" + "\x05\x00\x00\x02a", format.ErrCorrupt,
			`kind at offset 5: corrupt input: rank "" follows tag ""`},
		{"ClassesDescend", "\x07\x01b\x00\x00\x02a" + "\x07\x01a\x00\x00\x02a", format.ErrCorrupt,
			`kind at offset 7: corrupt input: handle "a" follows handle "b"`},
		{"ClassCutOff", "\x07\x02b", format.ErrCorrupt, "class at offset 1"},
		{"ClassTooLong", "\x07" + uvarint(cst.MaxName+1) + long + "\x00\x00\x02a", format.ErrCorrupt,
			"kind at offset 0: corrupt input: a name of a class of 4097 bytes"},
		{"TooMany", "\x05\x01\x00\x02a", format.ErrCorrupt,
			"names at offset 1: corrupt input: 1 more than one in 3 bytes"},
		{"FarTooMany", "\x05" + huge, format.ErrCorrupt, "names at offset 1"},
		{"ValueOverflows", "\x05\x01\x02\x02a" + uvarint(math.MaxInt64-1) + "\x02b", format.ErrCorrupt,
			"value at offset 5: corrupt input: 9223372036854775806 more than 1"},
		{"ValueNotMinimal", "\x05\x00\x80\x00\x02a", format.ErrCorrupt, "value at offset 2"},
		{"NameEmpty", "\x05\x00\x00\x00", format.ErrCorrupt, "name at offset 3: corrupt input: a name that is empty"},
		{"NameCutOff", "\x05\x00\x00\x04a", format.ErrCorrupt, "name at offset 3"},
		{"NameTooLong", "\x05\x00\x00" + uvarint(2*(cst.MaxName+1)) + long, format.ErrCorrupt,
			"name at offset 3: corrupt input: a name of 4097 bytes"},
		{"NotMoved", "\x05\x01\x00\x0aa.c:7" + "\x00\x0aa.c:9", format.ErrCorrupt,
			`name at offset 10: corrupt input: "a.c:9" is not written so after "a.c:7"`},
		{"MovedFromNowhere", "\x05\x01\x00\x02a" + "\x00\x01", format.ErrCorrupt, "name at offset 6"},
		{"MovedBelowZero", "\x05\x01\x00\x0aa.c:7" + "\x00\x1f", format.ErrCorrupt, "name at offset 10"},
		{"MovedTooFar", "\x05\x01\x00\x0aa.c:7" + "\x00" + uvarint(1<<40|1), format.ErrCorrupt, "name at offset 10"},
		{"MovedTooLong", "\x05\x01\x00" + uvarint(2*80) + strings.Repeat("n", 78) + ":7" + "\x00\x05",
			format.ErrCorrupt, "name at offset 86"},
		{"ListOfNoHandles", "\x85\x00\x00\x02a", format.ErrCorrupt, "kind at offset 0: corrupt input: a name of kind"},
		{"Trailing", "\x05\x00\x00\x02a\x06", io.ErrUnexpectedEOF, "names at offset 6"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			change := []section{{layout.KindNames, 0, tt.content}}
			refusal{tt.name, change, layout.KindNames, 0, false, tt.want, tt.text}.check(t,
				newForgedTrace().sections(), readTrace)
			refusal{tt.name, change, layout.KindNames, 0, false, tt.want, tt.text}.check(t,
				newForgedFile().sections(), readPartFile)
		})
	}
	if Racing {
		return
	}
	claim := []byte("\x05" + uvarint(1<<40) + strings.Repeat("\x00", 1<<10))
	if n := allocated.By(1, func() { layout.ParseNames(claim) }); n > 1<<14 {
		t.Errorf("%d bytes allocated for %d bytes", n, len(claim))
	}
}

// TestDescribedNames checks that the arguments of signatures are called by their
// names, those that ranks have in common and those that they have not.
func TestDescribedNames(t *testing.T) {
	f := cst.Function{Name: "f", Params: []cst.Param{
		{Name: "comm", Type: cst.HandleOf("comm")}, {Name: "win", Type: cst.HandleOf("win")},
		{Name: "buf", Type: cst.Type{Kind: cst.KindPointer}},
		{Name: "to", Type: cst.Type{Kind: cst.KindRank}}, {Name: "types", Type: cst.ArrayOf(cst.HandleOf("datatype"))},
	}}
	var parts []Part
	for rank := range 4 {
		to := []int64{1, -2, -2, 1}[rank]
		parts = append(parts, oneCall(rank, f, cst.Handle(-3), cst.Handle(-3),
			cst.PointerTo(cst.Pointer{Segment: -16, Displacement: 8}), cst.Rank(to),
			cst.Array(cst.Handle(1), cst.Handle(2))))
	}
	trace := open(t, write(t, Run{Ranks: 4, Names: []format.Name{
		{Kind: cst.KindHandle, Class: "comm", Value: -3, Name: "MPI_COMM_WORLD"},
		{Kind: cst.KindPointer, Class: "", Value: -16, Name: "stack"},
		{Kind: cst.KindRank, Class: "", Value: -2, Name: "MPI_PROC_NULL"},
		{Kind: cst.KindHandle, Class: "datatype", Value: 2, Name: "a\n"},
	}}, parts))
	if got, want := trace.Signature(0).String(),
		`f(comm=MPI_COMM_WORLD, win=win#-3, buf=stack+8, to={MPI_PROC_NULL on 1-2, 1 on 0-3:3}, types=[datatype#1 "a\n"])`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// namesOfHandles names all handles that the calls of parts have, and a large one of each class, so
// that a trace has places of them.
func namesOfHandles(parts []Part) []format.Name {
	all := make(map[format.Name]bool)
	var add func(typ cst.Type, v cst.Value)
	add = func(typ cst.Type, v cst.Value) {
		switch typ.Kind {
		case cst.KindHandle:
			for _, h := range []int64{v.Int(), 1 << 60} {
				all[format.Name{Kind: typ.Kind, Class: typ.Class, Value: h,
					Name: fmt.Sprintf("a.c:%d f", uint32(h)%100)}] = true
			}
		case cst.KindArray:
			for i := range v.Len() {
				add(*typ.Elem, v.Index(i))
			}
		}
	}
	for _, p := range parts {
		functions := p.Table.Functions()
		for f, args := range p.Table.All() {
			for i, v := range args {
				add(functions[f].Params[i].Type, v)
			}
		}
	}
	return inOrder(slices.Collect(maps.Keys(all)))
}
