package cst

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/allocated"

	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/internal/wire"
)

// Parts of encodings written by hand. The functions have the number zero.
const (
	none     = "\x00"                      // nothing in a list
	fOfInt   = "\x02f\x01\x00\x02p\x01"    // f(p int)
	fOfNone  = "\x02f\x00"                 // f()
	gSharing = "\x02g\x02\x01\x00\x01\x02" // g(p int, f float), its names and first parameter those of fOfInt
)

func TestParseErrors(t *testing.T) {
	v := func(body string) []byte { return []byte("\x01" + body) }
	arrays := func(depth int) string { return strings.Repeat("\x0a", depth) }
	long := string(wire.AppendUvarint(nil, (MaxName+1)<<1)) + strings.Repeat("x", MaxName+1)
	tests := []struct {
		name  string
		data  []byte
		off   int64
		field string
		want  error // nil if accepted
	}{
		{"Empty", nil, 0, "version", io.ErrUnexpectedEOF},
		{"BadVersion", []byte("\x02\x00\x00"), 0, "version", wire.ErrCorrupt},
		{"OnlyVersion", v(""), 1, "functions", io.ErrUnexpectedEOF},
		{"Nothing", v(none + none), 0, "", nil},
		{"LongVarint", v("\x80\x00\x00"), 1, "functions", wire.ErrCorrupt},
		{"HugeVarint", v("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), 1, "functions", wire.ErrCorrupt},
		{"HugeFunctions", v("\xff\xff\xff\xff\x0f\x00"), 1, "functions", wire.ErrCorrupt},
		{"NameCut", v("\x01\x06fu"), 3, "name", io.ErrUnexpectedEOF},
		{"NameTooLong", v("\x01" + long), 2, "name", wire.ErrLimit},
		{"NameHuge", v("\x01\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 2, "name", wire.ErrLimit},
		{"NameOfItself", v("\x01\x01\x00"), 2, "name", wire.ErrCorrupt},
		{"NameAgain", v("\x02" + fOfInt + fOfNone + none), 9, "name", wire.ErrCorrupt},
		{"HugeParameters", v("\x01\x02f\xff\xff\xff\xff\x0f"), 4, "parameters", wire.ErrCorrupt},
		{"ParameterAhead", v("\x01\x02f\x01\x01" + none), 5, "parameter", wire.ErrCorrupt},
		{"ParameterAgain", v("\x01\x02f\x02\x00\x02p\x01\x00\x03\x01"), 9, "parameter", wire.ErrCorrupt},
		{"ParameterShared", v("\x02" + fOfInt + gSharing + none), 0, "", nil},
		{"FunctionAgain", v("\x02" + fOfInt + "\x01\x01\x01" + none), 9, "function", wire.ErrCorrupt},
		{"FunctionOverloaded", v("\x02" + fOfInt + "\x01\x00" + none), 0, "", nil},
		{"NoKind", v("\x01\x02f\x01\x00\x02p\x00"), 8, "type", wire.ErrCorrupt},
		{"BadKind", v("\x01\x02f\x01\x00\x02p\x0b"), 8, "type", wire.ErrCorrupt},
		{"BadDirection", v("\x01\x02f\x01\x00\x02p\x31"), 8, "type", wire.ErrCorrupt},
		{"NoElement", v("\x01\x02f\x01\x00\x02p\x0a"), 9, "type", io.ErrUnexpectedEOF},
		{"BadElement", v("\x01\x02f\x01\x00\x02p\x0a\x11"), 9, "type", wire.ErrCorrupt},
		{"Deepest", v("\x01\x02f\x01\x00\x02p" + arrays(maxDepth) + "\x01" + none), 0, "", nil},
		{"TooDeep", v("\x01\x02f\x01\x00\x02p" + arrays(maxDepth+1) + "\x01" + none), 8 + maxDepth, "type",
			wire.ErrLimit},
		{"NoClass", v("\x01\x02f\x01\x00\x02p\x07"), 9, "class", io.ErrUnexpectedEOF},
		{"NoSignatures", v("\x01" + fOfInt), 9, "signatures", io.ErrUnexpectedEOF},
		{"HugeSignatures", v("\x01" + fOfInt + "\xff\xff\xff\xff\x0f\x00"), 9, "signatures", wire.ErrCorrupt},
		{"NoFunction", v(none + "\x01\x00\x01"), 3, "function", wire.ErrCorrupt},
		{"FunctionAhead", v("\x01" + fOfInt + "\x01\x01\x00\x01"), 10, "function", wire.ErrCorrupt},
		{"NoArgument", v("\x01" + fOfInt + "\x01\x00"), 11, "argument", io.ErrUnexpectedEOF},
		{"LongArgument", v("\x01" + fOfInt + "\x01\x00\x80\x00\x01"), 11, "argument", wire.ErrCorrupt},
		{"SignatureAgain", v("\x01" + fOfInt + "\x03\x00\x02\x00\x04\x00\x02\x01\x01\x01"), 14, "signature",
			wire.ErrCorrupt},
		{"NoCount", v("\x01" + fOfInt + "\x01\x00\x02"), 12, "count", io.ErrUnexpectedEOF},
		{"LongCount", v("\x01" + fOfInt + "\x01\x00\x02\x81\x00"), 12, "count", wire.ErrCorrupt},
		{"Trailing", v("\x01" + fOfInt + "\x01\x00\x02\x05\x00"), 13, "count", wire.ErrCorrupt},
		{"One", v("\x01" + fOfInt + "\x01\x00\x02\x05"), 0, "", nil},
		{"NoArguments", v("\x01" + fOfNone + "\x01\x00\x05"), 0, "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			table, err := Parse(tt.data)
			if tt.want == nil {
				if enc, _ := table.AppendBinary(nil); err != nil || !bytes.Equal(enc, tt.data) {
					t.Fatalf("Parse = %v, encoded again as %x, want %x", err, enc, tt.data)
				}
				return
			}
			var pe *ParseError
			if table != nil || !errors.As(err, &pe) || pe.Offset != tt.off || pe.Field != tt.field ||
				!errors.Is(err, tt.want) {
				t.Fatalf("Parse = %v, %v, want %v of %s at offset %d", table, err, tt.want, tt.field, tt.off)
			}
		})
	}
}

// TestParseFunctionsErrors checks what only a list of functions alone can do wrong.
func TestParseFunctionsErrors(t *testing.T) {
	if _, err := ParseFunctions([]byte("\x01" + fOfInt + none)); !errors.Is(err, wire.ErrCorrupt) {
		t.Errorf("ParseFunctions with a byte too many = %v", err)
	}
}

func TestParseMaxValues(t *testing.T) {
	var table Table
	fn := table.Declare(function(Type{Kind: KindInt}, nested(2, Type{Kind: KindInt})))
	table.Intern(fn, Int(1), Array(Array(Int(1), Int(2)), Array(), Array(Int(3)))) // 8 values
	table.Intern(fn, Int(1), Array())
	enc, _ := table.AppendBinary(nil)
	if _, err := parse(enc, 8); err != nil {
		t.Error(err)
	}
	if _, err := parse(enc, 7); !errors.Is(err, wire.ErrLimit) {
		t.Errorf("Parse of 8 values, limit 7 = %v", err)
	}
}

// TestMostValues interns and parses as many values in a signature as there may be, and one more.
func TestMostValues(t *testing.T) {
	for _, typ := range tier.Some([]Type{{Kind: KindInt}, {Kind: KindPointer}}, 2) {
		var table Table
		fn := table.Declare(function(nested(2, typ), Type{Kind: KindInt}))
		some := make([]Value, 1<<20-1)
		for i := range some {
			if some[i] = Int(0); typ.Kind == KindPointer {
				some[i] = PointerTo(Pointer{})
			}
		}
		inner := make([]Value, MaxValues/(len(some)+1))
		for i := range inner {
			inner[i] = Array(some...)
		}
		inner[0] = Array(some[2:]...) // but for the outer array and the number
		terminal, err := table.TryIntern(fn, Array(inner...), Int(0))
		if err != nil {
			t.Fatal(err)
		}
		if enc, _ := table.AppendBinary(nil); typ.Kind == KindInt {
			if _, err := Parse(enc); err != nil {
				t.Errorf("terminal %d: %v", terminal, err)
			}
		}
		inner[0] = Array(some[1:]...)
		if _, err := table.TryIntern(fn, Array(inner...), Int(0)); err == nil ||
			!strings.Contains(err.Error(), "more than 16777216 values") || table.Len() != 1 {
			t.Errorf("one value too many: %v", err)
		}
	}
}

// tableOfAll returns a table that uses every kind, class and direction.
func tableOfAll() *Table {
	var table Table
	for _, tt := range valueTests {
		if tt.name == "StringMiB" {
			continue
		}
		f := function(tt.typ)
		f.Name = "f" + tt.typ.Kind.String()
		f.Params[0].Direction = Direction(len(tt.name) % 3)
		table.InternRun(table.Declare(f), uint64(len(tt.name))<<10, tt.v)
	}
	return &table
}

// TestParseDamaged checks that no prefix of a valid encoding is accepted, and a
// one-bit change only where it makes another table: there is no checksum here.
func TestParseDamaged(t *testing.T) {
	enc, _ := tableOfAll().AppendBinary(nil)
	if _, err := Parse(enc); err != nil {
		t.Fatal(err)
	}
	for n := range enc {
		if _, err := Parse(enc[:n]); err == nil {
			t.Errorf("accepted the first %d of %d bytes", n, len(enc))
		}
	}
	rejected := 0
	for bit := range len(enc) * 8 {
		bad := bytes.Clone(enc)
		bad[bit/8] ^= 1 << (bit % 8)
		table, err := Parse(bad)
		if err != nil {
			rejected++
			continue
		}
		if again, _ := table.AppendBinary(nil); !bytes.Equal(again, bad) {
			t.Errorf("change of bit %d accepted, encoded again as\n%x, want\n%x", bit, again, bad)
		}
	}
	if rejected < len(enc) {
		t.Errorf("only %d of %d changes were rejected", rejected, len(enc)*8)
	}
}

// Bytes that Parse may allocate for each byte of functions and of signatures.
const (
	functionFactor  = 200
	signatureFactor = 40
)

// A hostileTest makes the most of its bytes.
type hostileTest struct {
	name   string
	factor int // bytes that Parse may allocate for each
	data   []byte
}

func hostileTests() []hostileTest {
	const n = 1 << 14
	repeat := func(count int, head, each string) []byte {
		b := append([]byte{version}, head...)
		return append(wire.AppendUvarint(b, uint64(count)), strings.Repeat(each, count)...)
	}
	names := wire.AppendUvarint([]byte{version}, n)
	params := append([]byte{version}, "\x01\x02f"...)
	params = wire.AppendUvarint(params, n)
	signatures := append([]byte{version}, "\x01"+fOfInt...)
	signatures = wire.AppendUvarint(signatures, n)
	for i := range n { // as much of nothing as can be told apart
		names = append(names, 4, byte(i), byte(i>>8), 0)
		params = append(params, 0, 4, byte(i), byte(i>>8), 1)
		signatures = wire.AppendVarint(append(signatures, 0), int64(i))
	}
	overloads := wire.AppendUvarint([]byte{version}, 1+60*60) // one declares what the others combine
	overloads = append(overloads, 0, 60)
	for i := range 60 {
		overloads = append(overloads, 0, 1, 0x07, 2, byte(i)) // class i is name i+1
	}
	for i := range 60 * 60 {
		overloads = append(overloads, byte(i/60+1)<<1|1, 1, byte(i%60+1))
	}
	return []hostileTest{
		{"HugeFunctions", functionFactor, []byte("\x01\xff\xff\xff\xff\x0f")},
		{"HugeParameters", functionFactor, []byte("\x01\x01\x02f\xff\xff\xff\xff\x0f")},
		{"HugeSignatures", signatureFactor, []byte("\x01\x00\xff\xff\xff\xff\x0f")},
		{"Functions", functionFactor, append(names, 0)},
		{"Parameters", functionFactor, append(params, 0)},
		{"Overloads", functionFactor, append(overloads, 0)},
		{"Shared", functionFactor, append(repeat(n, "\x02"+fOfInt+"\x02g", "\x01"), 0)},
		{"Signatures", signatureFactor, append(signatures, bytes.Repeat([]byte{1}, n)...)},
		{"Cut", signatureFactor, signatures[:len(signatures)-1]},
		{"EmptyArrays", signatureFactor, append(repeat(n, "\x01\x02f\x01\x00\x02p\x0a\x0a\x01\x01\x00", "\x00"), 1)},
	}
}

// TestParseMemory checks that what Parse and Signature allocate follows from the
// bytes they are given, not from the numbers in them, by the factors that the
// package documentation states.
func TestParseMemory(t *testing.T) {
	for _, tt := range hostileTests() {
		data := tt.data
		t.Run(tt.name, func(t *testing.T) {
			var (
				table *Table
				err   error
			)
			got := allocated.By(1, func() { table, err = Parse(data) })
			if limit := uint64(8<<10 + tt.factor*len(data)); got > limit {
				t.Errorf("Parse of %d bytes allocated %d bytes, want at most %d (%v)", len(data), got, limit, err)
			}
			if err != nil || table.Len() == 0 {
				return
			}
			got = allocated.By(1, func() { table.Signature(0) })
			if limit := uint64(8<<10 + 32*len(table.encoded(0))); got > limit {
				t.Errorf("Signature of %d bytes allocated %d bytes, want at most %d", len(table.encoded(0)), got, limit)
			}
		})
	}
}

// TestParseKeepsNothing checks that a table does not change with the bytes it
// was parsed from.
func TestParseKeepsNothing(t *testing.T) {
	want := tableOfAll()
	enc, _ := want.AppendBinary(nil)
	got, err := Parse(enc)
	if err != nil {
		t.Fatal(err)
	}
	clear(enc)
	if !got.Equal(want) {
		t.Error("table changed with the bytes it was parsed from")
	}
	if _, args := got.Signature(2); args[0].Int() != math.MaxInt64 {
		t.Errorf("signature 2 is %v", args)
	}
}
