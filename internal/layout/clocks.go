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

// A Clock is that of a machine, by which the times of some ranks were recorded.
type Clock struct {
	// Machine tells machines apart, and is not empty.
	Machine string `json:"machine_id"`

	Ranks rankenc.Set `json:"rank_set"`

	// Alignment turns times of this clock into those of the clock of the first rank. A trace keeps times as
	// they were recorded, and applies it where they are read.
	piecewise.Alignment

	// Later are the pieces after the Alignment, if no line fits the clock.
	Later []piecewise.Alignment `json:"later,omitempty"`

	// Error is how far aligned times may be off, in nanoseconds, beside what the codec of the times adds; −1
	// if the clock is not aligned. If there are several pieces, it is the greatest of the Errors of all.
	Error int64 `json:"error_ns"`

	// Errors are those of the pieces, if there are several. Traces of older versions have none: then the
	// Error is that of each.
	Errors []int64 `json:"piece_errors_ns,omitempty"`

	// Readings say how far the clock is from real time: the first and the last of those that recorders have
	// taken, if the real time of the machine is synchronised. There may be one or none.
	Readings []Reading `json:"readings,omitempty"`

	// Contradicted says that messages contradict the readings, so that the alignment is by messages alone.
	Contradicted bool `json:"readings_contradicted,omitempty"`

	// Early is how many of the messages to the clock that were looked at arrive before they are sent though
	// clocks are aligned. They are left as they are, and the errors of both clocks are as much as that at
	// least.
	Early uint64 `json:"early_messages,omitempty"`

	// Jumps move aligned times once more, so that messages arrive after they are sent though neither a line
	// nor pieces fit. Times between are not better for it: the errors of the pieces are as much more as the
	// times are ahead.
	Jumps piecewise.Jumps `json:"jumps,omitempty"`
}

// clockMemory is how many bytes are counted for a clock, with what merging traces takes for it.
const clockMemory = 2 << 10

// A Reading is what a clock and real time were at one instant.
type Reading struct {
	Time   int64 `json:"time_ns"`   // of the clock
	Offset int64 `json:"offset_ns"` // that makes it real time,
	Error  int64 `json:"error_ns"`  // within this, at most
}

func (r Reading) compare(s Reading) int {
	return cmp.Or(cmp.Compare(r.Time, s.Time), cmp.Compare(r.Error, s.Error), cmp.Compare(r.Offset, s.Offset))
}

// mergeReadings returns the first and the last of readings of a clock.
func mergeReadings(a, b []Reading) []Reading {
	all := slices.Concat(a, b)
	slices.SortFunc(all, Reading.compare)
	if all = slices.Compact(all); len(all) > 2 {
		all = []Reading{all[0], all[len(all)-1]}
	}
	return all
}

// Pieces returns the Alignment and those after it; nothing if times are not moved.
func (c Clock) Pieces() piecewise.Pieces {
	if c.Alignment == (piecewise.Alignment{}) && len(c.Later) == 0 {
		return nil
	}
	return append(piecewise.Pieces{c.Alignment}, c.Later...)
}

// Apply returns a time of the clock of the first rank.
func (c Clock) Apply(time int64) int64 { return c.Jumps.Apply(c.Pieces().Apply(time)) }

// Move returns what does as Apply, for many times; nil if times are not moved.
func (c Clock) Move() func(time int64) int64 {
	pieces, jumps := c.Pieces(), c.Jumps
	if len(pieces) == 0 && len(jumps) == 0 {
		return nil
	}
	return func(time int64) int64 { return jumps.Apply(pieces.Apply(time)) }
}

// ErrorBetween returns how far aligned times may be off, from one to another, as both are once they are
// aligned; −1 if the clock is not aligned.
func (c Clock) ErrorBetween(from, to int64) int64 {
	if len(c.Errors) == 0 {
		return c.Error
	}
	off, p := int64(0), c.Pieces()
	begin := func(i int) int64 { return c.Jumps.Apply(p.Apply(p[i].Since)) }
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
func (c Clock) compareAligned(d Clock) int {
	return cmp.Or(cmp.Compare(uint64(c.Error), uint64(d.Error)), // −1 is the greatest
		slices.CompareFunc(c.Pieces(), d.Pieces(), func(a, b piecewise.Alignment) int {
			return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Rate, b.Rate), cmp.Compare(a.Since, b.Since))
		}), slices.Compare(c.Errors, d.Errors), cmp.Compare(c.Early, d.Early),
		slices.CompareFunc(c.Jumps, d.Jumps, func(a, b piecewise.Jump) int {
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
func MergeClocks(a, added []Clock) []Clock {
	var others []Clock // of machines of which a has no clock
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

func compareMachines(c, d Clock) int { return strings.Compare(c.Machine, d.Machine) }

// mergeClock returns the clock of a machine of which two are known.
func mergeClock(a, c Clock) Clock {
	ranks, readings := a.Ranks.Union(c.Ranks), mergeReadings(a.Readings, c.Readings)
	if c.compareAligned(a) < 0 {
		a = c
	}
	a.Ranks, a.Readings = ranks, readings
	return a
}

// ClocksOf returns the clocks of the ranks of a trace, in the order of their first ranks.
func ClocksOf(list []Clock, ranks rankenc.Set) []Clock {
	var of []Clock
	for _, c := range list {
		c.Ranks = c.Ranks.Intersection(ranks)
		if ranks = ranks.Difference(c.Ranks); c.Ranks.Len() > 0 {
			of = append(of, c)
		}
	}
	slices.SortFunc(of, func(c, d Clock) int { return cmp.Compare(c.Ranks.At(0), d.Ranks.At(0)) })
	return of
}

// CheckClocks returns an error if clocks of a run of so many ranks have numbers that cannot be, or two of
// them have a machine or a rank in common.
func CheckClocks(list []Clock, ranks int) error {
	sets, sum := make([]rankenc.Set, 0, len(list)), 0
	machines := make(map[string]bool, len(list))
	for i, c := range list {
		switch n := c.Ranks.Len(); {
		case n == 0 || c.Ranks.At(n-1) >= ranks:
			return Corrupt("clock %d is of ranks %s", i, c.Ranks.Abbreviated(MaxNamed))
		case c.Machine == "" || machines[c.Machine]:
			return Corrupt("clock %d is of machine %q", i, c.Machine)
		case !c.hasAlignment():
			return Corrupt("clock %d has the alignment %+v and the error %d", i, c.Alignment, c.Error)
		case !c.hasErrors():
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
func (c *Clock) hasAlignment() bool {
	for _, a := range c.Pieces() {
		if a.Rate > piecewise.MaxRate || a.Rate < -piecewise.MaxRate {
			return false
		}
	}
	aligned := c.Pieces() != nil || c.Contradicted || c.Early > 0
	return c.Error >= 0 || c.Error == -1 && !aligned
}

// hasErrors reports whether the error is the largest of those of the pieces, if there are any.
func (c *Clock) hasErrors() bool {
	if len(c.Errors) == 0 {
		return true
	}
	return len(c.Later) > 0 && len(c.Errors) == 1+len(c.Later) && slices.Min(c.Errors) >= 0 && slices.Max(c.Errors) == c.Error
}

// checkJumps returns an error if the jumps of a clock are too many, not in order or more than its error.
func checkJumps(c Clock) error {
	if len(c.Jumps) > piecewise.MaxJumps || c.Jumps.Most() > max(0, c.Error) {
		return Corrupt("clock of machine %q jumps %d times, ahead by %d, with the error %d", c.Machine, len(c.Jumps), c.Jumps.Most(), c.Error)
	}
	for i, j := range c.Jumps {
		if i > 0 && j.Since <= c.Jumps[i-1].Since || j.Ahead <= c.Jumps[:i].Ahead(j.Since) {
			return Corrupt("clock of machine %q jumps to %+v", c.Machine, j)
		}
	}
	return nil
}

// AppendClocks appends the encoding of clocks that [ClocksOf] has returned.
func AppendClocks(dst []byte, list []Clock) []byte {
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
func appendPieces(dst []byte, c Clock) []byte {
	first, further := c.Error, uint64(len(c.Later))
	if len(c.Errors) > 0 {
		first, further = c.Errors[0], further+piecewise.MaxPieces
	}
	dst = wire.AppendUvarint(dst, uint64(first+1))
	if first < 0 {
		return dst
	}
	for i, a := range append([]piecewise.Alignment{c.Alignment}, c.Later...) {
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
// An error is a [*SectionError].
func ReadClocks(file *format.Reader, ranks int) (list []Clock, err error) {
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
func parseReadings(d *wire.Decoder, n uint64) (list []Reading) {
	for range n {
		at := d.Offset()
		r := Reading{Time: d.Varint("reading"), Offset: d.Varint("reading"), Error: int64(d.UvarintMax("reading", math.MaxInt64))}
		if len(list) > 0 && d.Err() == nil && list[0].compare(r) >= 0 {
			d.Corrupt(at, "reading", "%+v after %+v", r, list[0])
		}
		list = append(list, r)
	}
	return list
}

// parsePieces reads how a clock is aligned that has an error: the pieces after the first are in the order of
// when they begin.
func parsePieces(d *wire.Decoder, c *Clock) {
	c.Alignment = piecewise.Alignment{Offset: d.Varint("offset"), Rate: d.Varint("rate"), Since: d.Varint("since")}
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
		a := piecewise.Alignment{Offset: d.Varint("offset"), Rate: d.Varint("rate"), Since: d.Varint("since")}
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
			list = append(list, piecewise.Jump{Since: since, Ahead: ahead})
		}
	}
	return list
}

// parseClocks reads what [AppendClocks] has appended.
func parseClocks(data []byte) ([]Clock, error) {
	d := wire.NewDecoder("merge", data)
	n := d.Count("clocks", 5)
	var list []Clock
	runs := 0
	for len(list) < n && d.Err() == nil {
		at := d.Offset()
		c := Clock{Ranks: DecodeRanks(&d)}
		if runs += c.Ranks.Runs(); runs > MaxRuns {
			d.Limit(at, "ranks", "more than %d runs of consecutive ranks in %d clocks", MaxRuns, len(list)+1)
			break
		}
		if d.Err() == nil && c.Ranks.Len() == 0 || len(list) > 0 && d.Err() == nil && c.Ranks.At(0) <= list[len(list)-1].Ranks.At(0) {
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
