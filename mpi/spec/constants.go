package spec

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
)

// A Constant is a value with a name in MPI that arguments may have: a handle
// that MPI defines, or one of few numbers and addresses with a meaning of their
// own; or the class of an error. The value differs between implementations, and for
// handles may differ between processes.
type Constant struct {
	Name  string
	Class string // of the handle, or "rank", "tag", "int", "pointer" or "error"

	// ID stands for the constant in a trace, whatever the implementation: −1 for the first
	// of its class, −2 for the second, and so on. It is the segment of a pointer. Numbers of
	// the classes "int" and "error" stay as they are.
	ID int64
}

// Constants returns the constants of the table. The position is the number of a
// constant in a spool. The result must not be changed.
func Constants() []Constant { return constants }

// Type returns the type of arguments that have the value of the constant.
func (c Constant) Type() cst.Type {
	switch c.Class {
	case "rank":
		return rank
	case "tag":
		return tag
	case "int":
		return integer
	case "pointer":
		return pointer
	}
	return cst.HandleOf(c.Class)
}

// ID returns the id that stands in a trace for a constant of the table, or for one of
// the [Placeholders].
func ID(name string) int64 {
	if i := slices.Index(placeholders, name); i >= 0 { // mpi/collect asks for 5,000 of them as it starts
		return int64(-1 - i)
	}
	for _, c := range constants {
		if c.Name == name {
			return c.ID
		}
	}
	panic("spec: the table has no constant " + name)
}

// PlaceholderClass is the class of handles that stand for arguments that are not there.
const PlaceholderClass = "constant"

// Placeholders returns the names of what stands in a trace for an argument that is not
// there. The id of the first is −1, that of the second −2, and so on. The result must not
// be changed.
func Placeholders() []string { return placeholders }

var placeholders = []string{
	"NULL", "MPI_STATUS_IGNORE", "MPI_STATUSES_IGNORE", "MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY", "MPI_ERRCODES_IGNORE",
}

// Ignored returns the names of the placeholders that a program may pass for no argument:
// the second of weights stands for no weights at all. It returns nil if there is none.
func (p *Param) Ignored() []string {
	switch {
	case p.Type.Kind == cst.KindStatus:
		return []string{"MPI_STATUS_IGNORE"}
	case p.Element().Kind == cst.KindStatus:
		return []string{"MPI_STATUSES_IGNORE"}
	}
	switch p.Name {
	case "array_of_errcodes":
		return []string{"MPI_ERRCODES_IGNORE"}
	case "weights", "sourceweights", "destweights":
		return []string{"MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY"}
	}
	return nil
}

// ClassOf returns the class of the handles of a type in C, such as "comm" for MPI_Comm,
// or of a constant that is no handle, by its name, such as "tag" for MPI_ANY_TAG. It
// returns nothing for other names.
func ClassOf(name string) string { return classes[name] }

var classes = map[string]string{
	"MPI_Comm":                 "comm",
	"MPI_Datatype":             "datatype",
	"MPI_Errhandler":           "errhandler",
	"MPI_File":                 "file",
	"MPI_Group":                "group",
	"MPI_Info":                 "info",
	"MPI_Message":              "message",
	"MPI_Op":                   "op",
	"MPI_Request":              "request",
	"MPI_Session":              "session",
	"MPI_Win":                  "win",
	"MPI_T_cvar_handle":        "cvar",
	"MPI_T_enum":               "enum",
	"MPI_T_event_instance":     "event",
	"MPI_T_event_registration": "registration",
	"MPI_T_pvar_handle":        "pvar",
	"MPI_T_pvar_session":       "pvar_session",
	"MPIX_Grequest_class":      "grequest_class",

	"MPI_ANY_SOURCE":   "rank",
	"MPI_PROC_NULL":    "rank",
	"MPI_ROOT":         "rank",
	"MPI_ANY_TAG":      "tag",
	"MPI_UNDEFINED":    "int",
	"MPI_IN_PLACE":     "pointer",
	"MPI_BOTTOM":       "pointer",
	"MPI_ERR_PENDING":  "error",
	"MPI_ERR_TRUNCATE": "error",
}

// IsExclusiveLock reports whether a number in a trace, as which a lock_type stays, is MPI_LOCK_EXCLUSIVE: 234
// with MPICH and its relatives, 1 with Open MPI and SimGrid. With none of them is it another type.
func IsExclusiveLock(number int64) bool { return number == 234 || number == 1 }

// Size returns the size in bytes of a predefined datatype: where a long has 8 bytes, and the
// default integers and reals of Fortran have 4. It is −1 for one that is not known, and for
// other constants.
func (c Constant) Size() int64 {
	if size, ok := sizes[c.Name]; ok {
		return size
	}
	return -1
}

var sizes = map[string]int64{
	"MPI_CHAR": 1, "MPI_SIGNED_CHAR": 1, "MPI_UNSIGNED_CHAR": 1, "MPI_BYTE": 1, "MPI_PACKED": 1, "MPI_CHARACTER": 1,
	"MPI_SHORT": 2, "MPI_UNSIGNED_SHORT": 2, "MPI_INT": 4, "MPI_UNSIGNED": 4, "MPI_LONG": 8, "MPI_UNSIGNED_LONG": 8,
	"MPI_LONG_LONG": 8, "MPI_LONG_LONG_INT": 8, "MPI_UNSIGNED_LONG_LONG": 8, "MPI_WCHAR": 4,
	"MPI_FLOAT": 4, "MPI_DOUBLE": 8, "MPI_LONG_DOUBLE": 16, "MPI_C_BOOL": 1, "MPI_CXX_BOOL": 1,
	"MPI_INT8_T": 1, "MPI_INT16_T": 2, "MPI_INT32_T": 4, "MPI_INT64_T": 8,
	"MPI_UINT8_T": 1, "MPI_UINT16_T": 2, "MPI_UINT32_T": 4, "MPI_UINT64_T": 8,
	"MPI_AINT": 8, "MPI_COUNT": 8, "MPI_OFFSET": 8,
	"MPI_C_COMPLEX": 8, "MPI_C_FLOAT_COMPLEX": 8, "MPI_C_DOUBLE_COMPLEX": 16, "MPI_C_LONG_DOUBLE_COMPLEX": 32,
	"MPI_CXX_COMPLEX": 8, "MPI_CXX_FLOAT_COMPLEX": 8, "MPI_CXX_DOUBLE_COMPLEX": 16, "MPI_CXX_LONG_DOUBLE_COMPLEX": 32,
	"MPI_FLOAT_INT": 8, "MPI_DOUBLE_INT": 12, "MPI_LONG_INT": 12, "MPI_SHORT_INT": 6, "MPI_2INT": 8,
	"MPI_LONG_DOUBLE_INT": 20,
	"MPI_INTEGER":         4, "MPI_LOGICAL": 4, "MPI_REAL": 4, "MPI_DOUBLE_PRECISION": 8, "MPI_COMPLEX": 8,
	"MPI_DOUBLE_COMPLEX": 16,
	"MPI_INTEGER1":       1, "MPI_INTEGER2": 2, "MPI_INTEGER4": 4, "MPI_INTEGER8": 8, "MPI_INTEGER16": 16,
	"MPI_LOGICAL1": 1, "MPI_LOGICAL2": 2, "MPI_LOGICAL4": 4, "MPI_LOGICAL8": 8,
	"MPI_REAL4": 4, "MPI_REAL8": 8, "MPI_REAL16": 16, "MPI_COMPLEX8": 8, "MPI_COMPLEX16": 16, "MPI_COMPLEX32": 32,
	"MPI_2INTEGER": 8, "MPI_2REAL": 8, "MPI_2DOUBLE_PRECISION": 16, "MPI_2COMPLEX": 16, "MPI_2DOUBLE_COMPLEX": 32,
	"MPI_UB": 0, "MPI_LB": 0,
}
