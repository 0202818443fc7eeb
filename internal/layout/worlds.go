package layout

import (
	"cmp"
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
)

func compareWorlds(w, v format.World) int {
	return cmp.Or(cmp.Compare(w.First, v.First), cmp.Compare(w.Parent, v.Parent), cmp.Compare(w.Spawn, v.Spawn))
}

// MergeWorlds returns the worlds of two lists, in ascending order. Of those with one first
// rank, one that has a parent counts, and of several such the least.
func MergeWorlds(a, b []format.World) []format.World {
	list := slices.Concat(a, b)
	slices.SortFunc(list, func(w, v format.World) int {
		known := func(w format.World) int { return min(w.Parent, 0) } // −1 or 0
		return cmp.Or(cmp.Compare(w.First, v.First), cmp.Compare(known(v), known(w)), compareWorlds(w, v))
	})
	return slices.CompactFunc(list, func(w, v format.World) bool { return w.First == v.First })
}

// AppendWorlds appends the encoding of worlds in ascending order.
func AppendWorlds(dst []byte, list []format.World) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(list)))
	last := -1
	for _, w := range list {
		dst = wire.AppendUvarint(dst, uint64(w.First-last-1))
		dst = wire.AppendUvarint(dst, uint64(w.Parent+1))
		if last = w.First; w.Parent >= 0 {
			dst = wire.AppendUvarint(dst, uint64(w.Spawn))
		}
	}
	return dst
}

// ReadWorlds reads the worlds of a trace or a part file of a run, which need not have any.
// An error is a [*format.SectionError].
func ReadWorlds(file *format.Reader) (list []format.World, err error) {
	if _, ok := file.Lookup(KindWorlds, 0); !ok {
		return nil, nil
	}
	err = ReadSection(file, KindWorlds, 0, func(data []byte) (err error) {
		list, err = ParseWorlds(data)
		return err
	})
	return list, err
}

// ParseWorlds reads what [AppendWorlds] has appended.
func ParseWorlds(data []byte) ([]format.World, error) {
	d := wire.NewDecoder("merge", data)
	list := make([]format.World, 0, d.Count("worlds", 2))
	last := -1
	for i := 0; i < cap(list) && d.Err() == nil; i++ {
		var w format.World
		at := d.Offset()
		first := uint64(last+1) + d.UvarintMax("first rank", MaxRanks)
		if first >= MaxRanks {
			d.Corrupt(at, "first rank", "%d", first)
		}
		w.First = int(first)
		if w.Parent = int(d.UvarintMax("parent", MaxRanks)) - 1; w.Parent >= 0 {
			w.Spawn = int(d.UvarintMax("spawn", MaxRanks))
		}
		last = w.First
		list = append(list, w)
	}
	if d.End("worlds"); d.Err() != nil {
		return nil, d.Err()
	}
	if len(list) == 0 {
		return nil, Corrupt("there are no worlds")
	}
	return list, nil
}

// CheckWorlds returns an error if worlds of a run of so many ranks do not ascend, or have
// numbers that cannot be.
func CheckWorlds(list []format.World, ranks int) error {
	for i, w := range list {
		if w.First < 0 || w.First >= ranks || w.Parent < -1 || w.Parent >= ranks || w.Spawn < 0 || w.Spawn > MaxRanks ||
			w.Parent < 0 && w.Spawn > 0 || i > 0 && w.First <= list[i-1].First {
			return Corrupt("world %d: %+v", i, w)
		}
	}
	return nil
}
