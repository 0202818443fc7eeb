package simgrid

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/cst"
)

// A form is a function and how its calls are written.
type form struct {
	function cst.Function
	fixed    int  // parameters that take one field each
	arrays   int  // parameters that take equal parts of the other fields
	text     bool // one parameter takes all of the other fields, blanks included
	blank    bool // a blank ends the line
	loose    bool // the last parameter is the text that is written, of which the others tell
	ended    bool // the last parameter is the text that is written after the fields

	// Invariant: arrays == 0 or !text.
}

// spelled is the parameter that a loose form has after those of another.
var spelled = field("text", cst.KindString)

// loosened returns the form of lines that f would write but for blanks and the spelling of
// numbers, and whether there is one.
func (f form) loosened() (form, bool) {
	if f.text || f.arrays > 0 && f.blank { // the blank tells it from others with arrays
		return f, false
	}
	f.loose = true
	f.function.Params = append(slices.Clip(f.function.Params), spelled)
	return f, true
}

// lineEnd is the parameter that a form has after the others of lines that end in CR LF, as Windows and its
// editors write them: the CR.
var lineEnd = field("end", cst.KindString)

const carriageReturn = "\r"

// ending returns the form of lines that f would write but for a CR before the line feed.
func (f form) ending() form {
	f.ended = true
	f.function.Params = append(slices.Clip(f.function.Params), lineEnd)
	return f
}

func makeForm(action string, fields []cst.Param) form {
	f := form{function: cst.Function{Name: action}}
	for _, p := range fields {
		switch p.Type.Kind {
		case 0:
			f.blank = true
			continue
		case cst.KindArray:
			f.arrays++
		case cst.KindString:
			f.text = true
		default:
			f.fixed++
		}
		f.function.Params = append(f.function.Params, p)
	}
	return f
}

// parse returns the arguments of the call that s writes: an action and its
// fields. It accepts s only if append writes it again, byte for byte.
func (f *form) parse(s string) (args []cst.Value, ok bool) {
	if f.ended {
		return f.parseEnded(s)
	}
	rest, ok := strings.CutPrefix(s, f.function.Name)
	if !ok || rest != "" && rest[0] != ' ' {
		return nil, false
	}
	if f.loose {
		return f.parseLoosely(rest)
	}
	if f.blank {
		if rest, ok = strings.CutSuffix(rest, " "); !ok {
			return nil, false
		}
	}
	if args, ok = f.values(rest, f.function.Params); !ok {
		return nil, false
	}
	var scratch [128]byte
	return args, string(f.append(scratch[:0], args)) == s
}

// parseEnded is parse for a form with an end.
func (f *form) parseEnded(s string) (args []cst.Value, ok bool) {
	line, ok := strings.CutSuffix(s, carriageReturn)
	if !ok {
		return nil, false
	}
	plain := *f
	plain.ended = false
	plain.function.Params = f.function.Params[:len(f.function.Params)-1]
	if args, ok = plain.parse(line); ok {
		args = append(args, cst.String(carriageReturn))
	}
	return args, ok
}

// parseLoosely is parse for a loose form, of what follows the action.
func (f *form) parseLoosely(rest string) (args []cst.Value, ok bool) {
	if rest == "" {
		return nil, false
	}
	var fields strings.Builder
	for field := range strings.SplitSeq(strings.TrimSuffix(rest, carriageReturn), " ") {
		if field != "" {
			fields.WriteString(" " + field)
		}
	}
	args, ok = f.values(fields.String(), f.function.Params[:len(f.function.Params)-1])
	return append(args, cst.String(rest[1:])), ok
}

// values returns the values of parameters that fields are, a blank before each.
func (f *form) values(rest string, params []cst.Param) (args []cst.Value, ok bool) {
	variable := strings.Count(rest, " ") - f.fixed
	if variable < 0 || f.arrays == 0 && !f.text && variable > 0 {
		return nil, false
	}
	args = make([]cst.Value, 0, len(f.function.Params))
	for _, p := range params {
		var v cst.Value
		switch p.Type.Kind {
		case cst.KindArray:
			v, rest, ok = cutArray(rest, variable/f.arrays, p.Type.Elem.Kind)
		case cst.KindString:
			v, rest, ok = cutText(rest, variable)
		default:
			v, rest, ok = cutValue(rest, p.Type.Kind)
		}
		if !ok {
			return nil, false
		}
		args = append(args, v)
	}
	return args, rest == ""
}

// cutField returns the first field of s, in which a blank precedes every field,
// and what follows it.
func cutField(s string) (field, rest string) {
	s = s[1:]
	if i := strings.IndexByte(s, ' '); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// cutValue returns the value of the first field of s and what follows it.
func cutValue(s string, k cst.Kind) (v cst.Value, rest string, ok bool) {
	field, rest := cutField(s)
	if k == cst.KindFloat {
		x, err := strconv.ParseFloat(field, 64)
		return cst.Float(x), rest, err == nil
	}
	n, err := strconv.ParseInt(field, 10, 64)
	switch k {
	case cst.KindRank:
		v = cst.Rank(n)
	case cst.KindTag:
		v = cst.Tag(n)
	case cst.KindHandle:
		v = cst.Handle(n)
	default:
		n, err = parseCount(field)
		v = cst.Int(n)
	}
	return v, rest, err == nil
}

// parseCount returns the integer that a field is, which may be spelled as a float.
func parseCount(field string) (int64, error) {
	n, err := strconv.ParseInt(field, 10, 64)
	if err == nil {
		return n, nil
	}
	const exact = 1 << 53
	if x, ferr := strconv.ParseFloat(field, 64); ferr == nil && x == math.Trunc(x) && math.Abs(x) <= exact {
		return int64(x), nil
	}
	return 0, err
}

// cutArray returns the first n fields of s as an array and what follows them.
func cutArray(s string, n int, k cst.Kind) (v cst.Value, rest string, ok bool) {
	elems := make([]cst.Value, n)
	for i := range elems {
		if elems[i], s, ok = cutValue(s, k); !ok {
			return v, s, false
		}
	}
	return cst.Array(elems...), s, true
}

// cutText returns the first n fields of s as one string and what follows them.
func cutText(s string, n int) (v cst.Value, rest string, ok bool) {
	if n == 0 {
		return v, s, false
	}
	rest = s
	for range n {
		_, rest = cutField(rest)
	}
	return cst.String(s[1 : len(s)-len(rest)]), rest, true
}

// append appends the action and the fields. The arguments have the declared
// types.
func (f *form) append(dst []byte, args []cst.Value) []byte {
	if f.ended {
		plain, last := *f, len(args)-1
		plain.ended = false
		return append(plain.append(dst, args[:last]), args[last].Text()...)
	}
	dst = append(dst, f.function.Name...)
	if f.loose {
		return append(append(dst, ' '), args[len(args)-1].Text()...)
	}
	for _, v := range args {
		if v.Kind() == cst.KindArray {
			for i := range v.Len() {
				dst = appendValue(append(dst, ' '), v.Index(i))
			}
			continue
		}
		dst = appendValue(append(dst, ' '), v)
	}
	if f.blank {
		dst = append(dst, ' ')
	}
	return dst
}

func appendValue(dst []byte, v cst.Value) []byte {
	switch v.Kind() {
	case cst.KindFloat:
		return appendFloat(dst, v.Float())
	case cst.KindString:
		return append(dst, v.Text()...)
	}
	return strconv.AppendInt(dst, v.Int(), 10)
}

// appendFloat appends x as C's %g does.
func appendFloat(dst []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(dst, "nan"...)
	case math.IsInf(x, 1):
		return append(dst, "inf"...)
	case math.IsInf(x, -1):
		return append(dst, "-inf"...)
	}
	return strconv.AppendFloat(dst, x, 'g', 6, 64)
}

// check reports why args are not arguments that f can write.
func (f *form) check(args []cst.Value) error {
	if len(args) != len(f.function.Params) {
		return fmt.Errorf("%d arguments for %d parameters", len(args), len(f.function.Params))
	}
	length := -1 // of the arrays
	for i, p := range f.function.Params {
		v := args[i]
		if v.Kind() != p.Type.Kind {
			return fmt.Errorf("%s is of kind %v, not %v", p.Name, v.Kind(), p.Type.Kind)
		}
		switch v.Kind() {
		case cst.KindArray:
			if length >= 0 && v.Len() != length {
				return fmt.Errorf("%s has %d elements, not %d", p.Name, v.Len(), length)
			}
			length = v.Len()
			for j := range length {
				if k := v.Index(j).Kind(); k != p.Type.Elem.Kind {
					return fmt.Errorf("element %d of %s is of kind %v, not %v", j, p.Name, k, p.Type.Elem.Kind)
				}
			}
		case cst.KindString:
			if i := badByte(v.Text()); i >= 0 {
				return fmt.Errorf("%s has byte %#02x at %d", p.Name, v.Text()[i], i)
			}
		}
	}
	return nil
}

// A row declares one form of one or more actions: their names, separated by
// commas, and the fields that follow them.
type row struct {
	actions string
	fields  []cst.Param
}

// The fields. A name that the field's meaning does not depend on is shared.
var (
	destination = field("destination", cst.KindRank) // in the world
	source      = field("source", cst.KindRank)      // in the world; −333 is any source, or none
	target      = field("target", cst.KindRank)      // in the group of the window
	root        = field("root", cst.KindRank)        // in the communicator of the call
	tag         = field("tag", cst.KindTag)          // −444 is any tag; negative if of a collective
	count       = field("count", cst.KindInt)        // in elements of the type
	sendCount   = field("send_count", cst.KindInt)
	recvCount   = field("receive_count", cst.KindInt)
	sendSum     = field("send_sum", cst.KindInt)
	recvSum     = field("receive_sum", cst.KindInt)
	byteCount   = field("bytes", cst.KindInt)
	requests    = field("requests", cst.KindInt)
	size        = field("size", cst.KindInt)
	number      = field("line", cst.KindInt)
	wholeFlops  = field("flops", cst.KindInt)
	flops       = field("flops", cst.KindFloat)
	seconds     = field("seconds", cst.KindFloat)
	volume      = field("bytes", cst.KindFloat)
	file        = field("file", cst.KindString)
	text        = field("text", cst.KindString)
	datatype    = cst.Param{Name: "type", Type: cst.HandleOf("datatype")}
	sendType    = cst.Param{Name: "send_type", Type: cst.HandleOf("datatype")}
	recvType    = cst.Param{Name: "receive_type", Type: cst.HandleOf("datatype")}
	sendCounts  = cst.Param{Name: "send_counts", Type: cst.ArrayOf(cst.Type{Kind: cst.KindInt})}
	recvCounts  = cst.Param{Name: "receive_counts", Type: cst.ArrayOf(cst.Type{Kind: cst.KindInt})}
	empty       = cst.Param{} // the empty receive type: no parameter, but a blank at the end of the line
)

func field(name string, kind cst.Kind) cst.Param {
	return cst.Param{Name: name, Type: cst.Type{Kind: kind}}
}

// table lists the forms of all actions. The order matters only between forms of
// one action: the first that writes a line as it stands is its form. A form has
// at most one string, or arrays of equal length.
var table = []row{
	{"init,finalize", nil},
	{"compute", []cst.Param{flops}},
	{"compute", []cst.Param{wholeFlops}}, // more than six digits, as written by hand
	{"sleep", []cst.Param{seconds}},
	{"location", []cst.Param{file, number}},
	{"comm_size", []cst.Param{size}},
	{"comm_split,comm_dup", nil},
	{"iteration_in,iteration_out", nil},
	{"migrate", []cst.Param{byteCount}},

	{"send,isend,bsend,ibsend,Ssend,ISsend", []cst.Param{destination, tag, count, datatype}},
	{"recv,irecv", []cst.Param{source, tag, count, datatype}},
	{"sendRecv", []cst.Param{sendCount, destination, recvCount, source, sendType, recvType}},
	{"Start", []cst.Param{destination, tag, byteCount, datatype}},
	{"Startall", nil},
	{"wait,test", []cst.Param{source, destination, tag}},
	{"waitall,waitAny", []cst.Param{requests}},
	{"testall,testany,testsome", nil},

	{"barrier,ibarrier", nil},
	{"bcast,ibcast", []cst.Param{count, root, datatype, empty}},
	{"reduce,ireduce", []cst.Param{count, flops, root, datatype, empty}},
	{"allreduce,iallreduce,scan,iscan,exscan,iexscan", []cst.Param{count, flops, datatype, empty}},
	{"gather,igather,scatter,iscatter", []cst.Param{sendCount, recvCount, root, sendType, recvType}},
	{"gather,igather,scatter,iscatter", []cst.Param{sendCount, root, sendType, recvType}},
	{"allgather,iallgather,alltoall,ialltoall", []cst.Param{sendCount, recvCount, sendType, recvType}},
	{"allgather,iallgather,alltoall,ialltoall", []cst.Param{sendCount, sendType, recvType}},
	{"gatherv,igatherv", []cst.Param{sendCount, recvCounts, root, sendType, recvType}},
	{"scatterv,iscatterv", []cst.Param{sendCounts, recvCount, root, sendType, recvType}},
	{"allgatherv,iallgatherv", []cst.Param{sendCount, recvCounts, sendType, recvType}},
	{"alltoallv,ialltoallv,alltoallw,ialltoallw",
		[]cst.Param{sendSum, sendCounts, recvSum, recvCounts, sendType, recvType}},
	{"reducescatter,ireducescatter", []cst.Param{recvCounts, datatype, empty}}, // of equal blocks
	{"reducescatter,ireducescatter", []cst.Param{recvCounts, wholeFlops, datatype}},

	{"Put,Get,Accumulate,Get_accumulate,Compare_and_swap", []cst.Param{target, tag, count, datatype}},
	{"Rput,Rget,Raccumulate,Rget_accumulate", []cst.Param{target, tag, count, datatype}},
	{"Win_fence,Win_post,Win_start,Win_complete,Win_wait,Win_lock,Win_unlock,Win_lock_all,Win_unlock_all", nil},
	{"Win_flush,Win_flush_local,Win_flush_all,Win_flush_local_all", nil},

	{"IO - read,IO - read_shared,IO - read_all,IO - read_ordered,IO - read_at_all", []cst.Param{volume}},
	{"IO - write,IO - write_shared,IO - write_all,IO - write_ordered,IO - write_at_all", []cst.Param{volume}},
}

// Indexes of the functions that keep lines as they are.
const (
	opaque = iota // the text after the rank
	whole         // a line that has no rank
	actions
)

// forms are the functions in the order of their indexes: the two that keep lines,
// then those of table, then the loose ones of these, then those of table with an end.
var forms = makeForms()

func makeForms() []form {
	keep := []cst.Param{text}
	list := []form{
		opaque: {function: cst.Function{Name: "opaque", Params: keep}},
		whole:  {function: cst.Function{Name: "line", Params: keep}},
	}
	for _, r := range table {
		for action := range strings.SplitSeq(r.actions, ",") {
			list = append(list, makeForm(action, r.fields))
		}
	}
	written := list[actions:]
	for _, f := range written {
		if f, ok := f.loosened(); ok {
			list = append(list, f)
		}
	}
	for _, f := range written {
		list = append(list, f.ending())
	}
	return list
}

// byWord lists, for the first word of an action, the indexes of its forms: the loose ones last, as they take
// more lines.
var byWord = func() map[string][]int {
	m := make(map[string][]int)
	for _, loose := range []bool{false, true} {
		for i := actions; i < len(forms); i++ {
			if w := firstWord(forms[i].function.Name); forms[i].loose == loose {
				m[w] = append(m[w], i)
			}
		}
	}
	return m
}()

func firstWord(s string) string {
	w, _, _ := strings.Cut(s, " ")
	return strings.TrimSuffix(w, carriageReturn)
}

// Functions returns the functions that calls refer to, in the order of their
// indexes. The caller owns the slice, but must not change what it refers to.
func Functions() []cst.Function {
	list := make([]cst.Function, len(forms))
	for i := range forms {
		list[i] = forms[i].function
	}
	return list
}

// Lookup returns the index of the function equal to f, in name and parameters.
func Lookup(f cst.Function) (index int, ok bool) {
	index = slices.IndexFunc(forms, func(g form) bool { return g.function.Equal(f) })
	return max(index, 0), index >= 0
}
