package cst

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
)

// nested returns the type of arrays of arrays of … of elem.
func nested(depth int, elem Type) Type {
	for range depth {
		elem = ArrayOf(elem)
	}
	return elem
}

// valueTests has values of every kind, at the edges of what the kind can hold.
var valueTests = []struct {
	name string
	typ  Type
	v    Value
	enc  string // wanted, without the function number; "" where it is long
	text string // wanted; "" where it is long
}{
	{"Zero", Type{Kind: KindInt}, Int(0), "\x00", "0"},
	{"MinusOne", Type{Kind: KindInt}, Int(-1), "\x01", "-1"},
	{"MaxInt", Type{Kind: KindInt}, Int(math.MaxInt64), "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"9223372036854775807"},
	{"MinInt", Type{Kind: KindInt}, Int(math.MinInt64), "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"-9223372036854775808"},
	{"Rank", Type{Kind: KindRank}, Rank(64), "\x80\x01", "64"},
	{"Tag", Type{Kind: KindTag}, Tag(-64), "\x7f", "-64"},
	{"Handle", HandleOf("comm"), Handle(3), "\x06", "3"},
	{"HandleOfNoClass", HandleOf(""), Handle(3), "\x06", "3"},
	{"FloatZero", Type{Kind: KindFloat}, Float(0), "\x00\x00\x00\x00\x00\x00\x00\x00", "0"},
	{"FloatMinusZero", Type{Kind: KindFloat}, Float(math.Copysign(0, -1)), "\x00\x00\x00\x00\x00\x00\x00\x80", "-0"},
	{"FloatTenth", Type{Kind: KindFloat}, Float(0.1), "\x9a\x99\x99\x99\x99\x99\xb9\x3f", "0.1"},
	{"FloatInf", Type{Kind: KindFloat}, Float(math.Inf(1)), "\x00\x00\x00\x00\x00\x00\xf0\x7f", "+Inf"},
	{"FloatMinusInf", Type{Kind: KindFloat}, Float(math.Inf(-1)), "\x00\x00\x00\x00\x00\x00\xf0\xff", "-Inf"},
	{"FloatDenormal", Type{Kind: KindFloat}, Float(5e-324), "\x01\x00\x00\x00\x00\x00\x00\x00", "5e-324"},
	{"FloatMax", Type{Kind: KindFloat}, Float(math.MaxFloat64), "", "1.7976931348623157e+308"},
	{"NaN", Type{Kind: KindFloat}, Float(math.NaN()), "\x01\x00\x00\x00\x00\x00\xf8\x7f", "NaN"},
	{"NaNPayload", Type{Kind: KindFloat}, Float(math.Float64frombits(0xfff00000deadbeef)),
		"\xef\xbe\xad\xde\x00\x00\xf0\xff", "NaN(0xfff00000deadbeef)"},
	{"String", Type{Kind: KindString}, String("my-comm"), "\x07my-comm", `"my-comm"`},
	{"StringOther", Type{Kind: KindString}, String("my-comn"), "\x07my-comn", `"my-comn"`},
	{"StringEmpty", Type{Kind: KindString}, String(""), "\x00", `""`},
	{"StringNotUTF8", Type{Kind: KindString}, String("\xff\x00\n"), "\x03\xff\x00\n", `"\xff\x00\n"`},
	{"StringMiB", Type{Kind: KindString}, String(strings.Repeat("x", 1<<20)), "", ""},
	{"Bytes", Type{Kind: KindBytes}, Bytes([]byte{0, 0xab}), "\x02\x00\xab", "0x00ab"},
	{"BytesEmpty", Type{Kind: KindBytes}, Bytes(nil), "\x00", "0x"},
	{"Pointer", Type{Kind: KindPointer}, PointerTo(Pointer{3, 16, 0}), "\x06\x20\x00", "seg3+16"},
	{"PointerNextByte", Type{Kind: KindPointer}, PointerTo(Pointer{3, 17, 0}), "\x06\x22\x00", "seg3+17"},
	{"PointerBefore", Type{Kind: KindPointer}, PointerTo(Pointer{-1, -16, 1}), "\x01\x1f\x02", "seg-1-16@1"},
	{"PointerFarDevice", Type{Kind: KindPointer}, PointerTo(Pointer{0, 0, math.MinInt64}), "",
		"seg0+0@-9223372036854775808"},
	{"PointerInt32Device", Type{Kind: KindPointer}, PointerTo(Pointer{0, 0, math.MaxInt32}), "", "seg0+0@2147483647"},
	{"PointerOverInt32Device", Type{Kind: KindPointer}, PointerTo(Pointer{0, 0, math.MaxInt32 + 1}), "",
		"seg0+0@2147483648"},
	{"Status", Type{Kind: KindStatus}, StatusOf(Status{1, 99, 0}), "\x02\xc6\x01\x00", "{source=1, tag=99, error=0}"},
	{"StatusWide", Type{Kind: KindStatus}, StatusOf(Status{math.MaxInt64, math.MinInt64, math.MaxInt64}), "",
		"{source=9223372036854775807, tag=-9223372036854775808, error=9223372036854775807}"},
	{"Array", nested(1, Type{Kind: KindInt}), Array(Int(1), Int(2), Int(3)), "\x03\x02\x04\x06", "[1 2 3]"},
	{"ArrayEmpty", nested(1, Type{Kind: KindInt}), Array(), "\x00", "[]"},
	{"ArrayOfStatus", nested(1, Type{Kind: KindStatus}), Array(StatusOf(Status{1, 2, 0})), "\x01\x02\x04\x00",
		"[{source=1, tag=2, error=0}]"},
	{"ArrayOfStrings", nested(1, Type{Kind: KindString}), Array(String("a"), String("")), "\x02\x01a\x00", `["a" ""]`},
	{"ArrayOfArrays", nested(2, Type{Kind: KindRank}), Array(Array(), Array(Rank(1), Rank(-1))),
		"\x02\x00\x02\x02\x01", "[[] [1 -1]]"},
	{"ArrayDeepest", nested(maxDepth, Type{Kind: KindInt}), Array(Array()), "\x01\x00", "[[]]"},
}

// function returns a function with one parameter for each type.
func function(types ...Type) Function {
	f := Function{Name: "f"}
	for _, t := range types {
		f.Params = append(f.Params, Param{Name: "p", Type: t})
	}
	return f
}

func TestValue(t *testing.T) {
	for _, tt := range valueTests {
		t.Run(tt.name, func(t *testing.T) {
			var table Table
			terminal := table.Intern(table.Declare(function(tt.typ)), tt.v)
			if enc := string(table.encoded(terminal)[1:]); tt.enc != "" && enc != tt.enc {
				t.Errorf("encoded as %x, want %x", enc, tt.enc)
			}
			if text := tt.v.String(); tt.text != "" && text != tt.text {
				t.Errorf("text = %s, want %s", text, tt.text)
			}
			if _, args := table.Signature(terminal); len(args) != 1 || !args[0].Equal(tt.v) {
				t.Errorf("decoded as %v, want %v", args, tt.v)
			}
			for _, other := range valueTests {
				if same := other.name == tt.name; tt.v.Equal(other.v) != same && tt.typ.Equal(other.typ) {
					t.Errorf("equal to %s = %v, want %v", other.name, !same, same)
				}
			}
		})
	}
}

func TestValueAccessors(t *testing.T) {
	p, s := Pointer{1, -2, 1 << 40}, Status{1, 2, -3}
	if got := PointerTo(p).Pointer(); got != p {
		t.Errorf("Pointer = %v, want %v", got, p)
	}
	if got := StatusOf(s).Status(); got != s {
		t.Errorf("Status = %v, want %v", got, s)
	}
	for _, v := range []Value{Int(-7), Rank(-7), Tag(-7), Handle(-7)} {
		if v.Int() != -7 {
			t.Errorf("Int of a %v = %d", v.Kind(), v.Int())
		}
	}
	if v := Float(1.5); v.Float() != 1.5 {
		t.Errorf("Float = %v", v.Float())
	}
	if a, b := String("a\xff").Text(), Bytes([]byte("a\xff")).Text(); a != "a\xff" || b != a {
		t.Errorf("Text = %q, %q", a, b)
	}
	b := []byte("abc")
	v := Bytes(b)
	if clear(b); v.Text() != "abc" {
		t.Errorf("Bytes became %q with the slice it was made from", v.Text())
	}
	if v := Array(Int(4), Int(5)); v.Len() != 2 || v.Index(1).Int() != 5 {
		t.Errorf("Len, Index(1) = %d, %v", v.Len(), v.Index(1))
	}
	if k := (Value{}).Kind(); k != 0 || (Value{}).String() != "invalid" {
		t.Errorf("the zero Value has kind %d and text %q", k, Value{})
	}
	for name, f := range map[string]func(){
		"Int":     func() { Float(1).Int() },
		"Float":   func() { Int(1).Float() },
		"Text":    func() { Int(1).Text() },
		"Pointer": func() { StatusOf(s).Pointer() },
		"Status":  func() { PointerTo(p).Status() },
		"Len":     func() { String("abc").Len() },
		"Index":   func() { String("abc").Index(0) },
		"Range":   func() { Array(Int(1)).Index(1) },
	} {
		if !panics(f) {
			t.Errorf("%s of another kind or out of range does not panic", name)
		}
	}
}

func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return
}

func TestAppendCall(t *testing.T) {
	args := []Value{PointerTo(Pointer{3, 16, 0}), Int(1), Handle(2), Rank(5), Tag(99), Handle(0)}
	const want = "> MPI_Send(buf=seg3+16, count=1, datatype=2, dest=5, tag=99, comm=0)"
	if got := string(AppendCall([]byte("> "), send, args)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string(AppendCall(nil, Function{Name: "MPI_Finalize"}, nil)); got != "MPI_Finalize()" {
		t.Errorf("got %s", got)
	}
	hostile := Function{Name: "f\x1b[2J\n", Params: []Param{{Name: "größe", Type: Type{Kind: KindInt}},
		{Name: "\xff", Type: Type{Kind: KindInt}}}}
	if got, want := string(AppendCall(nil, hostile, []Value{Int(1), Int(2)})),
		`"f\x1b[2J\n"(größe=1, "\xff"=2)`; got != want {
		t.Errorf("call = %s, want %s", got, want)
	}
	if !panics(func() { AppendCall(nil, send, args[1:]) }) {
		t.Error("accepted five arguments for six parameters")
	}
}

func TestValidate(t *testing.T) {
	circle := Type{Kind: KindArray}
	circle.Elem = &circle
	long := strings.Repeat("x", MaxName+1)
	tests := []struct {
		name string
		f    Function
		ok   bool
	}{
		{"Zero", Function{}, true},
		{"NoParameters", Function{Name: "MPI_Finalize"}, true},
		{"Send", send, true},
		{"LongestName", Function{Name: long[1:]}, true},
		{"Deepest", function(nested(maxDepth, HandleOf("comm"))), true},
		{"NameTooLong", Function{Name: long}, false},
		{"ParameterNameTooLong", Function{Params: []Param{{Name: long, Type: Type{Kind: KindInt}}}}, false},
		{"ClassTooLong", function(HandleOf(long)), false},
		{"TooDeep", function(nested(maxDepth+1, Type{Kind: KindInt})), false},
		{"Circular", function(circle), false},
		{"NoKind", function(Type{}), false},
		{"BadKind", function(Type{Kind: KindArray + 1}), false},
		{"BadElement", function(nested(2, Type{})), false},
		{"ArrayOfNothing", function(Type{Kind: KindArray}), false},
		{"ClassOfInt", function(Type{Kind: KindInt, Class: "comm"}), false},
		{"ClassOfArray", function(Type{Kind: KindArray, Class: "comm", Elem: &Type{Kind: KindInt}}), false},
		{"ElementOfInt", function(Type{Kind: KindInt, Elem: &Type{Kind: KindInt}}), false},
		{"BadDirection", Function{Params: []Param{{Type: Type{Kind: KindInt}, Direction: InOut + 1}}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.f.Validate(); (err == nil) != tt.ok {
				t.Errorf("Validate = %v, want ok = %v", err, tt.ok)
			}
			if panics(func() { new(Table).Declare(tt.f) }) == tt.ok {
				t.Errorf("Declare disagrees with Validate")
			}
		})
	}
}

func TestTypeString(t *testing.T) {
	for _, tt := range []struct {
		t    Type
		want string
	}{
		{Type{Kind: KindStatus}, "status"},
		{nested(2, HandleOf("comm")), "array of array of handle(comm)"},
		{Type{}, "invalid"},
	} {
		if got := tt.t.String(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

// typeGen draws types with arrays to any depth, mostly shallow.
var typeGen = rapid.Custom(func(t *rapid.T) Type {
	typ := Type{Kind: rapid.SampledFrom([]Kind{KindInt, KindFloat, KindString, KindBytes, KindRank, KindTag,
		KindHandle, KindPointer, KindStatus}).Draw(t, "kind")}
	if typ.Kind == KindHandle {
		typ.Class = rapid.SampledFrom([]string{"comm", "datatype", "a", ""}).Draw(t, "class")
	}
	return nested(rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 3, maxDepth}).Draw(t, "depth"), typ)
})

// functionGen draws functions that share names and parameters.
var functionGen = rapid.Custom(func(t *rapid.T) Function {
	name := rapid.OneOf(rapid.SampledFrom([]string{"a", "b", "comm", ""}), rapid.String())
	f := Function{Name: name.Draw(t, "name")}
	for range rapid.IntRange(0, 6).Draw(t, "params") {
		f.Params = append(f.Params, Param{
			Name:      name.Draw(t, "param"),
			Type:      typeGen.Draw(t, "type"),
			Direction: Direction(rapid.IntRange(0, int(InOut)).Draw(t, "direction")),
		})
	}
	return f
})

// intGen draws small numbers, which repeat, and those at the edges.
var intGen = rapid.OneOf(
	rapid.Int64Range(-2, 2),
	rapid.SampledFrom([]int64{63, 64, -64, -65, math.MaxInt32, math.MaxInt32 + 1, math.MinInt32 - 1,
		math.MaxInt64, math.MinInt64}),
	rapid.Int64(),
)

// drawValue draws a value of a type.
func drawValue(t *rapid.T, typ Type) Value {
	number := func() int64 { return intGen.Draw(t, "number") }
	switch typ.Kind {
	case KindInt:
		return Int(number())
	case KindRank:
		return Rank(number())
	case KindTag:
		return Tag(number())
	case KindHandle:
		return Handle(number())
	case KindFloat:
		return Float(math.Float64frombits(uint64(number())))
	case KindString:
		return String(string(rapid.SliceOf(rapid.Byte()).Draw(t, "text")))
	case KindBytes:
		return Bytes(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	case KindPointer:
		return PointerTo(Pointer{number(), number(), number()})
	case KindStatus:
		return StatusOf(Status{number(), number(), number()})
	}
	elems := make([]Value, rapid.SampledFrom([]int{0, 1, 1, 2}).Draw(t, "length"))
	for i := range elems {
		elems[i] = drawValue(t, *typ.Elem)
		if typ.Elem.Kind == KindArray {
			elems = elems[:1] // or the deepest types would have 2³² elements
			break
		}
	}
	if typ.Elem.Kind.isNumber() && rapid.Bool().Draw(t, "packed") {
		return packedOf(typ.Elem.Kind, elems)
	}
	return Array(elems...)
}

// packedOf returns the array of values that are numbers as Numbers has it.
func packedOf(kind Kind, elems []Value) Value {
	numbers := make([]int64, len(elems))
	for i, e := range elems {
		numbers[i] = e.Int()
	}
	return Numbers(kind, numbers)
}

// TestNumbers compares arrays of numbers with those of the same values.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := Type{Kind: rapid.SampledFrom([]Kind{KindInt, KindRank, KindTag, KindHandle}).Draw(t, "kind")}
		elems := make([]Value, rapid.IntRange(0, 4).Draw(t, "length"))
		for i := range elems {
			elems[i] = drawValue(t, typ)
		}
		v, w := packedOf(typ.Kind, elems), Array(elems...)
		if !v.Equal(w) || !w.Equal(v) || !v.Equal(packedOf(typ.Kind, elems)) || v.Len() != len(elems) ||
			v.String() != w.String() {
			t.Fatalf("%v, as numbers %v", w, v)
		}
		for i, e := range elems {
			if got := v.Index(i); !got.Equal(e) {
				t.Fatalf("Index(%d) = %v of kind %v, want %v", i, got, got.Kind(), e)
			}
			other := slices.Clone(elems)
			other[i] = Value{head: e.head, a: e.a ^ 1}
			if v.Equal(Array(other...)) || v.Equal(packedOf(typ.Kind, other)) || Array(other...).Equal(v) {
				t.Fatalf("%v equals %v", v, other)
			}
		}
		if len(elems) > 0 && v.Equal(Array(slices.Repeat([]Value{Float(0)}, len(elems))...)) {
			t.Fatalf("%v equals floats", v)
		}
		var table Table
		fn := table.Declare(function(nested(1, typ)))
		if a, b := table.Intern(fn, v), table.Intern(fn, w); a != b {
			t.Fatalf("terminals %d and %d of %v", a, b, v)
		}
	})
	var table Table
	fn := table.Declare(function(nested(1, Type{Kind: KindRank})))
	if _, err := table.TryIntern(fn, Numbers(KindInt, []int64{1})); err == nil {
		t.Error("ints are accepted as ranks")
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("floats are accepted as numbers")
			}
		}()
		Numbers(KindFloat, nil)
	}()
}

func drawArgs(t *rapid.T, f Function) []Value {
	args := make([]Value, len(f.Params))
	for i, p := range f.Params {
		args[i] = drawValue(t, p.Type)
	}
	return args
}

// drawTable draws a table with signatures of up to five functions.
func drawTable(t *rapid.T) *Table {
	var table Table
	for range rapid.IntRange(0, 5).Draw(t, "functions") {
		f := functionGen.Draw(t, "function")
		fn := table.Declare(f)
		for range rapid.IntRange(0, 4).Draw(t, "signatures") {
			table.InternRun(fn, rapid.Uint64().Draw(t, "n"), drawArgs(t, f)...)
		}
	}
	return &table
}

// testRoundTrip checks the whole encoding and its two halves.
func testRoundTrip(t *rapid.T) {
	table := drawTable(t)
	prefix := rapid.SliceOf(rapid.Byte()).Draw(t, "prefix")
	enc, err := table.AppendBinary(bytes.Clone(prefix))
	if err != nil || !bytes.HasPrefix(enc, prefix) {
		t.Fatalf("AppendBinary = %x, %v, want prefix %x", enc, err, prefix)
	}
	got, err := Parse(enc[len(prefix):])
	if err != nil {
		t.Fatal(err)
	}
	if !got.Equal(table) {
		t.Fatalf("parsed %+v, want %+v", got, table)
	}

	functions, err := ParseFunctions(table.AppendFunctions(nil))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(functions.Functions(), table.Functions(), Function.Equal) || functions.Len() != 0 {
		t.Fatalf("parsed functions %v, want %v", functions.Functions(), table.Functions())
	}
}

func TestRoundTrip(t *testing.T) { rapid.Check(t, testRoundTrip) }

// Equal reports whether t and u hold the same functions, signatures and counts
// in the same order, which is to say, have the same encoding.
func (t *Table) Equal(u *Table) bool {
	return u != nil && slices.EqualFunc(t.functions, u.functions, Function.Equal) &&
		slices.Equal(t.entries, u.entries) && bytes.Equal(t.arena, u.arena)
}
