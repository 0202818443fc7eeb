package spec

import "github.com/reprise-trace/reprise/cst"

// SwitchesRecording reports whether a call of a function that has a role which switches does
// switch recording off or on, as package mpi says: by MPI_Pcontrol, or by a key of an info.
func SwitchesRecording(f *cst.Function, args []cst.Value) bool {
	var key, value string
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
