package slice

import (
	"regexp"
	"strings"
)

// nodeType matches the types of what std::map, std::list and their like allocate for each element.
var nodeType = regexp.MustCompile(`^%"struct\.std::(_Rb_tree_node|_List_node|__detail::_Hash_node)(\.\d+)?"$`)

// nodes returns those of some places that may be elements of containers: a place where an allocation begins, and
// none in a variable or an object, where a container has the end of its list.
func (a *memory) nodes(pts *pointers) *pointers {
	of := &pointers{}
	for p := range a.places(pts) {
		if exact := p.hi == p.lo+1; !exact || p.lo == 0 && p.object.made != nil && p.object.made.op == "call" {
			of.add(p)
		}
	}
	return of
}

// isBucket reports whether an address is that of the bucket that a hash table of the library of C++ has in itself.
func (i *instruction) isBucket() bool {
	return i.element.kind == namedType && strings.HasPrefix(i.element.name, `%"class.std::_Hashtable`) &&
		len(i.operands) == 3 && i.operands[2].isNumber && i.operands[2].number == 5
}

// withoutBuckets returns the places that an address counts from that are not such buckets. Of those, there is none
// but the first, which the address may be.
func (a *memory) withoutBuckets(i *instruction, from *pointers) *pointers {
	if a.buckets == nil {
		return from
	}
	others, buckets := &pointers{}, &pointers{}
	for p := range a.places(from) {
		if p.hi == p.lo+1 && a.isOneOf(p, a.buckets) {
			buckets.add(p)
		} else {
			others.add(p)
		}
	}
	a.addTo(&i.node, buckets)
	return others
}

// isOneOf reports whether a place is one of those of pointers.
func (a *memory) isOneOf(p place, pts *pointers) bool {
	for q := range a.places(pts) {
		if q == p {
			return true
		}
	}
	return false
}

// linkBytes are how many bytes the links of a node of a list or a tree of the library of C++ take.
const linkBytes = 32

// relink adds what a function does to the links of nodes: it follows them, and may store all that it finds.
func (a *memory) relink(i *instruction, e *effect) {
	all := a.linked(i)
	if e.copies {
		a.storeAll(all, linkBytes, all)
	}
	a.addTo(&i.node, all)
}

// linked returns the nodes that a call reaches by links.
func (a *memory) linked(i *instruction) *pointers {
	var all *pointers
	for _, v := range i.operands {
		all = a.join(all, a.pointsOf(i.block.of, v))
	}
	for {
		more := a.join(all, a.load(all, linkBytes))
		if more == all {
			return all
		}
		all = more
	}
}
