package layout

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// MaxSlots is how many slots a signature has at most: a value of a [cst.Table] has three at most.
const MaxSlots = 3 * cst.MaxValues

// What is counted in bytes of memory. It covers what reading takes and what commands make of it, such as
// lines of a profile.
const (
	signatureMemory   = 3 << 9
	slotMemory        = 1 << 6 // of the signatures of a rank, arrays included
	indexMemory       = 1 << 5 // for a number that is looked at by itself, such as the length of an array
	domainShapeMemory = 1 << 7 // for a shape of a domain

	indexPerByte = 16 // numbers that are looked at by themselves, for each byte of the section whatever the memory
)

// A Table has the signatures of a trace, as the file has them.
type Table struct {
	declared  []cst.Function
	Functions []uint32        // of each signature
	indexes   []uint32        // of each signature, among those of its function
	Groups    []FunctionGroup // by function
	Domains   []*Domain
	Shapes    []rankenc.Set // of each domain
	Columns   []ColumnPlace
	Slices    []SlicePlace // of all columns, in their order
	Inline    []byte       // the columns, if they stand in the section of the signatures
	Streams   *StreamTable // nil if there are none
	memory    uint64       // that may be taken, in bytes
}

// A ColumnPlace says where a column is.
type ColumnPlace struct {
	Domain     int
	Matrix     bool
	First, End int   // of its slices: there is one if it is stored whole
	Others     []int // the matrices to which this one may refer
}

// Sliced reports whether the column is stored in slices.
func (c *ColumnPlace) Sliced() bool { return c.End-c.First > 1 }

// A SlicePlace says where the values of a column at consecutive positions of its
// domain are.
type SlicePlace struct {
	Section, Offset int
	Size            int
	Begin, End      int // positions
}

// A signatureParser is the state of parseSignatures.
type signatureParser struct {
	wire.Decoder
	Table
	size    int  // of the section
	varying bool // there are streams
	lists   HandleLists
	indexed uint64 // numbers that were looked at one by one
}

// ParseTable decodes the section of the signatures of a run of size ranks and of shapes of the
// ranks sets. The lists have the handles of which it has places. More signatures than suit so many
// bytes of memory give a format.MemoryError.
func ParseTable(data []byte, declared []cst.Function, sets []rankenc.Set, size int, lists HandleLists,
	memory uint64) (*Table, error) {
	p := signatureParser{Decoder: wire.NewDecoder("merge", data), size: len(data),
		Table: Table{declared: declared, memory: memory}, lists: lists}
	sizes := p.parseFunctions()
	p.parseDomains(sets, size)
	inline := p.parseColumns()
	if p.varying {
		p.Streams = p.parseStreams()
	}
	for f := range sizes {
		if n := sizes[f]; n > 0 && p.Err() == nil {
			p.Groups[f] = p.group(declared[f], n)
		}
	}
	if inline {
		p.Inline = p.Bytes("columns", p.Rest())
		if n := p.inlineSize(); len(p.Inline) != n && p.Err() == nil {
			p.Corrupt(p.Offset(), "columns", "%d bytes, not %d", len(p.Inline), n)
		}
	}
	p.End("columns")
	if p.Err() != nil {
		return nil, p.Err()
	}
	return &p.Table, nil
}

// parseFunctions reads the function of each signature, and returns how many
// signatures there are of each.
func (p *signatureParser) parseFunctions() []int {
	at := p.Offset()
	n := p.Uvarint("signatures")
	p.varying = n&1 == 1
	if n >>= 1; n > MaxRanks {
		p.Limit(at, "signatures", "%d are more than %d", n, MaxRanks)
		return nil
	}
	if err := CheckMemory("signatures", n, signatureMemory, p.memory); err != nil {
		p.Fail(at, "signatures", err)
		return nil
	}
	at = p.Offset()
	functions := p.numbers(int(n))
	if p.Err() != nil {
		return nil
	}
	sizes := make([]int, len(p.declared))
	p.Groups = make([]FunctionGroup, len(p.declared))
	p.Functions, p.indexes = make([]uint32, n), make([]uint32, n)
	for i, f := range functions.All() {
		if f < 0 || f >= int64(len(sizes)) {
			p.Corrupt(at, "functions", "%d of %d", f, len(sizes))
			return nil
		}
		p.Functions[i], p.indexes[i] = uint32(f), uint32(sizes[f])
		sizes[f]++
	}
	return sizes
}

// numbers reads a column of n numbers.
func (p *signatureParser) numbers(n int) Numbers {
	return columns.DecodeColumn(&p.Decoder, columns.Over(rankenc.World(n), n))
}

func (p *signatureParser) parseDomains(sets []rankenc.Set, size int) {
	n, all := p.Count("domains", 1), 0
	for i := 0; i < n && p.Err() == nil; i++ {
		at := p.Offset()
		shapes := DecodeRanks(&p.Decoder)
		if p.Err() != nil {
			return
		}
		if shapes.Len() == 0 || shapes.Len() > len(sets) || int(shapes.At(shapes.Len()-1)) >= len(sets) {
			p.Corrupt(at, "domain", "of shapes %v of %d", shapes, len(sets))
			return
		}
		all += shapes.Len()
		if err := CheckMemory("shapes in the domains of columns", uint64(all), domainShapeMemory,
			p.memory); err != nil {
			p.Fail(at, "domain", err)
			return
		}
		of := make([]rankenc.Set, 0, shapes.Len())
		for _, s := range shapes.All() {
			of = append(of, sets[s])
		}
		p.Domains, p.Shapes = append(p.Domains, NewDomain(of, size)), append(p.Shapes, shapes)
	}
}

// parseColumns reads where the columns are, and reports whether they stand at
// the end of this section.
func (p *signatureParser) parseColumns() (inline bool) {
	n := p.Count("columns", 2)
	p.Columns, p.Slices = make([]ColumnPlace, 0, n), make([]SlicePlace, 0, n)
	var packer Packer
	matrices := make([][]int, len(p.Domains)) // the columns that are matrices, of each
	for i := 0; i < n && p.Err() == nil; i++ {
		at := p.Offset()
		v := p.Uvarint("column")
		if v>>1 >= uint64(len(p.Domains)) {
			p.Corrupt(at, "column", "domain %d of %d", v>>1, len(p.Domains))
			return false
		}
		c := ColumnPlace{Domain: int(v >> 1), Matrix: v&1 == 1, First: len(p.Slices)}
		p.parseSlices(&packer, p.Domains[c.Domain].Len())
		if c.End = len(p.Slices); c.Matrix {
			all := matrices[c.Domain]
			c.Others = all[len(all)/MatricesTogether*MatricesTogether:]
			matrices[c.Domain] = append(all, i)
		}
		p.Columns = append(p.Columns, c)
	}
	return n > 0 && p.Err() == nil && packer.Section == 0 && packer.Offset <= MaxInline
}

// parseSlices reads where the slices of a column of so many values are, or where
// it is as a whole.
func (p *signatureParser) parseSlices(packer *Packer, values int) {
	size := int(p.UvarintMax("size", MaxColumn))
	if p.Err() != nil {
		return
	}
	if size > 0 {
		p.addSlice(packer, size, 0, values)
		return
	}
	packer.End()
	defer packer.End()
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
		size := int(p.UvarintMax("size", MaxColumn))
		if size == 0 {
			p.Corrupt(at, "size", "0")
		}
		p.addSlice(packer, size, begin, end)
		begin = end
	}
}

func (p *signatureParser) addSlice(packer *Packer, size, begin, end int) {
	s := SlicePlace{Size: size, Begin: begin, End: end}
	s.Section, s.Offset = packer.Place(size)
	p.Slices = append(p.Slices, s)
}

// inlineSize returns the size of the columns that stand in this section.
func (t *Table) inlineSize() int {
	s := t.Slices[len(t.Slices)-1]
	return s.Offset + s.Size
}

// MatricesTogether is how many matrices of a domain can refer to each other.
const MatricesTogether = 64
