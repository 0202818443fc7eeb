package merge

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
)

// A namedValue is what has a name.
type namedValue struct {
	kind  cst.Kind
	class string
	value int64
}

// names are those of a run. Of two for one number, the lesser counts, so that it
// does not matter which comes first.
type names map[namedValue]string

// add adds sound names. It changes nothing if they would become too many.
func (n *names) add(list []layout.Name) error {
	fresh := 0
	for _, l := range list {
		if _, ok := (*n)[namedValue{l.Kind, l.Class, l.Value}]; !ok {
			fresh++
		}
	}
	if fresh > layout.MaxNames-len(*n) {
		return fmt.Errorf("more than %d names", layout.MaxNames)
	}
	for _, l := range list {
		if *n == nil {
			*n = make(names)
		}
		v := namedValue{l.Kind, l.Class, l.Value}
		if old, ok := (*n)[v]; !ok || l.Name < old {
			(*n)[v] = l.Name
		}
	}
	return nil
}

// list returns the names in their order, nil if there are none.
func (n names) list() []layout.Name {
	if len(n) == 0 {
		return nil
	}
	list := make([]layout.Name, 0, len(n))
	for v, name := range n {
		list = append(list, layout.Name{Kind: v.kind, Class: v.class, Value: v.value, Name: name})
	}
	slices.SortFunc(list, layout.CompareNames)
	return list
}
