package layout

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/numbers"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// RankTimes are what is kept of the times of each of some ranks: when its first call began,
// how long it ran, and how long its calls of each function took in all, and the longest of
// them. Numbers are rounded down to some binary digits, so that one that was rounded to more digits
// before is as one that was not. What is merged does not depend on the order, nor on what went
// through part files on the way. But a trace has as many digits as its own ranks and their shares
// of time let it have ([RankTimes.Coarse]), and what is merged from traces no more: so it depends
// on which ranks were together in a trace. The zero RankTimes are those of no rank.
type RankTimes struct {
	rows   []rankRow
	values []functionValue
	digits []rankDigits // by function; of those beyond, all are kept
}

// A rankRow is what is kept of a rank.
type rankRow struct {
	rank          int32
	span, gaps    uint32 // codes of spanDigits
	begin         int64  // in units of BeginError
	first, values int    // of the functions
}

// A functionValue is the time of the calls of a function, as codes of maxDigits.
type functionValue struct {
	function int32
	sum, max uint16
}

// rankDigits are how many binary digits are kept of the sum and of the max of a function. The
// max has none, and is not kept, or as many as the sum at most.
type rankDigits struct{ sum, max uint8 }

const (
	maxDigits  = 8
	spanDigits = 12

	// BeginError is how much later than the Begin of a [RankTime], at most, its first call
	// began, in nanoseconds.
	BeginError = 1 << 13
)

// A Range is where a time is, in nanoseconds: Low ≤ time ≤ High. If High is 2⁶³−1, it may be
// longer.
type Range struct{ Low, High int64 }

// Middle returns the middle of r.
func (r Range) Middle() int64 { return r.Low + (r.High-r.Low)/2 }

// Error returns how far the middle may be off.
func (r Range) Error() int64 { return r.High - r.Middle() }

// A RankTime is what a trace has of the times of a rank, of all its threads.
type RankTime struct {
	Rank      int
	Begin     int64          // when its first call began; it may be later by BeginError
	Span      Range          // from then to the end of its last call
	Gaps      Range          // the sum of those before calls, of all threads, 0 if it is negative
	Functions []FunctionTime // those with calls that took time, in ascending order
}

// A FunctionTime is how long the calls of a function took.
type FunctionTime struct {
	Function int // number
	Sum, Max Range
}

// codeOf returns the code of a number of which the first digits are kept: codes ascend with the
// numbers.
func codeOf(v uint64, digits uint8) uint32 {
	shift := max(0, bits.Len64(v)-int(digits))
	return uint32(shift)<<(digits-1) + uint32(v>>shift)
}

// rangeOf returns the numbers of a code.
func rangeOf(code uint32, digits uint8) Range {
	shift := max(0, int(code>>(digits-1))-1)
	low := uint64(code-uint32(shift)<<(digits-1)) << shift
	return Range{int64(low), int64(low + 1<<shift - 1)}
}

// lastCode is the code of the greatest time.
func lastCode(digits uint8) uint32 { return codeOf(math.MaxInt64, digits) }

// coarser returns the code of fewer digits that a code of maxDigits has.
func coarser(code uint16, digits uint8) uint32 {
	return codeOf(uint64(rangeOf(uint32(code), maxDigits).Low), digits)
}

// Add adds a rank that ran from begin to end, with gaps of that sum. Times returns the sum and the max of the
// durations of the calls of each of n functions; what is negative counts as 0.
func (r *RankTimes) Add(rank int, begin, end, gaps int64, n int, times func(function int) (sum, most int64)) {
	span := uint64(0)
	if end > begin {
		span = min(uint64(end)-uint64(begin), math.MaxInt64)
	}
	row := rankRow{rank: int32(rank), span: codeOf(span, spanDigits), begin: begin >> beginShift, first: len(r.values)}
	row.gaps = codeOf(uint64(max(0, gaps)), spanDigits)
	for f := range n {
		sum, most := times(f)
		if sum > 0 {
			code := codeOf(uint64(sum), maxDigits)
			r.values = append(r.values, functionValue{int32(f), uint16(code),
				uint16(min(codeOf(uint64(max(0, most)), maxDigits), code))})
		}
	}
	row.values = len(r.values) - row.first
	r.rows = append(r.rows, row)
}

var beginShift = bits.TrailingZeros64(BeginError)

// Len returns the number of ranks.
func (r *RankTimes) Len() int { return len(r.rows) }

// Ranks returns the ranks.
func (r *RankTimes) Ranks() rankenc.Set {
	list := make([]int, len(r.rows))
	for i, row := range r.rows {
		list[i] = int(row.rank)
	}
	return rankenc.SetOf(list...)
}

// At returns what there is of the i-th rank; in what was parsed, ranks ascend.
func (r *RankTimes) At(i int) RankTime {
	row := r.rows[i]
	t := RankTime{Rank: int(row.rank), Begin: row.begin << beginShift, Span: rangeOf(row.span, spanDigits),
		Gaps: rangeOf(row.gaps, spanDigits)}
	for _, v := range r.valuesOf(row) {
		d := r.digitsOf(int(v.function))
		f := FunctionTime{Function: int(v.function), Sum: rangeOf(coarser(v.sum, d.sum), d.sum)}
		if f.Max = (Range{0, f.Sum.High}); d.max > 0 {
			f.Max = rangeOf(coarser(v.max, d.max), d.max)
		}
		f.Max.High = min(f.Max.High, f.Sum.High)
		t.Functions = append(t.Functions, f)
	}
	return t
}

// Find returns what there is of a rank, of what was parsed.
func (r *RankTimes) Find(rank int) (t RankTime, ok bool) {
	i := sort.Search(len(r.rows), func(i int) bool { return int(r.rows[i].rank) >= rank })
	if i == len(r.rows) || int(r.rows[i].rank) != rank {
		return t, false
	}
	return r.At(i), true
}

func (r *RankTimes) valuesOf(row rankRow) []functionValue {
	return r.values[row.first : row.first+row.values]
}

// digitsOf returns what is kept of a function.
func (r *RankTimes) digitsOf(function int) rankDigits {
	if function < len(r.digits) {
		return r.digits[function]
	}
	return rankDigits{maxDigits, maxDigits}
}

// keep keeps no more digits of a function than d.
func (r *RankTimes) keep(function int, d rankDigits) {
	for len(r.digits) <= function {
		r.digits = append(r.digits, rankDigits{maxDigits, maxDigits})
	}
	old := &r.digits[function]
	*old = rankDigits{min(old.sum, d.sum), min(old.max, d.max)}
}

// Merge adds the ranks of o that chosen has, or all if it is nil. Function says which function
// of r each of o is. None of the ranks may be in r.
func (r *RankTimes) Merge(o *RankTimes, function []int, chosen *rankenc.Set) {
	for _, row := range o.rows {
		if chosen != nil && !chosen.Contains(int(row.rank)) {
			continue
		}
		values := o.valuesOf(row)
		row.first = len(r.values)
		for _, v := range values {
			v.function = int32(function[v.function])
			r.values = append(r.values, v)
		}
		added := r.values[row.first:]
		slices.SortFunc(added, func(a, b functionValue) int { return cmp.Compare(a.function, b.function) })
		r.rows = append(r.rows, row)
	}
	for f, d := range o.digits {
		if d != (rankDigits{maxDigits, maxDigits}) {
			r.keep(function[f], d)
		}
	}
}

// Renumber replaces the numbers of functions.
func (r *RankTimes) Renumber(function []int) {
	old := *r
	*r = RankTimes{}
	r.Merge(&old, function, nil)
}

// Shares of the time that ranks run, of which sums are kept more exactly than of less.
const (
	largeShare  = 1.0 / 128
	middleShare = 1.0 / 2048
)

// digitsOfShare are the digits of functions of large, middle and small shares, of few, many
// and very many ranks.
var digitsOfShare = [3][3]rankDigits{
	{{8, 5}, {5, 3}, {3, 2}},
	{{7, 4}, {4, 2}, {2, 1}},
	{{6, 3}, {3, 1}, {1, 0}},
}

// The numbers of ranks up to which they are few, and many.
const (
	fewRanks  = 64
	manyRanks = 512
)

// Coarse returns r with as many digits of its functions as a trace has.
func (r *RankTimes) Coarse() *RankTimes {
	c := &RankTimes{rows: r.rows, values: r.values, digits: slices.Clone(r.digits)}
	kinds := &digitsOfShare[2]
	switch {
	case len(r.rows) <= fewRanks:
		kinds = &digitsOfShare[0]
	case len(r.rows) <= manyRanks:
		kinds = &digitsOfShare[1]
	}
	whole, sums := uint64(0), make(map[int32]uint64)
	for _, row := range r.rows {
		whole = wire.AddSat(whole, uint64(rangeOf(row.span, spanDigits).Low))
		for _, v := range r.valuesOf(row) {
			// As a trace with the fewest digits would have it.
			sums[v.function] = wire.AddSat(sums[v.function], uint64(rangeOf(coarser(v.sum, 1), 1).Low))
		}
	}
	for f, sum := range sums {
		switch share := float64(sum) / float64(max(1, whole)); {
		case share >= largeShare:
			c.keep(int(f), kinds[0])
		case share >= middleShare:
			c.keep(int(f), kinds[1])
		default:
			c.keep(int(f), kinds[2])
		}
	}
	return c
}

// Append appends the encoding of r, of which there is a rank, over n functions.
func (r *RankTimes) Append(dst []byte, n int) []byte {
	rows := slices.SortedFunc(slices.Values(r.rows), func(a, b rankRow) int { return cmp.Compare(a.rank, b.rank) })
	dst, _ = r.Ranks().AppendBinary(dst)
	base := int64(math.MaxInt64)
	for _, row := range rows {
		base = min(base, row.begin)
	}
	dst = wire.AppendVarint(dst, base)
	digits := r.usedDigits(n)
	columns := newRankColumns(digits)
	list := make([][]uint32, len(columns.class))
	for i := range list {
		list[i] = make([]uint32, len(rows))
	}
	for i, row := range rows {
		later := uint64(row.begin - base)
		list[0][i], list[1][i], list[2][i], list[3][i] = uint32(later), uint32(later>>32), row.span, row.gaps
		for _, v := range r.valuesOf(row) {
			d, at := digits[v.function], columns.first[v.function]
			list[at][i] = coarser(v.sum, d.sum)
			if d.max > 0 {
				list[at+1][i] = coarser(v.sum, d.max) - coarser(v.max, d.max)
			}
		}
	}
	for _, d := range digits {
		dst = append(dst, d.sum<<4|d.max)
	}
	return numbers.AppendTable(dst, columns.classOf, list...)
}

// rankColumns are the columns of the table of ranks.
type rankColumns struct {
	class []uint32 // of each
	first []int    // that of the sum of each function, if it has one; the max is next
}

func newRankColumns(digits []rankDigits) *rankColumns {
	c := &rankColumns{class: []uint32{0, 1, 2, 3}}
	for _, d := range digits {
		c.first = append(c.first, len(c.class))
		if d.sum > 0 {
			c.class = append(c.class, uint32(d.sum)+3)
		}
		if d.max > 0 {
			c.class = append(c.class, uint32(d.max)+3+maxDigits)
		}
	}
	return c
}

func (c *rankColumns) classOf(column int) uint32 { return c.class[column] }

// maxRankNumbers is how many numbers a table of ranks has at most, as equal ones take next to no
// bytes: to read so many takes a second or two.
const maxRankNumbers = 1 << 23

// Fits reports whether [RankTimes.Append] may be called: whether there is a rank, and ranks and
// functions are not too many for a table.
func (r *RankTimes) Fits(n int) bool {
	return r.Len() > 0 && r.Len() <= maxRankNumbers/len(newRankColumns(r.usedDigits(n)).class)
}

// MayNotFit reports whether the times of so many ranks may be too many for a table, of so many
// functions, all of which have times.
func MayNotFit(ranks, functions int) bool { return ranks > maxRankNumbers/(4+2*functions) }

// usedDigits returns what is kept of each of n functions, nothing of those without times.
func (r *RankTimes) usedDigits(n int) []rankDigits {
	digits := make([]rankDigits, n)
	for _, v := range r.values {
		digits[v.function] = r.digitsOf(int(v.function))
	}
	return digits
}

// ParseRankTimes reads what [RankTimes.Append] has appended, over n functions, of ranks that are
// among some.
func ParseRankTimes(data []byte, n int, among rankenc.Set) (*RankTimes, error) {
	d := wire.NewDecoder("merge", data)
	at := d.Offset()
	ranks := DecodeRanks(&d)
	if d.Err() == nil && (ranks.Len() == 0 || ranks.At(ranks.Len()-1) >= MaxRanks) {
		d.Corrupt(at, "ranks", "%s", ranks.Abbreviated(MaxNamed))
	}
	if others := ranks.Difference(among); d.Err() == nil && others.Len() > 0 {
		d.Corrupt(at, "ranks", "times of ranks %s, which made no calls", others.Abbreviated(MaxNamed))
	}
	at = d.Offset()
	base := d.Varint("begin")
	if d.Err() == nil && base<<beginShift>>beginShift != base {
		d.Corrupt(at, "begin", "%d", base)
	}
	digits := make([]rankDigits, 0, min(n, d.Rest()))
	for range n {
		at = d.Offset()
		b := d.Byte("digits")
		k := rankDigits{b >> 4, b & 15}
		if k.sum > maxDigits || k.max > k.sum {
			d.Corrupt(at, "digits", "%d and %d", k.sum, k.max)
		}
		if d.Err() != nil {
			return nil, d.Err()
		}
		digits = append(digits, k)
	}
	if d.Err() != nil {
		return nil, d.Err()
	}
	at = d.Offset()
	columns := newRankColumns(digits)
	if ranks.Len() > maxRankNumbers/len(columns.class) {
		d.Corrupt(at, "table", "%d columns of %d ranks, which are more than %d numbers", len(columns.class),
			ranks.Len(), maxRankNumbers)
		return nil, d.Err()
	}
	table, err := numbers.ParseTable(d.Bytes("table", d.Rest()), ranks.Len(), len(columns.class), columns.classOf)
	if err != nil {
		return nil, AtOffset(err, at)
	}
	r := &RankTimes{digits: digits}
	if err := r.fill(table, columns, base, ranks); err != nil {
		return nil, err
	}
	return r, nil
}

// fill sets the ranks of r to those of a table, and checks them.
func (r *RankTimes) fill(table [][]uint32, columns *rankColumns, base int64, ranks rankenc.Set) error {
	var kept []int // functions with times
	values := 0
	for f, d := range r.digits {
		if d.sum == 0 {
			r.digits[f] = rankDigits{maxDigits, maxDigits} // all are 0
			continue
		}
		before := values
		for _, sum := range table[columns.first[f]] {
			if sum > 0 {
				values++
			}
		}
		if values == before {
			return Corrupt("no rank has times of function %d", f)
		}
		kept = append(kept, f)
	}
	first := false
	r.rows, r.values = make([]rankRow, 0, ranks.Len()), make([]functionValue, 0, values)
	for i, rank := range ranks.All() {
		later := int64(table[1][i])<<32 | int64(table[0][i])
		row := rankRow{rank: int32(rank), span: table[2][i], gaps: table[3][i], begin: base + later,
			first: len(r.values)}
		if max(row.span, row.gaps) > lastCode(spanDigits) || later > math.MaxInt64>>(beginShift-1) ||
			row.begin > math.MaxInt64>>beginShift {
			return Corrupt("rank %d begins at %d, by %d later, and runs for %d, with gaps of %d", row.rank,
				row.begin, later, row.span, row.gaps)
		}
		first = first || later == 0
		for _, f := range kept {
			v, err := valueOf(table, columns.first[f], i, r.digits[f])
			if err != nil {
				return err
			}
			if v.function = int32(f); v.sum > 0 {
				r.values = append(r.values, v)
			}
		}
		row.values = len(r.values) - row.first
		r.rows = append(r.rows, row)
	}
	if !first {
		return Corrupt("no rank begins first")
	}
	return nil
}

// valueOf returns what a table has of a function, whose sums are in column k.
func valueOf(table [][]uint32, k, row int, d rankDigits) (v functionValue, err error) {
	sum := table[k][row]
	if sum > lastCode(d.sum) {
		return v, Corrupt("a sum of code %d", sum)
	}
	low := uint64(rangeOf(sum, d.sum).Low)
	v.sum = uint16(codeOf(low, maxDigits))
	if d.max == 0 {
		return v, nil
	}
	most := codeOf(low, d.max)
	if below := table[k+1][row]; below > most {
		return v, Corrupt("a max of %d below code %d", below, most)
	} else {
		v.max = uint16(codeOf(uint64(rangeOf(most-below, d.max).Low), maxDigits))
	}
	return v, nil
}

// ReadRankTimes reads the times of the ranks of a trace or a part file, over n functions, of
// ranks that are among some; nil if it has none. An error is a [*format.SectionError].
func ReadRankTimes(file *format.Reader, n int, among rankenc.Set) (r *RankTimes, err error) {
	if _, ok := file.Lookup(KindRankTimes, 0); !ok {
		return nil, nil
	}
	err = ReadSection(file, KindRankTimes, 0, func(data []byte) (err error) {
		r, err = ParseRankTimes(data, n, among)
		return err
	})
	return r, err
}
