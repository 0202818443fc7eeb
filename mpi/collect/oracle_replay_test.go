package collect

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A replay goes through the records of a process and works out what the trace should
// have of each call. It is written for being right, and shares nothing with what it
// is to check but internal/requestid.
type replay struct {
	constants map[string]map[int64]int64 // ids by class and raw value
	objects   map[string]*knownObjects
	requests  knownRequests
	memory    knownMemory
	classes   map[int64]int64 // of errors, by code
	off       bool
	freeing   map[*thread][]freeingCall
	dynamic   map[int64]bool             // windows that memory is attached to, by id
	loaded    map[*thread][]loadedObject // the latest last
	callers   map[*thread]map[uint64][]uint64
	sizes     map[*thread]map[int64]int64 // of datatypes of the next call, by handle

	inFlight bool             // calls that follow have not returned
	wanted   []wantedArgument // of the latest call
}

func newReplay() *replay {
	m := &replay{
		constants: make(map[string]map[int64]int64),
		objects:   make(map[string]*knownObjects),
		classes:   make(map[int64]int64),
		freeing:   make(map[*thread][]freeingCall),
		dynamic:   make(map[int64]bool),
		loaded:    make(map[*thread][]loadedObject),
		callers:   make(map[*thread]map[uint64][]uint64),
		sizes:     make(map[*thread]map[int64]int64),
	}
	m.constantsOf("function")[0] = -1 // NULL
	m.memory.windows = make(map[int64]span)
	m.requests = knownRequests{
		constants: m.constantsOf("request"),
		poolOf:    make(map[string]int),
		live:      make(map[int64]*knownRequest),
		lines:     make(map[int64]*requestLine),
		calls:     make(map[*thread][]requestCall),
	}
	return m
}

func (m *replay) constantsOf(class string) map[int64]int64 {
	if m.constants[class] == nil {
		m.constants[class] = make(map[int64]int64)
	}
	return m.constants[class]
}

func (m *replay) objectsOf(class string) *knownObjects {
	if m.objects[class] == nil {
		m.objects[class] = &knownObjects{nobody: class == "function" ||
			class == "site", constants: m.constantsOf(class)}
	}
	return m.objects[class]
}

// follow takes a record. Of a call in the trace, c is what the trace has; it is looked
// at for what the records do not determine alone.
func (m *replay) follow(t *thread, r *spool.Record, c *tracedCall) {
	m.memory.silent = false
	switch r.Type {
	case spool.Known:
		m.declare(r.Function, r.Result)
	case spool.Module:
		m.loaded[t] = append(m.loaded[t], loadedObject{r.Address, r.Size, r.Base, string(r.Path.Text())})
	case spool.Sized:
		if m.sizes[t] == nil {
			m.sizes[t] = make(map[int64]int64)
		}
		m.sizes[t][r.Result] = int64(r.Size)
	case spool.Callers:
		if m.callers[t] == nil {
			m.callers[t] = make(map[uint64][]uint64)
		}
		m.callers[t][r.Site] = slices.Clone(r.Addresses)
	case spool.Allocated:
		m.memory.allocate(span{address: r.Address, size: r.Size, id: -1, device: r.Device})
	case spool.Released:
		m.memory.free(r.Old)
	case spool.Unmapped:
		m.memory.unmap(r.Old, r.Size)
	case spool.Resized:
		m.memory.move(t, r)
	case spool.Region:
		m.memory.declare(r.Number, r.Address, r.Size)
	case spool.Began:
		if knownFunctions[r.Function].requests >= 0 {
			m.requests.enter(t, r)
		}
		m.frees(t, r)
	case spool.Call:
		m.call(t, r, c)
		delete(m.sizes, t)
	}
}

// declare takes note of a constant. The first that has a value counts, and none that
// has that of an object.
func (m *replay) declare(n int, raw int64) {
	class := spec.Constants()[n].Class
	id := int64(0)
	for _, k := range spec.Constants()[:n+1] {
		if k.Class == class {
			id--
		}
	}
	if _, known := m.constantsOf(class)[raw]; !known && (m.objects[class] == nil || m.objects[class].live[raw] == nil) {
		m.constants[class][raw] = id
	}
}

// call follows a call that has returned.
func (m *replay) call(t *thread, r *spool.Record, c *tracedCall) {
	f := &knownFunctions[r.Function]
	if r.Hidden && !m.off {
		m.requests.switchedOff()
	}
	m.off = r.Hidden
	m.learn(f, r)
	var given *requestCall
	if f.requests >= 0 {
		given = m.requests.current(t, r)
		if given.unseen {
			m.requests.leave(t, r)
			return
		}
		m.requests.settle(t, given, handlesIn(c.argument(f.Params[f.requests].Name)))
	}
	s := m.memory.made(f, r)
	m.wanted = m.wanted[:0]
	if t.number > 0 {
		m.want("thread", cst.Type{Kind: cst.KindInt}, cst.In, cst.Int(t.number))
	}
	from := len(m.wanted)
	for i := range f.Params {
		m.parameter(t, f, r, given, i)
	}
	if i := slices.IndexFunc(f.Params, func(p spec.Param) bool { return p.Name == "win" }); i >= 0 && s.size > 0 {
		m.memory.windows[m.objectsOf("win").find(r.Arguments[i].After.Int())] = s
	}
	if f.Name == "MPI_Win_create_dynamic" && !r.Failed {
		m.dynamic[m.objectsOf("win").find(f.after(r, "win"))] = true
	}
	m.begin(t, f, r, from, c)
	if c != nil {
		m.result(t, f, r)
	}
	if given != nil {
		m.requests.leave(t, r)
	}
	m.freed(t, f, r)
}

// frees follows a call that begins, and may free an object or memory.
func (m *replay) frees(t *thread, r *spool.Record) {
	f := &knownFunctions[r.Function]
	for calls := m.freeing[t]; len(calls) > 0 && calls[len(calls)-1].depth >= r.Depth; calls = m.freeing[t] {
		m.settle(t, nil) // it was never left
	}
	c := freeingCall{function: r.Function, depth: r.Depth}
	switch i := slices.Index(f.roles, freeing); {
	case f.Name == "MPI_Free_mem":
		c.raw = f.before(r, "base")
		c.value = m.address(c.raw)
		m.memory.silent = true
		m.memory.free(uint64(c.raw))
	case i >= 0 && r.Arguments[i].Before.Presence == spool.Given:
		c.raw = r.Arguments[i].Before.Int()
		c.object, c.value = m.objectsOf(f.Params[i].Type.Class).free(c.raw)
		if s, ok := m.memory.windows[c.value.Int()]; ok && f.Name == "MPI_Win_free" {
			m.memory.silent = true
			m.memory.free(s.address)
		}
	default:
		return
	}
	m.freeing[t] = append(m.freeing[t], c)
}

// freed follows a call that has returned, and may have freed something.
func (m *replay) freed(t *thread, f *knownFunction, r *spool.Record) {
	if f.Name == "MPI_Free_mem" || slices.Contains(f.roles, freeing) {
		if calls := m.freeing[t]; len(calls) > 0 && calls[len(calls)-1].depth == r.Depth {
			m.settle(t, r)
		}
	}
}

// settle says what became of what the latest call of a thread was to free: nothing if
// it has no record of its end.
func (m *replay) settle(t *thread, r *spool.Record) {
	calls := m.freeing[t]
	c := &calls[len(calls)-1]
	m.freeing[t] = calls[:len(calls)-1]
	f := &knownFunctions[c.function]
	i := slices.Index(f.roles, freeing)
	if i < 0 {
		return
	}
	done := r != nil && r.Arguments[i].After.Presence == spool.Given && r.Arguments[i].After.Int() != c.raw
	m.objectsOf(f.Params[i].Type.Class).freed(c, done)
	if f.Name == "MPI_Win_free" && done {
		delete(m.dynamic, c.value.Int())
	}
	if s, ok := m.memory.windows[c.value.Int()]; !ok || f.Name != "MPI_Win_free" {
		return
	} else if !done {
		m.memory.allocate(s)
	}
	if done {
		delete(m.memory.windows, c.value.Int())
	}
}

// learn takes note of the class of an error code.
func (m *replay) learn(f *knownFunction, r *spool.Record) {
	if r.Class != 0 {
		m.classes[r.Result] = int64(r.Class)
	}
	if f.Name == "MPI_Error_class" && r.Class == 0 &&
		r.Arguments[f.parameter("errorclass")].After.Presence == spool.Given {
		m.classes[f.before(r, "errorcode")] = f.after(r, "errorclass")
	}
}

func (m *replay) want(name string, t cst.Type, d cst.Direction, v cst.Value) {
	m.wanted = append(m.wanted, wantedArgument{cst.Param{Name: name, Type: t, Direction: d}, v})
}

// parameter appends what the trace has of an argument. Requests that the call has
// made follow later: see begin.
func (m *replay) parameter(t *thread, f *knownFunction, r *spool.Record, given *requestCall, i int) {
	p, a := &f.Params[i], r.Arguments[i]
	inAndOut := p.Before() && p.After()
	single := p.Element().Kind != cst.KindHandle && p.Element().Kind != cst.KindStatus
	raw := a.Before
	if p.After() && (!p.Before() || inAndOut && p.Element().Kind == cst.KindStatus) {
		raw = a.After
	}
	typ := p.Type
	if p.Form == spec.TextLists {
		typ = cst.ArrayOf(typ)
	}
	switch raw.Presence {
	case spool.Missing, spool.Unused:
		return
	case spool.Given:
	default:
		m.want(p.Name, cst.HandleOf("constant"), p.Direction, cst.Handle(standIn(p, raw.Presence)))
		if f.roles[i] == outcomes && raw.Len() > 0 {
			if v := m.value(f, r, given, i, raw); !saysNothing(v) {
				m.want(p.Name+"_out", typ, cst.Out, v)
			}
		}
		return
	}
	if f.roles[i] == displacing && m.addresses(raw) {
		m.want(p.Name, cst.ArrayOf(cst.Type{Kind: cst.KindPointer}), p.Direction, m.list(raw, m.address))
		return
	}
	if f.roles[i] == aiming && m.dynamic[m.objectsOf("win").find(f.before(r, "win"))] && m.isAddress(raw.Int()) {
		m.want(p.Name, cst.Type{Kind: cst.KindPointer}, p.Direction, m.address(raw.Int()))
		return
	}
	if f.roles[i] == freeing || f.Name == "MPI_Free_mem" {
		m.want(p.Name, typ, p.Direction, m.freeing[t][len(m.freeing[t])-1].value)
		return
	}
	v := m.value(f, r, given, i, raw)
	if inAndOut && single && a.After.Presence == spool.Given {
		if out := m.value(f, r, given, i, a.After); !out.Equal(v) {
			m.want(p.Name, typ, cst.In, v)
			m.want(p.Name+"_out", typ, cst.Out, out)
			return
		}
	}
	m.want(p.Name, typ, p.Direction, v)
	if class := p.Element().Class; class == "datatype" && p.Direction == cst.In || class == "request" && p.Before() {
		m.wantSizes(t, p, raw)
	}
}

// wantSizes appends the sizes of datatypes that MPI was asked about, or, for requests of reads of files, the
// bytes that these have read.
func (m *replay) wantSizes(t *thread, p *spec.Param, raw spool.Value) {
	size := func(handle int64) (cst.Value, bool) {
		n, ok := m.sizes[t][handle]
		if !ok {
			n = -1
		}
		return cst.Int(n), ok
	}
	number := cst.Type{Kind: cst.KindInt}
	if p.Form != spec.Array {
		if v, ok := size(raw.Int()); ok {
			m.want(p.Name+"_size", number, cst.In, v)
		}
		return
	}
	any := false
	list := m.list(raw, func(handle int64) cst.Value {
		v, ok := size(handle)
		any = any || ok
		return v
	})
	if any {
		m.want(p.Name+"_size", cst.ArrayOf(number), cst.In, list)
	}
}

// saysNothing reports whether a status, or each of several, is what was asked for.
func saysNothing(v cst.Value) bool {
	if v.Kind() != cst.KindArray {
		return v.Equal(cst.StatusOf(cst.Status{Source: -9, Tag: -9}))
	}
	for k := range v.Len() {
		if !saysNothing(v.Index(k)) {
			return false
		}
	}
	return true
}

// standIn returns the id of what stands for an argument that is not there.
func standIn(p *spec.Param, presence spool.Presence) int64 {
	e := p.Element()
	switch {
	case presence == spool.Absent:
		return -1 // NULL
	case presence == spool.Empty:
		return -5 // MPI_WEIGHTS_EMPTY
	case e.Kind == cst.KindStatus && p.Type.Kind == cst.KindArray:
		return -3 // MPI_STATUSES_IGNORE
	case e.Kind == cst.KindStatus:
		return -2 // MPI_STATUS_IGNORE
	case p.Name == "array_of_errcodes":
		return -6 // MPI_ERRCODES_IGNORE
	}
	return -4 // MPI_UNWEIGHTED
}

// value returns what the trace has of a value that is there.
func (m *replay) value(f *knownFunction, r *spool.Record, given *requestCall, i int, raw spool.Value) cst.Value {
	p := &f.Params[i]
	switch {
	case f.roles[i] == waitedFor:
		if ids := m.requests.ids(given); p.Form == spec.Array {
			return cst.Array(ids...)
		} else {
			return ids[0]
		}
	case f.roles[i] == startedHere:
		return cst.Value{} // is yet to come
	case f.roles[i] == outcomes && p.Form == spec.Array:
		var list []cst.Value
		for k := range raw.Len() {
			list = append(list, m.status(f, r, given, i, k, raw))
		}
		return cst.Array(list...)
	case f.roles[i] == outcomes:
		return m.status(f, r, given, i, 0, raw)
	}
	switch p.Form {
	case spec.Text:
		return cst.String(string(raw.Text()))
	case spec.Texts, spec.TextLists:
		return texts(raw, p.Form == spec.TextLists)
	case spec.Array:
		return m.list(raw, func(word int64) cst.Value { return m.word(f, i, word) })
	}
	return m.word(f, i, raw.Int())
}

func (m *replay) list(raw spool.Value, word func(int64) cst.Value) cst.Value {
	var list []cst.Value
	for k := range raw.Len() {
		list = append(list, word(raw.Index(k)))
	}
	return cst.Array(list...)
}

// texts returns strings, or lists of strings, each closed by one that is not there.
func texts(raw spool.Value, nested bool) cst.Value {
	var list, lists []cst.Value
	for s, there := range raw.Texts() {
		if there || !nested {
			list = append(list, cst.String(string(s)))
		} else {
			lists = append(lists, cst.Array(list...))
			list = nil
		}
	}
	if nested {
		return cst.Array(lists...)
	}
	return cst.Array(list...)
}

// word returns what the trace has of a single value.
func (m *replay) word(f *knownFunction, i int, raw int64) cst.Value {
	e := f.Params[i].Element()
	switch f.roles[i] {
	case memory:
		if id, constant := m.constants["pointer"][raw]; constant {
			return pointer(id, 0)
		}
		return m.address(raw)
	case bare:
		return m.address(raw)
	case errorCode:
		if class, ok := m.classes[raw]; ok {
			return cst.Int(class)
		}
	case used:
		return cst.Handle(m.objectsOf(e.Class).find(raw))
	case made:
		return cst.Handle(m.objectsOf(e.Class).create(raw))
	case returned:
		return cst.Handle(m.objectsOf(e.Class).share(raw))
	}
	switch e.Kind {
	case cst.KindRank:
		return cst.Rank(m.canonical("rank", raw))
	case cst.KindTag:
		return cst.Tag(m.canonical("tag", raw))
	case cst.KindFloat:
		return cst.Float(math.Float64frombits(uint64(raw)))
	}
	return cst.Int(raw)
}

// address returns what the trace has of an address, or a number that takes the place
// of one.
func (m *replay) address(raw int64) cst.Value {
	if raw >= -1<<16 && raw < 1<<16 {
		return pointer(-15, uint64(raw))
	}
	return m.memory.find(uint64(raw))
}

// addresses reports whether displacements are addresses: all in memory that is known,
// and above the lowest 4 MiB.
func (m *replay) addresses(raw spool.Value) bool {
	for k := range raw.Len() {
		if !m.isAddress(raw.Index(k)) {
			return false
		}
	}
	return raw.Len() > 0
}

func (m *replay) isAddress(n int64) bool { return n >= 4<<20 && m.memory.knows(uint64(n)) }

// canonical returns the number that a trace has for a rank or a tag: that of a
// constant, or if it is negative and none, apart from these.
func (m *replay) canonical(class string, raw int64) int64 {
	if raw >= 0 {
		return raw
	}
	if id, ok := m.constants[class][raw]; ok {
		return id
	}
	return raw - 64
}

// begin makes the requests that a call has made. What else the call says, from the
// given argument on, tells their pool.
func (m *replay) begin(t *thread, f *knownFunction, r *spool.Record, from int, c *tracedCall) {
	var key string
	for i := range f.Params {
		raw := r.Arguments[i].After
		if f.roles[i] != startedHere || raw.Presence != spool.Given {
			continue
		}
		if key == "" {
			key = m.key(f, from)
		}
		traced := handlesIn(c.argument(f.Params[i].Name))
		var list []cst.Value
		start := func(raw int64) {
			hint := int64(-1)
			if len(list) < len(traced) {
				hint = traced[len(list)]
			}
			list = append(list, cst.Handle(m.start(t, f, r, raw, key, hint)))
		}
		at := from
		for m.wanted[at].Name != f.Params[i].Name {
			at++
		}
		if f.Params[i].Form != spec.Array {
			start(raw.Int())
			m.wanted[at].value = list[0]
			continue
		}
		for k := range raw.Len() {
			start(raw.Index(k))
		}
		m.wanted[at].value = cst.Array(list...)
	}
}

func (m *replay) start(t *thread, f *knownFunction, r *spool.Record, raw int64, key string, traced int64) int64 {
	if id, constant := m.requests.constants[raw]; constant {
		return id
	}
	q := m.requests.add(t, raw, fmt.Sprint(t.lane, " ", key), traced)
	q.persistent = f.persistent()
	q.lasts = q.persistent || f.Outlives()
	q.asked = m.asked(f, r)
	return q.id
}

// key returns what tells the pool of the requests of a call: all that it says, but for how much
// a message has, for its tag, and where in a piece of memory it is.
func (m *replay) key(f *knownFunction, from int) string {
	message := slices.ContainsFunc(f.Params, func(p spec.Param) bool {
		return p.Name == "dest" || p.Name == "source" || p.Name == "message"
	})
	said := cst.Function{Name: f.Name}
	var kinds []byte
	var args []cst.Value
	for _, w := range m.wanted[from:] {
		amount := w.Name == "count" || w.Name == "sendcount" || w.Name == "recvcount"
		if w.value.Kind() != 0 && w.Type.Kind != cst.KindTag && !(message && amount) {
			kinds = append(kinds, byte(w.Type.Kind))
			said.Params = append(said.Params, w.Param)
			value := w.value
			if value.Kind() == cst.KindPointer {
				value = cst.PointerTo(cst.Pointer{Segment: value.Pointer().Segment})
			}
			args = append(args, value)
		}
	}
	return string(cst.AppendCall(kinds, said, args))
}

// asked returns what a call says of the message that it receives.
func (m *replay) asked(f *knownFunction, r *spool.Record) messageAsked {
	if f.source < 0 {
		answers := f.base == "MPI_Imrecv" || strings.Contains(f.Name, "_Grequest_")
		return messageAsked{answers, open, open}
	}
	a := messageAsked{true, m.canonical("rank", r.Arguments[f.source].Before.Int()), open}
	if f.tag >= 0 {
		a.tag = m.canonical("tag", r.Arguments[f.tag].Before.Int())
	}
	return a
}

// status returns what the trace has of a status: of source and tag no more than is not
// said before, and nothing where they mean nothing.
func (m *replay) status(f *knownFunction, r *spool.Record, given *requestCall, i, k int, raw spool.Value) cst.Value {
	s := raw.Status(k)
	kept := cst.Status{Source: -9, Tag: -9, Error: int64(raw.StatusClass(k))}
	var asked messageAsked
	switch {
	case f.Params[i].Direction != cst.Out:
	case given != nil:
		if q := given.selected(f, r, k); q != nil {
			asked = q.asked
		}
	case f.source >= 0:
		asked = m.asked(f, r)
	case f.base == "MPI_Mrecv":
		asked = messageAsked{true, open, open}
	}
	class := int64(raw.StatusClass(k))
	id, named := m.constantsOf("error")[class]
	truncated := named && class != 0 && id == spec.ID("MPI_ERR_TRUNCATE")
	if asked.any && (s.Error == 0 || truncated) {
		if source := m.canonical("rank", s.Source); source != asked.source {
			kept.Source = source
		}
		if tag := m.canonical("tag", s.Tag); tag != asked.tag {
			kept.Tag = tag
		}
	}
	return cst.StatusOf(kept)
}

// selected returns the request that status k of a call is of, or nil.
func (c *requestCall) selected(f *knownFunction, r *spool.Record, k int) *knownRequest {
	if f.index >= 0 {
		v := r.Arguments[f.index].After
		switch {
		case f.Params[f.index].Form != spec.Array:
			k = int(v.Int())
		case k < v.Len():
			k = int(v.Index(k))
		default:
			return nil
		}
	}
	if k < 0 || k >= len(c.requests) {
		return nil
	}
	return c.requests[k]
}

// result appends what a call has returned: its result if that is no error code, and
// the class of the error if there was one.
func (m *replay) result(by *thread, f *knownFunction, r *spool.Record) {
	if r.Site != 0 {
		site := m.site(by, r.Site)
		if addresses, ok := m.callers[by][r.Site]; ok {
			site = m.path(by, addresses)
		}
		m.want("site", cst.HandleOf("site"), cst.In, cst.Handle(site))
	}
	switch t := f.Result; {
	case m.inFlight:
		m.want("returned", cst.Type{Kind: cst.KindInt}, cst.Out, cst.Int(0))
	case f.Name == "MPI_Wtime":
	case t.Kind == 0 && r.Result != 0 && r.Class != 0:
		m.want("error", cst.Type{Kind: cst.KindInt}, cst.Out, cst.Int(int64(r.Class)))
	case t.Kind == 0 && r.Result != 0:
		m.want("error", cst.Type{Kind: cst.KindInt}, cst.Out, cst.Int(r.Result))
	case t.Kind == 0:
	case t.Kind == cst.KindFloat:
		m.want("result", t, cst.Out, cst.Float(r.Float()))
	case t.Kind == cst.KindPointer:
		m.want("result", t, cst.Out, m.address(r.Result))
	case t.Kind == cst.KindHandle && t.Class == "request":
		m.want("result", t, cst.Out, cst.Handle(m.requestResult(by, r.Result)))
	case t.Kind == cst.KindHandle:
		m.want("result", t, cst.Out, cst.Handle(m.objectsOf(t.Class).find(r.Result)))
	default:
		m.want("result", t, cst.Out, cst.Int(r.Result))
	}
}

// A loadedObject is one that a thread has told of.
type loadedObject struct {
	address, size, base uint64
	path                string
}

// site returns where in which file the call is that returns to an address: eleven bits of a hash
// of the file's name above the address.
func (m *replay) site(by *thread, address uint64) int64 {
	for _, o := range slices.Backward(m.loaded[by]) {
		if address < o.address || address >= o.address+o.size {
			continue
		}
		if o.path == "" {
			return -1
		}
		h := fnv.New64a()
		io.WriteString(h, filepath.Base(o.path))
		return int64((address-1-o.base)%(1<<44) + h.Sum64()>>53<<44)
	}
	return -1
}

// path returns the site of a call from addresses, the innermost first: 1 above three bits of the
// innermost file's hash, 27 of its address and 32 of a hash of the sites of all. Those in the
// library of C are left out, as is what calls it first. Where a site comes twice, what lies
// between goes.
func (m *replay) path(by *thread, addresses []uint64) int64 {
	var all, kept []int64
	system := make(map[int64]bool)
	for _, a := range addresses {
		s := m.site(by, a)
		all = append(all, s)
		for _, o := range m.loaded[by] {
			if a-o.address < o.size {
				system[s] = regexp.MustCompile(`^(libc\.so|ld-linux|libpthread\.so)`).MatchString(filepath.Base(o.path))
			}
		}
	}
	if n := len(all); n > 1 && system[all[n-2]] && !system[all[n-1]] {
		all = all[:n-1]
	}
	for i := 0; i < len(all); i++ {
		for k := len(all) - 1; k > i; k-- {
			if all[k] == all[i] { // up to the outermost
				i = k
				break
			}
		}
		if s := all[i]; s != -1 && !system[s] {
			kept = append(kept, s)
		}
	}
	if len(kept) == 0 {
		return -1
	}
	h := fnv.New64a()
	for _, s := range kept {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(s)))
	}
	return 1<<62 + kept[0]>>44&7<<59 + kept[0]&(1<<27-1)<<32 + int64(h.Sum64()>>32)
}

// requestResult returns the id of a request that exists, or 0.
func (m *replay) requestResult(t *thread, raw int64) int64 {
	if id, ok := m.requests.constants[raw]; ok {
		return id
	}
	if q := m.requests.first(t, raw, true); q != nil {
		return q.id
	}
	return 0
}
