package cst

import "github.com/reprise-trace/reprise/internal/wire"

const version = 1

// Bits of the first byte of a type.
const (
	kindMask       = 0x0f
	directionShift = 4
)

// AppendBinary appends the encoding of t, which [Parse] reads, to dst and
// returns the extended slice. The error is always nil; it is there for
// [encoding.BinaryAppender].
func (t *Table) AppendBinary(dst []byte) ([]byte, error) {
	dst = append(dst, version)
	dst = t.AppendFunctions(dst)
	dst = t.AppendSignatures(dst)
	for _, e := range t.entries {
		dst = wire.AppendUvarint(dst, e.count)
	}
	return dst, nil
}

// MarshalBinary returns the encoding of t.
func (t *Table) MarshalBinary() ([]byte, error) { return t.AppendBinary(nil) }

// AppendFunctions appends the encoding of the functions of t, which
// [ParseFunctions] reads, to dst and returns the extended slice. With
// [Table.AppendSignatures] it serves a file that holds one list of functions for
// many tables.
func (t *Table) AppendFunctions(dst []byte) []byte {
	var known dictionary
	dst = wire.AppendUvarint(dst, uint64(len(t.functions)))
	for i := range t.functions {
		f := &t.functions[i]
		dst = known.appendName(dst, f.Name)
		dst = wire.AppendUvarint(dst, uint64(len(f.Params)))
		for j := range f.Params {
			dst = known.appendParam(dst, &f.Params[j])
		}
	}
	return dst
}

// AppendSignatures appends the encoding of the signatures of t without their
// counts, which [ParseSignatures] reads, to dst and returns the extended slice.
// It serves a file that holds the functions elsewhere and the counts as well,
// for instance in the grammar over the terminals.
func (t *Table) AppendSignatures(dst []byte) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(t.entries)))
	return append(dst, t.arena...)
}

func (d *dictionary) appendName(dst []byte, s string) []byte {
	if number, known := d.name(s); known {
		return wire.AppendUvarint(dst, number<<1|1)
	}
	dst = wire.AppendUvarint(dst, uint64(len(s))<<1)
	return append(dst, s...)
}

func (d *dictionary) appendParam(dst []byte, p *Param) []byte {
	if number, known := d.param(p); known {
		return wire.AppendUvarint(dst, number+1)
	}
	dst = wire.AppendUvarint(dst, 0)
	dst = d.appendName(dst, p.Name)
	t := &p.Type
	dst = append(dst, byte(t.Kind)|byte(p.Direction)<<directionShift)
	for t.Kind == KindArray {
		t = t.Elem
		dst = append(dst, byte(t.Kind))
	}
	if t.Kind == KindHandle {
		dst = d.appendName(dst, t.Class)
	}
	return dst
}
