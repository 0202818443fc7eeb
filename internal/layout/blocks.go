package layout

import (
	"sort"

	"github.com/reprise-trace/reprise/internal/mixing"
	"github.com/reprise-trace/reprise/internal/wire"
)

// Blocks say in which blocks of package mixing the grammar of a shape is: in one, or in several that are read
// together. The first block stands in the first section of the grammars, after what is known of them all, and
// the others in a section each.
type Blocks struct {
	firsts   []int // the first shape of each run of blocks that are read together, and the number of shapes
	sections []int // the first section of each, and the number of blocks
	offset   int   // where the first block begins
}

// MaxBlocks is how many blocks a trace may have, as each takes a second or two to read if it was made to be
// slow and some megabytes once it is read.
const MaxBlocks = 40

// AppendBlocks appends what the first section begins with, for blocks of so many shapes each, 0 for one in
// which the last shape of the block before goes on.
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
	var b Blocks
	all := 0
	n := d.Uvarint("blocks")
	if n > MaxBlocks {
		d.Limit(0, "blocks", "%d, more than %d", n, MaxBlocks)
		return b, d.Err()
	}
	together := 0 // of the blocks before, those that are read together with the next if that goes on
	for i := range int(n) {
		at := d.Offset()
		of := d.UvarintMax("shapes of a block", uint64(shapes-all))
		switch {
		case d.Err() != nil:
			return b, d.Err()
		case of > 0:
			b.firsts, b.sections = append(b.firsts, all), append(b.sections, i)
			together = 0
		case i == 0:
			d.Corrupt(at, "shapes of a block", "0 of the first")
		case together == mixing.MaxParts:
			d.Limit(at, "shapes of a block", "more than %d blocks that are read together", mixing.MaxParts)
			return b, d.Err()
		}
		together++
		all += int(of)
	}
	b.firsts, b.sections = append(b.firsts, all), append(b.sections, int(n))
	if d.Err() == nil && all != shapes {
		d.Corrupt(0, "blocks", "of %d shapes, not %d", all, shapes)
	}
	b.offset = d.Offset()
	return b, d.Err()
}

// Len returns the number of runs of blocks that are read together.
func (b *Blocks) Len() int { return len(b.firsts) - 1 }

// Of returns the number of the run of blocks with a shape, and which of the shapes there it is.
func (b *Blocks) Of(shape int) (run, place int) {
	run = sort.Search(b.Len(), func(i int) bool { return b.firsts[i+1] > shape })
	return run, shape - b.firsts[run]
}

// Run returns the sections with a run of blocks, from first to before end, and how many shapes are in it.
func (b *Blocks) Run(run int) (first, end, shapes int) {
	return b.sections[run], b.sections[run+1], b.firsts[run+1] - b.firsts[run]
}

// Block returns a block, given the section that has its number, and where it begins in the section.
func (b *Blocks) Block(section []byte, number int) (block []byte, offset int) {
	if number == 0 {
		offset = b.offset
	}
	return section[min(offset, len(section)):], offset
}
