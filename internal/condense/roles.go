package condense

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
)

// A role says what becomes of a slot in the calls of a group.
type role uint8

const (
	fixed    role = iota // all calls of the group have the same
	summed               // integers: their sum is kept
	measured             // floats: their mean is, but for rounding
	taken                // any one of those that there are: where things are, and what they are called
)

// rolesOf returns the roles of the slots of a form.
func (c *Condenser) rolesOf(f *Form) []role {
	function := &c.functions[f.Function]
	roles := make([]role, 0, f.Slots)
	lengths := f.Lengths
	for k, p := range function.Params {
		begin := len(roles)
		roles = c.appendRoles(roles, p.Type, &lengths, c.handles[f.Function], false)
		if k >= layout.MaxBoundedParams || k == 0 && p.Name == threadParam {
			for i := range roles[begin:] {
				roles[begin+i] = fixed
			}
		}
	}
	if f.Grouped {
		roles = append(roles, fixed, fixed)
	}
	return roles
}

// requestClass is the class of handles of requests.
const requestClass = "request"

// threadParam is the name of the first parameter of functions that say which thread calls.
const threadParam = "thread"

// appendRoles appends those of a value of type t. Handles says that they stay, but those of requests.
func (c *Condenser) appendRoles(roles []role, t cst.Type, lengths *[]int, handles, element bool) []role {
	name := fixed // role of what calls are called
	if c.Names {
		name = taken
	}
	switch t.Kind {
	case cst.KindInt:
		return append(roles, summed)
	case cst.KindFloat:
		return append(roles, measured)
	case cst.KindTag, cst.KindString, cst.KindBytes:
		return append(roles, name)
	case cst.KindHandle:
		switch {
		case t.Class == layout.Site.Type.Class && !c.Sites:
			return append(roles, fixed)
		case handles && t.Class != requestClass && t.Class != layout.Site.Type.Class:
			return append(roles, fixed)
		}
		return append(roles, name)
	case cst.KindPointer:
		return append(roles, taken, taken, taken)
	case cst.KindStatus:
		if element {
			return append(roles, name, name, name)
		}
		return append(roles, fixed, name, fixed)
	case cst.KindArray:
		n := (*lengths)[0]
		*lengths = (*lengths)[1:]
		for range n {
			roles = c.appendRoles(roles, *t.Elem, lengths, handles, true)
		}
		return roles
	}
	return append(roles, fixed)
}

// paramOf returns the parameter that a slot of a form is of.
func (c *Condenser) paramOf(f *Form, slot int) int {
	lengths, end := f.Lengths, 0
	for k, p := range c.functions[f.Function].Params {
		if end, _ = layout.CountSlots(end, p.Type, &lengths); slot < end {
			return k
		}
	}
	return 0
}
