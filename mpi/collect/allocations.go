package collect

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/symbolic"
)

// An allocation function is what a trace has of the memory that calls use, whatever the
// program called to allocate, reallocate or free it. In a trace they have no times of their
// own: they stand before a call of the thread, when that began.
var allocationFunctions = [...]cst.Function{
	symbolic.Used: {Name: "malloc", Params: []cst.Param{
		{Name: "size", Type: cst.Type{Kind: cst.KindInt}},
		{Name: "result", Type: cst.Type{Kind: cst.KindPointer}, Direction: cst.Out},
	}},
	symbolic.Resized: {Name: "realloc", Params: []cst.Param{
		{Name: "ptr", Type: cst.Type{Kind: cst.KindPointer}},
		{Name: "size", Type: cst.Type{Kind: cst.KindInt}},
	}},
	symbolic.Freed: {Name: "free", Params: []cst.Param{
		{Name: "ptr", Type: cst.Type{Kind: cst.KindPointer}},
	}},
}

// watch has the memory tell of the segments that calls use.
func (p *process) watch() {
	p.memory.Watch = func(change symbolic.Change, s symbolic.Segment) {
		if p.ofMPI {
			return
		}
		list := &p.changes
		if p.acting.number >= 0 {
			list = &p.acting.changes
		}
		*list = append(*list, segmentChange{change, s})
	}
}

// A segmentChange is one that no call of the trace has followed yet.
type segmentChange struct {
	change  symbolic.Change
	segment symbolic.Segment
}

// recordChanges adds to what a thread has recorded what became of segments before its next
// call, which begins at a time: by the thread itself, and by those that make no calls.
func (p *process) recordChanges(t *thread, start int64) {
	if len(p.changes) > 0 && !p.peeking {
		p.recordList(t, start, p.changes)
		p.changes = p.changes[:0]
	}
	p.recordList(t, start, t.changes)
	if !p.peeking {
		t.changes = t.changes[:0]
	}
}

func (p *process) recordList(t *thread, start int64, list []segmentChange) {
	for _, c := range list {
		args := make([]cst.Value, 0, 3)
		if t.number > 0 {
			args = append(args, cst.Int(t.number))
		}
		at := cst.PointerTo(cst.Pointer{Segment: c.segment.ID, Device: c.segment.Device})
		size := cst.Int(int64(c.segment.Size))
		switch c.change {
		case symbolic.Used:
			args = append(args, size, at)
		case symbolic.Resized:
			args = append(args, at, size)
		case symbolic.Freed:
			args = append(args, at)
		}
		n := p.allocationFunction(t, c.change)
		if p.timed {
			t.recorder.CallAt(n, p.since1970(t, start), 0, args...)
		} else {
			t.recorder.Call(n, args...)
		}
		p.calls++
	}
}

// allocationFunction returns the number of the function of a change among what a thread
// records.
func (p *process) allocationFunction(t *thread, change symbolic.Change) int {
	if t.declaredChanges == nil {
		t.declaredChanges = make(map[symbolic.Change]int)
	}
	n, ok := t.declaredChanges[change]
	if !ok {
		f := allocationFunctions[change]
		if t.number > 0 {
			f.Params = append([]cst.Param{threadParam}, f.Params...)
		}
		n = t.recorder.Declare(f)
		t.declaredChanges[change] = n
	}
	return n
}

// threadParam is the first parameter of calls of threads other than the first.
var threadParam = cst.Param{Name: "thread", Type: cst.Type{Kind: cst.KindInt}}
