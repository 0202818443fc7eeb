package otf2

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/events"
	archive "github.com/reprise-trace/reprise/mpi/otf2"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// A collector keeps records.
type collector []archive.Record

func (c *collector) Write(r *archive.Record) error {
	k := *r
	k.Values, k.Attributes, k.Texts = slices.Clone(r.Values), slices.Clone(r.Attributes), slices.Clone(r.Texts)
	*c = append(*c, k)
	return nil
}

// collect returns what is written of a trace.
func collect(t *testing.T, tr *trace.Trace, o export.Options) ([]archive.Record, Summary) {
	t.Helper()
	choice, err := choose(t.Context(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	var c collector
	w := newWriter(&c, choice)
	if err := w.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c, w.summary
}

// A reading is what records say, as a reader of OTF2 would have it.
type reading struct {
	t       testing.TB
	texts   []string
	names   map[string]map[uint64]string // of definitions, by kind and number
	regions []string
	members [][]uint64 // of groups
	groups  map[uint64]uint64
	comms   map[uint64][]uint64 // locations by rank, of a Comm
	self    map[uint64]bool
	inter   map[uint64][2][]uint64 // the locations of both groups
	counts  map[uint64]uint64      // events by location

	calls map[uint64]map[string]uint64 // by location group and region

	sent, received map[channel][]uint64 // lengths
	accessed       map[[2]uint64]volume // by location groups, from and to
	windows        map[uint64]uint64    // the communicators of windows
	collectives    map[string]uint64    // by communicator and location
	kinds          map[string]int
	whole          bool // all that begins is to end
}

// A volume is how many messages there are, and how long all of them are.
type volume struct{ messages, bytes uint64 }

// A channel is what MPI keeps the order of messages on.
type channel struct{ comm, from, to, tag uint64 }

func newReading(t testing.TB) *reading {
	return &reading{t: t, names: make(map[string]map[uint64]string), groups: make(map[uint64]uint64),
		comms: make(map[uint64][]uint64), self: make(map[uint64]bool), inter: make(map[uint64][2][]uint64),
		counts: make(map[uint64]uint64), calls: make(map[uint64]map[string]uint64),
		sent: make(map[channel][]uint64), received: make(map[channel][]uint64),
		collectives: make(map[string]uint64), kinds: make(map[string]int),
		accessed: make(map[[2]uint64]volume), windows: make(map[uint64]uint64)}
}

// read reads records: first the definitions, and then the events.
func read(t testing.TB, records []archive.Record, whole bool) *reading {
	t.Helper()
	r := newReading(t)
	r.whole = whole
	for i := range records {
		if records[i].Kind.Class == archive.Definition {
			r.define(&records[i])
		}
	}
	r.events(records)
	return r
}

// define takes note of a definition, whose number must be the next of its kind.
func (r *reading) define(d *archive.Record) {
	kind := d.Kind.Name
	for i, f := range d.Kind.Fields {
		if f.Type == "StringRef" && f.Name != "self" && d.Values[i] >= uint64(len(r.texts)) &&
			d.Values[i] != unknown32 {
			r.t.Fatalf("%s %v: string %d comes later", kind, d.Values, d.Values[i])
		}
		if f.Name != "self" {
			continue
		}
		if kind == "InterComm" {
			kind = "Comm"
		}
		if r.names[kind] == nil {
			r.names[kind] = make(map[uint64]string)
		}
		if next := uint64(len(r.names[kind])); kind != "Location" && d.Values[i] != next {
			r.t.Fatalf("%s has number %d, not %d", kind, d.Values[i], next)
		}
		r.names[kind][d.Values[i]] = fmt.Sprint(d.Values)
	}
	switch d.Kind.Name {
	case "String":
		r.texts = append(r.texts, d.Texts[0])
	case "Region":
		r.regions = append(r.regions, r.texts[d.Values[1]])
	case "Location":
		r.counts[d.Values[0]], r.groups[d.Values[0]] = d.Values[3], d.Values[4]
	case "Group":
		if len(r.members) > 0 && d.Values[2] == constants.commGroup {
			var of []uint64
			for _, i := range d.Values[5:] {
				of = append(of, r.members[0][i])
			}
			r.members = append(r.members, of)
			return
		}
		r.members = append(r.members, slices.Clone(d.Values[5:]))
	case "RmaWin":
		r.windows[d.Values[0]] = d.Values[2]
	case "Comm":
		r.comms[d.Values[0]] = r.members[d.Values[2]]
		r.self[d.Values[0]] = strings.Contains(r.texts[d.Values[1]], "MPI_COMM_SELF")
	case "InterComm":
		r.inter[d.Values[0]] = [2][]uint64{r.members[d.Values[2]], r.members[d.Values[3]]}
		r.comms[d.Values[0]] = slices.Concat(r.members[d.Values[2]], r.members[d.Values[3]])
	}
}

// A stackOf is the regions that a location is in.
type stackOf struct {
	regions []uint64
	time    uint64
	events  uint64

	pending map[string]map[uint64]bool // by kind: what has begun, by its number
}

// begins takes note that something of a number begins, which has not before if it is to begin but once.
func (s *stackOf) begins(r *reading, kind string, id uint64, once bool) {
	if s.pending == nil {
		s.pending = make(map[string]map[uint64]bool)
	}
	if s.pending[kind] == nil {
		s.pending[kind] = make(map[uint64]bool)
	}
	if once && s.pending[kind][id] {
		r.t.Fatalf("%s %d begins twice", kind, id)
	}
	s.pending[kind][id] = true
}

// goesOn checks that something has begun, and ends it.
func (s *stackOf) goesOn(r *reading, kind string, id uint64, ends bool) {
	if !s.pending[kind][id] {
		r.t.Fatalf("%s %d goes on, and has not begun", kind, id)
	}
	if ends {
		delete(s.pending[kind], id)
	}
}

// identify checks that what has numbers begins before it goes on or ends.
func (r *reading) identify(e *archive.Record, s *stackOf) {
	v, last := e.Values, len(e.Values)-1
	switch e.Kind.Name {
	case "MpiIsend", "MpiIrecvRequest", "NonBlockingCollectiveRequest":
		s.begins(r, "request", v[last], true)
	case "MpiIsendComplete", "MpiIrecv", "MpiRequestCancelled", "NonBlockingCollectiveComplete":
		s.goesOn(r, "request", v[last], true)
	case "MpiRequestTest":
		s.goesOn(r, "request", v[0], false)
	case "RmaPut", "RmaGet", "RmaAtomic":
		s.begins(r, "access", v[last], false)
		s.begins(r, "remote access", v[last], false)
	case "RmaOpCompleteNonBlocking":
		s.goesOn(r, "access", v[1], true)
	case "RmaOpCompleteRemote":
		s.goesOn(r, "remote access", v[1], true)
	case "RmaRequestLock":
		s.begins(r, "lock", v[0]<<32|v[1], true)
	case "RmaReleaseLock":
		s.goesOn(r, "lock", v[0]<<32|v[1], true)
	case "RmaWinCreate", "CommCreate", "IoCreateHandle":
		s.begins(r, e.Kind.Name, v[0], true)
	case "RmaWinDestroy":
		s.goesOn(r, "RmaWinCreate", v[0], true)
	case "CommDestroy":
		s.goesOn(r, "CommCreate", v[0], true)
	case "IoDestroyHandle":
		s.goesOn(r, "IoCreateHandle", v[0], true)
	case "IoOperationBegin":
		s.begins(r, "transfer", v[last], true)
	case "IoOperationIssued":
		s.goesOn(r, "transfer", v[last], false)
	case "IoOperationComplete":
		s.goesOn(r, "transfer", v[last], true)
	case "MpiCollectiveBegin", "RmaCollectiveBegin": // at the start of the region that was entered last
		s.begins(r, e.Kind.Name, uint64(len(s.regions)), true)
	case "MpiCollectiveEnd":
		s.goesOn(r, "MpiCollectiveBegin", uint64(len(s.regions)), true)
	case "RmaCollectiveEnd":
		s.goesOn(r, "RmaCollectiveBegin", uint64(len(s.regions)), true)
	}
}

// events checks the order and the nesting of events, and counts them.
func (r *reading) events(records []archive.Record) {
	stacks := make(map[uint64]*stackOf)
	var last uint64
	for i := range records {
		e := &records[i]
		if e.Kind.Class != archive.Event {
			continue
		}
		s := stacks[e.Location]
		if s == nil {
			s = new(stackOf)
			stacks[e.Location] = s
		} else if e.Location != last {
			r.t.Fatalf("events of location %d are not together", e.Location)
		}
		if last = e.Location; e.Time < s.time {
			r.t.Fatalf("location %d: event at %d after %d", e.Location, e.Time, s.time)
		}
		s.time = e.Time
		s.events++
		r.event(e, s)
		r.identify(e, s)
	}
	for l, s := range stacks {
		if len(s.regions) > 0 {
			r.t.Errorf("location %d is in %d regions at its end", l, len(s.regions))
		}
		for kind, ids := range s.pending {
			if r.whole && len(ids) > 0 && kind != "request" { // which may be freed
				r.t.Errorf("location %d: %s %v has not ended", l, kind, slices.Sorted(maps.Keys(ids)))
			}
		}
		if s.events != r.counts[l] {
			r.t.Errorf("location %d has %d events, and its definition says %d", l, s.events, r.counts[l])
		}
	}
}

func (r *reading) event(e *archive.Record, s *stackOf) {
	r.kinds[e.Kind.Name]++
	g, ok := r.groups[e.Location]
	if !ok {
		r.t.Fatalf("an event of location %d, which there is none of", e.Location)
	}
	for _, a := range e.Attributes {
		if r.names["Attribute"][uint64(a.ID)] == "" || a.Type == uint8(constants.typeString) &&
			a.Value >= uint64(len(r.texts)) {
			r.t.Fatalf("an attribute that is not defined: %v", a)
		}
	}
	switch e.Kind.Name {
	case "Enter":
		s.regions = append(s.regions, e.Values[0])
		if r.calls[g] == nil {
			r.calls[g] = make(map[string]uint64)
		}
		r.calls[g][r.regions[e.Values[0]]]++
	case "ProgramBegin":
		if s.events != 1 || e.Values[0] >= uint64(len(r.texts)) {
			r.t.Errorf("location %d: the program begins in event %d", e.Location, s.events)
		}
	case "Leave":
		n := len(s.regions) - 1
		if n < 0 || s.regions[n] != e.Values[0] {
			r.t.Fatalf("location %d leaves region %d at %d, in %v", e.Location, e.Values[0], e.Time, s.regions)
		}
		s.regions = s.regions[:n]
	case "MpiSend", "MpiIsend":
		c := channel{e.Values[1], g, r.peer(e), e.Values[2]}
		r.sent[c] = append(r.sent[c], e.Values[3])
	case "MpiRecv", "MpiIrecv":
		c := channel{e.Values[1], r.peer(e), g, e.Values[2]}
		r.received[c] = append(r.received[c], e.Values[3])
	case "RmaPut":
		r.access(g, e, e.Values[2], 0)
	case "RmaGet":
		r.access(g, e, 0, e.Values[2])
	case "RmaAtomic":
		r.access(g, e, e.Values[3], e.Values[4])
	case "MpiCollectiveEnd", "NonBlockingCollectiveComplete":
		if r.names["Comm"][e.Values[1]] == "" {
			r.t.Fatalf("a collective operation on communicator %d, which there is none of", e.Values[1])
		}
		r.collectives[fmt.Sprint(e.Values[1], " ", g)]++
	}
}

// access counts bytes that go to a target, and come from there.
func (r *reading) access(g uint64, e *archive.Record, to, from uint64) {
	comm := r.windows[e.Values[0]]
	target := g
	if !r.self[comm] {
		target = r.groups[r.comms[comm][e.Values[1]]]
	}
	add := func(key [2]uint64, bytes uint64) {
		v := r.accessed[key]
		r.accessed[key] = volume{v.messages + 1, v.bytes + bytes}
	}
	if e.Kind.Name != "RmaGet" {
		add([2]uint64{g, target}, to)
	}
	if e.Kind.Name == "RmaGet" || from > 0 {
		add([2]uint64{target, g}, from)
	}
}

// peer returns the location group of the other end of a message.
func (r *reading) peer(e *archive.Record) uint64 {
	comm, ok := r.comms[e.Values[1]]
	if groups, inter := r.inter[e.Values[1]]; inter {
		if comm = groups[1]; slices.ContainsFunc(comm, func(l uint64) bool {
			return r.groups[l] == r.groups[e.Location]
		}) {
			comm = groups[0]
		}
	}
	switch {
	case r.self[e.Values[1]]:
		return r.groups[e.Location]
	case !ok || e.Values[0] >= uint64(len(comm)):
		r.t.Fatalf("%s to rank %d of communicator %d, which has %d", e.Kind.Name, e.Values[0], e.Values[1], len(comm))
	}
	return r.groups[comm[e.Values[0]]]
}

// checkCalls compares the regions that ranks enter with the calls that were chosen.
func (r *reading) checkCalls(tr *trace.Trace, o export.Options) {
	r.t.Helper()
	choice, err := events.Open(context.Background(), tr, o)
	if err != nil {
		r.t.Fatal(err)
	}
	chosen := choice.Choice().Ranks
	want := make(map[uint64]map[string]uint64)
	for rank, err := range choice.Ranks() {
		if err != nil {
			r.t.Fatal(err)
		}
		i, _ := chosen.Index(rank.Number)
		counts := make(map[string]uint64)
		for e, err := range rank.All() {
			if err != nil {
				r.t.Fatal(err)
			}
			counts[rank.Name(e.Terminal)]++
			c := rank.Call(e.Terminal)
			if name, begins, ok := query.MarkerOf(&c); ok && begins {
				counts[events.Readable(name)]++
			}
		}
		if len(counts) > 0 {
			want[uint64(i)] = counts
		}
	}
	for g, counts := range want {
		for name, n := range counts {
			if r.calls[g][name] != n {
				r.t.Errorf("rank %d enters %s %d times, and calls it %d times", g, name, r.calls[g][name], n)
			}
		}
	}
	if len(want) != len(r.calls) {
		r.t.Errorf("%d ranks enter regions, of %d that make calls", len(r.calls), len(want))
	}
}

// checkMessages compares messages between all ranks with those that query has, and matches them: all if all are
// to be received.
func (r *reading) checkMessages(tr *trace.Trace, all bool) {
	r.t.Helper()
	model, err := semantics.Open(context.Background(), tr)
	if err != nil || !model.Known() {
		r.t.Fatal(err, model.Known())
	}
	m, err := query.OpenMessages(context.Background(), model, 0, query.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	got := maps.Clone(r.accessed)
	for c, lengths := range r.sent {
		v := got[[2]uint64{c.from, c.to}]
		for _, n := range lengths {
			v.messages++
			v.bytes += n
		}
		got[[2]uint64{c.from, c.to}] = v
	}
	for _, p := range m.Traffic.Pairs {
		key := [2]uint64{uint64(p.Source), uint64(p.Destination)}
		want := volume{p.Messages, p.Bytes}
		if v := got[key]; v != want {
			r.t.Errorf("%d messages of %d bytes from %d to %d, not %d of %d", v.messages, v.bytes, p.Source,
				p.Destination, want.messages, want.bytes)
		}
		delete(got, key)
	}
	for key, v := range got {
		r.t.Errorf("%d messages of %d bytes from %d to %d, of which query knows nothing", v.messages, v.bytes,
			key[0], key[1])
	}
	if !all {
		return
	}
	for c, lengths := range r.sent {
		if !slices.Equal(lengths, r.received[c]) {
			r.t.Errorf("%v: sent %v, received %v", c, lengths, r.received[c])
		}
		delete(r.received, c)
	}
	for c, lengths := range r.received {
		r.t.Errorf("%v: %d are received, and none are sent", c, len(lengths))
	}
}

// checkCollectives checks that all members of a communicator take part in as many operations.
func (r *reading) checkCollectives() {
	r.t.Helper()
	for comm, members := range r.comms {
		if r.self[comm] {
			continue
		}
		counts := make(map[uint64]uint64)
		for _, l := range members {
			g := r.groups[l]
			counts[g] = r.collectives[fmt.Sprint(comm, " ", g)]
		}
		first := counts[r.groups[members[0]]]
		for g, n := range counts {
			if n != first {
				r.t.Errorf("communicator %d: rank %d takes part in %d operations, and another in %d", comm, g, n, first)
			}
		}
	}
}
