package otf2

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/export/internal/spool"
	"github.com/reprise-trace/reprise/internal/layout"
	archive "github.com/reprise-trace/reprise/mpi/otf2"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/query"
)

// A process is a rank that is being written.
type process struct {
	*writer
	rank    *events.Rank
	numbers *query.Numbers  // nil if nothing is known of messages
	means   *semantics.Rank // the same
	actions bool            // calls are actions of SimGrid
	sites   query.Sites
	calls   []*call // by terminal
	first   int64   // the start of the first call, and the end of the last
	last    int64
	free    []*entry

	active  map[int64][]pending // by request
	done    [][]pending         // lists of active that can be used again
	spool   spool.File
	lastID  uint64 // of requests, and of what OTF2 matches by a number
	remote  map[*window][]*access
	exposed map[*window][2]uint64 // the groups of MPI_Win_start and MPI_Win_post
	split   map[*handle]transfer
}

// A call is what the calls of a terminal have in common.
type call struct {
	trace      callOf
	region     uint64
	attributes []archive.Attribute
	role       *spec.Role
	base       string // name of the function without MPI_

	makes, class string // the parameter that is a new object, and its class; empty for none
	exclusive    bool   // what is locked is locked for the caller alone

	marked uint64 // the region that the call begins or ends, plus 1
	begins bool
	silent bool // the call does nothing else, and is not written
}

// callOf is a call of a terminal, whose arguments can be asked for.
type callOf struct {
	function *cst.Function
	args     []cst.Value
}

// text returns an argument that is text, empty if there is none.
func (c *callOf) text(name string) string {
	for i := range c.function.Params {
		if c.function.Params[i].Name == name && c.args[i].Kind() == cst.KindString {
			return c.args[i].Text()
		}
	}
	return ""
}

// number returns an argument that is a number, or stands for one.
func (c *callOf) number(name string) (int64, bool) {
	for i := range c.function.Params {
		if c.function.Params[i].Name == name {
			switch v := c.args[i]; v.Kind() {
			case cst.KindInt, cst.KindRank, cst.KindTag, cst.KindHandle:
				return v.Int(), true
			}
		}
	}
	return 0, false
}

// numbers returns the elements of an argument that is an array of numbers, or one of some.
func (c *callOf) numbers(name string) (list []int64) {
	for i := range c.function.Params {
		if c.function.Params[i].Name != name || c.args[i].Kind() != cst.KindArray {
			continue
		}
		for k := range c.args[i].Len() {
			if v := c.args[i].Index(k); v.Kind() == cst.KindInt || v.Kind() == cst.KindHandle {
				list = append(list, v.Int())
			}
		}
	}
	return list
}

// An entry is a call that is to be written.
type entry struct {
	events.Event
	call *call

	// What the call does, at its start and at its end.
	begin, end []event

	long bool // it is written before, as it contains many others
}

// An event is one of MPI.
type event struct {
	kind   *archive.Kind
	values [6]uint64
}

func eventOf(k *archive.Kind, values ...uint64) (e event) {
	e.kind = k
	copy(e.values[:], values)
	return e
}

// rank writes the events of a rank.
func (w *writer) rank(ctx context.Context, r *events.Rank) error {
	i, _ := w.indexOf(r.Number)
	g := &w.groups[i]
	g.times = r.TimesLabel()
	p := &process{writer: w, rank: r, numbers: r.Numbers(), first: -1, calls: make([]*call, r.Terminals()),
		actions: events.AreActions(w.choice.Source().Functions()), sites: query.SitesOf(w.choice.Source()),
		active: make(map[int64][]pending), remote: make(map[*window][]*access),
		exposed: make(map[*window][2]uint64), split: make(map[*handle]transfer)}
	if p.numbers != nil {
		p.means = p.numbers.Meaning()
	}
	threads := slices.Sorted(r.Threads())
	if k := slices.Index(threads, 0); k > 0 { // whose thread is the master
		threads = slices.Insert(slices.Delete(threads, k, k+1), 0, 0)
	}
	for _, t := range threads {
		g.locations = append(g.locations, location{thread: t})
	}
	orders, err := p.orders(int(i), g)
	if err != nil {
		return err
	}
	err = p.run(ctx, orders)
	for k := range g.locations {
		o := orders[g.locations[k].thread]
		g.locations[k].events = o.sink.count
		w.summary.Events += o.sink.count
		w.end = max(w.end, int64(o.sink.time))
	}
	return err
}

// orders returns what orders and writes the calls of each thread.
func (p *process) orders(index int, g *group) (map[int32]*order, error) {
	orders := make(map[int32]*order, len(g.locations))
	n := len(g.locations)
	var kinds []*archive.Kind
	for k, l := range g.locations {
		s := &sink{process: p, location: locationID(index, k)}
		if n > 1 {
			s.spool = &spooled{p.spool.Stream(min(max(sharedBuffer/n, leastBuffer), mostBuffer)), &kinds}
		}
		orders[l.thread] = &order{process: p, before: -1, window: min(max(sharedLook/n, leastLook), mostLook), sink: s}
	}
	for e, err := range p.rank.Ahead() {
		if err != nil {
			return nil, err
		}
		orders[e.Thread].look(e)
		if p.first < 0 || e.Start < p.first {
			p.first = e.Start
		}
		p.last = max(p.last, e.End)
	}
	for _, o := range orders {
		o.looked()
	}
	if whole := !p.part && p.first >= 0; whole {
		orders[g.locations[0].thread].sink.program = p.program()
	}
	return orders, nil
}

// program returns the Strings of what the process runs: name and arguments, as MPI_Init was given them, or else the
// command; nil if neither is known.
func (p *process) program() (words []uint64) {
	for terminal := range uint32(p.rank.Terminals()) {
		c := p.rank.Call(terminal)
		v, ok := c.Arg("argv")
		if spec.RoleOf(c.Function.Name).Begins != "world" || !ok || v.Kind() != cst.KindArray {
			continue
		}
		for i := range v.Len() {
			if v.Index(i).Kind() == cst.KindString {
				words = append(words, p.text(events.Readable(v.Index(i).Text())))
			}
		}
		if len(words) > 0 {
			return words
		}
	}
	if commands := p.choice.Source().Run().Origin.Commands; len(commands) == 1 {
		return []uint64{p.text(events.Readable(commands[0]))}
	}
	return nil
}

// run goes through the calls.
func (p *process) run(ctx context.Context, orders map[int32]*order) (err error) {
	defer p.spool.Close()
	for _, o := range orders {
		if o.sink.spool == nil {
			o.sink.begin()
		}
	}
	for e, err := range p.rank.All() {
		if err != nil {
			return err
		}
		n := p.entry(e)
		if err := p.meaning(n); err != nil {
			return err
		}
		orders[e.Thread].add(n)
		if p.definitions.err != nil {
			return p.definitions.err
		}
	}
	for _, thread := range slices.Sorted(maps.Keys(orders)) {
		orders[thread].finish()
		if s := orders[thread].sink; s.spool == nil {
			s.end()
		}
	}
	for _, thread := range slices.Sorted(maps.Keys(orders)) {
		if err := orders[thread].sink.replay(); err != nil {
			return err
		}
	}
	if p.definitions.err == nil {
		return ctx.Err()
	}
	return p.definitions.err
}

// entry returns an entry for a call.
func (p *process) entry(e events.Event) *entry {
	var n *entry
	if k := len(p.free) - 1; k >= 0 {
		n = p.free[k]
		p.free = p.free[:k]
		n.begin, n.end, n.long = n.begin[:0], n.end[:0], false
	} else {
		n = new(entry)
	}
	n.Event, n.call = e, p.call(e.Terminal)
	return n
}

// call returns the call that a terminal stands for.
func (p *process) call(terminal uint32) *call {
	c := p.calls[terminal]
	if c == nil {
		c = p.newCall(terminal)
		p.calls[terminal] = c
	}
	return c
}

func (p *process) newCall(terminal uint32) *call {
	of := p.rank.Call(terminal)
	name := of.Function.Name
	c := &call{trace: callOf{of.Function, of.Args}, region: p.region(name, p.actions), role: spec.RoleOf(name),
		base: spec.Base(name)}
	site := ""
	if k := layout.SiteOf(of.Function); k >= 0 {
		site = of.Function.Params[k].Name
	}
	for _, a := range p.rank.WholeArgs(terminal) {
		kind, value := constants.typeString, uint64(0)
		switch a.Kind {
		case cst.KindInt:
			kind, value = constants.typeInt64, uint64(a.Number)
		case cst.KindFloat:
			kind, value = constants.typeDouble, math.Float64bits(a.Float)
		case cst.KindString:
			if a.Name == site {
				a.Text = events.Readable(p.sites.Of(&of))
			}
			value = p.text(a.Text)
		}
		c.attributes = append(c.attributes, archive.Attribute{ID: p.attribute(a.Name, uint8(kind)),
			Type: uint8(kind), Value: value})
	}
	if site != "" {
		if line, ok := p.line(p.sites.Of(&of)); ok {
			c.attributes = append(c.attributes, archive.Attribute{
				ID:   p.attribute("source code location", uint8(constants.typeLine)),
				Type: uint8(constants.typeLine), Value: line})
		}
	}
	c.exclusive = slices.ContainsFunc(p.rank.Args(terminal), func(a events.Arg) bool {
		return a.Name == "lock_type" && a.Text == "MPI_LOCK_EXCLUSIVE"
	})
	for _, param := range of.Function.Params {
		if param.Direction == cst.Out && param.Type.Kind == cst.KindHandle && c.role.Makes != 0 && c.makes == "" {
			switch param.Type.Class {
			case "comm", "win", "file":
				c.makes, c.class = param.Name, param.Type.Class
			}
		}
	}
	if name, begins, ok := query.MarkerOf(&of); ok {
		c.marked, c.begins, c.silent = p.userRegion(name)+1, begins, c.base == of.Function.Name
	}
	return c
}
