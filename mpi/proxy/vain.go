package proxy

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// Calls that asked MPI whether something has happened, and found that it has not, are left out where
// it may happen before they are made here: one that finds a message or completes a request is another
// call, and takes what a later one is to have.

// foundNothing is why such a call is left out.
const foundNothing = "found nothing, and may find something here"

// noOutcome is why a call is left out whose outcome is not in the trace.
const noOutcome = "the trace does not say what it found"

// asksNow reports whether a function asks whether something has happened, without waiting for it.
func asksNow(name string) bool { return tests(name) || repeats(name) || spec.Base(name) == "Iprobe" }

// Findable is what the calls of a shape that ask may find at some time.
type findable struct {
	receivers []*call        // calls that receive, and probes that found something
	own       map[int64]bool // requests, and whether nothing but the process itself completes each
}

// findableBy returns what calls of a shape may find.
func findableBy(calls map[uint32]*call) *findable {
	f := &findable{own: make(map[int64]bool)}
	for _, c := range calls {
		name := c.signature.Function.Name
		if role := spec.RoleOf(name); (role.Receives != nil || role.Class == spec.Probe) && !asksInVain(c) {
			f.receivers = append(f.receivers, c)
		}
		if v := c.argument("request"); v != nil && spec.RoleOf(name).Requests == 0 {
			v.each(func(x cst.Value) {
				if is, known := f.own[x.Int()]; x.Kind() == cst.KindHandle && (is || !known) {
					f.own[x.Int()] = name == "MPI_Grequest_start"
				}
			})
		}
	}
	return f
}

// countVain notes how often a call found nothing that it may find here, and leaves it out if it never
// found anything.
func (c *call) countVain(f *findable) {
	found := c.argument("flag")
	if name := c.signature.Function.Name; !asksNow(name) {
		return
	} else if spec.Base(name) == "Testsome" {
		found = c.argument("outcount")
	}
	c.sure = !c.mayFind(f)
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

// mayFind reports whether a call may find something at any time: there is a receive, or another probe,
// that a message it may find is for; or a request that something but the process itself completes.
func (c *call) mayFind(f *findable) bool {
	switch spec.Base(c.signature.Function.Name) {
	case "Parrived", "Win_test":
		return true
	case "Iprobe", "Improbe":
		return slices.ContainsFunc(f.receivers, func(other *call) bool { return c != other && c.meets(other) })
	}
	may := false
	for _, name := range []string{"request", "array_of_requests"} {
		if v := c.argument(name); v != nil {
			v.each(func(x cst.Value) {
				eachNumber(x, func(x cst.Value) { may = may || isObject(x.Int()) && !f.own[x.Int()] })
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
	return overlap(c.argument("comm"), other.argument("comm"), 0) &&
		overlap(c.argument("source"), other.argument(receives.Peer), spec.ID("MPI_ANY_SOURCE")) &&
		overlap(c.argument("tag"), other.argument(receives.Tag), spec.ID("MPI_ANY_TAG"))
}

// overlap reports whether two arguments of some rank may mean the same; a number may stand for all, or 0
// if none does.
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
