package timing

import (
	"testing"

	"pgregory.net/rapid"
)

// plainNibble is a nibble number by number.
type plainNibble struct {
	below [17]int // of each number
	seen  int
}

func newPlainNibble() *plainNibble {
	p := new(plainNibble)
	for i := range p.below {
		p.below[i] = nibbleOne * i / 16
	}
	return p
}

func (p *plainNibble) learn(x int) {
	gain := nibbleGains[p.seen]
	for i := 1; i < 16; i++ {
		p.below[i] -= p.below[i] >> gain
		if i > x {
			p.below[i] += nibbleOne >> gain
		}
	}
	p.seen = min(p.seen+1, countLimit)
}

func drawnNibble(t *rapid.T, name string) (*nibble, *plainNibble) {
	b, p := evenNibbles[nibbleBits], newPlainNibble()
	b[0] |= 0xabc0 // a tag
	numbers := rapid.OneOf(rapid.Uint32Range(0, 15), rapid.SampledFrom([]uint32{0, 7, 15}))
	for _, x := range rapid.SliceOfN(numbers, 0, 400).Draw(t, name) {
		b.learn(x)
		p.learn(int(x))
	}
	return &b, p
}

// TestNibble checks the lanes of words against numbers one by one.
func TestNibble(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, p := drawnNibble(t, "learned")
		if b.seen() != uint64(p.seen) || b[0]&(lane0&^countLimit) != 0xabc0&^countLimit {
			t.Fatalf("head %#x after %d", b[0]&lane0, p.seen)
		}
		for x := range uint32(16) {
			below, upTo := b.lanes(x)
			if int(below) != p.below[x] || int(upTo) != p.below[x+1] || below > upTo {
				t.Fatalf("%d: from %d to %d, want %d to %d", x, below, upTo, p.below[x], p.below[x+1])
			}
		}
	})
}

// TestMixedNibbles checks that every number of any two predictions has an interval, that these follow each other, and
// that a reader finds the number of every point, and learns as the writer does.
func TestMixedNibbles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, _ := drawnNibble(t, "first")
		b, _ := drawnNibble(t, "second")
		w := share(rapid.Uint32Range(0, oneShare).Draw(t, "share"))
		end := uint64(0)
		for x := range uint32(16) {
			written := w
			v := mixed(a, b, &written, x)
			below, size := uint64(v&0xffff), uint64(v>>16)
			if below != end || size == 0 || written > oneShare {
				t.Fatalf("%d: %d from %d, after %d, %d", x, size, below, end, written)
			}
			end = below + size
			for _, point := range []uint64{below, below + size/2, below + size - 1} {
				state := rapid.Uint64Range(2, 1<<33-1).Draw(t, "state")
				r, read := ansReader{state: state<<ansBits | point, words: make([]byte, 4)}, w
				if got := r.mixed(a, b, &read); got != x || read != written {
					t.Fatalf("point %d is in %d, %d, want %d, %d", point, got, read, x, written)
				}
			}
		}
		if end != 1<<ansBits {
			t.Fatalf("all numbers end at %d", end)
		}
	})
}

// TestIntervals checks that numbers of all predictions come back, that the reader knows the end, and that it refuses
// every other end.
func TestIntervals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, _ := drawnNibble(t, "first")
		b, _ := drawnNibble(t, "second")
		numbers := rapid.SliceOfN(rapid.Uint32Range(0, 15), 1, 300).Draw(t, "numbers")
		begin := [2]nibble{*a, *b}
		w := share(evenShare)
		var list []interval
		for _, x := range numbers {
			list = append(list, mixed(a, b, &w, x))
			a.learn(x)
			b.learn(x)
		}
		words, state := appendIntervals(nil, list)
		if state < ansLow || state >= ansHigh {
			t.Fatalf("state %d", state)
		}
		var bytes []byte
		for i := len(words) - 1; i >= 0; i-- {
			bytes = append(bytes, byte(words[i]>>24), byte(words[i]>>16), byte(words[i]>>8), byte(words[i]))
		}
		read := func(state uint64, bytes []byte) (same bool, r ansReader) {
			r = ansReader{state: state, words: bytes}
			a, b, w, same := begin[0], begin[1], share(evenShare), true
			for _, x := range numbers {
				got := r.mixed(&a, &b, &w)
				same = same && got == x
				a.learn(got)
				b.learn(got)
			}
			return same, r
		}
		if same, r := read(state, bytes); !same || !r.finished() {
			t.Fatalf("%d numbers came back otherwise", len(numbers))
		}
		if same, r := read(state, append(bytes, 0, 0, 0, 0)); same && r.finished() {
			t.Fatal("accepted a word after the end")
		}
		other := rapid.Uint64Range(ansLow, ansHigh-1).Draw(t, "other")
		if same, r := read(other, bytes); other != state && same && r.finished() {
			t.Fatalf("accepted the states %d and %d", state, other)
		}
	})
}
