package predict

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/replay/loggps"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// checkFunctions returns an error if a machine has a factor of a function that is neither one of the trace
// nor one of MPI or SimGrid, and warns of those that the trace does not have.
func (m *machineFlags) checkFunctions(q *cli.Question, factors map[string]loggps.Factor) error {
	var names []string // those of the trace first
	for _, f := range q.Trace.Functions() {
		names = append(names, f.Name)
	}
	called := len(names)
	for _, f := range spec.Functions() {
		names = append(names, f.Name)
	}
	for _, f := range simgrid.Functions() {
		names = append(names, f.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(factors)) {
		switch i := slices.Index(names, name); {
		case i < 0:
			hint := ""
			if near := nearest(name, names); near != "" {
				hint = ": did you mean " + near + "?"
			}
			return cli.Named(fmt.Errorf("%s: compute.functions: no function is called %s%s",
				m.at("compute", "functions", name), text.Printable(name), hint))
		case i >= called:
			cli.Warn(q.ErrOrStderr(), "%s: compute.functions: the trace has no calls of %s",
				m.at("compute", "functions", name), name)
		}
	}
	return nil
}

// checkRanks warns of factors of ranks that the trace does not have.
func (m *machineFlags) checkRanks(q *cli.Question, factors []loggps.RankFactor) {
	for _, f := range factors {
		if f.Ranks.Intersection(q.Trace.RankSet()).Len() == 0 {
			set := f.Ranks.String()
			cli.Warn(q.ErrOrStderr(), "%s: compute.ranks: the trace has none of ranks %s: it has %s",
				m.at("compute", "ranks", set), set, text.Plural(q.Trace.Ranks(), "rank"))
		}
	}
}

// nearest returns the first of those names that are most like one, none if all differ in more than two
// letters.
func nearest(name string, names []string) (near string) {
	least := 3
	for _, other := range names {
		if d := distance(strings.ToLower(name), strings.ToLower(other)); d < min(least, len(name)) {
			near, least = other, d
		}
	}
	return near
}

// distance returns how many letters have to be added, left out or changed to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // of the first letters of a, to each number of letters of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
