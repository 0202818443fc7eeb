package slice

// Addresses are distances [lo, hi) from the beginning of an object. If stride is not 0, they are those of
// them that are from to from+width-1 behind a multiple of stride: a field of the elements of an array of
// structures.
type addresses struct {
	lo, hi              int64
	stride, from, width int64
}

// at returns one address.
func at(offset int64) addresses { return addresses{lo: offset, hi: offset + 1} }

// every returns some addresses in each of the elements of an array, or all of it if they fill the elements.
func every(lo, hi, stride, from, width int64) addresses {
	if stride == 0 || width >= stride {
		return addresses{lo: lo, hi: hi}
	}
	return addresses{lo, hi, stride, modulo(from, stride), width}
}

// residues returns the first of addresses and how many there are, but for multiples of the stride.
func (a addresses) residues() (from, width int64) {
	if a.stride == 0 {
		return a.lo, a.hi - a.lo
	}
	return a.from, a.width
}

// bytes returns the bytes that an access of a size from these addresses on touches.
func (a addresses) bytes(size int64) addresses {
	return every(a.lo, sum(a.hi-1, size), a.stride, a.from, sum(a.width-1, size))
}

// plus returns the addresses that are a step behind these.
func (a addresses) plus(step addresses) addresses {
	from, width := a.residues()
	f, w := step.residues()
	return every(clamp(a.lo+step.lo), clamp(a.hi+step.hi-1), divisor(a.stride, step.stride), from+f, width+w-1)
}

// overlap reports whether one address may be of both.
func (a addresses) overlap(b addresses) bool {
	if a.lo >= b.hi || b.lo >= a.hi {
		return false
	}
	stride := divisor(a.stride, b.stride)
	if stride == 0 {
		return true
	}
	af, aw := a.residues()
	bf, bw := b.residues()
	behind := modulo(bf-af, stride)
	return aw >= stride || bw >= stride || behind < aw || stride-behind < bw
}

// contain reports whether all addresses of b are of a.
func (a addresses) contain(b addresses) bool {
	if b.lo < a.lo || a.hi < b.hi {
		return false
	}
	from, width := b.residues()
	return a.stride == 0 || (b.stride == 0 || b.stride%a.stride == 0) && modulo(from-a.from, a.stride)+width <= a.width
}

// divisor returns the greatest common divisor: of 0 and another number, the other.
func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func modulo(a, b int64) int64 { return (a%b + b) % b }
