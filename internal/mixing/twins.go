package mixing

import (
	"math/bits"

	"github.com/reprise-trace/reprise/internal/adaptive"
)

// Bounds of what is looked at for twins.
const (
	maxTwinClasses = 1 << 10
	twinWindow     = 32 // symbols in which twins stand, at most
)

// findTwins returns for each class the one of another group that stands before it where it
// stands, and nowhere else, as far as there is such a one: a send may have the receive from
// the same neighbour as its twin. What follows the twin tells what follows the class then.
func findTwins(lists [][]item, a *Alphabet) []uint32 {
	n := len(a.Group)
	if n > maxTwinClasses {
		return nil
	}
	t := twinCounter{alphabet: a, together: make([]uint32, n*n), alone: make([]uint32, n), seen: make([]int, n)}
	for _, list := range lists {
		t.window = t.window[:0]
		t.count(list)
	}
	twins := make([]uint32, n)
	any := false
	for x := range n {
		best := 0.0
		twins[x] = markNone
		for y := range n {
			if a.Group[x] == a.Group[y] {
				continue
			}
			both := float64(t.together[x*n+y])
			if both = both * both / float64(max(t.alone[x], 1)) / float64(max(t.alone[y], 1)); both > best {
				best, twins[x] = both, uint32(y)+firstClass
				any = true
			}
		}
	}
	if !any {
		return nil
	}
	return twins
}

// A twinCounter counts how often classes stand close to each other.
type twinCounter struct {
	alphabet *Alphabet
	together []uint32 // by class, and by that of something before it
	alone    []uint32
	window   []uint32 // the last classes in the body of a loop
	seen     []int    // by class: the last step at which it was met in the window
	step     int
}

func (t *twinCounter) count(list []item) {
	for _, x := range list {
		if x.body == nil {
			t.add(t.alphabet.Class[x.symbol])
			continue
		}
		t.window = t.window[:0]
		t.count(x.body)
	}
}

func (t *twinCounter) add(x uint32) {
	t.step++
	t.alone[x]++
	n := len(t.alone)
	t.seen[x] = t.step
	for _, y := range t.window {
		if t.seen[y] != t.step {
			t.seen[y] = t.step
			t.together[int(x)*n+int(y)]++
		}
	}
	if len(t.window) == twinWindow {
		t.window = append(t.window[:0], t.window[1:]...)
	}
	t.window = append(t.window, x)
}

// codeTwins codes the twins of all classes.
func (m *sequenceModel) codeTwins(twins []uint32) {
	m.long = false
	n := len(m.alphabet.Group)
	size := bits.Len(uint(n))
	var none, next [2]adaptive.Bit
	last, had := uint32(markNone), 0
	for x := range n {
		twin := uint32(markNone)
		if !m.Reading() {
			twin = twins[x]
		}
		if m.Adapt(&none[had], adaptive.Even, bit(twin == markNone)) == 1 {
			had = 0
			continue
		}
		had = 1
		if m.Adapt(&next[0], adaptive.Even, bit(twin == last+1)) == 1 {
			twin = last + 1
		} else {
			v := uint32(0)
			for i := size - 1; i >= 0; i-- {
				v = v<<1 | m.Even((twin-firstClass)>>i&1)
			}
			twin = v + firstClass
		}
		if twin = min(twin, uint32(n)+firstClass-1); twin < firstClass {
			twin = firstClass
		}
		last = twin
		m.twins[x+firstClass] = twin
	}
}

// bit returns 1 if b is true.
func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
