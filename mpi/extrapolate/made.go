package extrapolate

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

// What is made is a run on another number of ranks in a grid.
type made struct {
	*solver
	grid     *grid
	root     *class
	bits     int  // how long the program is, about
	digits   bool // it depends on binary digits
	parts    []merge.Part
	hashes   [][]byte // of the calls of each rank
	problems []string // what is taken although the traces do not determine it
	nearest  []string // what is so without a rule, as it does not count
	told     map[string]bool
	weak     map[*form]bool
	known    map[string]*sequitur.Grammar
}

// make makes the parts of all ranks.
func (m *made) make() error {
	m.told, m.weak, m.known = make(map[string]bool), make(map[*form]bool), make(map[string]*sequitur.Grammar)
	problems := []string{}
	m.digits = m.binary()
	m.nearest = slices.Sorted(maps.Keys(m.varied))
	for number := range m.o.Ranks {
		if m.ctx.Err() != nil {
			return context.Cause(m.ctx)
		}
		w := writer{made: m, problem: func(text string) {
			if !m.told[text] {
				m.told[text] = true
				problems = append(problems, text)
			}
		}}
		if err := w.rank(number); err != nil {
			return err
		}
		if m.o.Progress != nil {
			m.o.Progress(number + 1)
		}
	}
	if m.problems = problems; len(problems) > 0 && !m.solver.forced {
		return &Error{Problems: problems}
	}
	return nil
}

// equal reports whether two runs make the same calls.
func (m *made) equal(n *made) bool { return slices.EqualFunc(m.hashes, n.hashes, bytes.Equal) }

// fits returns the expressions that are not constant.
func (m *made) fits() []Fit {
	list := []Fit{}
	m.root.forms(m.declared, func(c *class, fn, parameter string, f form) {
		if f.exprs[0].constant {
			return
		}
		fit := Fit{fn, parameter, f.exprs[0].text, c.name, numbersOf(f.at), f.forced}
		if !slices.Contains(list, fit) {
			list = append(list, fit)
		}
	})
	return list
}

// alike returns which counts are the same in all traces, and have a value.
func (m *made) alike(value int64) (list []string) {
	m.root.forms(m.declared, func(_ *class, fn, parameter string, f form) {
		if !f.exprs[0].constant || f.role.is(roleRank, roleLabel, roleRequest, roleSite) || f.lenient == ignored {
			return
		}
		if v, _ := f.exprs[0].at(new(point)); v != value {
			return
		}
		if fn != "" {
			parameter += " of " + fn
		}
		if !slices.Contains(list, parameter) {
			list = append(list, parameter)
		}
	})
	return list
}

// dependsOn reports whether the program may depend on a feature that is the same in all traces: on an extent of
// its grid, on what its loops may count, and on binary digits if it depends on such ones otherwise.
func (m *made) dependsOn(x feature, value int64) bool {
	switch {
	case x.extent, x.name == ofN.name:
		return true
	case x.part == 1: // programs treat powers of two in their own way
		return true
	case x.part > 1:
		return x.part == 2 && (m.root.tellsParity() || m.hasParity())
	case x.binary && m.digits:
		return true
	}
	return value > 1 && x.bits <= length(value)+maxLonger && m.counts(value)
}

// foreign reports whether the program depends on an extent of a grid that the ranks are not in.
func (m *made) foreign() (found bool) {
	m.root.forms(m.declared, func(_ *class, _, _ string, f form) {
		found = found || !f.exprs[0].constant && f.exprs[0].bits >= foreignBits &&
			strings.Contains(f.exprs[0].text, "MPI_Dims_create")
	})
	return found
}

// counts reports whether a loop of the program has so many iterations in all traces.
func (m *made) counts(value int64) (found bool) {
	m.root.forms(m.declared, func(_ *class, fn, _ string, f form) {
		if fn == "" && f.exprs[0].constant {
			v, _ := f.exprs[0].at(new(point))
			found = found || v == value
		}
	})
	return found
}

// binary reports whether the program depends on binary digits.
func (m *made) binary() (found bool) {
	m.root.forms(m.declared, func(_ *class, _, _ string, f form) {
		found = found || f.exprs[0].binary && !f.powerOfBit()
	})
	return found || m.root.tellsParity()
}

// hasParity reports whether a number of the program depends on what is even.
func (m *made) hasParity() (found bool) {
	m.root.forms(m.declared, func(_ *class, _, _ string, f form) {
		found = found || strings.Contains(f.exprs[0].text, "mod 2 =") || strings.Contains(f.exprs[0].text, "is even")
	})
	return found
}

// powerOfBit reports whether a number that is no rank is of 2^i where i is 0 or 1 in all traces: it is of i+1 there,
// and tells nothing of digits.
func (f *form) powerOfBit() bool {
	return f.role != roleRank && f.exprs[0].uses&usesPower != 0 && !slices.ContainsFunc(f.at, func(p *point) bool {
		return p.index > 1 || slices.Max(p.rounds[:]) > 1
	})
}

// tellsParity reports whether even ranks and odd ones differ.
func (c *class) tellsParity() bool {
	return c.finer != nil && c.split >= parity || slices.ContainsFunc(c.order, (*class).tellsParity)
}
