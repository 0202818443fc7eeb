package mixing

// A matcher looks for what followed the last numbers of a list before.
type matcher struct {
	list   []uint32
	last   []uint32 // by hash: 1 + where something of that hash ended
	next   int      // what is expected, a place in the list; −1 if nothing is
	length int      // how many numbers are known to be equal before that
}

// matchLengths are the numbers of numbers that are looked up, in this order.
var matchLengths = [...]int{6, 4, 2, 1}

func newMatcher(size int) matcher { return matcher{last: make([]uint32, 1<<size), next: -1} }

// expected returns the number that is expected, and whether there is one.
func (m *matcher) expected() (uint32, bool) {
	if m.next < 0 {
		return 0, false
	}
	return m.list[m.next], true
}

// before returns the i-th last number, i ≥ 1, or one that does not occur.
func (m *matcher) before(i int) uint64 {
	if i > len(m.list) {
		return 1 << 40
	}
	return uint64(m.list[len(m.list)-i])
}

// add goes on by a number.
func (m *matcher) add(n uint32) {
	if e, ok := m.expected(); ok && e == n {
		m.next++
		m.length++
	} else {
		m.next, m.length = -1, 0
	}
	m.list = append(m.list, n)
	for _, k := range matchLengths {
		if k > len(m.list) {
			continue
		}
		at := &m.last[m.hash(k)&uint64(len(m.last)-1)]
		if m.next < 0 && *at > 0 && int(*at) < len(m.list) && m.equal(int(*at), k) {
			m.next, m.length = int(*at), k
		}
		*at = uint32(len(m.list))
	}
}

// hash returns a hash of the last k numbers.
func (m *matcher) hash(k int) uint64 {
	h := uint64(k)
	for _, n := range m.list[len(m.list)-k:] {
		h = hashNext(h, uint64(n))
	}
	return h >> 20
}

// equal reports whether the k numbers before a place are the last k.
func (m *matcher) equal(at, k int) bool {
	if at < k {
		return false
	}
	for i := 1; i <= k; i++ {
		if m.list[at-i] != m.list[len(m.list)-i] {
			return false
		}
	}
	return true
}
