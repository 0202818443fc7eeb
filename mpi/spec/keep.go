package spec

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
)

// Keep says what of the calls of a function stays as it is in a trace of a bounded size: place,
// where they are among others, as they make or free what later calls name, or begin or end what
// these are in; and handles, which all matter to what a message is but those of requests. Functions
// that are not of MPI keep nothing.
func Keep(function string) (place, handles bool) {
	n, ok := Lookup(function)
	if !ok {
		return false, false
	}
	f, r := &Functions()[n], RoleOf(function)
	if r != nil && (r.Persistent || r.Begins != "" || r.Ends) {
		return true, true
	}
	return f.Outlives() && slices.ContainsFunc(f.Params, func(p Param) bool {
		switch p.Element().Class {
		case "comm", "datatype", "group", "win", "file", "session":
			return p.Direction != cst.In
		}
		return false
	}), true
}
