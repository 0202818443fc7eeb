package proxy

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// classes are the classes of handles that a program can have, with their types.
var classes = map[string]string{
	"comm": "MPI_Comm", "datatype": "MPI_Datatype", "group": "MPI_Group", "op": "MPI_Op",
	"request": "MPI_Request", "info": "MPI_Info", "message": "MPI_Message", "errhandler": "MPI_Errhandler",
	"win": "MPI_Win", "file": "MPI_File", "session": "MPI_Session",
}

// nulls are what is no object of a class.
var nulls = map[string]string{
	"comm": "MPI_COMM_NULL", "datatype": "MPI_DATATYPE_NULL", "group": "MPI_GROUP_NULL", "op": "MPI_OP_NULL",
	"request": "MPI_REQUEST_NULL", "info": "MPI_INFO_NULL", "message": "MPI_MESSAGE_NULL",
	"errhandler": "MPI_ERRHANDLER_NULL",
	"win":        "MPI_WIN_NULL", "file": "MPI_FILE_NULL", "session": "MPI_SESSION_NULL",
}

// constants are the names of numbers of each class.
var constants = func() map[string]map[int64]string {
	names := make(map[string]map[int64]string)
	for _, c := range spec.Constants() {
		if names[c.Class] == nil {
			names[c.Class] = make(map[int64]string)
		}
		if names[c.Class][c.ID] == "" {
			names[c.Class][c.ID] = c.Name
		}
	}
	return names
}()

// undefined is the number of MPI_UNDEFINED in the implementations that there are.
const undefined = -32766

// numberName returns a function that writes numbers of a class, those with a name by name.
func numberName(class string) func(int64) string {
	return func(n int64) string {
		if name := constants[class][n]; name != "" && class != "int" {
			return name
		}
		if class == "int" && n == undefined {
			return "MPI_UNDEFINED"
		}
		if n == -1<<63 {
			return "(-9223372036854775807 - 1)"
		}
		return fmt.Sprint(n)
	}
}

// classOf returns the class of the constants of a type.
func classOf(t cst.Type) string {
	switch t.Kind {
	case cst.KindRank:
		return "rank"
	case cst.KindTag:
		return "tag"
	case cst.KindHandle:
		return t.Class
	}
	return "int"
}

// Objects are the objects of a class that a program has, by their ids in
// the trace, in ascending order.
type objects struct {
	ids  []int64
	made map[int64]bool // by a call that is not left out
	got  map[int64]bool // from MPI, which may have had it before: it may be freed more than once
}

func (o *objects) add(id int64) {
	if i, ok := slices.BinarySearch(o.ids, id); !ok {
		o.ids = slices.Insert(o.ids, i, id)
	}
}

// place returns the number of an object in its array.
func (o *objects) place(id int64) int64 {
	i, _ := slices.BinarySearch(o.ids, id)
	return int64(i)
}

// isObject reports whether an id stands for an object that the program has, not for a constant.
func isObject(id int64) bool { return id >= 0 }
