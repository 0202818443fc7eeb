package collect

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A state says what is recorded of an argument.
type state uint8

const (
	given    state = iota // its value
	absent                // nothing
	constant              // what stands for it
	changed               // its values from before and after the call
	pointing              // addresses in place of distances
)

// A function is one of the table as it was declared in a trace: once for each
// combination of states of its arguments that occurs. Such functions have one name
// and different parameters.
type function []variant

type variant struct {
	key    uint64
	number int
}

// The key of a variant has stateBits for each parameter, and more above these.
const (
	stateBits = 3

	inThread = 1 << 62
	failing  = 1 << 63
)

// record adds a call with the values that are set to the trace.
func (p *process) record(t *thread, f *plan, r *mpi.Record) {
	if t.number < 0 {
		t.number = p.numbers
		p.numbers++
	}
	var key uint64
	p.args = p.args[:0]
	if t.number > 0 {
		key |= inThread
		p.args = append(p.args, cst.Int(t.number))
	}
	for i, s := range p.presence {
		key |= uint64(s) << (stateBits * i)
		if s != absent {
			p.args = append(p.args, p.values[i])
		}
		if s == changed {
			p.args = append(p.args, p.after[i])
		}
	}
	if f.result.Kind != 0 {
		p.args = append(p.args, p.result(f.result, r))
	} else if f.Result.Kind == 0 && r.Result != 0 {
		key |= failing
		p.args = append(p.args, cst.Int(errorOf(r)))
	}
	n := p.number(r.Function, key)
	if p.timed {
		since1970 := r.Start + int64(p.id.Loaded) - t.header.Monotonic
		p.recorder.CallAt(n, since1970, r.End-r.Start, p.args...)
	} else {
		p.recorder.Call(n, p.args...)
	}
	p.calls++
}

// errorOf returns what a trace says of the error of a call: its class, for codes may
// differ between runs.
func errorOf(r *mpi.Record) int64 {
	if r.Class != 0 {
		return int64(r.Class)
	}
	return r.Result
}

// result returns the result of a function that returns no error code.
func (p *process) result(t cst.Type, r *mpi.Record) cst.Value {
	switch t.Kind {
	case cst.KindFloat:
		return cst.Float(r.Float())
	case cst.KindPointer:
		return cst.PointerTo(p.pointer(r.Result))
	case cst.KindHandle:
		if t.Class == "request" {
			id, _ := p.requests.Lookup(uint64(r.Result))
			return cst.Handle(id)
		}
		return cst.Handle(p.lookup(classOf(t.Class), uint64(r.Result)))
	}
	return cst.Int(r.Result)
}

// number returns the number of a variant of a function in the trace.
func (p *process) number(n int, key uint64) int {
	for i := range p.functions[n] {
		if v := &p.functions[n][i]; v.key == key {
			return v.number
		}
	}
	number := p.recorder.Declare(plans[n].declaration(key))
	p.functions[n] = append(p.functions[n], variant{key, number})
	return number
}

// declaration returns a variant of a function.
func (f *plan) declaration(key uint64) cst.Function {
	d := cst.Function{Name: f.Name}
	add := func(name string, t cst.Type, direction cst.Direction) {
		d.Params = append(d.Params, cst.Param{Name: name, Type: t, Direction: direction})
	}
	if key&inThread != 0 {
		add("thread", cst.Type{Kind: cst.KindInt}, cst.In)
	}
	for i := range f.params {
		q := &f.params[i]
		t := q.Type
		if q.Form == spec.TextLists {
			t = cst.ArrayOf(t)
		}
		switch state(key >> (stateBits * i) & (1<<stateBits - 1)) {
		case given:
			add(q.Name, t, q.Direction)
		case pointing:
			t = cst.Type{Kind: cst.KindPointer}
			if q.Form == spec.Array {
				t = cst.ArrayOf(t)
			}
			add(q.Name, t, q.Direction)
		case constant:
			add(q.Name, cst.HandleOf(spec.PlaceholderClass), q.Direction)
		case changed:
			add(q.Name, t, cst.In)
			add(q.Name+"_out", t, cst.Out)
		}
	}
	if f.result.Kind != 0 {
		add("result", f.result, cst.Out)
	}
	if key&failing != 0 {
		add("error", cst.Type{Kind: cst.KindInt}, cst.Out)
	}
	return d
}
