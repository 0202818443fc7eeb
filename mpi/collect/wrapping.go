package collect

import (
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/mpi/internal/debuginfo"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// What functions wrap MPI, as those have it that record: see wrapping.c of package interpose.
const (
	mostWrapper   = 1024 // bytes of code
	leastWrappers = 2    // functions of an object
)

// wrapsMPI reports whether a function is called as one of MPI, with something before that, as hypre_MPI_Isend is.
func wrapsMPI(name string) bool {
	name, _, _ = strings.Cut(name, ".") // a part of it, or a copy
	at := strings.LastIndex(name, "MPI_")
	if at <= 0 || strings.HasPrefix(name, "_Z") || strings.HasPrefix(name, "PMPI_") {
		return false
	}
	_, ok := spec.Lookup(name[at:])
	return ok
}

// wrappingOf returns the functions that wrap MPI of the files that processes have in memory, whose calls have the
// sites of their callers.
func wrappingOf(list []*process) (names []string) {
	seen := make(map[string]bool)
	for _, p := range list {
		for _, t := range p.threads {
			for _, m := range t.sites.modules {
				if m.path == "" || seen[m.path] {
					continue
				}
				seen[m.path] = true
				if of := debuginfo.Functions(m.path, mostWrapper, wrapsMPI); len(of) >= leastWrappers {
					names = append(names, of...)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
