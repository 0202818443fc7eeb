package merge

import (
	"cmp"
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/rankenc"
)

// A Form is how some arguments or columns are written, and how many.
type Form struct {
	// Name is the form of an expression, such as rank+c, or how a column or an
	// array is encoded, such as runs.
	Name  string
	Count int
	Bytes int64 // of stored columns; 0 for arguments
}

// Forms of arguments that have no expression, and of columns that are lost.
const (
	FormColumn = "stored column"
	FormArray  = "stored array"
	FormStream = "stored by call"
	FormLost   = "cannot be read"
)

// ArgumentForms returns how the arguments of all signatures are written, each of
// the three numbers of a pointer or a status for itself, the most frequent form
// first.
func (t *Trace) ArgumentForms() []Form {
	var f formCounter
	for fn := range t.signatures.groups {
		g := &t.signatures.groups[fn]
		slots := 0
		for k := range g.params {
			p := &g.params[k]
			f.add(FormArray, p.matrices.Len(), 0)
			for j := range p.slots {
				f.addSlot(&p.slots[j], g, slots)
				slots++
			}
		}
	}
	return f.sorted()
}

// ColumnForms returns how the columns and arrays that are stored rank by rank are
// encoded, each slice of long ones for itself, and the streams of values that are stored call by call, those that
// take the most bytes first. It reads their sections. Those that are lost have a
// form of their own.
func (t *Trace) ColumnForms() []Form {
	var f formCounter
	s := t.signatures
	columns := packedReader{trace: t, kind: KindColumns, section: -1}
	for _, c := range s.columns {
		for _, p := range s.slices[c.first:c.end] {
			var enc []byte
			if s.inline != nil {
				enc = s.inline[p.offset:]
			} else {
				enc = columns.at(p.section, p.offset)
			}
			f.add(columnForm(enc, c), 1, int64(p.size))
		}
	}
	if s.streams == nil {
		return f.sorted()
	}
	streams := packedReader{trace: t, kind: KindStreams, section: -1}
	for _, p := range s.streams.streams {
		name := FormLost
		if enc := streams.at(p.section, p.offset); len(enc) > 0 {
			name = "by call: packed"
			if enc[0] == streamGrammar {
				name = "by call: grammar"
			}
		}
		f.add(name, 1, int64(p.size))
	}
	return f.sorted()
}

// columnForm returns how a column or array is encoded, or a slice of it.
func columnForm(enc []byte, c columnPlace) string {
	name := rankenc.ColumnForm(enc)
	if c.matrix {
		name = rankenc.MatrixForm(enc)
	}
	if name == "" {
		return FormLost
	}
	if c.matrix {
		name = "array: " + name
	}
	if c.sliced() {
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
		_ = r.trace.read(r.kind, uint64(section), func(data []byte) error {
			r.content = data
			return nil
		})
	}
	return r.content[min(offset, len(r.content)):]
}

// InlineColumns returns how many bytes of the section of the signatures are
// columns.
func (t *Trace) InlineColumns() int { return len(t.signatures.inline) }

// A formCounter counts forms. It has few of them.
type formCounter []Form

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
	*f = append(*f, Form{name, count, bytes})
}

// addSlot counts the values of a slot in all signatures of a function. Where it
// has streams, its values are the numbers of these.
func (f *formCounter) addSlot(r *slotReader, g *group, slot int) {
	if g.masks.Len() == 0 {
		f.add(rankenc.Constant(0).Form(), r.values[writtenConstant].Len(), 0)
		f.add(rankenc.Shift(0).Form(), r.values[writtenShift].Len(), 0)
		f.add(FormColumn, r.values[writtenColumn].Len(), 0)
		for k := range r.groups.numbers {
			f.add(formula{*r.groups.at(k), true}.Form(), 1, 0)
		}
		for k := range r.others.numbers {
			f.add(r.others.at(k).Form(), 1, 0)
		}
		return
	}
	for i, mask := range g.masks.All() {
		e, _, ok := r.form(i)
		switch {
		case uint64(mask)>>slot&1 != 0:
			f.add(FormStream, 1, 0)
		case ok:
			f.add(e.Form(), 1, 0)
		default:
			f.add(FormColumn, 1, 0)
		}
	}
}

func (f *formCounter) sorted() []Form {
	slices.SortFunc(*f, func(a, b Form) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return *f
}
