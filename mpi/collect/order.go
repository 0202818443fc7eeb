package collect

import (
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// An ordering finds out which calls of the threads of a process come after which others: those that use one
// thing, such as a request, a communicator or a channel of messages, in the order in which they returned. It
// knows nothing as long as there is one thread.
type ordering struct {
	order  merge.ThreadOrder
	things map[thing]*usage
	starts map[int64][]use // what starting a persistent request uses, by request
	epoch  int             // how often it was forgotten what things there are
	uses   []use           // scratch
}

// A thing is what calls have in common.
type thing struct {
	kind  thingKind
	class int // of an object
	id    int64
	peer  int64
	tag   int64
}

type thingKind uint8

const (
	anObject       thingKind = iota
	aRequest                 // by id
	theCollectives           // on a communicator, window or file
	theSends                 // on a communicator, to a rank, with a tag
	theReceives              // the same, of those that say from whom
	allReceives              // on a communicator
)

// A use is one of a thing. Uses that are alike may stand in any order, but between those before and after
// them that are not.
type use struct {
	thing
	alike alike
}

// An alike is what uses have in common whose order means nothing: such as the count and datatype of messages.
// MPI does not say which of two messages is first that threads send at once; if they are alike, nobody can
// tell, but by the times of calls.
type alike struct {
	is       int8 // 0: no other use is alike
	count    int64
	datatype int64
}

var (
	ordered = alike{}
	reading = alike{is: 1}
)

// A usage says which calls used a thing last.
type usage struct {
	alike  alike
	last   []turn // of the uses that are alike, the last of each thread
	before []turn // the same, of those before them
}

// A turn is the end of the first so many calls of a thread.
type turn struct {
	thread int
	calls  uint64
}

// maxThings is how many things are known at most. When there are more, all are forgotten, and what threads do
// next comes after all that was done before.
const maxThings = 1 << 14

// placeCall finds the place of a call, the next of a thread, among those of the other threads.
func (p *process) placeCall(t *thread, f *plan, r *spool.Record) {
	if p.numbers < 2 {
		return
	}
	o, at := &p.ordering, t.recorder.Len()
	if o.things == nil || len(o.things) > maxThings {
		if o.things != nil {
			o.epoch++
		}
		o.things, o.starts = make(map[thing]*usage), make(map[int64][]use)
	}
	if at == 0 || t.epoch < o.epoch {
		t.epoch = o.epoch
		p.await(t, at)
	}
	o.uses = p.usesOf(o.uses[:0], f, r)
	for _, u := range o.uses {
		of := o.things[u.thing]
		if of == nil {
			of = &usage{}
			o.things[u.thing] = of
		}
		of.use(&o.order, turn{int(t.number), at + 1}, u.alike)
	}
}

// await has a call come after all calls of other threads.
func (p *process) await(t *thread, at uint64) {
	for _, other := range p.threads {
		if other != t && other.number >= 0 {
			p.ordering.order.After(int(t.number), at, int(other.number), other.recorder.Len())
		}
	}
}

// use takes note of a use by the last of the first calls of a thread.
func (u *usage) use(o *merge.ThreadOrder, now turn, as alike) {
	if as == ordered || as != u.alike {
		u.before, u.last, u.alike = u.last, u.before[:0], as
	}
	for _, b := range u.before {
		if b.thread != now.thread {
			o.After(now.thread, now.calls-1, b.thread, b.calls)
		}
	}
	for i := range u.last {
		if u.last[i].thread == now.thread {
			u.last[i] = now
			return
		}
	}
	u.last = append(u.last, now)
}

// usesOf appends what a call uses whose values are set.
func (p *process) usesOf(list []use, f *plan, r *spool.Record) []use {
	if r.Failed {
		return list
	}
	for i := range f.params {
		q := &f.params[i]
		if p.presence[i] == absent || p.presence[i] == constant || p.presence[i] == told {
			continue
		}
		switch q.operation {
		case object, created, shared, freed:
			as := ordered
			if q.operation == object {
				as = reading
			}
			list = p.usesOfHandles(list, thing{kind: anObject, class: q.class}, p.values[i], as)
		case began:
			list = p.usesOfHandles(list, thing{kind: aRequest}, p.values[i], ordered)
		case request:
			if p.finds(f, r) {
				list = p.usesOfHandles(list, thing{kind: aRequest}, p.values[i], ordered)
			}
		}
	}
	before := len(list)
	list = p.usesOfGroup(list, f, r)
	switch {
	case f.persistent:
		own := slices.Clone(list[before:])
		for i := range f.params {
			if f.params[i].operation == began && p.presence[i] == given && p.values[i].Kind() == cst.KindHandle {
				p.ordering.starts[p.values[i].Int()] = own
			}
		}
	case f.role.Requests == spec.Starts && p.presence[f.requests] == given:
		v := p.values[f.requests]
		if v.Kind() != cst.KindArray {
			return append(list, p.ordering.starts[v.Int()]...)
		}
		for k := range v.Len() {
			list = append(list, p.ordering.starts[v.Index(k).Int()]...)
		}
	}
	return list
}

// finds reports whether a call that may find nothing found something.
func (p *process) finds(f *plan, r *spool.Record) bool {
	if v := f.argument(r, "flag"); v.Presence == spool.Given {
		return v.Int() != 0
	}
	if v := f.argument(r, "outcount"); v.Presence == spool.Given {
		return v.Int() > 0
	}
	return true
}

// usesOfHandles appends the uses of a handle, or of several, but of constants.
func (p *process) usesOfHandles(list []use, of thing, v cst.Value, as alike) []use {
	if v.Kind() == cst.KindArray {
		for k := range v.Len() {
			list = p.usesOfHandles(list, of, v.Index(k), as)
		}
		return list
	}
	if of.id = v.Int(); of.id < 0 {
		return list
	}
	return append(list, use{of, as})
}

// usesOfGroup appends what a call uses of the communicator, window or file that it is on.
func (p *process) usesOfGroup(list []use, f *plan, r *spool.Record) []use {
	on := f.position(f.role.On)
	if on < 0 || p.presence[on] != given {
		return list
	}
	of := thing{class: f.params[on].class, id: p.values[on].Int()}
	if f.role.Collective {
		of.kind = theCollectives
		list = append(list, use{of, ordered})
	}
	if s := f.role.Sends; s != nil {
		if peer, tag, ok := p.endOf(f, s.Peer, s.Tag); ok {
			list = append(list, use{thing{kind: theSends, class: of.class, id: of.id, peer: peer, tag: tag},
				p.messages(f, s)})
		}
	}
	receives := f.role.Receives
	if f.role.Class == spec.Probe && p.finds(f, r) {
		receives = &spec.Transfer{Peer: "source", Tag: "tag"}
	}
	if receives == nil {
		return list
	}
	peer, tag, ok := p.endOf(f, receives.Peer, receives.Tag)
	if !ok {
		return list
	}
	of.kind = allReceives
	if tag < 0 || peer < 0 {
		return append(list, use{of, ordered})
	}
	return append(list, use{of, reading},
		use{thing{kind: theReceives, class: of.class, id: of.id, peer: peer, tag: tag}, p.messages(f, receives)})
}

// endOf returns the other rank and the tag of a message, which may be from any source or with any tag, by the
// names of parameters; ok is false if there is none, as that with MPI_PROC_NULL.
func (p *process) endOf(f *plan, peer, tag string) (rank, number int64, ok bool) {
	i, k := f.position(peer), f.position(tag)
	if i < 0 || p.presence[i] != given {
		return 0, 0, false
	}
	if k >= 0 && p.presence[k] == given {
		number = p.values[k].Int()
	}
	rank = p.values[i].Int()
	return rank, number, rank != noProcess
}

// messages returns what is alike in messages of a count and datatype. Where the trace has the time of every
// call, none are: their order shows which was first.
func (p *process) messages(f *plan, of *spec.Transfer) alike {
	count, datatype := f.position(of.Count), f.position(of.Type)
	if p.times.Series != nil || count < 0 || datatype < 0 || p.presence[count] != given ||
		p.presence[datatype] != given {
		return ordered
	}
	return alike{is: 2, count: p.values[count].Int(), datatype: p.values[datatype].Int()}
}

// noProcess is the rank that stands for no process.
var noProcess = spec.Constants()[slices.IndexFunc(spec.Constants(), func(c spec.Constant) bool {
	return c.Name == "MPI_PROC_NULL"
})].ID

// position returns the number of the parameter with a name, −1 if there is none.
func (f *plan) position(name string) int {
	return slices.IndexFunc(f.params, func(q parameter) bool { return q.Name == name })
}
