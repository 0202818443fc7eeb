package rows

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
)

// MaxArguments is how many names of parameters have columns at most. What is beyond
// is in the column call.
const MaxArguments = 1000

// constantClass is the class of handles that stand for no argument, such as a null
// pointer.
const constantClass = "constant"

// places are where a function has the arguments of columns: the number of the
// parameter by column, −1 for none.
type places []int16

// An argument is the n-th parameter of some name in functions.
type argument struct {
	name string
	n    int
}

// argumentColumns returns the columns of arguments. Their names are not those of
// others.
func (t *Table) argumentColumns(others []*Column) []*Column {
	functions := t.trace.Functions()
	number := make(map[argument]int)
	var list []argument
	var types []Type // zero where there is nothing but constants
	t.places = make([]places, len(functions))
	for f := range functions {
		seen := make(map[string]int)
		for i := range functions[f].Params {
			p := &functions[f].Params[i]
			if i == 0 && p.Name == trace.ThreadParam && p.Type.Kind == cst.KindInt || i > math.MaxInt16 {
				continue
			}
			a := argument{p.Name, seen[p.Name]}
			seen[p.Name]++
			k, ok := number[a]
			if !ok {
				if len(list) == MaxArguments {
					continue
				}
				k = len(list)
				number[a] = k
				list, types = append(list, a), append(types, 0)
			}
			types[k] = types[k].with(&p.Type)
			t.places[f].set(k, i)
		}
	}
	names := newNames(others)
	columns := make([]*Column, len(list))
	for k, a := range list {
		typ := types[k]
		if typ == 0 {
			typ = Text
		}
		columns[k] = &Column{Name: names.take("arg_" + a.name), Type: typ, Optional: true,
			cell: func(c *code) Cell { return t.argument(c, k, typ) }}
	}
	return columns
}

// set says that parameter i is that of column k.
func (p *places) set(k, i int) {
	for len(*p) <= k {
		*p = append(*p, -1)
	}
	(*p)[k] = int16(i)
}

// with returns the type of a column of type t, or of one that is empty if t is 0, with
// arguments of a type as well.
func (t Type) with(of *cst.Type) Type {
	var own Type
	switch {
	case of.Kind == cst.KindHandle && of.Class == constantClass:
		return t
	case of.Kind == cst.KindInt, of.Kind == cst.KindRank, of.Kind == cst.KindTag:
		own = Int
	case of.Kind == cst.KindFloat:
		own = Float
	default:
		own = Text
	}
	if t != 0 && t != own {
		return Text
	}
	return own
}

// argument returns the argument of column k, of type typ.
func (t *Table) argument(c *code, k int, typ Type) Cell {
	fn := t.trace.FunctionOf(c.read.Signature(c.terminal))
	if k >= len(t.places[fn]) || t.places[fn][k] < 0 {
		return Cell{}
	}
	i := int(t.places[fn][k])
	call := c.call()
	v := call.Args[i]
	switch {
	case typ == Text:
		return textCell(t.argumentText(call, i))
	case v.Kind() == cst.KindHandle:
		return Cell{}
	case typ == Float:
		return floatCell(v.Float())
	}
	return intCell(v.Int())
}

// argumentText returns the i-th argument of a call as a cell of a column of text has
// it.
func (t *Table) argumentText(call trace.Call, i int) string {
	v, typ := call.Args[i], &call.Function.Params[i].Type
	switch {
	case v.Kind() == cst.KindString:
		return plain(v.Text())
	case i == layout.SiteOf(call.Function):
		return plain(t.sites.Of(&call))
	case v.Kind() == cst.KindRank:
		return strconv.FormatInt(v.Int(), 10)
	case isNumbers(typ):
		return string(appendList(nil, v))
	}
	return string(t.printer.AppendArgument(nil, call, i))
}

// isNumbers reports whether t is an array of numbers, or of such arrays.
func isNumbers(t *cst.Type) bool {
	if t.Kind != cst.KindArray {
		return false
	}
	for t.Kind == cst.KindArray {
		t = t.Elem
	}
	switch t.Kind {
	case cst.KindInt, cst.KindRank, cst.KindTag, cst.KindFloat:
		return true
	}
	return false
}

// appendList appends an array of numbers as a JSON list. What JSON does not have, such
// as NaN, is a string. Arrays nest no deeper than 32.
func appendList(dst []byte, v cst.Value) []byte {
	switch v.Kind() {
	case cst.KindArray:
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendList(dst, v.Index(i))
		}
		return append(dst, ']')
	case cst.KindFloat:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return strconv.AppendQuote(dst, v.String())
		}
	}
	dst, _ = v.AppendText(dst)
	return dst
}

// plain returns a string as it is or, if it is not made of characters that print, or
// could be taken for one that is quoted, quoted as in Go.
func plain(s string) string {
	if strings.HasPrefix(s, `"`) {
		return strconv.Quote(s)
	}
	for _, r := range s {
		if r == '\uFFFD' || !strconv.IsPrint(r) {
			return strconv.Quote(s)
		}
	}
	return s
}

// names are those of columns, in lower case.
type names map[string]bool

func newNames(columns []*Column) names {
	n := make(names)
	for _, c := range columns {
		n[strings.ToLower(c.Name)] = true
	}
	return n
}

// take returns a name of letters, digits and underscores that no column has yet.
func (n names) take(name string) string {
	name = strings.Map(func(r rune) rune {
		if r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
	if len(name) > maxName {
		name = name[:maxName]
	}
	taken := name
	for i := 2; n[strings.ToLower(taken)]; i++ {
		taken = fmt.Sprintf("%s_%d", name, i)
	}
	n[strings.ToLower(taken)] = true
	return taken
}

// maxName is how long the name of a column is, without the number that tells it from
// others.
const maxName = 200

// meaningColumns returns those of what a call means to other processes.
func meaningColumns() []*Column {
	var columns []*Column
	add := func(name string, typ Type, cell func(o *semantics.Operation) Cell) {
		columns = append(columns, &Column{Name: name, Type: typ, Optional: true, cell: func(c *code) Cell {
			if c.operation == nil {
				return Cell{}
			}
			return cell(c.operation)
		}})
	}
	add("class", Text, func(o *semantics.Operation) Cell { return textCell(o.Class.String()) })
	peer := func(m *semantics.Message) int64 { return int64(m.Peer) }
	for _, way := range []struct {
		peer, name string
		goes       func(semantics.Direction) bool
	}{{"send_to", "send", isSend}, {"recv_from", "recv", isReceive}} {
		add(way.peer, Int, func(o *semantics.Operation) Cell { return common(o, way.goes, peer) })
		add(way.name+"_tag", Int, func(o *semantics.Operation) Cell {
			return common(o, way.goes, func(m *semantics.Message) int64 { return m.Tag })
		})
		add(way.name+"_bytes", Int, func(o *semantics.Operation) Cell { return bytes(o, way.goes) })
	}
	add("target", Int, func(o *semantics.Operation) Cell {
		return common(o, func(d semantics.Direction) bool { return isPut(d) || isGet(d) }, peer)
	})
	add("put_bytes", Int, func(o *semantics.Operation) Cell { return bytes(o, isPut) })
	add("get_bytes", Int, func(o *semantics.Operation) Cell { return bytes(o, isGet) })
	for _, of := range []struct {
		class          spec.Class
		sent, received string
	}{{spec.Collective, "collective_sent_bytes", "collective_received_bytes"},
		{spec.Access, "file_written_bytes", "file_read_bytes"}} {
		add(of.sent, Int, func(o *semantics.Operation) Cell {
			if o.Class != of.class {
				return Cell{}
			}
			return known(o.Sent)
		})
		add(of.received, Int, func(o *semantics.Operation) Cell {
			if o.Class != of.class && (of.class != spec.Access || o.Class != spec.Completion || o.Received == 0) {
				return Cell{} // a completion that has read nothing is of something else
			}
			return known(o.Received)
		})
	}
	add("communicator", Text, func(o *semantics.Operation) Cell {
		if o.Communicator == nil {
			return Cell{}
		}
		return textCell(plain(o.Communicator.Name))
	})
	add("root", Int, func(o *semantics.Operation) Cell { return known(int64(o.Root)) })
	return columns
}

func isSend(d semantics.Direction) bool    { return d == semantics.Send }
func isReceive(d semantics.Direction) bool { return d == semantics.Receive }

func isPut(d semantics.Direction) bool {
	return d == semantics.Put || d == semantics.Accumulate || d == semantics.Fetch
}

func isGet(d semantics.Direction) bool { return d == semantics.Get || d == semantics.Fetch }

// known returns a number of which negative ones say that it is not known.
func known(n int64) Cell { return Cell{Valid: n >= 0, Int: max(n, 0)} }

// common returns what all messages that go some way have in common.
func common(o *semantics.Operation, goes func(semantics.Direction) bool, of func(*semantics.Message) int64) Cell {
	var cell Cell
	for i := range o.Messages {
		m := &o.Messages[i]
		switch {
		case !goes(m.Direction):
		case !cell.Valid:
			if cell = known(of(m)); !cell.Valid {
				return Cell{}
			}
		case cell.Int != of(m):
			return Cell{}
		}
	}
	return cell
}

// bytes returns how many bytes go some way.
func bytes(o *semantics.Operation, goes func(semantics.Direction) bool) Cell {
	var cell Cell
	for i := range o.Messages {
		m := &o.Messages[i]
		if !goes(m.Direction) {
			continue
		}
		if m.Bytes < 0 || cell.Int+m.Bytes < 0 {
			return Cell{}
		}
		cell = intCell(cell.Int + m.Bytes)
	}
	return cell
}
