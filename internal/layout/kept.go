package layout

import (
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
)

// AppendKept appends the first section of what front ends keep: the names of all, which are ascending.
func AppendKept(dst []byte, names []string) []byte { return AppendTexts(dst, names) }

// ReadKept returns the names of what front ends keep. That of a name is the content of the section with its
// number, from 1 on. An error is a [*format.SectionError].
func ReadKept(file *format.Reader) (names []string, err error) {
	if _, ok := file.Lookup(KindKept, 0); !ok {
		return nil, nil
	}
	err = ReadSection(file, KindKept, 0, func(data []byte) error {
		d := wire.NewDecoder("merge", data)
		for n := d.Count("names", 1); len(names) < n && d.Err() == nil; {
			at := d.Offset()
			name := string(d.String("name"))
			if d.Err() == nil && len(names) > 0 && name <= names[len(names)-1] {
				d.Corrupt(at, "name", "%q is not after %q", name, names[len(names)-1])
			}
			names = append(names, name)
		}
		d.End("names")
		return d.Err()
	})
	return names, err
}
