package collect

import (
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/tracer"
)

// inFlight returns the record of the call that a thread is in, if that is one of the trace:
// of calls inside one another the outermost. Its End is set to the time given, in
// nanoseconds since 1970, or to its Start if that is later. Where records of the thread are
// lost, its call may have returned: then there is none.
func (p *process) inFlight(t *thread, until int64) (found spool.Record, ok bool) {
	if t.err != nil || p.over && t.ended() != nil || t.overwritten || t.header.Lost > 0 ||
		t.header.State == spool.Broken {
		return found, false
	}
	for r := range t.decoder.Unfinished() {
		found, ok = *r, r.Depth == 0 && isRecorded(&plans[r.Function], r)
		break
	}
	if !ok {
		return found, false
	}
	if plans[found.Function].begins {
		ok = len(t.waiting) > 0 && t.waiting[0].function == found.Function && t.waiting[0].depth == 0 &&
			!t.waiting[0].unseen
	}
	found.End = found.Start + max(0, until-p.since1970(t, found.Start))
	return found, ok
}

// addInFlight adds the call that a thread is in to what the thread has recorded.
func (p *process) addInFlight(t *thread, until int64) {
	r, ok := p.inFlight(t, until)
	if !ok {
		return
	}
	waiting, given := t.waiting, t.given
	defer func() { t.waiting, t.given = waiting, given }()
	if len(waiting) > 1 { // calls inside
		t.waiting, t.given = waiting[:1], given[:waiting[1].from]
	}
	f := &plans[r.Function]
	p.acting, p.ofMPI = t, f.role.Allocates
	p.translate(t, f, &r)
	p.record(t, f, &r, pending)
}

// snapshot returns what a thread has recorded so far with the call that it is in, which the
// thread itself does not record before it returns.
func (p *process) snapshot(t *thread, until int64) (merge.Part, error) {
	part := t.recorder.Snapshot(p.rank)
	recorder, declared, changes, calls := t.recorder, t.declared, t.declaredChanges, p.calls
	defer func() {
		t.recorder, t.declared, t.declaredChanges, p.calls, p.peeking = recorder, declared, changes, calls, false
	}()
	t.recorder, t.declared, t.declaredChanges, p.peeking = newRecorder(p.times), nil, nil, true
	p.addInFlight(t, until)
	return merge.Join(p.rank, new(merge.ThreadOrder), part, t.recorder.Finish(p.rank))
}

// newRecorder returns one with options that are known to be sound.
func newRecorder(o tracer.Options) *tracer.Recorder {
	o.Keep = spec.Keep
	r, _ := tracer.New(o)
	return r
}
