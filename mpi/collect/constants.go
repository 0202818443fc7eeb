package collect

import (
	"fmt"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/symbolic"
)

// Implied stands for the source or the tag of a status that says nothing new: what
// was asked for, or what nobody may look at.
const Implied = -9

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
// other than [mpi.Given].
func placeholder(p *spec.Param, presence mpi.Presence) int64 {
	switch presence {
	case mpi.Absent:
		return spec.ID("NULL")
	case mpi.Empty:
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

// classOfWindows is the position of the class among all.
var classOfWindows = classOf("win")

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
	case k.value == mpi.Stack:
		return "stack"
	case k.value == mpi.Static:
		return "static"
	case k.value < mpi.Static && k.value > mpi.ThreadStack:
		return fmt.Sprint("static", mpi.Static-k.value)
	case k.value < mpi.ThreadStack && k.value > symbolic.FirstUnknown:
		return fmt.Sprint("stack", mpi.ThreadStack-k.value)
	}
	return ""
}

// A numeral is a raw value that is a constant, and its id.
type numeral struct{ raw, id int64 }

// strayed is added to a negative rank or tag that is no constant, so that it is not
// taken for one.
const strayed = -64

// resolve returns the canonical form of a rank or a tag.
func resolve(constants []numeral, raw int64) int64 {
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
