package collect

import (
	"fmt"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi"
	"github.com/reprise-trace/reprise/symbolic"
)

// Implied stands for the source or the tag of a status that says nothing new: what
// was asked for, or what nobody may look at.
const Implied = -9

// Ids of what stands for an argument that is not there, as handles of the class
// constant.
const (
	null = -1 - iota
	statusIgnore
	statusesIgnore
	unweighted
	weightsEmpty
	errcodesIgnore
)

const constantClass = "constant"

// errorClass is the class of names of classes of errors, which are no handles, so that no
// other numbers have these names.
const errorClass = "error"

// absolute is the segment of addresses that are numbers, such as the values of many
// attributes. Its base is zero. None is further from that than smallest: there is no
// memory.
const (
	absolute = -15
	smallest = 1 << 16
)

// noFunction is the id of a function that is a null pointer.
const noFunction = -1

var placeholders = [...]string{
	-1 - null:           "NULL",
	-1 - statusIgnore:   "MPI_STATUS_IGNORE",
	-1 - statusesIgnore: "MPI_STATUSES_IGNORE",
	-1 - unweighted:     "MPI_UNWEIGHTED",
	-1 - weightsEmpty:   "MPI_WEIGHTS_EMPTY",
	-1 - errcodesIgnore: "MPI_ERRCODES_IGNORE",
}

// placeholder returns the id of what stands for an argument that has a presence
// other than [mpi.Given].
func placeholder(p *mpi.Param, presence mpi.Presence) int64 {
	switch {
	case presence == mpi.Absent:
		return null
	case presence == mpi.Empty:
		return weightsEmpty
	case p.Type.Kind == cst.KindStatus:
		return statusIgnore
	case p.Element().Kind == cst.KindStatus:
		return statusesIgnore
	case p.Name == "array_of_errcodes":
		return errcodesIgnore
	}
	return unweighted
}

// A constantKey is a kind, with the class of handles, and a value.
type constantKey struct {
	kind  cst.Kind
	class string
	value int64
}

// ids are those of the constants of the table, the position being the number of the
// constant: −1 for the first of a class, −2 for the second, and so on. They are the
// same for every MPI.
var ids = constantIDs()

func constantIDs() []int64 {
	constants := mpi.Constants()
	list := make([]int64, len(constants))
	next := make(map[string]int64)
	for i, c := range constants {
		next[c.Class]--
		list[i] = next[c.Class]
	}
	return list
}

// names are what values are called.
var names = constantNames()

func constantNames() map[constantKey]string {
	m := make(map[constantKey]string)
	for i, c := range mpi.Constants() {
		m[keyOf(c.Class, ids[i])] = c.Name
	}
	m[constantKey{cst.KindPointer, "", absolute}] = "NULL"
	m[constantKey{cst.KindHandle, "function", noFunction}] = "NULL"
	for i, name := range placeholders {
		m[constantKey{cst.KindHandle, constantClass, int64(-1 - i)}] = name
	}
	return m
}

// classOfWindows is the position of the class among all.
var classOfWindows = classOf("win")

// Ids of communicators that every process has.
var (
	commSelf  = idOf("MPI_COMM_SELF")
	commWorld = idOf("MPI_COMM_WORLD")
)

func idOf(name string) int64 {
	for i, c := range mpi.Constants() {
		if c.Name == name {
			return ids[i]
		}
	}
	panic("mpi/collect: the table has no constant " + name)
}

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

func keyOf(class string, id int64) constantKey {
	switch class {
	case "rank":
		return constantKey{cst.KindRank, "", id}
	case "tag":
		return constantKey{cst.KindTag, "", id}
	case "int":
		return constantKey{cst.KindInt, "", id}
	case "pointer":
		return constantKey{cst.KindPointer, "", id}
	}
	return constantKey{cst.KindHandle, class, id}
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
