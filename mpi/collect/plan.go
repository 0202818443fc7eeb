package collect

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/mpi/spec"
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
	*spec.Param
	operation operation
	class     int // of the object
	after     bool
	both      bool                   // values from before and after the call may differ
	amount    bool                   // how much a message has
	standIns  [spool.Empty + 1]int64 // ids of what stands for the argument, by presence
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
	*spec.Function
	params        []parameter
	takesRequests bool
	makesRequest  bool
	begins        bool // there is a record of the beginning
	persistent    bool // the request that it makes
	lasts         bool // that request is followed even while recording is off
	recordedOff   bool // calls are recorded even then
	frees         bool // the request that it is given
	looks         bool // at the requests that it is given, which stay as they are
	statuses      statusSource
	source, tag   int // parameters that ask for a message, −1 if there is none
	requests      int // parameter that the call is given requests by, −1 if there is none
	freed         int // parameter with the object that the call frees, −1 if there is none
	selection     int // parameter with the index or indices
	// parameters with a group object that the call makes, and with the communicator that it makes it of
	made, parent int
	result       cst.Type
	role         *spec.Role
	freesWindow  bool
}

var (
	classes = classNames()
	plans   = makePlans()
	makable = makableClasses()
)

// makableClasses reports by class whether there are calls that make such objects.
func makableClasses() []bool {
	list := make([]bool, len(classes))
	for i := range plans {
		for _, q := range plans[i].params {
			if q.operation == created || q.operation == shared {
				list[q.class] = true
			}
		}
	}
	return list
}

func classNames() []string {
	var names []string
	add := func(t cst.Type) {
		if t.Kind == cst.KindHandle && t.Class != "request" && !slices.Contains(names, t.Class) {
			names = append(names, t.Class)
		}
	}
	for _, f := range spec.Functions() {
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
	functions := spec.Functions()
	list := make([]plan, len(functions))
	for i := range functions {
		list[i] = newPlan(&functions[i])
	}
	return list
}

func newPlan(f *spec.Function) plan {
	p := plan{Function: f, role: spec.RoleOf(f.Name), source: -1, tag: -1, requests: -1, freed: -1,
		selection: -1, made: -1, parent: -1, result: f.Result}
	if p.role.Clock {
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
	for _, message := range []*spec.Transfer{p.role.Sends, p.role.Receives} {
		for i := range p.params {
			p.params[i].amount = p.params[i].amount || message != nil && p.params[i].Name == message.Count
		}
	}
	p.persistent = p.role.Persistent
	p.lasts = p.persistent || f.Pends()
	p.recordedOff = f.RecordedOff()
	p.begins = f.Begins()
	switch p.role.Requests {
	case spec.Waits, spec.Tests:
	case spec.Releases:
		p.frees = true
	default:
		p.looks = p.takesRequests
	}
	p.freesWindow = p.role.Frees && f.Params[p.freed].Type.Class == "win"
	p.statuses = statusesOf(&p)
	return p
}

func newParameter(f *spec.Function, p *spec.Param) parameter {
	r := parameter{Param: p, class: -1}
	for presence := range r.standIns {
		r.standIns[presence] = placeholder(p, spool.Presence(presence))
	}
	element := p.Element()
	handle := element.Kind == cst.KindHandle
	r.both = p.Before() && p.After() && !handle && element.Kind != cst.KindStatus
	r.after = p.After() && !(handle && p.Before())
	switch element.Kind {
	case cst.KindInt:
		r.operation = number
		if p.Use == spec.ErrorCode {
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

func handleOperation(f *spec.Function, p *spec.Param) operation {
	isRequest := p.Element().Class == "request"
	switch {
	case isRequest && p.Before():
		return request
	case isRequest:
		return began
	case p.Direction == cst.InOut && p.Form != spec.ByValue && f.FreesObject():
		return freed
	case p.Form == spec.ByValue || p.Direction != cst.Out:
		return object
	case spec.RoleOf(f.Name).Shares:
		return shared
	}
	return created
}

func statusesOf(p *plan) statusSource {
	at := slices.IndexFunc(p.params, func(r parameter) bool { return r.operation == status })
	switch {
	case at < 0 || p.params[at].Direction != cst.Out:
		return nowhere
	case p.takesRequests && p.selection >= 0:
		return inSelected
	case p.takesRequests && p.params[at].Form == spec.Array:
		return inRequests
	case p.takesRequests:
		return inRequest
	case p.source >= 0:
		return arguments
	case p.role.Receives != nil:
		return anywhere
	}
	return nowhere
}
