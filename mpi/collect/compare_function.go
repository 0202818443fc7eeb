package collect

import (
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi"
)

// A knownFunction is what a [replay] knows of a function.
type knownFunction struct {
	*mpi.Function
	base     string // its name, without the suffix for large counts
	requests int    // parameter with the requests that it is given, or −1
	source   int    // parameters that say which message to receive, or −1
	tag      int
	index    int // parameter that says which requests are complete, or −1
	roles    []role
}

// A role is what an argument is for.
type role uint8

const (
	plain       role = iota // a value that says everything
	errorCode               // a number that is turned into its class
	memory                  // an address, or a constant that stands for one
	bare                    // an address that no constant stands for
	displacing              // numbers that may be addresses
	aiming                  // a displacement in a window, which may be an address
	used                    // an object that exists
	made                    // an object that is new
	returned                // a handle of an object that may have been known before
	freeing                 // an object to be freed
	waitedFor               // a request that the call is given
	startedHere             // a request that is new
	outcomes                // a status
)

var knownFunctions = makeKnownFunctions()

func makeKnownFunctions() []knownFunction {
	functions := mpi.Functions()
	list := make([]knownFunction, len(functions))
	for i := range functions {
		list[i] = newKnownFunction(&functions[i])
	}
	return list
}

func newKnownFunction(f *mpi.Function) knownFunction {
	k := knownFunction{Function: f, base: strings.TrimSuffix(f.Name, "_c"), requests: -1, source: -1, tag: -1, index: -1}
	for i := range f.Params {
		p := &f.Params[i]
		r := k.role(p)
		k.roles = append(k.roles, r)
		switch {
		case r == waitedFor:
			k.requests = i
		case p.Name == "source":
			k.source = i
		case p.Name == "tag" || p.Name == "recvtag":
			k.tag = i
		case p.Name == "index" || p.Name == "indx" || p.Name == "array_of_indices":
			k.index = i
		}
	}
	return k
}

func (k *knownFunction) role(p *mpi.Param) role {
	switch e := p.Element(); {
	case e.Kind == cst.KindStatus:
		return outcomes
	case e.Kind == cst.KindPointer && k.takesBare(p):
		return bare
	case e.Kind == cst.KindPointer:
		return memory
	case e.Kind == cst.KindHandle:
		return k.handleRole(p, e.Class)
	case p.Name == "errorcode" && k.Name != "MPI_Abort":
		return errorCode
	case p.Name == "array_of_addresses",
		p.Name == "array_of_displacements" && (strings.Contains(k.Name, "_hindexed") || strings.Contains(k.Name, "_struct")):
		return displacing
	}
	if p.Name == "target_disp" {
		return aiming
	}
	return plain
}

// takesBare reports whether a pointer is not one to data for MPI.
func (k *knownFunction) takesBare(p *mpi.Param) bool {
	switch {
	case strings.HasPrefix(k.Name, "MPI_Aint_"), k.Name == "MPI_Free_mem", p.Direction == cst.Out && p.Form == mpi.Indirect:
		return true
	}
	switch p.Name {
	case "attribute_val", "extra_state", "user_data", "obj_handle", "f08_status":
		return true
	}
	return false
}

func (k *knownFunction) handleRole(p *mpi.Param, class string) role {
	asInput := p.Form == mpi.ByValue || p.Direction != cst.Out && !p.Late
	switch {
	case class == "request" && asInput:
		return waitedFor
	case class == "request":
		return startedHere
	case p.Direction == cst.InOut && p.Form != mpi.ByValue && k.Name != "MPI_Type_commit":
		return freeing
	case p.Form == mpi.ByValue || p.Direction != cst.Out:
		return used
	case k.returnsExisting(class):
		return returned
	}
	return made
}

// returnsExisting reports whether what the function returns of a class need not be
// new. An info object always is.
func (k *knownFunction) returnsExisting(class string) bool {
	switch class {
	case "group":
		return strings.HasSuffix(k.Name, "_group")
	case "errhandler":
		return strings.HasSuffix(k.Name, "_get") || strings.Contains(k.Name, "_get_")
	case "datatype":
		return strings.Contains(k.Name, "_get_") || strings.Contains(k.Name, "_f90_") || k.Name == "MPI_Type_match_size"
	case "comm":
		return strings.Contains(k.Name, "_get_")
	}
	return strings.HasPrefix(k.Name, "MPI_T_")
}

// persistent reports whether requests that the function makes are started and
// completed until they are freed.
func (k *knownFunction) persistent() bool { return strings.HasSuffix(k.base, "_init") }

// parameter returns the position of a parameter.
func (k *knownFunction) parameter(name string) int {
	for i := range k.Params {
		if k.Params[i].Name == name {
			return i
		}
	}
	panic("mpi/collect: " + k.Name + " has no parameter " + name)
}

// before returns a number that a call was given.
func (k *knownFunction) before(r *mpi.Record, name string) int64 {
	return r.Arguments[k.parameter(name)].Before.Int()
}

// after returns a number that a call has returned.
func (k *knownFunction) after(r *mpi.Record, name string) int64 {
	return r.Arguments[k.parameter(name)].After.Int()
}
