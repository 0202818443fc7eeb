package extrapolate

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/cst"
)

// Programs write one file for each rank, whose name has its number. Of texts that differ, the numbers are expressions,
// as other numbers are.

// A numbered is what is between the numbers of a string, and these.
type numbered struct {
	between []string // one more than numbers
	numbers []int64
	widths  []int // of numbers that begin with zeros, 0 of others
}

// maxDigits is how long a number in a text is at most: longer ones are a part of the text.
const maxDigits = 15

// numbersIn takes a string apart, and reports whether its numbers are none too long.
func numbersIn(s string) (t numbered, ok bool) {
	isDigit := func(r rune) bool { return r >= '0' && r <= '9' }
	for {
		begin := strings.IndexFunc(s, isDigit)
		if begin < 0 {
			t.between = append(t.between, s)
			return t, true
		}
		end := begin
		for end < len(s) && isDigit(rune(s[end])) {
			end++
		}
		n, err := strconv.ParseInt(s[begin:end], 10, 64)
		if err != nil || end-begin > maxDigits {
			return t, false
		}
		width := 0
		if s[begin] == '0' && end-begin > 1 {
			width = end - begin
		}
		t.between, t.numbers, t.widths = append(t.between, s[:begin]), append(t.numbers, n), append(t.widths, width)
		s = s[end:]
	}
}

// String returns the string.
func (t numbered) String() string {
	var s strings.Builder
	for i, n := range t.numbers {
		fmt.Fprintf(&s, "%s%0*d", t.between[i], t.widths[i], n)
	}
	return s.String() + t.between[len(t.between)-1]
}

// withoutNumbers returns a string whose numbers are left out.
func withoutNumbers(s string) string {
	t, ok := numbersIn(s)
	if !ok {
		return s
	}
	return strings.Join(t.between, "\x00")
}

// text fits strings that differ in numbers alone. It returns nil, nil if they differ otherwise.
func (f *programFitter) text(what string, at []*point, values []cst.Value, depth int, array bool) (*argument,
	*failure) {
	var all []numbered
	for _, v := range values {
		t, ok := numbersIn(v.Text())
		if !ok || len(all) > 0 && strings.Join(t.between, "\x00") != strings.Join(all[0].between, "\x00") {
			return nil, nil
		}
		all = append(all, t)
		for k, width := range t.widths {
			all[0].widths[k] = max(all[0].widths[k], width)
		}
	}
	for i, t := range all {
		if t.widths = all[0].widths; t.String() != values[i].Text() {
			return nil, nil
		}
	}
	a := &argument{kind: cst.KindString, text: all[0]}
	for k := range all[0].numbers {
		var numbers []int64
		for _, t := range all {
			numbers = append(numbers, t.numbers[k])
		}
		fitted, failed := f.form(fmt.Sprintf("number %d in %s", k+1, what), at, numbers, depth, array, roleLabel)
		if failed != nil {
			return nil, failed
		}
		a.numbers = append(a.numbers, fitted)
	}
	return a, nil
}
