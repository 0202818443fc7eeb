package layout

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
)

// MaxNames is the largest number of names of a run.
const MaxNames = 1 << 20

// CompareNames orders names by what has them.
func CompareNames(n, m format.Name) int {
	return cmp.Or(cmp.Compare(n.Kind, m.Kind), cmp.Compare(n.Class, m.Class), cmp.Compare(n.Value, m.Value))
}

func checkName(n format.Name) error {
	switch n.Kind {
	case cst.KindInt, cst.KindRank, cst.KindTag, cst.KindHandle, cst.KindPointer:
	default:
		return fmt.Errorf("a name of kind %v", n.Kind)
	}
	switch {
	case n.Kind != cst.KindHandle && n.Class != "":
		return fmt.Errorf("a name of class %q of kind %v", n.Class, n.Kind)
	case len(n.Class) > cst.MaxName:
		return fmt.Errorf("a name of a class of %d bytes", len(n.Class))
	case n.Name == "":
		return errors.New("a name that is empty")
	case len(n.Name) > cst.MaxName:
		return fmt.Errorf("a name of %d bytes", len(n.Name))
	}
	return nil
}

// CheckNames checks names that are to be written.
func CheckNames(list []format.Name) error {
	for _, n := range list {
		if err := checkName(n); err != nil {
			return err
		}
	}
	return nil
}

// listed is a flag of the kind of names: handles of the class that signatures have as
// constants are written as their places in the list of names.
const listed = 1 << 7

// AppendNames appends names, which ascend. Of none it appends nothing. Lists are the classes
// of handles of which signatures have places in the list.
func AppendNames(dst []byte, list []format.Name, lists HandleLists) []byte {
	for len(list) > 0 {
		first := list[0]
		n := 1
		for n < len(list) && list[n].Kind == first.Kind && list[n].Class == first.Class {
			n++
		}
		if first.Kind != cst.KindHandle {
			dst = append(dst, byte(first.Kind))
		} else if lists[first.Class] == nil {
			dst = wire.AppendString(append(dst, byte(first.Kind)), first.Class)
		} else {
			dst = wire.AppendString(append(dst, byte(first.Kind)|listed), first.Class)
		}
		dst = wire.AppendUvarint(dst, uint64(n)-1)
		last := ""
		for i, l := range list[:n] {
			if i == 0 {
				dst = wire.AppendVarint(dst, l.Value)
			} else {
				dst = wire.AppendUvarint(dst, uint64(l.Value-list[i-1].Value)-1)
			}
			dst = appendName(dst, last, l.Name)
			last = l.Name
		}
		list = list[n:]
	}
	return dst
}

// ParseNames reads names, of which there is one at least, and the classes of handles of which
// signatures have places in the list.
func ParseNames(data []byte) ([]format.Name, HandleLists, error) {
	d := wire.NewDecoder("merge", data)
	var list []format.Name
	lists := make(HandleLists)
	for d.Err() == nil && (d.Rest() > 0 || len(list) == 0) {
		list = decodeNames(&d, list, lists)
	}
	if d.Err() != nil {
		return nil, nil, d.Err()
	}
	return list, lists, nil
}

// ReadNames reads the names of a trace or a part file, if there are any, and the classes of
// handles as ParseNames does. An error is a [*format.SectionError].
func ReadNames(file *format.Reader) (list []format.Name, lists HandleLists, err error) {
	if _, ok := file.Lookup(KindNames, 0); !ok {
		return nil, nil, nil
	}
	err = ReadSection(file, KindNames, 0, func(data []byte) (err error) {
		list, lists, err = ParseNames(data)
		return err
	})
	return list, lists, err
}

// decodeNames reads the names of a kind and class, and appends them to those
// before.
func decodeNames(d *wire.Decoder, list []format.Name, lists HandleLists) []format.Name {
	at := d.Offset()
	kind := d.Byte("kind")
	group := format.Name{Kind: cst.Kind(kind), Value: math.MinInt64, Name: "-"}
	isListed := kind == byte(cst.KindHandle)|listed
	if isListed {
		group.Kind = cst.KindHandle
	}
	if group.Kind == cst.KindHandle {
		group.Class = string(d.String("class"))
	}
	if d.Err() == nil {
		if err := checkName(group); err != nil {
			d.Corrupt(at, "kind", "%v", err)
		} else if k := len(list); k > 0 && CompareNames(group,
			format.Name{Kind: list[k-1].Kind, Class: list[k-1].Class, Value: math.MinInt64}) <= 0 {
			d.Corrupt(at, "kind", "%v %q follows %v %q", group.Kind, group.Class, list[k-1].Kind, list[k-1].Class)
		}
	}
	at = d.Offset()
	n := d.Uvarint("names")
	if most := uint64(d.Rest() / 2); n >= most && n > 0 && d.Err() == nil { // a value and a length each
		d.Corrupt(at, "names", "%d more than one in %d bytes", n, d.Rest())
	}
	if n >= uint64(MaxNames-len(list)) {
		d.Limit(at, "names", "more than %d", MaxNames)
	}
	first, last := len(list), ""
	for i := uint64(0); i <= n && d.Err() == nil; i++ {
		at = d.Offset()
		next := group
		if i == 0 {
			next.Value = d.Varint("value")
		} else {
			last := list[len(list)-1].Value
			step := d.Uvarint("value")
			if step >= uint64(math.MaxInt64-last) {
				d.Corrupt(at, "value", "%d more than %d", step, last)
			}
			next.Value = int64(uint64(last) + step + 1)
		}
		at = d.Offset()
		next.Name = decodeName(d, last)
		if err := checkName(next); err != nil {
			d.Corrupt(at, "name", "%v", err)
		}
		last = next.Name
		list = append(list, next)
	}
	if isListed && d.Err() == nil {
		lists.add(list[first:])
	}
	return list
}
