package mixing

import (
	"math"
	"math/bits"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// A Parser reads the blocks that [Append] appended at once, one after the other: each as a whole by
// [Parser.Parse], or one member after the other by [Parser.Begin] and [Parser.Next].
type Parser struct {
	alphabet Alphabet
	members  []Member
	last     *openMember // nil if it does not go on in the next block
	block    *openBlock  // nil between blocks
}

// An openMember is a member of which some blocks are read.
type openMember struct {
	builder nestBuilder
	streams [][]uint32
	length  uint64
}

// An openBlock is a block of which some members are read.
type openBlock struct {
	mixedReader
	in      wire.Decoder
	size    int    // of it
	at      int    // where its bits begin
	members uint64 // that are not read yet
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

// Complete returns the members that are complete.
func (p *Parser) Complete() []Member { return p.members }

// Reading reports whether a block was begun that is not read to its end.
func (p *Parser) Reading() bool { return p.block != nil }

// Held returns about how many bytes it takes to go on with a block.
func (p *Parser) Held() int {
	if p.block == nil {
		return 0
	}
	return placeSize*len(p.block.table.places) + p.block.size
}

// Parse reads the next block. An error from Parse is a [*wire.Error], and there are no members then.
func (p *Parser) Parse(data []byte) error {
	err := p.Begin(data)
	for err == nil && p.Reading() {
		err = p.Next()
	}
	if err != nil {
		*p = Parser{alphabet: p.alphabet}
	}
	return err
}

// Begin begins the next block, and retains data until it is read. An error from Begin is a [*wire.Error].
func (p *Parser) Begin(data []byte) error {
	b := &openBlock{in: wire.NewDecoder("sequitur", data), size: len(data)}
	d := &b.in
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
	b.members = d.Uvarint("members")
	if b.members > uint64(mostItems(len(data))) {
		d.Limit(at, "members", "%d in %d bytes", b.members, len(data))
	}
	if d.Err() != nil {
		return d.Err()
	}
	b.mixedReader = mixedReader{sequenceModel: newSequenceModel(p.alphabet, int(size), mostItems(len(data)),
		level(head>>headLevel)), left: mostItems(len(data)), d: d}
	b.at = d.Offset()
	b.Read(data[b.at:])
	if head&headTwins != 0 {
		b.codeTwins(nil)
	}
	p.block = b
	return p.ended()
}

// Next reads the next member of a block that was begun, and its end after the last one. After an error, which is a
// [*wire.Error], the members before are complete, and nothing more can be read.
func (p *Parser) Next() error {
	b := p.block
	if p.last == nil {
		p.last = &openMember{}
	}
	b.members--
	if b.piece(b.at, p.last, b.members == 0) {
		p.members, p.last = append(p.members, Member{p.last.builder.Finish(), p.last.streams}), nil
	}
	return p.ended()
}

// ended ends the block if all its members were read, or there was an error.
func (p *Parser) ended() error {
	b := p.block
	if b.in.Err() == nil && b.members == 0 && !b.Finished() {
		b.in.Corrupt(b.at, "members", "another end than expected")
	}
	if err := b.in.Err(); err != nil || b.members == 0 {
		p.block = nil
		b.table.free()
		return err
	}
	return nil
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
