package query

import (
	"math"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
)

// Ignored is what does not count when traces are compared.
type Ignored struct {
	// Addresses are those of memory; those with a name, such as MPI_IN_PLACE, do count, unless there is
	// nothing at them. The numbers of requests do not count either, as they follow from addresses: what
	// counts is which call made a request.
	Addresses bool
	Sites     bool // the places that calls are made from
	Files     bool // the names of files
	Arguments bool // those of the command, which MPI_Init has
	Polls     bool // tests and probes that find nothing: how often a program makes them is up to time

	// Completions are which messages and requests come first, which is up to time, too:
	// what statuses say, calls that are given a status, such as MPI_Get_count, waits
	// and tests for any or some of several requests, and probes that find a message. The
	// receive of such a message, what is sent back to its source at once, tests that find all
	// of their requests complete, and questions such as MPI_Comm_rank may come in any order,
	// but not another number of times.
	Completions bool

	Functions []string // all of their calls
}

// ignoredCall is the id of calls that do not count.
const ignoredCall = math.MaxUint32

// parameter reports whether arguments do not count.
func (g *Ignored) parameter(p cst.Param) bool {
	return g.Sites && p.Type.Class == "site" || g.Files && p.Name == "filename" ||
		g.Arguments && (p.Name == "argc" || p.Name == "argv") || g.Completions && isStatus(p)
}

// compared returns a function without the parameters that do not count. Where addresses do not, NULL may
// stand for an array.
func (g *Ignored) compared(f cst.Function) cst.Function {
	f.Params = slices.DeleteFunc(slices.Clone(f.Params), g.parameter)
	for i := range f.Params {
		if p := &f.Params[i]; g.Addresses && p.Type.Kind == cst.KindArray && !isStatus(*p) {
			p.Type = cst.HandleOf(spec.PlaceholderClass)
		}
	}
	return f
}

// amounts are the parameters that say how much there is in a buffer: the first that a function has.
var amounts = map[string][]string{
	"buf": {"count"}, "buffer": {"count", "size"}, "inbuf": {"incount", "count"}, "outbuf": {"outcount"},
	"inoutbuf":    {"count"},
	"sendbuf":     {"sendcount", "sendcounts", "count", "recvcount", "recvcounts"},
	"recvbuf":     {"recvcount", "recvcounts", "count"},
	"origin_addr": {"origin_count"}, "result_addr": {"result_count"},
}

// isNothing reports whether an argument of a call is an address at which there is nothing, as the count is 0,
// or an array without elements: programs pass NULL or any address. MPI_IN_PLACE is neither.
func isNothing(c *trace.Call, i int) bool {
	p, v := &c.Function.Params[i], c.Args[i]
	switch {
	case p.Type.Kind == cst.KindArray:
		return v.Len() == 0 && !isStatus(*p)
	case p.Type.Kind == cst.KindHandle && p.Type.Class == spec.PlaceholderClass:
		return v.Int() == spec.ID("NULL")
	case p.Type.Kind != cst.KindPointer || v.Pointer().Segment == spec.ID("MPI_IN_PLACE"):
		return false
	}
	for _, name := range amounts[p.Name] {
		k := slices.IndexFunc(c.Function.Params, func(q cst.Param) bool { return q.Name == name })
		if k < 0 {
			continue
		}
		switch n := c.Args[k]; n.Kind() {
		case cst.KindInt:
			return n.Int() == 0
		case cst.KindArray:
			for j := range n.Len() {
				if e := n.Index(j); e.Kind() != cst.KindInt || e.Int() != 0 {
					return false
				}
			}
			return true
		default:
			return false
		}
	}
	return false
}

// call reports whether a call does not count.
func (g *Ignored) call(c *trace.Call) bool {
	return slices.Contains(g.Functions, c.Function.Name) || g.Polls && foundNothing(c) ||
		g.Completions && (isUpToCompletion(c.Function) || found(c))
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

// isQuestion reports whether a function only says what MPI knows, as MPI_Comm_rank does.
func isQuestion(f *cst.Function) bool {
	kinds := []cst.Kind{cst.KindInt, cst.KindRank, cst.KindString}
	answers := 0
	for _, p := range f.Params {
		switch {
		case p.Type.Class == "site", p.Direction == cst.In:
		case p.Direction == cst.Out && slices.Contains(kinds, p.Type.Kind):
			answers++
		default:
			return false
		}
	}
	return answers > 0 && spec.RoleOf(f.Name).Class == spec.Local
}

// found reports whether a call probed for a message and found one.
func found(c *trace.Call) bool {
	return spec.RoleOf(c.Function.Name).Class == spec.Probe && !foundNothing(c)
}

// foundNothing reports whether a call asked whether something has happened, and it had not.
func foundNothing(c *trace.Call) bool {
	role := spec.RoleOf(c.Function.Name)
	switch role.Class {
	case spec.Completion, spec.Probe, spec.Synchronization:
	default:
		if spec.Base(c.Function.Name) != "Parrived" {
			return false
		}
	}
	for i, p := range c.Function.Params {
		asks := role.Requests == spec.Tests || role.Requests == spec.Looks
		if done := p.Name == "flag" || p.Name == "outcount" && asks; done && p.Type.Kind == cst.KindInt &&
			c.Args[i].Int() == 0 {
			return true
		}
	}
	return false
}

// isConstant reports whether a pointer is one that MPI has a name for.
func isConstant(v cst.Value) bool {
	return slices.ContainsFunc(spec.Constants(), func(c spec.Constant) bool {
		return c.Class == "pointer" && c.ID == v.Pointer().Segment
	})
}
