package layout

import (
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// A Bounded says what a trace that was made to fit a size has in place of what was recorded.
// What it does not name is exact.
type Bounded struct {
	// Untimed is set if the times of every call were left out, Unordered if the order of calls
	// of different ranks was, and ByFunction if statistics of times are of all calls of a
	// function, at one of its signatures, and histograms of times were left out.
	Untimed, Unordered, ByFunction bool

	Functions   []BoundedFunction // ascending
	Transitions []Transition      // ascending by From and To
	Ranks       []BoundedRank     // ascending; of those that have stretches
}

// A BoundedFunction says which arguments of a function are of a distribution: of parameter k if
// bit k is set.
type BoundedFunction struct {
	Function    int    // in the functions of the trace
	InStretches uint64 // in calls of stretches
	InOrder     uint64 // in others
}

// A BoundedRank has the stretches of a rank, ascending.
type BoundedRank struct {
	Rank      int
	Stretches []Stretch
}

// A Stretch is calls in a row of a rank whose order is not kept: those of one signature
// stand together.
type Stretch struct {
	First uint64 `json:"first"` // position of the first call
	Calls uint64 `json:"calls"` // at least 1
}

// End returns the position after the last call.
func (s Stretch) End() uint64 { return s.First + s.Calls }

// A Transition says how often a call of one function was followed by one of another, in the
// stretches of all ranks.
type Transition struct {
	From, To int // functions of the trace
	Count    uint64
}

// MaxBoundedParams is how many parameters of a function can be of a distribution: the first.
const MaxBoundedParams = 64

const (
	boundedUntimed = 1 << iota
	boundedUnordered
	boundedByFunction

	boundedFlags = boundedUntimed | boundedUnordered | boundedByFunction
)

// Append appends the encoding of b.
func (b *Bounded) Append(dst []byte) []byte {
	var flags byte
	for bit, set := range []bool{b.Untimed, b.Unordered, b.ByFunction} {
		if set {
			flags |= 1 << bit
		}
	}
	dst = wire.AppendUvarint(append(dst, flags), uint64(len(b.Functions)))
	last := -1
	for _, f := range b.Functions {
		dst = wire.AppendUvarint(dst, uint64(f.Function-last-1))
		dst = wire.AppendUvarint(dst, f.InStretches)
		dst = wire.AppendUvarint(dst, f.InOrder)
		last = f.Function
	}
	dst = wire.AppendUvarint(dst, uint64(len(b.Transitions)))
	from, to := 0, -1
	for _, t := range b.Transitions {
		dst = wire.AppendUvarint(dst, uint64(t.From-from))
		if t.From != from {
			from, to = t.From, -1
		}
		dst = wire.AppendUvarint(dst, uint64(t.To-to-1))
		dst = wire.AppendUvarint(dst, t.Count-1)
		to = t.To
	}
	var ranks rankenc.SetBuilder
	for _, r := range b.Ranks {
		ranks.Add(r.Rank)
	}
	dst, _ = ranks.Finish().AppendBinary(dst)
	for _, r := range b.Ranks {
		dst = wire.AppendUvarint(dst, uint64(len(r.Stretches)-1))
		end := uint64(0)
		for _, s := range r.Stretches {
			dst = wire.AppendUvarint(dst, s.First-end)
			dst = wire.AppendUvarint(dst, s.Calls-1)
			end = s.End()
		}
	}
	return dst
}

// ReadBounded reads what [Bounded.Append] appended for a trace or a part file, of so many functions and with
// calls of the ranks that a function returns, which is called if there is something; nil if there is nothing.
// An error is a [*format.SectionError].
func ReadBounded(file *format.Reader, functions int, ranks func() rankenc.Set) (b *Bounded, err error) {
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
// left to [BoundedRank.Check].
func ParseBounded(data []byte, functions int, ranks rankenc.Set) (*Bounded, error) {
	d := wire.NewDecoder("merge", data)
	at := d.Offset()
	flags := d.Byte("flags")
	if flags&^boundedFlags != 0 {
		d.Corrupt(at, "flags", "%#x", flags)
	}
	b := &Bounded{Untimed: flags&boundedUntimed != 0, Unordered: flags&boundedUnordered != 0, ByFunction: flags&boundedByFunction != 0}
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
		f := BoundedFunction{last, d.Uvarint("parameters"), d.Uvarint("parameters")}
		if f.InStretches|f.InOrder == 0 {
			d.Corrupt(at, "parameters", "none")
		}
		b.Functions = append(b.Functions, f)
	}
	from, to := 0, -1
	for i := d.Count("transitions", 3); i > 0 && d.Err() == nil; i-- {
		if next := number("from", from); next != from {
			from, to = next, -1
		}
		to = number("to", to+1)
		b.Transitions = append(b.Transitions, Transition{from, to, d.UvarintMax("count", 1<<63-1) + 1})
	}
	b.decodeRanks(&d, ranks)
	d.End("stretches")
	if d.Err() != nil {
		return nil, d.Err()
	}
	return b, nil
}

// decodeRanks decodes the stretches of ranks, which must be some of those given.
func (b *Bounded) decodeRanks(d *wire.Decoder, ranks rankenc.Set) {
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
		r := BoundedRank{Rank: rank}
		at = d.Offset()
		n := d.Uvarint("stretches")
		if n >= uint64(d.Rest()) {
			d.Corrupt(at, "stretches", "%d in %d bytes", n, d.Rest())
		}
		end := uint64(0)
		for i := uint64(0); i <= n && d.Err() == nil; i++ {
			s := Stretch{First: end + d.UvarintMax("gap", 1<<62), Calls: d.UvarintMax("calls", 1<<62) + 1}
			if end = s.End(); end > 1<<63 {
				d.Corrupt(at, "calls", "%d at %d", s.Calls, s.First)
			}
			r.Stretches = append(r.Stretches, s)
		}
		if d.Err() != nil {
			return
		}
		b.Ranks = append(b.Ranks, r)
	}
}

// Of returns the stretches of a rank.
func (b *Bounded) Of(rank int) []Stretch {
	i, ok := slices.BinarySearchFunc(b.Ranks, rank, func(r BoundedRank, rank int) int { return r.Rank - rank })
	if !ok {
		return nil
	}
	return b.Ranks[i].Stretches
}

// CheckStretches returns an error unless stretches ascend in a rank with so many calls.
func CheckStretches(list []Stretch, calls uint64) error {
	end := uint64(0)
	for _, s := range list {
		if s.First < end || s.First >= calls || s.Calls == 0 || s.Calls > calls-s.First {
			return Corrupt("a stretch of %d calls at position %d of %d", s.Calls, s.First, calls)
		}
		end = s.End()
	}
	return nil
}
