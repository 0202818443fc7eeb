package extrapolate

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// Ignored is what of the arguments of calls does not count: it is an expression where there is one, and else
// taken from the nearest rank of the largest trace.
type Ignored struct {
	Addresses bool // of memory; and requests are numbered anew
	Sites     bool // where in the program calls are made
	Files     bool // names of files
	Arguments bool // of the command
}

// isSite reports whether a parameter is where in the program a call is made.
func isSite(p cst.Param) bool { return p.Name == layout.Site.Name && p.Type.Equal(layout.Site.Type) }

// lenient returns why a parameter need not follow from the traces.
func (s *solver) lenient(p cst.Param) lenience {
	switch {
	case p.Type.Kind == cst.KindPointer:
		return ignoredIf(s.o.Ignore.Addresses)
	case s.o.Ignore.Addresses && (p.Type.Class == "request" ||
		p.Type.Kind == cst.KindArray && p.Type.Elem.Class == "request"):
		return ignored
	case isSite(p):
		return ignoredIf(s.o.Ignore.Sites || s.nearest) // of what is forced, sites are what matters least
	case p.Name == "argv" || p.Name == "argc":
		return ignored // also without Arguments: executables of several numbers of ranks have several names
	case p.Name == "filename" && s.o.Ignore.Files:
		return ignored
	}
	return strict
}

// A lenience says whether a number must follow from the traces.
type lenience int

const (
	strict   lenience = iota
	perRanks          // not if it is the same on all ranks of each trace, as where there is one executable for each
	ignored           // not at all
)

func ignoredIf(all bool) lenience {
	if all {
		return ignored
	}
	return perRanks
}

// sitesOf returns what the sites of a trace are in the last one, by their names: executables for each number of
// ranks have sites of their own.
func sitesOf(t, last *trace.Trace) map[int64]int64 {
	known := make(map[string]int64)
	for _, n := range last.Run().Names {
		if n.Class == layout.Site.Type.Class {
			known[n.Name] = n.Value
		}
	}
	sites := make(map[int64]int64)
	for _, n := range t.Run().Names {
		if id, ok := known[n.Name]; ok && n.Class == layout.Site.Type.Class {
			sites[n.Value] = id
		}
	}
	return sites
}

// maxPlain is how many calls a rank may make so that its addresses are fitted one by one where they do not count,
// and its requests are numbered anew.
const maxPlain = 1 << 14

// isShort reports whether no rank of a trace makes more calls.
func isShort(t *trace.Trace) bool {
	for i := range t.Shapes() {
		if s, err := t.Shape(i); err != nil || s.Grammar.Len() > maxPlain {
			return false
		}
	}
	return true
}

// A requestUse is a request in a call.
type requestUse struct {
	id   int64
	made bool // by the call
}

// renumbered returns a part whose requests have the lowest numbers that are free: from the call that makes one to
// the last that names it.
func renumbered(part merge.Part) (merge.Part, error) {
	calls := make([]uint32, 0, part.Grammar.Len())
	for _, t := range part.Grammar.All() {
		calls = append(calls, uint32(t))
	}
	old := part.Table
	uses := make([][]requestUse, old.Len())
	for t := range uses {
		uses[t] = requestsIn(old, uint32(t))
	}
	last := make([][]bool, len(calls)) // whether a use is the last
	named := make(map[int64]bool)
	for i, t := range slices.Backward(calls) {
		for _, u := range uses[t] {
			last[i] = append(last[i], !named[u.id])
		}
		for _, u := range uses[t] {
			named[u.id] = !u.made
		}
	}
	n := renumbering{old: old, table: new(cst.Table), numbers: make(map[int64]int64), known: make(map[string]uint32)}
	for _, f := range old.Functions() {
		n.table.Declare(f)
	}
	var b sequitur.Builder
	groups := make(map[uint32]merge.Group)
	for i, t := range calls {
		own, err := n.call(t, uses[t], last[i])
		if err != nil {
			return part, err
		}
		if g, ok := part.CallGroups[t]; ok {
			groups[own] = g
		}
		b.Append(own)
	}
	part.Table, part.Grammar, part.CallGroups = n.table, b.Finish(), groups
	return part, nil
}

// A renumbering gives requests new numbers.
type renumbering struct {
	old, table *cst.Table
	numbers    map[int64]int64 // of requests that are in use
	taken      []bool
	known      map[string]uint32 // terminals, by those before and their requests
}

// call returns the terminal of a call with new numbers.
func (n *renumbering) call(t uint32, uses []requestUse, last []bool) (uint32, error) {
	key := fmt.Appendf(nil, "%d", t)
	own := make(map[int64]int64)
	for _, u := range uses {
		if _, ok := n.numbers[u.id]; !ok || u.made {
			n.take(u.id)
		}
		own[u.id] = n.numbers[u.id]
		key = fmt.Appendf(key, " %d", own[u.id])
	}
	for i, u := range uses {
		if number, ok := n.numbers[u.id]; ok && last[i] {
			n.taken[number] = false
			delete(n.numbers, u.id)
		}
	}
	if known, ok := n.known[string(key)]; ok {
		return known, nil
	}
	fn, args := n.old.AppendSignature(nil, t)
	for i, p := range n.old.Functions()[fn].Params {
		args[i] = withRequests(p.Type, args[i], own)
	}
	made, err := n.table.TryIntern(fn, args...)
	n.known[string(key)] = made
	return made, err
}

// take gives a request the lowest number that is free.
func (n *renumbering) take(id int64) {
	i := slices.Index(n.taken, false)
	if i < 0 {
		i, n.taken = len(n.taken), append(n.taken, false)
	}
	n.taken[i], n.numbers[id] = true, int64(i)
}

// withRequests returns a value with other numbers of requests.
func withRequests(t cst.Type, v cst.Value, numbers map[int64]int64) cst.Value {
	switch {
	case t.Kind == cst.KindHandle && t.Class == "request":
		if number, ok := numbers[v.Int()]; ok {
			return cst.Handle(number)
		}
	case t.Kind == cst.KindArray && t.Elem.Class == "request":
		list := make([]cst.Value, 0, v.Len())
		for i := range v.Len() {
			list = append(list, withRequests(*t.Elem, v.Index(i), numbers))
		}
		return cst.Array(list...)
	}
	return v
}

// requestsIn returns the requests of a terminal, without constants.
func requestsIn(table *cst.Table, t uint32) (list []requestUse) {
	fn, args := table.AppendSignature(nil, t)
	for i, p := range table.Functions()[fn].Params {
		add := func(v cst.Value) {
			if v.Int() >= 0 {
				list = append(list, requestUse{v.Int(), p.Direction == cst.Out})
			}
		}
		switch {
		case p.Type.Kind == cst.KindHandle && p.Type.Class == "request":
			add(args[i])
		case p.Type.Kind == cst.KindArray && p.Type.Elem.Class == "request":
			for k := range args[i].Len() {
				add(args[i].Index(k))
			}
		}
	}
	return list
}
