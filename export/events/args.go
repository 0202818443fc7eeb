package events

import (
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
)

// An Arg is an argument of a call.
type Arg struct {
	Name   string   // as Readable has it; that of no other argument of the call
	Kind   cst.Kind // KindInt, KindFloat or KindString
	Number int64
	Float  float64 // finite
	Text   string  // not empty
}

// maxText is the longest text of an argument, in bytes.
const maxText = 1000

// Name returns the name of the function that a terminal calls.
func (r *Rank) Name(terminal uint32) string { return Readable(r.Call(terminal).Function.Name) }

// Text returns the call that a terminal stands for as [reprise.Printer] writes it, cut
// off if it is long.
func (r *Rank) Text(terminal uint32) string {
	return Readable(cut(string(r.trace.printer.AppendCall(nil, r.Call(terminal)))))
}

// Args returns the arguments of the calls that a terminal stands for, without the
// number of the thread: integers, ranks and tags without a name, and floats, as numbers,
// all else as [reprise.Printer] writes it, cut off if it is long. None is called position,
// as exports call what they add.
func (r *Rank) Args(terminal uint32) []Arg {
	c := r.Call(terminal)
	var args []Arg
	for i, name := range r.trace.argumentNames(c.Function) {
		if name != "" {
			args = append(args, r.arg(c, i, name))
		}
	}
	return args
}

func (r *Rank) arg(c reprise.Call, i int, name string) Arg {
	a := Arg{Name: name, Kind: cst.KindString}
	v := c.Args[i]
	if v.Kind() == cst.KindString {
		a.Text = Readable(cut(v.Text()))
		return a
	}
	if v.Kind() == cst.KindArray && v.Len() > maxText {
		c.Args = append([]cst.Value(nil), c.Args...)
		elems := make([]cst.Value, maxText)
		for k := range elems {
			elems[k] = v.Index(k)
		}
		c.Args[i] = cst.Array(elems...)
	}
	text := string(r.trace.printer.AppendArgument(nil, c, i))
	switch v.Kind() {
	case cst.KindInt, cst.KindRank, cst.KindTag:
		if text == strconv.FormatInt(v.Int(), 10) {
			a.Kind, a.Number = cst.KindInt, v.Int()
			return a
		}
	case cst.KindFloat:
		if x := v.Float(); !math.IsNaN(x) && !math.IsInf(x, 0) {
			a.Kind, a.Float = cst.KindFloat, x
			return a
		}
	}
	a.Text = Readable(cut(text))
	return a
}

// argumentNames returns what the arguments of a function are called: nothing for the number
// of the thread.
func (t *Trace) argumentNames(f *cst.Function) []string {
	list, ok := t.names[f]
	if ok {
		return list
	}
	list, taken := make([]string, len(f.Params)), naming{"position": 1}
	for i, p := range f.Params {
		if i > 0 || p.Name != reprise.ThreadParam || p.Type.Kind != cst.KindInt {
			list[i] = taken.take(Readable(p.Name))
		}
	}
	t.names[f] = list
	return list
}

// A naming has the names that are taken, with how many were made of each.
type naming map[string]int

// take returns a name or, if it is taken, that name with _, _2, _3 and so on.
func (n naming) take(name string) string {
	free := name
	for n[free] > 0 {
		free = name + "_"
		if k := n[name]; k > 1 {
			free += strconv.Itoa(k)
		}
		n[name]++
	}
	n[free] = 1
	return free
}

// cut cuts a text off that is long.
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for n > maxText-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// Readable returns s if it is printable text, else s quoted as in Go; for an empty
// string, "" in quotes.
func Readable(s string) string {
	if s == "" || !utf8.ValidString(s) {
		return strconv.Quote(s)
	}
	for _, c := range s {
		if !unicode.IsPrint(c) {
			return strconv.Quote(s)
		}
	}
	return s
}
