package cst

import (
	"math"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// A model is what a Table is meant to be, found by looking through all of it.
type model struct {
	functions []Function
	calls     []modelCall
}

type modelCall struct {
	fn    int
	args  []Value
	count uint64
}

func (m *model) declare(f Function) int {
	if i := slices.IndexFunc(m.functions, f.Equal); i >= 0 {
		return i
	}
	m.functions = append(m.functions, f)
	return len(m.functions) - 1
}

func (m *model) intern(fn int, n uint64, args []Value) uint32 {
	for i, c := range m.calls {
		if c.fn == fn && slices.EqualFunc(c.args, args, Value.Equal) {
			m.calls[i].count += n
			return uint32(i)
		}
	}
	m.calls = append(m.calls, modelCall{fn, args, n})
	return uint32(len(m.calls) - 1)
}

// check compares a table with the model.
func (m *model) check(t *rapid.T, table *Table) {
	if !slices.EqualFunc(table.Functions(), m.functions, Function.Equal) || table.Len() != len(m.calls) {
		t.Fatalf("%d functions, %d signatures, want %d, %d", len(table.Functions()), table.Len(),
			len(m.functions), len(m.calls))
	}
	var terminal uint32
	for fn, args := range table.All() {
		c := m.calls[terminal]
		if fn != c.fn || !slices.EqualFunc(args, c.args, Value.Equal) || table.Count(terminal) != c.count {
			t.Fatalf("signature %d is %d%v, %d times, want %+v", terminal, fn, args, table.Count(terminal), c)
		}
		terminal++
	}
	if int(terminal) != len(m.calls) {
		t.Fatalf("%d signatures, want %d", terminal, len(m.calls))
	}
}

func TestTableModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			table Table
			m     model
		)
		declare := func(f Function) int {
			fn, want := table.Declare(f), m.declare(f)
			if fn != want {
				t.Fatalf("Declare = %d, want %d", fn, want)
			}
			return fn
		}
		intern := func(fn int, n uint64, args []Value) {
			var terminal uint32
			if n == 1 {
				terminal = table.Intern(fn, args...)
			} else {
				terminal = table.InternRun(fn, n, args...)
			}
			if want := m.intern(fn, n, args); terminal != want {
				t.Fatalf("terminal = %d, want %d", terminal, want)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"declare": func(t *rapid.T) { declare(functionGen.Draw(t, "function")) },
			"new": func(t *rapid.T) {
				f := functionGen.Draw(t, "function")
				intern(declare(f), uint64(rapid.IntRange(0, 3).Draw(t, "n")), drawArgs(t, f))
			},
			"many": func(t *rapid.T) { // makes the table grow
				fn := declare(function(Type{Kind: KindInt}))
				for i := range rapid.IntRange(0, 40).Draw(t, "many") {
					intern(fn, 1, []Value{Int(int64(i))})
				}
			},
			"again": func(t *rapid.T) {
				if len(m.calls) > 0 {
					c := rapid.SampledFrom(m.calls).Draw(t, "call")
					intern(c.fn, 1, c.args)
				}
			},
			"": func(t *rapid.T) { m.check(t, &table) },
		})
	})
}

// TestMerge checks that mapping back gives the same functions, signatures and
// counts, that everything in the result comes from a or b, and in which order.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawTable(t), drawTable(t)
		var m model
		for _, from := range []*Table{a, b} { // a's signatures in part
			for terminal := range uint32(from.Len()) {
				if fn, args := from.Signature(terminal); rapid.Bool().Draw(t, "share") {
					b.Intern(b.Declare(from.Functions()[fn]), args...)
				}
			}
		}
		before := []*Table{clone(t, a), clone(t, b)}
		merged, fromA, fromB := Merge(a, b)
		if !a.Equal(before[0]) || !b.Equal(before[1]) {
			t.Fatal("Merge changed its arguments")
		}
		for i, from := range []*Table{a, b} {
			numbers := make([]int, len(from.Functions()))
			for fn, f := range from.Functions() {
				numbers[fn] = m.declare(f)
			}
			for terminal := range uint32(from.Len()) {
				fn, args := from.Signature(terminal)
				want := m.intern(numbers[fn], 0, args)
				m.calls[want].count = addSaturated(m.calls[want].count, from.Count(terminal))
				if got := [][]uint32{fromA, fromB}[i][terminal]; got != want {
					t.Fatalf("terminal %d of table %d is %d, want %d", terminal, i, got, want)
				}
			}
		}
		if len(fromA) != a.Len() || len(fromB) != b.Len() {
			t.Fatalf("renumbered %d and %d, want %d and %d", len(fromA), len(fromB), a.Len(), b.Len())
		}
		var want Table
		for _, f := range m.functions {
			want.Declare(f)
		}
		for _, c := range m.calls {
			want.InternRun(c.fn, c.count, c.args...)
		}
		if !merged.Equal(&want) {
			t.Fatalf("merged %+v, want %+v", merged, &want)
		}
		// The result is a table like any other, and independent.
		merged.Intern(merged.Declare(Function{Name: "only here"}))
		want.Intern(want.Declare(Function{Name: "only here"}))
		if !a.Equal(before[0]) || !b.Equal(before[1]) {
			t.Fatal("changing the result changed what was merged")
		}
		a.Intern(a.Declare(Function{Name: "only in a, and longer"}))
		if !merged.Equal(&want) {
			t.Fatal("changing what was merged changed the result")
		}
	})
}

func addSaturated(x, y uint64) uint64 {
	if x+y < x {
		return math.MaxUint64
	}
	return x + y
}

// clone copies a table by way of its encoding.
func clone(t rapid.TB, table *Table) *Table {
	enc, err := table.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse(enc)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestInternRefuses checks that Intern panics, and TryIntern returns an error, where
// arguments are none of the function, and that the table stays as it was.
func TestInternRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		fn   int // besides the one that is declared
		args []Value
	}{
		{"TooFew", 0, []Value{Int(1)}},
		{"TooMany", 0, []Value{Int(1), Array(), Int(1)}},
		{"Kind", 0, []Value{Rank(1), Array()}},
		{"ZeroValue", 0, []Value{{}, Array()}},
		{"Element", 0, []Value{Int(1), Array(Array(Int(1)), Array(Int(1), Tag(1)))}},
		{"ElementKind", 0, []Value{Int(1), Array(Int(1))}},
		{"Function", 1, []Value{Int(1), Array()}},
		{"NegativeFunction", -1, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var table Table
			fn := table.Declare(function(Type{Kind: KindInt}, nested(2, Type{Kind: KindInt})))
			table.Intern(fn, Int(1), Array(Array()))
			before := clone(t, &table)
			if !panics(func() { table.Intern(fn+tt.fn, tt.args...) }) {
				t.Error("did not panic")
			}
			if terminal, err := table.TryIntern(fn+tt.fn, tt.args...); err == nil || !table.Equal(before) {
				t.Errorf("terminal %d, %v", terminal, err)
			}
			if table.Intern(fn, Int(1), Array(Array())); table.Len() != 1 || table.Equal(before) {
				t.Error("table is damaged after the panic")
			}
		})
	}
}

// TestInternAllocs checks that a known signature allocates nothing and that the
// arguments stay where the caller has them.
func TestInternAllocs(t *testing.T) {
	table, fn := sends(100)
	text := table.Declare(function(Type{Kind: KindString}, nested(1, Type{Kind: KindInt})))
	name := string([]byte{byte('0' + fn)})
	call := func() {
		internSend(table, fn, 7)
		table.Intern(text, String(name), Array(Int(1), Int(2)))
	}
	call()
	if n := testing.AllocsPerRun(100, call); n != 0 {
		t.Errorf("%v allocations for known signatures, want none", n)
	}
}

func TestCountsSaturate(t *testing.T) {
	var table Table
	fn := table.Declare(Function{Name: "f"})
	for range 3 {
		table.InternRun(fn, math.MaxUint64-1)
	}
	if table.Count(0) != math.MaxUint64 {
		t.Errorf("Count = %d", table.Count(0))
	}
}

// TestDeclare checks that functions which differ in a single respect differ.
func TestDeclare(t *testing.T) {
	param := func(name string, typ Type, d Direction) Function {
		return Function{Name: "f", Params: []Param{{name, typ, d}}}
	}
	number := Type{Kind: KindInt}
	functions := []Function{
		param("p", number, In),
		{Name: "g", Params: []Param{{"p", number, In}}},
		{Name: "f"},
		{Name: "f", Params: []Param{{"p", number, In}, {"p", number, In}}},
		param("q", number, In),
		param("p", number, Out),
		param("p", number, InOut),
		param("p", Type{Kind: KindRank}, In),
		param("p", HandleOf("comm"), In),
		param("p", HandleOf("group"), In),
		param("p", ArrayOf(number), In),
		param("p", ArrayOf(ArrayOf(number)), In),
		param("p", ArrayOf(HandleOf("comm")), In),
		param("p", ArrayOf(HandleOf("group")), In),
	}
	var table Table
	for range 2 { // the second time they are known
		for i, f := range functions {
			if fn := table.Declare(f); fn != i {
				t.Errorf("Declare(%+v) = %d, want %d", f, fn, i)
			}
		}
	}
	for i, f := range functions {
		for j, g := range functions {
			if f.Equal(g) != (i == j) {
				t.Errorf("Equal of functions %d and %d = %v", i, j, i != j)
			}
		}
	}
	if got := clone(t, &table); !got.Equal(&table) {
		t.Errorf("parsed %+v, want %+v", got.Functions(), functions)
	}
}

func TestEqual(t *testing.T) {
	f, g := function(Type{Kind: KindInt}), function(Type{Kind: KindRank})
	build := func(fs []Function, call func(table *Table)) *Table {
		var table Table
		for _, f := range fs {
			table.Declare(f)
		}
		call(&table)
		return &table
	}
	one := func(table *Table) { table.Intern(0, Int(1)) }
	tables := []*Table{
		new(Table),
		build([]Function{f}, one),
		build([]Function{f, g}, one),
		build([]Function{g}, func(table *Table) { table.Intern(0, Rank(1)) }),
		build([]Function{f}, func(table *Table) { table.Intern(0, Int(2)) }),
		build([]Function{f}, func(table *Table) { table.InternRun(0, 2, Int(1)) }),
		build([]Function{f}, func(table *Table) { one(table); table.InternRun(0, 0, Int(2)) }),
		build([]Function{f}, func(table *Table) { table.InternRun(0, 0, Int(2)); one(table) }),
	}
	for i, a := range tables {
		for j, b := range tables {
			if a.Equal(b) != (i == j) {
				t.Errorf("Equal of tables %d and %d = %v", i, j, i != j)
			}
		}
	}
}

// TestCollisions has so many signatures that some share all 32 bits of their
// hash: the chance of none is below 10⁻¹².
func TestCollisions(t *testing.T) {
	const n = 1 << 19
	var table Table
	fn := table.Declare(function(Type{Kind: KindInt}))
	for range 2 {
		for i := range n {
			if got := table.Intern(fn, Int(int64(i))); got != uint32(i) {
				t.Fatalf("terminal of %d = %d", i, got)
			}
		}
	}
}

// TestFunctionsShared checks that tables which share functions go their own ways.
func TestFunctionsShared(t *testing.T) {
	var a Table
	for _, name := range []string{"f", "g", "h"} { // leaves room in a slice of 4
		a.Declare(Function{Name: name})
	}
	b, _, _ := Merge(&a, new(Table))
	c, _, _ := Merge(&a, b)
	tables := []*Table{&a, b, c}
	for i, table := range tables {
		if fn := table.Declare(Function{Name: string(rune('a' + i))}); fn != 3 {
			t.Errorf("new function of table %d has number %d, want 3", i, fn)
		}
	}
	for i, table := range tables {
		if got := table.Functions()[3].Name; got != string(rune('a'+i)) {
			t.Errorf("new function of table %d became %s", i, got)
		}
	}
}

// TestDeclareCopies checks that a table does not change with what was declared.
func TestDeclareCopies(t *testing.T) {
	f := function(nested(2, Type{Kind: KindInt}))
	var table Table
	table.Declare(f)
	f.Params[0].Type.Elem.Elem.Kind = KindFloat
	f.Params[0].Name = "q"
	if got := table.Functions()[0]; !got.Equal(function(nested(2, Type{Kind: KindInt}))) {
		t.Errorf("declared function became %+v", got)
	}
}

// TestEncodedStays checks that what Encoded returns survives later signatures.
func TestEncodedStays(t *testing.T) {
	table, fn := sends(1)
	enc := table.encoded(0)
	want := slices.Clone(enc)
	for i := range 1000 {
		internSend(table, fn, i)
	}
	_ = append(table.encoded(0), 0xff)
	if !slices.Equal(enc, want) || !slices.Equal(table.encoded(0), want) {
		t.Errorf("signature 0 is %x, was %x", table.encoded(0), want)
	}
	if got, _ := table.Signature(1); got != fn {
		t.Errorf("appending to signature 0 changed signature 1")
	}
}

func TestAllStops(t *testing.T) {
	table, _ := sends(10)
	n := 0
	for range table.All() {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("yielded %d signatures, want 3", n)
	}
}

// TestConcurrentReads shares one list of functions between goroutines, for the
// race detector.
func TestConcurrentReads(t *testing.T) {
	table, fn := sends(100)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			got, _, _ := Merge(table, new(Table))
			got.Declare(Function{Name: "f"})
			internSend(got, fn, 200)
			if merged, _, _ := Merge(table, got); merged.Len() != 101 {
				t.Errorf("merged %d signatures, want 101", merged.Len())
			}
		})
	}
	wg.Wait()
	if table.Len() != 100 || len(table.Functions()) != 1 {
		t.Errorf("the shared table has %d signatures and %d functions", table.Len(), len(table.Functions()))
	}
}
