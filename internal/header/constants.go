package header

import (
	"regexp"
	"strings"
)

// A Constant is a macro that stands for a value that calls mention: a handle or
// one of few numbers and addresses.
type Constant struct {
	Name  string
	Class string // of the handle, or "rank", "tag", "int", "pointer" or "error"
}

// handle matches the definition of a constant handle: the type stands in front
// of the number in MPICH, and of the object in Open MPI.
var handle = regexp.MustCompile(`^#define (MPI_\w+) (?:\(+|OMPI_PREDEFINED_GLOBAL\( ?)(MPI_\w+)[),]`)

// special are the classes of constants that are no handles.
var special = map[string]string{
	"MPI_ANY_SOURCE":   "rank",
	"MPI_ANY_TAG":      "tag",
	"MPI_BOTTOM":       "pointer",
	"MPI_ERR_TRUNCATE": "error",
	"MPI_IN_PLACE":     "pointer",
	"MPI_PROC_NULL":    "rank",
	"MPI_ROOT":         "rank",
	"MPI_UNDEFINED":    "int",
}

// ParseConstants returns the constants among the macro definitions that a
// preprocessor lists, in their order.
func ParseConstants(macros string) []Constant {
	var constants []Constant
	for line := range strings.SplitSeq(macros, "\n") {
		if match := handle.FindStringSubmatch(line); match != nil && classes[match[2]] != "" {
			constants = append(constants, Constant{match[1], classes[match[2]]})
			continue
		}
		if field := strings.Fields(line); len(field) > 2 && special[field[1]] != "" {
			constants = append(constants, Constant{field[1], special[field[1]]})
		}
	}
	return constants
}
