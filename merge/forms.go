package merge

import (
	"cmp"
	"slices"

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
	FormLost   = "cannot be read"
)

// ArgumentForms returns how the arguments of all signatures are written, each of
// the three numbers of a pointer or a status for itself, the most frequent form
// first.
func (t *Trace) ArgumentForms() []Form {
	var f formCounter
	for fn := range t.signatures.groups {
		g := &t.signatures.groups[fn]
		for k := range g.params {
			p := &g.params[k]
			f.add(FormArray, p.matrices.Len(), 0)
			for j := range p.slots {
				f.addSlot(&p.slots[j])
			}
		}
	}
	return f.sorted()
}

// ColumnForms returns how the columns and arrays that are stored rank by rank are
// encoded, those that take the most bytes first. It reads their sections. Those
// that are lost have a form of their own.
func (t *Trace) ColumnForms() []Form {
	var f formCounter
	s := t.signatures
	section, content := -1, s.inline
	for i := range s.columns {
		p := &s.columns[i]
		if s.inline == nil && p.section != section {
			section, content = p.section, nil
			// A section that cannot be read has no content.
			_ = t.read(KindColumns, uint64(section), func(data []byte) error {
				content = data
				return nil
			})
		}
		name := ""
		if p.offset < len(content) {
			if enc := content[p.offset:]; p.matrix {
				name = rankenc.MatrixForm(enc)
			} else {
				name = rankenc.ColumnForm(enc)
			}
		}
		switch {
		case name == "":
			name = FormLost
		case p.matrix:
			name = "array: " + name
		}
		f.add(name, 1, int64(p.size))
	}
	return f.sorted()
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

// addSlot counts the values of a slot in all signatures of a function.
func (f *formCounter) addSlot(r *slotReader) {
	f.add(rankenc.Constant(0).Form(), r.values[writtenConstant].Len(), 0)
	f.add(rankenc.Shift(0).Form(), r.values[writtenShift].Len(), 0)
	f.add(FormColumn, r.values[writtenColumn].Len(), 0)
	for _, e := range r.others {
		f.add(e.Form(), 1, 0)
	}
}

func (f *formCounter) sorted() []Form {
	slices.SortFunc(*f, func(a, b Form) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return *f
}
