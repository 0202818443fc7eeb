package otf2

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/compress"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// Source is that of the run of a trace of an archive, as [trace.Trace.Run] has it.
const Source = "OTF2"

// ImportOptions configures [Import]. The zero ImportOptions keeps statistics of times.
type ImportOptions struct {
	Options

	// Times say what is kept of the times of calls.
	Times tracer.Options

	// Progress, unless it is nil, is called after every some thousand events with their number. Import ends with
	// its error.
	Progress func(events uint64) error
}

// An Imported is what [Import] makes of an archive.
type Imported struct {
	Run         merge.Run
	Parts       []merge.Part // of ranks with events, ascending
	Locations   int
	Events      uint64
	Calls       uint64
	Definitions uint64 // and markers
}

// Import reads an archive and returns the run and the parts of its ranks, for [merge.Write]. Process groups of
// locations are ranks, in the order that the group of MPI's locations says, and then of their definitions; locations
// are threads.
//
// A region without another one in it is a call, with the fields of the events in it as arguments. Other regions are
// calls of Enter and Leave, and other events calls by their names, which take no time. If the codec of the times is
// exact, [Export] writes the archive again, and [Compare] compares it: times of events in calls are kept, too.
//
// What it holds grows with the structure of the calls and with what the codec makes of times, not with events.
func Import(ctx context.Context, path string, o ImportOptions) (*Imported, error) {
	defer compress.Hold()()
	r, err := importWith(ctx, path, o, false)
	if errors.Is(err, errScale) {
		r, err = importWith(ctx, path, o, true)
	}
	return r, err
}

func importWith(ctx context.Context, path string, o ImportOptions, plain bool) (*Imported, error) {
	in, err := Open(ctx, path, o.Options)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	g := newImporter(&o)
	for {
		r, err := in.Read()
		if err == io.EOF {
			return g.finish()
		}
		if err == nil {
			err = g.take(r, plain)
		}
		if err != nil {
			return nil, err
		}
	}
}

// An importer is the state of Import.
type importer struct {
	options *ImportOptions
	archive *archive
	exact   bool // so that the archive can be written again
	ranks   int  // 0 before the first event

	at     int // in the locations of the archive
	of     *locationRecorder
	parts  [][]merge.Part // by rank
	kept   []format.Kept
	result Imported
}

func newImporter(o *ImportOptions) *importer {
	return &importer{options: o, archive: newArchive(), exact: o.Times.Series != nil && o.Times.Bounded == 0 &&
		len(o.Times.DurationsOf) == 0 && o.Times.Series.Guarantee() == timing.Exact}
}

// take takes a record.
func (g *importer) take(r *Record, plain bool) error {
	a := g.archive
	if r.Kind.Class != Event {
		g.result.Definitions++
		a.add(r)
		return nil
	}
	if g.ranks == 0 {
		g.place(plain)
	}
	if g.of == nil || g.of.l.number != r.Location {
		if err := g.begin(r.Location); err != nil {
			return err
		}
	}
	g.result.Events++
	if g.result.Events%(1<<14) == 0 && g.options.Progress != nil {
		if err := g.options.Progress(g.result.Events); err != nil {
			return err
		}
	}
	return g.of.event(r)
}

func (g *importer) place(plain bool) {
	g.archive.clock.plain = plain
	if g.archive.clock.resolution == 0 {
		g.archive.clock.plain = true
	}
	g.ranks = g.archive.place()
	g.parts = make([][]merge.Part, g.ranks)
	g.at = -1
}

// begin begins the events of a location.
func (g *importer) begin(number uint64) error {
	if err := g.end(); err != nil {
		return err
	}
	for g.at++; g.at < len(g.archive.locations); g.at++ {
		if l := &g.archive.locations[g.at]; l.number == number {
			recorder, err := tracer.New(g.options.Times)
			g.of = &locationRecorder{archive: g.archive, l: l, recorder: recorder, exact: g.exact,
				forms: make(map[string]*form), first: make(map[string]uint64), regions: make(map[uint64]*region),
				names: make(map[string]int)}
			return err
		}
	}
	return fmt.Errorf("otf2: location %d is defined twice", number)
}

// end ends the events of a location.
func (g *importer) end() error {
	l := g.of
	if l == nil {
		return nil
	}
	g.of = nil
	if err := l.flush(); err != nil {
		return err
	}
	if err := l.recorder.Err(); err != nil {
		return fmt.Errorf("otf2: location %d: %w", l.l.number, err)
	}
	calls := l.recorder.Len()
	g.result.Calls += calls
	g.result.Locations++
	if g.exact {
		g.kept = append(g.kept, format.Kept{Name: keyOf(g.at), Data: l.appendKept(nil, calls)})
	}
	if part := l.recorder.Finish(l.l.rank); calls > 0 {
		g.parts[l.l.rank] = append(g.parts[l.l.rank], part)
	}
	return nil
}

// finish returns the result.
func (g *importer) finish() (*Imported, error) {
	if g.ranks == 0 {
		g.place(false)
	}
	if err := g.end(); err != nil {
		return nil, err
	}
	r := &g.result
	r.Run = merge.Run{Ranks: g.ranks, Source: Source, Origin: format.Origin{Began: g.archive.began,
		Times: g.archive.times()}}
	r.Run.Kept = append(g.kept, format.Kept{Name: keptName, Data: g.archive.appendKept(nil)})
	if g.exact {
		r.Run.Kept = append(r.Run.Kept, format.Kept{Name: keptExact})
	}
	used := make(map[handle]bool)
	for rank, threads := range g.parts {
		if len(threads) == 0 {
			continue
		}
		part := threads[0]
		if len(threads) > 1 {
			var err error
			if part, err = merge.Join(rank, nil, threads...); err != nil {
				return nil, err
			}
		}
		collectHandles(used, part.Table)
		r.Parts = append(r.Parts, part)
	}
	r.Run.Names = g.archive.names(used)
	return r, nil
}

// A handle is one among arguments.
type handle struct {
	class string
	value int64
}

// collectHandles adds the handles among the arguments of a table.
func collectHandles(used map[handle]bool, t *cst.Table) {
	var add func(p cst.Type, v cst.Value)
	add = func(p cst.Type, v cst.Value) {
		switch p.Kind {
		case cst.KindHandle:
			used[handle{p.Class, v.Int()}] = true
		case cst.KindArray:
			for i := range v.Len() {
				add(*p.Elem, v.Index(i))
			}
		}
	}
	functions := t.Functions()
	for f, args := range t.All() {
		for i, p := range functions[f].Params {
			add(p.Type, args[i])
		}
	}
}

// names returns the names of handles.
func (a *archive) names(used map[handle]bool) []format.Name {
	types := make(map[string]Field)
	for _, k := range theTable().kinds[firstKind:] {
		for _, f := range slices.Concat(k.Fields, k.List) {
			if isHandle(f.Type) {
				types[classOf(f.Type)] = Field{Type: f.Type}
			}
		}
	}
	types[layout.Site.Type.Class] = Field{Type: "StringRef"}
	var list []format.Name
	for h := range used {
		f, ok := types[h.class]
		if !ok {
			continue
		}
		name := a.nameOf(f.Type, fromInt(f, h.value))
		if h.class == layout.Site.Type.Class {
			if text, err := strconv.Unquote(name); err == nil { // it has several lines
				name = text
			}
		}
		if len(name) > 0 && len(name) <= cst.MaxName {
			list = append(list, format.Name{Kind: cst.KindHandle, Class: h.class, Value: h.value, Name: name})
		}
	}
	slices.SortFunc(list, func(x, y format.Name) int {
		return cmp.Or(strings.Compare(x.Class, y.Class), cmp.Compare(x.Value, y.Value))
	})
	return list
}

// A region is one that a location enters.
type region struct {
	name   string
	number uint64
	isCall bool // calls have its name
	id     bool // it is not the first of its name
	form   uint64
}

// A locationRecorder records the events of a location.
type locationRecorder struct {
	*archive
	l        *location
	recorder *tracer.Recorder
	exact    bool

	forms   map[string]*form
	list    []*form
	first   map[string]uint64 // regions, by name
	names   map[string]int
	regions map[uint64]*region

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
	if _, ok := l.first[g.name]; !ok {
		l.first[g.name] = number
		l.names[g.name] = len(l.names)
	}
	g.id = l.first[g.name] != number
	g.isCall = isCallName(g.name)
	g.form = uint64(l.names[g.name]) * 2
	if g.id {
		g.form++
	}
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
		f = newForm(l.archive, name, itemsOf(events), l.l.thread > 0, named, id)
		f.number = l.recorder.Declare(f.function)
		f.description = describe(f.events)
		if role == isCall && l.exact {
			f.streams = make([]hidden, f.inner)
		}
		l.forms[string(l.key)] = f
		l.list = append(l.list, f)
	}
	return f
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
	l.recorder.CallAt(f.number, start, duration, l.args...)
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
	f := l.formOf(isCall, g.form, g.name, events, false, g.id)
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
		dst = binary.AppendUvarint(appendText(dst, name), l.first[name])
	}
	dst = l.requests.ids.appendTo(dst)
	dst = l.rest.appendTo(dst)
	with := slices.DeleteFunc(slices.Clone(l.list), func(f *form) bool { return len(f.streams) == 0 })
	dst = binary.AppendUvarint(dst, uint64(len(with)))
	for _, f := range with {
		dst = binary.AppendUvarint(appendText(dst, f.identity()), uint64(len(f.streams)))
		for i := range f.streams {
			dst = f.streams[i].appendTo(dst)
		}
	}
	return dst
}

// requestNumbers numbers the requests of a location that are active: the lowest numbers that no other has.
type requestNumbers struct {
	active map[uint64]int64
	free   []int64 // a heap
	next   int64
	ids    hidden // of requests that start, and of those that were not active: differences
	last   uint64
}

// notActive stands for a request that is not active.
const notActive = -1

// number returns the number of a request that an event names, which may start or end it.
func (q *requestNumbers) number(starts, ends bool, id uint64) int64 {
	n, ok := q.active[id]
	switch {
	case starts && !ok:
		if q.active == nil {
			q.active = make(map[uint64]int64)
		}
		n = q.lowest()
		q.active[id] = n
	case !ok:
		n = notActive
	}
	if starts || !ok {
		q.ids.add(int64(id - q.last))
		q.last = id
	}
	if ends && ok {
		delete(q.active, id)
		q.release(n)
	}
	return n
}

// lowest takes the lowest number that is free.
func (q *requestNumbers) lowest() int64 {
	if len(q.free) == 0 {
		q.next++
		return q.next - 1
	}
	n := q.free[0]
	end := len(q.free) - 1
	q.free[0] = q.free[end]
	q.free = q.free[:end]
	for i := 0; ; {
		child := 2*i + 1
		if child >= end {
			return n
		}
		if child+1 < end && q.free[child+1] < q.free[child] {
			child++
		}
		if q.free[i] <= q.free[child] {
			return n
		}
		q.free[i], q.free[child] = q.free[child], q.free[i]
		i = child
	}
}

func (q *requestNumbers) release(n int64) {
	q.free = append(q.free, n)
	for i := len(q.free) - 1; i > 0; {
		parent := (i - 1) / 2
		if q.free[parent] <= q.free[i] {
			return
		}
		q.free[i], q.free[parent] = q.free[parent], q.free[i]
		i = parent
	}
}
