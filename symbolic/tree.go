package symbolic

// fanout is how many entries a node of a tree holds at most, and least how many it
// holds at least.
const (
	fanout = 64
	least  = fanout / 4
)

// A segment is what a tree holds for a start address.
type segment struct {
	size   uint64
	id     int32 // symbolic; −1 while there is none
	device int32
}

// A tree is a B+ tree of segments by start address. The zero tree is empty.
//
// Invariant: every node holds at least least entries, but for the root, which has
// at least two kids or none, and the last leaf, which is not empty if it is not
// the root.
type tree struct {
	root  *node
	spare [2]*node // to use again, linked by next: leaves, nodes with kids
	n     int
}

// A node is a leaf or has kids. The keys of a leaf are start addresses in
// ascending order. keys[i] of another node, for i > 0, is at most the least in
// kids[i], and more than the greatest in kids[i−1]. keys[0] is the key that its
// parent has for it, and without meaning where that has none.
type node struct {
	n          int
	keys       [fanout]uint64
	kids       *[fanout]*node   // nil for a leaf
	segments   *[fanout]segment // nil for a node with kids
	next, prev *node            // neighbours of a leaf
}

// upper returns the number of keys from lo on that are at most key.
func (x *node) upper(lo int, key uint64) int {
	hi := x.n
	for lo < hi {
		if mid := (lo + hi) >> 1; x.keys[mid] <= key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// seek returns the leaf where key belongs and the index of the first key in it
// that is greater. The leaf is nil if there is none yet.
func (t *tree) seek(key uint64) (*node, int) {
	x := t.root
	if x == nil {
		return nil, 0
	}
	for x.kids != nil {
		x = x.kids[x.upper(1, key)-1]
	}
	return x, x.upper(0, key)
}

// before returns the place before that of index i in x; the leaf is nil if there
// is none.
func (x *node) before(i int) (*node, int) {
	if i == 0 {
		if x = x.prev; x == nil {
			return nil, 0
		}
		i = x.n
	}
	return x, i - 1
}

// floor returns the place of the greatest start address that is at most key: a
// leaf and an index in it. The leaf is nil if there is none.
func (t *tree) floor(key uint64) (*node, int) {
	x, i := t.seek(key)
	if x == nil || x.n == 0 {
		return nil, 0
	}
	return x.before(i)
}

// ceiling returns the place of the least start address that is at least key.
func (t *tree) ceiling(key uint64) (*node, int) {
	x, i := t.seek(key)
	if x == nil || x.n == 0 {
		return nil, 0
	}
	if y, j := x.before(i); y != nil && y.keys[j] == key {
		return y, j
	}
	if i == x.n {
		return x.next, 0
	}
	return x, i
}

// path is the way from the root to a leaf: nodes, and the index of the next in
// each. A tree of 2⁶⁴ segments is not higher.
type path struct {
	nodes [16]*node
	index [16]int
	depth int
}

// descend goes to the leaf where key belongs.
func (t *tree) descend(key uint64, p *path) *node {
	x := t.root
	for p.depth = 0; x.kids != nil; p.depth++ {
		i := x.upper(1, key) - 1
		p.nodes[p.depth], p.index[p.depth] = x, i
		x = x.kids[i]
	}
	return x
}

// insert adds a segment whose start is not in t.
func (t *tree) insert(start uint64, s segment) {
	if t.root == nil {
		t.root = t.leaf()
	}
	var p path
	x := t.descend(start, &p)
	i := x.upper(0, start)
	if x.n == fanout {
		y := t.leaf()
		from := fanout / 2
		if i == fanout && x.next == nil {
			from = fanout // in ascending order, leave full leaves behind
		}
		x.split(y, from)
		y.next, y.prev = x.next, x
		if y.next != nil {
			y.next.prev = y
		}
		x.next = y
		if i >= from {
			x, i = y, i-from
		}
		defer t.grow(&p, y)
	}
	t.add(x, i, start, s)
}

// add adds a segment to a leaf that has place for it, at an index where it belongs.
func (t *tree) add(x *node, i int, start uint64, s segment) {
	x.move(i+1, x, i, x.n-i)
	x.keys[i], x.segments[i] = start, s
	x.n++
	t.n++
}

// move copies n entries of y from an index on to x. It changes no node's n.
func (x *node) move(to int, y *node, from, n int) {
	copy(x.keys[to:], y.keys[from:from+n])
	if x.kids != nil {
		copy(x.kids[to:], y.kids[from:from+n])
	} else {
		copy(x.segments[to:], y.segments[from:from+n])
	}
}

// split moves the entries of x, which is full, from an index on to y.
func (x *node) split(y *node, from int) {
	y.move(0, x, from, fanout-from)
	x.n, y.n = from, fanout-from
}

// grow adds y, a new right neighbour of the node at the end of p.
func (t *tree) grow(p *path, y *node) {
	for depth := p.depth - 1; depth >= 0; depth-- {
		x, i := p.nodes[depth], p.index[depth]+1
		if x.n < fanout {
			x.place(i, y)
			return
		}
		z := t.inner()
		x.split(z, fanout/2)
		if i > fanout/2 {
			z.place(i-fanout/2, y)
		} else {
			x.place(i, y)
		}
		y = z
	}
	root := t.inner()
	root.n, root.kids[0], root.kids[1] = 2, t.root, y
	root.keys[1] = y.keys[0]
	t.root = root
}

// place makes y the kid of x with index i.
func (x *node) place(i int, y *node) {
	x.move(i+1, x, i, x.n-i)
	x.keys[i], x.kids[i] = y.keys[0], y
	x.n++
}

// remove removes the segment at a place.
func (t *tree) remove(x *node, i int) {
	start := x.keys[i]
	x.move(i, x, i+1, x.n-i-1)
	x.n--
	t.n--
	if x.n >= least || x == t.root {
		return
	}
	var p path
	t.descend(start, &p)
	for depth := p.depth - 1; depth >= 0 && x.n < least; depth-- {
		parent, i := p.nodes[depth], p.index[depth]
		if i+1 == parent.n || i > 0 && parent.kids[i-1].n < parent.kids[i+1].n {
			i--
		}
		if !t.merge(parent, i) {
			return
		}
		x = parent
	}
	for old := t.root; old.kids != nil && old.n == 1; old = t.root {
		t.root = old.kids[0]
		t.drop(old)
	}
}

// merge moves what is in kid i+1 of x to kid i, and reports whether that has place
// for it. If not, it leaves half of what is in both in each.
func (t *tree) merge(x *node, i int) bool {
	l, r := x.kids[i], x.kids[i+1]
	if l.n+r.n > fanout {
		half := (l.n + r.n) / 2
		if n := half - l.n; n > 0 {
			l.move(l.n, r, 0, n)
			r.move(0, r, n, r.n-n)
		} else {
			r.move(-n, r, 0, r.n)
			r.move(0, l, half, -n)
		}
		l.n, r.n = half, l.n+r.n-half
		x.keys[i+1] = r.keys[0]
		return false
	}
	l.move(l.n, r, 0, r.n)
	l.n += r.n
	if l.kids == nil {
		if l.next = r.next; l.next != nil {
			l.next.prev = l
		}
	}
	t.drop(r)
	x.move(i+1, x, i+2, x.n-i-2)
	x.n--
	return true
}

// drop keeps a node that is not in t any more to be used again.
func (t *tree) drop(x *node) {
	i := 0
	if x.kids != nil {
		i = 1
	}
	x.n, x.prev, x.next = 0, nil, t.spare[i]
	t.spare[i] = x
}

// leaf returns an empty leaf.
func (t *tree) leaf() *node {
	if x := t.spare[0]; x != nil {
		t.spare[0], x.next = x.next, nil
		return x
	}
	return &node{segments: new([fanout]segment)}
}

// inner returns a node that will have kids.
func (t *tree) inner() *node {
	if x := t.spare[1]; x != nil {
		t.spare[1], x.next = x.next, nil
		return x
	}
	return &node{kids: new([fanout]*node)}
}
