package query

import (
	"math"
	"slices"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// Ignored is what does not count when traces are compared.
type Ignored struct {
	Addresses bool // of memory; those with a name, such as MPI_IN_PLACE, do count
	Sites     bool // the places that calls are made from
	Files     bool // the names of files
	Polls     bool // tests and probes that find nothing: how often a program makes them is up to time

	// Completions are which messages and requests come first, which is up to time, too:
	// what statuses say, calls that are given a status, such as MPI_Get_count, and waits
	// for any or some of several requests, and tests.
	Completions bool

	Functions []string // all of their calls
}

// ignoredCall is the id of calls that do not count.
const ignoredCall = math.MaxUint32

// parameter reports whether arguments do not count.
func (g *Ignored) parameter(p cst.Param) bool {
	return g.Sites && p.Type.Class == "site" || g.Files && p.Name == "filename" || g.Completions && isStatus(p)
}

// compared returns a function without the parameters that do not count.
func (g *Ignored) compared(f cst.Function) cst.Function {
	f.Params = slices.DeleteFunc(slices.Clone(f.Params), g.parameter)
	return f
}

// call reports whether a call does not count.
func (g *Ignored) call(c *reprise.Call) bool {
	return slices.Contains(g.Functions, c.Function.Name) || g.Polls && foundNothing(c) || g.Completions && isUpToCompletion(c.Function)
}

// isStatus reports whether a parameter is a status, or several.
func isStatus(p cst.Param) bool {
	return p.Type.Kind == cst.KindStatus || p.Type.Kind == cst.KindArray && p.Type.Elem.Kind == cst.KindStatus
}

// isUpToCompletion reports whether the calls of a function, and how many there are, are up to
// which request or message is first.
func isUpToCompletion(f *cst.Function) bool {
	completes := spec.RoleOf(f.Name).Class == spec.Completion
	return slices.ContainsFunc(f.Params, func(p cst.Param) bool {
		return isStatus(p) && p.Direction == cst.In || completes && (p.Name == "index" || p.Name == "outcount")
	})
}

// foundNothing reports whether a call asked whether something has happened, and it had not.
func foundNothing(c *reprise.Call) bool {
	role := spec.RoleOf(c.Function.Name)
	switch role.Class {
	case spec.Completion, spec.Probe, spec.Synchronization:
	default:
		if spec.Base(c.Function.Name) != "Parrived" {
			return false
		}
	}
	for i, p := range c.Function.Params {
		if done := p.Name == "flag" || p.Name == "outcount" && role.Requests == spec.Tests; done && p.Type.Kind == cst.KindInt && c.Args[i].Int() == 0 {
			return true
		}
	}
	return false
}

// isConstant reports whether a pointer is one that MPI has a name for.
func isConstant(v cst.Value) bool {
	return slices.ContainsFunc(spec.Constants(), func(c spec.Constant) bool { return c.Class == "pointer" && c.ID == v.Pointer().Segment })
}
