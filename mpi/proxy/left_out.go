package proxy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// apart are functions that reach other programs, or end this one.
var apart = []string{
	"MPI_Abort", "MPI_Comm_spawn", "MPI_Comm_spawn_multiple", "MPI_Comm_accept", "MPI_Comm_connect",
	"MPI_Comm_join", "MPI_Comm_get_parent",
	"MPI_Open_port", "MPI_Close_port", "MPI_Publish_name", "MPI_Unpublish_name", "MPI_Lookup_name",
	"MPI_Register_datarep",
}

// standIns are the functions of a program for those of the recorded one that MPI calls, by the functions that
// they are given to and the parameters.
var standIns = map[string]string{
	"MPI_Op_create user_fn":                               "operation",
	"MPI_Comm_create_errhandler comm_errhandler_fn":       "comm_error",
	"MPI_File_create_errhandler file_errhandler_fn":       "file_error",
	"MPI_Win_create_errhandler win_errhandler_fn":         "win_error",
	"MPI_Session_create_errhandler session_errhandler_fn": "session_error",
	"MPI_Grequest_start query_fn":                         "query_request",
	"MPI_Grequest_start free_fn":                          "free_request",
	"MPI_Grequest_start cancel_fn":                        "cancel_request",
}

// unable says why a call cannot be made, or nothing, from its function alone.
func (c *call) unable() string {
	name := c.signature.Function.Name
	switch {
	case c.function == nil && (actions[name] != "" || c.computes() || isInit(name)):
		return ""
	case c.function == nil:
		return "is not known"
	case spec.OutcomeOf(c.signature.Function) == spec.Failed:
		return "failed"
	case spec.OutcomeOf(c.signature.Function) == spec.InFlight && name != "MPI_Finalize": // which ends a trace that was merged in it
		return "did not return"
	case isInit(name):
		return ""
	case slices.Contains(apart, name):
		return "reaches beyond the calls of these processes, or has no meaning for them"
	case c.function.Result.Kind != 0 && name != "MPI_Wtime" && name != "MPI_Wtick" && !usesWords(name):
		return "returns a value"
	}
	for _, p := range c.function.Declared() {
		addresses := p.Use == spec.Distances && p.Form == spec.Array
		if t := c.typeOf(p.Name); t.Kind != 0 && !t.Equal(p.Type) && t.Class != spec.PlaceholderClass && !addresses {
			return "has an argument " + p.Name +
				" of another type: an address in place of a distance, if nothing is damaged"
		}
		t := p.Element()
		for t.Kind == cst.KindArray {
			t = *t.Elem
		}
		switch {
		case t.Kind == cst.KindHandle && t.Class == "function" && standIns[name+" "+p.Name] != "":
		case t.Kind == cst.KindHandle && classes[t.Class] == "":
			return "needs an object of class " + t.Class
		case p.Form == spec.Texts || p.Form == spec.TextLists || t.Kind == cst.KindBytes || t.Kind == cst.KindFloat:
			return "has arguments of a kind that is not made again"
		}
	}
	return ""
}

// switches reports whether a call switches recording off or on, at some time on some rank.
func (c *call) switches() bool {
	if !spec.RoleOf(c.signature.Function.Name).Switches {
		return false
	}
	args := make([]cst.Value, len(c.args))
	for k := range c.ranks {
		for at, more := 0, true; more; at++ {
			more = false
			for i, v := range c.args {
				list := v.of[k]
				args[i] = list[min(at, len(list)-1)]
				more = more || at+1 < len(list)
			}
			if spec.SwitchesRecording(c.signature.Function, args) {
				return true
			}
		}
	}
	return false
}

// uses calls use with the handles of a call, and whether it makes what these stand for.
func (c *call) uses(use func(class string, id int64, makes bool)) {
	c.handles(func(p *spec.Param, v *values) {
		v.each(func(x cst.Value) { eachHandle(p, x, use) })
	})
}

// handles calls use with the parameters that are handles of objects, and their values.
func (c *call) handles(use func(p *spec.Param, v *values)) {
	if c.function == nil {
		return
	}
	for _, p := range c.function.Declared() {
		v := c.argument(p.Name)
		t := p.Element()
		if v == nil || t.Kind != cst.KindHandle || classes[t.Class] == "" {
			continue
		}
		use(&p, v)
	}
}

// eachHandle calls use with the handles of an argument.
func eachHandle(p *spec.Param, x cst.Value, use func(class string, id int64, makes bool)) {
	class, makes := p.Element().Class, p.Direction == cst.Out
	if x.Kind() != cst.KindArray {
		use(class, x.Int(), makes)
		return
	}
	for i := range x.Len() {
		if x.Index(i).Kind() == cst.KindHandle {
			use(class, x.Index(i).Int(), makes)
		}
	}
}

// leaveOut leaves out calls that need objects which only calls make that are left out.
func (g *generator) leaveOut() {
	for changed := true; changed; {
		changed = false
		for _, o := range g.objects {
			clear(o.made)
			clear(o.got)
		}
		for id := range g.foreign {
			g.objects["errhandler"].made[id], g.objects["errhandler"].got[id] = true, true
		}
		for _, shape := range g.calls {
			for _, c := range shape {
				if c.left == "" {
					gets := strings.Contains(c.signature.Function.Name, "_get_") ||
						c.signature.Function.Name == "MPI_Comm_group"
					c.uses(func(class string, id int64, makes bool) {
						if o := g.objects[class]; makes {
							o.made[id], o.got[id] = true, o.got[id] || gets
						}
					})
				}
			}
		}
		for _, shape := range g.calls {
			for _, c := range shape {
				if c.left != "" {
					continue
				}
				c.uses(func(class string, id int64, makes bool) {
					switch o := g.objects[class]; {
					case makes:
					case isObject(id) && !o.made[id]:
						c.left = "needs an object of class " + class + " that is not made"
					case !isObject(id) && constants[class][id] == "":
						c.left = "needs an unknown constant of class " + class
					}
				})
				changed = changed || c.left != ""
			}
		}
	}
}

// leftOut returns the calls of a shape that do not stand in its grammar.
func (g *generator) leftOut(number int) []LeftOut {
	list := make(map[LeftOut]uint64)
	for _, c := range g.calls[number] {
		if c.dropped && c.left != "" {
			key := LeftOut{Function: c.signature.Function.Name, Reason: c.left}
			list[key] = wire.AddSat(list[key], c.times)
		}
	}
	return sortedLeftOut(list)
}

// count sums up the calls of p.
func (g *generator) count(p *Program) {
	list := make(map[LeftOut]uint64)
	for _, shape := range g.calls {
		for _, c := range shape {
			calls := wire.MulSat(c.times, uint64(len(c.ranks)))
			if c.computes() {
				continue // no call, but a time between two
			}
			key := LeftOut{Function: c.signature.Function.Name, Reason: c.left}
			if c.left == "" {
				inVain := min(c.vain, calls-c.missed)
				p.Calls = wire.AddSat(p.Calls, calls-c.missed-inVain)
				if inVain > 0 {
					vain := LeftOut{Function: key.Function, Reason: foundNothing}
					list[vain] = wire.AddSat(list[vain], inVain)
				}
				if calls = c.missed; calls == 0 {
					continue
				}
				key.Reason = c.misses()
			}
			list[key] = wire.AddSat(list[key], calls)
		}
	}
	p.LeftOut = sortedLeftOut(list)
}

// sortedLeftOut returns a list by function and reason.
func sortedLeftOut(calls map[LeftOut]uint64) []LeftOut {
	var list []LeftOut
	for x, n := range calls {
		x.Calls = n
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b LeftOut) int {
		return cmp.Or(cmp.Compare(a.Function, b.Function), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}
