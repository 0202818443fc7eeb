package rankenc

import (
	"math/bits"

	"github.com/reprise-trace/reprise/internal/wire"
)

// appendBits appends numbers of width bits each to dst, the least significant
// bits first in every byte. Unused bits of the last byte are zero. Numbers are
// below 2^width, 0 ≤ width ≤ 64.
func appendBits(dst []byte, count int, width uint, number func(i int) uint64) []byte {
	if width == 0 {
		return dst
	}
	var (
		rest uint64 // bits not yet written, of which there are held
		held uint
	)
	for i := range count {
		v := number(i)
		rest |= v << held
		n := held + width
		if n < 64 {
			held = n
		} else {
			dst = wire.AppendUint64(dst, rest)
			rest, held = v>>(64-held), n-64 // a shift by 64 gives 0
		}
		for held >= 8 {
			dst = append(dst, byte(rest))
			rest, held = rest>>8, held-8
		}
	}
	if held > 0 {
		dst = append(dst, byte(rest))
	}
	return dst
}

// bitsAt returns the number of width bits that begins at the given bit of data.
func bitsAt(data []byte, bit int, width uint) uint64 {
	if width == 0 {
		return 0
	}
	var (
		v    uint64
		have uint
		k    = bit >> 3
	)
	v, have = uint64(data[k])>>(bit&7), uint(8-bit&7)
	for k++; have < width; k, have = k+1, have+8 {
		v |= uint64(data[k]) << have
	}
	return v & (1<<width - 1) // 1<<64 is 0, and 0−1 all ones
}

// bitsLen returns the number of bytes that count numbers of width bits take.
func bitsLen(count int, width uint) uint64 {
	n := wire.MulSat(uint64(count), uint64(width))
	return n/8 + (n%8+7)/8
}

// decodeBits reads what appendBits wrote for count numbers of width bits.
func decodeBits(d *wire.Decoder, field string, count int, width uint) []byte {
	at := d.Offset()
	size := bitsLen(count, width)
	if size > uint64(d.Rest()) {
		d.Corrupt(at, field, "%d numbers of %d bits in %d bytes", count, width, d.Rest())
		return nil
	}
	data := d.Bytes(field, int(size))
	if used := uint(count) * width % 8; used > 0 && d.Err() == nil && data[size-1]>>used != 0 {
		d.Corrupt(at, field, "bits after the last number are set")
	}
	return append([]byte(nil), data...)
}

// width returns the number of bits that v takes.
func width(v uint64) uint { return uint(bits.Len64(v)) }

// decodeWidth reads a number of bits.
func decodeWidth(d *wire.Decoder) uint { return uint(d.UvarintMax("width", 64)) }
