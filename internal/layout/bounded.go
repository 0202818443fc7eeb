package layout

import (
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// EndOf returns the position after the last call of a stretch.
func EndOf(s format.Stretch) uint64 { return s.First + s.Calls }

// MaxBoundedParams is how many parameters of a function can be of a distribution: the first.
const MaxBoundedParams = 64

const (
	boundedUntimed = 1 << iota
	boundedUnordered
	boundedByFunction

	boundedFlags = boundedUntimed | boundedUnordered | boundedByFunction
)

// AppendBounded appends the encoding of b.
func AppendBounded(dst []byte, b *format.Bounded) []byte {
	var flags byte
	for bit, set := range []bool{b.Untimed, b.Unordered, b.ByFunction} {
		if set {
			flags |= 1 << bit
		}
	}
	functions := FunctionsOf(b)
	dst = wire.AppendUvarint(append(dst, flags), uint64(len(functions)))
	last := -1
	for _, f := range functions {
		dst = wire.AppendUvarint(dst, uint64(f-last-1))
		dst = wire.AppendUvarint(dst, b.InStretches[f])
		dst = wire.AppendUvarint(dst, b.InOrder[f])
		last = f
	}
	dst = wire.AppendUvarint(dst, uint64(len(b.Transitions)))
	from, to := 0, -1
	for _, t := range TransitionsOf(b) {
		dst = wire.AppendUvarint(dst, uint64(t[0]-from))
		if t[0] != from {
			from, to = t[0], -1
		}
		dst = wire.AppendUvarint(dst, uint64(t[1]-to-1))
		dst = wire.AppendUvarint(dst, b.Transitions[t]-1)
		to = t[1]
	}
	ranks := slices.Sorted(maps.Keys(b.Stretches))
	dst, _ = rankenc.SetOf(ranks...).AppendBinary(dst)
	for _, r := range ranks {
		dst = wire.AppendUvarint(dst, uint64(len(b.Stretches[r])-1))
		end := uint64(0)
		for _, s := range b.Stretches[r] {
			dst = wire.AppendUvarint(dst, s.First-end)
			dst = wire.AppendUvarint(dst, s.Calls-1)
			end = EndOf(s)
		}
	}
	return dst
}

// StretchesOf returns the stretches of a rank; b is nil if nothing gave way.
func StretchesOf(b *format.Bounded, rank int) []format.Stretch {
	if b == nil {
		return nil
	}
	return b.Stretches[rank]
}

// FunctionsOf returns the functions with arguments of a distribution, in ascending order.
func FunctionsOf(b *format.Bounded) []int {
	list := slices.Concat(slices.Collect(maps.Keys(b.InStretches)), slices.Collect(maps.Keys(b.InOrder)))
	slices.Sort(list)
	return slices.Compact(list)
}

// TransitionsOf returns the transitions, in ascending order.
func TransitionsOf(b *format.Bounded) [][2]int {
	return slices.SortedFunc(maps.Keys(b.Transitions), func(s, t [2]int) int { return slices.Compare(s[:], t[:]) })
}

// ReadBounded reads what [AppendBounded] appended for a trace or a part file, of so many functions and with
// calls of the ranks that a function returns, which is called if there is something; nil if there is nothing.
// An error is a [*format.SectionError].
func ReadBounded(file *format.Reader, functions int, ranks func() rankenc.Set) (b *format.Bounded, err error) {
	if _, ok := file.Lookup(KindBounded, 0); !ok {
		return nil, nil
	}
	err = ReadSection(file, KindBounded, 0, func(data []byte) (err error) {
		b, err = ParseBounded(data, functions, ranks())
		return err
	})
	return b, err
}

// ParseBounded parses the section. Whether ranks have as many calls as their stretches is
// left to [CheckStretches].
func ParseBounded(data []byte, functions int, ranks rankenc.Set) (*format.Bounded, error) {
	d := wire.NewDecoder("merge", data)
	at := d.Offset()
	flags := d.Byte("flags")
	if flags&^boundedFlags != 0 {
		d.Corrupt(at, "flags", "%#x", flags)
	}
	b := &format.Bounded{Untimed: flags&boundedUntimed != 0, Unordered: flags&boundedUnordered != 0,
		ByFunction: flags&boundedByFunction != 0}
	number := func(field string, least int) int {
		at := d.Offset()
		if n := uint64(least) + d.UvarintMax(field, MaxRanks); n < uint64(functions) {
			return int(n)
		} else if d.Err() == nil {
			d.Corrupt(at, field, "%d of %d", n, functions)
		}
		return 0
	}
	last := -1
	for i := d.Count("functions", 3); i > 0 && d.Err() == nil; i-- {
		last = number("function", last+1)
		at := d.Offset()
		inStretches, inOrder := d.Uvarint("parameters"), d.Uvarint("parameters")
		if inStretches|inOrder == 0 {
			d.Corrupt(at, "parameters", "none")
		}
		if inStretches != 0 {
			setIn(&b.InStretches, last, inStretches)
		}
		if inOrder != 0 {
			setIn(&b.InOrder, last, inOrder)
		}
	}
	from, to := 0, -1
	for i := d.Count("transitions", 3); i > 0 && d.Err() == nil; i-- {
		if next := number("from", from); next != from {
			from, to = next, -1
		}
		to = number("to", to+1)
		setIn(&b.Transitions, [2]int{from, to}, d.UvarintMax("count", 1<<63-1)+1)
	}
	decodeStretches(&d, b, ranks)
	d.End("stretches")
	if d.Err() != nil {
		return nil, d.Err()
	}
	return b, nil
}

// setIn sets a value of a map, which may be nil.
func setIn[K comparable, V any](of *map[K]V, key K, value V) {
	if *of == nil {
		*of = make(map[K]V)
	}
	(*of)[key] = value
}

// decodeStretches decodes the stretches of ranks, which must be some of those given.
func decodeStretches(d *wire.Decoder, b *format.Bounded, ranks rankenc.Set) {
	at := d.Offset()
	set := DecodeRanks(d)
	if d.Err() != nil {
		return
	}
	if set.Len() > d.Rest()/3 {
		d.Corrupt(at, "ranks", "%d in %d bytes", set.Len(), d.Rest())
		return
	}
	if more := set.Difference(ranks); more.Len() > 0 {
		d.Corrupt(at, "ranks", "%s make no calls", more.Abbreviated(MaxNamed))
		return
	}
	for _, rank := range set.All() {
		var list []format.Stretch
		at = d.Offset()
		n := d.Uvarint("stretches")
		if n >= uint64(d.Rest()) {
			d.Corrupt(at, "stretches", "%d in %d bytes", n, d.Rest())
		}
		end := uint64(0)
		for i := uint64(0); i <= n && d.Err() == nil; i++ {
			s := format.Stretch{First: end + d.UvarintMax("gap", 1<<62), Calls: d.UvarintMax("calls", 1<<62) + 1}
			if end = EndOf(s); end > 1<<63 {
				d.Corrupt(at, "calls", "%d at %d", s.Calls, s.First)
			}
			list = append(list, s)
		}
		if d.Err() != nil {
			return
		}
		setIn(&b.Stretches, int(rank), list)
	}
}

// CheckStretches returns an error unless stretches ascend in a rank with so many calls.
func CheckStretches(list []format.Stretch, calls uint64) error {
	end := uint64(0)
	for _, s := range list {
		if s.First < end || s.First >= calls || s.Calls == 0 || s.Calls > calls-s.First {
			return Corrupt("a stretch of %d calls at position %d of %d", s.Calls, s.First, calls)
		}
		end = EndOf(s)
	}
	return nil
}
