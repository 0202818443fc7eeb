// Package adaptive codes bits in about as many bits as they are surprising: a
// [Coder] writes a bit with the probability it is given for it, and a [Bit] learns
// that probability from the bits before. All adaptive entropy coding of this module
// is made of these two. Everything is computed with integers, so that the bytes are
// the same on every machine.
package adaptive

import (
	"encoding/binary"
	"math/bits"
)

// A Coder writes bits of given probabilities as a number in an interval,
// which each bit narrows, or reads them back from the number: G. N. N. Martin,
// "Range encoding: an algorithm for removing redundancy from a digitised
// message", 1979, with two symbols. It moves four bytes at a time. While it
// writes, a carry goes up through the bytes that are written already.
type Coder struct {
	size    uint64 // of the interval less one; from 1<<32−1 on between bits
	point   uint64 // writing: the low end of the interval; reading: the number less that
	reading bool

	out  []byte // writing: the number as far as it is known
	base int    // where it begins in out

	in   []byte // reading: the number, without some zeros at the end
	next int    // offset of the next byte; beyond the end there are zeros
}

// Write begins a number that is appended to out.
func (c *Coder) Write(out []byte) {
	*c = Coder{size: 1<<64 - 1, out: out, base: len(out)}
}

// Read begins to read the number in.
func (c *Coder) Read(in []byte) {
	*c = Coder{size: 1<<64 - 1, in: in, reading: true}
	c.point = uint64(c.word())<<32 | uint64(c.word())
}

// Reading reports whether the Coder reads.
func (c *Coder) Reading() bool { return c.reading }

// Code writes a bit that is one with probability p/65536, where 0 < p < 65536,
// or reads it. It returns the bit.
func (c *Coder) Code(bit, p uint32) uint32 {
	ones := c.split(p)
	zero, carry := uint64(bit)-1, uint64(0)
	switch {
	case !c.reading:
		carry = c.writeBit(ones, zero)
	case c.point <= ones:
		zero = 0
	default:
		c.point -= ones + 1
		zero = 1<<64 - 1
	}
	c.narrow(ones, zero)
	if c.due(carry) {
		c.move(carry)
	}
	return 1 + uint32(zero)
}

// Len returns how many bytes of the number are written, or how many the bits that were read take.
func (c *Coder) Len() int {
	if c.reading {
		return min((8*c.next-bits.Len64(c.size))/8, len(c.in))
	}
	return len(c.out) - c.base
}

// Even writes or reads a bit that is as likely one as zero.
func (c *Coder) Even(bit uint32) uint32 { return c.Code(bit, 1<<15) }

// The steps of Code are apart so that the compiler can inline them. A bit is
// given as a number zero that has all bits set if the bit is 0, and no bit if it is 1.

// split returns the size, less one, of the part of the interval for a one.
func (c *Coder) split(p uint32) uint64 { return c.size >> 16 * uint64(p) }

// readBit reads a bit, and moves the low end of the interval. It does not branch,
// which Code does, since that is faster where the bit is hard to predict.
func (c *Coder) readBit(ones uint64) (zero uint64) {
	_, below := bits.Sub64(ones, c.point, 0)
	c.point -= (ones + 1) & -below
	return -below
}

// writeBit moves the low end of the interval.
func (c *Coder) writeBit(ones, zero uint64) (carry uint64) {
	c.point, carry = bits.Add64(c.point, (ones+1)&zero, 0)
	return carry
}

// narrow sets the size of the interval.
func (c *Coder) narrow(ones, zero uint64) { c.size = ones + (c.size-2*ones-1)&zero }

// due reports whether move is to be called before the next bit.
func (c *Coder) due(carry uint64) bool { return carry != 0 || c.size < 1<<32 }

// move adds the carry to the bytes that are written, and moves four bytes if
// the interval has become so small that its numbers agree in them.
func (c *Coder) move(carry uint64) {
	if carry != 0 {
		c.carry()
	}
	if c.size >= 1<<32 {
		return
	}
	c.size = c.size<<32 | (1<<32 - 1)
	if c.reading {
		c.point = c.point<<32 | uint64(c.word())
		return
	}
	c.out = binary.BigEndian.AppendUint32(c.out, uint32(c.point>>32))
	c.point <<= 32
}

// carry adds one to what is written.
func (c *Coder) carry() {
	for i := len(c.out) - 1; i >= c.base; i-- {
		c.out[i]++
		if c.out[i] != 0 {
			return
		}
	}
}

// word returns the next four bytes to read.
func (c *Coder) word() uint32 {
	at := c.next
	c.next += 4
	if at+4 <= len(c.in) {
		return binary.BigEndian.Uint32(c.in[at:])
	}
	var word [4]byte
	copy(word[:], c.in[min(at, len(c.in)):])
	return binary.BigEndian.Uint32(word[:])
}

// Finish ends the number, and returns the bytes it was appended to. Of the
// numbers in the interval it takes the one with the most zero bits at the end,
// and leaves out the zeros among its last eight bytes.
func (c *Coder) Finish() []byte {
	number, carry := roundest(c.point, c.size)
	if carry {
		c.carry()
	}
	out := binary.BigEndian.AppendUint64(c.out, number)
	for n := len(c.out); len(out) > n && out[len(out)-1] == 0; {
		out = out[:len(out)-1]
	}
	return out
}

// Ended reports whether bits were read that a number of this length cannot hold.
func (c *Coder) Ended() bool { return c.next-8 > len(c.in) }

// Finished reports whether the number is the one that Finish ends with after
// the bits that were read.
func (c *Coder) Finished() bool {
	n := len(c.in)
	if c.Ended() || n > c.next || n > c.next-8 && c.in[n-1] == 0 {
		return false
	}
	var last [8]byte
	copy(last[:], c.in[c.next-8:])
	number := binary.BigEndian.Uint64(last[:])
	want, _ := roundest(number-c.point, c.size)
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
