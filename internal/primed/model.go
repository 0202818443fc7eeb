package primed

import (
	"github.com/reprise-trace/reprise/internal/adaptive"
)

const (
	contexts   = 4
	bucketBits = 15
	probes     = 4 // buckets in which a context may be
	kinds      = 32
	maxHistory = 1 << 16
	leastMatch = 3
	matchBits  = 12
	maxLength  = 15 // of matches that are told apart
)

// A bucket has the predictions of four bits in a context: after one of no bits, two of one and
// so on. The first number is a hash of the context, 0 if there is none.
type bucket [16]adaptive.Bit

// A model predicts bytes.
type model struct {
	small
	buckets []bucket
	history []byte

	// Buckets that may have changed since the model was equal to that of the prior, and a bit for each of these.
	touched []uint32
	marked  [1 << bucketBits / 64]uint64
}

// small is what of a model is small enough to be copied at once.
type small struct {
	weights [3][kinds]adaptive.ManyWeights // by what the match says, and kind
	lengths [maxLength + 1]adaptive.Bit    // whether a match of such a length goes on
	at      [1 << matchBits]uint16         // where bytes with such a hash ended last
	match   int                            // where the byte is that follows in the match
	length  int                            // of the match
}

func newModel() *model {
	m := &model{buckets: make([]bucket, 1<<bucketBits)}
	for i := range m.weights {
		for k := range m.weights[i] {
			m.weights[i][k] = adaptive.NewManyWeights(contexts + 1)
		}
	}
	for i := range m.lengths {
		m.lengths[i] = adaptive.Even
	}
	return m
}

// copy makes m equal to o.
func (m *model) copy(o *model) {
	m.small = o.small
	copy(m.buckets, o.buckets)
	m.history = append(m.history[:0], o.history...)
	m.touched = m.touched[:0]
}

// restore is copy of the model from which m was copied.
func (m *model) restore(o *model) {
	m.small = o.small
	for _, i := range m.touched {
		m.buckets[i] = o.buckets[i]
		m.marked[i/64] = 0
	}
	m.history = append(m.history[:0], o.history...)
	m.touched = m.touched[:0]
}

// byte codes a byte.
func (m *model) byte(c *adaptive.Coder, kind uint32, b byte) byte {
	kind = min(kind, kinds-1)
	hashes := m.hashes(kind)
	expected := 0 // the byte that follows in the match, with a bit before it
	if m.length > 0 {
		expected = 256 | int(m.history[m.match])
	}
	var found [contexts]*bucket
	node := 1
	for i := 7; i >= 0; i-- {
		if i&3 == 3 {
			for k, h := range hashes {
				found[k] = m.find(h + uint64(node)*0x9E3779B97F4A7C15)
			}
		}
		node = node<<1 | int(m.bit(c, kind, &found, node, i, expected, uint32(b)>>i&1))
	}
	m.next(byte(node))
	return byte(node)
}

// hashes returns hashes of the contexts.
func (m *model) hashes(kind uint32) (h [contexts]uint64) {
	var last [3]byte // zeros before the first
	n := min(len(last), len(m.history))
	copy(last[len(last)-n:], m.history[len(m.history)-n:])
	b1, b2, b3 := uint64(last[2]), uint64(last[1]), uint64(last[0])
	k := uint64(kind) << 32
	h[0] = mixed(k)
	h[1] = mixed(k | 1<<40 | b1)
	h[2] = mixed(k | 2<<40 | b1<<8 | b2)
	h[3] = mixed(k | 3<<40 | b2<<8 | b3)
	return h
}

// mixed returns a number all of whose bits depend on all of x: that of splitmix64.
func mixed(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// find returns the bucket of a context. If others have all its places, it takes that of the one
// that was seen least.
func (m *model) find(h uint64) *bucket {
	h = mixed(h)
	at, check := uint32(h>>(64-bucketBits)), adaptive.Bit(h)|1
	least := at
	for i := range uint32(probes) {
		k := (at + i) & (1<<bucketBits - 1)
		b := &m.buckets[k]
		if b[0] == check || b[0] == 0 {
			b[0] = check
			m.touch(k)
			return b
		}
		if b[1].Seen() < m.buckets[least][1].Seen() {
			least = k
		}
	}
	m.touch(least)
	b := &m.buckets[least]
	*b = bucket{check}
	return b
}

// touch notes that a bucket may change.
func (m *model) touch(i uint32) {
	if word, bit := &m.marked[i/64%uint32(len(m.marked))], uint64(1)<<(i%64); *word&bit == 0 {
		*word |= bit
		m.touched = append(m.touched, i)
	}
}

// bit codes bit i of a byte, of which node has those before, after a one.
func (m *model) bit(c *adaptive.Coder, kind uint32, found *[contexts]*bucket, node, i, expected int,
	bit uint32) uint32 {
	var (
		said  adaptive.Bit // what the match says
		list  [contexts + 1]*adaptive.Bit
		in    = node
		state = 0
		want  uint32
	)
	if i < 4 {
		in = node&(1<<(3-i)-1) | 1<<(3-i)
	}
	for k := range found {
		list[k] = &found[k][in]
	}
	list[contexts] = &said
	going := &m.lengths[min(m.length, maxLength)]
	if expected>>(i+1) == node {
		want = uint32(expected>>i) & 1
		said = *going
		if want == 0 {
			said = said.Opposite()
		}
		state = 1
		if m.length >= 8 {
			state = 2
		}
	}
	bit = c.MixMany(bit, list[:], &m.weights[state][kind], adaptive.GainOfMany)
	if state > 0 {
		*going = going.Learned(1 ^ bit ^ want)
	}
	return bit
}

// next takes a byte as the next one.
func (m *model) next(b byte) {
	if m.length > 0 && m.history[m.match] == b {
		m.length++
		m.match++
	} else {
		m.length = 0
	}
	m.history = append(m.history, b)
	n := len(m.history)
	if n < leastMatch || n >= maxHistory {
		return
	}
	var key uint64
	for _, b := range m.history[n-leastMatch:] {
		key = key<<8 | uint64(b)
	}
	at := &m.at[mixed(key)>>(64-matchBits)]
	if m.length == 0 && *at > 0 {
		m.match = int(*at)
		for m.length < 2*maxLength && m.length < m.match && m.history[m.match-1-m.length] == m.history[n-1-m.length] {
			m.length++
		}
	}
	*at = uint16(n)
}
