package extrapolate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxNamed is how many numbers are named that may depend on one thing.
const maxNamed = 5

// maxSuggested is the largest number of ranks of a trace that is asked for.
const maxSuggested = 1024

// unseen returns what is the same on all numbers of ranks but the last, and a run depends on: what depends on
// it is not seen. It says which numbers of the run have the value, as these may depend on it, and of how many
// ranks a trace shows that, 0 if none does.
func unseen(numbers []int64, m *made) (problems []string, ranks int) {
	last := len(numbers) - 1
	constants(numbers, m, func(x feature, values []int64) {
		problem := fmt.Sprintf("what depends on %s: %d in all traces, and %d on %d ranks", x.name, values[0],
			values[last], numbers[last])
		list := []string(nil)
		if m != nil {
			list = m.alike(values[0])
		}
		if len(list) > maxNamed {
			problem += fmt.Sprintf(": perhaps %s and %d more", strings.Join(list[:maxNamed], ", "), len(list)-maxNamed)
		} else if len(list) > 0 {
			problem += ": perhaps " + strings.Join(list, ", ")
		}
		problems = append(problems, problem)
	})
	if len(problems) == 0 {
		return nil, 0
	}
	for _, powers := range []bool{true, false} {
		for n := numbers[0] + 1; n <= maxSuggested; n++ {
			if slices.Contains(numbers, n) || powers &&
				slices.ContainsFunc(append([]int64{n}, numbers...), func(n int64) bool { return n&(n-1) > 0 }) {
				continue
			}
			open := false
			constants(append([]int64{n}, numbers...), m, func(feature, []int64) { open = true })
			if !open {
				return problems, int(n)
			}
		}
	}
	return problems, 0
}

// constants yields what is the same on all numbers of ranks but the last, those of the same values once: of
// what the run depends on, or of all if there is none.
func constants(numbers []int64, m *made, yield func(x feature, values []int64)) {
	last := len(numbers) - 1
	known := make(map[string]bool)
	in := func(g *grid, list []feature) {
		open := false // of an extent, its logarithms need not be told
		for _, x := range list {
			var values []int64
			for _, n := range numbers {
				values = append(values, x.of(&point{ranks: n, spot: g.spot(n, 0)}))
			}
			if !x.odd {
				open = false
			}
			if open || values[0] == values[last] || !isConstant(values[:last]) ||
				m != nil && !m.dependsOn(x, values[0]) {
				continue
			}
			open = !x.odd
			if key := fmt.Sprint(values); !known[key] {
				known[key] = true
				if g.dims > 1 {
					x.name += " of a grid (" + g.name + ")"
				}
				yield(x, values)
			}
		}
	}
	for dims := 1; dims <= 3; dims++ {
		for _, g := range grids(dims, numbers) {
			if m == nil || m.grid.dims == dims && m.grid.like(g, numbers) || m.asked[dims] && g.created() {
				in(g, sizes(g))
			}
		}
	}
	for _, g := range grids(1, numbers) {
		in(g, append(sizes(g)[:1], remainders()...))
	}
}

// seen returns an error if what a run depends on does not show in the traces, and adds that to what is not
// determined otherwise: more traces are the cure of both.
func (s *solver) seen(m *made, err error) error {
	wrong := new(Error)
	if err != nil && !errors.As(err, &wrong) {
		return err
	}
	if m == nil {
		_, wrong.Ranks = unseen(s.ranks, nil)
		return err
	}
	problems, ranks := unseen(s.ranks, m)
	if problems = append(problems, wrong.Problems...); len(problems) > 0 {
		return &Error{Problems: problems, Ranks: ranks, NoGrid: wrong.NoGrid}
	}
	return nil
}
