package groups

import (
	"context"
	"hash/fnv"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/mpi/internal/resolve"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// Classes of handles of group objects.
const (
	commClass = "comm"
	winClass  = "win"
	fileClass = "file"

	sideClass = "side" // a local group that an intercommunicator is made of; no handle stands for it
)

// A plan is what a function of a trace does to group objects.
type plan struct {
	*spec.Role
	function *cst.Function
	result   string // parameter with the object that it makes
	color    string // parameter that tells the objects apart that members make together
	cartSub  bool
}

// plansOf returns the plans of functions; nil for those that do nothing to group
// objects, or that failed or did not return.
func plansOf(functions []cst.Function) []*plan {
	plans := make([]*plan, len(functions))
	for i := range functions {
		f := &functions[i]
		r := spec.RoleOf(f.Name)
		if outcome := spec.OutcomeOf(f); r.Makes == 0 && !r.Frees || outcome != spec.Succeeded {
			continue
		}
		plans[i] = newPlan(r, f)
	}
	return plans
}

func newPlan(r *spec.Role, f *cst.Function) *plan {
	p := &plan{Role: r, function: f}
	for _, q := range f.Params {
		switch {
		case q.Direction == cst.Out && q.Type.Kind == cst.KindHandle && isObject(q.Type.Class):
			p.result = q.Name
		case q.Name == "color" || q.Name == "leader":
			p.color = q.Name
		}
	}
	p.cartSub = r.Makes == spec.Split && p.color == ""
	return p
}

// isObject reports whether handles of a class are of group objects.
func isObject(class string) bool {
	return class == commClass || class == winClass || class == fileClass
}

// arguments are those of a call.
type arguments struct {
	params []cst.Param
	values []cst.Value
}

// find returns the argument of a parameter of a kind, which a call need not have.
func (a arguments) find(name string, kind cst.Kind) (cst.Value, cst.Type, bool) {
	i := slices.IndexFunc(a.params, func(p cst.Param) bool { return p.Name == name && p.Type.Kind == kind })
	if i < 0 {
		return cst.Value{}, cst.Type{}, false
	}
	return a.values[i], a.params[i].Type, true
}

// number returns a number that an argument is, 0 if there is none.
func (a arguments) number(name string) int64 {
	for _, kind := range []cst.Kind{cst.KindInt, cst.KindRank, cst.KindTag} {
		if v, _, ok := a.find(name, kind); ok {
			return v.Int()
		}
	}
	return 0
}

// numbers returns the elements of an argument that is an array of numbers.
func (a arguments) numbers(name string) []int64 {
	v, typ, ok := a.find(name, cst.KindArray)
	if !ok || typ.Elem.Kind != cst.KindInt && typ.Elem.Kind != cst.KindRank {
		return nil
	}
	list := make([]int64, v.Len())
	for i := range list {
		list[i] = v.Index(i).Int()
	}
	return list
}

// object returns the group object that an argument is, the zero Local if it is none.
func (a arguments) object(name string) resolve.Local {
	v, typ, ok := a.find(name, cst.KindHandle)
	if !ok {
		return resolve.Local{}
	}
	if !isObject(typ.Class) {
		return resolve.Local{}
	}
	return resolve.Local{Class: typ.Class, ID: v.Int()}
}

// creation returns what a call of a plan creates, or frees.
func (p *plan) creation(values []cst.Value) resolve.Creation {
	a := arguments{p.function.Params, values}
	c := resolve.Creation{Kind: p.Makes, Parent: a.object(p.On)}
	if p.Frees {
		return c
	}
	if r := a.object(p.result); r.ID >= 0 {
		c.Result = r
	}
	if p.color != "" {
		c.Color, c.Key = a.number(p.color), a.number("key")
	}
	if _, _, ok := a.find("newrank", cst.KindRank); ok {
		c.Rank, c.Size = int(a.number("newrank")), -1
	}
	switch p.Makes {
	case spec.CreateGroup:
		for _, m := range a.numbers("members") {
			c.Members = append(c.Members, int(m))
		}
		c.Tag = a.number("tag")
		if v, _, ok := a.find("stringtag", cst.KindString); ok && p.On == "" {
			c.Parent, c.Tag = world, tagOf(v.Text())
		}
	case spec.IntercommCreate:
		c.Leader, c.RemoteLeader = int(a.number("local_leader")), int(a.number("remote_leader"))
		c.Peer, c.Tag = a.object("peer_comm"), a.number("tag")
		if v, _, ok := a.find("stringtag", cst.KindString); ok && p.On == "" {
			c.Parent, c.Peer = resolve.Local{Class: sideClass, ID: c.Result.ID}, world
			c.RemoteLeader, c.Tag = int(a.number("newleader")), tagOf(v.Text())
		}
	case spec.IntercommMerge:
		c.High = a.number("high") != 0
	case spec.Accept, spec.Connect:
		c.Leader = int(a.number("root"))
		if v, _, ok := a.find("port_name", cst.KindString); ok {
			c.Port = v.Text()
		}
	}
	return c
}

// side returns the creation of the group that is a side of an intercommunicator that a call makes of groups,
// nil for other calls.
func (p *plan) side(values []cst.Value, c resolve.Creation) *resolve.Creation {
	if c.Parent.Class != sideClass {
		return nil
	}
	side := &resolve.Creation{Kind: spec.CreateGroup, Parent: world, Result: c.Parent, Tag: c.Tag}
	for _, m := range (arguments{p.function.Params, values}).numbers("members") {
		side.Members = append(side.Members, int(m))
	}
	return side
}

// tagOf returns a number for a tag that is a string: negative, as no other tag is, and with high probability
// another for another string.
func tagOf(text string) int64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return int64(h.Sum64() | 1<<63)
}

// A found is what a terminal does.
type found struct {
	plan     *plan
	creation resolve.Creation
	side     *resolve.Creation // before it, if it is of groups
	dims     []int64           // of MPI_Cart_create
	keep     []bool            // of MPI_Cart_sub
}

// scan finds the events of a process, at most some.
func (r *run) scan(ctx context.Context, read *trace.Rank, p *process, most uint64) error {
	terminals, calls, threads := make(map[sequitur.Symbol]*found), uint64(0), false
	for terminal, count := range read.Occurrences() {
		threads = threads || r.threads[read.Function(terminal)]
		if f := r.look(read, terminal); f != nil {
			terminals[terminal] = f
			calls = wire.AddSat(calls, count)
		}
	}
	if calls > most {
		return ErrLimit
	}
	p.events = make([]event, 0, calls)
	grids := make(map[resolve.Local][]int64)
	spawned := 0
	for position, terminal := range read.Find(0, func(s sequitur.Symbol) bool { return terminals[s] != nil }) {
		f := terminals[terminal]
		if f.side != nil {
			p.events = append(p.events, event{position: position, creation: *f.side})
		}
		e := f.event(position, grids)
		if e.creation.Kind == spec.Spawn {
			e.creation.Members = r.started(p.rank, spawned)
			spawned++
		}
		p.events = append(p.events, e)
		if len(p.events)%(1<<16) == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if threads {
		p.disorder()
	}
	return nil
}

// disorder has the objects that the process makes only once there in all calls: those of
// one of its threads stand after those of the other, so that a call may stand in front of
// the one that makes its object, and behind the one that frees it.
func (p *process) disorder() {
	made := make(map[resolve.Local]int)
	for i := range p.events {
		made[p.events[i].creation.Result]++
	}
	p.events = slices.DeleteFunc(p.events, func(e event) bool {
		return e.creation.Kind == 0 && made[e.creation.Parent] == 1
	})
	for i := range p.events {
		c := &p.events[i].creation
		c.Always = c.Result.Class != "" && made[c.Result] == 1
	}
}

// look returns what a terminal does, nil if it is nothing.
func (r *run) look(read *trace.Rank, terminal uint32) *found {
	p := r.plans[read.Function(terminal)]
	if p == nil {
		return nil
	}
	values := read.Call(terminal).Args
	f := &found{plan: p, creation: p.creation(values)}
	f.side = p.side(values, f.creation)
	switch c := &f.creation; {
	case c.Kind == spec.SpawnedBy:
		if c.Result.Class == "" {
			return nil
		}
	case c.Kind == 0 && c.Parent.ID < 0 || c.Parent.Class == "":
		return nil // what is there from the start, or nothing
	}
	a := arguments{p.function.Params, values}
	switch {
	case p.cartSub:
		for _, n := range a.numbers("remain_dims") {
			f.keep = append(f.keep, n != 0)
		}
	case p.Makes == spec.Topology:
		f.dims = a.numbers("dims")
	}
	return f
}

// event returns what the call at a position does, and keeps the grids up to date,
// which communicators have that it creates.
func (f *found) event(position uint64, grids map[resolve.Local][]int64) event {
	e := event{position: position, creation: f.creation}
	c := &e.creation
	var dims []int64
	switch {
	case c.Kind == 0:
		delete(grids, c.Parent)
		return e
	case f.plan.cartSub:
		grid := grids[c.Parent]
		e.drop = &dropped{dims: grid, keep: f.keep}
		for i, n := range grid {
			if i < len(f.keep) && f.keep[i] {
				dims = append(dims, n)
			}
		}
	case c.Kind == spec.Topology:
		dims = f.dims
	case c.Kind == spec.Duplicate:
		dims = grids[c.Parent]
	}
	if dims != nil && c.Result.Class == commClass {
		grids[c.Result] = dims
	} else {
		delete(grids, c.Result)
	}
	return e
}
