package layout

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/piecewise"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// clockMemory is how many bytes are counted for a clock, with what merging traces takes for it.
const clockMemory = 2 << 10

func compareReadings(r, s format.ClockReading) int {
	return cmp.Or(cmp.Compare(r.Time, s.Time), cmp.Compare(r.Error, s.Error), cmp.Compare(r.Offset, s.Offset))
}

// mergeReadings returns the first and the last of readings of a clock.
func mergeReadings(a, b []format.ClockReading) []format.ClockReading {
	all := slices.Concat(a, b)
	slices.SortFunc(all, compareReadings)
	if all = slices.Compact(all); len(all) > 2 {
		all = []format.ClockReading{all[0], all[len(all)-1]}
	}
	return all
}

// ClockPieces returns the Alignment of a clock and those after it; nothing if times are not moved.
func ClockPieces(c *format.Clock) piecewise.Pieces {
	if c.Alignment == (format.Alignment{}) && len(c.Later) == 0 {
		return nil
	}
	return append(piecewise.Pieces{c.Alignment}, c.Later...)
}

// MoveTimes returns what makes times of a clock those of the clock of the first rank; nil if they are not moved.
func MoveTimes(c *format.Clock) func(time int64) int64 {
	pieces, jumps := ClockPieces(c), piecewise.Jumps(c.Jumps)
	if len(pieces) == 0 && len(jumps) == 0 {
		return nil
	}
	return func(time int64) int64 { return jumps.Apply(pieces.Apply(time)) }
}

// ClockError returns how far aligned times may be off, from one to another, as both are once they are
// aligned; −1 if the clock is not aligned.
func ClockError(c *format.Clock, from, to int64) int64 {
	if len(c.Errors) == 0 {
		return c.Error
	}
	off, p, jumps := int64(0), ClockPieces(c), piecewise.Jumps(c.Jumps)
	begin := func(i int) int64 { return jumps.Apply(p.Apply(p[i].Since)) }
	for i, e := range c.Errors {
		begins := i == 0 || begin(i) <= to
		ends := i+1 == len(p) || begin(i+1) >= from // between them there is no time
		if begins && ends {
			off = max(off, e)
		}
	}
	return off
}

// compareAligned orders clocks of a machine, aligned ones first.
func compareAligned(c, d *format.Clock) int {
	return cmp.Or(cmp.Compare(uint64(c.Error), uint64(d.Error)), // −1 is the greatest
		slices.CompareFunc(ClockPieces(c), ClockPieces(d), func(a, b format.Alignment) int {
			return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Rate, b.Rate), cmp.Compare(a.Since, b.Since))
		}), slices.Compare(c.Errors, d.Errors), cmp.Compare(c.Early, d.Early),
		slices.CompareFunc(c.Jumps, d.Jumps, func(a, b format.Jump) int {
			return cmp.Or(cmp.Compare(a.Since, b.Since), cmp.Compare(a.Ahead, b.Ahead))
		}), compareBools(c.Contradicted, d.Contradicted))
}

// compareBools orders false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// MergeClocks returns a, which it may change, with clocks added. A clock for each machine is left, in the
// order of machines.
func MergeClocks(a, added []format.Clock) []format.Clock {
	var others []format.Clock // of machines of which a has no clock
	for _, c := range added {
		if i, found := slices.BinarySearchFunc(a, c, compareMachines); found {
			a[i] = mergeClock(a[i], c)
		} else {
			others = append(others, c)
		}
	}
	slices.SortStableFunc(others, compareMachines)
	first := len(a)
	for _, c := range others {
		if last := len(a) - 1; last >= first && a[last].Machine == c.Machine {
			a[last] = mergeClock(a[last], c)
		} else {
			a = append(a, c)
		}
	}
	if first > 0 && len(a) > first {
		slices.SortFunc(a, compareMachines)
	}
	return a
}

func compareMachines(c, d format.Clock) int { return strings.Compare(c.Machine, d.Machine) }

// mergeClock returns the clock of a machine of which two are known.
func mergeClock(a, c format.Clock) format.Clock {
	ranks, readings := a.Ranks.Union(c.Ranks), mergeReadings(a.Readings, c.Readings)
	if compareAligned(&c, &a) < 0 {
		a = c
	}
	a.Ranks, a.Readings = ranks, readings
	return a
}

// ClocksOf returns the clocks of the ranks of a trace, in the order of their first ranks.
func ClocksOf(list []format.Clock, ranks rankenc.Set) []format.Clock {
	var of []format.Clock
	for _, c := range list {
		c.Ranks = c.Ranks.Intersection(ranks)
		if ranks = ranks.Difference(c.Ranks); c.Ranks.Len() > 0 {
			of = append(of, c)
		}
	}
	slices.SortFunc(of, func(c, d format.Clock) int { return cmp.Compare(c.Ranks.At(0), d.Ranks.At(0)) })
	return of
}

// CheckClocks returns an error if clocks of a run of so many ranks have numbers that cannot be, or two of
// them have a machine or a rank in common.
func CheckClocks(list []format.Clock, ranks int) error {
	sets, sum := make([]rankenc.Set, 0, len(list)), 0
	machines := make(map[string]bool, len(list))
	for i, c := range list {
		switch n := c.Ranks.Len(); {
		case n == 0 || c.Ranks.At(n-1) >= ranks:
			return Corrupt("clock %d is of ranks %s", i, c.Ranks.Abbreviated(MaxNamed))
		case c.Machine == "" || machines[c.Machine]:
			return Corrupt("clock %d is of machine %q", i, c.Machine)
		case !hasAlignment(&c):
			return Corrupt("clock %d has the alignment %+v and the error %d", i, c.Alignment, c.Error)
		case !hasErrors(&c):
			return Corrupt("clock %d has the errors %d of %d pieces, and %d", i, c.Errors, 1+len(c.Later), c.Error)
		}
		if err := checkJumps(c); err != nil {
			return err
		}
		sets, sum, machines[c.Machine] = append(sets, c.Ranks), sum+c.Ranks.Len(), true
	}
	if all := (rankenc.Set{}).Union(sets...); all.Len() != sum {
		return Corrupt("clocks have ranks in common")
	}
	return nil
}

// hasAlignment reports whether rates can be, and a clock is aligned or not, which its error says:
// −1 if it is not.
func hasAlignment(c *format.Clock) bool {
	for _, a := range ClockPieces(c) {
		if a.Rate > piecewise.MaxRate || a.Rate < -piecewise.MaxRate {
			return false
		}
	}
	aligned := ClockPieces(c) != nil || c.Contradicted || c.Early > 0
	return c.Error >= 0 || c.Error == -1 && !aligned
}

// hasErrors reports whether the error is the largest of those of the pieces, if there are any.
func hasErrors(c *format.Clock) bool {
	if len(c.Errors) == 0 {
		return true
	}
	return len(c.Later) > 0 && len(c.Errors) == 1+len(c.Later) && slices.Min(c.Errors) >= 0 &&
		slices.Max(c.Errors) == c.Error
}

// checkJumps returns an error if the jumps of a clock are too many, not in order or more than its error.
func checkJumps(c format.Clock) error {
	jumps := piecewise.Jumps(c.Jumps)
	if len(jumps) > piecewise.MaxJumps || jumps.Most() > max(0, c.Error) {
		return Corrupt("clock of machine %q jumps %d times, ahead by %d, with the error %d", c.Machine,
			len(jumps), jumps.Most(), c.Error)
	}
	for i, j := range jumps {
		if i > 0 && j.Since <= jumps[i-1].Since || j.Ahead <= jumps[:i].Ahead(j.Since) {
			return Corrupt("clock of machine %q jumps to %+v", c.Machine, j)
		}
	}
	return nil
}

// AppendClocks appends the encoding of clocks that [ClocksOf] has returned.
func AppendClocks(dst []byte, list []format.Clock) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(list)))
	for _, c := range list {
		dst, _ = c.Ranks.AppendBinary(dst) // which has no errors
		dst = wire.AppendString(dst, c.Machine)
		readings := uint64(len(c.Readings)) << 1
		if c.Contradicted {
			readings |= 1
		}
		if c.Early > 0 {
			readings |= 8
		}
		if len(c.Jumps) > 0 {
			readings |= 16
		}
		dst = wire.AppendUvarint(dst, readings)
		if c.Early > 0 {
			dst = wire.AppendUvarint(dst, c.Early)
		}
		for _, r := range c.Readings {
			dst = wire.AppendVarint(dst, r.Time)
			dst = wire.AppendVarint(dst, r.Offset)
			dst = wire.AppendUvarint(dst, uint64(r.Error))
		}
		dst = appendPieces(dst, c)
		if len(c.Jumps) > 0 {
			dst = appendJumps(dst, c.Jumps)
		}
	}
	return dst
}

// appendJumps appends the jumps of a clock, of which there are some.
func appendJumps(dst []byte, list piecewise.Jumps) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(list)))
	dst = wire.AppendVarint(dst, list[0].Since)
	for i, j := range list {
		if i > 0 {
			dst = wire.AppendUvarint(dst, uint64(j.Since)-uint64(list[i-1].Since)-1)
		}
		dst = wire.AppendUvarint(dst, uint64(j.Ahead-list[:i].Ahead(j.Since)-1))
	}
	return dst
}

// appendPieces appends how a clock is aligned.
func appendPieces(dst []byte, c format.Clock) []byte {
	first, further := c.Error, uint64(len(c.Later))
	if len(c.Errors) > 0 {
		first, further = c.Errors[0], further+piecewise.MaxPieces
	}
	dst = wire.AppendUvarint(dst, uint64(first+1))
	if first < 0 {
		return dst
	}
	for i, a := range append([]format.Alignment{c.Alignment}, c.Later...) {
		dst = wire.AppendVarint(dst, a.Offset)
		dst = wire.AppendVarint(dst, a.Rate)
		dst = wire.AppendVarint(dst, a.Since)
		switch {
		case i == 0:
			dst = wire.AppendUvarint(dst, further)
		case len(c.Errors) > 0:
			dst = wire.AppendUvarint(dst, uint64(c.Errors[i]))
		}
	}
	return dst
}

// CheckClockMemory returns a [*format.MemoryError] if so many clocks take more memory than there may be.
func CheckClockMemory(n, memory uint64) error { return CheckMemory("clocks", n, clockMemory, memory) }

// ReadClocks reads the clocks of a trace or a part file of a run of so many ranks, which need not have any.
// An error is a [*format.SectionError].
func ReadClocks(file *format.Reader, ranks int) (list []format.Clock, err error) {
	if _, ok := file.Lookup(KindClocks, 0); !ok {
		return nil, nil
	}
	err = ReadSection(file, KindClocks, 0, func(data []byte) (err error) {
		d := wire.NewDecoder("merge", data)
		if n := d.Uvarint("clocks"); d.Err() == nil {
			if err := CheckClockMemory(n, file.Memory()); err != nil {
				return err
			}
		}
		if list, err = parseClocks(data); err == nil {
			err = CheckClocks(list, ranks)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// parseReadings reads n readings of a clock: two that differ at most, in their order.
func parseReadings(d *wire.Decoder, n uint64) (list []format.ClockReading) {
	for range n {
		at := d.Offset()
		r := format.ClockReading{Time: d.Varint("reading"), Offset: d.Varint("reading"),
			Error: int64(d.UvarintMax("reading", math.MaxInt64))}
		if len(list) > 0 && d.Err() == nil && compareReadings(list[0], r) >= 0 {
			d.Corrupt(at, "reading", "%+v after %+v", r, list[0])
		}
		list = append(list, r)
	}
	return list
}

// parsePieces reads how a clock is aligned that has an error: the pieces after the first are in the order of
// when they begin.
func parsePieces(d *wire.Decoder, c *format.Clock) {
	c.Alignment = format.Alignment{Offset: d.Varint("offset"), Rate: d.Varint("rate"), Since: d.Varint("since")}
	at := d.Offset()
	further := d.UvarintMax("pieces", 2*piecewise.MaxPieces-1)
	own := further >= piecewise.MaxPieces
	if own {
		further -= piecewise.MaxPieces
		c.Errors = []int64{c.Error}
		if further == 0 {
			d.Corrupt(at, "pieces", "one, with an error of its own")
		}
	}
	begun := int64(math.MinInt64)
	for range further {
		at := d.Offset()
		a := format.Alignment{Offset: d.Varint("offset"), Rate: d.Varint("rate"), Since: d.Varint("since")}
		if d.Err() == nil && a.Since <= begun {
			d.Corrupt(at, "since", "%d after %d", a.Since, begun)
		}
		begun, c.Later = a.Since, append(c.Later, a)
		if own {
			c.Errors = append(c.Errors, int64(d.UvarintMax("error", math.MaxInt64-1)))
		}
	}
	if own {
		c.Error = slices.Max(c.Errors)
	}
}

// parseJumps reads the jumps of a clock.
func parseJumps(d *wire.Decoder) (list piecewise.Jumps) {
	at := d.Offset()
	n := d.Count("jumps", 2)
	if d.Err() == nil && (n == 0 || n > piecewise.MaxJumps) {
		d.Corrupt(at, "jumps", "%d of a clock", n)
	}
	// above reads by how much more than one a number is above another, and returns it.
	above := func(field string, v int64) int64 {
		at := d.Offset()
		more, most := d.Uvarint(field), uint64(math.MaxInt64)-uint64(v)
		if d.Err() == nil && more >= most {
			d.Corrupt(at, field, "%d above %d", more, v)
		}
		return v + 1 + int64(more)
	}
	since := d.Varint("jump")
	for len(list) < n && d.Err() == nil {
		if len(list) > 0 {
			since = above("jump", since)
		}
		if ahead := above("ahead", list.Ahead(since)); d.Err() == nil {
			list = append(list, format.Jump{Since: since, Ahead: ahead})
		}
	}
	return list
}

// parseClocks reads what [AppendClocks] has appended.
func parseClocks(data []byte) ([]format.Clock, error) {
	d := wire.NewDecoder("merge", data)
	n := d.Count("clocks", 5)
	var list []format.Clock
	runs := 0
	for len(list) < n && d.Err() == nil {
		at := d.Offset()
		c := format.Clock{Ranks: DecodeRanks(&d)}
		if runs += c.Ranks.Runs(); runs > MaxRuns {
			d.Limit(at, "ranks", "more than %d runs of consecutive ranks in %d clocks", MaxRuns, len(list)+1)
			break
		}
		if d.Err() == nil && c.Ranks.Len() == 0 || len(list) > 0 && d.Err() == nil &&
			c.Ranks.At(0) <= list[len(list)-1].Ranks.At(0) {
			d.Corrupt(at, "ranks", "%s of clock %d", c.Ranks.Abbreviated(MaxNamed), len(list))
		}
		c.Machine = string(d.String("machine"))
		at = d.Offset()
		readings := d.UvarintMax("readings", 29)
		if readings&8 > 0 {
			if c.Early = d.Uvarint("early messages"); c.Early == 0 && d.Err() == nil {
				d.Corrupt(at, "readings", "no early messages")
			}
		}
		jumps := readings&16 > 0
		if readings &^= 8 | 16; readings > 5 {
			d.Corrupt(at, "readings", "%d readings", readings>>1)
			readings = 0
		}
		c.Readings, c.Contradicted = parseReadings(&d, readings>>1), readings&1 > 0
		if c.Error = int64(d.UvarintMax("error", math.MaxInt64)) - 1; c.Error >= 0 {
			parsePieces(&d, &c)
		}
		if jumps {
			c.Jumps = parseJumps(&d)
		}
		list = append(list, c)
	}
	d.End("clocks")
	if d.Err() != nil {
		return nil, d.Err()
	}
	if n == 0 {
		return nil, Corrupt("there are no clocks")
	}
	return list, nil
}
