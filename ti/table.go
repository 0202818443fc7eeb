package ti

import (
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
)

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
// then those of table, then the loose ones of these.
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
	for _, f := range list[actions:] {
		if f, ok := f.loosened(); ok {
			list = append(list, f)
		}
	}
	return list
}

// byWord lists, for the first word of an action, the indexes of its forms.
var byWord = func() map[string][]int {
	m := make(map[string][]int)
	for i := actions; i < len(forms); i++ {
		w := firstWord(forms[i].function.Name)
		m[w] = append(m[w], i)
	}
	return m
}()

func firstWord(s string) string {
	w, _, _ := strings.Cut(s, " ")
	return w
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
