package proxy

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// Tests that asked MPI whether something has happened, and found that it has not, are left out where
// it may happen before they are made here: one that completes a request is another call, and takes what
// a later one is to have.

// foundNothing is why such a call is left out.
const foundNothing = "found nothing, and may find something here"

// noOutcome is why a call is left out whose outcome is not in the trace.
const noOutcome = "the trace does not say what it found"

// asksNow reports whether a function asks whether something has happened, without waiting for it.
func asksNow(name string) bool { return tests(name) || repeats(name) || probes(name) }

// ownRequests returns the requests that calls of a shape make, and whether nothing but the process
// itself completes each.
func ownRequests(calls map[uint32]*call) map[int64]bool {
	own := make(map[int64]bool)
	for _, c := range calls {
		name := c.signature.Function.Name
		if v := c.argument("request"); v != nil && spec.RoleOf(name).Requests == 0 {
			v.each(func(x cst.Value) {
				if is, known := own[x.Int()]; x.Kind() == cst.KindHandle && (is || !known) {
					own[x.Int()] = name == "MPI_Grequest_start"
				}
			})
		}
	}
	return own
}

// countVain notes how often a call found nothing that it may find here, and leaves it out if it never
// found anything.
func (c *call) countVain(own map[int64]bool) {
	found := c.argument("flag")
	if name := c.signature.Function.Name; !asksNow(name) {
		return
	} else if base := spec.Base(name); base == "Testsome" || base == "Request_get_status_some" {
		found = c.argument("outcount")
	}
	if c.sure = !c.mayFind(own); c.sure {
		return
	}
	if found == nil { // as of a call that did not return
		c.left = noOutcome
		return
	}
	if probes(c.signature.Function.Name) {
		return
	}
	never := true
	for _, list := range found.of {
		zeros := uint64(0)
		for _, x := range list {
			if x.Int() == 0 {
				zeros++
			} else {
				never = false
			}
		}
		if len(list) == 1 {
			zeros *= c.times
		}
		c.vain = wire.AddSat(c.vain, zeros)
	}
	if never {
		c.left, c.vain = foundNothing, 0
	}
}

// mayFind reports whether a call may find something at any time: a message, or a request that
// something but the process itself completes.
func (c *call) mayFind(own map[int64]bool) bool {
	if repeats(c.signature.Function.Name) || probes(c.signature.Function.Name) {
		return true
	}
	may := false
	for _, name := range []string{"request", "array_of_requests"} {
		if v := c.argument(name); v != nil {
			v.each(func(x cst.Value) {
				eachNumber(x, func(x cst.Value) { may = may || isObject(x.Int()) && !own[x.Int()] })
			})
		}
	}
	return may
}
