package otf2

import (
	"slices"
	"strconv"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/trace"
)

// maxTypes is how many values a Metric has at most whose values are arguments by themselves.
const maxTypes = 64

// eventsParam is the parameter with the descriptors of the events of a call.
const eventsParam = "events"

// idParam is the parameter with the number of a region that is not the first of its name at a location.
const idParam = "region_id"

// regionParam is the parameter of Enter and Leave with the name of the region.
const regionParam = "region"

// isStatic reports whether the types of an event's values are in its descriptor.
func isStatic(r *Record) bool { return r.Kind == metric && (len(r.Values)-1)/2 <= maxTypes }

// A form is calls of one function with events of the same kinds. There may be one for each region.
type form struct {
	function cst.Function
	number   int32 // of the function in a recorder
	thread   bool  // there is a parameter with its number
	id       bool  // there is one with the number of the region
	named    bool  // there is one with the name of the region
	*inCalls
}

// An inCalls is the events in calls of a form.
type inCalls struct {
	events      []item
	groups      []alike
	streams     []hidden // of the times of events in calls
	description string
	inner       int // events between Enter and Leave

	single []bool // which of the events have values that are arguments by themselves
}

// noneInCalls is that of forms without events in calls.
var noneInCalls inCalls

// An alike is the events of one kind in a call, whose fields are parameters in a row.
type alike struct {
	kind  *Kind
	count int
}

// newForm returns the form of calls of a function with a name and some events.
func newForm(a *archive, name string, events []item, thread, named, id bool) *form {
	f := &form{thread: thread, id: id, named: named, inCalls: &noneInCalls}
	f.function.Name = name
	if len(events) > 0 {
		f.inCalls = &inCalls{events: events, description: describe(events)}
	}
	add := func(name string, t cst.Type) {
		if a.exported() && name == layout.Site.Name && t.Equal(typeOfValue(typeString)) {
			t = layout.Site.Type
		}
		f.function.Params = append(f.function.Params, cst.Param{Name: name, Type: t})
	}
	number := cst.Type{Kind: cst.KindInt}
	if thread {
		add(trace.ThreadParam, number)
	}
	if named {
		add(regionParam, cst.Type{Kind: cst.KindString})
	}
	if id {
		add(idParam, number)
	}
	if len(events) > 0 {
		f.countAll()
		f.addEvents(a, add)
	}
	if f.described() {
		add(eventsParam, cst.Type{Kind: cst.KindString})
	}
	return f
}

// countAll counts the events of each kind whose fields are parameters.
func (f *form) countAll() {
	for _, e := range f.events {
		for range e.count {
			f.single = append(f.single, e.static != nil || isBracket(e.kind))
		}
		if isBracket(e.kind) {
			continue
		}
		if f.inner += e.count; e.static == nil {
			f.count(e)
		}
	}
}

// addEvents adds the parameters of events: fields, values of metrics, and attributes.
func (f *form) addEvents(a *archive, add func(name string, t cst.Type)) {
	for _, g := range f.groups {
		fields := slices.Concat(g.kind.Fields, g.kind.List)
		for i, field := range fields {
			t := typeOf(field)
			if i >= len(g.kind.Fields) {
				t = cst.ArrayOf(t)
			}
			if g.count > 1 {
				t = cst.ArrayOf(t)
			}
			add(f.unused(field.Name, g.kind.Name), t)
		}
	}
	for _, e := range f.events {
		for i := 1; i < len(e.static); i++ {
			add(f.unused(a.memberName(e.static[0], i-1), "metric"), typeOfValue(asMetric(e.static[i])))
		}
	}
	for _, e := range f.events {
		for _, at := range e.attributes {
			add(f.unused(a.nameOf("AttributeRef", uint64(at.id)), "attribute"), typeOfValue(uint64(at.kind)))
		}
	}
}

// described reports whether an argument tells the events: the name of the function does not tell all.
func (f *form) described() bool {
	return len(f.events) > 0 && (len(f.events) > 1 || f.events[0].kind.Name != f.function.Name ||
		f.events[0].static != nil || f.events[0].attributes != nil)
}

// identity returns what tells the form from others of calls of regions at one location.
func (f *form) identity() string {
	id := ""
	if f.id {
		id = idParam
	}
	return f.function.Name + "\x00" + f.description + "\x00" + id
}

// isBracket reports whether events of a kind begin or end a region.
func isBracket(k *Kind) bool { return k == enterKind || k == leaveKind }

// count counts the events of an item.
func (f *form) count(e item) {
	for i := range f.groups {
		if f.groups[i].kind == e.kind {
			f.groups[i].count += e.count
			return
		}
	}
	f.groups = append(f.groups, alike{e.kind, e.count})
}

// unused returns a name that no parameter has.
func (f *form) unused(name, of string) string {
	if len(name) > 256 {
		name = ""
	}
	is := func(name string) bool {
		return name == "" || name == trace.ThreadParam || name == eventsParam || name == idParam ||
			slices.ContainsFunc(f.function.Params, func(p cst.Param) bool { return p.Name == name })
	}
	if is(name) {
		name = of + "." + name
	}
	for base, i := name, 2; is(name); i++ {
		name = base + "." + strconv.Itoa(i)
	}
	return name
}

// memberName returns the name of a member of a metric.
func (a *archive) memberName(metric uint64, i int) string {
	if class, ok := a.instances[metric]; ok {
		metric = class
	}
	if members := a.metrics[metric]; i < len(members) {
		return a.nameOf("MetricMemberRef", members[i])
	}
	return ""
}
