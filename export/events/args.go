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
	Name   string   // as Readable has it; position_ if it is position, which exports add
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
// all else as [reprise.Printer] writes it, cut off if it is long.
func (r *Rank) Args(terminal uint32) []Arg {
	c := r.Call(terminal)
	var args []Arg
	for i, p := range c.Function.Params {
		if i == 0 && p.Name == "thread" && p.Type.Kind == cst.KindInt {
			continue
		}
		args = append(args, r.arg(c, i, p))
	}
	return args
}

func (r *Rank) arg(c reprise.Call, i int, p cst.Param) Arg {
	a := Arg{Name: Readable(p.Name), Kind: cst.KindString}
	if a.Name == "position" {
		a.Name = "position_"
	}
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
