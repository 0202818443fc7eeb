package trace

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
)

// Kept returns what a front end keeps under a name, and whether there is anything: see [format.Kept]. It is read anew each
// time. The error is a [*format.SectionError].
func (t *Trace) Kept(name string) (data []byte, ok bool, err error) {
	names, err := layout.ReadKept(t.file)
	i, ok := slices.BinarySearch(names, name)
	if err != nil || !ok {
		return nil, false, err
	}
	data, err = t.keptAt(i)
	return data, err == nil, err
}

func (t *Trace) keptAt(i int) (data []byte, err error) {
	err = layout.ReadSection(t.file, layout.KindKept, uint64(i+1), func(content []byte) error {
		data = bytes.Clone(content)
		return nil
	})
	return data, err
}

// AllKept returns what all front ends keep, in the order of names. With an error, which is the first, it returns what can
// be read.
func (t *Trace) AllKept() ([]format.Kept, error) {
	names, first := layout.ReadKept(t.file)
	var all []format.Kept
	for i, name := range names {
		data, err := t.keptAt(i)
		if err == nil {
			all = append(all, format.Kept{Name: name, Data: data})
		}
		first = cmp.Or(first, err)
	}
	return all, first
}
