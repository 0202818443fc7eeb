package timing

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/numbers"
	"github.com/reprise-trace/reprise/internal/wide"
	"github.com/reprise-trace/reprise/internal/wire"
)

// AppendStatisticsTable appends an encoding of statistics to dst that is much
// shorter than theirs one by one, and returns the extended slice. There are n rows,
// and up to two columns, such as those of durations and of gaps, of which each may
// end early. A decoder has to know n, the number of columns, and of each row a
// class, such as the function that was called: rows of a class are likely to have
// similar values. It panics if a column is longer than n, or there is no class.
//
// Counts, extremes and ranks are kept as they are. Sums are rounded where there are
// more than two values, such that the mean moves by at most 1/4096 of its distance
// from the nearer extreme, and then by no more than 1 % of itself the variance.
// What was read from a table is encoded as it was: [Statistics.SumError] bounds the error
// of its sums, and the table tells how much larger that is where they were rounded before.
func AppendStatisticsTable(dst []byte, n int, class func(row int) uint32, columns ...[]Statistics) []byte {
	need.That(class != nil, "timing: a table without classes")
	var top uint32
	for _, column := range columns {
		if len(column) > n {
			panic(fmt.Sprintf("timing: a column of %d statistics in a table of %d rows", len(column), n))
		}
		for i := range column {
			top = max(top, column[i].MinRank, column[i].MaxRank)
		}
	}
	c := newTableCoder(n, len(columns), bits.Len32(top))
	times, rounded := 0, false
	for _, column := range columns {
		for i := range column {
			n, is := column[i].roundings()
			times, rounded = max(times, n), rounded || is
		}
	}
	if !rounded {
		times = unknownRoundings // of none
	}
	c.Coder.Write(append(dst, byte(c.rankBits)|roundingsCode[times]<<roundingsShift))
	for i := range n {
		var row [tableColumns]Statistics
		for k, column := range columns {
			if i < len(column) {
				row[k] = column[i]
			}
		}
		c.row(class(i), row[:len(columns)])
	}
	return c.Coder.Finish()
}

// ParseStatisticsTable returns the statistics in data, of n rows and up to two
// columns, each up to its last row that has values. The error is a [*ParseError].
// It takes memory in proportion to data.
func ParseStatisticsTable(data []byte, n int, class func(row int) uint32, columns int) ([][]Statistics, error) {
	d := wire.NewDecoder("timing", data)
	head := int(d.Byte("ranks"))
	rankBits, times := head&(1<<roundingsShift-1), int(roundingsCode[head>>roundingsShift])
	if d.Err() == nil && rankBits > 32 {
		d.Corrupt(0, "ranks", "of %d bits", rankBits)
	}
	if d.Err() != nil {
		return nil, d.Err()
	}
	c := newTableCoder(n, columns, rankBits)
	c.Coder.Read(data[1:])
	table, rounded, least := make([][]Statistics, columns), false, 0
	for i := range n {
		var row [tableColumns]Statistics
		c.row(class(i), row[:columns])
		if c.Coder.Ended() {
			c.corrupt("%d rows are left at the end of the number", n-1-i)
		}
		if c.err != nil {
			return nil, &ParseError{Package: "timing", Offset: 1, Field: "statistics", Err: c.err}
		}
		for k := range columns {
			if row[k].Count > 0 {
				row[k].slack = row[k].roundingError(times)
				rounded = rounded || row[k].slack > 0
				if least < times && row[k].slack > row[k].roundingError(times-1) {
					least = times
				}
				table[k] = append(table[k], make([]Statistics, i-len(table[k])+1)...)
				table[k][i] = row[k]
			}
		}
	}
	switch {
	case !c.Coder.Finished():
		c.corrupt("the number ends otherwise")
	case times != unknownRoundings && !rounded:
		c.corrupt("sums that are rounded, where none are")
	case rounded && least < times:
		c.corrupt("sums that were rounded %d times before, which are as far off as those that were not", times)
	case bits.Len32(c.top) != rankBits:
		c.corrupt("ranks of %d bits, where the last is %d", rankBits, c.top)
	}
	if c.err != nil {
		return nil, &ParseError{Package: "timing", Offset: 1, Field: "statistics", Err: c.err}
	}
	return table, nil
}

const (
	tableColumns = 2
	recentCounts = 4 // that counts are looked for in

	// The first byte of a table has above the bits of ranks the roundingsCode of how far sums
	// may be off: by 4ᵏ times what rounding does once for k < unknownRoundings, and otherwise
	// that is not known.
	roundingsShift   = 6
	unknownRoundings = 3
)

// roundingsCode has the code of each k, and the k of each code. That of what is not known is 0,
// as tables once had it always, whose sums had been rounded once or more often.
var roundingsCode = [4]byte{3, 1, 2, 0}

// The kinds of bits and numbers of a column of a table.
const (
	tableCount = iota // that is not a recent one, or that of the first column
	tableRecent
	tableSame
	tableSign
	tableMinimum
	tableWidth
	tableFar
	tableSum
	tableSquares
	tableMinRank // for each rank that it may be
	tableMaxRank = tableMinRank + 2
	tableKinds   = tableMaxRank + 3 // at most modelKinds/tableColumns
)

// A tableCoder writes the rows of a table, or reads them: methods take what they
// write, and return or set what they read.
type tableCoder struct {
	numbers.Model
	rankBits int
	top      uint32 // the highest rank that was read
	recent   [recentCounts]uint64
	classes  map[uint32]*[tableColumns]tableSizes // of the last row of each
	last     [tableColumns]int                    // bits of the minimum of the row before
	ranks    [tableColumns][2]uint32              // of the row before
	again    bool                                 // the row is of the class of the one before
	class    uint32
	err      error
}

// A tableSizes has the bits of the minimum of a row, and of its distance from the
// maximum.
type tableSizes struct{ minimum, width int }

func newTableCoder(n, columns, rankBits int) *tableCoder {
	if columns < 0 || columns > tableColumns {
		panic(fmt.Sprintf("timing: a table of %d columns", columns))
	}
	c := &tableCoder{rankBits: rankBits, recent: [recentCounts]uint64{1, 2, 3, 4},
		classes: make(map[uint32]*[tableColumns]tableSizes)}
	c.Reset(n)
	return c
}

func (c *tableCoder) corrupt(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
	}
}

// row codes a row.
func (c *tableCoder) row(class uint32, row []Statistics) {
	sizes := c.classes[class]
	c.again = sizes != nil && class == c.class
	if sizes == nil {
		sizes = new([tableColumns]tableSizes)
		c.classes[class] = sizes
	}
	c.class = class
	for k := range row {
		s := &row[k]
		if k == 0 {
			s.Count = c.firstCount(s.Count)
		} else {
			s.Count = c.otherCount(k, s.Count, row[0].Count)
		}
		if c.err != nil || s.Count == 0 {
			continue
		}
		c.extremes(k, s, &row[0], sizes)
		if c.err != nil {
			return
		}
		c.sums(k, s)
	}
}

// firstCount codes the count of the first column. That there is one takes a fixed
// part of a bit, so that the rows are at most in proportion to the input.
func (c *tableCoder) firstCount(n uint64) uint64 {
	none := uint32(0)
	if n == 0 {
		none = 1
	}
	if c.Coder.Code(none, 1<<13) != 0 {
		return 0
	}
	place := 0
	again := uint64(0)
	if c.again {
		again = 1
	}
	for place < recentCounts && !c.Flag(tableRecent, c.recent[place] == n, 0, uint64(place), uint64(place)<<1|again) {
		place++
	}
	if place < recentCounts {
		n = c.recent[place]
	} else {
		n = c.natural(tableCount, n, 0, uint64(c.class))
		for _, r := range c.recent {
			if r == n || n == 0 || n > manyValues {
				c.corrupt("a count of %d", n)
			}
		}
		place--
	}
	copy(c.recent[1:place+1], c.recent[:place])
	c.recent[0] = n
	return n
}

// otherCount codes the count of another column than the first.
func (c *tableCoder) otherCount(column int, n, first uint64) uint64 {
	if c.Flag(column*tableKinds+tableSame, n == first, 0) {
		return first
	}
	n = c.natural(column*tableKinds+tableCount, n, 0, uint64(bits.Len64(first)))
	if n == first || n > manyValues {
		c.corrupt("a count of %d", n)
	}
	return n
}

// natural codes a number of at most 64 bits.
func (c *tableCoder) natural(kind int, n uint64, contexts ...uint64) uint64 {
	value := c.Number(kind, 7, numbers.AllDigits, wide.Of(n), contexts...)
	n, ok := value.Uint64()
	if !ok {
		c.corrupt("a number of %d bits", value.BitLen())
	}
	return n
}

// extremes codes the extremes and their ranks. The first column is there for the
// others.
func (c *tableCoder) extremes(column int, s, first *Statistics, sizes *[tableColumns]tableSizes) {
	kind := column * tableKinds
	few := uint64(min(bits.Len64(s.Count), 3))
	class := uint64(c.class)<<2 | few
	of, last := &sizes[column], &c.last[column]

	negative := c.Flag(kind+tableSign, s.Min < 0, 0)
	size := uint64(s.Min)
	if negative {
		size = -size
	}
	size = c.natural(kind+tableMinimum, size, 0, uint64(c.class), class<<7|uint64(of.minimum), uint64(*last))
	if negative && (size == 0 || size > 1<<63) || !negative && size > math.MaxInt64 {
		c.corrupt("a minimum of %d, negative: %v", size, negative)
	}
	s.Min = int64(size)
	if negative {
		s.Min = -s.Min
	}
	width := uint64(0)
	if s.Count > 1 {
		width = c.natural(kind+tableWidth, uint64(s.Max)-uint64(s.Min), 0, class,
			few<<7|uint64(bits.Len64(size)), few<<7|uint64(of.width))
		if width > math.MaxInt64-uint64(s.Min) {
			c.corrupt("a maximum that is %d above %d", width, s.Min)
		}
		of.width = bits.Len64(width)
	}
	s.Max = int64(uint64(s.Min) + width)
	of.minimum = bits.Len64(size)
	*last = of.minimum

	ranks := &c.ranks[column]
	maxRanks := []uint32{0, ranks[1]}
	minRanks := ranks[:1]
	if column > 0 && first.Count > 0 {
		minRanks = []uint32{first.MinRank, first.MaxRank}
		maxRanks = []uint32{0, first.MaxRank, first.MinRank}
	}
	s.MinRank = c.rank(kind+tableMinRank, s.MinRank, few, minRanks)
	if width > 0 {
		maxRanks[0] = s.MinRank
		s.MaxRank = c.rank(kind+tableMaxRank, s.MaxRank, few, maxRanks)
	} else {
		s.MaxRank = s.MinRank
	}
	*ranks = [2]uint32{s.MinRank, s.MaxRank}
}

// rank codes a rank, which is likely to be one of some.
func (c *tableCoder) rank(kind int, rank uint32, few uint64, likely []uint32) uint32 {
	if c.rankBits == 0 {
		return 0
	}
	for i, r := range likely {
		if !slices.Contains(likely[:i], r) && c.Flag(kind+i, rank == r, 0, few) {
			return r
		}
	}
	n := uint32(0)
	for i := c.rankBits - 1; i >= 0; i-- {
		n = n<<1 | c.Coder.Even(rank>>i&1)
	}
	if slices.Contains(likely, n) {
		c.corrupt("rank %d, which was ruled out", n)
	}
	c.top = max(c.top, n)
	return n
}

// sums codes the sums, rounded.
func (c *tableCoder) sums(column int, s *Statistics) {
	switch {
	case s.Min == s.Max:
		if c.Coder.Reading() {
			s.setSums(wide.Number{}, wide.Number{})
		}
		return
	case s.Count == manyValues:
		return
	}
	var rest, more wide.Number
	p := s.spread()
	if !c.Coder.Reading() {
		rest, more = p.round(s)
	}
	rest = c.sum(column, s, &p, rest)
	more = c.squares(column, &p, rest, more)
	if c.Coder.Reading() && c.err == nil {
		s.setRounded(&p, rest, more)
	}
}

// sum codes the sum of the others.
func (c *tableCoder) sum(column int, s *Statistics, p *spread, rest wide.Number) wide.Number {
	if p.most.IsZero() {
		return rest
	}
	kind, size := column*tableKinds, uint64(p.most.BitLen())
	distance, far := p.near(rest)
	far = c.Flag(kind+tableFar, far, 0, uint64(min(bits.Len64(s.Count), 4)))
	distance = c.Number(kind+tableSum, 7, p.digits, distance,
		0, size, uint64(bits.Len64(s.Count))<<7|uint64(bits.Len64(p.width)), uint64(c.class)<<7|size)
	if numbers.RoundDigits(p.half, p.digits).Less(distance) {
		c.corrupt("a sum that is farther from the end of its range of %d bits than half of it", size)
	}
	rest = p.rest(upTo(distance, p.half), far)
	if _, is := p.near(rest); is != far {
		c.corrupt("a sum in the middle, from the far end")
	}
	return rest
}

// squares codes how much the sum of squares is more than the least.
func (c *tableCoder) squares(column int, p *spread, rest, more wide.Number) wide.Number {
	room := p.room(rest)
	if room.IsZero() {
		return room
	}
	size, least := room.BitLen(), p.least(rest).BitLen()
	more = c.Number(column*tableKinds+tableSquares, 8, squaresDigits, more,
		0, uint64(size), uint64(least)<<8|uint64(size))
	if numbers.RoundDigits(room, squaresDigits).Less(more) {
		c.corrupt("squares that are more than %d bits above the least", size)
	}
	return upTo(more, room)
}
