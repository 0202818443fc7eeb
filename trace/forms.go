package trace

import (
	"cmp"
	"slices"

	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/layout"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/rankenc"
)

// A FormCount is how some arguments or columns are written, and how many.
type FormCount struct {
	Name  string
	Count int
	Bytes int64 // of stored columns; 0 for arguments
}

// Forms of arguments that have no expression, and of columns that are lost.
const (
	formColumn = "stored column"
	formArray  = "stored array"
	formStream = "stored by call"
	formLost   = "cannot be read"
)

// Forms returns how the arguments of calls are written, and how many bytes of the section of the signatures
// are columns.
//
// Arguments are those of all signatures, each of the three numbers of a pointer or a status for itself, the
// most frequent form first: an expression, such as rank+c, a stored column or array, or a number that is
// stored by call.
//
// Columns are the columns and arrays that are stored rank by rank, by how they are encoded, such as runs,
// each slice of long ones for itself, and the streams of values that are stored call by call, those that take
// the most bytes first. Those that cannot be read have a form of their own; of those that stand in the blocks
// of grammars, the bytes are not known. It reads the sections of columns and streams.
func (t *Trace) Forms() (arguments, columns []FormCount, inline int) {
	return t.argumentForms(), t.columnForms(), len(t.signatures.Inline)
}

func (t *Trace) argumentForms() []FormCount {
	var f formCounter
	for fn := range t.signatures.Groups {
		g := &t.signatures.Groups[fn]
		slots := 0
		for k := range g.Params {
			p := &g.Params[k]
			f.add(formArray, p.Matrices.Len(), 0)
			for j := range p.Slots {
				f.addSlot(&p.Slots[j], g, slots)
				slots++
			}
		}
	}
	return f.sorted()
}

func (t *Trace) columnForms() []FormCount {
	var f formCounter
	s := t.signatures
	columns := packedReader{trace: t, kind: layout.KindColumns, section: -1}
	for _, c := range s.Columns {
		for _, p := range s.Slices[c.First:c.End] {
			var enc []byte
			if s.Inline != nil {
				enc = s.Inline[p.Offset:]
			} else {
				enc = columns.at(p.Section, p.Offset)
			}
			f.add(columnForm(enc, c), 1, int64(p.Size))
		}
	}
	if s.Streams == nil {
		return f.sorted()
	}
	if s.Streams.InBlocks {
		f.add("by call: in blocks of grammars", len(s.Streams.Arguments), 0)
		return f.sorted()
	}
	streams := packedReader{trace: t, kind: layout.KindStreams, section: -1}
	for _, p := range s.Streams.Streams {
		name := formLost
		if enc := streams.at(p.Section, p.Offset); len(enc) > 0 {
			name = "by call: packed"
			if enc[0] == layout.StreamGrammar {
				name = "by call: grammar"
			}
		}
		f.add(name, 1, int64(p.Size))
	}
	return f.sorted()
}

// columnForm returns how a column or array is encoded, or a slice of it.
func columnForm(enc []byte, c layout.ColumnPlace) string {
	name := columns.ColumnForm(enc)
	if c.Matrix {
		name = columns.MatrixForm(enc)
	}
	if name == "" {
		return formLost
	}
	if c.Matrix {
		name = "array: " + name
	}
	if c.Sliced() {
		name += ", in slices"
	}
	return name
}

// A packedReader reads what is packed into sections, in ascending order.
type packedReader struct {
	trace   *Trace
	kind    format.Kind
	section int // that was read last
	content []byte
}

// at returns what a section has from an offset on: nothing if it is lost.
func (r *packedReader) at(section, offset int) []byte {
	if section != r.section {
		r.section, r.content = section, nil
		_ = r.trace.sections.Read(r.kind, uint64(section), func(data []byte) error {
			r.content = data
			return nil
		})
	}
	return r.content[min(offset, len(r.content)):]
}

// A formCounter counts forms. It has few of them.
type formCounter []FormCount

func (f *formCounter) add(name string, count int, bytes int64) {
	if count == 0 {
		return
	}
	for i := range *f {
		if x := &(*f)[i]; x.Name == name {
			x.Count += count
			x.Bytes += bytes
			return
		}
	}
	*f = append(*f, FormCount{name, count, bytes})
}

// addSlot counts the values of a slot in all signatures of a function. Where it
// has streams, its values are the numbers of these.
func (f *formCounter) addSlot(r *layout.SlotReader, g *layout.FunctionGroup, slot int) {
	if g.Masks.Len() == 0 {
		f.add(formOf(rankenc.Constant(0)), r.Values[layout.Constant].Len(), 0)
		f.add(formOf(rankenc.Shift(0)), r.Values[layout.Shift].Len(), 0)
		f.add(formColumn, r.Values[layout.Column].Len(), 0)
		for k := range r.Groups.Numbers {
			f.add(layout.Formula{Expr: *r.Groups.At(k), Grouped: true}.Form(), 1, 0)
		}
		for k := range r.Others.Numbers {
			f.add(formOf(*r.Others.At(k)), 1, 0)
		}
		return
	}
	for i, mask := range g.Masks.All() {
		e, _, ok := r.Form(i)
		switch {
		case uint64(mask)>>slot&1 != 0:
			f.add(formStream, 1, 0)
		case ok:
			f.add(e.Form(), 1, 0)
		default:
			f.add(formColumn, 1, 0)
		}
	}
}

// formOf returns the form of an expression.
func formOf(e rankenc.Expr) string { return layout.Formula{Expr: e}.Form() }

func (f *formCounter) sorted() []FormCount {
	slices.SortFunc(*f, func(a, b FormCount) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return *f
}
