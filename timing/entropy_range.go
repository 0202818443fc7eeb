package timing

import (
	"encoding/binary"
	"math/bits"
)

// A rangeCoder writes bits of given probabilities as a number in an interval,
// which each bit narrows, or reads them back from the number: G. N. N. Martin,
// "Range encoding: an algorithm for removing redundancy from a digitised
// message", 1979, with two symbols. It moves four bytes at a time. While it
// writes, a carry goes up through the bytes that are written already.
type rangeCoder struct {
	size    uint64 // of the interval less one; from 1<<32−1 on between bits
	point   uint64 // writing: the low end of the interval; reading: the number less that
	reading bool

	out  []byte // writing: the number as far as it is known
	base int    // where it begins in out

	in   []byte // reading: the number, without some zeros at the end
	next int    // offset of the next byte; beyond the end there are zeros
}

// write begins a number that is appended to out.
func (r *rangeCoder) write(out []byte) {
	*r = rangeCoder{size: 1<<64 - 1, out: out, base: len(out)}
}

// read begins to read the number in.
func (r *rangeCoder) read(in []byte) {
	*r = rangeCoder{size: 1<<64 - 1, in: in, reading: true}
	r.point = uint64(r.word())<<32 | uint64(r.word())
}

// code writes a bit that is one with probability p/65536, where 0 < p < 65536,
// or reads it. It returns the bit.
func (r *rangeCoder) code(bit, p uint32) uint32 {
	ones := r.split(p)
	zero, carry := uint64(bit)-1, uint64(0)
	switch {
	case !r.reading:
		carry = r.writeBit(ones, zero)
	case r.point <= ones:
		zero = 0
	default:
		r.point -= ones + 1
		zero = 1<<64 - 1
	}
	r.narrow(ones, zero)
	if r.due(carry) {
		r.move(carry)
	}
	return 1 + uint32(zero)
}

// The steps of code are apart so that the compiler can inline them. A bit is
// given as a number zero that has all bits set if the bit is 0, and no bit if it is 1.

// split returns the size, less one, of the part of the interval for a one.
func (r *rangeCoder) split(p uint32) uint64 { return r.size >> 16 * uint64(p) }

// readBit reads a bit, and moves the low end of the interval. It does not branch,
// which code does, since that is faster where the bit is hard to predict.
func (r *rangeCoder) readBit(ones uint64) (zero uint64) {
	_, below := bits.Sub64(ones, r.point, 0)
	r.point -= (ones + 1) & -below
	return -below
}

// writeBit moves the low end of the interval.
func (r *rangeCoder) writeBit(ones, zero uint64) (carry uint64) {
	r.point, carry = bits.Add64(r.point, (ones+1)&zero, 0)
	return carry
}

// narrow sets the size of the interval.
func (r *rangeCoder) narrow(ones, zero uint64) { r.size = ones + (r.size-2*ones-1)&zero }

// due reports whether move is to be called before the next bit.
func (r *rangeCoder) due(carry uint64) bool { return carry != 0 || r.size < 1<<32 }

// move adds the carry to the bytes that are written, and moves four bytes if
// the interval has become so small that its numbers agree in them.
func (r *rangeCoder) move(carry uint64) {
	if carry != 0 {
		r.carry()
	}
	if r.size >= 1<<32 {
		return
	}
	r.size = r.size<<32 | (1<<32 - 1)
	if r.reading {
		r.point = r.point<<32 | uint64(r.word())
		return
	}
	r.out = binary.BigEndian.AppendUint32(r.out, uint32(r.point>>32))
	r.point <<= 32
}

// carry adds one to what is written.
func (r *rangeCoder) carry() {
	for i := len(r.out) - 1; i >= r.base; i-- {
		r.out[i]++
		if r.out[i] != 0 {
			return
		}
	}
}

// word returns the next four bytes to read.
func (r *rangeCoder) word() uint32 {
	at := r.next
	r.next += 4
	if at+4 <= len(r.in) {
		return binary.BigEndian.Uint32(r.in[at:])
	}
	var word [4]byte
	copy(word[:], r.in[min(at, len(r.in)):])
	return binary.BigEndian.Uint32(word[:])
}

// finish ends the number, and returns the bytes it was appended to. Of the
// numbers in the interval it takes the one with the most zero bits at the end,
// and leaves out the zeros among its last eight bytes.
func (r *rangeCoder) finish() []byte {
	number, carry := roundest(r.point, r.size)
	if carry {
		r.carry()
	}
	out := binary.BigEndian.AppendUint64(r.out, number)
	for n := len(r.out); len(out) > n && out[len(out)-1] == 0; {
		out = out[:len(out)-1]
	}
	return out
}

// ended reports whether bits were read that a number of this length cannot hold.
func (r *rangeCoder) ended() bool { return r.next-8 > len(r.in) }

// finished reports whether the number is the one that finish ends with after
// the bits that were read.
func (r *rangeCoder) finished() bool {
	n := len(r.in)
	if r.ended() || n > r.next || n > r.next-8 && r.in[n-1] == 0 {
		return false
	}
	var last [8]byte
	copy(last[:], r.in[r.next-8:])
	number := binary.BigEndian.Uint64(last[:])
	want, _ := roundest(number-r.point, r.size)
	return number == want
}

// roundest returns the number from low to low+size that ends with the most zero
// bits, modulo 2⁶⁴, and whether it is 2⁶⁴ or more.
func roundest(low, size uint64) (number uint64, carry bool) {
	high, c := bits.Add64(low, size, 0)
	switch {
	case low == 0:
		return 0, false
	case c != 0:
		return 0, true
	}
	// Below the highest bit in which low−1 and high differ all can be zero.
	return high &^ (1<<(bits.Len64((low-1)^high)-1) - 1), false
}
