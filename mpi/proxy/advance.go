package proxy

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
)

// How numbers are written that advance from call to call: as sums of multiples of the indices of loops.

// A loop is one of those of the program that a call stands in.
type loop struct {
	variable string
	count    uint64
}

// A digit of the number n of a call is n / stride % count, as that of a clock is. Each stride is a multiple of
// the one before it; the last digit has no count.
type digit struct {
	stride, count int
	text          string // in C
}

// digitsOf returns digits of some strides, without texts.
func digitsOf(strides []int) []digit {
	list := make([]digit, len(strides))
	for q, s := range strides {
		if list[q].stride = s; q+1 < len(strides) {
			list[q].count = strides[q+1] / s
		}
	}
	return list
}

// maxDigits is the most digits that a number is a sum of multiples of.
const maxDigits = 4

// advance returns an expression in C for numbers that vary from call to call, or nothing if they do not
// advance by the same loops on all ranks, or have names.
func (g *generator) advance(v *values, key, what string, number func(cst.Value) int64,
	name func(int64) string) (string, error) {
	lists := make([][]int64, len(v.of))
	for k, of := range v.of {
		switch {
		case len(of) != len(v.of[0]):
			return "", nil
		case v.twin(k):
			lists[k] = lists[0]
			continue
		}
		for _, x := range of {
			n := number(x)
			lists[k] = append(lists[k], n)
		}
	}
	length := len(lists[0])
	var try [][]int
	code := g.strides(length)
	if code != nil {
		try = append(try, code)
	}
	counter := code == nil
	if inner, ok := nest(together(lists)); ok {
		both := union(code, inner)
		if both == nil {
			both, counter = inner, true
		}
		try = append(try, both)
	}
	for i, strides := range try {
		digits := digitsOf(strides)
		if len(strides) > maxDigits+len(code) || !fit(lists, digits) || anyNamed(lists, name) {
			continue
		}
		if counter && i == len(try)-1 {
			return g.sum(v, what, lists, digits, func() { countedBy(g.tables.cursor(key), digits) })
		}
		return g.sum(v, what, lists, digits, func() { indexed(g.loops, code, digits) })
	}
	return "", nil
}

// strides returns those of the digits that the indices of the loops are, the innermost first, nothing if the
// call is not made once in each iteration, and nowhere else.
func (g *generator) strides(length int) []int {
	all := uint64(1)
	list := []int{}
	for _, l := range slices.Backward(g.loops) {
		list = append(list, int(all))
		if all = wire.MulSat(all, l.count); all > uint64(length) {
			return nil
		}
	}
	if all != uint64(length) || len(list) == 0 {
		return nil
	}
	return list
}

// together returns a combination of the lists of all ranks, in which one step is another where it is one for
// some rank.
func together(lists [][]int64) []int64 {
	all := slices.Clone(lists[0])
	factor := int64(1)
	for _, list := range lists[1:] {
		factor *= 0x2545f4914f6cdd1d // large and odd
		for n, x := range list {
			all[n] += factor * x
		}
	}
	return all
}

// nest returns the strides of loops by which values advance, the innermost first: of the first iteration of
// each, those inside it have a constant step. The last iterations may be missing.
func nest(values []int64) (strides []int, ok bool) {
	for stride := 1; len(values) > 1; {
		if len(strides) == maxDigits {
			return nil, false
		}
		n := 2
		for n < len(values) && values[n]-values[n-1] == values[1]-values[0] {
			n++
		}
		strides = append(strides, stride)
		stride *= n
		var outer []int64
		for i := 0; i < len(values); i += n {
			outer = append(outer, values[i])
		}
		values = outer
	}
	return strides, true
}

// union returns the strides of both, or nil if some is no multiple of the one before it.
func union(code, inner []int) []int {
	if code == nil {
		return nil
	}
	both := append(slices.Clone(code), inner...)
	slices.Sort(both)
	both = slices.Compact(both)
	for q := 1; q < len(both); q++ {
		if both[q]%both[q-1] != 0 {
			return nil
		}
	}
	return both
}

// fit reports whether each list is its first number and a multiple of each digit, and says more than the
// numbers of which the multiples are taken.
func fit(lists [][]int64, digits []digit) bool {
	terms := 0
	for q := range digits {
		if slices.ContainsFunc(lists, func(list []int64) bool { return step(list, digits[q]) != 0 }) {
			terms++
		}
	}
	if terms > 0 && len(lists[0]) <= terms+1 {
		return false
	}
	for k, list := range lists {
		if k > 0 && &list[0] == &lists[0][0] {
			continue
		}
		for n, x := range list {
			sum := list[0]
			for _, d := range digits {
				i := n / d.stride
				if d.count > 0 {
					i %= d.count
				}
				sum += step(list, d) * int64(i)
			}
			if sum != x {
				return false
			}
		}
	}
	return true
}

// step returns what a digit adds.
func step(list []int64, d digit) int64 {
	if d.stride >= len(list) {
		return 0
	}
	return list[d.stride] - list[0]
}

// anyNamed reports whether some number is written by name.
func anyNamed(lists [][]int64, name func(int64) string) bool {
	for _, list := range lists {
		for i, n := range list {
			if (i == 0 || n != list[i-1]) && name(n) != strconv.FormatInt(n, 10) {
				return true
			}
		}
	}
	return false
}

// countedBy makes the texts of digits of a variable that counts calls.
func countedBy(cursor string, digits []digit) {
	for q := range digits {
		digits[q].text = part(cursor, digits[q].stride, digits[q].count)
	}
}

// indexed makes the texts of digits of the indices of loops, whose strides are among those of the digits.
func indexed(loops []loop, strides []int, digits []digit) {
	for q := range digits {
		d := &digits[q]
		at := len(strides) - 1
		for strides[at] > d.stride {
			at--
		}
		count := d.count
		if at+1 < len(strides) && d.stride*d.count == strides[at+1] {
			count = 0
		}
		d.text = part(loops[len(loops)-1-at].variable, d.stride/strides[at], count)
	}
}

// part returns n / stride % count in C, of a variable n; a count of 0 stands for any.
func part(n string, stride, count int) string {
	if stride > 1 {
		n += " / " + strconv.Itoa(stride)
	}
	if count > 0 {
		n += " % " + strconv.Itoa(count)
	}
	return n
}

// sum returns the sum of the first numbers of lists and multiples of digits in C, or nothing if it overflows
// or needs tables that are not smaller than that of all numbers. The digits have texts after write.
func (g *generator) sum(v *values, what string, lists [][]int64, digits []digit, write func()) (string, error) {
	first := g.byRank(v, what, lists, func(list []int64) int64 { return list[0] })
	steps, bound, tables := make([]byRank, len(digits)), first.bound, 0
	if first.isTable() {
		tables++
	}
	for q, d := range digits {
		steps[q] = g.byRank(v, what+"_step", lists, func(list []int64) int64 { return step(list, d) })
		count := d.count
		if count == 0 {
			count = len(lists[0])
		}
		bound = wire.AddSat(bound, wire.MulSat(steps[q].bound, uint64(count)))
		if steps[q].isTable() {
			tables++
		}
	}
	if span := v.ranks[len(v.ranks)-1] - v.ranks[0] + 1; bound > 1<<62 ||
		tables > 0 && tables*span >= len(lists)*len(lists[0]) {
		return "", nil
	}
	write()
	wide := bound > math.MaxInt32
	text := ""
	if !first.none() {
		var err error
		if text, err = first.inC(g, wide, false); err != nil {
			return "", err
		}
	}
	for q, d := range slices.Backward(digits) {
		if steps[q].none() {
			continue
		}
		factor, err := steps[q].inC(g, wide, true)
		if err != nil {
			return "", err
		}
		text = plusProduct(text, factor, d.text)
	}
	return cmp.Or(text, "0"), nil
}

// plusProduct returns a sum of a text in C, which may be empty, and a product.
func plusProduct(text, factor, of string) string {
	sign := " + "
	if text == "" {
		sign = ""
	}
	if rest, ok := strings.CutPrefix(factor, "-"); ok {
		sign, factor = " - ", rest
		if text == "" {
			sign = "-"
		}
	}
	if factor == "1" {
		return text + sign + of
	}
	if strings.Contains(of, " ") {
		of = "(" + of + ")"
	}
	return text + sign + factor + " * " + of
}

// ByRank is a number of each of the ranks of a call: a + b * rank, or what a table has.
type byRank struct {
	a, b  int64
	table []int64 // from the first rank on
	low   int     // the first rank
	what  string  // how the name of the table begins
	bound uint64  // on the magnitude of the number, and of parts of its sum
}

// byRank returns a number of each list.
func (g *generator) byRank(v *values, what string, lists [][]int64, of func([]int64) int64) byRank {
	r := byRank{a: of(lists[0]), low: v.ranks[0], what: what}
	if len(lists) > 1 {
		r.b = (of(lists[1]) - r.a) / int64(v.ranks[1]-r.low)
		r.a -= r.b * int64(r.low)
	}
	for k, list := range lists {
		if of(list) != r.a+r.b*int64(v.ranks[k]) {
			r.a, r.b = 0, 0
			r.table = make([]int64, v.ranks[len(v.ranks)-1]-r.low+1)
			break
		}
	}
	if r.table == nil {
		r.bound = wire.AddSat(magnitude(r.a), wire.MulSat(magnitude(r.b), uint64(g.size)))
		return r
	}
	for k, list := range lists {
		n := of(list)
		r.table[v.ranks[k]-r.low] = n
		r.bound = max(r.bound, magnitude(n))
	}
	return r
}

func (r *byRank) isTable() bool { return r.table != nil }

// none reports whether the number is 0 for all ranks.
func (r *byRank) none() bool { return r.table == nil && r.a == 0 && r.b == 0 }

// inC returns the number in C, in parentheses if it is a sum and a factor. Wide ones are long long.
func (r *byRank) inC(g *generator, wide, factor bool) (string, error) {
	typ, suffix := "int", ""
	if wide {
		typ, suffix = "long long", "LL"
	}
	if r.table != nil {
		var cells []string
		for _, n := range r.table {
			cells = append(cells, strconv.FormatInt(n, 10))
		}
		table, err := g.tables.add(r.what, typ, cells)
		return table + rowOf(r.low), err
	}
	text := ""
	if r.a != 0 || r.b == 0 {
		if text = strconv.FormatInt(r.a, 10); !factor || magnitude(r.a) != 1 {
			text += suffix
		}
	}
	if r.b == 0 {
		return text, nil
	}
	slope := strconv.FormatInt(r.b, 10)
	if magnitude(r.b) != 1 || wide {
		slope += suffix
	}
	if text = plusProduct(text, slope, "rank"); factor && (r.a != 0 || r.b < 0) {
		text = "(" + text + ")"
	}
	return text, nil
}
