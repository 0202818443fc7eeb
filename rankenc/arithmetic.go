package rankenc

import "fmt"

// floorDiv returns v/n rounded down, n > 0.
func floorDiv(v, n int64) int64 {
	q := v / n
	if v%n < 0 {
		q--
	}
	return q
}

// floorMod returns v − n·floorDiv(v, n), which is in 0 … n−1.
func floorMod(v, n int64) int64 {
	if v %= n; v < 0 {
		v += n
	}
	return v
}

// center returns the number congruent to v modulo n, n > 0, of smallest
// magnitude, and the positive one of two.
func center(v, n int64) int64 {
	if v = floorMod(v, n); v > n/2 {
		v -= n
	}
	return v
}

// plus returns name followed by c with its sign, or name alone if c is zero.
func plus(name string, c int64) string {
	if c == 0 {
		return name
	}
	return fmt.Sprintf("%s%+d", name, c)
}

// times returns the product of a and name as text.
func times(a int64, name string) string {
	if a == 1 {
		return name
	}
	return fmt.Sprintf("%d·%s", a, name)
}

// sum returns the sum of the products of factors and names, and c, as text.
func sum(factors []int64, names []string, c int64) string {
	var text string
	for i, a := range factors {
		switch {
		case a == 0:
		case text == "":
			text = times(a, names[i])
		case a < 0:
			text += " - " + times(-a, names[i])
		default:
			text += " + " + times(a, names[i])
		}
	}
	if text == "" {
		return fmt.Sprint(c)
	}
	return plus(text, c)
}

// rowsOf returns the number of rows of k processes, k > 0, that hold a group of
// size processes, at least 1.
func rowsOf(size, k int64) int64 {
	if size <= k {
		return 1
	}
	return (size-1)/k + 1
}

// splitRows returns how many rows and planes of m rows of k processes lie
// between rank and the row that is rest rows further.
func splitRows(rank, rest, k, m int64) (rows, planes int64) {
	from := floorDiv(rank, k)
	to := from + rest
	return floorMod(to, m) - floorMod(from, m), floorDiv(to, m) - floorDiv(from, m)
}
