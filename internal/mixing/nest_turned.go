package mixing

import (
	"cmp"
	"slices"

	"github.com/reprise-trace/reprise/sequitur"
)

// A folder that turns loops writes all of them alike that have the same iterations: none is a loop of equal
// parts, and each begins with the least of the items that it could begin with. What irregular sequences
// repeat between other symbols is few loops then, wherever the others stand.

// whole returns a loop whose body is no loop itself, given one whose body may be.
func whole(x item) item {
	if n := period(x.body); n < len(x.body) {
		times := uint64(len(x.body) / n)
		x.body, x.length, x.count = x.body[:n:n], x.length/times, x.count*times
	}
	return x
}

// endsIteration makes the last items one more iteration of the loop before them, and reports whether they
// are.
func (f *folder) endsIteration() bool {
	if f.loop < 0 || f.loop >= len(f.list) {
		return false
	}
	loop := &f.list[f.loop]
	if n := len(loop.body); n == 0 || len(f.list)-f.loop-1 != n || !equalItems(f.list[f.loop+1:], loop.body) {
		return false
	}
	loop.count++
	f.list = f.list[:f.loop+1]
	return true
}

// period returns how many items at the beginning of a body are repeated all over it.
func period(body []item) int {
	border := make([]int, len(body)) // the longest beginning of the body, but for all, that ends at an item
	for i := 1; i < len(body); i++ {
		k := border[i-1]
		for k > 0 && !equalItems(body[i:i+1], body[k:k+1]) {
			k = border[k-1]
		}
		if equalItems(body[i:i+1], body[k:k+1]) {
			k++
		}
		border[i] = k
	}
	if n := len(body) - border[len(body)-1]; len(body)%n == 0 {
		return n
	}
	return len(body)
}

// leastTurn returns how many items of a body stand before the one with which it is the least of its turns:
// the one whose symbols were used first.
func (f *folder) leastTurn(body []item) int {
	n, i, j, k := len(body), 0, 1, 0
	for i < n && j < n && k < n {
		switch c := f.compare(&body[(i+k)%n], &body[(j+k)%n]); {
		case c == 0:
			k++
			continue
		case c > 0:
			i += k + 1
		default:
			j += k + 1
		}
		if i == j {
			j++
		}
		k = 0
	}
	return min(i, j)
}

// compare compares items by the first uses of their symbols, and then by their counts.
func (f *folder) compare(x, y *item) int {
	switch {
	case x.body == nil && y.body == nil:
		return cmp.Or(f.order[x.symbol]-f.order[y.symbol], cmp.Compare(x.count, y.count))
	case x.body == nil || y.body == nil:
		return cmp.Or(f.order[firstOf(x)]-f.order[firstOf(y)], len(x.body)-len(y.body))
	case &x.body[0] != &y.body[0]:
		if c := slices.CompareFunc(x.body, y.body, func(x, y item) int { return f.compare(&x, &y) }); c != 0 {
			return c
		}
	}
	return cmp.Compare(x.count, y.count)
}

// firstOf returns the first symbol of an item.
func firstOf(x *item) sequitur.Symbol {
	for x.body != nil {
		x = &x.body[0]
	}
	return x.symbol
}
