package mutate

import (
	"encoding/binary"
	"slices"
)

// maxBytes is how long an input gets.
const maxBytes = 1 << 16

// bytes returns b with one change, which may be part of other.
func (l *loop) bytes(b, other []byte) []byte {
	if len(b) == 0 {
		b = append(b, byte(l.random.Uint32()))
	}
	at := l.random.IntN(len(b))
	length := 1 + l.random.IntN(min(len(b)-at, 1<<l.random.IntN(9)))
	switch l.random.IntN(10) {
	case 0:
		b[at] ^= 1 << l.random.IntN(8)
	case 1:
		b[at] = byte(l.random.Uint32())
	case 2:
		b[at] += byte(l.random.IntN(7) - 3)
	case 3:
		b = slices.Delete(b, at, at+length)
	case 4:
		b = slices.Insert(b, at, slices.Clone(b[at:at+length])...)
	case 5:
		copy(b[at:], b[l.random.IntN(len(b)):])
	case 6:
		b = slices.Replace(b, at, at+length, binary.AppendUvarint(nil, uint64(l.number()))...)
	case 7:
		b = slices.Insert(b, at, binary.AppendUvarint(nil, uint64(l.number()))...)
	case 8:
		if len(other) > 0 {
			from := l.random.IntN(len(other))
			b = slices.Insert(b, at, other[from:from+1+l.random.IntN(min(len(other)-from, 64))]...)
		}
	default:
		if len(other) > 0 {
			b = append(b[:at], other[l.random.IntN(len(other)):]...)
		}
	}
	return b[:min(len(b), maxBytes)]
}
