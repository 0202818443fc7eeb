package timing

import "math/bits"

// A logit is ln(p/(1−p)) of a probability p, in units of 1/256.
const maxLogit = 11*256 - 1

// Tables of the logistic function and its inverse. They are computed with
// integers, to be the same on every machine.
var (
	squashTable  [1 << 13]uint16 // 65536/(1+e⁻ˣ) of the logit x = index − maxLogit, from 1 to 65535
	stretchTable [1 << 12]int16  // the logit of (index+½)/4096
)

// gainTable holds the part of its error, in 512ths, by which a prediction is
// corrected that was corrected index times before.
var gainTable [countMask + 1]int32

func init() {
	const decay = 0xff007fd55ffdde38 // e^(−1/256)·2⁶⁴
	power := uint64(1 << 63)         // e^(−x/256)·2⁶³
	for x := range maxLogit + 1 {
		p := min(65535, (1<<48/(1<<31+power>>32)+1)/2)
		squashTable[maxLogit+x] = uint16(p)
		squashTable[maxLogit-x] = uint16(65536 - p)
		power, _ = bits.Mul64(power, decay)
	}
	x := 0
	for i := range stretchTable {
		for x < 2*maxLogit && int(squashTable[x]) < 16*i+8 {
			x++
		}
		stretchTable[i] = int16(x - maxLogit)
	}
	for n := range gainTable {
		gainTable[n] = int32(max(2, 512*8/(8*n+13)))
	}
}

// squash returns the probability, of 65536, with a logit.
func squash(logit int64) uint32 {
	logit = max(-maxLogit, min(maxLogit, logit))
	return uint32(squashTable[(logit+maxLogit)&(1<<13-1)])
}
