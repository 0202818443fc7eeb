package layout

import (
	_ "embed"
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
)

// Traces do not spell out functions that are in a list which readers have: those of MPI as they are recorded
// most often, with where they were called, and the actions of SimGrid. A function has twice the number of its
// line, and one more if it lacks the [Site] of it.
//
// The list is part of the format: lines are added at its end, and never change.
//
//go:embed functions.txt
var functionLines string

// knownFunctions are the lines, and their numbers.
var knownFunctions = sync.OnceValues(func() ([]string, map[string]int) {
	lines := strings.Split(strings.TrimSuffix(functionLines, "\n"), "\n")
	numbers := make(map[string]int, len(lines))
	for i, l := range lines {
		numbers[l] = i
	}
	return lines, numbers
})

// AppendFunctions appends functions, and reports whether some of them are known, so that
// ParseFunctions is to read them and not [cst.ParseFunctions].
func AppendFunctions(dst []byte, t *cst.Table) (_ []byte, known bool) {
	var (
		others cst.Table
		base   = len(dst)
	)
	functions := t.Functions()
	dst = wire.AppendUvarint(dst, uint64(len(functions)))
	for i := range functions {
		n := numberOf(&functions[i])
		if dst = wire.AppendUvarint(dst, uint64(n+1)); n < 0 {
			others.Declare(functions[i])
		}
	}
	switch len(others.Functions()) {
	case len(functions):
		return t.AppendFunctions(dst[:base]), false
	case 0:
	default:
		dst = others.AppendFunctions(dst)
	}
	return binary.LittleEndian.AppendUint16(dst, fingerprintOf(t)), true
}

const fingerprintLen = 2

// fingerprintOf returns what tells functions from others: the lower half of the CRC-32C of their
// encoding in package cst.
func fingerprintOf(t *cst.Table) uint16 { return uint16(wire.Checksum(t.AppendFunctions(nil))) }

// numberOf returns the number of a function, −1 if it is not known.
func numberOf(f *cst.Function) int {
	lines, numbers := knownFunctions()
	sited := cst.Function{Name: f.Name, Params: append(slices.Clip(f.Params), Site)}
	for without, g := range []*cst.Function{f, &sited} {
		// Names that are no words may make the same line.
		if n, ok := numbers[lineOf(g)]; ok && functionOf(lines[n]).Equal(*g) {
			return 2*n + without
		}
	}
	return -1
}

// ParseFunctions reads what AppendFunctions appended, if some functions are known, up to the end
// of data.
func ParseFunctions(data []byte) (*cst.Table, error) {
	d := wire.NewDecoder("merge", data)
	numbers := make([]uint64, d.Count("functions", 1))
	for i := range numbers {
		numbers[i] = d.Uvarint("function")
	}
	var others []cst.Function
	if slices.Contains(numbers, 0) && d.Err() == nil && d.Rest() > fingerprintLen {
		at := d.Offset()
		t, err := cst.ParseFunctions(d.Bytes("functions", d.Rest()-fingerprintLen))
		if err != nil {
			return nil, AtOffset(err, at)
		}
		others = t.Functions()
	}
	t := declare(&d, numbers, others)
	at := d.Offset()
	print := d.Bytes("fingerprint", fingerprintLen)
	if d.End("fingerprint"); d.Err() == nil && binary.LittleEndian.Uint16(print) != fingerprintOf(t) {
		d.Corrupt(at, "fingerprint", "the functions are not those that were written: another version knows others")
	}
	return t, d.Err()
}

// declare returns functions of which some have numbers, each one more, and the others follow in
// their order.
func declare(d *wire.Decoder, numbers []uint64, others []cst.Function) *cst.Table {
	t := &cst.Table{}
	for i, n := range numbers {
		var (
			f  cst.Function
			ok = n == 0 && len(others) > 0
		)
		if ok {
			f, others = others[0], others[1:]
		} else if n > 0 {
			f, ok = knownFunction(n - 1)
		}
		if d.Err() != nil {
			return t
		}
		if !ok {
			d.Corrupt(d.Offset(), "function", "function %d has number %d, which this version does not know", i, n)
		} else if t.Declare(f) != i {
			d.Corrupt(d.Offset(), "function", "function %d equals another", i)
		}
	}
	if len(others) > 0 {
		d.Corrupt(d.Offset(), "function", "%d too many are written out", len(others))
	}
	return t
}

// knownFunction returns the function of a number, if there is one.
func knownFunction(n uint64) (cst.Function, bool) {
	lines, _ := knownFunctions()
	if n/2 >= uint64(len(lines)) {
		return cst.Function{}, false
	}
	f := functionOf(lines[n/2])
	if n%2 == 0 {
		return f, true
	}
	site := SiteOf(&f)
	if site != len(f.Params)-1 || site < 0 {
		return f, false
	}
	f.Params = f.Params[:site]
	return f, true
}

// lineOf writes a function as a line.
func lineOf(f *cst.Function) string {
	var b strings.Builder
	b.WriteString(f.Name)
	for i, p := range f.Params {
		b.WriteString([...]string{"(", ", "}[min(i, 1)])
		b.WriteString(p.Name)
		if p.Direction != cst.In {
			b.WriteString(" " + p.Direction.String())
		}
		b.WriteString(" " + p.Type.String())
	}
	if len(f.Params) == 0 {
		b.WriteString("(")
	}
	b.WriteString(")")
	return b.String()
}

// functionOf is the reverse of lineOf, of a line of the list.
func functionOf(line string) cst.Function {
	name, params, _ := strings.Cut(strings.TrimSuffix(line, ")"), "(")
	f := cst.Function{Name: name}
	for param := range strings.SplitSeq(params, ", ") {
		name, of, ok := strings.Cut(param, " ")
		if !ok {
			break
		}
		p := cst.Param{Name: name}
		for _, d := range []cst.Direction{cst.Out, cst.InOut} {
			if rest, ok := strings.CutPrefix(of, d.String()+" "); ok {
				p.Direction, of = d, rest
			}
		}
		p.Type = typeOf(of)
		f.Params = append(f.Params, p)
	}
	return f
}

// typeOf returns the type that [cst.Type.String] writes so.
func typeOf(s string) cst.Type {
	if elem, ok := strings.CutPrefix(s, "array of "); ok {
		return cst.ArrayOf(typeOf(elem))
	}
	kind, class, _ := strings.Cut(strings.TrimSuffix(s, ")"), "(")
	for k := cst.KindInt; k < cst.KindArray; k++ {
		if k.String() == kind {
			return cst.Type{Kind: k, Class: class}
		}
	}
	return cst.Type{}
}
