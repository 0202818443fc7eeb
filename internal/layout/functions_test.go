package layout

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/internal/wire"
)

// TestFunctionLines reads every line of the list of known functions, and that they are as they
// were when traces began to refer to them.
func TestFunctionLines(t *testing.T) {
	lines, numbers := knownFunctions()
	if len(numbers) != len(lines) {
		t.Errorf("%d lines, %d different ones", len(lines), len(numbers))
	}
	for i, l := range lines {
		f := functionOf(l)
		if err := f.Validate(); err != nil || lineOf(&f) != l {
			t.Errorf("line %d, %s, is read as %s, %v", i, l, lineOf(&f), err)
		}
	}
	const frozen, want = 813, "1ceabf3417b60795432d8268173693f85a91b05f1439923dda74b33cb61b57a0"
	if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(lines[:frozen], "\n")))); sum != want {
		t.Errorf("the first %d lines have changed, which traces refer to: %s", frozen, sum)
	}
}

// TestFunctions writes and reads functions of which some are known.
func TestFunctions(t *testing.T) {
	lines, _ := knownFunctions()
	name := rapid.OneOf(rapid.Just("f"), rapid.Just("MPI_Init(site"), rapid.String())
	param := rapid.Custom(func(t *rapid.T) cst.Param {
		p := cst.Param{Name: name.Draw(t, "name"), Type: cst.Type{Kind: cst.KindInt}}
		if rapid.Bool().Draw(t, "handle") {
			p.Type = cst.HandleOf(name.Draw(t, "class"))
		}
		return p
	})
	function := rapid.Custom(func(t *rapid.T) cst.Function {
		f := functionOf(rapid.SampledFrom(lines).Draw(t, "line"))
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			f = cst.Function{Name: name.Draw(t, "name"), Params: rapid.SliceOfN(param, 0, 3).Draw(t, "params")}
		case 1:
			f.Params = append(f.Params, param.Draw(t, "param"))
		case 2, 3:
			if n := len(f.Params); n > 0 {
				f.Params = f.Params[:n-1]
			}
		}
		return f
	})
	rapid.Check(t, func(t *rapid.T) {
		var table cst.Table
		for _, f := range rapid.SliceOfN(function, 0, 8).Draw(t, "functions") {
			table.Declare(f)
		}
		data, known := AppendFunctions([]byte("before"), &table)
		parse := cst.ParseFunctions
		if known {
			parse = ParseFunctions
		}
		got, err := parse(data[len("before"):])
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got.Functions(), table.Functions(), cst.Function.Equal) {
			t.Fatalf("%v is read as %v", table.Functions(), got.Functions())
		}
	})
}

// TestRefuseFunctions reads lists that nothing writes.
func TestRefuseFunctions(t *testing.T) {
	var table cst.Table
	table.Declare(functionOf("MPI_Finalize(site handle(site))"))
	table.Declare(cst.Function{Name: "f"})
	good, known := AppendFunctions(nil, &table)
	if _, err := ParseFunctions(good); err != nil || !known {
		t.Fatalf("%x: %v", good, err)
	}
	for n := range good {
		if _, err := ParseFunctions(good[:n]); err == nil {
			t.Errorf("%x is read", good[:n])
		}
		for bit := range 8 {
			bad := slices.Clone(good)
			bad[n] ^= 1 << bit
			if _, err := ParseFunctions(bad); err == nil {
				t.Errorf("%x is read", bad)
			}
		}
	}
	lines, _ := knownFunctions()
	for what, bad := range map[string][]byte{
		"later":         wire.AppendUvarint([]byte{1}, uint64(2*len(lines)+1)),
		"without site":  wire.AppendUvarint([]byte{1}, uint64(2*slices.Index(lines, "free(ptr pointer)")+2)),
		"twice":         {2, 1, 1},
		"none is there": {1, 0, 0},
	} {
		if _, err := ParseFunctions(append(bad, 0, 0)); !errors.Is(err, wire.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func FuzzFunctions(f *testing.F) {
	f.Add([]byte{2, 1, 3, 0, 0})
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		table, err := ParseFunctions(data)
		if err != nil {
			return
		}
		again, known := AppendFunctions(nil, table)
		if !known {
			return
		}
		if same, err := ParseFunctions(again); err != nil ||
			!slices.EqualFunc(same.Functions(), table.Functions(), cst.Function.Equal) {
			t.Errorf("%x is read, and written as %x: %v", data, again, err)
		}
	})
}
