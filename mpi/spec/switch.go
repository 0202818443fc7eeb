package spec

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/need"
)

// RecordedOff reports whether calls of the function are recorded even while recording is off,
// since later calls depend on what they make, free or set: objects, persistent requests, memory,
// MPI itself. Of the functions that free requests, only calls that free a persistent one are.
func (f *Function) RecordedOff() bool {
	r := RoleOf(f.Name)
	return f.Outlives() || r.Persistent || r.Requests == Releases || r.Sets || r.Allocates || r.FreesMemory ||
		r.Begins != "" || r.Ends || r.Switches
}

// Pends reports whether the function makes an object that is there when the request is complete
// that the function makes, too. Calls that complete such a request are recorded even while
// recording is off.
func (f *Function) Pends() bool { return RoleOf(f.Name).Nonblocking && f.Outlives() }

// SwitchesRecording reports whether a call of a function that has a role which switches does
// switch recording off or on, as package interpose says: by MPI_Pcontrol without the name of a region, or by a key of
// an info.
func SwitchesRecording(f *cst.Function, args []cst.Value) bool {
	need.That(f != nil &&
		len(args) == len(f.Params), "spec: a call has one argument for each parameter of its function")
	var key, value string
	if slices.ContainsFunc(f.Params, func(p cst.Param) bool { return p.Name == "name" }) {
		return false
	}
	for i, p := range f.Params {
		x := args[i]
		switch {
		case p.Name == "level" && x.Kind() == cst.KindInt:
			return x.Int() >= 0 && x.Int() <= 2
		case p.Name == "key" && x.Kind() == cst.KindString:
			key = string(x.Text())
		case p.Name == "value" && x.Kind() == cst.KindString:
			value = string(x.Text())
		}
	}
	return key == "reprise_record" && (value == "off" || value == "on")
}
