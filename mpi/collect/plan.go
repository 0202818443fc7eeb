package collect

import (
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi"
)

// An operation says how a raw value becomes symbolic.
type operation uint8

const (
	number  operation = iota // as it is
	float                    // bits of a float
	rank                     // a process
	tag                      // a message tag
	object                   // a handle of an object that exists
	created                  // a handle of an object that the call made
	shared                   // a handle of an object that existed before, to be freed once more
	freed                    // a handle of an object that the call frees
	request                  // a request that the call is given
	began                    // a request that the call made
	address                  // of memory
	status                   // an outcome
	code                     // of an error, or anything that the program takes for one
	text
)

// A parameter is what the collector knows of a parameter of a function.
type parameter struct {
	*mpi.Param
	operation operation
	class     int // of the object
	after     bool
	both      bool // values from before and after the call may differ
	distances bool // in bytes, from an address that may be zero: they may be addresses
	plain     bool // an address that is no buffer: no constant stands for one
	target    bool // a displacement in a window: it may be an address
}

// A statusSource says where the wildcards are that a status of a function tells
// something of.
type statusSource uint8

const (
	nowhere    statusSource = iota // the source and the tag mean nothing, or were recorded before
	anywhere                       // the source and the tag are news
	arguments                      // in the arguments
	inRequest                      // in the request
	inRequests                     // in the requests, one for each status
	inSelected                     // in the requests that an index, or some, select
)

// A plan is what the collector knows of a function.
type plan struct {
	*mpi.Function
	params        []parameter
	takesRequests bool
	makesRequest  bool
	begins        bool // there is a record of the beginning
	persistent    bool // the request that it makes
	frees         bool // the request that it is given
	looks         bool // at the requests that it is given, which stay as they are
	answers       bool // with a source and a tag, to what has no parameters for them
	statuses      statusSource
	source, tag   int // parameters that ask for a message, −1 if there is none
	requests      int // parameter that the call is given requests by, −1 if there is none
	freed         int // parameter with the object that the call frees, −1 if there is none
	selection     int // parameter with the index or indices
	made, parent  int // parameters with a group object that the call makes, and with the communicator that it makes it of
	result        cst.Type
	effect        effect
}

// An effect is what a call does to memory besides using it.
type effect uint8

const (
	none       effect = iota
	allocates         // as MPI_Alloc_mem
	releases          // as MPI_Free_mem
	windowMade        // with memory of its own
	windowGone
	windowOpen // for memory that is attached to it
)

var (
	classes = classNames()
	plans   = makePlans()
)

func classNames() []string {
	var names []string
	add := func(t cst.Type) {
		if t.Kind == cst.KindHandle && t.Class != "request" && !slices.Contains(names, t.Class) {
			names = append(names, t.Class)
		}
	}
	for _, f := range mpi.Functions() {
		add(f.Result)
		for i := range f.Params {
			add(f.Params[i].Element())
		}
	}
	slices.Sort(names)
	return names
}

// classOf returns the position of a class among all.
func classOf(class string) int { return slices.Index(classes, class) }

func makePlans() []plan {
	functions := mpi.Functions()
	list := make([]plan, len(functions))
	for i := range functions {
		list[i] = newPlan(&functions[i])
	}
	return list
}

func newPlan(f *mpi.Function) plan {
	p := plan{Function: f, source: -1, tag: -1, requests: -1, freed: -1, selection: -1, made: -1, parent: -1, result: f.Result}
	if f.Name == "MPI_Wtime" {
		p.result = cst.Type{}
	}
	for i := range f.Params {
		p.params = append(p.params, newParameter(f, &f.Params[i]))
		switch p.params[i].operation {
		case request:
			p.takesRequests, p.requests = true, i
		case began:
			p.makesRequest = true
		case freed:
			p.freed = i
		}
		switch f.Params[i].Type.Class {
		case "comm", "win", "file":
			if op := p.params[i].operation; op == created {
				p.made = i
			} else if op == object && p.params[i].class == classOf("comm") {
				p.parent = i
			}
		}
		switch f.Params[i].Name {
		case "source":
			p.source = i
		case "tag", "recvtag":
			p.tag = i
		case "index", "indx", "array_of_indices":
			p.selection = i
		}
	}
	p.persistent = strings.HasSuffix(base(f.Name), "_init")
	p.frees = f.Name == "MPI_Request_free"
	p.begins = f.Begins()
	p.looks = p.takesRequests && !p.frees && !strings.HasPrefix(f.Name, "MPI_Wait") && !strings.HasPrefix(f.Name, "MPI_Test")
	switch base(f.Name) {
	case "MPI_Imrecv", "MPI_Grequest_start", "MPIX_Grequest_start", "MPIX_Grequest_class_allocate":
		p.answers = true
	}
	p.statuses = statusesOf(&p)
	switch base(f.Name) {
	case "MPI_Alloc_mem":
		p.effect = allocates
	case "MPI_Free_mem":
		p.effect = releases
	case "MPI_Win_allocate", "MPI_Win_allocate_shared":
		p.effect = windowMade
	case "MPI_Win_create_dynamic":
		p.effect = windowOpen
	case "MPI_Win_free":
		p.effect = windowGone
	}
	return p
}

// base returns the name of a function without the suffix of those with large
// counts.
func base(name string) string { return strings.TrimSuffix(name, "_c") }

func newParameter(f *mpi.Function, p *mpi.Param) parameter {
	r := parameter{Param: p, class: -1}
	element := p.Element()
	handle := element.Kind == cst.KindHandle
	r.both = p.Before() && p.After() && !handle && element.Kind != cst.KindStatus
	r.distances = p.Name == "array_of_addresses" || p.Name == "array_of_displacements" &&
		(strings.HasPrefix(f.Name, "MPI_Type_create_hindexed") || base(f.Name) == "MPI_Type_create_struct" ||
			f.Name == "MPI_Type_hindexed" || f.Name == "MPI_Type_struct")
	r.plain = isPlain(f, p)
	r.target = p.Name == "target_disp"
	r.after = p.After() && !(handle && p.Before())
	switch element.Kind {
	case cst.KindInt:
		r.operation = number
		if p.Name == "errorcode" && f.Name != "MPI_Abort" {
			r.operation = code
		}
	case cst.KindFloat:
		r.operation = float
	case cst.KindRank:
		r.operation = rank
	case cst.KindTag:
		r.operation = tag
	case cst.KindPointer:
		r.operation = address
	case cst.KindStatus:
		r.operation = status
	case cst.KindString:
		r.operation = text
	case cst.KindHandle:
		r.operation = handleOperation(f, p)
		r.class = classOf(element.Class)
	}
	return r
}

// isPlain reports whether a pointer is an address as it is, or a number that the
// program keeps in place of one.
func isPlain(f *mpi.Function, p *mpi.Param) bool {
	switch p.Name {
	case "attribute_val", "extra_state", "user_data", "obj_handle", "addr1", "addr2", "f08_status":
		return true
	case "base":
		return f.Name == "MPI_Aint_add" || f.Name == "MPI_Free_mem"
	}
	return p.Form == mpi.Indirect
}

func handleOperation(f *mpi.Function, p *mpi.Param) operation {
	isRequest := p.Element().Class == "request"
	switch {
	case isRequest && p.Before():
		return request
	case isRequest:
		return began
	case p.Direction == cst.InOut && p.Form != mpi.ByValue && f.FreesObject():
		return freed
	case p.Form == mpi.ByValue || p.Direction != cst.Out:
		return object
	case sharing(f.Name):
		return shared
	}
	return created
}

// sharing reports whether a function returns a handle of an object that may exist
// already, or of none that the program made.
func sharing(name string) bool {
	switch base(name) {
	case "MPI_Comm_group", "MPI_Comm_remote_group", "MPI_Win_get_group", "MPI_File_get_group",
		"MPI_Comm_get_errhandler", "MPI_Win_get_errhandler", "MPI_File_get_errhandler", "MPI_Session_get_errhandler",
		"MPI_Errhandler_get", "MPI_Type_get_contents", "MPI_File_get_view", "MPI_Comm_get_parent",
		"MPI_Type_match_size", "MPI_Type_create_f90_integer", "MPI_Type_create_f90_real", "MPI_Type_create_f90_complex":
		return true
	}
	return strings.HasPrefix(name, "MPI_T_")
}

func statusesOf(p *plan) statusSource {
	at := slices.IndexFunc(p.params, func(r parameter) bool { return r.operation == status })
	switch {
	case at < 0 || p.params[at].Direction != cst.Out:
		return nowhere
	case p.takesRequests && p.selection >= 0:
		return inSelected
	case p.takesRequests && p.params[at].Form == mpi.Array:
		return inRequests
	case p.takesRequests:
		return inRequest
	case p.source >= 0:
		return arguments
	case strings.HasSuffix(base(p.Name), "recv"):
		return anywhere
	}
	return nowhere
}
