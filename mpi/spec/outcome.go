package spec

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/need"
)

// SizeParam returns the name of the parameter that follows one with a datatype, or several, where MPI was
// asked for their sizes as no call of the trace tells; or one with requests, where the call has completed
// reads of files: how many bytes they have read, −2 if MPI does not say. It is −1 for those that it was not
// asked about.
func SizeParam(param string) string { return param + "_size" }

// An Outcome is what became of a call. A trace tells it by the last parameter of the function:
// calls of other outcomes are calls of functions with other parameters.
type Outcome uint8

// The outcomes.
const (
	Succeeded Outcome = iota
	Failed            // MPI returned an error: its class is the argument
	InFlight          // the call had not returned when the recording ended: the argument is 0
)

// Param returns the last parameter of functions whose calls have the outcome: none, which has
// no name, if they succeeded.
func (o Outcome) Param() cst.Param {
	name := ""
	switch o {
	case Failed:
		name = "error"
	case InFlight:
		name = "returned"
	}
	return cst.Param{Name: name, Type: cst.Type{Kind: cst.KindInt}, Direction: cst.Out}
}

// OutcomeOf returns the outcome of the calls of a function of a trace.
func OutcomeOf(f *cst.Function) Outcome {
	need.That(f != nil, "spec: no function")
	n := len(f.Params)
	if n == 0 || f.Params[n-1].Direction != cst.Out {
		return Succeeded
	}
	switch f.Params[n-1].Name {
	case "error":
		return Failed
	case "returned":
		return InFlight
	}
	return Succeeded
}
