package spec

import "github.com/reprise-trace/reprise/cst"

// A Constant is a value with a name in MPI that arguments may have: a handle
// that MPI defines, or one of few numbers and addresses with a meaning of their
// own; or the class of an error. The value differs between implementations, and for
// handles may differ between processes.
type Constant struct {
	Name  string
	Class string // of the handle, or "rank", "tag", "int", "pointer" or [ErrorClass]

	// ID stands for the constant in a trace, whatever the implementation: −1 for the first
	// of its class, −2 for the second, and so on. It is the segment of a pointer. Numbers of
	// the classes "int" and [ErrorClass] stay as they are.
	ID int64
}

// ErrorClass is the class of names of classes of errors, which are no handles, so that no
// other numbers have these names.
const ErrorClass = "error"

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

// Names of constants and functions that others look up.
const (
	CommNull      = "MPI_COMM_NULL"
	CommSelf      = "MPI_COMM_SELF"
	CommWorld     = "MPI_COMM_WORLD"
	AnySource     = "MPI_ANY_SOURCE"
	AnyTag        = "MPI_ANY_TAG"
	ProcNull      = "MPI_PROC_NULL"
	Root          = "MPI_ROOT"
	InPlace       = "MPI_IN_PLACE"
	NoOp          = "MPI_NO_OP"
	MessageNoProc = "MPI_MESSAGE_NO_PROC"
	ErrPending    = "MPI_ERR_PENDING"
	ErrTruncate   = "MPI_ERR_TRUNCATE"

	Finalize = "MPI_Finalize"
)

// ID returns the [Constant.ID] of a constant of the table.
func ID(name string) int64 {
	for _, c := range constants {
		if c.Name == name {
			return c.ID
		}
	}
	panic("mpi/spec: the table has no constant " + name)
}

// A Placeholder stands in a trace for an argument that is not there, as the id of a handle
// of [PlaceholderClass].
type Placeholder int64

// The placeholders.
const (
	Null Placeholder = -1 - iota
	StatusIgnore
	StatusesIgnore
	Unweighted
	WeightsEmpty
	ErrcodesIgnore
)

// PlaceholderClass is the class of handles that [Placeholder]s are.
const PlaceholderClass = "constant"

var placeholders = [...]string{
	-1 - Null:           "NULL",
	-1 - StatusIgnore:   "MPI_STATUS_IGNORE",
	-1 - StatusesIgnore: "MPI_STATUSES_IGNORE",
	-1 - Unweighted:     "MPI_UNWEIGHTED",
	-1 - WeightsEmpty:   "MPI_WEIGHTS_EMPTY",
	-1 - ErrcodesIgnore: "MPI_ERRCODES_IGNORE",
}

// Placeholders returns an iterator over the placeholders.
func Placeholders(yield func(Placeholder) bool) {
	for i := range placeholders {
		if !yield(Placeholder(-1 - i)) {
			return
		}
	}
}

// String returns the name of the placeholder in MPI.
func (p Placeholder) String() string { return placeholders[-1-p] }

// Ignored returns the constant that a program may pass for no argument, and whether there
// is one. Where it is Unweighted, WeightsEmpty may be passed too.
func (p *Param) Ignored() (Placeholder, bool) {
	switch {
	case p.Type.Kind == cst.KindStatus:
		return StatusIgnore, true
	case p.Element().Kind == cst.KindStatus:
		return StatusesIgnore, true
	}
	switch p.Name {
	case "array_of_errcodes":
		return ErrcodesIgnore, true
	case "weights", "sourceweights", "destweights":
		return Unweighted, true
	}
	return 0, false
}

// HandleClass returns the class of the handles of a type in C, such as "comm" for
// MPI_Comm, and nothing for a type that is none of handles.
func HandleClass(typ string) string { return handleClasses[typ] }

var handleClasses = map[string]string{
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
}

// StatusType is the type of statuses in C.
const StatusType = "MPI_Status"

// NumberClass returns the class of a constant that is no handle, by its name, and nothing for
// others.
func NumberClass(name string) string { return numberClasses[name] }

var numberClasses = map[string]string{
	AnySource:       "rank",
	ProcNull:        "rank",
	Root:            "rank",
	AnyTag:          "tag",
	"MPI_UNDEFINED": "int",
	InPlace:         "pointer",
	"MPI_BOTTOM":    "pointer",
	ErrPending:      ErrorClass,
	ErrTruncate:     ErrorClass,
}

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
	"MPI_FLOAT_INT": 8, "MPI_DOUBLE_INT": 12, "MPI_LONG_INT": 12, "MPI_SHORT_INT": 6, "MPI_2INT": 8, "MPI_LONG_DOUBLE_INT": 20,
	"MPI_INTEGER": 4, "MPI_LOGICAL": 4, "MPI_REAL": 4, "MPI_DOUBLE_PRECISION": 8, "MPI_COMPLEX": 8, "MPI_DOUBLE_COMPLEX": 16,
	"MPI_INTEGER1": 1, "MPI_INTEGER2": 2, "MPI_INTEGER4": 4, "MPI_INTEGER8": 8, "MPI_INTEGER16": 16,
	"MPI_LOGICAL1": 1, "MPI_LOGICAL2": 2, "MPI_LOGICAL4": 4, "MPI_LOGICAL8": 8,
	"MPI_REAL4": 4, "MPI_REAL8": 8, "MPI_REAL16": 16, "MPI_COMPLEX8": 8, "MPI_COMPLEX16": 16, "MPI_COMPLEX32": 32,
	"MPI_2INTEGER": 8, "MPI_2REAL": 8, "MPI_2DOUBLE_PRECISION": 16, "MPI_2COMPLEX": 16, "MPI_2DOUBLE_COMPLEX": 32,
	"MPI_UB": 0, "MPI_LB": 0,
}
