package mixing

import (
	"math/bits"

	"github.com/reprise-trace/reprise/internal/adaptive"
)

const (
	keptMisses  = 8                               // of 16 numbers: with more of them a match is not kept
	likelyHit   = adaptive.Bit(57000) << 16       // from this on, what is expected soon after a miss is asked for first
	likelyUsual = adaptive.Even + adaptive.Even/2 // from this on, what is usual is asked for instead
	surelyUsual = 3                               // times: before that nothing is usual
	mostUsual   = 15                              // times that are counted
	keptStates  = 8                               // of how long ago the last miss was
	otherStates = 10                              // of what else is expected
)

// A keptMatch is a long match that is kept when a number is another one than it makes expect: where a
// sequence repeats but for some numbers, it goes on behind them. Besides, it knows what usually follows the
// last three numbers, which is right where it is the match that goes through such a number.
type keptMatch struct {
	keptPlace
	hits   [longMatch]adaptive.Bit     // how likely it is to be right, by run
	usual  []usual                     // by key
	better [mostUsual + 1]adaptive.Bit // how likely that is where they differ, by how usual it is
}

// A keptPlace is where a kept match is.
type keptPlace struct {
	next   int    // what it makes expect, a place in the list; −1 if there is none
	run    int    // how many numbers were as expected since one was not
	misses uint16 // of the last 16 numbers: a bit is set if it was not
	key    uint64 // hash of the last three numbers
}

// A usual number is one that followed three others most of the times.
type usual struct {
	check, number uint32
	times         uint32 // that it did, and others did not
}

func newKeptMatch(size int) *keptMatch {
	return &keptMatch{keptPlace: keptPlace{next: -1}, usual: make([]usual, 1<<size)}
}

// usually returns what is usual, if it followed often enough.
func (k *keptMatch) usually() (usual, bool) {
	u := k.usual[k.key&uint64(len(k.usual)-1)]
	return u, u.check == uint32(k.key>>32) && u.times >= surelyUsual
}

// add goes on by a number, as the matcher does.
func (k *keptMatch) add(m *matcher, n uint32) {
	if k.next >= 0 {
		k.learn(m.list[k.next], n)
	}
	if len(m.list) >= 3 {
		k.usual[k.key&uint64(len(k.usual)-1)].learn(uint32(k.key>>32), n)
	}
	m.add(n)
	k.key = hash(80, m.before(1), m.before(2), m.before(3))
	if m.next >= 0 && m.length >= longMatch && (k.next < 0 || m.length > k.run) {
		if m.next != k.next {
			k.next, k.run, k.misses = m.next, m.length, 0
		}
	}
}

// learn learns that a number followed where another one, or the same, was expected.
func (k *keptMatch) learn(expected, n uint32) {
	hit := bit(expected == n)
	if u, ok := k.usually(); ok && u.number != expected && (u.number == n || hit == 1) {
		b := &k.better[u.times]
		*b = b.Or(adaptive.Even).Learned(1 - hit)
	}
	b := &k.hits[min(k.run, longMatch-1)]
	*b = b.Or(adaptive.Even).Learned(hit)
	k.next, k.run, k.misses = k.next+1, k.run+1, k.misses<<1
	if hit == 0 {
		k.run, k.misses = 0, k.misses|1
	}
	if bits.OnesCount16(k.misses) > keptMisses {
		k.next = -1
	}
}

// learn learns that a number followed.
func (u *usual) learn(check, n uint32) {
	switch {
	case u.check == check && u.number == n:
		u.times = min(u.times+1, mostUsual)
	case u.check == check && u.times > 1:
		u.times /= 2
	default:
		*u = usual{check, n, 1}
	}
}

// A question is whether a number is what is asked.
type question struct {
	number uint32
	set    int    // of weights
	key    uint64 // of how likely that is
}

// question returns what to ask for first, if there is anything, where the matcher expects something.
func (k *keptMatch) question(m *matcher, expected uint32, ok bool) (q question, asks bool) {
	if k.next < 0 || k.run < longMatch && k.hits[k.run] < likelyHit {
		return q, false
	}
	q.number = m.list[k.next]
	other := 0
	if ok {
		other = 1 + int(bit(expected == q.number))
	}
	switch u, ok := k.usually(); {
	case ok && u.number == q.number:
		other += 7
	case ok && k.better[u.times] > likelyUsual:
		q.number = u.number
		other = 1 + int(min(u.times, 5))
	}
	state := k.run
	if state >= 3 {
		state = min(bits.Len(uint(k.run))+1, keptStates-1)
	}
	q.set = setKept + otherStates*state + other
	q.key = hash(4, uint64(min(k.run, 32+k.run/16, 60)), uint64(bits.OnesCount16(k.misses)), uint64(other))
	return q, true
}
