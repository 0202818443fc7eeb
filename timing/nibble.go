package timing

import "encoding/binary"

// A nibble predicts a number from 0 to 15, which it learns from those that were: lane i, of sixteen bits, is how
// likely a smaller number than i is, in units of 1/65,504. Lane 0, which would be 0, counts what was learned, up to
// countLimit, and has a tag. The lanes of a word learn at once, without a branch, and are compared at once.
type nibble [4]uint64

const (
	nibbleBits = 4
	nibbleOne  = 1<<16 - 32 // a certain number
	lanesOne   = 0x0001_0001_0001_0001
	lanesTop   = lanesOne << 15
	lanesEven  = uint64(0x0000_ffff_0000_ffff)
	lane0      = 0xffff

	countLimit = 1<<5 - 1 // of lane 0; the bits above are the tag
)

// evenNibbles predict numbers of so many bits, all alike.
var evenNibbles = func() (list [nibbleBits + 1]nibble) {
	for bits := range list {
		for i := 1; i < 1<<nibbleBits; i++ {
			list[bits][i/4] |= nibbleOne * uint64(min(i, 1<<bits)) >> bits << (i % 4 * 16)
		}
	}
	return list
}()

// above has all bits of the lanes above each number.
var above = func() (list [1 << nibbleBits]nibble) {
	for x := range list {
		for i := x + 1; i < 1<<nibbleBits; i++ {
			list[x][i/4] |= lane0 << (i % 4 * 16)
		}
	}
	return list
}()

// nibbleGains has by which part, 2^−gain, a nibble moves to a number that learned so often.
var nibbleGains = func() (list [countLimit + 1]uint8) {
	for n := range list {
		for 2<<list[n] < 2*n+3 {
			list[n]++
		}
	}
	return list
}()

func (b *nibble) seen() uint64 { return b[0] & countLimit }

// lanes returns what is predicted of x: how likely smaller numbers are, and x or smaller ones.
func (b *nibble) lanes(x uint32) (below, upTo uint64) {
	some := uint64(-int64(x) >> 63)       // x > 0
	more := uint64((int64(x) - 15) >> 63) // x < 15
	below = b[x>>2&3] >> (x & 3 * 16) & lane0 & some
	upTo = b[(x+1)>>2&3]>>((x+1)&3*16)&lane0&more | nibbleOne&^more
	return below, upTo
}

// learn moves the prediction towards x.
func (b *nibble) learn(x uint32) {
	n := b[0] & countLimit
	gain := nibbleGains[n] & 15
	left := uint64(lane0>>gain) * lanesOne
	add := uint64(nibbleOne>>gain) * lanesOne
	up := &above[x&15]
	head := b[0]&lane0 + (n-countLimit)>>63
	c := b[0] &^ lane0
	b[0] = c - c>>gain&left&^lane0 + up[0]&add | head
	b[1] += up[1]&add - b[1]>>gain&left
	b[2] += up[2]&add - b[2]>>gain&left
	b[3] += up[3]&add - b[3]>>gain&left
}

// A share is the part that the first of two predictions has in a mixed one, in units of 1/32,768. It learns how often
// the first was the better one, as the weights of a mixture do by expectation and maximization.
type share uint32

const (
	evenShare  = 1 << 14
	oneShare   = 1 << 15
	leastShare = 1 << 6 // what is learned is a part of the share: from 0 there would be no way back
	shareGain  = 4
)

// learned returns w after a number that the first nibble thought so likely, and the second.
func (w share) learned(first, second uint64) share {
	first = uint64(w) * (first + 1)
	all := first + (oneShare-uint64(w))*(second+1)
	return max(w+share(int32(first<<15/all-uint64(w))>>shareGain), leastShare)
}

// An interval is a number as an ansWriter writes it: the end of the numbers below, in units of 1/32,768, and 2¹⁶
// times how likely it is, in the same.
type interval uint32

const ansBits = 15

// mixed returns the interval that two predictions give x. The share w learns from it.
func mixed(a, b *nibble, w *share, x uint32) interval {
	wa := uint64(*w)
	wb := oneShare - wa
	belowA, upToA := a.lanes(x)
	belowB, upToB := b.lanes(x)
	below := (belowA*wa+belowB*wb)>>16 + uint64(x)
	upTo := (upToA*wa+upToB*wb)>>16 + uint64(x) + 1
	*w = w.learned(upToA-belowA, upToB-belowB)
	return interval(below | (upTo-below)<<16)
}

// ramp is added to the lanes of a mixed prediction, so that every number has an interval.
var ramp = [4]uint64{3<<48 | 2<<32 | 1<<16, 7<<48 | 6<<32 | 5<<16 | 4, 11<<48 | 10<<32 | 9<<16 | 8,
	15<<48 | 14<<32 | 13<<16 | 12}

// An ansReader reads what an ansWriter wrote: asymmetric numeral systems, J. Duda, "Asymmetric numeral systems:
// entropy coding combining speed of Huffman coding with compression rate of arithmetic coding", arXiv 1311.2540,
// 2013, the range variant. The state is from 2¹⁶ to 2⁴⁸ and moves four bytes at a time.
type ansReader struct {
	state uint64
	words []byte
	ended bool
}

const (
	ansLow  = 1 << 16
	ansHigh = 1 << 48
)

// mixed reads a number that is predicted so.
func (r *ansReader) mixed(a, b *nibble, w *share) uint32 {
	wa := uint64(*w)
	wb := oneShare - wa
	point := r.state & (1<<ansBits - 1)
	points := point*lanesOne | lanesTop
	var m [8]uint64
	m[0] = mixedLanes(a[0]&^lane0, b[0]&^lane0, wa, wb) + ramp[0]
	m[1] = mixedLanes(a[1], b[1], wa, wb) + ramp[1]
	m[2] = mixedLanes(a[2], b[2], wa, wb) + ramp[2]
	m[3] = mixedLanes(a[3], b[3], wa, wb) + ramp[3]
	count := (points-m[0])&lanesTop>>15 + (points-m[1])&lanesTop>>15 +
		(points-m[2])&lanesTop>>15 + (points-m[3])&lanesTop>>15
	m[4] = oneShare
	x := uint32(count*lanesOne>>48) - 1
	below := m[x>>2&7] >> (x & 3 * 16) & lane0
	upTo := m[(x+1)>>2&7] >> ((x + 1) & 3 * 16) & lane0
	r.state = (upTo-below)*(r.state>>ansBits) + point - below
	if r.state < ansLow {
		r.fill()
	}
	belowA, upToA := a.lanes(x)
	belowB, upToB := b.lanes(x)
	*w = w.learned(upToA-belowA, upToB-belowB)
	return x
}

// mixedLanes returns lanes that are the sum of others, weighted, in units of 1/32,768.
func mixedLanes(a, b, wa, wb uint64) uint64 {
	even := a&lanesEven*wa + b&lanesEven*wb
	odd := a>>16&lanesEven*wa + b>>16&lanesEven*wb
	return even>>16&lanesEven | odd&^lanesEven
}

func (r *ansReader) fill() {
	if len(r.words) < 4 {
		r.ended = true
		r.state = r.state<<32 | ansLow // any one
		return
	}
	r.state = r.state<<32 | uint64(binary.BigEndian.Uint32(r.words))
	r.words = r.words[4:]
}

// finished reports whether all was read, and from where the writer began.
func (r *ansReader) finished() bool { return !r.ended && r.state == ansLow && len(r.words) == 0 }

// appendIntervals appends the words of intervals to words, the last first, and returns them and the state.
func appendIntervals(words []uint32, intervals []interval) ([]uint32, uint64) {
	state := uint64(ansLow)
	for i := len(intervals) - 1; i >= 0; i-- {
		below, size := uint64(intervals[i]&0xffff), uint64(intervals[i]>>16)
		if state >= size<<(48-ansBits) {
			words = append(words, uint32(state))
			state >>= 32
		}
		q := state / size
		state = q<<ansBits + state - q*size + below
	}
	return words, state
}
