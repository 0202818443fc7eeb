package mixing

import (
	"math"
	"math/bits"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// A Parser reads the blocks that [Append] appended at once, one after the other.
type Parser struct {
	alphabet Alphabet
	members  []Member
	last     *openMember // nil if it does not go on in the next block
}

// An openMember is a member of which some blocks are read.
type openMember struct {
	builder nestBuilder
	streams [][]uint32
	length  uint64
}

// NewParser returns a Parser for blocks that were made with the Alphabet.
func NewParser(a Alphabet) *Parser { return &Parser{alphabet: a} }

// Members returns the members of the blocks that were read, or a [*wire.Error] if the last one goes
// on in another block.
func (p *Parser) Members() ([]Member, error) {
	if p.last != nil {
		d := wire.NewDecoder("sequitur", nil)
		d.Corrupt(0, "members", "the last one goes on, but there are no more blocks")
		return nil, d.Err()
	}
	return p.members, nil
}

// Parse reads the next block. An error from Parse is a [*wire.Error], and there are no members then.
func (p *Parser) Parse(data []byte) error {
	d := wire.NewDecoder("sequitur", data)
	members, last := p.parse(&d, data)
	if err := d.Err(); err != nil {
		*p = Parser{alphabet: p.alphabet}
		return err
	}
	p.members, p.last = members, last
	return nil
}

// parse returns the members after the next block, and the last one if it goes on.
func (p *Parser) parse(d *wire.Decoder, data []byte) (members []Member, last *openMember) {
	at := d.Offset()
	head := d.Uvarint("table")
	size := head & (1<<headLevel - 1) >> 1
	switch l := head >> headLevel; {
	case d.Err() != nil:
	case l > uint64(levelPolls):
		d.Corrupt(at, "table", "a block of form %d, of which this version knows those up to %d", l, levelPolls)
	case head&headTwins != 0 && len(p.alphabet.Group) > maxTwinClasses:
		d.Limit(at, "table", "twins of %d classes, more than %d", len(p.alphabet.Group), maxTwinClasses)
	case size < minTable || size > maxTable || 1<<size > mostPlaces(len(data)):
		d.Limit(at, "table", "2^%d places of %d bytes", size, len(data))
	}
	at = d.Offset()
	n := d.Uvarint("members")
	if n > uint64(mostItems(len(data))) {
		d.Limit(at, "members", "%d in %d bytes", n, len(data))
	}
	if d.Err() != nil {
		return nil, nil
	}
	r := mixedReader{sequenceModel: newSequenceModel(p.alphabet, int(size), mostItems(len(data)),
		level(head>>headLevel)), left: mostItems(len(data)), d: d}
	at = d.Offset()
	defer r.table.free()
	r.Read(data[at:])
	if head&headTwins != 0 {
		r.codeTwins(nil)
	}
	members, last = p.members, p.last
	for ; n > 0 && d.Err() == nil; n-- {
		if last == nil {
			last = &openMember{}
		}
		if r.piece(at, last, n == 1) {
			members, last = append(members, Member{last.builder.Finish(), last.streams}), nil
		}
	}
	if d.Err() == nil && !r.Finished() {
		d.Corrupt(at, "members", "another end than expected")
	}
	return members, last
}

// A mixedReader reads members.
type mixedReader struct {
	*sequenceModel
	d    *wire.Decoder
	left int // items and streams there may be, and values in all
}

// piece reads what the block has of a member, and reports whether the member ends. Only one that is last may
// go on.
func (r *mixedReader) piece(at int, x *openMember, last bool) (ends bool) {
	r.value.begin(x.streams)
	r.left -= len(r.alphabet.Values)
	before := r.left
	list, ends := r.read(at)
	if x.length = wire.AddSat(x.length, lengthOf(list)); !fits(x.length, 1) {
		r.d.Corrupt(at, "member", "longer than 2⁶³−1 symbols")
	}
	if !ends && !last {
		r.d.Corrupt(at, "member", "goes on where another one begins")
	}
	if r.d.Err() != nil {
		return false
	}
	x.builder.left = fewRounds + roundsPerItem*(before-r.left-1)
	if x.builder.append(list); x.builder.left < 0 {
		r.d.Limit(at, "member", "takes more than %d rounds for each item", roundsPerItem)
	}
	x.streams = r.value.streams
	return ends
}

// read reads items up to the end of a member or of the block, and reports whether it is that of a member.
func (r *mixedReader) read(at int) (list []item, ends bool) {
	var (
		open  []item // the loops that are read
		lists = [][]item{nil}
	)
	for {
		top := &lists[len(lists)-1]
		if r.left--; r.left < r.value.count || r.Ended() || r.value.tooMany() {
			r.d.Limit(at, "member", "more items or values than there may be")
			return nil, false
		}
		if r.coded > maxBits {
			r.d.Limit(at, "member", "more than %d bits in its block", maxBits)
			return nil, false
		}
		switch s := r.mark(0); {
		case r.value.outside:
			r.d.Corrupt(at, "member", "a value that there is not")
			return nil, false
		case s == markOpen:
			open = append(open, item{count: r.count(0)})
			lists = append(lists, nil)
			if len(open) > maxNesting {
				r.d.Limit(at, "member", "loops in %d loops", maxNesting)
				return nil, false
			}
		case s == markClose && len(open) > 0 && len(*top) > 0:
			x := open[len(open)-1]
			x.body = *top
			if x.length = lengthOf(x.body); !fits(x.length, x.count) {
				r.d.Corrupt(at, "member", "longer than 2⁶³−1 symbols")
				return nil, false
			}
			open, lists = open[:len(open)-1], lists[:len(lists)-1]
			r.add(lists, x)
		case (s == markEnd || s == markNext) && len(open) == 0:
			return *top, s == markEnd
		case s >= firstClass && s < uint32(len(r.lastAt)):
			symbol := r.member(s-firstClass, 0)
			if symbol > sequitur.MaxSymbol {
				r.d.Corrupt(at, "member", "no such symbol of class %d", s-firstClass)
				return nil, false
			}
			r.add(lists, item{symbol: symbol, count: r.count(0)})
		default:
			r.d.Corrupt(at, "member", "mark %d", s)
			return nil, false
		}
	}
}

// add adds an item to the last of lists, and reads its values if it is in no loop.
func (r *mixedReader) add(lists [][]item, x item) {
	x.takes = r.alphabet.takes(&x)
	last := len(lists) - 1
	lists[last] = append(lists[last], x)
	if last == 0 {
		r.values(lists[0][len(lists[0])-1:])
	}
}

// fits reports whether a sequence may have so many times so many symbols.
func fits(length, times uint64) bool {
	hi, n := bits.Mul64(length, times)
	return hi == 0 && n <= math.MaxInt64
}
