package proxy

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// Calls that asked MPI whether something has happened, and found that it has not, are left out where it may happen before they are made here:
// one that finds a message or completes a request is another call, and takes what a later one is to have.

// foundNothing is why such a call is left out.
const foundNothing = "found nothing, and may find something here"

// noOutcome is why a call is left out of which the trace does not say what it found.
const noOutcome = "the trace does not say what it found"

// asksNow reports whether a function asks whether something has happened, without waiting for it.
func asksNow(name string) bool { return tests(name) || repeats(name) || spec.Base(name) == "Iprobe" }

// countVain notes how often a call found nothing that it may find here, and leaves it out if it never found anything. Calls are those of its shape.
func (c *call) countVain(calls map[uint32]*call) {
	found := c.argument("flag")
	if name := c.signature.Function.Name; !asksNow(name) {
		return
	} else if spec.Base(name) == "Testsome" {
		found = c.argument("outcount")
	}
	c.sure = !c.mayFind(calls)
	if c.sure {
		return
	}
	if found == nil { // as of a call that did not return
		c.left = noOutcome
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

// mayFind reports whether a call may find something at any time: there is a receive, or another probe, that a message it may
// find is for; or a request that something but the process itself completes.
func (c *call) mayFind(calls map[uint32]*call) bool {
	switch spec.Base(c.signature.Function.Name) {
	case "Parrived", "Win_test":
		return true
	case "Iprobe", "Improbe":
		for _, other := range calls {
			if c != other && !asksInVain(other) && c.meets(other) {
				return true
			}
		}
		return false
	}
	own := make(map[int64]bool) // requests that nothing but the process itself completes
	for _, other := range calls {
		if v := other.argument("request"); v != nil && spec.RoleOf(other.signature.Function.Name).Requests == 0 {
			v.each(func(x cst.Value) {
				if is, known := own[x.Int()]; x.Kind() == cst.KindHandle && (is || !known) {
					own[x.Int()] = other.signature.Function.Name == "MPI_Grequest_start"
				}
			})
		}
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

// asksInVain reports whether a call is a probe that never found anything.
func asksInVain(c *call) bool {
	flag := c.argument("flag")
	if flag == nil || spec.RoleOf(c.signature.Function.Name).Class != spec.Probe {
		return false
	}
	vain := true
	flag.each(func(x cst.Value) { vain = vain && x.Int() == 0 })
	return vain
}

// meets reports whether a call may receive or find a message that a probe may find.
func (c *call) meets(other *call) bool {
	role := spec.RoleOf(other.signature.Function.Name)
	receives := role.Receives
	if role.Class == spec.Probe {
		receives = &spec.Transfer{Peer: "source", Tag: "tag"}
	}
	if receives == nil || receives.Peer == "" {
		return false
	}
	return overlap(c.argument("comm"), other.argument("comm"), 0) && overlap(c.argument("source"), other.argument(receives.Peer), spec.ID("MPI_ANY_SOURCE")) &&
		overlap(c.argument("tag"), other.argument(receives.Tag), spec.ID("MPI_ANY_TAG"))
}

// overlap reports whether two arguments of some rank may mean the same, of which a number may stand for all, or 0 for none does.
func overlap(a, b *values, all int64) bool {
	if a == nil || b == nil {
		return true
	}
	for k := range a.of {
		seen := make(map[int64]bool)
		for _, x := range a.of[k] {
			if seen[x.Int()] = true; all != 0 && x.Int() == all {
				return true
			}
		}
		for _, x := range b.of[k] {
			if seen[x.Int()] || all != 0 && x.Int() == all {
				return true
			}
		}
	}
	return false
}
