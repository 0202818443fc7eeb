package collect

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/symbolic"
)

// A naming gathers what the numbers in the calls of a run are called.
type naming map[constantKey]string

// add looks at the signatures of the part of a process, and at what advances in them.
func (n naming) add(p *process, part *merge.Part) {
	t := part.Table
	if part.Streams != nil {
		n.advancing(p, t, part.Streams.Runs)
	}
	for _, name := range p.numerals {
		n.numeral(name, t)
	}
	for _, name := range p.errors {
		n.failure(name, t)
	}
	known := make([][]int64, len(t.Functions())) // the last handle of each parameter: most are as the one before
	for fn, args := range t.All() {
		params := t.Functions()[fn].Params
		if known[fn] == nil {
			known[fn] = make([]int64, len(params))
		}
		for i := range params {
			if params[i].Type.Kind != cst.KindHandle {
				n.value(params[i].Type, args[i])
			} else if v := args[i].Int(); v != known[fn][i] {
				known[fn][i] = v
				n.value(params[i].Type, args[i])
			}
		}
	}
}

func (n naming) value(t cst.Type, v cst.Value) {
	k := constantKey{kind: t.Kind, class: t.Class}
	switch t.Kind {
	case cst.KindArray:
		for i := range v.Len() {
			n.value(*t.Elem, v.Index(i))
		}
		return
	case cst.KindHandle, cst.KindRank, cst.KindTag:
		k.value = v.Int()
	case cst.KindPointer:
		k.value = v.Pointer().Segment
	case cst.KindStatus:
		s := v.Status()
		n.value(cst.Type{Kind: cst.KindRank}, cst.Rank(s.Source))
		n.value(cst.Type{Kind: cst.KindTag}, cst.Tag(s.Tag))
		return
	}
	if k.value < 0 {
		n[k] = nameOf(k)
	}
}

// numeral looks for a number that has a name.
func (n naming) numeral(name format.Name, t *cst.Table) {
	for fn, args := range t.All() {
		for i, p := range t.Functions()[fn].Params {
			if p.Type.Kind == cst.KindInt && args[i].Int() == name.Value {
				n[constantKey{kind: cst.KindInt, value: name.Value}] = name.Name
				return
			}
		}
	}
}

// advancing looks for tags and numbers that have names among what advances. What a stream of anything has counts: a
// name too many does no harm.
func (n naming) advancing(p *process, t *cst.Table, streams *sequitur.Grammar) {
	named := make(map[constantKey]string)
	for _, name := range p.numerals {
		named[constantKey{kind: cst.KindInt, value: name.Value}] = name.Name
	}
	for k, name := range names {
		if k.kind == cst.KindTag {
			named[k] = name
		}
	}
	for first, run := range layout.Streamed(t, streams) {
		for k, name := range named {
			if run.Has(first, k.value) {
				n[k] = name
				delete(named, k)
			}
		}
	}
}

// failure looks for a class of errors that has a name.
func (n naming) failure(name format.Name, t *cst.Table) {
	for fn, args := range t.All() {
		if spec.OutcomeOf(&t.Functions()[fn]) != spec.Failed {
			continue
		} else if args[len(args)-1].Int() == name.Value || slices.ContainsFunc(args, func(v cst.Value) bool {
			return hasError(v, name.Value)
		}) {
			n[constantKey{kind: name.Kind, class: name.Class, value: name.Value}] = name.Name
			return
		}
	}
}

// hasError reports whether one of several statuses is of a class of errors.
func hasError(v cst.Value, class int64) bool {
	if v.Kind() != cst.KindArray {
		return false
	}
	for i := range v.Len() {
		if e := v.Index(i); e.Kind() == cst.KindStatus && e.Status().Error == class {
			return true
		}
	}
	return false
}

// list returns the names.
func (n naming) list() []format.Name {
	var list []format.Name
	for k, name := range n {
		if name != "" {
			list = append(list, format.Name{Kind: k.kind, Class: k.class, Value: k.value, Name: name})
		}
	}
	return list
}

// implied stands for the source or the tag of a status that says nothing new: what
// was asked for, or what nobody may look at.
const implied = -9

// absolute is the segment of addresses that are numbers, such as the values of many
// attributes. Its base is zero. None is further from that than smallest: there is no
// memory.
const (
	absolute = -15
	smallest = 1 << 16
)

// noFunction is the id of a function that is a null pointer.
const noFunction = -1

// placeholder returns the id of what stands for an argument that has a presence
// other than [spool.Given].
func placeholder(p *spec.Param, presence spool.Presence) int64 {
	switch presence {
	case spool.Absent:
		return spec.ID("NULL")
	case spool.Empty:
		return spec.ID("MPI_WEIGHTS_EMPTY")
	}
	if ignored := p.Ignored(); len(ignored) > 0 {
		return spec.ID(ignored[0])
	}
	return spec.ID("MPI_UNWEIGHTED") // a damaged record
}

// A constantKey is a kind, with the class of handles, and a value.
type constantKey struct {
	kind  cst.Kind
	class string
	value int64
}

// names are what values are called.
var names = constantNames()

func constantNames() map[constantKey]string {
	m := make(map[constantKey]string)
	for _, c := range spec.Constants() {
		m[constantKey{c.Type().Kind, c.Type().Class, c.ID}] = c.Name
	}
	m[constantKey{cst.KindPointer, "", absolute}] = "NULL"
	m[constantKey{cst.KindHandle, "function", noFunction}] = "NULL"
	for _, name := range spec.Placeholders() {
		m[constantKey{cst.KindHandle, spec.PlaceholderClass, spec.ID(name)}] = name
	}
	return m
}

// Positions of classes among all.
var (
	classOfWindows   = classOf("win")
	classOfDatatypes = classOf("datatype")
)

// Ids of communicators that every process has.
var (
	commSelf  = spec.ID("MPI_COMM_SELF")
	commWorld = spec.ID("MPI_COMM_WORLD")
)

// nameOf returns what a value is called, or "".
func nameOf(k constantKey) string {
	if name, ok := names[k]; ok || k.kind != cst.KindPointer {
		return name
	}
	switch {
	case k.value == spool.Stack:
		return "stack"
	case k.value == spool.Static:
		return "static"
	case k.value < spool.Static && k.value > spool.ThreadStack:
		return fmt.Sprint("static", spool.Static-k.value)
	case k.value < spool.ThreadStack && k.value > symbolic.FirstUnknown:
		return fmt.Sprint("stack", spool.ThreadStack-k.value)
	}
	return ""
}

// A numeral is a raw value that is a constant, and its id.
type numeral struct{ raw, id int64 }

// strayed is added to a negative rank or tag that is no constant, so that it is not
// taken for one.
const strayed = -64

// canonical returns the canonical form of a rank or a tag.
func canonical(constants []numeral, raw int64) int64 {
	if raw >= 0 {
		return raw
	}
	for _, c := range constants {
		if c.raw == raw {
			return c.id
		}
	}
	return raw + strayed
}
