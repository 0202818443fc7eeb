package slice

import (
	"math"
	"math/bits"
)

// An irType is a type of LLVM, laid out as on x86-64.
type irType struct {
	kind   kind
	bits   int64 // of an integer
	length int64 // of an array or vector
	elem   *irType
	fields []*irType
	packed bool
	name   string // of a type with a name, which stands for fields[0]; or of a simple type

	size, align int64 // 0: not known yet
}

type kind uint8

const (
	voidType kind = iota
	intType
	floatType
	ptrType
	arrayType
	vectorType
	structType
	namedType
	functionType
	otherType // label, metadata, token
)

// The sizes and alignments of types with names of their own.
var simpleTypes = map[string]irType{
	"void": {kind: voidType}, "ptr": {kind: ptrType, size: 8, align: 8}, "label": {kind: otherType},
	"metadata": {kind: otherType}, "token": {kind: otherType},
	"half": {kind: floatType, size: 2, align: 2}, "bfloat": {kind: floatType, size: 2, align: 2},
	"float": {kind: floatType, size: 4, align: 4}, "double": {kind: floatType, size: 8, align: 8},
	"x86_fp80": {kind: floatType, size: 16, align: 16}, "fp128": {kind: floatType, size: 16, align: 16},
}

// maxSize is what larger sizes count as. It leaves room for sums.
const maxSize = math.MaxInt64 / 4

func product(a, b int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high != 0 || low > maxSize {
		return maxSize
	}
	return int64(low)
}

func sum(a, b int64) int64 { return min(a+b, maxSize) }

func roundUp(n, align int64) int64 { return sum(n, align-1) / align * align }

// resolved returns what a name stands for.
func (t *irType) resolved() *irType {
	for t.kind == namedType && len(t.fields) == 1 {
		t = t.fields[0]
	}
	return t
}

// layout sets the size and the alignment in bytes. The types of the module have no cycles, and
// are not nested deeply.
func (t *irType) layout() (size, align int64) {
	if t.align > 0 {
		return t.size, t.align
	}
	t.align = 1
	switch t.kind {
	case intType:
		t.size = (t.bits + 7) / 8
		for t.align < t.size && t.align < 16 {
			t.align *= 2
		}
		if t.bits > 64 {
			t.align = 8
		}
		t.size = roundUp(t.size, t.align)
	case arrayType:
		size, align := t.elem.layout()
		t.size, t.align = product(size, t.length), align
	case vectorType:
		size, _ := t.elem.layout()
		t.size = product(size, t.length)
		for t.align < t.size && t.align < 64 {
			t.align *= 2
		}
		t.size = roundUp(t.size, t.align)
	case structType:
		for _, f := range t.fields {
			size, align := f.layout()
			if t.packed {
				align = 1
			}
			t.size = sum(roundUp(t.size, align), size)
			t.align = max(t.align, align)
		}
		t.size = roundUp(t.size, t.align)
	case namedType:
		if len(t.fields) == 1 {
			t.size, t.align = t.fields[0].layout()
		}
	}
	return t.size, t.align
}

// bytes returns the size of a value in memory.
func (t *irType) bytes() int64 {
	size, _ := t.layout()
	return size
}

// field returns where a field of a structure is, and its type.
func (t *irType) field(n int64) (offset int64, f *irType) {
	for i, f := range t.fields {
		size, align := f.layout()
		if t.packed {
			align = 1
		}
		offset = roundUp(offset, align)
		if int64(i) == n {
			return offset, f
		}
		offset = sum(offset, size)
	}
	return 0, nil
}

// repeated returns the addresses that one or more steps of a length lead to.
func repeated(length int64) addresses {
	if length < 0 {
		return every(-maxSize, length+1, -length, 0, 1)
	}
	return every(length, maxSize, length, 0, 1)
}

// part returns where an element or a field of a value is in it.
func (t *irType) part(n int64) int64 {
	if t = t.resolved(); t.elem != nil {
		return product(n, t.elem.bytes())
	}
	offset, _ := t.field(n)
	return offset
}

// checkCycles reports whether a type contains itself. Types are nested less deeply than
// maxDepth, but for those with names, whose state is in seen.
func (t *irType) checkCycles(seen map[*irType]int, depth int) bool {
	if depth > 20*maxDepth {
		return false
	}
	if t.kind == namedType {
		switch seen[t] {
		case 1:
			return false
		case 2:
			return true
		}
		seen[t] = 1
	}
	for _, f := range t.fields {
		if t.kind != functionType && !f.checkCycles(seen, depth+1) {
			return false
		}
	}
	if t.elem != nil && t.kind != functionType && !t.elem.checkCycles(seen, depth+1) {
		return false
	}
	if t.kind == namedType {
		seen[t] = 2
	}
	return true
}

// step returns the addresses that are that many elements and parts of them behind another one. An index that
// is not known stays in its array, unless that has at most one element, and the first one may be any. Of
// arrays of structures in each other, the outermost one has its fields told apart. If what is there is
// accessed, the last index is one of an element; otherwise it may be that behind the last one, too, for
// addresses that count from there.
func step(element *irType, indices []value, accessed bool) addresses {
	anywhere := addresses{lo: -maxSize, hi: maxSize}
	if len(indices) == 0 {
		return at(0)
	}
	var of addresses // an array of structures in which an index is not known
	var offset int64
	switch {
	case indices[0].isNumber:
		offset = signedProduct(indices[0].number, element.bytes())
	case element.isElement():
		of = anywhere
		of.stride = element.bytes()
	default:
		return anywhere
	}
	t, begin, end := element, int64(0), int64(0)
	inArray := false
	for k, index := range indices[1:] {
		switch t = t.resolved(); t.kind {
		case structType:
			behind, f := t.field(index.number)
			if f == nil {
				return anywhere
			}
			offset, t, inArray = clamp(offset+behind), f, false
		case arrayType, vectorType:
			if !inArray {
				begin, end, inArray = offset, clamp(offset+t.bytes()), true
			}
			if t.length <= 1 && (!index.isNumber || index.number != 0) {
				if of.stride > 0 {
					return addresses{lo: of.lo, hi: maxSize}
				}
				return addresses{lo: begin, hi: maxSize}
			}
			last := max(end, begin+1) // behind the last address
			switch isLast := k+2 == len(indices); {
			case !accessed:
				last++
			case isLast:
				last = max(end-t.elem.bytes(), begin) + 1
			}
			switch {
			case index.isNumber:
				offset = clamp(offset + signedProduct(index.number, t.elem.bytes()))
			case of.stride > 0:
				return every(of.lo, of.hi, of.stride, begin, last-begin)
			case t.elem.isElement():
				of = addresses{lo: begin, hi: last, stride: t.elem.bytes()}
			default:
				return addresses{lo: begin, hi: last}
			}
			t = t.elem
		default:
			return anywhere
		}
	}
	if of.stride > 0 {
		return every(of.lo, of.hi, of.stride, offset, 1)
	}
	return at(offset)
}

// isElement reports whether the fields of the elements of an array of this type are told apart.
func (t *irType) isElement() bool {
	return t.resolved().kind == structType && t.bytes() > 0 && t.bytes() < maxSize
}

func signedProduct(a, b int64) int64 {
	if a < 0 {
		return -product(-max(a, -maxSize), b)
	}
	return product(a, b)
}

func clamp(n int64) int64 { return max(-maxSize, min(n, maxSize)) }
