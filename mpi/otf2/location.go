package otf2

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/tracer"
)

// A region is one that a location enters.
type region struct {
	name   string
	number uint64
	index  int32 // of the name
	plain  int32 // number of the form of calls without events, plus one; 0 before the first
	isCall bool  // calls have its name
	id     bool  // it is not the first of its name
}

// form returns the number of what its calls have in common.
func (g *region) form() uint64 { return uint64(g.index)*2 + b2u(g.id) }

// A locationRecorder records the events of a location.
type locationRecorder struct {
	*archive
	l        *location
	recorder *tracer.Recorder
	exact    bool

	forms    map[string]*form   // without those of calls without events: each region may have one
	plain    form               // the last of these
	timed    []*form            // with times of events in calls
	declared uint64             // forms
	first    map[string]*region // by name
	regions  map[uint64]*region

	entered  bool
	events   []Record // the one that entered, if it is pending, and those since
	used     int      // of events
	key      []byte
	args     []cst.Value
	requests requestNumbers
	rest     hidden
}

// event takes an event.
func (l *locationRecorder) event(r *Record) error {
	switch {
	case r.Kind == enterKind:
		if err := l.flush(); err != nil {
			return err
		}
		l.hold(r)
		l.entered = true
		return nil
	case r.Kind == leaveKind && l.entered && l.events[0].Values[0] == r.Values[0]:
		if ok, err := l.call(r); ok || err != nil {
			return err
		}
	case r.Kind != leaveKind && l.entered && l.used <= mostInner:
		l.hold(r)
		return nil
	}
	if err := l.flush(); err != nil {
		return err
	}
	l.hold(r)
	return l.flush()
}

// The kinds that begin and end regions.
var (
	enterKind = LookupKind("Enter")
	leaveKind = LookupKind("Leave")
	metric    = LookupKind("Metric")
)

// hold keeps a copy of an event, in which requests have numbers of their own.
func (l *locationRecorder) hold(r *Record) {
	if l.used == len(l.events) {
		l.events = append(l.events, Record{})
	}
	c := &l.events[l.used]
	l.used++
	c.Kind, c.Time = r.Kind, r.Time
	c.Values = append(c.Values[:0], r.Values...)
	c.Attributes = append(c.Attributes[:0], r.Attributes...)
	if k := r.Kind; k.request > 0 {
		i := k.request - 1
		c.Values[i] = uint64(l.requests.number(k.starts, k.ends, c.Values[i]))
	}
}

// flush makes a call of each event that is held.
func (l *locationRecorder) flush() error {
	for i := range l.used {
		if err := l.instant(&l.events[i]); err != nil {
			return err
		}
	}
	l.used, l.entered = 0, false
	return nil
}

// regionOf returns what is known of a region.
func (l *locationRecorder) regionOf(number uint64) *region {
	if g := l.regions[number]; g != nil {
		return g
	}
	g := &region{number: number}
	if name, ok := l.archive.regions[number]; ok {
		g.name = l.strings[name]
	}
	first := l.first[g.name]
	if first == nil {
		g.index = int32(len(l.first))
		l.first[g.name] = g
		first = g
	}
	g.index, g.id, g.isCall = first.index, first != g, isCallName(g.name)
	l.regions[number] = g
	return g
}

// isCallName reports whether calls can have the name of a region: it is no name of an event, and functions may have it.
func isCallName(name string) bool {
	k := LookupKind(name)
	return name != "" && !strings.HasPrefix(name, "+") && len(name) <= cst.MaxName && (k == nil || k.Class != Event)
}

// stamp returns the time of an event.
func (l *locationRecorder) stamp(r *Record) (int64, error) {
	ns, rest, err := l.clock.nanoseconds(r.Time)
	if l.clock.hasRest() && l.exact {
		l.rest.add(int64(rest))
	}
	return ns, err
}

// The roles of forms.
const (
	isCall byte = iota
	isEvent
)

// formOf returns the form of a call with some events.
func (l *locationRecorder) formOf(role byte, of uint64, name string, events []Record, named, id bool) *form {
	l.key = binary.AppendUvarint(append(l.key[:0], role), of)
	for i := range events {
		l.key = appendItemKey(l.key, &events[i])
	}
	f := l.forms[string(l.key)]
	if f == nil {
		f = l.newForm(name, events, named, id)
		if role == isCall && l.exact && f.inner > 0 {
			f.streams = make([]hidden, f.inner)
			l.timed = append(l.timed, f)
		}
		l.forms[string(l.key)] = f
	}
	return f
}

// newForm returns a new form of calls with some events.
func (l *locationRecorder) newForm(name string, events []Record, named, id bool) *form {
	f := newForm(l.archive, name, itemsOf(events), l.l.thread > 0, named, id)
	f.number = int32(l.recorder.Declare(f.function))
	l.declared++
	return f
}

// formOfCall returns the form of a call of a region, which is valid until the next call.
func (l *locationRecorder) formOfCall(g *region, events []Record) *form {
	if len(events) > 0 || g.id { // several regions have the form
		return l.formOf(isCall, g.form(), g.name, events, false, g.id)
	}
	if g.plain == 0 {
		g.plain = l.newForm(g.name, nil, false, false).number + 1
	}
	l.plain = form{number: g.plain - 1, thread: l.l.thread > 0, inCalls: &noneInCalls}
	return &l.plain
}

// record records a call of a form.
func (l *locationRecorder) record(f *form, start, duration int64, g *region, events []Record) {
	l.args = l.args[:0]
	if f.thread {
		l.args = append(l.args, cst.Int(int64(l.l.thread)))
	}
	if f.named {
		l.args = append(l.args, cst.String(g.name))
	}
	if f.id {
		l.args = append(l.args, cst.Int(int64(g.number)))
	}
	l.args = f.appendArguments(l.args, events)
	if f.described() {
		l.args = append(l.args, cst.String(f.description))
	}
	l.recorder.CallAt(int(f.number), start, duration, l.args...)
}

// instant records an event as a call that takes no time.
func (l *locationRecorder) instant(r *Record) error {
	at, err := l.stamp(r)
	if err != nil {
		return err
	}
	events := []Record{*r}
	if !isBracket(r.Kind) {
		l.record(l.formOf(isEvent, uint64(r.Kind.number), r.Kind.Name, events, false, false), at, 0, nil, events)
		return nil
	}
	if len(r.Attributes) == 0 {
		events = nil
	}
	g := l.regionOf(r.Values[0])
	of := uint64(r.Kind.number)
	f := l.formOf(isEvent, of*2+b2u(g.id)|1<<40, r.Kind.Name, events, true, g.id)
	l.record(f, at, 0, g, events)
	return nil
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// call records a call of a region that ends. It reports false if the region cannot be one call.
func (l *locationRecorder) call(leave *Record) (ok bool, err error) {
	g := l.regionOf(leave.Values[0])
	enter := &l.events[0]
	if !g.isCall || int64(leave.Time-enter.Time) < 0 {
		return false, nil
	}
	start, err := l.stamp(enter)
	if err != nil {
		return false, err
	}
	events := l.events[:l.used]
	inner := events[1:]
	if len(enter.Attributes) == 0 {
		events = inner
	}
	if len(leave.Attributes) > 0 {
		l.entered = false
		l.hold(leave)
		if events, inner = l.events[:l.used], l.events[1:l.used-1]; len(l.events[0].Attributes) == 0 {
			events = events[1:]
		}
	}
	f := l.formOfCall(g, events)
	last := start
	for i := range inner {
		at, err := l.stamp(&inner[i])
		if err != nil {
			return false, err
		}
		if f.streams != nil {
			f.streams[i].add(at - last)
		}
		last = at
	}
	end, err := l.stamp(leave)
	if err != nil {
		return false, err
	}
	l.record(f, start, end-start, g, events)
	l.used, l.entered = 0, false
	return true, nil
}

// appendKept appends what is kept of the location.
func (l *locationRecorder) appendKept(dst []byte, calls uint64) []byte {
	dst = binary.AppendUvarint(dst, calls)
	names := make([]string, 0, len(l.first))
	for name := range l.first {
		names = append(names, name)
	}
	slices.Sort(names)
	dst = binary.AppendUvarint(dst, uint64(len(names)))
	for _, name := range names {
		dst = binary.AppendUvarint(appendText(dst, name), l.first[name].number)
	}
	dst = l.requests.ids.appendTo(dst)
	dst = l.rest.appendTo(dst)
	dst = binary.AppendUvarint(dst, uint64(len(l.timed)))
	for _, f := range l.timed {
		dst = binary.AppendUvarint(appendText(dst, f.identity()), uint64(len(f.streams)))
		for i := range f.streams {
			dst = f.streams[i].appendTo(dst)
		}
	}
	return dst
}
