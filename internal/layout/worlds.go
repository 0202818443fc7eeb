package layout

import (
	"cmp"
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A World is an MPI_COMM_WORLD of a run that has several: its ranks are those from First on,
// up to that of the next.
type World struct {
	// First is the rank in the run of its rank 0.
	First int `json:"first_rank"`

	// Parent is the rank in the run of one of the processes that started it together, by
	// MPI_Comm_spawn or MPI_Comm_spawn_multiple; −1 if none did, or it is not known which.
	Parent int `json:"parent"`

	// Spawn is how many such calls, which did not fail, Parent had made before; 0 without one.
	Spawn int `json:"spawn"`
}

func (w World) compare(v World) int {
	return cmp.Or(cmp.Compare(w.First, v.First), cmp.Compare(w.Parent, v.Parent), cmp.Compare(w.Spawn, v.Spawn))
}

// MergeWorlds returns the worlds of two lists, in ascending order. Of those with one first
// rank, one that has a parent counts, and of several such the least.
func MergeWorlds(a, b []World) []World {
	list := slices.Concat(a, b)
	slices.SortFunc(list, func(w, v World) int {
		known := func(w World) int { return min(w.Parent, 0) } // −1 or 0
		return cmp.Or(cmp.Compare(w.First, v.First), cmp.Compare(known(v), known(w)), w.compare(v))
	})
	return slices.CompactFunc(list, func(w, v World) bool { return w.First == v.First })
}

// AppendWorlds appends the encoding of worlds in ascending order.
func AppendWorlds(dst []byte, list []World) []byte {
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
// An error is a [*SectionError].
func ReadWorlds(file *format.Reader) (list []World, err error) {
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
func ParseWorlds(data []byte) ([]World, error) {
	d := wire.NewDecoder("merge", data)
	list := make([]World, 0, d.Count("worlds", 2))
	last := -1
	for i := 0; i < cap(list) && d.Err() == nil; i++ {
		var w World
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
func CheckWorlds(list []World, ranks int) error {
	for i, w := range list {
		if w.First < 0 || w.First >= ranks || w.Parent < -1 || w.Parent >= ranks || w.Spawn < 0 || w.Spawn > MaxRanks ||
			w.Parent < 0 && w.Spawn > 0 || i > 0 && w.First <= list[i-1].First {
			return Corrupt("world %d: %+v", i, w)
		}
	}
	return nil
}
