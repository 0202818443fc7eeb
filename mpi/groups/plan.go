package groups

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/symbolic"
)

// Classes of handles of group objects.
const (
	commClass = "comm"
	winClass  = "win"
	fileClass = "file"
)

// A rule says what a function does to group objects.
type rule struct {
	kind           symbolic.Kind // 0 frees the parent
	parent, result string        // parameters
	color, rank    string        // likewise, if there are such
}

// rules are those of functions by their names.
var rules = map[string]rule{
	"MPI_Comm_dup":            {symbolic.Duplicate, "comm", "newcomm", "", ""},
	"MPI_Comm_dup_with_info":  {symbolic.Duplicate, "comm", "newcomm", "", ""},
	"MPI_Comm_idup":           {symbolic.Duplicate, "comm", "newcomm", "", ""},
	"MPI_Comm_idup_with_info": {symbolic.Duplicate, "comm", "newcomm", "", ""},

	"MPI_Win_create":            {symbolic.Duplicate, "comm", "win", "", ""},
	"MPI_Win_create_c":          {symbolic.Duplicate, "comm", "win", "", ""},
	"MPI_Win_create_dynamic":    {symbolic.Duplicate, "comm", "win", "", ""},
	"MPI_Win_allocate":          {symbolic.Duplicate, "comm", "win", "", ""},
	"MPI_Win_allocate_c":        {symbolic.Duplicate, "comm", "win", "", ""},
	"MPI_Win_allocate_shared":   {symbolic.Duplicate, "comm", "win", "", ""},
	"MPI_Win_allocate_shared_c": {symbolic.Duplicate, "comm", "win", "", ""},
	"MPI_File_open":             {symbolic.Duplicate, "comm", "fh", "", ""},

	"MPI_Comm_split":        {symbolic.Split, "comm", "newcomm", "color", ""},
	"MPI_Comm_split_type":   {symbolic.SplitType, "comm", "newcomm", "leader", "newrank"},
	"MPIX_Comm_shrink":      {symbolic.SplitType, "comm", "newcomm", "leader", "newrank"},
	"MPI_Comm_create":       {symbolic.Create, "comm", "newcomm", "leader", "newrank"},
	"MPI_Comm_create_group": {symbolic.CreateGroup, "comm", "newcomm", "", ""},
	"MPI_Cart_sub":          {symbolic.Split, "comm", "newcomm", "", ""},

	"MPI_Cart_create":                {symbolic.Topology, "comm_old", "comm_cart", "", "newrank"},
	"MPI_Graph_create":               {symbolic.Topology, "comm_old", "comm_graph", "", "newrank"},
	"MPI_Dist_graph_create":          {symbolic.Topology, "comm_old", "comm_dist_graph", "", "newrank"},
	"MPI_Dist_graph_create_adjacent": {symbolic.Topology, "comm_old", "comm_dist_graph", "", "newrank"},

	"MPI_Intercomm_create": {symbolic.IntercommCreate, "local_comm", "newintercomm", "", ""},
	"MPI_Intercomm_merge":  {symbolic.IntercommMerge, "intercomm", "newintracomm", "", "newrank"},

	"MPI_Comm_free":       {0, "comm", "", "", ""},
	"MPI_Comm_disconnect": {0, "comm", "", "", ""},
	"MPI_Win_free":        {0, "win", "", "", ""},
	"MPI_File_close":      {0, "fh", "", "", ""},
}

// A plan is a rule for a function of a trace.
type plan struct {
	rule
	function *cst.Function
	cartSub  bool
}

// plansOf returns the plans of functions; nil for those that do nothing to group
// objects, or that failed.
func plansOf(functions []cst.Function) []*plan {
	plans := make([]*plan, len(functions))
	for i := range functions {
		f := &functions[i]
		r, ok := rules[f.Name]
		if n := len(f.Params); !ok || n > 0 && f.Params[n-1].Name == "error" && f.Params[n-1].Direction == cst.Out {
			continue
		}
		plans[i] = &plan{r, f, f.Name == "MPI_Cart_sub"}
	}
	return plans
}

// arguments are those of a call.
type arguments struct {
	params []cst.Param
	values []cst.Value
}

// find returns the argument of a parameter of a kind, which a call need not have.
func (a arguments) find(name string, kind cst.Kind) (cst.Value, cst.Type, bool) {
	i := slices.IndexFunc(a.params, func(p cst.Param) bool { return p.Name == name && p.Type.Kind == kind })
	if i < 0 {
		return cst.Value{}, cst.Type{}, false
	}
	return a.values[i], a.params[i].Type, true
}

// number returns a number that an argument is, 0 if there is none.
func (a arguments) number(name string) int64 {
	for _, kind := range []cst.Kind{cst.KindInt, cst.KindRank, cst.KindTag} {
		if v, _, ok := a.find(name, kind); ok {
			return v.Int()
		}
	}
	return 0
}

// numbers returns the elements of an argument that is an array of numbers.
func (a arguments) numbers(name string) []int64 {
	v, typ, ok := a.find(name, cst.KindArray)
	if !ok || typ.Elem.Kind != cst.KindInt && typ.Elem.Kind != cst.KindRank {
		return nil
	}
	list := make([]int64, v.Len())
	for i := range list {
		list[i] = v.Index(i).Int()
	}
	return list
}

// object returns the group object that an argument is, the zero Local if it is none.
func (a arguments) object(name string) symbolic.Local {
	v, typ, ok := a.find(name, cst.KindHandle)
	if !ok {
		return symbolic.Local{}
	}
	switch typ.Class {
	case commClass, winClass, fileClass:
		return symbolic.Local{Class: typ.Class, ID: v.Int()}
	}
	return symbolic.Local{}
}

// creation returns what a call of a plan creates, or frees.
func (p *plan) creation(values []cst.Value) symbolic.Creation {
	a := arguments{p.function.Params, values}
	c := symbolic.Creation{Kind: p.kind, Parent: a.object(p.parent)}
	if p.kind == 0 {
		return c
	}
	if r := a.object(p.result); r.ID >= 0 {
		c.Result = r
	}
	if p.color != "" {
		c.Color, c.Key = a.number(p.color), a.number("key")
	}
	if _, _, ok := a.find(p.rank, cst.KindRank); ok && p.rank != "" {
		c.Rank, c.Size = int(a.number(p.rank)), -1
	}
	switch p.kind {
	case symbolic.CreateGroup:
		for _, m := range a.numbers("members") {
			c.Members = append(c.Members, int(m))
		}
		c.Tag = a.number("tag")
	case symbolic.IntercommCreate:
		c.Leader, c.RemoteLeader = int(a.number("local_leader")), int(a.number("remote_leader"))
		c.Peer, c.Tag = a.object("peer_comm"), a.number("tag")
	case symbolic.IntercommMerge:
		c.High = a.number("high") != 0
	}
	return c
}
