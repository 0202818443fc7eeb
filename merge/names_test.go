package merge

import (
	"bytes"
	"context"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
)

// genName draws names of which some are of one number.
var genName = rapid.Custom(func(t *rapid.T) Name {
	n := Name{Kind: rapid.SampledFrom([]cst.Kind{cst.KindInt, cst.KindRank, cst.KindTag, cst.KindHandle, cst.KindPointer}).Draw(t, "kind")}
	if n.Kind == cst.KindHandle {
		n.Class = rapid.SampledFrom([]string{"", "comm", "datatype", "\xff"}).Draw(t, "class")
	}
	n.Value = rapid.OneOf(rapid.Int64Range(-5, 5), rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64})).Draw(t, "value")
	n.Name = rapid.SampledFrom([]string{"MPI_COMM_WORLD", "a", "b", "\x80", strings.Repeat("n", cst.MaxName)}).Draw(t, "name")
	return n
})

func drawNames(t *rapid.T) []Name {
	return rapid.SliceOfN(genName, 0, 6).Draw(t, "names")
}

// inOrder returns names as a trace has them.
func inOrder(list []Name) []Name {
	list = slices.Clone(list)
	slices.SortFunc(list, func(n, m Name) int {
		if c := compareNames(n, m); c != 0 {
			return c
		}
		return strings.Compare(n.Name, m.Name)
	})
	return slices.CompactFunc(list, func(n, m Name) bool { return compareNames(n, m) == 0 })
}

// testNames encodes names, and compares what is read.
func testNames(t *rapid.T) {
	list := inOrder(rapid.SliceOfN(genName, 1, 50).Draw(t, "names"))
	enc := appendNames([]byte("before"), list)[len("before"):]
	got, err := parseNames(enc)
	if err != nil || !slices.Equal(got, list) {
		t.Fatalf("%x is read as %v, %v, want %v", enc, got, err, list)
	}
	for n := range enc {
		if part, err := parseNames(enc[:n]); err == nil && len(part) >= len(list) {
			t.Fatalf("the first %d of %d bytes are read as %v", n, len(enc), part)
		}
	}
}

func TestNames(t *testing.T) { rapid.Check(t, testNames) }

// FuzzNames checks that what is accepted is encoded as it was, and sound.
func FuzzNames(f *testing.F) {
	f.Add([]byte(forgedNames))
	f.Add(appendNames(nil, []Name{{cst.KindTag, "", math.MinInt64, "a"}, {cst.KindTag, "", math.MaxInt64, "b"}, {cst.KindPointer, "", -2, "MPI_IN_PLACE"}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := parseNames(data)
		if err != nil {
			return
		}
		if got := appendNames(nil, list); !bytes.Equal(got, data) {
			t.Fatalf("encoded differently\nin  %x\nout %x", data, got)
		}
		if err := checkNames(list); err != nil || !slices.IsSortedFunc(list, compareNames) || len(list) == 0 {
			t.Fatalf("accepted %v: %v", list, err)
		}
	})
}

// TestDescribeNames checks which of several names counts, and which cannot be one.
func TestDescribeNames(t *testing.T) {
	var a Accumulator
	for _, name := range []string{"b", "c", "a", "b"} {
		if err := a.Describe(Run{Names: []Name{{cst.KindTag, "", 1, name}}}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := open(t, traceFile(t, &a)).Run().Names, []Name{{cst.KindTag, "", 1, "a"}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	tests := []struct {
		name Name
		want string
	}{
		{Name{Kind: cst.KindFloat, Name: "x"}, "a name of kind float"},
		{Name{Name: "x"}, "a name of kind invalid"},
		{Name{Kind: cst.KindRank, Class: "comm", Name: "x"}, `a name of class "comm" of kind rank`},
		{Name{Kind: cst.KindHandle, Class: strings.Repeat("c", cst.MaxName+1), Name: "x"}, "a name of a class of 4097 bytes"},
		{Name{Kind: cst.KindInt}, "a name that is empty"},
		{Name{Kind: cst.KindInt, Name: strings.Repeat("n", cst.MaxName+1)}, "a name of 4097 bytes"},
	}
	for _, tt := range tests {
		var b Accumulator
		err := b.Describe(Run{Ranks: 3, Names: []Name{{cst.KindTag, "", 1, "good"}, tt.name}})
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
	list := make([]Name, maxNames)
	for i := range list {
		list[i] = Name{cst.KindHandle, "comm", int64(i), "n"}
	}
	var a, b Accumulator
	if err := a.Describe(Run{Names: list}); err != nil {
		t.Fatal(err)
	}
	if err := a.Describe(Run{Names: list[7:8]}); err != nil {
		t.Error(err)
	}
	more := []Name{{cst.KindTag, "", 0, "t"}}
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
	enc := appendNames(nil, list)
	if got, err := parseNames(enc); err != nil || len(got) != maxNames {
		t.Errorf("%d names, %v", len(got), err)
	}
	if _, err := parseNames(appendNames(nil, append(list, Name{cst.KindPointer, "", 0, "n"}))); err == nil {
		t.Error("a name too many was read")
	}
}

// TestNoNames checks that a trace without names has no section of them.
func TestNoNames(t *testing.T) {
	a := accumulate(t, Run{Ranks: 1}, []Part{oneCall(0, barrier)})
	for _, file := range [][]byte{traceFile(t, a), partFile(t, a)} {
		for _, s := range contents(t, file) {
			if s.kind == KindNames {
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
	names := []Name{{cst.KindRank, "", -1, "MPI_ANY_SOURCE"}}
	trace := open(t, write(t, Run{Ranks: 9, Source: "s", Names: names}, []Part{oneCall(0, barrier)}))
	var a Accumulator
	if err := a.AddTrace(context.Background(), trace); err != nil {
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
		{"NoKind", "\x00\x00\x00\x01a", ErrCorrupt, "kind at offset 0: corrupt input: a name of kind invalid"},
		{"KindOfNoNumber", "\x02\x00\x00\x01a", ErrCorrupt, "kind at offset 0: corrupt input: a name of kind float"},
		{"KindTwice", "\x05\x00\x00\x01a" + "\x05\x00\x02\x01a", ErrCorrupt, `kind at offset 5: corrupt input: rank "" follows rank ""`},
		{"KindsDescend", "\x06\x00\x00\x01a" + "\x05\x00\x00\x01a", ErrCorrupt, `kind at offset 5: corrupt input: rank "" follows tag ""`},
		{"ClassesDescend", "\x07\x01b\x00\x00\x01a" + "\x07\x01a\x00\x00\x01a", ErrCorrupt, `kind at offset 7: corrupt input: handle "a" follows handle "b"`},
		{"ClassCutOff", "\x07\x02b", ErrCorrupt, "class at offset 1"},
		{"ClassTooLong", "\x07" + uvarint(cst.MaxName+1) + long + "\x00\x00\x01a", ErrCorrupt, "kind at offset 0: corrupt input: a name of a class of 4097 bytes"},
		{"TooMany", "\x05\x01\x00\x01a", ErrCorrupt, "names at offset 1: corrupt input: 1 more than one in 3 bytes"},
		{"FarTooMany", "\x05" + huge, ErrCorrupt, "names at offset 1"},
		{"ValueOverflows", "\x05\x01\x02\x01a" + uvarint(math.MaxInt64-1) + "\x01b", ErrCorrupt, "value at offset 5: corrupt input: 9223372036854775806 more than 1"},
		{"ValueNotMinimal", "\x05\x00\x80\x00\x01a", ErrCorrupt, "value at offset 2"},
		{"NameEmpty", "\x05\x00\x00\x00", ErrCorrupt, "name at offset 3: corrupt input: a name that is empty"},
		{"NameCutOff", "\x05\x00\x00\x02a", ErrCorrupt, "name at offset 3"},
		{"NameTooLong", "\x05\x00\x00" + uvarint(cst.MaxName+1) + long, ErrCorrupt, "name at offset 3: corrupt input: a name of 4097 bytes"},
		{"Trailing", "\x05\x00\x00\x01a\x06", io.ErrUnexpectedEOF, "names at offset 6"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			change := []section{{KindNames, 0, tt.content}}
			refusal{tt.name, change, KindNames, 0, false, tt.want, tt.text}.check(t, newForgedTrace().sections(), readTrace)
			refusal{tt.name, change, KindNames, 0, false, tt.want, tt.text}.check(t, newForgedFile().sections(), readPartFile)
		})
	}
	if Racing {
		return
	}
	claim := []byte("\x05" + uvarint(1<<40) + strings.Repeat("\x00", 1<<10))
	if n := allocated(func() { parseNames(claim) }); n > 1<<14 {
		t.Errorf("%d bytes allocated for %d bytes", n, len(claim))
	}
}

// TestDescribedNames checks that the arguments of signatures are called by their
// names, those that ranks have in common and those that they have not.
func TestDescribedNames(t *testing.T) {
	f := cst.Function{Name: "f", Params: []cst.Param{
		{Name: "comm", Type: cst.HandleOf("comm")}, {Name: "win", Type: cst.HandleOf("win")}, {Name: "buf", Type: cst.Type{Kind: cst.KindPointer}},
		{Name: "to", Type: cst.Type{Kind: cst.KindRank}}, {Name: "types", Type: cst.ArrayOf(cst.HandleOf("datatype"))},
	}}
	var parts []Part
	for rank := range 4 {
		to := []int64{1, -2, -2, 1}[rank]
		parts = append(parts, oneCall(rank, f, cst.Handle(-3), cst.Handle(-3), cst.PointerTo(cst.Pointer{Segment: -16, Displacement: 8}), cst.Rank(to),
			cst.Array(cst.Handle(1), cst.Handle(2))))
	}
	trace := open(t, write(t, Run{Ranks: 4, Names: []Name{
		{cst.KindHandle, "comm", -3, "MPI_COMM_WORLD"}, {cst.KindPointer, "", -16, "stack"}, {cst.KindRank, "", -2, "MPI_PROC_NULL"}, {cst.KindHandle, "datatype", 2, "a\n"},
	}}, parts))
	s, err := trace.Signature(0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.String(), `f(comm=MPI_COMM_WORLD, win=-3, buf=stack+8, to={MPI_PROC_NULL on 1-2, 1 on 0-3:3}, types=[1 "a\n"])`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
