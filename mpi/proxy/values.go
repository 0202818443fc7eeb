package proxy

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/trace"
)

// errLimit is the error of a trace whose program would be too long, and errApart that of one whose memory
// would be too large.
var (
	errLimit = errors.New("proxy: the program would be too long")
	errApart = errors.New("proxy: addresses in one memory are too far apart")
)

// MaxRanks is the most ranks that a program is for.
const MaxRanks = 1 << 14

// Limits of what is read and written.
const (
	maxReads  = 1 << 27 // values that are looked at once
	maxValues = 1 << 24 // that are kept
	maxTable  = 1 << 20 // numbers in all tables
	maxSource = 1 << 18 // calls and loops
)

// values are what an argument is: for each rank of a shape one value, or one for each call.
type values struct {
	ranks  []int
	of     [][]cst.Value
	expr   *trace.Value // the number, if there is one and it is an expression of the rank in the run
	varies bool         // from call to call

	measured bool // by a clock: numbers do not advance but by chance
}

// twin reports whether the k-th rank has the list of the first.
func (v *values) twin(k int) bool {
	n := len(v.of[k])
	return k > 0 && n > 0 && n == len(v.of[0]) && &v.of[k][0] == &v.of[0][0]
}

// same returns the value that all ranks have in all calls.
func (v *values) same() (cst.Value, bool) {
	first := v.of[0][0]
	for k, list := range v.of {
		if v.twin(k) {
			continue
		}
		for _, x := range list {
			if !x.Equal(first) {
				return cst.Value{}, false
			}
		}
	}
	return first, true
}

// alike reports whether all ranks have the same values.
func (v *values) alike() bool {
	for k, list := range v.of {
		if !v.twin(k) && !slices.EqualFunc(list, v.of[0], cst.Value.Equal) {
			return false
		}
	}
	return true
}

// each calls use with all values, those that several ranks have at least once.
func (v *values) each(use func(cst.Value)) {
	for k, list := range v.of {
		if v.twin(k) {
			continue
		}
		for _, x := range list {
			use(x)
		}
	}
}

// Tables are the arrays of numbers in the program.
type tables struct {
	text    strings.Builder
	names   map[string]string // by contents
	count   map[string]int    // of names that begin alike
	cursors map[string]string
	size    int
}

// apart reports whether tables have a file of their own.
func (t *tables) apart() bool { return strings.Count(t.text.String(), "\n") > 40 }

// add returns the name of a table of numbers, whose rows, and the rows of these, are so long.
func (t *tables) add(what, typ string, cells []string, rows ...int) (string, error) {
	if t.size += len(cells); t.size > maxTable {
		return "", fmt.Errorf("%w: tables of more than %d numbers", errLimit, maxTable)
	}
	bounds := "[]"
	length := 1
	for k := len(rows) - 1; k >= 0; k-- {
		bounds = fmt.Sprintf("[%d]", rows[k]) + bounds[2:]
		if length *= rows[k]; length > 0 {
			for i := 0; i < len(cells); i += length {
				cells[i] = "{" + cells[i]
				cells[i+length-1] += "}"
			}
		}
		bounds = "[]" + bounds
	}
	body := strings.Join(cells, ", ")
	if name := t.names[typ+body]; name != "" {
		return name, nil
	}
	if what == "rank" {
		what = "ranks" // rank_0 may be a function
	}
	name := fmt.Sprintf("%s_%d", identifier(what), t.count[what])
	t.count[what]++
	t.names[typ+body] = name
	fmt.Fprintf(&t.text, "static %s %s%s = {%s};\n", typ, name, bounds, wrap(cells))
	return name, nil
}

// cursor returns the name of the variable that counts the calls that tables have numbers for, of a call with
// that key.
func (t *tables) cursor(key string) string {
	cursor := t.cursors[key]
	if cursor == "" {
		cursor = fmt.Sprintf("next_%d", len(t.cursors))
		t.cursors[key] = cursor
		fmt.Fprintf(&t.text, "static int %s;\n", cursor)
	}
	return cursor
}

// wrap joins cells, in lines of some length.
func wrap(cells []string) string {
	var b strings.Builder
	line := 0
	for i, c := range cells {
		if i > 0 {
			b.WriteByte(',')
			if line += len(c) + 2; line > 90 {
				b.WriteString("\n    ")
				line = 0
			} else {
				b.WriteByte(' ')
			}
		}
		b.WriteString(c)
	}
	return b.String()
}

// rowOf returns how a table is indexed by rank.
func rowOf(first int) string {
	if first == 0 {
		return "[rank]"
	}
	return "[rank - " + strconv.Itoa(first) + "]"
}

// number returns an expression in C for a number of an argument. Key is that of the call, and
// what is the beginning of the names of tables.
func (g *generator) number(v *values, key, what string, number func(cst.Value) int64,
	name func(int64) string) (string, error) {
	first := number(v.of[0][0])
	same, alike := true, true
	wide := false
	for k, list := range v.of {
		if v.twin(k) {
			continue
		}
		alike = alike && len(list) == len(v.of[0])
		for i, x := range list {
			n := number(x)
			same = same && n == first
			alike = alike && number(v.of[0][i]) == n
			wide = wide || n > math.MaxInt32 || n < math.MinInt32
		}
	}
	switch {
	case same && wide: // a compiler warns of such a constant where MPI has an int
		table, err := g.tables.add(what, "long long", []string{name(first)})
		return table + "[0]", err
	case same:
		return name(first), nil
	}
	if v.expr != nil {
		if text := expressionInC(v.expr.Expr, int64(g.size), name); text != "" {
			return text, nil
		}
	}
	if v.varies && !v.measured {
		if text, err := g.advance(v, key, what, number, name); text != "" || err != nil {
			return text, err
		}
	}
	typ := "int"
	if wide {
		typ = "long long"
	}
	rows := v.of
	if v.varies && alike {
		rows = rows[:1]
	}
	var cells []string
	length := len(v.of[0])
	low, next := v.ranks[0], v.ranks[0]
	if len(rows) > 1 && (v.ranks[len(v.ranks)-1]-low+1)*length > maxTable {
		return "", fmt.Errorf("%w: a table of %d numbers", errLimit, (v.ranks[len(v.ranks)-1]-low+1)*length)
	}
	for k, list := range rows {
		for ; next < v.ranks[k]; next++ {
			cells = append(cells, slices.Repeat([]string{"0"}, length)...)
		}
		for _, x := range list {
			cells = append(cells, name(number(x)))
		}
		next++
	}
	if !v.varies {
		table, err := g.tables.add(what, typ, cells)
		return table + rowOf(low), err
	}
	cursor := "[" + g.tables.cursor(key) + "]"
	if alike {
		table, err := g.tables.add(what, typ, cells)
		return table + cursor, err
	}
	table, err := g.tables.add(what, typ, cells, length)
	return table + rowOf(low) + cursor, err
}

// row returns an expression in C for the first element of an array of numbers. Key is that of the call, and
// what is the beginning of the names of tables. Shorter arrays are filled up with zeros.
func (g *generator) row(v *values, key, what, typ string, number func(cst.Value) int64,
	name func(int64) string) (string, error) {
	rows := v.of
	if _, ok := v.same(); ok {
		rows = [][]cst.Value{{v.of[0][0]}}
	} else if v.alike() {
		rows = rows[:1]
	}
	length, calls := 0, 0
	for _, list := range rows {
		calls = max(calls, len(list))
		for _, x := range list {
			length = max(length, elements(x))
		}
	}
	first := v.ranks[0]
	span := len(rows)
	if len(rows) > 1 {
		span = v.ranks[len(v.ranks)-1] - first + 1
	}
	if length == 0 {
		length = 1 // no array is not the same as none of its elements
	}
	if calls > maxTable || length > maxTable || span*calls > maxTable || span*calls*length > maxTable {
		return "", fmt.Errorf("%w: a table of more than %d numbers", errLimit, maxTable)
	}
	cells := slices.Repeat([]string{"0"}, span*calls*length)
	wide := false
	for k, list := range rows {
		at := k
		if len(rows) > 1 {
			at = v.ranks[k] - first
		}
		for i, x := range list {
			next := (at*calls + i) * length
			eachNumber(x, func(x cst.Value) {
				n := number(x)
				cells[next] = name(n)
				wide = wide || n > math.MaxInt32 || n < math.MinInt32
				next++
			})
		}
	}
	if wide && typ == "int" {
		return "", refusal("has a number that is no int of C")
	}
	switch {
	case len(rows) == 1 && calls == 1:
		return g.tables.add(what, typ, cells)
	case calls == 1:
		table, err := g.tables.add(what, typ, cells, length)
		return table + rowOf(first), err
	}
	cursor := "[" + g.tables.cursor(key) + "]"
	if len(rows) == 1 {
		table, err := g.tables.add(what, typ, cells, length)
		return table + cursor, err
	}
	table, err := g.tables.add(what, typ, cells, calls, length)
	return table + rowOf(first) + cursor, err
}

// eachNumber calls use with the numbers of an array, and of arrays in it.
func eachNumber(x cst.Value, use func(cst.Value)) {
	if x.Kind() != cst.KindArray {
		use(x)
		return
	}
	for i := range x.Len() {
		eachNumber(x.Index(i), use)
	}
}

// elements returns how many numbers an array has.
func elements(x cst.Value) int {
	n := 0
	eachNumber(x, func(cst.Value) { n++ })
	return n
}
