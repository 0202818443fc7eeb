package merge

import (
	"math"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// Limits of what is read of signatures.
const (
	maxSignatures   = 1 << 22
	maxIndex        = 1 << 24 // numbers looked at one by one, such as lengths of arrays
	indexPerByte    = 16      // of these, if the section is so long that they are more than maxIndex
	maxSlots        = 1 << 24 // of a signature
	maxDomainShapes = 1 << 22 // of all domains together
	maxPartSlots    = 1 << 26 // of all signatures of a rank, arrays included
)

// A signatureTable reads the signatures of a trace.
type signatureTable struct {
	declared  []cst.Function
	functions []uint32 // of each signature
	indexes   []uint32 // of each signature, among those of its function
	groups    []group  // by function
	domains   []*domain
	shapes    []rankenc.Set // of each domain
	columns   []columnPlace
	slices    []slicePlace // of all columns, in their order
	inline    []byte       // the columns, if they stand in the section of the signatures
	streams   *streamTable // nil if there are none
}

// A group reads the signatures of one function.
type group struct {
	params  []paramReader
	scalars int     // slots of each signature that are in no array
	masks   numbers // of the slots with streams, if there are any in the trace
	lengths []int   // of the arrays of all signatures
	starts  []int   // of the lengths of each signature, and the end
}

// A paramReader reads the arguments of one parameter.
type paramReader struct {
	slots    []slotReader // unless it is an array
	matrices numbers      // of those of the arguments that have slots
	index    []uint32     // of the argument among these
}

// A slotReader reads one slot of the signatures of one function.
type slotReader struct {
	written numbers
	values  [writtenExpr]numbers
	groups  expressions // of the rank in a group
	others  expressions
	index   []uint32 // of the value among those written in the same way; nil if all are
}

// Numbers are a column that has nothing to do with ranks.
type numbers = rankenc.Column

// A columnPlace says where a column is.
type columnPlace struct {
	domain     int
	matrix     bool
	first, end int   // of its slices: there is one if it is stored whole
	others     []int // the matrices to which this one may refer
}

// sliced reports whether the column is stored in slices.
func (c *columnPlace) sliced() bool { return c.end-c.first > 1 }

// A slicePlace says where the values of a column at consecutive positions of its
// domain are.
type slicePlace struct {
	section, offset int
	size            int
	begin, end      int // positions
}

// A signatureParser is the state of parseSignatures.
type signatureParser struct {
	wire.Decoder
	signatureTable
	size    int  // of the section
	elastic bool // there are streams
	indexed int  // numbers that were looked at one by one
}

// parseSignatures decodes the section of the signatures of a run of size ranks
// and of shapes of the ranks sets.
func parseSignatures(data []byte, declared []cst.Function, sets []rankenc.Set, size int) (*signatureTable, error) {
	p := signatureParser{Decoder: wire.NewDecoder("merge", data), size: len(data), signatureTable: signatureTable{declared: declared}}
	sizes := p.parseFunctions()
	p.parseDomains(sets, size)
	inline := p.parseColumns()
	if p.elastic {
		p.streams = p.parseStreams()
	}
	for f := range sizes {
		if n := sizes[f]; n > 0 && p.Err() == nil {
			p.groups[f] = p.group(declared[f], n)
		}
	}
	if inline {
		p.inline = p.Bytes("columns", p.Rest())
		if n := p.inlineSize(); len(p.inline) != n && p.Err() == nil {
			p.Corrupt(p.Offset(), "columns", "%d bytes, not %d", len(p.inline), n)
		}
	}
	p.End("columns")
	if p.Err() != nil {
		return nil, p.Err()
	}
	return &p.signatureTable, nil
}

// parseFunctions reads the function of each signature, and returns how many
// signatures there are of each.
func (p *signatureParser) parseFunctions() []int {
	at := p.Offset()
	n := p.Uvarint("signatures")
	p.elastic = n&1 == 1
	if n >>= 1; n > uint64(max(maxSignatures, p.size)) {
		p.Limit(at, "signatures", "%d are more than %d", n, max(maxSignatures, p.size))
		return nil
	}
	at = p.Offset()
	functions := p.numbers(int(n))
	if p.Err() != nil {
		return nil
	}
	sizes := make([]int, len(p.declared))
	p.groups = make([]group, len(p.declared))
	p.functions, p.indexes = make([]uint32, n), make([]uint32, n)
	for i, f := range functions.All() {
		if f < 0 || f >= int64(len(sizes)) {
			p.Corrupt(at, "functions", "%d of %d", f, len(sizes))
			return nil
		}
		p.functions[i], p.indexes[i] = uint32(f), uint32(sizes[f])
		sizes[f]++
	}
	return sizes
}

// numbers reads a column of n numbers.
func (p *signatureParser) numbers(n int) numbers {
	return rankenc.DecodeColumn(&p.Decoder, rankenc.Over(rankenc.World(n), n))
}

func (p *signatureParser) parseDomains(sets []rankenc.Set, size int) {
	n, all := p.Count("domains", 1), 0
	for i := 0; i < n && p.Err() == nil; i++ {
		at := p.Offset()
		shapes := rankenc.DecodeSet(&p.Decoder)
		if p.Err() != nil {
			return
		}
		if shapes.Len() == 0 || shapes.Len() > len(sets) || int(shapes.At(shapes.Len()-1)) >= len(sets) {
			p.Corrupt(at, "domain", "of shapes %v of %d", shapes, len(sets))
			return
		}
		if all += shapes.Len(); all > maxDomainShapes {
			p.Limit(at, "domain", "more than %d shapes", maxDomainShapes)
			return
		}
		of := make([]rankenc.Set, 0, shapes.Len())
		for _, s := range shapes.All() {
			of = append(of, sets[s])
		}
		p.domains, p.shapes = append(p.domains, newDomain(of, size)), append(p.shapes, shapes)
	}
}

// parseColumns reads where the columns are, and reports whether they stand at
// the end of this section.
func (p *signatureParser) parseColumns() (inline bool) {
	n := p.Count("columns", 2)
	p.columns, p.slices = make([]columnPlace, 0, n), make([]slicePlace, 0, n)
	var packer packer
	matrices := make([][]int, len(p.domains)) // the columns that are matrices, of each
	for i := 0; i < n && p.Err() == nil; i++ {
		at := p.Offset()
		v := p.Uvarint("column")
		if v>>1 >= uint64(len(p.domains)) {
			p.Corrupt(at, "column", "domain %d of %d", v>>1, len(p.domains))
			return false
		}
		c := columnPlace{domain: int(v >> 1), matrix: v&1 == 1, first: len(p.slices)}
		p.parseSlices(&packer, p.domains[c.domain].Len())
		if c.end = len(p.slices); c.matrix {
			all := matrices[c.domain]
			c.others = all[len(all)/matricesTogether*matricesTogether:]
			matrices[c.domain] = append(all, i)
		}
		p.columns = append(p.columns, c)
	}
	return n > 0 && p.Err() == nil && packer.section == 0 && packer.offset <= maxInline
}

// parseSlices reads where the slices of a column of so many values are, or where
// it is as a whole.
func (p *signatureParser) parseSlices(packer *packer, values int) {
	size := int(p.UvarintMax("size", maxColumn))
	if p.Err() != nil {
		return
	}
	if size > 0 {
		p.addSlice(packer, size, 0, values)
		return
	}
	packer.end()
	defer packer.end()
	at := p.Offset()
	n := p.Count("slices", 1)
	if n < 2 && p.Err() == nil {
		p.Corrupt(at, "slices", "%d", n)
	}
	for begin := 0; n > 0 && p.Err() == nil; n-- {
		end := values
		at := p.Offset()
		if n > 1 {
			end = begin + 1 + int(p.UvarintMax("slice", uint64(values)))
		}
		if p.Err() == nil && (end <= begin || end > values-(n-1)) {
			p.Corrupt(at, "slice", "%d positions and %d slices after %d of %d", end-begin, n-1, begin, values)
		}
		at = p.Offset()
		size := int(p.UvarintMax("size", maxColumn))
		if size == 0 {
			p.Corrupt(at, "size", "0")
		}
		p.addSlice(packer, size, begin, end)
		begin = end
	}
}

func (p *signatureParser) addSlice(packer *packer, size, begin, end int) {
	s := slicePlace{size: size, begin: begin, end: end}
	s.section, s.offset = packer.place(size)
	p.slices = append(p.slices, s)
}

// maxColumn is the largest size of an encoded column, or of a slice of one, in
// bytes.
const maxColumn = math.MaxInt32

// inlineSize returns the size of the columns that stand in this section.
func (t *signatureTable) inlineSize() int {
	s := t.slices[len(t.slices)-1]
	return s.offset + s.size
}
