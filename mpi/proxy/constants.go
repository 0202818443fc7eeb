package proxy

import (
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
)

// An implemented is a constant whose number implementations of MPI choose.
type implemented struct {
	name  string
	value [implementations]int64
}

const (
	mpich = iota
	openMPI
	implementations
)

// named are the constants that arguments have, by parameter, and flags those whose sums they have.
var (
	named = map[string][]implemented{
		"order": {{"MPI_ORDER_C", both(56, 0)}, {"MPI_ORDER_FORTRAN", both(57, 1)}},
		"array_of_distribs": {{"MPI_DISTRIBUTE_BLOCK", both(121, 0)}, {"MPI_DISTRIBUTE_CYCLIC", both(122, 1)},
			{"MPI_DISTRIBUTE_NONE", both(123, 2)}},
		"array_of_dargs": {{"MPI_DISTRIBUTE_DFLT_DARG", both(-49767, -1)}},
		"lock_type":      {{"MPI_LOCK_EXCLUSIVE", both(234, 1)}, {"MPI_LOCK_SHARED", both(235, 2)}},
		"split_type":     {{"MPI_COMM_TYPE_SHARED", both(1, 0)}},
		"typeclass": {{"MPI_TYPECLASS_REAL", both(1, 2)}, {"MPI_TYPECLASS_INTEGER", both(2, 1)},
			{"MPI_TYPECLASS_COMPLEX", both(3, 3)}},
		"whence": {{"MPI_SEEK_SET", both(600, 600)}, {"MPI_SEEK_CUR", both(602, 602)},
			{"MPI_SEEK_END", both(604, 604)}},
		"required": {{"MPI_THREAD_SINGLE", both(0, 0)}, {"MPI_THREAD_FUNNELED", both(1, 1)},
			{"MPI_THREAD_SERIALIZED", both(2, 2)},
			{"MPI_THREAD_MULTIPLE", both(3, 3)}},
	}
	flags = map[string][]implemented{
		"assert": {{"MPI_MODE_NOCHECK", both(1024, 1)}, {"MPI_MODE_NOSTORE", both(2048, 8)},
			{"MPI_MODE_NOPUT", both(4096, 4)},
			{"MPI_MODE_NOPRECEDE", both(8192, 2)}, {"MPI_MODE_NOSUCCEED", both(16384, 16)}},
		"amode": {{"MPI_MODE_CREATE", both(1, 1)}, {"MPI_MODE_RDONLY", both(2, 2)},
			{"MPI_MODE_WRONLY", both(4, 4)}, {"MPI_MODE_RDWR", both(8, 8)},
			{"MPI_MODE_DELETE_ON_CLOSE", both(16, 16)}, {"MPI_MODE_UNIQUE_OPEN", both(32, 32)},
			{"MPI_MODE_EXCL", both(64, 64)},
			{"MPI_MODE_APPEND", both(128, 128)}, {"MPI_MODE_SEQUENTIAL", both(256, 256)}},
	}
)

func both(mpich, openMPI int64) [implementations]int64 {
	return [implementations]int64{mpich, openMPI}
}

// isImplemented reports whether numbers of a parameter are those that an implementation chose.
func isImplemented(p *spec.Param) bool { return named[p.Name] != nil || flags[p.Name] != nil }

// recordedWith returns the MPI of a trace, implementations if it is not known.
func recordedWith(t *trace.Trace) int {
	for _, v := range t.Run().Origin.Versions {
		switch {
		case strings.HasPrefix(v, "MPICH"):
			return mpich
		case strings.HasPrefix(v, "Open MPI"):
			return openMPI
		}
	}
	return implementations
}

// constantName returns a function that writes numbers of a parameter, those that the MPI of the trace has a
// name for by name: other implementations have other numbers.
func (g *generator) constantName(p *spec.Param) func(int64) string {
	plain := numberName(classOf(p.Element()))
	mpi := recordedWith(g.trace)
	if mpi == implementations {
		return plain
	}
	return func(n int64) string {
		if i := slices.IndexFunc(named[p.Name], func(c implemented) bool { return c.value[mpi] == n }); i >= 0 {
			return named[p.Name][i].name
		}
		var names []string
		left := n
		for _, c := range flags[p.Name] {
			if left&c.value[mpi] != 0 {
				names, left = append(names, c.name), left&^c.value[mpi]
			}
		}
		if left == 0 && len(names) > 0 {
			return strings.Join(names, " | ")
		}
		return plain(n)
	}
}
