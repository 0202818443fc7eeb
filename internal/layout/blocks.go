package layout

import (
	"sort"

	"github.com/reprise-trace/reprise/internal/wire"
)

// Blocks say in which block of package sequitur the grammar of a shape is. The first block
// stands in the first section of the grammars, after what is known of them all, and the
// others in a section each.
type Blocks struct {
	firsts []int // the first shape of each block, and the number of shapes
	offset int   // where the first block begins
}

// MaxBlocks is how many blocks a trace may have, as each takes up to half a second to read and some
// megabytes once it is read.
const MaxBlocks = 40

// AppendBlocks appends what the first section begins with, for blocks of so many shapes each.
func AppendBlocks(dst []byte, sizes []int) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(sizes)))
	for _, n := range sizes {
		dst = wire.AppendUvarint(dst, uint64(n))
	}
	return dst
}

// ParseBlocks reads where the grammars of shapes are, from the first section.
func ParseBlocks(data []byte, shapes int) (Blocks, error) {
	d := wire.NewDecoder("merge", data)
	b := Blocks{firsts: []int{0}}
	all := 0
	n := d.Uvarint("blocks")
	if n > MaxBlocks {
		d.Limit(0, "blocks", "%d, more than %d", n, MaxBlocks)
	}
	for ; n > 0 && d.Err() == nil; n-- {
		at := d.Offset()
		of := d.UvarintMax("shapes of a block", uint64(shapes-all))
		if of == 0 && d.Err() == nil {
			d.Corrupt(at, "shapes of a block", "0")
		}
		all += int(of)
		b.firsts = append(b.firsts, all)
	}
	if d.Err() == nil && all != shapes {
		d.Corrupt(0, "blocks", "of %d shapes, not %d", all, shapes)
	}
	b.offset = d.Offset()
	return b, d.Err()
}

// Len returns the number of blocks.
func (b *Blocks) Len() int { return len(b.firsts) - 1 }

// Of returns the number of the block with a shape, and which of the shapes there it is.
func (b *Blocks) Of(shape int) (block, place int) {
	block = sort.Search(b.Len(), func(i int) bool { return b.firsts[i+1] > shape })
	return block, shape - b.firsts[block]
}

// Block returns a block, given the section that has its number, how many shapes are in it,
// and where it begins in the section.
func (b *Blocks) Block(section []byte, number int) (block []byte, shapes, offset int) {
	if number == 0 {
		offset = b.offset
	}
	return section[min(offset, len(section)):], b.firsts[number+1] - b.firsts[number], offset
}
