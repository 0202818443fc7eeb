package slice

import "strings"

// Of what a copy reads, only that part is needed of which something is needed where it is copied to: if nothing
// reads a field of the elements of a list, the list may grow without it.

// maxParts is how many parts of a copy are told apart.
const maxParts = 16

// isCopy reports whether an instruction does nothing but copy bytes from one place in memory to another.
func (i *instruction) isCopy() bool {
	if len(i.effects) != 1 || len(i.targets) > 0 || !i.effects[0].copies {
		return false
	}
	name := strings.TrimPrefix(i.effects[0].name, "llvm.")
	return strings.HasPrefix(name, "memcpy") || strings.HasPrefix(name, "memmove")
}

// needCopied notes that an access needs what a copy writes to an object.
func (s *slicer) needCopied(i *instruction, r access, to *object) {
	a, f := s.memory, i.block.of
	for o, b := range a.ranges(r.pts, r.size) {
		if o != to {
			continue
		}
		for p := range a.places(a.pointsOf(f, i.operands[0])) {
			if i.copiesAll {
				return
			}
			if p.object != o {
				continue
			}
			switch part := p.part(b, i.length()); {
			case part.lo >= part.hi:
			case part.stride == 0 && part.lo <= 0 && part.hi >= i.length():
				s.needAllCopied(i)
			default:
				s.needPart(i, access{a.step(a.pointsOf(f, i.operands[1]), part), 1, false})
			}
		}
	}
}

// needPart notes that a part of what a copy reads is needed.
func (s *slicer) needPart(i *instruction, part access) {
	if part.pts == nil || s.read[readKey{part, i}] {
		return
	}
	s.parts[i]++
	if s.trial != nil {
		s.trial.undo = append(s.trial.undo, func() { s.parts[i]-- })
	}
	if s.parts[i] > maxParts {
		s.needAllCopied(i)
		return
	}
	s.needReads(i, []access{part})
}

func (s *slicer) needAllCopied(i *instruction) {
	s.set(&i.copiesAll)
	reads, _ := s.memory.accesses(i)
	s.needReads(i, reads)
}

// part returns which bytes, counted from where a copy of a size begins that is to a place, are some of those of
// its object: all of them if that is not known.
func (p place) part(b addresses, size int64) addresses {
	from, width := b.residues()
	switch {
	case p.hi == p.lo+1:
		b.lo, b.hi = max(b.lo-p.lo, 0), min(b.hi-p.lo, size)
		if b.stride > 0 {
			b.from = modulo(from-p.lo, b.stride)
		}
		return b
	case p.stride > 0 && p.width == 1 && b.stride%p.stride == 0:
		first := modulo(from-p.from, p.stride)
		switch {
		case size > p.stride: // several elements
			return every(0, size, p.stride, first, width)
		case first+width <= p.stride:
			return addresses{lo: first, hi: min(first+width, size)}
		}
	}
	return addresses{lo: 0, hi: size}
}
