package events

import (
	"slices"
	"strings"
	"sync"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
)

// Categories of calls.
const (
	pointToPoint = "mpi.p2p"
	collective   = "mpi.collective"
	oneSided     = "mpi.rma"
	files        = "mpi.io"
	others       = "mpi.other"
	noMPI        = "other" // not of MPI
)

// named are the functions of MPI by their names without MPI_, in lower case.
var named = sync.OnceValue(func() map[string]string {
	m := make(map[string]string)
	for _, f := range spec.Functions() {
		m[strings.ToLower(spec.Base(f.Name))] = f.Name
	}
	return m
})

// RoleOf returns what a function of MPI does, by its name without MPI_ and in lower case.
func RoleOf(name string) *spec.Role { return spec.RoleOf(named()[name]) }

// AreActions reports whether functions are all actions of SimGrid.
func AreActions(list []cst.Function) bool {
	return !slices.ContainsFunc(list, func(f cst.Function) bool {
		_, ok := simgrid.Lookup(f)
		return !ok
	})
}

// categories returns the categories of the functions of a trace.
func categories(t *trace.Trace) []string {
	list := t.Functions()
	actions := AreActions(list)
	all := make([]string, len(list))
	for i, f := range list {
		all[i] = category(f.Name, actions)
	}
	return all
}

func category(name string, action bool) string {
	base := spec.Base(name)
	ofMPI := base != name
	base = strings.ToLower(base)
	if action {
		base = strings.Replace(base, "reducescatter", "reduce_scatter", 1)
		ofMPI = named()[base] != ""
	}
	switch r := RoleOf(base); {
	case !ofMPI:
		return noMPI
	case strings.HasPrefix(base, "win_"), r.Class == spec.OneSided, r.Class == spec.Synchronization:
		return oneSided
	case strings.HasPrefix(base, "file_"), r.Class == spec.Access:
		return files
	case r.Class == spec.PointToPoint, r.Class == spec.Completion, r.Class == spec.Probe:
		return pointToPoint
	case r.Class == spec.Collective:
		return collective
	}
	return others
}

// Category returns the category of the calls that a terminal stands for, such as mpi.p2p.
func (r *Rank) Category(terminal uint32) string {
	if r.trace.categories == nil {
		r.trace.categories = categories(r.trace.Source())
	}
	return r.trace.categories[r.Function(terminal)]
}
