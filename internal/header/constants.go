package header

import (
	"regexp"
	"strings"

	"github.com/reprise-trace/reprise/mpi/spec"
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

// ParseConstants returns the constants among the macro definitions that a
// preprocessor lists, in their order.
func ParseConstants(macros string) []Constant {
	var constants []Constant
	for line := range strings.SplitSeq(macros, "\n") {
		if match := handle.FindStringSubmatch(line); match != nil && spec.ClassOf(match[2]) != "" {
			constants = append(constants, Constant{match[1], spec.ClassOf(match[2])})
			continue
		}
		// Names of types have small letters: an mpi.h may define one as another.
		if field := strings.Fields(line); len(field) > 2 && field[1] == strings.ToUpper(field[1]) &&
			spec.ClassOf(field[1]) != "" {
			constants = append(constants, Constant{field[1], spec.ClassOf(field[1])})
		}
	}
	return constants
}
