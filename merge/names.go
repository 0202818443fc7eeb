package merge

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
)

// A namedValue is what has a name.
type namedValue struct {
	kind  cst.Kind
	class string
	value int64
}

// isSite reports whether it is a place in the program where calls are made.
func (v namedValue) isSite() bool {
	return v.kind == cst.KindHandle && v.class == layout.Site.Type.Class
}

// names are those of a run, of sites without what tells several of one name apart. Of two for one
// number, the lesser counts, so that it does not matter which comes first.
type names map[namedValue]string

// add adds sound names. It changes nothing if they would become too many.
func (n *names) add(list []format.Name) error {
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
		if v.isSite() {
			l.Name = layout.SiteName(l.Name)
		}
		if old, ok := (*n)[v]; !ok || l.Name < old {
			(*n)[v] = l.Name
		}
	}
	return nil
}

// list returns the names in their order, nil if there are none. Of sites of one name, all but the
// first have their number in this order behind it.
func (n names) list() []format.Name {
	if len(n) == 0 {
		return nil
	}
	list := make([]format.Name, 0, len(n))
	for v, name := range n {
		list = append(list, format.Name{Kind: v.kind, Class: v.class, Value: v.value, Name: name})
	}
	slices.SortFunc(list, layout.CompareNames)
	sites := make(map[string]int) // by name
	for i, l := range list {
		if (namedValue{l.Kind, l.Class, l.Value}).isSite() && len(l.Name) <= layout.MaxSiteName {
			if sites[l.Name]++; sites[l.Name] > 1 {
				list[i].Name = fmt.Sprintf("%s #%d", l.Name, sites[l.Name])
			}
		}
	}
	return list
}
