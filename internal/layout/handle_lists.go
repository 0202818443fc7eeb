package layout

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
)

// HandleLists are the handles of classes that signatures have as places in a list: those with
// names, in their order. Handles whose numbers are large, such as addresses in a program, take
// a byte so.
type HandleLists map[string][]int64

// minListed is the smallest of the largest numbers of a class whose handles are listed.
const minListed = 1 << 21

// NewHandleLists returns those of names for which it pays, if used yields the handles of
// a class that signatures have as constants, and all have names.
func NewHandleLists(names []format.Name, used func(class string, yield func(int64) bool)) HandleLists {
	lists := make(HandleLists)
	for len(names) > 0 {
		n := 1
		for n < len(names) && names[n].Kind == names[0].Kind && names[n].Class == names[0].Class {
			n++
		}
		if names[0].Kind == cst.KindHandle && names[n-1].Value >= minListed {
			lists.add(names[:n])
		}
		names = names[n:]
	}
	for class := range lists {
		used(class, func(v int64) bool {
			_, ok := lists.Place(class, v)
			if !ok {
				delete(lists, class)
			}
			return ok
		})
	}
	return lists
}

// add adds the handles of a class.
func (l HandleLists) add(names []format.Name) {
	values := make([]int64, len(names))
	for i, n := range names {
		values[i] = n.Value
	}
	l[names[0].Class] = values
}

// Place returns the place of a handle in the list of its class, and reports whether it is there.
func (l HandleLists) Place(class string, v int64) (int, bool) {
	return slices.BinarySearch(l[class], v)
}
