package mixing

import "math/bits"

// count codes how often the last mark repeats, which is 1 or more.
func (m *sequenceModel) count(v uint64) uint64 {
	h := &m.history
	key := hash(h.before(1), h.before(2))
	last := m.lastCounts[key]
	c := countCoder{m, key, last, [3]uint64{2*last[0] - last[1], last[0], m.guess}}
	v = c.code(v)
	m.lastCounts[key] = [2]uint64{v, last[0]}
	m.counts[len(m.counts)-1] = v
	return v
}

// A countCoder codes a count for which there are guesses: that it grows as it did, that it
// is the last one, and that it is what a match makes expect.
type countCoder struct {
	*sequenceModel
	key     uint64
	last    [2]uint64
	guesses [3]uint64
}

// code codes how many bits the count has, and then all but the first.
func (c *countCoder) code(v uint64) uint64 {
	size := 1
	for ; size < 64; size++ {
		var next [3]int
		for i, g := range c.guesses {
			switch n := bits.Len64(g); {
			case n > size:
				next[i] = 1
			case n < size:
				next[i] = 2
			}
		}
		if c.bit(bit(bits.Len64(v) > size), uint64(size), next) == 0 {
			break
		}
	}
	read := uint64(1)
	for i := size - 2; i >= 0; i-- {
		var next [3]int
		for k, g := range c.guesses {
			next[k] = 2
			if g>>(i+1) == read {
				next[k] = int(g >> i & 1)
			}
		}
		node := hash(uint64(size), read)
		if i < size-9 { // too many to be learned one by one
			node = hash(uint64(size), 1<<32|uint64(i))
		}
		read = read<<1 | uint64(c.bit(uint32(v>>i&1), node, next))
	}
	return read
}

// bit codes a bit of which next says what it is if a guess is right, 2 if it is not.
func (c *countCoder) bit(bit uint32, node uint64, next [3]int) uint32 {
	grows, same, match := uint64(next[0]), uint64(next[1]), uint64(next[2])
	key := c.key
	in := contexts{
		hash(20, node), hash(21, key, node), hash(22, grows, node), hash(23, same, node),
		hash(24, key, c.last[0], node), hash(25, match, node), hash(26, grows, same, match),
		hash(27, key, c.last[0], c.last[1], node),
		hash(28, key, grows), hash(29, key, match), hash(30, key, same), hash(31, c.last[0], node),
	}
	c.find(&in)
	return c.sequenceModel.code(bit, 0, setCount+3*next[0]+next[2])
}
